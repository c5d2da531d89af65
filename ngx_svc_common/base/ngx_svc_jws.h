/*
 * JSON Web Signatures (RFC 7515), in their compact form.
 */

#ifndef _NGX_SVC_JWS_H_INCLUDED_
#define _NGX_SVC_JWS_H_INCLUDED_


#include "ngx_svc_base64.h"
#include "ngx_svc_jwk.h"


#define NGX_SVC_JWS_MAX        8192     /* bytes, of one that is read */
#define NGX_SVC_JWS_SIGNATURE  64       /* bytes, of all but RSA, */
#define NGX_SVC_JWS_RSA        256      /*     of what tenants sign by that, */
#define NGX_SVC_JWS_RSA_MAX    512      /*     and what clients do, at most */
#define NGX_SVC_JWS_INTEGER    9007199254740991LL    /* RFC 8259, 6 */

#define ngx_svc_jws_len(header_len, payload_len)                              \
    (ngx_svc_base64url_len(header_len) + 1                                    \
     + ngx_svc_base64url_len(payload_len) + 1                                 \
     + ngx_svc_base64url_len(NGX_SVC_JWS_SIGNATURE))


typedef struct {
    cJSON           *header;
    cJSON           *payload;
    ngx_str_t        typ;           /* no data: there is none, and below */
    ngx_str_t        kid;
    ngx_svc_jwa_e    alg;
    ngx_uint_t       algs;          /* that it may have, ngx_svc_jwa_bit() */
    ngx_str_t        signed_text;   /* a part of the text that was read */
    size_t           signature_len;
    u_char           signature[NGX_SVC_JWS_RSA_MAX];
    const char      *why;           /* NGX_DECLINED: "is ...", "has ..." */
} ngx_svc_jws_t;


/*
 * What signs with a private key of ngx_svc_jwk_private(), as often as wanted,
 * and holds the key; NULL when OpenSSL fails.  EVP_PKEY_CTX_free() frees it.
 */
NGX_SVC_API EVP_PKEY_CTX *ngx_svc_jws_signer(EVP_PKEY *key);

/*
 * ES256.  Writes header and payload, which are JSON, and signature; p has room
 * for ngx_svc_jws_len(header->len, payload->len) bytes, and all are written.
 * Returns what follows them; NULL when OpenSSL fails.
 */
NGX_SVC_API u_char *ngx_svc_jws_sign(EVP_PKEY_CTX *signer,
    const ngx_str_t *header, const ngx_str_t *payload, u_char *p);

/*
 * Takes one apart: three parts in base64url of one spelling; header and
 * payload JSON objects as ngx_svc_json_parse() admits, in memory of the pool;
 * an "alg" that ngx_svc_jwa() knows, but none of RSA, and no "crit" in the
 * header, typ and kid, if any, strings; and a signature of 64 bytes.  Verifies
 * nothing.
 *
 * NGX_OK; NGX_DECLINED with jws->why, which is ASCII without '"' and "\";
 * NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_parse(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_jws_t *jws);

/* The same of what tenants sign: RS256 besides, with a signature of 256. */
NGX_SVC_API ngx_int_t ngx_svc_jws_parse_signed(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_jws_t *jws);

/* And of what clients sign: PS256 as well, with a signature of 256 to 512. */
NGX_SVC_API ngx_int_t ngx_svc_jws_parse_client(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_jws_t *jws);

/*
 * NGX_OK: the key has signed it with alg.  NGX_DECLINED: it has not, or the
 * header has another one, or the key is for another one.  NGX_ERROR when
 * OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_verify(const ngx_svc_jws_t *jws,
    EVP_PKEY *key, ngx_svc_jwa_e alg);

/*
 * A member of a header or a payload.  A text is a string that ends with a NUL;
 * NGX_OK also when there is no such member, without data then.  A date is a
 * NumericDate (RFC 7519, 2), which may have a fraction: the whole seconds of
 * it, at most NGX_SVC_JWS_INTEGER, of either sign, in any notation.
 * NGX_DECLINED: it is none.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_text(const cJSON *json, const char *name,
    ngx_str_t *text);
NGX_SVC_API ngx_int_t ngx_svc_jws_date(const cJSON *json, const char *name,
    int64_t *seconds);


#endif /* _NGX_SVC_JWS_H_INCLUDED_ */
