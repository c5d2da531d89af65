/*
 * /v1/admin/password-policy.
 */

#include "ngx_svc_admin_password.h"


static ngx_int_t ngx_svc_admin_password_policy_get_prepare(
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_password_policy_get_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_password_policy_put_prepare(
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_password_policy_put_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_password_send(ngx_svc_request_t *sr,
    PGresult *res, int column);


/* The row is locked by the statement before. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_password_policy = {
    .name = "admin_password_policy",
    .text =
        "SELECT " NGX_SVC_ADMIN_PASSWORD_OF("g") ", g.password_version"
        " FROM svc.governance g WHERE g.tenant_id = " NGX_SVC_TENANT,
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_password_policy_put = {
    .name = "admin_password_policy_put",
    .text =
        "WITH o AS ("
            "SELECT g.tenant_id, " NGX_SVC_ADMIN_PASSWORD_OF("g")
                ", g.password_version"
            " FROM svc.governance g WHERE g.tenant_id = " NGX_SVC_TENANT
        "), n AS ("
            "SELECT o.tenant_id,"
                " coalesce($2::int4, o.min_length) AS min_length,"
                " coalesce($3::bool, o.reject_breached) AS reject_breached,"
                " coalesce($4::bool, o.reject_contextual) AS reject_contextual,"
                " coalesce($5::bool, o.require_lower) AS require_lower,"
                " coalesce($6::bool, o.require_upper) AS require_upper,"
                " coalesce($7::bool, o.require_digit) AS require_digit,"
                " coalesce($8::bool, o.require_symbol) AS require_symbol,"
                " coalesce($9::int4, o.history_count) AS history_count,"
                " coalesce($10::int4, o.max_age_days) AS max_age_days, "
                NGX_SVC_IF_MATCH("$1", "o.password_version")
                    " AS matches"
            " FROM o"
        "), u AS ("
            "UPDATE svc.governance g SET revision = g.revision + 1,"
                " password_version = g.password_version + 1,"
                " (" NGX_SVC_ADMIN_PASSWORD_COLUMNS ")"
                " = (" NGX_SVC_ADMIN_PASSWORD_OF("n") ")"
            " FROM n, o WHERE g.tenant_id = n.tenant_id AND n.matches"
                " AND (" NGX_SVC_ADMIN_PASSWORD_OF("n") ")"
                " <> (" NGX_SVC_ADMIN_PASSWORD_OF("o") ")"
            " RETURNING " NGX_SVC_ADMIN_PASSWORD_OF("g") ", g.password_version"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, details)"
            " SELECT 'password_policy.updated', 'passwordPolicy', "
                NGX_SVC_ADMIN_PASSWORD_CHANGED
            " FROM u, o"
        "), r AS ("
            "SELECT " NGX_SVC_ADMIN_PASSWORD_OF("u") ", u.password_version"
            " FROM u UNION ALL"
            " SELECT " NGX_SVC_ADMIN_PASSWORD_OF("o") ", o.password_version"
            " FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT n.matches, r.* FROM n, r",
    .nparams = 10
};

ngx_svc_pg_statements_t  ngx_svc_admin_password_policy_statements[] = {
    &ngx_svc_sql_admin_password_policy,
    &ngx_svc_sql_admin_password_policy_put,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_password_policy[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/password-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_admin_password_policy_get_prepare,
      .reply = ngx_svc_admin_password_policy_get_reply },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/password-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_password_policy_put_prepare,
      .reply = ngx_svc_admin_password_policy_put_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_password_policy_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_password_policy)
           ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_password_policy_get_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[0]) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_password_send(sr, sr->results[0], 0);
}


static ngx_int_t
ngx_svc_admin_password_policy_put_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                  rc;
    ngx_str_t                  match;
    ngx_svc_pg_call_t         *call;
    ngx_svc_admin_password_t   password;

    ngx_memzero(&password, sizeof(ngx_svc_admin_password_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_password_members, 0, sr->json,
                               &password, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_admin_governance_lock(sr) != NGX_OK
        || ngx_svc_if_match(sr, &match) != NGX_OK)
    {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_password_policy_put);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, match.data ? &match : NULL);

    return ngx_svc_admin_password_bind(sr, call, &password);
}


static ngx_int_t
ngx_svc_admin_password_policy_put_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_column_true(res, 0, 0)) {
        return ngx_svc_precondition_failed(sr);
    }

    return ngx_svc_admin_password_send(sr, res, 1);
}


static ngx_int_t
ngx_svc_admin_password_send(ngx_svc_request_t *sr, PGresult *res, int column)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 512) != NGX_OK
        || ngx_svc_etag(sr, res, 0,
                              column + NGX_SVC_ADMIN_PASSWORD_FIELDS)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_admin_password_write(&w, res, 0, column);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


ngx_int_t
ngx_svc_admin_password_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    ngx_svc_admin_password_t *password)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_ADMIN_PASSWORD_FIELDS; i++) {
        if (ngx_svc_admin_bind_field(sr, call,
                                     ngx_svc_admin_password_fields[i].type,
                                     &password->fields[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


void
ngx_svc_admin_password_write(ngx_svc_json_writer_t *w, PGresult *res, int row,
    int column)
{
    ngx_uint_t                             i;
    const ngx_svc_admin_password_field_t  *field;

    for (i = 0; i < NGX_SVC_ADMIN_PASSWORD_FIELDS; i++, column++) {
        field = &ngx_svc_admin_password_fields[i];

        if (field->type == NGX_SVC_T_BOOLEAN
            && !PQgetisnull(res, row, column))
        {
            ngx_svc_column_boolean(w, field->name, res, row, column);

        } else {
            ngx_svc_column_raw(w, field->name, res, row, column);
        }
    }
}
