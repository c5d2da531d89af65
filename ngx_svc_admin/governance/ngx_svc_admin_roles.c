/*
 * /v1/admin/roles: the roles that a tenant has made.
 */

#include "ngx_svc_admin_governance.h"


#define NGX_SVC_ADMIN_ROLE_SIZE  384    /* first guess, in bytes */

#define NGX_SVC_ADMIN_NO_ROLE    "There is no role with this key."


static ngx_int_t ngx_svc_admin_roles_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_roles_list_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_roles_create_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_roles_create_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_roles_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_roles_put_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_roles_delete_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_roles_delete_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_role_new_key(ngx_svc_request_t *sr,
    ngx_svc_admin_role_t *role, ngx_str_t *key);
static ngx_int_t ngx_svc_admin_role_bind_permissions(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, ngx_svc_admin_role_t *role);
static ngx_int_t ngx_svc_admin_role_param(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_role_forbidden(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_role_send(ngx_svc_request_t *sr,
    ngx_uint_t status, int column);
static void ngx_svc_admin_role_write(ngx_svc_json_writer_t *w, PGresult *res,
    int row, int column);
static void ngx_svc_admin_role_write_system(ngx_svc_json_writer_t *w,
    PGresult *res);


/* What ngx_svc_admin_role_write() reads, in this order. */

#define NGX_SVC_ADMIN_ROLE_COLUMNS(t)                                         \
    t ".key, " t ".name, " t ".permissions, " t ".member_count, "             \
    t ".created_at, " t ".updated_at"

/* The caller: the token that the request came with. */

#define NGX_SVC_ADMIN_ROLE_CALLER(hash)                                       \
    "c AS ("                                                                  \
        "SELECT tenant_id, permissions FROM svc.credential"                   \
        " WHERE token_hash = " hash                                           \
            " AND tenant_id = " NGX_SVC_TENANT                          \
    ")"

#define NGX_SVC_ADMIN_ROLE_EVENT(action, details, from)                       \
    "e AS ("                                                                  \
        "INSERT INTO svc.audit_event (action, target_type, target_id,"        \
            " target_name, details)"                                          \
        " SELECT '" action "', 'role', u.key, u.name, " details               \
        " FROM " from                                                         \
    "), v AS ("                                                               \
        NGX_SVC_ADMIN_REVISION("u")                                           \
    ")"

#define NGX_SVC_ADMIN_ROLE_USERS(role)                                        \
    "(SELECT count(*) AS n FROM svc.user_account"                             \
    " WHERE tenant_id = " NGX_SVC_TENANT " AND role = '" role "')"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_list = {
    .name = "admin_roles_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_ROLE_COLUMNS("r") " FROM svc.role r"
        " WHERE r.tenant_id = " NGX_SVC_TENANT
        " ORDER BY r.key LIMIT $1::int4 OFFSET $2::int4",
    .nparams = 2
};

/* and how many are owners, admins, and members */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_total = {
    .name = "admin_roles_total",
    .text =
        "SELECT r.n, o.n, a.n, u.n - o.n - a.n - r.members FROM"
        " (SELECT count(*) AS n, coalesce(sum(member_count), 0) AS members"
            " FROM svc.role WHERE tenant_id = " NGX_SVC_TENANT ") r, "
        NGX_SVC_ADMIN_ROLE_USERS("owner") " o, "
        NGX_SVC_ADMIN_ROLE_USERS("admin") " a,"
        " (SELECT coalesce(sum(active + suspended + deactivated), 0) AS n"
            " FROM svc.user_count WHERE tenant_id = " NGX_SVC_TENANT
        ") u",
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_create = {
    .name = "admin_roles_create",
    .text =
        "WITH " NGX_SVC_ADMIN_ROLE_CALLER("$4")
        ", n AS ("
            "SELECT $3::text::text[] <@ c.permissions AS held,"
                " $5::bool OR EXISTS (SELECT FROM svc.role WHERE key = $1)"
                    " AS taken,"
                " (SELECT count(*) FROM svc.role) AS n"
            " FROM c"
        "), u AS ("
            "INSERT INTO svc.role AS r (tenant_id, key, name, permissions)"
            " SELECT c.tenant_id, $1, $2, $3::text::text[] FROM c, n"
            " WHERE n.held AND NOT n.taken AND n.n < $6::int4 RETURNING r.*"
        "), " NGX_SVC_ADMIN_ROLE_EVENT("role.created",
                  "jsonb_build_object('permissions', to_jsonb(u.permissions))",
                  "u")
        " SELECT n.held, n.taken, " NGX_SVC_ADMIN_ROLE_COLUMNS("u")
        " FROM n LEFT JOIN u ON true",
    .nparams = 6
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_put = {
    .name = "admin_roles_put",
    .text =
        "WITH " NGX_SVC_ADMIN_ROLE_CALLER("$4")
        ", o AS ("
            "SELECT * FROM svc.role WHERE key = $1 FOR UPDATE"
        "), n AS ("
            "SELECT o.key, coalesce($2, o.name) AS name,"
                " coalesce($3::text::text[], o.permissions) AS permissions,"
                " coalesce($3::text::text[], o.permissions) <@ c.permissions"
                    " AS held"
            " FROM o, c"
        "), u AS ("
            "UPDATE svc.role r SET name = n.name, permissions = n.permissions,"
                " updated_at ="
                " greatest(now(), r.updated_at + interval '1 millisecond')"
            " FROM n, o WHERE r.key = n.key AND n.held"
                " AND (n.name, n.permissions) <> (o.name, o.permissions)"
            " RETURNING r.*"
        "), " NGX_SVC_ADMIN_ROLE_EVENT("role.updated",
                  "jsonb_build_object('changed', to_jsonb(array_remove(ARRAY["
                  "CASE WHEN u.name <> o.name THEN 'name' END,"
                  " CASE WHEN u.permissions <> o.permissions"
                  " THEN 'permissions' END], NULL)))",
                  "u, o")
        ", r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT n.held, " NGX_SVC_ADMIN_ROLE_COLUMNS("r") " FROM n, r",
    .nparams = 4
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_delete = {
    .name = "admin_roles_delete",
    .text =
        "WITH o AS ("
            "SELECT key, name, member_count FROM svc.role WHERE key = $1"
            " FOR UPDATE"
        "), u AS ("
            "DELETE FROM svc.role r USING o"
            " WHERE r.key = o.key AND o.member_count = 0 RETURNING r.*"
        "), " NGX_SVC_ADMIN_ROLE_EVENT("role.deleted", "'{}'", "u")
        " SELECT o.member_count FROM o",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_roles_statements[] = {
    &ngx_svc_sql_admin_roles_list,
    &ngx_svc_sql_admin_roles_total,
    &ngx_svc_sql_admin_roles_create,
    &ngx_svc_sql_admin_roles_put,
    &ngx_svc_sql_admin_roles_delete,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_roles[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/roles"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .prepare = ngx_svc_admin_roles_list_prepare,
      .reply = ngx_svc_admin_roles_list_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/roles"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CREATE,
      .prepare = ngx_svc_admin_roles_create_prepare,
      .reply = ngx_svc_admin_roles_create_reply },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/roles/*"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_roles_put_prepare,
      .reply = ngx_svc_admin_roles_put_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/roles/*"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_roles_delete_prepare,
      .reply = ngx_svc_admin_roles_delete_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_roles_list_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_page_calls(sr, &ngx_svc_sql_admin_roles_list,
                              &ngx_svc_sql_admin_roles_total);
}


static ngx_int_t
ngx_svc_admin_roles_list_reply(ngx_svc_request_t *sr)
{
    int                     i, n;
    PGresult               *list, *total;
    ngx_svc_json_writer_t   w;

    list = sr->results[0];
    total = sr->results[1];
    n = PQntuples(list);

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 1024 + n * NGX_SVC_ADMIN_ROLE_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "roles", '[');

    for (i = 0; i < n; i++) {
        ngx_svc_admin_role_write(&w, list, i, 0);
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_admin_role_write_system(&w, total);
    ngx_svc_permissions_write(&w, "permissions",
                                    NGX_SVC_P_ALL);
    ngx_svc_page_write(&w, total, sr->data);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_admin_roles_create_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    ngx_str_t             *key;
    ngx_svc_pg_call_t     *call;
    ngx_svc_admin_role_t   role;

    ngx_memzero(&role, sizeof(ngx_svc_admin_role_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_role_create_members, 0, sr->json,
                               &role, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    key = ngx_palloc(sr->request->pool, sizeof(ngx_str_t));
    if (key == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_admin_role_new_key(sr, &role, key);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_roles_create);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, key);
    ngx_svc_pg_bind_str(call, &role.name.str);

    if (ngx_svc_admin_role_bind_permissions(sr, call, &role) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, sr->token_hash, NGX_SVC_SHA256_LEN);
    ngx_svc_pg_bind_bool(call, ngx_svc_admin_system_role(key));

    sr->data = key;

    return ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_ADMIN_ROLES);
}


static ngx_int_t
ngx_svc_admin_roles_create_reply(ngx_svc_request_t *sr)
{
    PGresult   *res;
    ngx_str_t  *key;

    res = sr->results[1];
    key = sr->data;

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_column_true(res, 0, 0)) {
        return ngx_svc_admin_role_forbidden(sr);
    }

    if (ngx_svc_column_true(res, 0, 1)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CONFLICT,
                            "A role with the key \"%V\" exists already: "
                            "choose another \"key\".", key);
        return ngx_svc_send_error(sr);
    }

    if (PQgetisnull(res, 0, 2)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                            "The tenant has %d roles: delete one.",
                            NGX_SVC_ADMIN_ROLES);
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_admin_role_send(sr, NGX_HTTP_CREATED, 2);
}


static ngx_int_t
ngx_svc_admin_roles_put_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    ngx_svc_pg_call_t     *call;
    ngx_svc_admin_role_t   role;

    ngx_memzero(&role, sizeof(ngx_svc_admin_role_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_role_members, 0, sr->json, &role,
                               &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_role_param(sr);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_roles_put);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &sr->params[0]);
    ngx_svc_bind_value(call, &role.name);

    if (ngx_svc_admin_role_bind_permissions(sr, call, &role) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, sr->token_hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_roles_put_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_ROLE);
    }

    if (!ngx_svc_column_true(res, 0, 0)) {
        return ngx_svc_admin_role_forbidden(sr);
    }

    return ngx_svc_admin_role_send(sr, NGX_HTTP_OK, 1);
}


static ngx_int_t
ngx_svc_admin_roles_delete_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_pg_call_t  *call;

    rc = ngx_svc_admin_role_param(sr);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_roles_delete);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &sr->params[0]);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_roles_delete_reply(ngx_svc_request_t *sr)
{
    PGresult   *res;
    ngx_str_t   members;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_ROLE);
    }

    members = ngx_svc_pg_value(res, 0, 0);

    if (members.len == 1 && members.data[0] == '0') {
        return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_ROLE_IN_USE,
                        "The role has %V member%s: give each of them another "
                        "role first.", &members,
                        members.len == 1 && members.data[0] == '1' ? "" : "s");

    return ngx_svc_send_error(sr);
}


/*
 * The key, or one made from the name: letters of ASCII in lower case, digits
 * and "_" as they are, a "-" for whatever stands between them.
 */

static ngx_int_t
ngx_svc_admin_role_new_key(ngx_svc_request_t *sr, ngx_svc_admin_role_t *role,
    ngx_str_t *key)
{
    u_char     *p, *last, c;
    size_t      i;
    ngx_str_t  *name;

    if (role->key.set) {
        *key = role->key.str;
        return NGX_OK;
    }

    name = &role->name.str;

    p = ngx_pnalloc(sr->request->pool, NGX_SVC_ADMIN_ROLE_KEY);
    if (p == NULL) {
        return NGX_ERROR;
    }

    key->data = p;
    last = p + NGX_SVC_ADMIN_ROLE_KEY;

    for (i = 0; i < name->len && p < last; i++) {
        c = ngx_tolower(name->data[i]);

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') {
            *p++ = c;

        } else if (p > key->data && p[-1] != '-') {
            *p++ = '-';
        }
    }

    if (p > key->data && p[-1] == '-') {
        p--;
    }

    key->len = p - key->data;

    if (ngx_svc_admin_role_key_valid(key)) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "No key can be made from \"name\": give one in "
                        "\"key\", of 2 to %d of a-z, 0-9, \"_\" and \"-\", "
                        "the first of them a letter.", NGX_SVC_ADMIN_ROLE_KEY);
}


static ngx_int_t
ngx_svc_admin_role_bind_permissions(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, ngx_svc_admin_role_t *role)
{
    ngx_str_t   text;
    ngx_uint_t  mask;

    if (!role->permissions.set) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    mask = ngx_svc_permissions_json(role->permissions.json);

    if (ngx_svc_permissions_text(sr->request->pool, mask, &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &text);

    return NGX_OK;
}


/* The key in the path, as that of a role which can be changed. */

static ngx_int_t
ngx_svc_admin_role_param(ngx_svc_request_t *sr)
{
    ngx_str_t  *key;

    key = &sr->params[0];

    if (ngx_svc_admin_system_role(key)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                            "The role \"%V\" is of the system, and stays as "
                            "it is.", key);
    }

    if (ngx_svc_admin_role_key_valid(key)) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                        NGX_SVC_ADMIN_NO_ROLE);
}


static ngx_int_t
ngx_svc_admin_role_forbidden(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                        "\"permissions\" of the role would hold one that the "
                        "token of this request does not have.");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_admin_role_send(ngx_svc_request_t *sr, ngx_uint_t status, int column)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 NGX_SVC_ADMIN_ROLE_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_admin_role_write(&w, sr->results[1], 0, column);

    return ngx_svc_send(sr, status, &w, NULL);
}


/* column: where its columns begin. */

static void
ngx_svc_admin_role_write(ngx_svc_json_writer_t *w, PGresult *res, int row,
    int column)
{
    ngx_str_t  permissions;

    permissions = ngx_svc_pg_value(res, row, column + 2);

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_column_text(w, "key", res, row, column);
    ngx_svc_column_text(w, "name", res, row, column + 1);
    ngx_svc_permissions_write(w, "permissions",
                                  ngx_svc_permissions_of(&permissions));
    ngx_svc_column_raw(w, "memberCount", res, row, column + 3);
    ngx_svc_column_time(w, "createdAt", res, row, column + 4);
    ngx_svc_column_time(w, "updatedAt", res, row, column + 5);

    ngx_svc_json_close(w, '}');
}


/* The columns behind the first have their members, in the same order. */

static void
ngx_svc_admin_role_write_system(ngx_svc_json_writer_t *w, PGresult *res)
{
    int                                 column;
    const ngx_svc_admin_system_role_t  *role;

    ngx_svc_json_open(w, "systemRoles", '[');

    column = 1;

    for (role = ngx_svc_admin_system_roles; role->key; role++) {
        ngx_svc_json_open(w, NULL, '{');

        ngx_svc_json_plain(w, "key", (u_char *) role->key,
                           ngx_strlen(role->key));
        ngx_svc_json_plain(w, "name", (u_char *) role->name,
                           ngx_strlen(role->name));
        ngx_svc_permissions_write(w, "permissions", role->permissions);
        ngx_svc_column_raw(w, "memberCount", res, 0, column++);
        ngx_svc_json_null(w, "createdAt");
        ngx_svc_json_null(w, "updatedAt");

        ngx_svc_json_close(w, '}');
    }

    ngx_svc_json_close(w, ']');
}
