/*
 * Message authentication codes under the keys of svc_key_file.
 */

#ifndef _NGX_SVC_MAC_H_INCLUDED_
#define _NGX_SVC_MAC_H_INCLUDED_


#include "ngx_svc_crypto.h"


#define NGX_SVC_MAC_LEN  16


/*
 * For one purpose: of each key of the file one of its own, derived by HKDF
 * (RFC 5869) with SHA-256, no salt, and the purpose's label.
 */

typedef struct {
    u_char                  id[NGX_SVC_KEY_ID_LEN];
    size_t                  id_len;
    struct evp_mac_ctx_st  *ctx;
} ngx_svc_mac_key_t;

typedef struct {
    ngx_uint_t              n;
    ngx_svc_mac_key_t       keys[NGX_SVC_KEYS];     /* the first one signs */
} ngx_svc_macs_t;


/* Such a key.  NGX_OK, or NGX_ERROR when OpenSSL fails. */
NGX_SVC_API ngx_int_t ngx_svc_mac_derive(const ngx_svc_key_t *key,
    const char *label, u_char out[NGX_SVC_KEY_LEN]);

/*
 * NGX_OK, or NGX_ERROR when OpenSSL fails.  What macs had before is freed; at
 * first it is all zeros.  ngx_svc_mac_free() frees it for good.
 */
NGX_SVC_API ngx_int_t ngx_svc_mac_init(ngx_svc_macs_t *macs,
    const ngx_svc_keys_t *keys, const char *label);
NGX_SVC_API void ngx_svc_mac_free(ngx_svc_macs_t *macs);

/* The key of that id, or NULL. */
NGX_SVC_API const ngx_svc_mac_key_t *ngx_svc_mac_find(
    const ngx_svc_macs_t *macs, const u_char *id, size_t len);

/* HMAC-SHA256, the first half of it.  NGX_OK, or NGX_ERROR as above. */
NGX_SVC_API ngx_int_t ngx_svc_mac(const ngx_svc_mac_key_t *key,
    const u_char *text, size_t len, u_char out[NGX_SVC_MAC_LEN]);


#endif /* _NGX_SVC_MAC_H_INCLUDED_ */
