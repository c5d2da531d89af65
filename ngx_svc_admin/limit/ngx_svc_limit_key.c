/*
 * The keys that are counted.
 */

#include "ngx_svc_limit_key.h"


#define NGX_SVC_LIMIT_KEY_V4     '4'
#define NGX_SVC_LIMIT_KEY_V6     '6'
#define NGX_SVC_LIMIT_KEY_EMAIL  'e'
#define NGX_SVC_LIMIT_KEY_TENANT 't'


void
ngx_svc_limit_key_addr(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const ngx_svc_addr_t *addr)
{
    ngx_memzero(key, sizeof(ngx_svc_limit_key_t));

    key->family = family;

    if (addr->family == AF_INET6) {
        key->kind = NGX_SVC_LIMIT_KEY_V6;
        ngx_memcpy(key->bytes, addr->bytes, 8);

    } else {
        key->kind = NGX_SVC_LIMIT_KEY_V4;
        ngx_memcpy(key->bytes, addr->bytes, 4);
    }
}


void
ngx_svc_limit_key_mac(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const u_char mac[NGX_SVC_LIMIT_MAC_LEN])
{
    key->family = family;
    key->kind = NGX_SVC_LIMIT_KEY_EMAIL;
    ngx_memcpy(key->bytes, mac, NGX_SVC_LIMIT_MAC_LEN);
}


void
ngx_svc_limit_key_tenant(ngx_svc_limit_key_t *key,
    ngx_svc_limit_family_e family, const u_char tenant[NGX_SVC_UUID_LEN])
{
    key->family = family;
    key->kind = NGX_SVC_LIMIT_KEY_TENANT;
    ngx_memcpy(key->bytes, tenant, NGX_SVC_UUID_LEN);
}


u_char *
ngx_svc_limit_key_text(u_char *p, const ngx_svc_limit_key_t *key)
{
    ngx_svc_addr_t  addr;

    static const char  *const prefixes[] = {
        [NGX_SVC_LIMIT_LOGIN] = "svc.rate.l.",
        [NGX_SVC_LIMIT_SIGNUP] = "svc.rate.s.",
        [NGX_SVC_LIMIT_LINK] = "svc.rate.r.",
        [NGX_SVC_LIMIT_DOMAIN] = "svc.rate.d.",
        [NGX_SVC_LIMIT_DIRECTORY] = "svc.rate.t.",
        [NGX_SVC_LIMIT_CONNECTION] = "svc.rate.c.",
        [NGX_SVC_LIMIT_LOCK] = "svc.lock."
    };

    p = ngx_sprintf(p, "%s", prefixes[key->family]);

    if (key->kind == NGX_SVC_LIMIT_KEY_EMAIL
        || key->kind == NGX_SVC_LIMIT_KEY_TENANT)
    {
        if (key->family != NGX_SVC_LIMIT_LOCK) {
            *p++ = key->kind;
            *p++ = '.';
        }

        return ngx_hex_dump(p, (u_char *) key->bytes, NGX_SVC_LIMIT_MAC_LEN);
    }

    *p++ = 'i';
    *p++ = '.';

    addr.family = (key->kind == NGX_SVC_LIMIT_KEY_V6) ? AF_INET6 : AF_INET;
    ngx_memcpy(addr.bytes, key->bytes, sizeof(addr.bytes));

    return ngx_svc_addr_text(p, &addr);
}
