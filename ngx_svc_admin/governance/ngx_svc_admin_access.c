/*
 * /v1/admin/access-policy.
 *
 * What is to be stored is compared with what is there, and that is done in C:
 * one round trip reads, and a second one writes if nobody else has written in
 * between; else both are made again.
 */

#include "ngx_svc_admin_access.h"


typedef struct {
    ngx_svc_access_policy_t  *policy;
    ngx_str_t                 json;
    ngx_str_t                 match;        /* versions; no data: any */
    ngx_str_t                 number;       /* of the version that was read */
    ngx_uint_t                tries;
} ngx_svc_admin_access_t;


static ngx_int_t ngx_svc_admin_access_get_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_get_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_put_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_read(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_compare(ngx_svc_request_t *sr);
static ngx_uint_t ngx_svc_admin_access_same(ngx_svc_request_t *sr,
    PGresult *res, ngx_svc_admin_access_t *access);
static ngx_int_t ngx_svc_admin_access_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_send(ngx_svc_request_t *sr,
    PGresult *res, int column);


/* The rules, the default action, the version's id, its time and its number. */

#define NGX_SVC_ADMIN_ACCESS_COLUMNS                                          \
    "access_policy -> 'rules', access_policy ->> 'defaultAction',"            \
    " access_version_id, access_updated_at, access_number"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_access_get = {
    .name = "admin_access_get",
    .text =
        "SELECT " NGX_SVC_ADMIN_ACCESS_COLUMNS " FROM svc.governance"
        " WHERE tenant_id = " NGX_SVC_TENANT,
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_access_read = {
    .name = "admin_access_read",
    .text =
        "SELECT " NGX_SVC_ADMIN_ACCESS_COLUMNS ", "
            NGX_SVC_IF_MATCH("$1", "access_number")
            ", access_policy, tenant_id"
        " FROM svc.governance WHERE tenant_id = " NGX_SVC_TENANT,
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_access_store = {
    .name = "admin_access_store",
    .text =
        "WITH g AS ("
            "UPDATE svc.governance SET revision = revision + 1,"
                " access_policy = $1::text::json,"
                " access_number = access_number + 1,"
                " access_version_id = gen_random_uuid(),"
                " access_updated_at = greatest(now(),"
                " access_updated_at + interval '1 millisecond')"
            " WHERE tenant_id = " NGX_SVC_TENANT
                " AND access_number = $2::text::bigint RETURNING *"
        "), v AS ("
            "INSERT INTO svc.access_policy_version (tenant_id, id, number,"
                " source, restored_from, snapshot, created_at)"
            " SELECT tenant_id, access_version_id, access_number, $3,"
                " $4::text::uuid, access_policy, access_updated_at FROM g"
            " RETURNING *"
        "), d AS ("
            "DELETE FROM svc.access_policy_version o USING g"
            " WHERE o.tenant_id = g.tenant_id"
                " AND o.number <= g.access_number - $5::int4"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " details)"
            " SELECT CASE v.source WHEN 'restore' THEN 'access_policy.restored'"
                " ELSE 'access_policy.updated' END, 'accessPolicy', v.id::text,"
                " jsonb_strip_nulls(jsonb_build_object('version', v.number,"
                " 'source', v.source, 'restoredFrom', v.restored_from)) FROM v"
        ")"
        " SELECT " NGX_SVC_ADMIN_ACCESS_VERSION_COLUMNS ", "
        NGX_SVC_ADMIN_ACCESS_COLUMNS " FROM v, g",
    .nparams = 5
};

ngx_svc_pg_statements_t  ngx_svc_admin_access_statements[] = {
    &ngx_svc_sql_admin_access_get,
    &ngx_svc_sql_admin_access_read,
    &ngx_svc_sql_admin_access_store,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_access[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/access-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_admin_access_get_prepare,
      .reply = ngx_svc_admin_access_get_reply },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/access-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON,
      .prepare = ngx_svc_admin_access_put_prepare,
      .reply = ngx_svc_admin_access_put_reply },

    ngx_svc_null_route
};


/* Of admin_access_read, behind NGX_SVC_ADMIN_ACCESS_COLUMNS */
#define NGX_SVC_ADMIN_ACCESS_NUMBER   4
#define NGX_SVC_ADMIN_ACCESS_MATCHES  5
#define NGX_SVC_ADMIN_ACCESS_POLICY   6
#define NGX_SVC_ADMIN_ACCESS_OF       7


static ngx_int_t
ngx_svc_admin_access_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_access_get)
           ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_access_get_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_access_send(sr, sr->results[0], 0);
}


static ngx_int_t
ngx_svc_admin_access_put_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_admin_access_t  *access;

    access = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_access_t));
    if (access == NULL) {
        return NGX_ERROR;
    }

    sr->data = access;

    rc = ngx_svc_access_parse(sr->request->pool, ngx_svc_zones(), sr->json,
                              "", 0, &access->policy, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_if_match(sr, &access->match) != NGX_OK
        || ngx_svc_admin_access_json(sr, access->policy, &access->json)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_admin_access_read(sr);
}


static ngx_int_t
ngx_svc_admin_access_put_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_access_compare(sr);
}


