/*
 * Nonces for DPoP proofs (RFC 9449, 8), that nobody keeps: a time, and a code
 * over it.
 */

#ifndef _NGX_SVC_DPOP_NONCE_H_INCLUDED_
#define _NGX_SVC_DPOP_NONCE_H_INCLUDED_


#include "ngx_svc_base64.h"
#include "ngx_svc_mac.h"


#define NGX_SVC_DPOP_NONCE_LABEL  "dpop-nonce"      /* of ngx_svc_mac_init() */
#define NGX_SVC_DPOP_NONCE_SLOT   300               /* seconds */
#define NGX_SVC_DPOP_NONCE_BYTES  (8 + NGX_SVC_MAC_LEN)
#define NGX_SVC_DPOP_NONCE        ngx_svc_base64url_len(                      \
                                      NGX_SVC_DPOP_NONCE_BYTES)


/* That of now, under the first key.  NGX_OK, or NGX_ERROR: OpenSSL fails. */
ngx_int_t ngx_svc_dpop_nonce(const ngx_svc_macs_t *macs, time_t now,
    u_char nonce[NGX_SVC_DPOP_NONCE]);

/*
 * NGX_OK: it is that of now, or of the slot before, under one of the keys.
 * NGX_DECLINED: it is not.  NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_dpop_nonce_check(const ngx_svc_macs_t *macs, time_t now,
    const ngx_str_t *nonce);


#endif /* _NGX_SVC_DPOP_NONCE_H_INCLUDED_ */
