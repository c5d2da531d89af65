/*
 * /v1/admin/password-policy/groups: what groups have in place of the tenant's
 * password policy.
 */

#include "ngx_svc_admin_password.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_ADMIN_OVERRIDE_SIZE  512    /* first guess, in bytes */


static ngx_int_t ngx_svc_admin_overrides_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_overrides_list_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_overrides_create_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_overrides_create_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_overrides_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_overrides_put_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_overrides_delete_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_overrides_delete_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_override_read(ngx_svc_request_t *sr,
    const ngx_svc_member_t *members, ngx_svc_admin_password_t *password);
static ngx_int_t ngx_svc_admin_override_send(ngx_svc_request_t *sr,
    ngx_uint_t status);
static void ngx_svc_admin_override_write(ngx_svc_json_writer_t *w,
    PGresult *res, int row);


/* What ngx_svc_admin_override_write() reads, in this order. */

#define NGX_SVC_ADMIN_OVERRIDE_COLUMNS(p)                                     \
    p ".group_id, g.name, " NGX_SVC_ADMIN_PASSWORD_OF(p) ", "                 \
    p ".created_at, " p ".updated_at"

#define NGX_SVC_ADMIN_OVERRIDE_VALUES                                         \
    "$2::int4, $3::bool, $4::bool, $5::bool, $6::bool, $7::bool, $8::bool,"   \
    " $9::int4, $10::int4"

/* What each write does with the rows of u, which say what was done. */

