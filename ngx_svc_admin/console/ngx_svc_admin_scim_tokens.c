/*
 * /v1/admin/scim/tokens: the tokens of directories that provision users.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_new_token.h"
#include "ngx_svc_admin_search.h"


#define NGX_SVC_ADMIN_SCIM_TOKENS      100      /* live ones of a tenant */
#define NGX_SVC_ADMIN_SCIM_TOKEN_NAME  100      /* characters */

#define NGX_SVC_ADMIN_SCIM_PREFIX      "scim_"
#define NGX_SVC_ADMIN_NO_SCIM_TOKEN    "There is no SCIM token with this id."


typedef struct {
    ngx_svc_value_t  name;
} ngx_svc_admin_scim_token_t;


static const ngx_svc_member_t  ngx_svc_admin_scim_token_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_SCIM_TOKEN_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_admin_scim_token_t, name) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_scim_tokens.sql.h"


const ngx_svc_route_t  ngx_svc_admin_scim_tokens[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim/tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_scim_tokens_total,
                      &ngx_svc_sql_admin_scim_tokens_list },
      .list = "tokens",
      .total = &ngx_svc_sql_admin_scim_tokens_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim/tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_scim_token_members,
      .body_size = sizeof(ngx_svc_admin_scim_token_t),
      .statements = { &ngx_svc_sql_admin_scim_tokens_lock,
                      &ngx_svc_sql_admin_scim_tokens_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_admin_token_secret },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim/tokens/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_scim_tokens_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/scim/tokens/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_scim_tokens_revoke },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
