/*
 * An answer that waits until what was counted of an e-mail address is gone.
 */

#include "ngx_svc_limit_clear.h"

#include "ngx_svc_email.h"
#include "ngx_svc_limit.h"


/* Of the request's pool. */

typedef struct {
    ngx_svc_limit_t      limit;
    ngx_svc_request_t   *sr;
    ngx_int_t          (*next)(ngx_svc_request_t *sr);
    u_char               mac[NGX_SVC_LIMIT_MAC_LEN];
} ngx_svc_limit_clear_t;


static void ngx_svc_limit_clear_done(ngx_svc_limit_t *limit);


ngx_int_t
ngx_svc_limit_clear_then(ngx_svc_request_t *sr, const ngx_str_t *email,
    ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_int_t               rc;
    ngx_http_request_t     *r;
    ngx_svc_limit_clear_t  *clear;

    r = sr->request;

    if (email->len > NGX_SVC_EMAIL_MAX) {
        return next(sr);
    }

    clear = ngx_pcalloc(r->pool, sizeof(ngx_svc_limit_clear_t));

    if (clear == NULL || ngx_svc_limit_email(email, clear->mac) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    clear->sr = sr;
    clear->next = next;
    clear->limit.mac = clear->mac;
    clear->limit.handler = ngx_svc_limit_clear_done;
    clear->limit.data = clear;

    rc = ngx_svc_limit_clear(&clear->limit, r->pool);

    if (rc == NGX_AGAIN) {
        r->main->count++;
        return NGX_DONE;
    }

    return rc == NGX_OK ? next(sr) : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static void
ngx_svc_limit_clear_done(ngx_svc_limit_t *limit)
{
    ngx_connection_t       *c;
    ngx_http_request_t     *r;
    ngx_svc_limit_clear_t  *clear;

    clear = limit->data;
    r = clear->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, clear->next(clear->sr));

    ngx_http_run_posted_requests(c);
}
