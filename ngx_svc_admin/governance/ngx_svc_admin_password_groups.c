/*
 * /v1/admin/password-policy/groups: password policies of groups, in place of
 * the tenant's.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_NO_OVERRIDE                                             \
    "The group has no password policy of its own."


static ngx_int_t ngx_svc_admin_override_check(ngx_svc_request_t *sr,
    void *body);


#include "ngx_svc_admin_password_groups.sql.h"


const ngx_svc_route_t  ngx_svc_admin_password_groups[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/password-policy/groups"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_overrides_total,
                      &ngx_svc_sql_admin_overrides_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_overrides_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/password-policy/groups"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_STRICT
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_override_create_members,
      .body_size = sizeof(ngx_svc_admin_password_t),
      .check = ngx_svc_admin_override_check,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_overrides_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/password-policy/groups/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_overrides_get } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/password-policy/groups/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_STRICT|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_override_members,
      .body_size = sizeof(ngx_svc_admin_password_t),
      .check = ngx_svc_admin_override_check,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_overrides_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/password-policy/groups/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_overrides_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_override_check(ngx_svc_request_t *sr, void *body)
{
    u_char                  *p, *last, names[NGX_SVC_ERROR_DETAIL];
    const char              *sep;
    const ngx_svc_member_t  *field;

    if (ngx_svc_admin_password_set(body)) {
        return NGX_OK;
    }

    p = names;
    last = names + sizeof(names);

    for (field = ngx_svc_admin_password_members; field->name.len; field++) {
        sep = (p == names) ? "" : field[1].name.len ? ", " : " and ";
        p = ngx_slprintf(p, last, "%s\"%V\"", sep, &field->name);
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "At least one must be set of %*s.",
                        (size_t) (p - names), names);
}
