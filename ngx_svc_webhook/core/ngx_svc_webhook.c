/*
 * Webhooks: the configuration, ids, and names under which work is taken.
 */

#include "ngx_svc_webhook.h"


ngx_svc_webhook_conf_t *
ngx_svc_webhook_conf(void)
{
    return ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_webhook_module);
}


ngx_int_t
ngx_svc_random_id(u_char *id)
{
    u_char  random[NGX_SVC_ID_DIGITS / 2];

    if (ngx_svc_random(random, sizeof(random)) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_hex_dump(id, random, sizeof(random));

    return NGX_OK;
}


void
ngx_svc_helper_owner(ngx_svc_helper_owner_t *owner, const char *prefix,
    const u_char *id, const ngx_str_t *before)
{
    owner->key.data = owner->text;
    owner->key.len = ngx_strlen(prefix) + NGX_SVC_ID_DIGITS;

    owner->name.data = ngx_cpymem(owner->text, prefix, ngx_strlen(prefix));
    owner->name.len = NGX_SVC_ID_DIGITS;
    ngx_memcpy(owner->name.data, id, NGX_SVC_ID_DIGITS);

    owner->before.data = owner->last;
    owner->before.len = before->len;
    ngx_memcpy(owner->last, before->data, before->len);
}
