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
    ngx_str_t   htu;                /* as ngx_svc_dpop_htu() writes it */
    size_t      below;              /* bytes of htu, after which "/t/" and a
                                       slug may follow; 0: nowhere */
    ngx_str_t   slug;               /* empty: any */
    ngx_str_t   token;              /* no data: "ath" is not checked */
    time_t      now;
} ngx_svc_dpop_expect_t;


typedef struct {
    u_char      jkt[NGX_SVC_JWK_THUMBPRINT];
    u_char      once[NGX_SVC_SHA256_LEN];       /* SHA-256 of jkt and jti */
    time_t      iat;
    ngx_str_t   nonce;              /* no data: there is none */
    ngx_uint_t  stale;              /* iat is beyond the drift */
} ngx_svc_dpop_t;


/*
 * Writes what is the same however a URI is written, as
 * ngx_svc_application_resource() does, without its query and fragment.  htu:
 * room for len + 1 bytes.  Returns NGX_OK or NGX_DECLINED.
 */
ngx_int_t ngx_svc_dpop_htu(const ngx_str_t *uri, ngx_str_t *htu);

/*
 * Checks the value of a DPoP header, its signature last.  The caller decides
 * whether a stale proof may pass by its nonce, and whether dpop->once is new.
 *
 * Returns NGX_OK, with memory from the pool; NGX_DECLINED with err, whose kind
 * is NGX_SVC_E_INVALID_REQUEST and whose detail is ASCII without '"' and "\";
 * NGX_ERROR when memory runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_dpop_check(ngx_pool_t *pool, const ngx_str_t *proof,
    const ngx_svc_dpop_expect_t *expect, ngx_svc_dpop_t *dpop,
    ngx_svc_error_t *err);


#endif /* _NGX_SVC_DPOP_H_INCLUDED_ */
