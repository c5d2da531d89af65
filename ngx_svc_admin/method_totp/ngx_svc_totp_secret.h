/*
 * Secrets of one-time passwords as PostgreSQL has them: each is sealed by a key
 * of svc_key_file, for one factor of one user.
 */

#ifndef _NGX_SVC_FACTOR_SECRET_H_INCLUDED_
#define _NGX_SVC_FACTOR_SECRET_H_INCLUDED_


#include "ngx_svc_stored.h"
#include "ngx_svc_totp.h"


#define NGX_SVC_FACTOR_SEALED                                                 \
    (NGX_SVC_TOTP_SECRET_LEN + NGX_SVC_SEAL_OVERHEAD)


/* Seals a secret into the request's pool.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_totp_secret_seal(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, const u_char id[NGX_SVC_UUID_LEN],
    const u_char secret[NGX_SVC_TOTP_SECRET_LEN], ngx_str_t *sealed);

/*
 * Opens the secret in PostgreSQL's text of a bytea.  Returns NGX_OK; NGX_ABORT
 * when its key is missing or it is another factor's, so that nobody can tell
 * whether a code is right, and logs this; NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_totp_secret_open(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, const u_char id[NGX_SVC_UUID_LEN],
    const ngx_str_t *hex, u_char secret[NGX_SVC_TOTP_SECRET_LEN]);


#endif /* _NGX_SVC_FACTOR_SECRET_H_INCLUDED_ */
