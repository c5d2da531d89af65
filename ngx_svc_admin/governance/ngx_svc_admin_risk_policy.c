/*
 * /v1/admin/risk-policy.
 */

#include "ngx_svc_admin_governance.h"


static ngx_int_t ngx_svc_admin_risk_policy_get_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_risk_policy_get_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_risk_policy_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_risk_policy_put_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_risk_order(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_risk_send(ngx_svc_request_t *sr, PGresult *res,
    int column);


#define NGX_SVC_ADMIN_RISK_COLUMNS(t)                                         \
    t ".risk_enabled, " t ".risk_mfa_threshold, " t ".risk_deny_threshold"

#define NGX_SVC_ADMIN_RISK_CHANGED(column, name)                              \
    "CASE WHEN u." column " <> o." column " THEN '" name "' END"

/*
 * The row is locked by the statement before.  The first two columns say whether
 * it is the one that If-Match names, and whether the thresholds are in order.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_risk_policy = {
    .name = "admin_risk_policy",
    .text =
        "SELECT " NGX_SVC_ADMIN_RISK_COLUMNS("g") ", g.risk_version"
        " FROM svc.governance g WHERE g.tenant_id = " NGX_SVC_TENANT,
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_risk_policy_put = {
    .name = "admin_risk_policy_put",
    .text =
        "WITH o AS ("
            "SELECT g.tenant_id, " NGX_SVC_ADMIN_RISK_COLUMNS("g")
                ", g.risk_version"
            " FROM svc.governance g WHERE g.tenant_id = " NGX_SVC_TENANT
        "), n AS ("
            "SELECT o.tenant_id,"
                " coalesce($2::bool, o.risk_enabled) AS risk_enabled,"
                " coalesce($3::int4, o.risk_mfa_threshold)"
                    " AS risk_mfa_threshold,"
                " coalesce($4::int4, o.risk_deny_threshold)"
                    " AS risk_deny_threshold, "
                NGX_SVC_IF_MATCH("$1", "o.risk_version")
                    " AS matches"
            " FROM o"
        "), c AS ("
            "SELECT n.matches,"
                " n.risk_mfa_threshold < n.risk_deny_threshold AS ordered FROM n"
        "), u AS ("
            "UPDATE svc.governance g SET revision = g.revision + 1,"
                " risk_version = g.risk_version + 1,"
                " risk_enabled = n.risk_enabled,"
                " risk_mfa_threshold = n.risk_mfa_threshold,"
                " risk_deny_threshold = n.risk_deny_threshold"
            " FROM n, o, c WHERE g.tenant_id = n.tenant_id"
                " AND c.matches AND c.ordered"
                " AND (" NGX_SVC_ADMIN_RISK_COLUMNS("n") ")"
                " <> (" NGX_SVC_ADMIN_RISK_COLUMNS("o") ")"
            " RETURNING " NGX_SVC_ADMIN_RISK_COLUMNS("g") ", g.risk_version"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, details)"
            " SELECT 'risk_policy.updated', 'riskPolicy',"
                " jsonb_build_object('changed', to_jsonb(array_remove(ARRAY["
                NGX_SVC_ADMIN_RISK_CHANGED("risk_enabled", "enabled") ", "
                NGX_SVC_ADMIN_RISK_CHANGED("risk_mfa_threshold",
                                           "mfaThreshold") ", "
                NGX_SVC_ADMIN_RISK_CHANGED("risk_deny_threshold",
                                           "denyThreshold")
                "], NULL)))"
            " FROM u, o"
        "), r AS ("
            "SELECT " NGX_SVC_ADMIN_RISK_COLUMNS("u") ", u.risk_version FROM u"
            " UNION ALL"
            " SELECT " NGX_SVC_ADMIN_RISK_COLUMNS("o") ", o.risk_version FROM o"
            " WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT c.matches, c.ordered, r.* FROM c, r",
    .nparams = 4
};

ngx_svc_pg_statements_t  ngx_svc_admin_risk_policy_statements[] = {
    &ngx_svc_sql_admin_risk_policy,
    &ngx_svc_sql_admin_risk_policy_put,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_risk_policy[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/risk-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_admin_risk_policy_get_prepare,
      .reply = ngx_svc_admin_risk_policy_get_reply },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/risk-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_risk_policy_put_prepare,
      .reply = ngx_svc_admin_risk_policy_put_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_risk_policy_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_risk_policy)
           ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_risk_policy_get_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[0]) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_risk_send(sr, sr->results[0], 0);
}


static ngx_int_t
ngx_svc_admin_risk_policy_put_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    ngx_str_t              match;
    ngx_svc_pg_call_t     *call;
    ngx_svc_admin_risk_t   risk;

    ngx_memzero(&risk, sizeof(ngx_svc_admin_risk_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_risk_members, 0, sr->json, &risk,
                               &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    if (risk.mfa_threshold.set && risk.deny_threshold.set
        && risk.mfa_threshold.integer >= risk.deny_threshold.integer)
    {
        return ngx_svc_admin_risk_order(sr);
    }

    if (ngx_svc_admin_governance_lock(sr) != NGX_OK
        || ngx_svc_if_match(sr, &match) != NGX_OK)
    {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_risk_policy_put);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, match.data ? &match : NULL);

    if (ngx_svc_admin_bind_field(sr, call, NGX_SVC_T_BOOLEAN, &risk.enabled)
           != NGX_OK
        || ngx_svc_admin_bind_field(sr, call, NGX_SVC_T_INTEGER,
                                    &risk.mfa_threshold)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_admin_bind_field(sr, call, NGX_SVC_T_INTEGER,
                                    &risk.deny_threshold);
}


static ngx_int_t
ngx_svc_admin_risk_policy_put_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_column_true(res, 0, 0)) {
        return ngx_svc_precondition_failed(sr);
    }

    if (!ngx_svc_column_true(res, 0, 1)) {
        (void) ngx_svc_admin_risk_order(sr);
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_admin_risk_send(sr, res, 2);
}


static ngx_int_t
ngx_svc_admin_risk_order(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        NGX_SVC_ADMIN_RISK_ORDER);
}


static ngx_int_t
ngx_svc_admin_risk_send(ngx_svc_request_t *sr, PGresult *res, int column)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 128) != NGX_OK
        || ngx_svc_etag(sr, res, 0, column + 3) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_column_boolean(&w, "enabled", res, 0, column);
    ngx_svc_column_raw(&w, "mfaThreshold", res, 0, column + 1);
    ngx_svc_column_raw(&w, "denyThreshold", res, 0, column + 2);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
