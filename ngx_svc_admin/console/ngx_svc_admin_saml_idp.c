/*
 * /v1/admin/saml-idp: a tenant as the identity provider of SAML applications.
 *
 * The first GET or POST of a tenant finds no key, and has one made: see
 * ngx_svc_admin_saml_idp_key.c.
 */

#include "ngx_svc_admin_saml_idp_key.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_url.h"


#define NGX_SVC_ADMIN_SAML_APPS      100    /* of a tenant */
#define NGX_SVC_ADMIN_SAML_APP_NAME  100    /* characters */

#define NGX_SVC_ADMIN_NO_SAML_APP                                             \
    "There is no SAML application with this id."


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  sp_entity_id;
    ngx_svc_value_t  acs_url;
} ngx_svc_admin_saml_app_t;


static ngx_int_t ngx_svc_admin_saml_idp_reply(ngx_svc_request_t *sr);


#define ngx_svc_admin_saml_app_rows(required)                                 \
                                                                              \
    { .name = ngx_string("name"),                                             \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SAML_APP_NAME,                                     \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_admin_saml_app_t, name) },                   \
                                                                              \
    { .name = ngx_string("spEntityId"),                                       \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_URL_MAX,                                                 \
      .check = ngx_svc_url_https,                                             \
      .offset = offsetof(ngx_svc_admin_saml_app_t, sp_entity_id) },           \
                                                                              \
    { .name = ngx_string("acsUrl"),                                           \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_URL_MAX,                                                 \
      .check = ngx_svc_url_https,                                             \
      .offset = offsetof(ngx_svc_admin_saml_app_t, acs_url) },                \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_admin_saml_app_members[] = {
    ngx_svc_admin_saml_app_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_admin_saml_app_patch_members[] = {
    ngx_svc_admin_saml_app_rows(0)
};


#include "ngx_svc_admin_saml_idp.sql.h"


const ngx_svc_route_t  ngx_svc_admin_saml_idp[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/saml-idp"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_saml_idp },
      .reply = ngx_svc_admin_saml_idp_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/saml-idp/apps"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE,
      .members = ngx_svc_admin_saml_app_members,
      .body_size = sizeof(ngx_svc_admin_saml_app_t),
      .statements = { &ngx_svc_sql_admin_saml_apps_lock,
                      &ngx_svc_sql_admin_saml_apps_create },
      .reply = ngx_svc_admin_saml_idp_reply,
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/saml-idp/apps/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_saml_apps_get } },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/admin/saml-idp/apps/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_admin_saml_app_patch_members,
      .body_size = sizeof(ngx_svc_admin_saml_app_t),
      .statements = { &ngx_svc_sql_admin_saml_apps_lock,
                      &ngx_svc_sql_admin_saml_apps_patch } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/saml-idp/apps/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_saml_apps_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_saml_idp_reply(ngx_svc_request_t *sr)
{
    PGresult                              *res;
    ngx_svc_row_saml_keyless_t            *row;
    ngx_svc_row_admin_saml_idp_t           idp;
    ngx_svc_row_admin_saml_apps_create_t   app;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_saml_apps_create);

    if (res) {
        ngx_svc_row_admin_saml_apps_create(&app, res, 0);
        row = &app.saml_keyless;

    } else {
        ngx_svc_row_admin_saml_idp(&idp,
                             ngx_svc_result(sr, &ngx_svc_sql_admin_saml_idp),
                             0);
        row = &idp.saml_keyless;
    }

    if (row->keyless) {
        return ngx_svc_admin_saml_idp_make(sr, &row->slug);
    }

    return ngx_svc_route_answer(sr);
}
