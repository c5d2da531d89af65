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


/* Checks the member "jwks": a JWK Set (RFC 7517, 5). */
ngx_int_t ngx_svc_application_keys_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_APPLICATION_KEYS_H_INCLUDED_ */
