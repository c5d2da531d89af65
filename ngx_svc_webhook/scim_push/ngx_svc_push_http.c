/*
 * Outbound SCIM: one request to a target, and its answer.
 *
 * The target is somebody else's server, and may be hostile: only the status of
 * its answers is used, and JSON that every parser reads the same way, of
 * NGX_SVC_PUSH_ANSWER bytes at most.  Texts of errors have nothing of either.
 */

#include "ngx_svc_push_http.h"
#include "ngx_svc_push_id.h"

#include "ngx_svc_json.h"
#include "ngx_svc_log_limit.h"


#define NGX_SVC_PUSH_ANSWER  (256 * 1024)   /* bytes of an answer that are
                                               read */
#define NGX_SVC_PUSH_SHORT   16384          /* bytes that are parsed at once:
                                               more are parsed in an event of
                                               their own */
#define NGX_SVC_PUSH_POOL    4096
#define NGX_SVC_PUSH_BUFFER  8192
#define NGX_SVC_PUSH_DETAIL  60000          /* ms between lines in the log */


static ngx_int_t ngx_svc_push_http_make(ngx_svc_push_http_t *http,
    const ngx_svc_push_ask_t *ask);
static u_char *ngx_svc_push_http_url(ngx_svc_push_http_t *http,
    const ngx_svc_push_ask_t *ask);
static ngx_int_t ngx_svc_push_http_headers(ngx_svc_push_http_t *http);
static ngx_int_t ngx_svc_push_http_sink(ngx_svc_outbound_t *r, u_char *text,
    size_t len);
static void ngx_svc_push_http_done(ngx_svc_outbound_t *r);
static void ngx_svc_push_http_unanswered(ngx_svc_push_http_t *http);
static void ngx_svc_push_http_refused(ngx_svc_push_http_t *http);
static void ngx_svc_push_http_step(ngx_event_t *ev);
static void ngx_svc_push_http_read(ngx_svc_push_http_t *http);
static void ngx_svc_push_http_parse(ngx_svc_push_http_t *http);


ngx_int_t
ngx_svc_push_http_init(ngx_cycle_t *cycle)
{
    return ngx_svc_outbound_init(cycle);
}


void
ngx_svc_push_http_exit(void)
{
    ngx_svc_outbound_exit();
}