static ngx_int_t
ngx_svc_admin_access_read(ngx_svc_request_t *sr)
{
    ngx_svc_pg_call_t       *call;
    ngx_svc_admin_access_t  *access;

    access = sr->data;

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_access_read);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, access->match.data ? &access->match : NULL);

    return NGX_OK;
}


/* What changes nothing is not looked at any further. */

static ngx_int_t
ngx_svc_admin_access_compare(ngx_svc_request_t *sr)
{
    PGresult                 *res;
    ngx_int_t                 rc;
    ngx_svc_admin_access_t   *access;
    ngx_svc_access_caller_t   caller;

    res = sr->results[0];
    access = sr->data;

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_column_true(res, 0, NGX_SVC_ADMIN_ACCESS_MATCHES)) {
        return ngx_svc_precondition_failed(sr);
    }

    if (ngx_svc_admin_access_same(sr, res, access)) {
        return ngx_svc_admin_access_send(sr, res, 0);
    }

    rc = ngx_svc_access_caller(sr, &caller);

    if (rc == NGX_OK) {
        rc = ngx_svc_access_lockout(access->policy, &caller, &sr->error);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    access->number = ngx_svc_admin_access_copy(sr, res,
                                               NGX_SVC_ADMIN_ACCESS_NUMBER);

    if (rc != NGX_OK || access->number.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_access_write,
                                 ngx_svc_admin_access_written);
}


static ngx_uint_t
ngx_svc_admin_access_same(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_admin_access_t *access)
{
    ngx_str_t                       tenant, number, json;
    const ngx_svc_access_policy_t  *policy;

    tenant = ngx_svc_pg_value(res, 0, NGX_SVC_ADMIN_ACCESS_OF);
    number = ngx_svc_pg_value(res, 0, NGX_SVC_ADMIN_ACCESS_NUMBER);
    json = ngx_svc_pg_value(res, 0, NGX_SVC_ADMIN_ACCESS_POLICY);

    policy = ngx_svc_access_cached(ngx_svc_zones(), &tenant,
                                   ngx_atoof(number.data, number.len), &json,
                                   sr->request->connection->log);

    return policy && ngx_svc_access_equal(policy, access->policy);
}


static ngx_int_t
ngx_svc_admin_access_write(ngx_svc_request_t *sr)
{
    ngx_svc_admin_access_t  *access;

    access = sr->data;

    return ngx_svc_admin_access_store(sr, &access->json, &access->number,
                                      "api", NULL);
}


static ngx_int_t
ngx_svc_admin_access_written(ngx_svc_request_t *sr)
{
    PGresult                *res;
    ngx_svc_admin_access_t  *access;

    res = sr->results[NGX_SVC_ADMIN_ACCESS_STORED];
    access = sr->data;

    if (PQntuples(res)) {
        return ngx_svc_admin_access_send(sr, res, 9);
    }

    if (++access->tries == NGX_SVC_ADMIN_ACCESS_TRIES) {
        return ngx_svc_admin_access_busy(sr);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_READ,
                                 ngx_svc_admin_access_read,
                                 ngx_svc_admin_access_compare);
}


static ngx_int_t
ngx_svc_admin_access_send(ngx_svc_request_t *sr, PGresult *res, int column)
{
    ngx_svc_json_writer_t  w;

    if (PQntuples(res) == 0
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    256 + PQgetlength(res, 0, column))
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_column_raw(&w, "rules", res, 0, column);
    ngx_svc_column_text(&w, "defaultAction", res, 0, column + 1);
    ngx_svc_column_text(&w, "versionId", res, 0, column + 2);
    ngx_svc_column_time(&w, "updatedAt", res, 0, column + 3);
    ngx_svc_json_close(&w, '}');

    if (ngx_svc_etag(sr, res, 0, column + 4) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


ngx_int_t
ngx_svc_admin_access_json(ngx_svc_request_t *sr,
    const ngx_svc_access_policy_t *policy, ngx_str_t *json)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_access_write(&w, policy);
    ngx_svc_json_close(&w, '}');

    json->data = w.start;
    json->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


ngx_int_t
ngx_svc_admin_access_store(ngx_svc_request_t *sr, const ngx_str_t *json,
    const ngx_str_t *number, const char *source,
    const ngx_str_t *restored_from)
{
    ngx_svc_pg_call_t  *call;

    if (ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_access_store);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, json);
    ngx_svc_pg_bind_str(call, number);
    ngx_svc_pg_bind(call, (u_char *) source, ngx_strlen(source));
    ngx_svc_pg_bind_str(call, restored_from);

    return ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_ADMIN_ACCESS_VERSIONS);
}


ngx_str_t
ngx_svc_admin_access_copy(ngx_svc_request_t *sr, PGresult *res, int column)
{
    ngx_str_t  value, copy;

    value = ngx_svc_pg_value(res, 0, column);

    copy.len = value.len;
    copy.data = ngx_pstrdup(sr->request->pool, &value);

    return copy;
}


ngx_int_t
ngx_svc_admin_access_busy(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "Others change the access policy all the time: "
                        "nothing was done, try again.");

    return ngx_svc_send_error(sr);
}
