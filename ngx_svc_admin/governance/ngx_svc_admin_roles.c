/*
 * /v1/admin/roles: the roles that a tenant has made.
 */

#include "ngx_svc_admin_governance.h"


#define NGX_SVC_ADMIN_NO_ROLE    "There is no role with this key."
#define NGX_SVC_ADMIN_ROLE_JSON  512    /* bytes of a system role, at first */

#define NGX_SVC_ADMIN_ROLE_LACKS                                              \
    { "lacks", NGX_SVC_E_FORBIDDEN,                                           \
      "\"permissions\" of the role would hold one that the token of this"     \
      " request does not have." }


static ngx_int_t ngx_svc_admin_role_key_default(ngx_svc_request_t *sr,
    void *body);
static void ngx_svc_admin_role_key_of(ngx_str_t *name, ngx_str_t *key);
static ngx_int_t ngx_svc_admin_role_changeable(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_role_read(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_role_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_role_bind_system(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_admin_role_more(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);
static void ngx_svc_admin_role_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_system_role_t *role, PGresult *total);


#include "ngx_svc_admin_roles.sql.h"


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

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/roles/*"),
      .permission = NGX_SVC_P_ROLES_MANAGE,
      .statements = { &ngx_svc_sql_admin_roles_total,
                      &ngx_svc_sql_admin_roles_get },
      .prepare = ngx_svc_admin_role_read,
      .reply = ngx_svc_admin_role_reply },

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


/* A role without a key gets one, made from its name. */

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
 * Makes a key of a name: ASCII letters in lower case, digits and "_" stay,
 * other characters between them become one "-".
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


/* Refuses the key in the path if no role with it can be changed. */

static ngx_int_t
ngx_svc_admin_role_changeable(ngx_svc_request_t *sr, void *body)
{
    ngx_str_t  *key;

    key = &sr->params[0];

    if (ngx_svc_admin_system_role(key) != NULL) {
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


/* A system role has no row: all of it but its members is known here. */

static ngx_int_t
ngx_svc_admin_role_read(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, ngx_svc_admin_system_role(&sr->params[0])
                                  ? &ngx_svc_sql_admin_roles_total
                                  : &ngx_svc_sql_admin_roles_get, NULL);
}


static ngx_int_t
ngx_svc_admin_role_reply(ngx_svc_request_t *sr)
{
    PGresult               *total;
    ngx_svc_json_writer_t   w;

    total = ngx_svc_result(sr, &ngx_svc_sql_admin_roles_total);

    if (total == NULL) {
        return ngx_svc_route_reply(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 NGX_SVC_ADMIN_ROLE_JSON)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_admin_role_write(&w, ngx_svc_admin_system_role(&sr->params[0]),
                             total);

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


/* Binds whether the key is that of a system role. */

static ngx_int_t
ngx_svc_admin_role_bind_system(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_role_t  *role;

    role = body;

    ngx_svc_pg_bind_bool(call,
                         ngx_svc_admin_system_role(&role->key.str) != NULL);

    return NGX_OK;
}


/* Writes the system roles, and all permissions that a role may have. */

static void
ngx_svc_admin_role_more(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    PGresult                           *total;
    const ngx_svc_admin_system_role_t  *role;

    total = ngx_svc_result(sr, &ngx_svc_sql_admin_roles_total);

    ngx_svc_json_open(w, "systemRoles", '[');

    for (role = ngx_svc_admin_system_roles; role->key; role++) {
        ngx_svc_admin_role_write(w, role, total);
    }

    ngx_svc_json_close(w, ']');

    ngx_svc_permissions_write(w, "permissions", NGX_SVC_P_ALL);
}


static void
ngx_svc_admin_role_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_system_role_t *role, PGresult *total)
{
    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_json_plain(w, "key", (u_char *) role->key, ngx_strlen(role->key));
    ngx_svc_json_plain(w, "name", (u_char *) role->name,
                       ngx_strlen(role->name));
    ngx_svc_permissions_write(w, "permissions", role->permissions);
    ngx_svc_column_raw(w, "memberCount", total, 0,
                       ngx_svc_row_find(total, role->key));
    ngx_svc_json_null(w, "createdAt");
    ngx_svc_json_null(w, "updatedAt");

    ngx_svc_json_close(w, '}');
}
