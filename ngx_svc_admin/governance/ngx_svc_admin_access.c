/*
 * /v1/admin/access-policy.
 *
 * The new policy is compared with the stored one in C: one round trip reads,
 * and a second one writes if nobody else has written in between; else both are
 * made again.
 */

#include "ngx_svc_admin_access.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_access_equal.h"
#include "ngx_svc_access_lockout.h"
#include "ngx_svc_access_write.h"


/* Attempts: others may write between a read and the write that follows. */
#define NGX_SVC_ADMIN_ACCESS_TRIES  100


static ngx_int_t ngx_svc_admin_access_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_access_put(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_read(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_written(ngx_svc_request_t *sr);


#include "ngx_svc_admin_access.sql.h"


const ngx_svc_route_t  ngx_svc_admin_access[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/access-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_access_get } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/access-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SENSITIVE,
      .check = ngx_svc_admin_access_check,
      .statements = { &ngx_svc_sql_admin_access_read },
      .reply = ngx_svc_admin_access_put },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_access_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                rc;
    ngx_svc_admin_access_t  *access;

    access = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_access_t));
    if (access == NULL) {
        return NGX_ERROR;
    }

    access->store = &ngx_svc_sql_admin_access_store;
    sr->data = access;

    rc = ngx_svc_access_parse(sr->request->pool, ngx_svc_zones(), sr->json,
                              "", NGX_SVC_S_STRICT|NGX_SVC_S_READ_BACK,
                              &access->policy, &sr->error);

    return rc == NGX_OK ? ngx_svc_admin_access_json(sr, access) : rc;
}


/* A policy that changes nothing is not checked any further, and not stored. */

static ngx_int_t
ngx_svc_admin_access_put(ngx_svc_request_t *sr)
{
    PGresult                         *res;
    ngx_svc_admin_access_t           *access;
    const ngx_svc_access_policy_t    *policy;
    ngx_svc_row_admin_access_read_t   row;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_access_read);
    access = sr->data;

    ngx_svc_row_admin_access_read(&row, res, 0);
    policy = ngx_svc_admin_access_in_force(sr, &row.access_in_force);

    return policy && ngx_svc_access_equal(policy, access->policy)
           ? ngx_svc_route_row(sr, res)
           : ngx_svc_admin_access_change(sr, &row.access_in_force.version);
}


const ngx_svc_access_policy_t *
ngx_svc_admin_access_in_force(ngx_svc_request_t *sr,
    const ngx_svc_row_access_in_force_t *row)
{
    if (row->tenant.data == NULL) {
        return NULL;
    }

    return ngx_svc_access_cached(ngx_svc_zones(), &row->tenant,
                           ngx_atoof(row->version.data, row->version.len),
                           (ngx_str_t *) &row->policy,
                           sr->request->connection->log);
}


ngx_int_t
ngx_svc_admin_access_change(ngx_svc_request_t *sr, const ngx_str_t *number)
{
    ngx_int_t                 rc;
    ngx_svc_admin_access_t   *access;
    ngx_svc_access_caller_t   caller;

    if (number->data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    access = sr->data;

    rc = ngx_svc_access_caller(sr, &caller);

    if (rc == NGX_OK) {
        rc = ngx_svc_access_lockout(access->policy, &caller, &sr->error);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    access->number = ngx_svc_admin_access_copy(sr, *number);

    if (rc != NGX_OK || access->number.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_access_write,
                                 ngx_svc_admin_access_written);
}


static ngx_int_t
ngx_svc_admin_access_read(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, sr->route->statements[0], NULL);
}


static ngx_int_t
ngx_svc_admin_access_write(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_admin_access_t  *access;

    access = sr->data;

    rc = ngx_svc_route_call(sr, &ngx_svc_sql_admin_governance_lock, NULL);

    return rc == NGX_OK ? ngx_svc_route_call(sr, access->store, NULL) : rc;
}


/* The statement behind the lock has returned the new row, or none. */

static ngx_int_t
ngx_svc_admin_access_written(ngx_svc_request_t *sr)
{
    PGresult                *res;
    ngx_svc_admin_access_t  *access;

    access = sr->data;
    res = ngx_svc_result(sr, access->store);

    if (PQntuples(res)) {
        return ngx_svc_route_row(sr, res);
    }

    if (++access->tries == NGX_SVC_ADMIN_ACCESS_TRIES) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Others change the access policy all the time: "
                            "nothing was done, try again.");

        return ngx_svc_send_error(sr);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_READ,
                                 ngx_svc_admin_access_read,
                                 ngx_svc_route_results);
}


ngx_int_t
ngx_svc_admin_access_json(ngx_svc_request_t *sr,
    ngx_svc_admin_access_t *access)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_access_write(&w, access->policy);
    ngx_svc_json_close(&w, '}');

    access->json.data = w.start;
    access->json.len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


ngx_str_t
ngx_svc_admin_access_copy(ngx_svc_request_t *sr, ngx_str_t value)
{
    ngx_str_t  copy;

    copy.len = value.len;
    copy.data = ngx_pstrdup(sr->request->pool, &value);

    return copy;
}
