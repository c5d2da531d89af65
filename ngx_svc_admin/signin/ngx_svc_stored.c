/*
 * Passwords as PostgreSQL has them.
 */

#include "ngx_svc_stored.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_STORED_MAX  (NGX_SVC_PHC_LEN + NGX_SVC_SEAL_OVERHEAD)
#define NGX_SVC_STORED_AAD  (2 * NGX_SVC_UUID_LEN + sizeof("password") - 1)


static const ngx_svc_keys_t *ngx_svc_stored_keys(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, u_char aad[NGX_SVC_STORED_AAD]);


ngx_int_t
ngx_svc_stored_open(ngx_svc_request_t *sr, const ngx_svc_stored_row_t *row,
    ngx_str_t *hex, ngx_str_t *phc)
{
    size_t                 len;
    u_char                 sealed[NGX_SVC_STORED_MAX];
    u_char                 aad[NGX_SVC_STORED_AAD];
    ngx_int_t              rc;
    const ngx_svc_keys_t  *keys;

    sealed[0] = 0;
    len = sizeof(sealed);

    phc->data = ngx_pnalloc(sr->request->pool, sizeof(sealed));

    if (phc->data == NULL
        || ngx_svc_wipe_later(sr->request->pool, phc->data, sizeof(sealed))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_hex_bytea(hex, sealed, &len);

    if (rc == NGX_OK && len && sealed[0] == '$') {
        ngx_memcpy(phc->data, sealed, len);
        phc->len = len;
        ngx_explicit_memzero(sealed, len);

        return NGX_OK;
    }

    if (rc == NGX_OK) {
        keys = ngx_svc_stored_keys(sr, row, aad);
        rc = ngx_svc_unseal(keys, sealed, len, aad, sizeof(aad), phc->data,
                            &phc->len);
    }

    if (rc == NGX_OK) {
        return NGX_OK;
    }

    ngx_svc_sealed_lost(sr, "the password of a user", row->tenant, sealed,
                        len);
    ngx_str_null(phc);

    return NGX_DECLINED;
}


ngx_int_t
ngx_svc_stored_seal(ngx_svc_request_t *sr, const ngx_svc_stored_row_t *row,
    u_char *phc, size_t len, ngx_str_t *sealed)
{
    u_char                 aad[NGX_SVC_STORED_AAD];
    const ngx_svc_keys_t  *keys;

    sealed->data = ngx_pnalloc(sr->request->pool, len + NGX_SVC_SEAL_OVERHEAD);
    if (sealed->data == NULL) {
        return NGX_ERROR;
    }

    keys = ngx_svc_stored_keys(sr, row, aad);

    return ngx_svc_seal(keys, phc, len, aad, sizeof(aad), sealed->data,
                        &sealed->len);
}


static const ngx_svc_keys_t *
ngx_svc_stored_keys(ngx_svc_request_t *sr, const ngx_svc_stored_row_t *row,
    u_char aad[NGX_SVC_STORED_AAD])
{
    u_char               *p;
    ngx_svc_main_conf_t  *smcf;

    p = ngx_cpymem(aad, row->tenant, NGX_SVC_UUID_LEN);
    p = ngx_cpymem(p, row->user, NGX_SVC_UUID_LEN);
    ngx_memcpy(p, "password", sizeof("password") - 1);

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return &smcf->keys;
}
