/*
 * Limits for a request that fails on our side.
 */

#include "ngx_svc_limit_request.h"


typedef struct {
    ngx_svc_limit_t     *limit;
    ngx_http_request_t  *request;
} ngx_svc_limit_request_t;


static void ngx_svc_limit_request_ended(void *data);


ngx_int_t
ngx_svc_limit_check_request(ngx_svc_limit_t *limit, ngx_http_request_t *r)
{
    ngx_http_cleanup_t       *cln;
    ngx_svc_limit_request_t  *ended;

    cln = ngx_http_cleanup_add(r, sizeof(ngx_svc_limit_request_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    ended = cln->data;
    ended->limit = limit;
    ended->request = r;

    cln->handler = ngx_svc_limit_request_ended;

    return ngx_svc_limit_check(limit, r->pool);
}


/* limit and request are in the request's pool, which is still there. */

static void
ngx_svc_limit_request_ended(void *data)
{
    ngx_uint_t                status;
    ngx_http_request_t       *r;
    ngx_svc_limit_request_t  *ended = data;

    r = ended->request;
    status = r->err_status ? r->err_status : r->headers_out.status;

    if (status >= NGX_HTTP_INTERNAL_SERVER_ERROR) {
        ngx_svc_limit_give_back(ended->limit);
    }
}
