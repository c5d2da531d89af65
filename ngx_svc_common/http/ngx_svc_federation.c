/*
 * Sign-in through other servers: what the configuration says of it.
 */

#include "ngx_svc_federation.h"
#include "ngx_svc_conf_base_url.h"
#include "ngx_svc_outbound_target.h"


ngx_int_t
ngx_svc_federation_conf(ngx_conf_t *cf, ngx_svc_main_conf_t *smcf)
{
    ngx_uint_t           i, bad;
    const char          *missing;
    ngx_svc_loc_conf_t  *slcf;
    ngx_svc_location_t  *location;

    bad = 0;
    smcf->plain = 1;
    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        slcf = location[i].conf;

        if (slcf->surface && !ngx_svc_conf_base_loopback(slcf)) {
            smcf->plain = 0;
            bad |= ngx_strncmp(slcf->base_key.data, "https://", 8) != 0;
        }
    }

    if (!smcf->federation) {
        return NGX_OK;
    }

    if (!smcf->helper) {
        missing = "load_module modules/ngx_http_svc_webhook_module.so";

    } else if (!smcf->sign_in) {
        missing = "svc_sign_in on";

    } else if (bad) {
        missing = "svc_base_url https://login.example.com";

    } else {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"svc_federation on\" needs \"%s;\"", missing);

    return NGX_ERROR;
}


ngx_int_t
ngx_svc_federation_url(const ngx_str_t *url, const char *path,
    ngx_svc_error_t *err)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    return ngx_svc_outbound_url(url, &smcf->allow, smcf->plain, path, err);
}


ngx_uint_t
ngx_svc_federation_plain(void)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    return smcf->plain;
}
