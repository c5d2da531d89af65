/*
 * /v1/auth/profile: the profile of the session's user.
 */

#include "ngx_svc_signin.h"


#define NGX_SVC_OWN_MAX  64             /* characters */

#define NGX_SVC_OWN_PROFILE(_)                                                \
    _(FIRST_NAME, first_name, "firstName")                                    \
    _(LAST_NAME, last_name, "lastName")                                       \
    _(DISPLAY_NAME, display_name, "displayName")                              \
    _(LOCALE, locale, "locale")


typedef struct {
    NGX_SVC_OWN_PROFILE(ngx_svc_profile_value)
} ngx_svc_own_profile_t;


#define ngx_svc_own_profile_member(id, column, key, ...)                      \
    { .name = ngx_string(key),                                                \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_OWN_MAX,                                                 \
      .check = ngx_svc_profile_check_##id,                                    \
      .offset = offsetof(ngx_svc_own_profile_t, column) },


static const ngx_svc_member_t  ngx_svc_own_profile_members[] = {
    NGX_SVC_OWN_PROFILE(ngx_svc_own_profile_member)
    ngx_svc_null_member
};


#include "ngx_svc_profile.sql.h"


const ngx_svc_route_t  ngx_svc_profile[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/profile"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_profile_get } },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/auth/profile"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_own_profile_members,
      .body_size = sizeof(ngx_svc_own_profile_t),
      .statements = { &ngx_svc_sql_profile_patch, &ngx_svc_sql_profile_get } },

    ngx_svc_null_route
};