#define NGX_SVC_ADMIN_OVERRIDE_EVENT(action, details, from)                   \
    "e AS ("                                                                  \
        "INSERT INTO svc.audit_event (action, target_type, target_id,"        \
            " target_name, details)"                                          \
        " SELECT " action ", 'groupPasswordPolicy', u.group_id::text, g.name,"\
            " " details " FROM " from                                         \
    "), v AS ("                                                               \
        NGX_SVC_ADMIN_REVISION("u")                                           \
    ")"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_list = {
    .name = "admin_overrides_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_OVERRIDE_COLUMNS("p") " FROM ("
            "SELECT * FROM svc.group_password_policy"
            " WHERE tenant_id = " NGX_SVC_TENANT
            " ORDER BY created_at DESC, group_id DESC"
            " LIMIT $1::int4 OFFSET $2::int4) p"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.name", "svc.user_group", "p.group_id") ") g"
        " ORDER BY p.created_at DESC, p.group_id DESC",
    .nparams = 2
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_total = {
    .name = "admin_overrides_total",
    .text =
        "SELECT count(*) FROM svc.group_password_policy"
        " WHERE tenant_id = " NGX_SVC_TENANT,
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_create = {
    .name = "admin_overrides_create",
    .text =
        "WITH g AS ("
            "SELECT tenant_id, id, name FROM svc.user_group WHERE id = $1"
        "), u AS ("
            "INSERT INTO svc.group_password_policy (tenant_id, group_id, "
                NGX_SVC_ADMIN_PASSWORD_COLUMNS ")"
            " SELECT g.tenant_id, g.id, " NGX_SVC_ADMIN_OVERRIDE_VALUES
            " FROM g WHERE NOT EXISTS (SELECT FROM svc.group_password_policy"
                " WHERE group_id = $1)"
            " RETURNING *"
        "), " NGX_SVC_ADMIN_OVERRIDE_EVENT("'group_password_policy.created'",
                                           "'{}'", "u, g")
        " SELECT " NGX_SVC_ADMIN_OVERRIDE_COLUMNS("u")
        " FROM g LEFT JOIN u ON true",
    .nparams = 10
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_put = {
    .name = "admin_overrides_put",
    .text =
        "WITH g AS ("
            "SELECT tenant_id, id, name FROM svc.user_group WHERE id = $1"
        "), o AS ("
            "SELECT * FROM svc.group_password_policy WHERE group_id = $1"
        "), u AS ("
            "INSERT INTO svc.group_password_policy AS a (tenant_id, group_id, "
                NGX_SVC_ADMIN_PASSWORD_COLUMNS ")"
            " SELECT g.tenant_id, g.id, " NGX_SVC_ADMIN_OVERRIDE_VALUES
            " FROM g ON CONFLICT (tenant_id, group_id) DO UPDATE"
                " SET (" NGX_SVC_ADMIN_PASSWORD_COLUMNS ", updated_at) = ("
                NGX_SVC_ADMIN_PASSWORD_OF("EXCLUDED") ","
                " greatest(now(), a.updated_at + interval '1 millisecond'))"
                " WHERE (" NGX_SVC_ADMIN_PASSWORD_OF("a") ")"
                " IS DISTINCT FROM (" NGX_SVC_ADMIN_PASSWORD_OF("EXCLUDED") ")"
            " RETURNING *"
        "), " NGX_SVC_ADMIN_OVERRIDE_EVENT(
                  "CASE WHEN o.group_id IS NULL"
                  " THEN 'group_password_policy.created'"
                  " ELSE 'group_password_policy.updated' END",
                  "CASE WHEN o.group_id IS NULL THEN '{}' ELSE "
                  NGX_SVC_ADMIN_PASSWORD_CHANGED " END",
                  "u CROSS JOIN g LEFT JOIN o ON true")
        ", r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT " NGX_SVC_ADMIN_OVERRIDE_COLUMNS("r")
        ", EXISTS (SELECT FROM o) FROM g, r",
    .nparams = 10
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_delete = {
    .name = "admin_overrides_delete",
    .text =
        "WITH g AS ("
            "SELECT id, name FROM svc.user_group WHERE id = $1"
        "), u AS ("
            "DELETE FROM svc.group_password_policy WHERE group_id = $1"
            " RETURNING group_id"
        "), " NGX_SVC_ADMIN_OVERRIDE_EVENT("'group_password_policy.deleted'",
                                           "'{}'", "u, g")
        " SELECT u.group_id FROM g LEFT JOIN u ON true",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_password_groups_statements[] = {
    &ngx_svc_sql_admin_overrides_list,
    &ngx_svc_sql_admin_overrides_total,
    &ngx_svc_sql_admin_overrides_create,
    &ngx_svc_sql_admin_overrides_put,
    &ngx_svc_sql_admin_overrides_delete,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_password_groups[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/password-policy/groups"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_admin_overrides_list_prepare,
      .reply = ngx_svc_admin_overrides_list_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/password-policy/groups"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CREATE,
      .prepare = ngx_svc_admin_overrides_create_prepare,
      .reply = ngx_svc_admin_overrides_create_reply },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/password-policy/groups/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_overrides_put_prepare,
      .reply = ngx_svc_admin_overrides_put_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/password-policy/groups/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_overrides_delete_prepare,
      .reply = ngx_svc_admin_overrides_delete_reply },

    ngx_svc_null_route
};


/* Behind the columns of an override, of a PUT: there was one. */

#define NGX_SVC_ADMIN_OVERRIDE_FOUND  (NGX_SVC_ADMIN_PASSWORD_FIELDS + 4)


static ngx_int_t
ngx_svc_admin_overrides_list_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_page_calls(sr, &ngx_svc_sql_admin_overrides_list,
                              &ngx_svc_sql_admin_overrides_total);
}


static ngx_int_t
ngx_svc_admin_overrides_list_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_page_send(sr, "groups", NGX_SVC_ADMIN_OVERRIDE_SIZE,
                             sr->results[0], sr->results[1],
                             ngx_svc_admin_override_write);
}


static ngx_int_t
ngx_svc_admin_overrides_create_prepare(ngx_svc_request_t *sr)
{
    u_char                    *id;
    ngx_int_t                  rc;
    ngx_str_t                 *text;
    ngx_svc_pg_call_t         *call;
    ngx_svc_admin_password_t   password;

    rc = ngx_svc_admin_override_read(sr, ngx_svc_admin_override_create_members,
                                     &password);
    if (rc != NGX_OK) {
        return rc;
    }

    id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);
    if (id == NULL || ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    text = &password.group_id.str;
    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_overrides_create);

    if (call == NULL
        || ngx_svc_uuid_parse(text->data, text->len, id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, id, NGX_SVC_UUID_LEN);

    return ngx_svc_admin_password_bind(sr, call, &password);
}


static ngx_int_t
ngx_svc_admin_overrides_create_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"groupId\" must be the id of a group: there is "
                            "no group with this id.");
        return ngx_svc_send_error(sr);
    }

    if (PQgetisnull(res, 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CONFLICT,
                            "The group has a password policy already: change "
                            "it with PUT.");
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_admin_override_send(sr, NGX_HTTP_CREATED);
}


