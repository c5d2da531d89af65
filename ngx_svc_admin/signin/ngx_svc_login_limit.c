/*
 * How many sign-ins, and requests like them, a client and an address may make.
 */

#include "ngx_svc_login_limit.h"
#include "ngx_svc_limit_request.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"


static void ngx_svc_login_counted(ngx_svc_limit_t *limit);
static void ngx_svc_login_counted_then(ngx_svc_limit_t *limit);
static ngx_int_t ngx_svc_login_next(ngx_svc_login_t *login);
static void ngx_svc_login_limited_audit(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_login_limited_copy(ngx_pool_t *pool, ngx_str_t *dst,
    ngx_str_t *src);
static void ngx_svc_login_limited_done(ngx_svc_pg_op_t *op);


#include "ngx_svc_login_limit.sql.h"


ngx_svc_login_t *
ngx_svc_login_create(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login))
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = ngx_pcalloc(sr->request->pool, size);
    if (login == NULL) {
        return NULL;
    }

    login->sr = sr;
    login->method = method;
    sr->data = login;

    rc = take(login);

    login->invalid = (rc == NGX_DECLINED);

    return rc == NGX_ERROR ? NULL : login;
}


ngx_int_t
ngx_svc_login_prepare(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login))
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (login == NULL) {
        login = ngx_svc_login_create(sr, size, method, take);
        if (login == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        rc = ngx_svc_login_limit(login);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return ngx_svc_login_admitted(login);
}


ngx_int_t
ngx_svc_login_limit(ngx_svc_login_t *login)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = login->sr->request;

    login->limit.sockaddr = r->connection->sockaddr;
    login->limit.mac = login->asked.mac.data;
    login->limit.handler = ngx_svc_login_counted;
    login->limit.data = login;

    rc = ngx_svc_limit_check_request(&login->limit, r);

    if (rc == NGX_AGAIN) {
        r->main->count++;
        r->read_event_handler = ngx_http_test_reading;
        r->write_event_handler = ngx_http_request_empty_handler;
        return NGX_DONE;
    }

    return rc == NGX_OK ? NGX_OK : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static void
ngx_svc_login_counted(ngx_svc_limit_t *limit)
{
    ngx_svc_login_t  *login;

    login = limit->data;

    ngx_svc_request_public_again(login->sr);
}


ngx_int_t
ngx_svc_login_limit_then(ngx_svc_login_t *login,
    ngx_int_t (*next)(ngx_svc_login_t *login))
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = login->sr->request;

    login->next = next;

    login->limit.sockaddr = r->connection->sockaddr;
    login->limit.handler = ngx_svc_login_counted_then;
    login->limit.data = login;

    if (login->limit.mac == NULL) {
        login->limit.mac = login->asked.mac.data;
    }

    rc = ngx_svc_limit_check_request(&login->limit, r);

    if (rc == NGX_AGAIN) {
        r->main->count++;
        return NGX_DONE;
    }

    return rc == NGX_OK ? ngx_svc_login_next(login)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static void
ngx_svc_login_counted_then(ngx_svc_limit_t *limit)
{
    ngx_svc_login_t     *login;
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    login = limit->data;
    r = login->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_login_next(login));

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_login_next(ngx_svc_login_t *login)
{
    return ngx_svc_login_limited(login) == NGX_OK
           ? login->next(login) : ngx_svc_send_error(login->sr);
}


ngx_int_t
ngx_svc_login_limited(ngx_svc_login_t *login)
{
    ngx_uint_t          seconds;
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (login->limit.verdict == NGX_SVC_LIMIT_ADMITTED) {
        return NGX_OK;
    }

    if (login->limit.first_over) {
        ngx_svc_login_limited_audit(login);
    }

    sr->error.kind = NGX_SVC_E_NONE;
    seconds = (login->limit.left + 999) / 1000;

    if (login->limit.verdict == NGX_SVC_LIMIT_LOCKED) {
        return ngx_svc_login_locked(sr, seconds);
    }

    sr->retry_after = seconds;

    return ngx_svc_fail(&sr->error, NGX_SVC_E_RATE_LIMITED,
                        "Too many sign-ins: try again in %ui seconds.",
                        seconds);
}


ngx_int_t
ngx_svc_login_admitted(ngx_svc_login_t *login)
{
    ngx_int_t           rc;
    ngx_uint_t          i;
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (ngx_svc_login_limited(login) != NGX_OK || login->invalid) {
        return NGX_DECLINED;
    }

    for (i = 0; sr->route->statements[i]; i++) {
        rc = ngx_svc_route_call(sr, sr->route->statements[i], NULL);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_begun(ngx_svc_login_t *login,
    const ngx_svc_row_login_begun_t *row)
{
    login->read.begun_age
        = row->age.len ? ngx_max(ngx_atoi(row->age.data, row->age.len), 1) : 0;

    return ngx_svc_login_copy(login, &login->read.begun_ip, row->ip);
}


void
ngx_svc_login_give_back(ngx_svc_login_t *login, ngx_uint_t hits)
{
    ngx_addr_t       addr;
    ngx_pool_t      *pool;
    ngx_svc_limit_t  limit;
    struct sockaddr  none;

    if (login->read.begun_age == 0) {
        return;
    }

    pool = login->sr->request->pool;
    none.sa_family = AF_UNSPEC;

    ngx_memzero(&limit, sizeof(ngx_svc_limit_t));

    limit.family = NGX_SVC_LIMIT_LOGIN;
    limit.mac = login->asked.mac.data;
    limit.sockaddr = login->read.begun_ip.data
                     && ngx_parse_addr(pool, &addr, login->read.begun_ip.data,
                                       login->read.begun_ip.len)
                        == NGX_OK ? addr.sockaddr : &none;

    while (hits--) {
        ngx_svc_limit_give_back_old(&limit, login->read.begun_age);
    }
}


/* Writes to the audit log, in an op that the request does not wait for. */

static void
ngx_svc_login_limited_audit(ngx_svc_login_t *login)
{
    ngx_str_t           ip, slug, host;
    ngx_pool_t         *pool;
    ngx_svc_pg_op_t    *op;
    ngx_svc_limit_t    *limit;
    ngx_svc_pg_call_t  *call;

    limit = &login->limit;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return;
    }

    if (ngx_svc_login_limited_copy(pool, &host, &login->asked.host) != NGX_OK
        || ngx_svc_login_limited_copy(pool, &slug, &login->asked.slug) != NGX_OK
        || ngx_svc_login_limited_copy(pool, &ip, &login->client.ip) != NGX_OK)
    {
        goto failed;
    }

    op = ngx_svc_pg_op_create(pool, NGX_SVC_PG_SLOW,
                              ngx_svc_login_limited_done, NULL);
    if (op == NULL) {
        goto failed;
    }

    op->committed = ngx_svc_request_committed;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_signin_limited);
    if (call == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind_str(call, &host);
    ngx_svc_pg_bind_str(call, slug.data ? &slug : NULL);
    ngx_svc_pg_bind_str(call, ip.data ? &ip : NULL);
    ngx_svc_pg_bind_str(call, &ngx_svc_limit_families[limit->family]);
    ngx_svc_pg_bind_str(call, &ngx_svc_limit_kinds[limit->kind]);

    if (ngx_svc_pg_bind_int(op, call, limit->max) == NGX_OK
        && ngx_svc_pg_bind_int(op, call, limit->window) == NGX_OK
        && ngx_svc_pg_submit(op) == NGX_OK)
    {
        return;
    }

failed:

    ngx_destroy_pool(pool);
}


/* A string without data is copied as one without data. */

static ngx_int_t
ngx_svc_login_limited_copy(ngx_pool_t *pool, ngx_str_t *dst, ngx_str_t *src)
{
    *dst = *src;

    if (src->data) {
        dst->data = ngx_pstrdup(pool, src);
    }

    return src->data && dst->data == NULL ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_login_limited_done(ngx_svc_pg_op_t *op)
{
    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "that a limit was exceeded cannot be written "
                             "to the audit log");
    }

    ngx_destroy_pool(op->pool);
}
