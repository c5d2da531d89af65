/*
 * Message authentication codes under the keys of svc_key_file.
 */

#ifndef _NGX_SVC_MAC_H_INCLUDED_
#define _NGX_SVC_MAC_H_INCLUDED_


#include "ngx_svc_crypto.h"


#define NGX_SVC_MAC_LEN  16


/*
 * The keys of one purpose: each is derived from a key of the file, by HKDF (RFC
 * 5869) with SHA-256, no salt, and the purpose's label.
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


/* Derives such a key.  Returns NGX_OK, or NGX_ERROR when OpenSSL fails. */
NGX_SVC_API ngx_int_t ngx_svc_mac_derive(const ngx_svc_key_t *key,
    const char *label, u_char out[NGX_SVC_KEY_LEN]);

/*
 * Makes the keys of a purpose, and frees those that macs has had; macs is
 * zeroed at first.  Returns NGX_OK, or NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_mac_init(ngx_svc_macs_t *macs,
    const ngx_svc_keys_t *keys, const char *label);

/* Frees the keys. */
NGX_SVC_API void ngx_svc_mac_free(ngx_svc_macs_t *macs);

/* Returns the key with that id, or NULL. */
NGX_SVC_API const ngx_svc_mac_key_t *ngx_svc_mac_find(
    const ngx_svc_macs_t *macs, const u_char *id, size_t len);

/*
 * Writes the first half of HMAC-SHA256.  Returns NGX_OK, or NGX_ERROR when
 * OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_mac(const ngx_svc_mac_key_t *key,
    const u_char *text, size_t len, u_char out[NGX_SVC_MAC_LEN]);


#endif /* _NGX_SVC_MAC_H_INCLUDED_ */
