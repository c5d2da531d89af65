/*
 * What a flow asks of its provider's servers, all within a time.
 */

#include "ngx_svc_federation_fetch.h"
#include "ngx_svc_federation_answer.h"


#define NGX_SVC_FEDERATION_ERROR  64    /* bytes of an error's code */


static ngx_int_t ngx_svc_federation_fetch_hold(
    ngx_svc_federation_flow_t *flow);
static void ngx_svc_federation_fetch_done(ngx_svc_fetch_t *fetch);
static void ngx_svc_federation_fetch_gone(void *data);


void
ngx_svc_federation_fetch_new(ngx_svc_federation_flow_t *flow)
{
    ngx_memzero(&flow->fetch, sizeof(ngx_svc_fetch_t));
}


ngx_int_t
ngx_svc_federation_fetch_bearer(ngx_svc_federation_flow_t *flow)
{
    u_char      *p;
    ngx_str_t   *header;
    ngx_pool_t  *pool;

    static const char  name[] = "Authorization: Bearer ";

    pool = flow->login.sr->request->pool;

    p = ngx_pnalloc(pool, sizeof(name) + flow->access_token.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    header = &flow->fetch.headers[flow->fetch.nheaders++];
    header->data = p;
    header->len = ngx_sprintf(p, "%s%V", name, &flow->access_token) - p;

    return ngx_svc_wipe_later(pool, header->data, header->len);
}


ngx_int_t
ngx_svc_federation_fetch(ngx_svc_federation_flow_t *flow, size_t limit,
    ngx_int_t (*done)(ngx_svc_federation_flow_t *flow))
{
    u_char             *tenant;
    ngx_svc_fetch_t    *fetch;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;
    fetch = &flow->fetch;
    tenant = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_TEXT_LEN);

    if (tenant == NULL || ngx_svc_federation_fetch_hold(flow) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    fetch->pool = sr->request->pool;
    fetch->tenant.data = tenant;
    fetch->tenant.len = ngx_svc_uuid_text(tenant, flow->login.row.tenant)
                        - tenant;
    fetch->limit = limit;
    fetch->handler = ngx_svc_federation_fetch_done;
    fetch->data = flow;
    flow->fetched = done;

    if ((ngx_msec_int_t) (flow->until - ngx_current_msec) <= 0) {
        fetch->outcome = NGX_SVC_FETCH_LATE;
        return done(flow);
    }

    fetch->timeout = flow->until - ngx_current_msec;

    if (ngx_svc_fetch(fetch) != NGX_OK) {
        return done(flow);
    }

    sr->request->main->count++;

    return NGX_DONE;
}


/*
 * The time begins with the first fetch; a request that ends takes all with it.
 */

static ngx_int_t
ngx_svc_federation_fetch_hold(ngx_svc_federation_flow_t *flow)
{
    ngx_http_cleanup_t  *cln;

    if (flow->held) {
        return NGX_OK;
    }

    cln = ngx_http_cleanup_add(flow->login.sr->request, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_svc_federation_fetch_gone;
    cln->data = flow;

    flow->held = 1;
    flow->until = ngx_current_msec + NGX_SVC_FEDERATION_TIME;

    return NGX_OK;
}


static void
ngx_svc_federation_fetch_gone(void *data)
{
    ngx_svc_federation_flow_t *flow = data;

    ngx_svc_fetch_cancel(&flow->fetch);
}


static void
ngx_svc_federation_fetch_done(ngx_svc_fetch_t *fetch)
{
    ngx_connection_t           *c;
    ngx_http_request_t         *r;
    ngx_svc_federation_flow_t  *flow;

    flow = fetch->data;
    r = flow->login.sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, flow->fetched(flow));

    ngx_http_run_posted_requests(c);
}


ngx_int_t
ngx_svc_federation_answered(ngx_svc_federation_flow_t *flow, const char *what)
{
    ngx_svc_fetch_t  *fetch;

    fetch = &flow->fetch;

    if (fetch->outcome == NGX_SVC_FETCH_FAILED) {
        return ngx_svc_federation_fail(flow, "%s: %V", what, &fetch->why);
    }

    if (fetch->outcome != NGX_SVC_FETCH_ANSWERED) {
        return ngx_svc_fail(&flow->login.sr->error, NGX_SVC_E_UNAVAILABLE,
                            "The identity provider does not answer: try "
                            "again.");
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_fetched(ngx_svc_federation_flow_t *flow, const char *what,
    cJSON **json)
{
    ngx_int_t         rc;
    ngx_svc_error_t   err;
    ngx_svc_fetch_t  *fetch;

    fetch = &flow->fetch;

    rc = ngx_svc_federation_answered(flow, what);

    if (rc != NGX_OK) {
        return rc;
    }

    err.kind = NGX_SVC_E_NONE;

    switch (ngx_svc_json_parse(fetch->pool, &fetch->answer, json, &err)) {

    case NGX_OK:
        return fetch->status == NGX_HTTP_OK
               ? NGX_OK : ngx_svc_federation_fetch_status(flow, what, *json);

    case NGX_DECLINED:
        return fetch->status == NGX_HTTP_OK
               ? ngx_svc_federation_fail(flow, "%s: is not JSON", what)
               : ngx_svc_federation_fetch_status(flow, what, NULL);

    default:
        return NGX_ERROR;
    }
}


/* An OAuth error says more than its status (RFC 6749, 5.2). */

ngx_int_t
ngx_svc_federation_fetch_status(ngx_svc_federation_flow_t *flow,
    const char *what, const cJSON *json)
{
    ngx_str_t     code;
    const cJSON  *error;

    error = cJSON_GetObjectItemCaseSensitive(json, "error");

    if (!cJSON_IsString(error)) {
        return ngx_svc_federation_fail(flow, "%s: status %ui", what,
                                       flow->fetch.status);
    }

    code.data = (u_char *) error->valuestring;
    code.len = ngx_min(ngx_strlen(code.data), NGX_SVC_FEDERATION_ERROR);

    return ngx_svc_federation_fail(flow, "%s: status %ui, %V", what,
                                   flow->fetch.status, &code);
}
