/*
 * Secrets that are shown once, and of which the database has the digest.
 */

#ifndef _NGX_SVC_ADMIN_SECRET_H_INCLUDED_
#define _NGX_SVC_ADMIN_SECRET_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_ADMIN_SECRET_BYTES  32
#define NGX_SVC_ADMIN_SECRET_TEXT   43      /* these bytes in base64url */


typedef struct {
    ngx_str_t        text;
    u_char           hash[NGX_SVC_SHA256_LEN];      /* SHA-256 of the text */
} ngx_svc_admin_secret_t;


/*
 * Makes a new secret: the prefix, and random bytes in base64url.  It is
 * allocated from the request's pool, and its text is wiped when that is
 * destroyed.  Returns NULL when there is no memory, or OpenSSL fails.
 */
ngx_svc_admin_secret_t *ngx_svc_admin_secret_new(ngx_svc_request_t *sr,
    const char *prefix);


#endif /* _NGX_SVC_ADMIN_SECRET_H_INCLUDED_ */
