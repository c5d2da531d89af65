/*
 * Message authentication codes under the keys of svc_key_file.
 */

#include "ngx_svc_mac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>


#define NGX_SVC_MAC_FULL  32


static ngx_int_t ngx_svc_mac_key(EVP_MAC *hmac, ngx_svc_mac_key_t *mac,
    const u_char *key);


ngx_int_t
ngx_svc_mac_init(ngx_svc_macs_t *macs, const ngx_svc_keys_t *keys,
    const char *label)
{
    u_char              key[NGX_SVC_KEY_LEN];
    EVP_MAC            *hmac;
    ngx_int_t           rc;
    ngx_uint_t          i;
    ngx_svc_mac_key_t  *mac;

    ngx_svc_mac_free(macs);

    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    if (hmac == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_OK;

    for (i = 0; i < keys->n && rc == NGX_OK; i++) {
        mac = &macs->keys[macs->n++];

        ngx_memcpy(mac->id, keys->keys[i].id, keys->keys[i].id_len);
        mac->id_len = keys->keys[i].id_len;

        rc = ngx_svc_mac_derive(&keys->keys[i], label, key);

        if (rc == NGX_OK) {
            rc = ngx_svc_mac_key(hmac, mac, key);
        }
    }

    ngx_explicit_memzero(key, sizeof(key));
    EVP_MAC_free(hmac);

    if (rc != NGX_OK) {
        ngx_svc_mac_free(macs);
    }

    return rc;
}


void
ngx_svc_mac_free(ngx_svc_macs_t *macs)
{
    while (macs->n) {
        macs->n--;
        EVP_MAC_CTX_free(macs->keys[macs->n].ctx);
        macs->keys[macs->n].ctx = NULL;
    }
}


ngx_int_t
ngx_svc_mac_derive(const ngx_svc_key_t *key, const char *label,
    u_char out[NGX_SVC_KEY_LEN])
{
    int           rc;
    EVP_KDF      *kdf;
    OSSL_PARAM    params[4];
    EVP_KDF_CTX  *ctx;

    kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;

    params[0] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                                 "SHA256", 0);
    params[1] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
                                                  (void *) key->key,
                                                  NGX_SVC_KEY_LEN);
    params[2] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO,
                                                  (void *) label,
                                                  ngx_strlen(label));
    params[3] = OSSL_PARAM_construct_end();

    rc = ctx ? EVP_KDF_derive(ctx, out, NGX_SVC_KEY_LEN, params) : 0;

    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);

    return rc == 1 ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_mac_key(EVP_MAC *hmac, ngx_svc_mac_key_t *mac, const u_char *key)
{
    OSSL_PARAM  params[2];

    params[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
                                                 "SHA256", 0);
    params[1] = OSSL_PARAM_construct_end();

    mac->ctx = EVP_MAC_CTX_new(hmac);

    if (mac->ctx == NULL
        || !EVP_MAC_init(mac->ctx, key, NGX_SVC_KEY_LEN, params))
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


const ngx_svc_mac_key_t *
ngx_svc_mac_find(const ngx_svc_macs_t *macs, const u_char *id, size_t len)
{
    ngx_uint_t  i;

    for (i = 0; i < macs->n; i++) {
        if (macs->keys[i].id_len == len
            && ngx_memcmp(macs->keys[i].id, id, len) == 0)
        {
            return &macs->keys[i];
        }
    }

    return NULL;
}


/* EVP_MAC_init() without a key begins anew with the key of the context. */

ngx_int_t
ngx_svc_mac(const ngx_svc_mac_key_t *key, const u_char *text, size_t len,
    u_char out[NGX_SVC_MAC_LEN])
{
    size_t  n;
    u_char  full[NGX_SVC_MAC_FULL];

    if (!EVP_MAC_init(key->ctx, NULL, 0, NULL)
        || !EVP_MAC_update(key->ctx, text, len)
        || !EVP_MAC_final(key->ctx, full, &n, sizeof(full)))
    {
        return NGX_ERROR;
    }

    ngx_memcpy(out, full, NGX_SVC_MAC_LEN);

    return NGX_OK;
}
