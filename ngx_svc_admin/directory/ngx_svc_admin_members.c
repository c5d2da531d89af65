/*
 * /v1/admin/members: all users of a tenant, by their roles.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_admin_search.h"
#include "ngx_svc_admin_user.h"


typedef struct {
    ngx_svc_value_t  role;
} ngx_svc_admin_tenant_member_t;


static ngx_int_t ngx_svc_admin_tenant_members_check(ngx_svc_request_t *sr,
    void *body);


static const char *const  ngx_svc_admin_tenant_member_statuses[] = {
    "active", "suspended", "deactivated", NULL
};

static const ngx_svc_member_t  ngx_svc_admin_tenant_member_members[] = {

    { .name = ngx_string("role"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_ROLE_MAX,
      .offset = offsetof(ngx_svc_admin_tenant_member_t, role) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_members.sql.h"


const ngx_svc_route_t  ngx_svc_admin_members[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/members"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .check = ngx_svc_admin_tenant_members_check,
      .statements = { &ngx_svc_sql_admin_tenant_members_list },
      .list = "members" },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/members/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .statements = { &ngx_svc_sql_admin_tenant_members_get } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/members/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_tenant_member_members,
      .body_size = sizeof(ngx_svc_admin_tenant_member_t),
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_tenant_members_put,
                      &ngx_svc_sql_admin_tenant_members_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/members/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_tenant_members_remove },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* A search by role looks at up to 10,000 users. */

static ngx_int_t
ngx_svc_admin_tenant_members_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t  rc;
    ngx_str_t  role;

    rc = ngx_svc_argument(sr, "role", &role);

    if (rc == NGX_OK && role.len) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return rc == NGX_OK ? ngx_svc_admin_search_check(sr, body) : rc;
}
