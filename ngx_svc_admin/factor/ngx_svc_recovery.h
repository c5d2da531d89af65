/*
 * Recovery codes, for a user whose other factors are lost.
 */

#ifndef _NGX_SVC_RECOVERY_H_INCLUDED_
#define _NGX_SVC_RECOVERY_H_INCLUDED_


#include "ngx_svc_crypto.h"


#define NGX_SVC_RECOVERY_CODES     10      /* of a user */
#define NGX_SVC_RECOVERY_LEN       10      /* characters of 5 bits each */
#define NGX_SVC_RECOVERY_TEXT_LEN  (sizeof("k7f2m-9xq4t") - 1)


/*
 * Makes a code, without the hyphen.  Returns NGX_OK, or NGX_ERROR when OpenSSL
 * fails.
 */
ngx_int_t ngx_svc_recovery_new(u_char code[NGX_SVC_RECOVERY_LEN]);

/*
 * Writes a code as people see it, NGX_SVC_RECOVERY_TEXT_LEN bytes; returns what
 * follows them.
 */
u_char *ngx_svc_recovery_text(u_char *p,
    const u_char code[NGX_SVC_RECOVERY_LEN]);

/*
 * Reads a code that somebody has typed: in any case, with spaces and hyphens
 * anywhere, i and l for 1, o for 0.  Returns NGX_OK, or NGX_DECLINED when it
 * cannot be a code.
 */
ngx_int_t ngx_svc_recovery_parse(const ngx_str_t *text,
    u_char code[NGX_SVC_RECOVERY_LEN]);

/*
 * Makes the stored form of a code: HMAC-SHA256 of tenant, user and code under a
 * key that is derived for recovery codes.  Returns NGX_OK, or NGX_ERROR when
 * OpenSSL fails.
 */
ngx_int_t ngx_svc_recovery_mac(const u_char key[NGX_SVC_KEY_LEN],
    const u_char tenant[NGX_SVC_UUID_LEN], const u_char user[NGX_SVC_UUID_LEN],
    const u_char code[NGX_SVC_RECOVERY_LEN], u_char mac[NGX_SVC_SHA256_LEN]);


#endif /* _NGX_SVC_RECOVERY_H_INCLUDED_ */
