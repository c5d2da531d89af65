/*
 * How often a tenant may have something done, or an address be sent something.
 */

#include "ngx_svc_admin_limit.h"
#include "ngx_svc_send.h"
#include "ngx_svc_submit.h"


/* Allocated from the request's pool. */

typedef struct {
    ngx_svc_limit_t     *limit;
    ngx_svc_request_t   *sr;
    const char          *what;
    ngx_int_t          (*next)(ngx_svc_request_t *sr);
} ngx_svc_admin_limit_t;


static ngx_int_t ngx_svc_admin_limit_check(ngx_svc_request_t *sr,
    ngx_svc_limit_t *limit, const char *what,
    ngx_int_t (*next)(ngx_svc_request_t *sr));
static void ngx_svc_admin_limit_counted(ngx_svc_limit_t *limit);
static ngx_int_t ngx_svc_admin_limit_admitted(ngx_svc_admin_limit_t *ctx);
static ngx_int_t ngx_svc_admin_limit_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_limit_refuse(ngx_svc_request_t *sr);


#include "ngx_svc_admin_limit.sql.h"


ngx_int_t
ngx_svc_admin_limit(ngx_svc_request_t *sr, ngx_svc_limit_family_e family,
    const u_char tenant[NGX_SVC_UUID_LEN], const char *what,
    ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_svc_limit_t  *limit;

    limit = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_limit_t));
    if (limit == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    limit->family = family;
    limit->tenant = tenant;

    return ngx_svc_admin_limit_check(sr, limit, what, next);
}


/* The administrator's place does not count. */

ngx_int_t
ngx_svc_admin_limit_address(ngx_svc_request_t *sr, ngx_svc_limit_t *limit,
    const char *what, ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    static struct sockaddr  none = { .sa_family = AF_UNSPEC };

    limit->sockaddr = &none;

    return ngx_svc_admin_limit_check(sr, limit, what, next);
}


static ngx_int_t
ngx_svc_admin_limit_check(ngx_svc_request_t *sr, ngx_svc_limit_t *limit,
    const char *what, ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_int_t               rc;
    ngx_svc_admin_limit_t  *ctx;

    ctx = ngx_palloc(sr->request->pool, sizeof(ngx_svc_admin_limit_t));
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->limit = limit;
    ctx->sr = sr;
    ctx->what = what;
    ctx->next = next;

    limit->handler = ngx_svc_admin_limit_counted;
    limit->data = ctx;

    rc = ngx_svc_limit_check(limit, sr->request->pool);

    /* what these point to need not be there any more */

    limit->sockaddr = NULL;
    limit->tenant = NULL;

    if (rc == NGX_AGAIN) {
        sr->request->main->count++;
        return NGX_DONE;
    }

    return rc == NGX_OK ? ngx_svc_admin_limit_admitted(ctx)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/* Called from an event, which holds a reference to the request. */

static void
ngx_svc_admin_limit_counted(ngx_svc_limit_t *limit)
{
    ngx_connection_t       *c;
    ngx_http_request_t     *r;
    ngx_svc_admin_limit_t  *ctx;

    ctx = limit->data;
    r = ctx->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_admin_limit_admitted(ctx));

    ngx_http_run_posted_requests(c);
}


/* A request that is refused needs its own data no more. */

static ngx_int_t
ngx_svc_admin_limit_admitted(ngx_svc_admin_limit_t *ctx)
{
    ngx_svc_request_t  *sr;

    sr = ctx->sr;

    if (ctx->limit->verdict == NGX_SVC_LIMIT_ADMITTED) {
        return ctx->next(sr);
    }

    sr->data = ctx;

    if (!ctx->limit->first_over) {
        return ngx_svc_admin_limit_refuse(sr);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_limit_write,
                                 ngx_svc_admin_limit_refuse);
}


static ngx_int_t
ngx_svc_admin_limit_write(ngx_svc_request_t *sr)
{
    ngx_svc_limit_t    *limit;
    ngx_svc_pg_call_t  *call;

    limit = ((ngx_svc_admin_limit_t *) sr->data)->limit;

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_limited);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &ngx_svc_limit_families[limit->family]);
    ngx_svc_pg_bind_str(call, &ngx_svc_limit_kinds[limit->kind]);

    return ngx_svc_pg_bind_int(sr->op, call, limit->max) == NGX_OK
           ? ngx_svc_pg_bind_int(sr->op, call, limit->window) : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_limit_refuse(ngx_svc_request_t *sr)
{
    ngx_svc_admin_limit_t  *ctx;

    ctx = sr->data;

    sr->retry_after = (ctx->limit->left + 999) / 1000;

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_RATE_LIMITED,
                        ctx->limit->kind == NGX_SVC_LIMIT_TENANT
                        ? "The tenant %s %ui times a minute: try again in %ui "
                          "seconds."
                        : "The address %s %ui times: try again in %ui seconds.",
                        ctx->what, ctx->limit->max, sr->retry_after);

    return ngx_svc_send_error(sr);
}
