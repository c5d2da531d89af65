/*
 * Webhooks: the configuration, and ids.
 */

#include "ngx_svc_webhook.h"


ngx_svc_webhook_conf_t *
ngx_svc_webhook_conf(void)
{
    return ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_webhook_module);
}


ngx_int_t
ngx_svc_webhook_id(u_char *id)
{
    u_char  random[NGX_SVC_WEBHOOK_ID / 2];

    if (ngx_svc_random(random, sizeof(random)) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_hex_dump(id, random, sizeof(random));

    return NGX_OK;
}
