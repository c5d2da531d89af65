/*
 * JSON Web Keys (RFC 7517) of those who sign: P-256 (RFC 7518, 6.2) and
 * Ed25519 (RFC 8037); for those of RSA see ngx_svc_jwk_rsa.h.
 */

#ifndef _NGX_SVC_JWK_H_INCLUDED_
#define _NGX_SVC_JWK_H_INCLUDED_


#include "ngx_svc_common.h"

#include <cjson/cJSON.h>
#include <openssl/evp.h>


#define NGX_SVC_JWK_THUMBPRINT  32
#define NGX_SVC_JWK_KID         43      /* characters */
#define NGX_SVC_JWK_DER         138     /* bytes, of P-256; */
#define NGX_SVC_JWK_DER_MAX     1280    /*     and of all, at most */
#define NGX_SVC_JWK_TEXT        512     /* likewise */


typedef enum {
    NGX_SVC_JWA_NONE = 0,
    NGX_SVC_JWA_ES256,
    NGX_SVC_JWA_EDDSA,              /* "EdDSA" and "Ed25519": one algorithm */
    NGX_SVC_JWA_RS256,              /* of keys of RSA; */
    NGX_SVC_JWA_PS256               /*     this one of clients' alone */
} ngx_svc_jwa_e;

/* An algorithm of a set of them. */
#define ngx_svc_jwa_bit(alg)  ((ngx_uint_t) 1 << (alg))


/* A new key, of P-256 or of RSA. */

typedef struct {
    u_char           der[NGX_SVC_JWK_DER_MAX];  /* private: PKCS#8, of RSA
                                                   PKCS#1 */
    size_t           der_len;
    u_char           kid[NGX_SVC_JWK_KID];      /* thumbprint, base64url */
    u_char           jwk[NGX_SVC_JWK_TEXT];     /* public: kty, crv, x, y, alg,
                                                   use, kid */
    size_t           jwk_len;
} ngx_svc_jwk_new_t;


/* The algorithm of that name, NGX_SVC_JWA_NONE for all but these five. */
NGX_SVC_API ngx_svc_jwa_e ngx_svc_jwa(const char *name);

/*
 * A public key.  Refused are private members, another kty or crv, "alg" or
 * "use" of something else, x or y that is not base64url of 32 bytes in its one
 * spelling, a point that is not on P-256, and those of Ed25519 that can be
 * written in two ways, or for which everybody can sign.  One that is not on
 * Ed25519 verifies nothing.
 *
 * NGX_OK: *key, which the caller frees, *alg, and the thumbprint (RFC 7638,
 * SHA-256) are set.  NGX_DECLINED: it is not such a key.  NGX_ERROR when
 * OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_public(const cJSON *jwk, EVP_PKEY **key,
    ngx_svc_jwa_e *alg, u_char thumbprint[NGX_SVC_JWK_THUMBPRINT]);

/*
 * Of P-256.  NGX_OK, or NGX_ERROR when OpenSSL fails.  The caller wipes
 * new->der, in either case.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_generate(ngx_svc_jwk_new_t *new);

/*
 * The private key of a DER of ngx_svc_jwk_generate(), for the caller to free.
 * NULL: it is none, in this very form, or OpenSSL fails.
 */
NGX_SVC_API EVP_PKEY *ngx_svc_jwk_private(const u_char *der, size_t len);

/*
 * Clears OpenSSL's errors, which nginx would take for those of a connection:
 * NGX_ERROR when memory ran out for one, and otherwise NGX_DECLINED.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_refused(void);

/* A member that is a string, or NULL; and 1: it is that one. */
NGX_SVC_API const char *ngx_svc_jwk_string(const cJSON *jwk,
    const char *name);
NGX_SVC_API ngx_uint_t ngx_svc_jwk_is(const cJSON *jwk, const char *name,
    const char *value);

/* 1: it has a member of a key that is private, or secret. */
NGX_SVC_API ngx_uint_t ngx_svc_jwk_private_members(const cJSON *jwk);

/* Whatever the type: NGX_DECLINED, it has what a key of alg has not. */
ngx_int_t ngx_svc_jwk_members(const cJSON *jwk, ngx_svc_jwa_e alg);

/* A number as OSSL_PARAM has it: in the byte order of the machine. */
ngx_int_t ngx_svc_jwk_native(const u_char *number, u_char *native, size_t len);

/*
 * A key of OpenSSL's type, of an array of OSSL_PARAM; selection: which halves
 * it has.  NGX_OK; NGX_DECLINED: OpenSSL does not take it; NGX_ERROR.
 */
ngx_int_t ngx_svc_jwk_of(const char *type, int selection, void *params,
    EVP_PKEY **key);

/*
 * Writes a key that was generated, and frees it; NULL: it was not.  NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_jwk_made(ngx_svc_jwk_new_t *new, EVP_PKEY *key,
    ngx_int_t (*write)(ngx_svc_jwk_new_t *new, EVP_PKEY *key));


#endif /* _NGX_SVC_JWK_H_INCLUDED_ */
