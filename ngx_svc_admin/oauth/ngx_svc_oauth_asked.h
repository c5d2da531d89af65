/*
 * The parameter "claims" of an authorization request (OpenID Connect Core 1.0,
 * 5.5): which claims a client asks for, and where.
 */

#ifndef _NGX_SVC_OAUTH_ASKED_H_INCLUDED_
#define _NGX_SVC_OAUTH_ASKED_H_INCLUDED_


#include "ngx_svc_json.h"
#include "ngx_svc_oauth_claim.h"


#define NGX_SVC_OAUTH_ASKED_MAX  4096       /* bytes */


/* What a request asks for, in the pool. */

typedef struct {
    ngx_uint_t   id_token;      /* bits of claims */
    ngx_uint_t   userinfo;
    ngx_str_t    subject;       /* value of "sub"; no data: any user */
    cJSON       *acr;           /* classes of a sign-in: a string, or an array
                                   of them; NULL: any */
    ngx_uint_t   acr_needed;    /* 1: the sign-in must be of one of them */
} ngx_svc_oauth_asked_t;


/*
 * Parses the parameter.  Returns NGX_OK, with unknown claims left out;
 * NGX_DECLINED with err: the text is not as 5.5 says; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_asked(ngx_pool_t *pool, ngx_str_t *text,
    ngx_svc_oauth_asked_t *asked, ngx_svc_error_t *err);


#endif /* _NGX_SVC_OAUTH_ASKED_H_INCLUDED_ */
