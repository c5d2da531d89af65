/*
 * Outbound SCIM: asks what a target can do (RFC 7643, 5).
 */

#include "ngx_svc_push_probe.h"
#include "ngx_svc_push_http.h"
#include "ngx_svc_push_read.h"


static void ngx_svc_push_probe_answer(ngx_svc_push_http_t *http);


ngx_int_t
ngx_svc_push_probe(ngx_svc_push_probe_t *probe)
{
    ngx_svc_push_ask_t    ask;
    ngx_svc_push_http_t  *http;

    http = ngx_pcalloc(probe->pool, sizeof(ngx_svc_push_http_t));
    if (http == NULL) {
        return NGX_ERROR;
    }

    http->target = probe->target;
    http->handler = ngx_svc_push_probe_answer;
    http->data = probe;

    probe->state = http;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    ask.method = "GET";
    ask.path = "/ServiceProviderConfig";
    ask.read = 1;

    return ngx_svc_push_http(http, &ask);
}


void
ngx_svc_push_probe_cancel(ngx_svc_push_probe_t *probe)
{
    ngx_svc_push_http_close(probe->state);
}


static void
ngx_svc_push_probe_answer(ngx_svc_push_http_t *http)
{
    const cJSON           *patch;
    ngx_svc_push_probe_t  *probe;

    probe = http->data;

    patch = ngx_svc_push_read_member(http->json, "patch");
    patch = ngx_svc_push_read_member(patch, "supported");

    probe->patch = !cJSON_IsFalse(patch);
    probe->answer = http->answer;

    ngx_svc_push_http_close(http);

    probe->handler(probe);
}
