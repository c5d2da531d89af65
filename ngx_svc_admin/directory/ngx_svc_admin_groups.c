/*
 * /v1/admin/groups and /v1/admin/groups/{id}.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_GROUPS             10000  /* in a tenant */
#define NGX_SVC_ADMIN_GROUP_NAME         100    /* characters */
#define NGX_SVC_ADMIN_GROUP_DESCRIPTION  500


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  description;
} ngx_svc_admin_group_t;


#define ngx_svc_admin_group_rows(name_flags)                                  \
                                                                              \
    { .name = ngx_string("name"),                                             \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = name_flags,                                                    \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_GROUP_NAME,                                        \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_admin_group_t, name) },                      \
                                                                              \
    { .name = ngx_string("description"),                                      \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_ADMIN_GROUP_DESCRIPTION,                                 \
      .offset = offsetof(ngx_svc_admin_group_t, description) },               \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_admin_group_create_members[] = {
    ngx_svc_admin_group_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_admin_group_put_members[] = {
    ngx_svc_admin_group_rows(0)
};


#include "ngx_svc_admin_groups.sql.h"


const ngx_svc_route_t  ngx_svc_admin_groups[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_groups_total,
                      &ngx_svc_sql_admin_groups_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_groups_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/groups"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE,
      .members = ngx_svc_admin_group_create_members,
      .body_size = sizeof(ngx_svc_admin_group_t),
      .statements = { &ngx_svc_sql_admin_groups_lock,
                      &ngx_svc_sql_admin_groups_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_groups_get } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/groups/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_admin_group_put_members,
      .body_size = sizeof(ngx_svc_admin_group_t),
      .statements = { &ngx_svc_sql_admin_groups_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/groups/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_groups_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