static ngx_int_t
ngx_svc_admin_overrides_put_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                  rc;
    ngx_svc_pg_call_t         *call;
    ngx_svc_admin_password_t   password;

    rc = ngx_svc_admin_override_read(sr, ngx_svc_admin_override_members,
                                     &password);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_overrides_put);

    rc = ngx_svc_admin_group_id(sr, call);
    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_svc_admin_password_bind(sr, call, &password);
}


static ngx_int_t
ngx_svc_admin_overrides_put_reply(ngx_svc_request_t *sr)
{
    PGresult    *res;
    ngx_uint_t   status;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_GROUP);
    }

    status = ngx_svc_column_true(res, 0, NGX_SVC_ADMIN_OVERRIDE_FOUND)
             ? NGX_HTTP_OK : NGX_HTTP_CREATED;

    return ngx_svc_admin_override_send(sr, status);
}


static ngx_int_t
ngx_svc_admin_overrides_delete_prepare(ngx_svc_request_t *sr)
{
    if (ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_admin_group_id(sr,
                              ngx_svc_pg_call(sr->op,
                                              &ngx_svc_sql_admin_overrides_delete));
}


static ngx_int_t
ngx_svc_admin_overrides_delete_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_GROUP);
    }

    if (PQgetisnull(res, 0, 0)) {
        return ngx_svc_not_found(sr, "The group has no password policy "
                                     "of its own.");
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


static ngx_int_t
ngx_svc_admin_override_read(ngx_svc_request_t *sr,
    const ngx_svc_member_t *members, ngx_svc_admin_password_t *password)
{
    ngx_int_t  rc;

    ngx_memzero(password, sizeof(ngx_svc_admin_password_t));

    rc = ngx_svc_schema_object(members, 0, sr->json, password, &sr->error);

    if (rc != NGX_OK || ngx_svc_admin_password_set(password)) {
        return rc;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "At least one must be set of \"minLength\", "
                        "\"rejectBreached\", \"rejectContextual\", "
                        "\"requireLower\", \"requireUpper\", "
                        "\"requireDigit\", \"requireSymbol\", "
                        "\"historyCount\" and \"maxAgeDays\".");
}


static ngx_int_t
ngx_svc_admin_override_send(ngx_svc_request_t *sr, ngx_uint_t status)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 NGX_SVC_ADMIN_OVERRIDE_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_admin_override_write(&w, sr->results[1], 0);

    return ngx_svc_send(sr, status, &w, NULL);
}


static void
ngx_svc_admin_override_write(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    int  column;

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_column_text(w, "groupId", res, row, 0);
    ngx_svc_column_text(w, "groupName", res, row, 1);
    ngx_svc_admin_password_write(w, res, row, 2);

    column = 2 + NGX_SVC_ADMIN_PASSWORD_FIELDS;

    ngx_svc_column_time(w, "createdAt", res, row, column);
    ngx_svc_column_time(w, "updatedAt", res, row, column + 1);

    ngx_svc_json_close(w, '}');
}
