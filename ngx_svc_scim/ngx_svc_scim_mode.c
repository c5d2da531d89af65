/*
 * The mode of a location: how closely it follows the RFCs.
 */

#include "ngx_svc_scim_mode.h"


char *
ngx_svc_scim_mode_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_scim_loc_conf_t *lcf = conf;

    ngx_str_t  *value;

    if (lcf->mode) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "spec") == 0) {
        lcf->mode = NGX_SVC_SCIM_MODE_SPEC;

    } else if (ngx_strcmp(value[1].data, "rfc") == 0) {
        lcf->mode = NGX_SVC_SCIM_MODE_RFC;

    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" takes \"spec\" or \"rfc\", not \"%V\"",
                           &value[0], &value[1]);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


ngx_uint_t
ngx_svc_scim_rfc(ngx_svc_request_t *sr)
{
    ngx_svc_scim_loc_conf_t  *lcf;

    lcf = ngx_http_get_module_loc_conf(sr->request, ngx_http_svc_scim_module);

    return lcf->mode == NGX_SVC_SCIM_MODE_RFC;
}
