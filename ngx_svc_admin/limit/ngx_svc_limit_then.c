/*
 * Answers that wait until all workers know.
 */

#include "ngx_svc_limit_then.h"

#include "ngx_svc_email.h"


/* Allocated from the request's pool. */

typedef struct {
    ngx_svc_limit_t      limit;
    ngx_svc_request_t   *sr;
    ngx_int_t          (*next)(ngx_svc_request_t *sr);
    u_char               mac[NGX_SVC_LIMIT_MAC_LEN];
} ngx_svc_limit_then_t;


static ngx_svc_limit_then_t *ngx_svc_limit_then(ngx_svc_request_t *sr,
    ngx_int_t (*next)(ngx_svc_request_t *sr));
static ngx_int_t ngx_svc_limit_then_wait(ngx_svc_limit_then_t *then,
    ngx_int_t rc);
static void ngx_svc_limit_then_done(ngx_svc_limit_t *limit);


ngx_int_t
ngx_svc_limit_clear_then(ngx_svc_request_t *sr, const ngx_str_t *email,
    const ngx_str_t *failures, ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_int_t              hits;
    ngx_svc_limit_then_t  *then;

    if (email->len > NGX_SVC_EMAIL_MAX) {
        return next(sr);
    }

    then = ngx_svc_limit_then(sr, next);

    if (then == NULL || ngx_svc_limit_email(email, then->mac) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    hits = ngx_atoi(failures->data, failures->len);

    return ngx_svc_limit_then_wait(then,
                      ngx_svc_limit_clear(&then->limit, sr->request->pool,
                                          ngx_max(hits, 0)));
}


ngx_int_t
ngx_svc_limit_lock_then(ngx_svc_request_t *sr,
    const u_char mac[NGX_SVC_LIMIT_MAC_LEN], ngx_msec_t ms,
    ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_svc_limit_then_t  *then;

    then = ngx_svc_limit_then(sr, next);
    if (then == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_memcpy(then->mac, mac, NGX_SVC_LIMIT_MAC_LEN);

    return ngx_svc_limit_then_wait(then,
                   ngx_svc_limit_lock(&then->limit, sr->request->pool, ms));
}


static ngx_svc_limit_then_t *
ngx_svc_limit_then(ngx_svc_request_t *sr,
    ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_svc_limit_then_t  *then;

    then = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_limit_then_t));
    if (then == NULL) {
        return NULL;
    }

    then->sr = sr;
    then->next = next;
    then->limit.mac = then->mac;
    then->limit.handler = ngx_svc_limit_then_done;
    then->limit.data = then;

    return then;
}


static ngx_int_t
ngx_svc_limit_then_wait(ngx_svc_limit_then_t *then, ngx_int_t rc)
{
    if (rc == NGX_AGAIN) {
        then->sr->request->main->count++;
        return NGX_DONE;
    }

    return rc == NGX_OK ? then->next(then->sr)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static void
ngx_svc_limit_then_done(ngx_svc_limit_t *limit)
{
    ngx_connection_t      *c;
    ngx_http_request_t    *r;
    ngx_svc_limit_then_t  *then;

    then = limit->data;
    r = then->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, then->next(then->sr));

    ngx_http_run_posted_requests(c);
}
