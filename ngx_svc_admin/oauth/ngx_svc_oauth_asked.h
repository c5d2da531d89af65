/*
 * The parameter "claims" of an authorization request (OpenID Connect Core 1.0,
 * 5.5): which claims a client asks for, and where.
 */

#ifndef _NGX_SVC_OAUTH_ASKED_H_INCLUDED_
#define _NGX_SVC_OAUTH_ASKED_H_INCLUDED_


#include "ngx_svc_json.h"
#include "ngx_svc_oauth_claim.h"


#define NGX_SVC_OAUTH_ASKED_MAX  4096       /* bytes */


/* What is no bit, and no text, is of the pool. */

typedef struct {
    ngx_uint_t   id_token;      /* claims: bits */
    ngx_uint_t   userinfo;
    ngx_str_t    subject;       /* the value of "sub"; no data: anybody's */
    cJSON       *acr;           /* classes of a sign-in: a string, or an array
                                   of them; NULL: any */
    ngx_uint_t   acr_needed;    /* 1: it must be one of these */
} ngx_svc_oauth_asked_t;


/*
 * NGX_OK: all that nobody knows is left out; NGX_DECLINED with err: it is not
 * what 5.5 says; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_asked(ngx_pool_t *pool, ngx_str_t *text,
    ngx_svc_oauth_asked_t *asked, ngx_svc_error_t *err);


#endif /* _NGX_SVC_OAUTH_ASKED_H_INCLUDED_ */
