/*
 * The keys that deliveries are signed with, as the database holds them.
 */

#include "ngx_svc_webhook_secret.h"
#include "ngx_svc_hex.h"


#define NGX_SVC_WEBHOOK_AAD  "webhook_endpoint:"


/* A sealed text's associated data. */

typedef struct {
    u_char    text[sizeof(NGX_SVC_WEBHOOK_AAD) - 1 + NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_webhook_aad_t;


static ngx_int_t ngx_svc_webhook_aad(ngx_svc_webhook_aad_t *aad,
    const ngx_str_t *endpoint);
static const ngx_svc_keys_t *ngx_svc_webhook_keys(void);


ngx_int_t
ngx_svc_webhook_secret_seal(const ngx_str_t *endpoint, const u_char *secret,
    u_char *out, size_t *len)
{
    ngx_svc_webhook_aad_t  aad;

    if (ngx_svc_webhook_aad(&aad, endpoint) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_seal(ngx_svc_webhook_keys(), secret, NGX_SVC_WEBHOOK_SECRET,
                        aad.text, sizeof(aad.text), out, len);
}


ngx_int_t
ngx_svc_webhook_secret_open(const ngx_str_t *endpoint, const ngx_str_t *column,
    u_char *secret)
{
    u_char                  sealed[NGX_SVC_WEBHOOK_SEALED];
    u_char                  text[NGX_SVC_WEBHOOK_SEALED];
    size_t                  len;
    ngx_int_t               rc;
    ngx_svc_webhook_aad_t   aad;

    len = sizeof(sealed);

    if (ngx_svc_webhook_aad(&aad, endpoint) != NGX_OK
        || ngx_svc_hex_bytea(column, sealed, &len) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    rc = ngx_svc_unseal(ngx_svc_webhook_keys(), sealed, len, aad.text,
                        sizeof(aad.text), text, &len);

    if (rc == NGX_OK && len != NGX_SVC_WEBHOOK_SECRET) {
        rc = NGX_DECLINED;
    }

    if (rc == NGX_OK) {
        ngx_memcpy(secret, text, NGX_SVC_WEBHOOK_SECRET);
    }

    ngx_explicit_memzero(text, sizeof(text));

    return rc;
}


static ngx_int_t
ngx_svc_webhook_aad(ngx_svc_webhook_aad_t *aad, const ngx_str_t *endpoint)
{
    u_char  *p;

    if (endpoint->len != NGX_SVC_UUID_TEXT_LEN) {
        return NGX_DECLINED;
    }

    p = ngx_cpymem(aad->text, NGX_SVC_WEBHOOK_AAD,
                   sizeof(NGX_SVC_WEBHOOK_AAD) - 1);
    ngx_memcpy(p, endpoint->data, NGX_SVC_UUID_TEXT_LEN);

    return NGX_OK;
}


static const ngx_svc_keys_t *
ngx_svc_webhook_keys(void)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    return &smcf->keys;
}
