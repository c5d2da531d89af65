/*
 * Nonces for DPoP proofs: base64url of the number of a slot, in network order,
 * and of the MAC of that.
 */

#include "ngx_svc_dpop_nonce.h"


static ngx_int_t ngx_svc_dpop_nonce_write(const ngx_svc_mac_key_t *key,
    uint64_t slot, u_char bytes[NGX_SVC_DPOP_NONCE_BYTES]);


ngx_int_t
ngx_svc_dpop_nonce(const ngx_svc_macs_t *macs, time_t now,
    u_char nonce[NGX_SVC_DPOP_NONCE])
{
    u_char  bytes[NGX_SVC_DPOP_NONCE_BYTES];

    if (ngx_svc_dpop_nonce_write(&macs->keys[0], now / NGX_SVC_DPOP_NONCE_SLOT,
                                 bytes)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(nonce, bytes, sizeof(bytes));

    return NGX_OK;
}


ngx_int_t
ngx_svc_dpop_nonce_check(const ngx_svc_macs_t *macs, time_t now,
    const ngx_str_t *nonce)
{
    size_t      len;
    u_char      bytes[NGX_SVC_DPOP_NONCE_BYTES], good[sizeof(bytes)];
    ngx_uint_t  i, before;

    if (nonce->len != NGX_SVC_DPOP_NONCE
        || ngx_svc_base64url_decode(nonce->data, nonce->len, bytes, &len)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < macs->n; i++) {
        for (before = 0; before < 2; before++) {

            if (ngx_svc_dpop_nonce_write(&macs->keys[i],
                                         now / NGX_SVC_DPOP_NONCE_SLOT
                                         - before, good)
                != NGX_OK)
            {
                return NGX_ERROR;
            }

            if (ngx_svc_equal(bytes, good, sizeof(good))) {
                return NGX_OK;
            }
        }
    }

    return NGX_DECLINED;
}


static ngx_int_t
ngx_svc_dpop_nonce_write(const ngx_svc_mac_key_t *key, uint64_t slot,
    u_char bytes[NGX_SVC_DPOP_NONCE_BYTES])
{
    ngx_int_t  i;

    for (i = 7; i >= 0; i--) {
        bytes[i] = (u_char) slot;
        slot >>= 8;
    }

    return ngx_svc_mac(key, bytes, 8, bytes + 8);
}
