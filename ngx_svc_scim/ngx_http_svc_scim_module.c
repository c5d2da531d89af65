/*
 * The SCIM 2.0 provider: the directive, the routes, the constraints.
 */

#include "ngx_svc_scim.h"


static ngx_int_t ngx_http_svc_scim_preconfiguration(ngx_conf_t *cf);


static ngx_svc_resources_t  ngx_http_svc_scim_resources[] = {
    ngx_svc_scim_list,
    ngx_svc_scim_users,
    ngx_svc_scim_discovery,
    NULL
};


static const ngx_svc_constraint_t  ngx_http_svc_scim_constraints[] = {

    { "user_account_user_name_key", NGX_SVC_E_UNIQUENESS,
      "A user with this userName exists already." },

    { "user_account_external_id_key", NGX_SVC_E_UNIQUENESS,
      "A user with this externalId exists already." },

    { NULL, NGX_SVC_E_NONE, NULL }
};


static ngx_svc_surface_t  ngx_http_svc_scim_surface = {
    ngx_string("/scim/v2"),
    ngx_string("application/scim+json"),
    ngx_string("scim"),
    ngx_string("scim"),
    ngx_http_svc_scim_resources,
    ngx_http_svc_scim_constraints,
    ngx_svc_scim_error,
    NULL
};


static ngx_command_t  ngx_http_svc_scim_commands[] = {

    { ngx_string("svc_scim"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_surface_directive,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      &ngx_http_svc_scim_surface },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_svc_scim_module_ctx = {
    ngx_http_svc_scim_preconfiguration,    /* preconfiguration */
    NULL,                                  /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    NULL,                                  /* create location configuration */
    NULL                                   /* merge location configuration */
};


ngx_module_t  ngx_http_svc_scim_module = {
    NGX_MODULE_V1,
    &ngx_http_svc_scim_module_ctx,         /* module context */
    ngx_http_svc_scim_commands,            /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_svc_scim_preconfiguration(ngx_conf_t *cf)
{
    if (ngx_svc_check_common(cf, "ngx_http_svc_scim_module") != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_add_statements(cf, ngx_http_svc_scim_resources);
}
