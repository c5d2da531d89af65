/*
 * The secret with which we authenticate to Apple: a JWT that is signed anew for
 * each call, with a key that Apple gives out as a file "AuthKey_*.p8".
 */

#ifndef _NGX_SVC_APPLE_SECRET_H_INCLUDED_
#define _NGX_SVC_APPLE_SECRET_H_INCLUDED_


#include "ngx_svc_jws.h"


#define NGX_SVC_APPLE_SECRET_LIFE  300      /* seconds */


typedef struct {
    ngx_str_t  team_id;
    ngx_str_t  key_id;
    ngx_str_t  client_id;
    ngx_str_t  pem;         /* the text of the file, which the caller wipes */
} ngx_svc_apple_secret_t;


/*
 * Reads such a file: one PKCS #8 (RFC 5958) in PEM that is not encrypted, for
 * P-256.  Returns NGX_OK with *key, which the caller frees; NGX_DECLINED when
 * it is anything else; NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_apple_secret_key(const ngx_str_t *pem, EVP_PKEY **key);

/*
 * Makes a secret that is over after NGX_SVC_APPLE_SECRET_LIFE.  Returns NGX_OK
 * with *secret, which is of the pool; NGX_DECLINED as
 * ngx_svc_apple_secret_key() does; NGX_ERROR when memory runs out or OpenSSL
 * fails.
 */
ngx_int_t ngx_svc_apple_secret(ngx_pool_t *pool,
    const ngx_svc_apple_secret_t *apple, time_t now, ngx_str_t *secret);


#endif /* _NGX_SVC_APPLE_SECRET_H_INCLUDED_ */
