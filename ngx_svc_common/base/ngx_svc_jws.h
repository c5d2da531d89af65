/*
 * JSON Web Signatures (RFC 7515), in their compact form.
 */

#ifndef _NGX_SVC_JWS_H_INCLUDED_
#define _NGX_SVC_JWS_H_INCLUDED_


#include "ngx_svc_base64.h"
#include "ngx_svc_jwk.h"


#define NGX_SVC_JWS_MAX        8192     /* bytes of a JWS that is read */
#define NGX_SVC_JWS_SIGNATURE  64       /* bytes, but for RSA and ES384 */
#define NGX_SVC_JWS_ES384      96       /* bytes of a signature by ES384 */
#define NGX_SVC_JWS_RSA        256      /* bytes of a tenant's RSA signature */
#define NGX_SVC_JWS_RSA_MAX    512      /* bytes of a client's, at most */
#define NGX_SVC_JWS_INTEGER    9007199254740991LL    /* RFC 8259, 6 */

/* bytes of a foreign JWS, and of its RSA signature, at most */
#define NGX_SVC_JWS_FOREIGN_MAX  16384
#define NGX_SVC_JWS_FOREIGN_RSA  1024

#define ngx_svc_jws_len(header_len, payload_len)                              \
    (ngx_svc_base64url_len(header_len) + 1                                    \
     + ngx_svc_base64url_len(payload_len) + 1                                 \
     + ngx_svc_base64url_len(NGX_SVC_JWS_SIGNATURE))


typedef struct {
    cJSON           *header;
    cJSON           *payload;
    ngx_str_t        typ;           /* no data: there is none */
    ngx_str_t        kid;           /* no data: there is none */
    ngx_svc_jwa_e    alg;
    ngx_str_t        signed_text;   /* a part of the text that was read */
    u_char          *signature;     /* of the pool */
    size_t           signature_len;
    const char      *why;           /* with NGX_DECLINED: "is ...", "has ..." */
} ngx_svc_jws_t;


/*
 * Makes a context that signs any number of times with a private key of
 * ngx_svc_jwk_private(), of which it holds a reference.  Returns NULL when
 * OpenSSL fails.  EVP_PKEY_CTX_free() frees it.
 */
NGX_SVC_API EVP_PKEY_CTX *ngx_svc_jws_signer(EVP_PKEY *key);

/*
 * Signs by ES256.  Writes header and payload, which are JSON, and the
 * signature; p has room for ngx_svc_jws_len(header->len, payload->len) bytes,
 * and all are written.  Returns what follows them, or NULL when OpenSSL fails.
 */
NGX_SVC_API u_char *ngx_svc_jws_sign(EVP_PKEY_CTX *signer,
    const ngx_str_t *header, const ngx_str_t *payload, u_char *p);

/*
 * Parses a JWS, and verifies nothing.  It has three parts in base64url of one
 * spelling.  Header and payload are JSON objects that ngx_svc_json_parse()
 * admits, in memory of the pool.  The header has an "alg" that ngx_svc_jwa()
 * knows, but not one for RSA or ES384, and no "crit"; its typ and kid, if any,
 * are strings.  The signature has 64 bytes.
 *
 * Returns NGX_OK; NGX_DECLINED with jws->why, which is ASCII without '"' and
 * "\"; or NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_parse(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_jws_t *jws);

/* Does the same for what tenants sign: takes RS256, too, with 256 bytes. */
NGX_SVC_API ngx_int_t ngx_svc_jws_parse_signed(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_jws_t *jws);

/*
 * Does the same for what clients sign: takes RS256 and PS256, too, with 256 to
 * 512 bytes.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_parse_client(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_jws_t *jws);

/*
 * Does the same for what other identity providers sign: takes texts of 16,384
 * bytes, RS256 and PS256 with 256 to 1,024 bytes, and ES384 with 96.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_parse_foreign(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_jws_t *jws);

/*
 * Verifies a signature.  Returns NGX_OK when the key has signed by alg;
 * NGX_DECLINED when it has not, or when the header or the key is for another
 * algorithm; or NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_verify(const ngx_svc_jws_t *jws,
    EVP_PKEY *key, ngx_svc_jwa_e alg);

/*
 * Reads a string, which ends with a NUL, from a header or a payload.  Returns
 * NGX_OK, with text->data NULL when there is no such member; or NGX_DECLINED
 * when the member is no string.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_text(const cJSON *json, const char *name,
    ngx_str_t *text);

/*
 * Reads a NumericDate (RFC 7519, 2) from a header or a payload, which may have
 * a sign, a fraction and an exponent; seconds: its whole seconds, at most
 * NGX_SVC_JWS_INTEGER.  Returns NGX_OK, or NGX_DECLINED when there is none.
 */
NGX_SVC_API ngx_int_t ngx_svc_jws_date(const cJSON *json, const char *name,
    int64_t *seconds);


#endif /* _NGX_SVC_JWS_H_INCLUDED_ */
