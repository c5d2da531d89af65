/*
 * Secrets of one-time passwords as PostgreSQL has them.
 */

#include "ngx_svc_totp_secret.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_FACTOR_AAD  (3 * NGX_SVC_UUID_LEN)


static const ngx_svc_keys_t *ngx_svc_factor_aad(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, const u_char *id,
    u_char aad[NGX_SVC_FACTOR_AAD]);


ngx_int_t
ngx_svc_totp_secret_seal(ngx_svc_request_t *sr, const ngx_svc_stored_row_t *row,
    const u_char id[NGX_SVC_UUID_LEN],
    const u_char secret[NGX_SVC_TOTP_SECRET_LEN], ngx_str_t *sealed)
{
    u_char                 aad[NGX_SVC_FACTOR_AAD];
    const ngx_svc_keys_t  *keys;

    sealed->data = ngx_pnalloc(sr->request->pool, NGX_SVC_FACTOR_SEALED);
    if (sealed->data == NULL) {
        return NGX_ERROR;
    }

    keys = ngx_svc_factor_aad(sr, row, id, aad);

    return ngx_svc_seal(keys, secret, NGX_SVC_TOTP_SECRET_LEN, aad,
                        sizeof(aad), sealed->data, &sealed->len);
}


ngx_int_t
ngx_svc_totp_secret_open(ngx_svc_request_t *sr, const ngx_svc_stored_row_t *row,
    const u_char id[NGX_SVC_UUID_LEN], const ngx_str_t *hex,
    u_char secret[NGX_SVC_TOTP_SECRET_LEN])
{
    size_t                 len;
    u_char                 sealed[NGX_SVC_FACTOR_SEALED];
    u_char                 text[NGX_SVC_FACTOR_SEALED];
    u_char                 aad[NGX_SVC_FACTOR_AAD];
    ngx_int_t              rc;
    const ngx_svc_keys_t  *keys;

    sealed[0] = 0;
    len = sizeof(sealed);

    rc = ngx_svc_hex_bytea(hex, sealed, &len);

    if (rc == NGX_OK) {
        keys = ngx_svc_factor_aad(sr, row, id, aad);
        rc = ngx_svc_unseal(keys, sealed, len, aad, sizeof(aad), text, &len);
    }

    if (rc == NGX_OK && len == NGX_SVC_TOTP_SECRET_LEN) {
        ngx_memcpy(secret, text, NGX_SVC_TOTP_SECRET_LEN);
        ngx_explicit_memzero(text, sizeof(text));
        return NGX_OK;
    }

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    ngx_svc_sealed_lost(sr, "the second factor of a user", row->tenant, sealed,
                        len);

    return NGX_ABORT;
}


static const ngx_svc_keys_t *
ngx_svc_factor_aad(ngx_svc_request_t *sr, const ngx_svc_stored_row_t *row,
    const u_char *id, u_char aad[NGX_SVC_FACTOR_AAD])
{
    u_char               *p;
    ngx_svc_main_conf_t  *smcf;

    p = ngx_cpymem(aad, row->tenant, NGX_SVC_UUID_LEN);
    p = ngx_cpymem(p, row->user, NGX_SVC_UUID_LEN);
    ngx_memcpy(p, id, NGX_SVC_UUID_LEN);

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return &smcf->keys;
}
