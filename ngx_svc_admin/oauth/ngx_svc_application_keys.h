/*
 * The keys of applications that authenticate by private_key_jwt.
 */

#ifndef _NGX_SVC_APPLICATION_KEYS_H_INCLUDED_
#define _NGX_SVC_APPLICATION_KEYS_H_INCLUDED_


#include "ngx_svc_json.h"
#include "ngx_svc_schema.h"


#define NGX_SVC_APPLICATION_KEYS       5
#define NGX_SVC_APPLICATION_KID        64       /* bytes */
#define NGX_SVC_APPLICATION_KEYS_SIZE  16384    /* bytes, of all of them */

/* A JWK Set that is fetched may have more. */
#define NGX_SVC_APPLICATION_PUBLISHED       100     /* keys, at most */
#define NGX_SVC_APPLICATION_PUBLISHED_SIZE  65536   /* bytes that are kept */


/* Checks the member "jwks": a JWK Set (RFC 7517, 5). */
ngx_int_t ngx_svc_application_keys_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/* Checks the member "jwksUri": a URL that can be fetched. */
ngx_int_t ngx_svc_application_keys_uri(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/*
 * Makes the text of a JWK Set that is kept of one that was fetched: its keys
 * that can be used, with the members that are needed.  A key can be used if it
 * could stand in "jwks", and no key before it has its "kid".
 *
 * Returns NGX_OK with *kept, which is of the pool; NGX_DECLINED with *why, a
 * sentence's end in printable ASCII; NGX_ERROR when memory runs out or OpenSSL
 * fails.
 */
ngx_int_t ngx_svc_application_keys_keep(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_str_t *kept, const char **why);


#endif /* _NGX_SVC_APPLICATION_KEYS_H_INCLUDED_ */
