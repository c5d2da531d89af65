/*
 * /v1/admin/roles: the roles that a tenant has made.
 */

#include "ngx_svc_admin_governance.h"


#define NGX_SVC_ADMIN_NO_ROLE    "There is no role with this key."

#define NGX_SVC_ADMIN_ROLE_LACKS                                              \
    { "lacks", NGX_SVC_E_FORBIDDEN,                                           \
      "\"permissions\" of the role would hold one that the token of this"     \
      " request does not have." }


static ngx_int_t ngx_svc_admin_role_key_default(ngx_svc_request_t *sr,
    void *body);
static void ngx_svc_admin_role_key_of(ngx_str_t *name, ngx_str_t *key);
static ngx_int_t ngx_svc_admin_role_changeable(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_role_bind_system(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_admin_role_more(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


/* Permissions are stored sorted. */

#define NGX_SVC_ADMIN_ROLE_COLUMNS(t)                                         \
    t ".key, " t ".name, array_to_json(" t ".permissions) AS permissions, "   \
    t ".member_count AS \"memberCount\", "                                    \
    t ".created_at AS \"createdAt\", " t ".updated_at AS \"updatedAt\""

#define NGX_SVC_ADMIN_ROLE_USERS(role)                                        \
    "(SELECT count(*) AS n FROM svc.user_account"                             \
    " WHERE tenant_id = " NGX_SVC_TENANT " AND role = '" role "')"


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_list = {
    .name = "admin_roles_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_ROLE_COLUMNS("r") " FROM svc.role r"
        " WHERE r.tenant_id = " NGX_SVC_TENANT
        " ORDER BY r.key LIMIT $1::int4 OFFSET $2::int4",
    NGX_SVC_PARAMS(ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

/* and how many have each role of the system, by its key */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_total = {
    .name = "admin_roles_total",
    .text =
        "SELECT r.n, o.n AS owner, a.n AS admin,"
            " u.n - o.n - a.n - r.members AS member FROM"
        " (SELECT count(*) AS n, coalesce(sum(member_count), 0) AS members"
            " FROM svc.role WHERE tenant_id = " NGX_SVC_TENANT ") r, "
        NGX_SVC_ADMIN_ROLE_USERS("owner") " o, "
        NGX_SVC_ADMIN_ROLE_USERS("admin") " a,"
        " (SELECT coalesce(sum(active + suspended + deactivated), 0) AS n"
            " FROM svc.user_count WHERE tenant_id = " NGX_SVC_TENANT
        ") u"
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_create = {
    .name = "admin_roles_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant,"
                " $3::text::text[] <@ " NGX_SVC_CALLER_PERMISSIONS " AS held,"
                " $4::bool OR EXISTS (SELECT FROM svc.role"
                    " WHERE tenant_id = " NGX_SVC_TENANT " AND key = $1)"
                    " AS taken,"
                " (SELECT count(*) FROM svc.role"
                    " WHERE tenant_id = " NGX_SVC_TENANT ") < $5::int4 AS room"
        "), u AS ("
            "INSERT INTO svc.role AS r (tenant_id, key, name, permissions)"
            " SELECT n.tenant, $1, $2, $3::text::text[] FROM n"
            " WHERE n.tenant IS NOT NULL AND n.held AND NOT n.taken"
                " AND n.room RETURNING r.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_ROLE_CREATED, "u.key", "u.name",
                          "jsonb_build_object('permissions',"
                              " to_jsonb(u.permissions))",
                          "FROM u")
        "), v AS ("
            NGX_SVC_ADMIN_REVISION("u")
        ")"
        " SELECT CASE WHEN n.held IS NOT TRUE THEN 'lacks'"
            " WHEN n.taken THEN 'taken ' || $1"
            " WHEN NOT n.room THEN 'full' END AS _verdict, "
            NGX_SVC_ADMIN_ROLE_COLUMNS("u")
        " FROM n LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_param_text(ngx_svc_admin_role_t, key),
                   ngx_svc_param_text(ngx_svc_admin_role_t, name),
                   ngx_svc_param_permissions(ngx_svc_admin_role_t,
                                             permissions),
                   ngx_svc_param_call(ngx_svc_admin_role_bind_system),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_ROLES)),
    NGX_SVC_VERDICTS(
        NGX_SVC_ADMIN_ROLE_LACKS,
        { "taken", NGX_SVC_E_CONFLICT,
          "A role with the key \"%V\" exists already: choose another"
          " \"key\"." },
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant has " ngx_value(NGX_SVC_ADMIN_ROLES) " roles: delete"
          " one." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_put = {
    .name = "admin_roles_put",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.role WHERE tenant_id = " NGX_SVC_TENANT
                " AND key = $1 FOR UPDATE"
        "), n AS ("
            "SELECT o.key, coalesce($2, o.name) AS name,"
                " coalesce($3::text::text[], o.permissions) AS permissions,"
                " coalesce($3::text::text[], o.permissions)"
                    " <@ " NGX_SVC_CALLER_PERMISSIONS " AS held"
            " FROM o"
        "), u AS ("
            "UPDATE svc.role r SET name = n.name, permissions = n.permissions,"
                " updated_at = " NGX_SVC_CHANGED_AT("r")
            " FROM n, o WHERE r.tenant_id = " NGX_SVC_TENANT
                " AND r.key = n.key AND n.held"
                " AND (n.name, n.permissions) <> (o.name, o.permissions)"
            " RETURNING r.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_ROLE_UPDATED, "u.key", "u.name",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("name", "name") ", "
                    NGX_SVC_DIFFERS("permissions", "permissions")),
                "FROM u, o")
        "), v AS ("
            NGX_SVC_ADMIN_REVISION("u")
        "), r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT CASE WHEN n.held IS NOT TRUE THEN 'lacks' END AS _verdict, "
            NGX_SVC_ADMIN_ROLE_COLUMNS("r")
        " FROM n, r",
    NGX_SVC_PARAMS(ngx_svc_param_path(0),
                   ngx_svc_param_text(ngx_svc_admin_role_t, name),
                   ngx_svc_param_permissions(ngx_svc_admin_role_t,
                                             permissions)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_ROLE_LACKS),
    .missing = NGX_SVC_ADMIN_NO_ROLE
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_roles_delete = {
    .name = "admin_roles_delete",
    .text =
        "WITH o AS ("
            "SELECT key, name, member_count FROM svc.role"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND key = $1 FOR UPDATE"
        "), u AS ("
            "DELETE FROM svc.role r USING o"
            " WHERE r.tenant_id = " NGX_SVC_TENANT
                " AND r.key = o.key AND o.member_count = 0 RETURNING r.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_ROLE_DELETED, "u.key", "u.name", "'{}'",
                          "FROM u")
        "), v AS ("
            NGX_SVC_ADMIN_REVISION("u")
        ")"
        " SELECT CASE o.member_count WHEN 0 THEN NULL"
            " WHEN 1 THEN 'used 1 member'"
            " ELSE 'used ' || o.member_count || ' members' END AS _verdict"
        " FROM o",
    NGX_SVC_PARAMS(ngx_svc_param_path(0)),
    NGX_SVC_VERDICTS(
        { "used", NGX_SVC_E_ROLE_IN_USE,
          "The role has %V: give each of them another role first." }),
    .missing = NGX_SVC_ADMIN_NO_ROLE
};


const ngx_svc_route_t  ngx_svc_admin_roles[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/roles"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .statements = { &ngx_svc_sql_admin_roles_total,
                      &ngx_svc_sql_admin_roles_list },
      .list = "roles",
      .total = &ngx_svc_sql_admin_roles_total,
      .more = ngx_svc_admin_role_more },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/roles"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_role_create_members,
      .body_size = sizeof(ngx_svc_admin_role_t),
      .check = ngx_svc_admin_role_key_default,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_roles_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/roles/*"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_role_members,
      .body_size = sizeof(ngx_svc_admin_role_t),
      .check = ngx_svc_admin_role_changeable,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_roles_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/roles/*"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_SENSITIVE,
      .check = ngx_svc_admin_role_changeable,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_roles_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* The key of a role that comes without one is made from its name. */

static ngx_int_t
ngx_svc_admin_role_key_default(ngx_svc_request_t *sr, void *body)
{
    ngx_str_t             *key;
    ngx_svc_admin_role_t  *role;

    role = body;
    key = &role->key.str;

    if (role->key.set) {
        return NGX_OK;
    }

    key->data = ngx_pnalloc(sr->request->pool, NGX_SVC_ADMIN_ROLE_KEY);
    if (key->data == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_admin_role_key_of(&role->name.str, key);

    role->key.set = 1;

    if (ngx_svc_admin_role_key_valid(key)) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "No key can be made from \"name\": give one in "
                        "\"key\", of 2 to %d of a-z, 0-9, \"_\" and \"-\", "
                        "the first of them a letter.", NGX_SVC_ADMIN_ROLE_KEY);
}


/*
 * Letters of ASCII in lower case, digits and "_" as they are, a "-" for
 * whatever stands between them.
 */

static void
ngx_svc_admin_role_key_of(ngx_str_t *name, ngx_str_t *key)
{
    u_char  *p, *last, c;
    size_t   i;

    p = key->data;
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
}


/* The key in the path, as that of a role which can be changed. */

static ngx_int_t
ngx_svc_admin_role_changeable(ngx_svc_request_t *sr, void *body)
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


/* Whether it has the key of a role of the system. */

static ngx_int_t
ngx_svc_admin_role_bind_system(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_role_t  *role;

    role = body;

    ngx_svc_pg_bind_bool(call, ngx_svc_admin_system_role(&role->key.str));

    return NGX_OK;
}


/* The roles of the system, and all that a role may hold. */

static void
ngx_svc_admin_role_more(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    PGresult                           *total;
    const ngx_svc_admin_system_role_t  *role;

    total = ngx_svc_result(sr, &ngx_svc_sql_admin_roles_total);

    ngx_svc_json_open(w, "systemRoles", '[');

    for (role = ngx_svc_admin_system_roles; role->key; role++) {
        ngx_svc_json_open(w, NULL, '{');

        ngx_svc_json_plain(w, "key", (u_char *) role->key,
                           ngx_strlen(role->key));
        ngx_svc_json_plain(w, "name", (u_char *) role->name,
                           ngx_strlen(role->name));
        ngx_svc_permissions_write(w, "permissions", role->permissions);
        ngx_svc_column_raw(w, "memberCount", total, 0,
                           ngx_svc_row_find(total, role->key));
        ngx_svc_json_null(w, "createdAt");
        ngx_svc_json_null(w, "updatedAt");

        ngx_svc_json_close(w, '}');
    }

    ngx_svc_json_close(w, ']');

    ngx_svc_permissions_write(w, "permissions", NGX_SVC_P_ALL);
}