ngx_int_t
ngx_svc_push_http(ngx_svc_push_http_t *http, const ngx_svc_push_ask_t *ask)
{
    ngx_uint_t  connected;

    connected = http->request.complete;

    ngx_svc_push_http_close(http);

    ngx_memzero(&http->request, sizeof(ngx_svc_outbound_t));

    ngx_memzero(&http->answer, sizeof(ngx_svc_push_answer_t));

    http->unknown = 0;
    http->overlong = 0;
    http->read = ask->read;
    http->requests++;

    http->request.connected = connected ? 1 : 0;

    http->step.handler = ngx_svc_push_http_step;
    http->step.data = http;
    http->step.log = ngx_cycle->log;

    http->pool = ngx_create_pool(NGX_SVC_PUSH_POOL, ngx_cycle->log);
    if (http->pool == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_push_http_make(http, ask) != NGX_OK) {
        ngx_svc_push_http_close(http);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_http_make(ngx_svc_push_http_t *http,
    const ngx_svc_push_ask_t *ask)
{
    ngx_svc_outbound_t  *r;

    r = &http->request;

    r->method = ask->method;
    r->url = ngx_svc_push_http_url(http, ask);
    r->agent = "Svc-SCIM/1";
    r->body = ask->body;
    r->limit = NGX_SVC_PUSH_ANSWER;
    r->once = ask->once;
    r->sink = ngx_svc_push_http_sink;
    r->handler = ngx_svc_push_http_done;
    r->data = http;

    if (r->url == NULL || ngx_svc_push_http_headers(http) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_outbound_request(r);
}


static u_char *
ngx_svc_push_http_url(ngx_svc_push_http_t *http, const ngx_svc_push_ask_t *ask)
{
    u_char     *url, *p;
    size_t      len;
    ngx_str_t   base;

    base = http->target->base_url;
    len = base.len + ngx_strlen(ask->path) + 3 * ask->name.len + 1;

    url = ngx_pnalloc(http->pool, len);
    if (url == NULL) {
        return NULL;
    }

    p = ngx_cpymem(url, base.data, base.len);
    p = ngx_cpymem(p, ask->path, ngx_strlen(ask->path));

    p = (u_char *) ngx_escape_uri(p, ask->name.data, ask->name.len,
                                  NGX_ESCAPE_URI_COMPONENT);
    *p = '\0';

    return url;
}


static ngx_int_t
ngx_svc_push_http_headers(ngx_svc_push_http_t *http)
{
    ngx_int_t            rc;
    ngx_svc_outbound_t  *r;

    static const u_char  accept[] = "application/scim+json, application/json";
    static const u_char  type[] = "application/scim+json";

    r = &http->request;

    rc = ngx_svc_outbound_header(r, "Authorization: Bearer ",
                                 http->target->token.data,
                                 http->target->token.len);

    if (rc == NGX_OK) {
        rc = ngx_svc_outbound_header(r, "Accept: ", accept,
                                     sizeof(accept) - 1);
    }

    if (rc == NGX_OK && r->body.data) {
        rc = ngx_svc_outbound_header(r, "Content-Type: ", type,
                                     sizeof(type) - 1);
    }

    return rc;
}


static ngx_int_t
ngx_svc_push_http_sink(ngx_svc_outbound_t *r, u_char *text, size_t len)
{
    u_char               *larger;
    size_t                size;
    ngx_svc_push_http_t  *http;

    http = r->data;

    if (http->len + len > http->size) {
        size = ngx_max(2 * http->size, NGX_SVC_PUSH_BUFFER);
        size = ngx_max(size, http->len + len);

        larger = ngx_palloc(http->pool, size);
        if (larger == NULL) {
            return NGX_ERROR;
        }

        if (http->bytes) {
            ngx_memcpy(larger, http->bytes, http->len);
            (void) ngx_pfree(http->pool, http->bytes);
        }

        http->bytes = larger;
        http->size = size;
    }

    ngx_memcpy(http->bytes + http->len, text, len);
    http->len += len;

    return NGX_OK;
}


static void
ngx_svc_push_http_done(ngx_svc_outbound_t *r)
{
    ngx_svc_push_http_t  *http;

    http = r->data;

    http->answer.status = r->result.status;
    http->answer.delay = r->retry_after;
    http->overlong = r->flood || r->reader.excess;

    if (http->answer.status == 0) {
        ngx_svc_push_http_unanswered(http);

    } else if (http->answer.status < 200 || http->answer.status >= 300) {
        ngx_svc_push_http_refused(http);
    }

    if (http->len > NGX_SVC_PUSH_SHORT) {
        ngx_svc_curl_post(&http->step, 0);
        return;
    }

    ngx_svc_push_http_read(http);
}


/*
 * A name that does not exist is reported as one that leads to a private
 * address: a tenant must not learn which names our name servers know.
 */

static void
ngx_svc_push_http_unanswered(ngx_svc_push_http_t *http)
{
    ngx_svc_outbound_t  *r;

    static ngx_svc_log_limit_t  limit;

    r = &http->request;

    if (r->result.detail.len
        && ngx_svc_log_limit(&limit, 1, NGX_SVC_PUSH_DETAIL))
    {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "SCIM target %V of tenant %V: %V", &http->target->id,
                      &http->target->tenant, &r->result.detail);
    }

    if (r->nowhere || r->untrusted) {
        http->answer.nowhere = r->nowhere;
        ngx_svc_push_http_fail(http, NGX_SVC_PUSH_REFUSED, "%V",
                               &r->result.error);
        return;
    }

    if (r->result.outcome == NGX_SVC_OUTBOUND_POSTPONED) {
        ngx_svc_push_http_fail(http, NGX_SVC_PUSH_RETRY, "nothing was sent");
        return;
    }

    http->unknown = 1;
    ngx_svc_push_http_fail(http, NGX_SVC_PUSH_RETRY, "%V", &r->result.error);
}


static void
ngx_svc_push_http_refused(ngx_svc_push_http_t *http)
{
    ngx_uint_t              status;
    ngx_svc_push_outcome_e  outcome;

    status = http->answer.status;
    outcome = NGX_SVC_PUSH_USER;

    if (status == NGX_HTTP_UNAUTHORIZED || status == NGX_HTTP_FORBIDDEN) {
        outcome = NGX_SVC_PUSH_FAILING;

    } else if (status == NGX_HTTP_TOO_MANY_REQUESTS
               || status == NGX_HTTP_SERVICE_UNAVAILABLE)
    {
        outcome = NGX_SVC_PUSH_PAUSE;

    } else if (status >= 500 || status == NGX_HTTP_REQUEST_TIME_OUT) {
        outcome = NGX_SVC_PUSH_RETRY;
    }

    http->unknown = (status >= 500);

    ngx_svc_push_http_fail(http, outcome, "%V", &http->request.result.error);
}


static void
ngx_svc_push_http_step(ngx_event_t *ev)
{
    ngx_svc_push_http_read(ev->data);
}


static void
ngx_svc_push_http_read(ngx_svc_push_http_t *http)
{
    if (http->answer.outcome == NGX_SVC_PUSH_DONE
        || http->answer.status == NGX_HTTP_BAD_REQUEST)
    {
        ngx_svc_push_http_parse(http);
    }

    if (http->read && http->answer.outcome == NGX_SVC_PUSH_DONE
        && http->json == NULL)
    {
        if (http->overlong) {
            ngx_svc_push_http_fail(http, NGX_SVC_PUSH_USER, "the answer is "
                                   "longer than %d KiB",
                                   NGX_SVC_PUSH_ANSWER / 1024);

        } else if (!http->request.complete) {
            ngx_svc_push_http_fail(http, NGX_SVC_PUSH_RETRY,
                                   "the answer broke off");

        } else {
            ngx_svc_push_http_fail(http, NGX_SVC_PUSH_USER, "the answer is "
                                   "not a JSON object that can be read");
        }
    }

    http->handler(http);
}


static void
ngx_svc_push_http_parse(ngx_svc_push_http_t *http)
{
    ngx_str_t        text;
    ngx_svc_error_t  err;

    if (!http->request.complete || http->len == 0) {
        return;
    }

    text.data = http->bytes;
    text.len = http->len;

    if (ngx_svc_push_id_quote(http->pool, &text) != NGX_OK) {
        return;
    }

    err.kind = NGX_SVC_E_NONE;

    (void) ngx_svc_json_parse(http->pool, &text, &http->json, &err);
}


void
ngx_svc_push_http_fail(ngx_svc_push_http_t *http,
    ngx_svc_push_outcome_e outcome, const char *fmt, ...)
{
    u_char   *p;
    va_list   args;

    va_start(args, fmt);
    p = ngx_vslprintf(http->text, http->text + sizeof(http->text), fmt, args);
    va_end(args);

    http->answer.outcome = outcome;
    http->answer.error.data = http->text;
    http->answer.error.len = p - http->text;
}


void
ngx_svc_push_http_close(ngx_svc_push_http_t *http)
{
    ngx_svc_outbound_close(&http->request);

    if (http->step.posted) {
        ngx_delete_posted_event(&http->step);
    }

    if (http->pool) {
        ngx_destroy_pool(http->pool);
        http->pool = NULL;
    }

    http->json = NULL;
    http->bytes = NULL;
    http->len = 0;
    http->size = 0;
}
