/*
 * What an identity provider says of a person at its userinfo endpoint.
 */

#include "ngx_svc_federation_userinfo.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_attributes.h"
#include "ngx_svc_federation_fetch.h"


#define NGX_SVC_FEDERATION_USERINFO  (64 * 1024)    /* bytes of an answer */


static ngx_int_t ngx_svc_federation_userinfo_answered(
    ngx_svc_federation_flow_t *flow);


ngx_int_t
ngx_svc_federation_userinfo(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *url,
    ngx_int_t (*done)(ngx_svc_federation_flow_t *flow, ngx_int_t rc))
{
    static const ngx_str_t  accept = ngx_string("Accept: application/json");

    flow->asked_done = done;

    ngx_svc_federation_fetch_new(flow);

    flow->fetch.url = *url;
    flow->fetch.headers[flow->fetch.nheaders++] = accept;

    if (ngx_svc_federation_fetch_bearer(flow) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_federation_fetch(flow, NGX_SVC_FEDERATION_USERINFO,
                                    ngx_svc_federation_userinfo_answered);
}


/* What is said of another person is not taken (5.3.2). */

static ngx_int_t
ngx_svc_federation_userinfo_answered(ngx_svc_federation_flow_t *flow)
{
    cJSON      *json;
    ngx_int_t   rc;
    ngx_str_t   sub;

    rc = ngx_svc_federation_fetched(flow, "the userinfo endpoint", &json);

    if (rc == NGX_OK
        && (ngx_svc_jws_text(json, "sub", &sub) != NGX_OK || sub.len == 0
            || !ngx_svc_same(&sub, &flow->sub)))
    {
        rc = ngx_svc_federation_fail(flow, "the userinfo endpoint: another "
                                     "'sub'");
    }

    if (rc == NGX_OK) {
        flow->userinfo = json;
        rc = ngx_svc_federation_attributes(flow, json);
    }

    return flow->asked_done(flow, rc == NGX_AGAIN ? NGX_OK : rc);
}
