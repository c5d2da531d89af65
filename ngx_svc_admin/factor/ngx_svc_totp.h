/*
 * One-time passwords by time (RFC 6238), as all authenticator apps support
 * them: HMAC-SHA-1, six digits, 30 seconds.
 */

#ifndef _NGX_SVC_TOTP_H_INCLUDED_
#define _NGX_SVC_TOTP_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_TOTP_SECRET_LEN  20
#define NGX_SVC_TOTP_DIGITS      6
#define NGX_SVC_TOTP_PERIOD      30     /* seconds in a step */


/* Returns 1 when the code is exactly six ASCII digits. */
ngx_uint_t ngx_svc_totp_shaped(const ngx_str_t *code);

/*
 * Verifies a code: it must be that of the step of now (seconds since the
 * epoch), of the one before or of the one after, and the step must be later
 * than last_step, that of the last accepted code, or 0.
 *
 * Returns NGX_OK with *step, which the caller stores as the new last step in
 * the transaction that acts on the code, if it is still later than the stored
 * one; NGX_DECLINED when the code is wrong, of the wrong shape, or used;
 * NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_totp_verify(const u_char secret[NGX_SVC_TOTP_SECRET_LEN],
    const ngx_str_t *code, time_t now, int64_t last_step, int64_t *step);

/*
 * Makes the URI that apps read from a QR code, allocated from the pool:
 * "otpauth://totp/Acme:ada%40acme.test?secret=...&issuer=Acme&...".  Only the
 * first 64 bytes at most of the issuer, which is UTF-8, are used.  Returns
 * NGX_OK, or NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_totp_uri(ngx_pool_t *pool, const ngx_str_t *issuer,
    const ngx_str_t *account, const u_char secret[NGX_SVC_TOTP_SECRET_LEN],
    ngx_str_t *uri);


#endif /* _NGX_SVC_TOTP_H_INCLUDED_ */
