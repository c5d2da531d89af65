/*
 * DPoP proofs (RFC 9449, 4).
 */

#ifndef _NGX_SVC_DPOP_H_INCLUDED_
#define _NGX_SVC_DPOP_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_error.h"
#include "ngx_svc_jwk.h"


#define NGX_SVC_DPOP_JTI    128     /* bytes, at most */
#define NGX_SVC_DPOP_DRIFT  60      /* seconds, from now to iat */


typedef struct {
    ngx_str_t   method;
    ngx_str_t   htu;                /* of ngx_svc_dpop_htu() */
    size_t      below;              /* bytes of that, behind which there may be
                                       "/t/" and a slug; 0: nowhere */
    ngx_str_t   slug;               /* empty: any */
    ngx_str_t   token;              /* no data: an ath is not looked at */
    time_t      now;
} ngx_svc_dpop_expect_t;


typedef struct {
    u_char      jkt[NGX_SVC_JWK_THUMBPRINT];
    u_char      once[NGX_SVC_SHA256_LEN];       /* of jkt and jti */
    time_t      iat;
    ngx_str_t   nonce;              /* no data: there is none */
    ngx_uint_t  stale;              /* iat is beyond the drift */
} ngx_svc_dpop_t;


/*
 * What is the same of all ways to write it: as ngx_svc_application_resource(),
 * without query and fragment.  htu: room for len + 1 bytes.  NGX_OK, or
 * NGX_DECLINED.
 */
ngx_int_t ngx_svc_dpop_htu(const ngx_str_t *uri, ngx_str_t *htu);

/*
 * Checks the value of a DPoP header, the signature at last.  Whether a stale
 * one may pass, by its nonce, and whether once is new, is for the caller to
 * find out.
 *
 * NGX_OK, with memory of the pool; NGX_DECLINED with err, whose kind is
 * NGX_SVC_E_INVALID_REQUEST and whose detail is ASCII without '"' and "\";
 * NGX_ERROR when memory runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_dpop_check(ngx_pool_t *pool, const ngx_str_t *proof,
    const ngx_svc_dpop_expect_t *expect, ngx_svc_dpop_t *dpop,
    ngx_svc_error_t *err);


#endif /* _NGX_SVC_DPOP_H_INCLUDED_ */
