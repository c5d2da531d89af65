/*
 * /v1/admin/api-tokens.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_new_token.h"
#include "ngx_svc_admin_search.h"
#include "ngx_svc_check.h"


#define NGX_SVC_ADMIN_TOKENS      1000  /* live ones in a tenant */
#define NGX_SVC_ADMIN_TOKEN_NAME  100   /* characters */
#define NGX_SVC_ADMIN_TOKEN_DAYS  3650

#define NGX_SVC_ADMIN_TOKEN_PREFIX  "svc_"
#define NGX_SVC_ADMIN_NO_TOKEN      "There is no API token with this id."


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  scopes;
    ngx_svc_value_t  expires_at;
    ngx_svc_value_t  expires_in_days;
} ngx_svc_admin_token_t;


static void ngx_svc_admin_token_scopes(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_token_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_TOKEN_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_admin_token_t, name) },

    { .name = ngx_string("scopes"),
      .type = NGX_SVC_T_ARRAY,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = 100,
      .element = &ngx_svc_permission_element,
      .offset = offsetof(ngx_svc_admin_token_t, scopes) },

    { .name = ngx_string("expiresAt"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_check_expiry,
      .offset = offsetof(ngx_svc_admin_token_t, expires_at) },

    { .name = ngx_string("expiresInDays"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_TOKEN_DAYS,
      .offset = offsetof(ngx_svc_admin_token_t, expires_in_days) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_tokens.sql.h"


const ngx_svc_route_t  ngx_svc_admin_tokens[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/api-tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_CALLER,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_tokens_total,
                      &ngx_svc_sql_admin_tokens_list },
      .list = "apiTokens",
      .total = &ngx_svc_sql_admin_tokens_total,
      .more = ngx_svc_admin_token_scopes },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/api-tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_token_members,
      .body_size = sizeof(ngx_svc_admin_token_t),
      .statements = { &ngx_svc_sql_admin_tokens_lock,
                      &ngx_svc_sql_admin_tokens_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_admin_token_secret },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/api-tokens/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_tokens_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/api-tokens/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_tokens_revoke },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* Writes the scopes that the caller may assign, from the total's result. */

static void
ngx_svc_admin_token_scopes(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    PGresult  *total;

    total = ngx_svc_result(sr, &ngx_svc_sql_admin_tokens_total);

    ngx_svc_column_raw(w, "assignableScopes", total, 0,
                       ngx_svc_row_find(total, "scopes"));
}
