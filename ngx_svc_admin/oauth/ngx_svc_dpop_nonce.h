/*
 * Nonces for DPoP proofs (RFC 9449, 8).  They are not stored: each is the
 * number of a time slot, and a MAC of that.
 */

#ifndef _NGX_SVC_DPOP_NONCE_H_INCLUDED_
#define _NGX_SVC_DPOP_NONCE_H_INCLUDED_


#include "ngx_svc_base64.h"
#include "ngx_svc_mac.h"


#define NGX_SVC_DPOP_NONCE_LABEL  "dpop-nonce"      /* for ngx_svc_mac_init() */
#define NGX_SVC_DPOP_NONCE_SLOT   300               /* seconds */
#define NGX_SVC_DPOP_NONCE_BYTES  (8 + NGX_SVC_MAC_LEN)
#define NGX_SVC_DPOP_NONCE        ngx_svc_base64url_len(                      \
                                      NGX_SVC_DPOP_NONCE_BYTES)


/*
 * Writes the nonce of this time, under the first key.  Returns NGX_OK, or
 * NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_dpop_nonce(const ngx_svc_macs_t *macs, time_t now,
    u_char nonce[NGX_SVC_DPOP_NONCE]);

/*
 * Returns NGX_OK if the nonce is of this slot or of the one before it, under
 * any of the keys; NGX_DECLINED if not; NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_dpop_nonce_check(const ngx_svc_macs_t *macs, time_t now,
    const ngx_str_t *nonce);


#endif /* _NGX_SVC_DPOP_NONCE_H_INCLUDED_ */
