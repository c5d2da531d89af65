/*
 * The admin API: the directive.
 */

#include "ngx_svc_admin.h"


static ngx_int_t ngx_http_svc_admin_preconfiguration(ngx_conf_t *cf);


static ngx_svc_surface_t  ngx_http_svc_admin_surface = {
    ngx_string("/v1"),
    ngx_string("application/json"),
    ngx_string("api"),
    ngx_string("apiToken"),
    ngx_svc_admin_routes,
    ngx_svc_admin_constraints,
    ngx_svc_admin_error
};


static ngx_command_t  ngx_http_svc_admin_commands[] = {

    { ngx_string("svc_admin"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_surface_directive,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      &ngx_http_svc_admin_surface },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_svc_admin_module_ctx = {
    ngx_http_svc_admin_preconfiguration,   /* preconfiguration */
    NULL,                                  /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    NULL,                                  /* create location configuration */
    NULL                                   /* merge location configuration */
};


ngx_module_t  ngx_http_svc_admin_module = {
    NGX_MODULE_V1,
    &ngx_http_svc_admin_module_ctx,        /* module context */
    ngx_http_svc_admin_commands,           /* module directives */
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
ngx_http_svc_admin_preconfiguration(ngx_conf_t *cf)
{
    ngx_svc_main_conf_t                  *smcf;
    const ngx_svc_pg_statement_t *const  *table;

    if (ngx_svc_check_common(cf, "ngx_http_svc_admin_module") != NGX_OK) {
        return NGX_ERROR;
    }

    smcf = ngx_svc_main_conf(cf);

    for (table = ngx_svc_admin_statements; *table; table++) {
        if (ngx_svc_pg_add_statements(&smcf->pg, *table) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
