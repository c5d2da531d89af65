/*
 * JSON Web Keys (RFC 7517) for signatures: P-256 (RFC 7518, 6.2) and Ed25519
 * (RFC 8037).  RSA is in ngx_svc_jwk_rsa.h.
 */

#ifndef _NGX_SVC_JWK_H_INCLUDED_
#define _NGX_SVC_JWK_H_INCLUDED_


#include "ngx_svc_common.h"

#include <cjson/cJSON.h>
#include <openssl/evp.h>


#define NGX_SVC_JWK_THUMBPRINT  32
#define NGX_SVC_JWK_KID         43      /* characters */
#define NGX_SVC_JWK_DER         138     /* bytes of a P-256 key */
#define NGX_SVC_JWK_DER_MAX     1280    /* bytes of any key, at most */
#define NGX_SVC_JWK_TEXT        512     /* bytes of any JWK, at most */


typedef enum {
    NGX_SVC_JWA_NONE = 0,
    NGX_SVC_JWA_ES256,
    NGX_SVC_JWA_EDDSA,              /* "EdDSA" and "Ed25519": one algorithm */
    NGX_SVC_JWA_RS256,
    NGX_SVC_JWA_PS256,              /* neither we nor tenants sign by it */
    NGX_SVC_JWA_ES384               /* only foreign identity providers sign
                                       by this one */
} ngx_svc_jwa_e;

/* The bit of an algorithm in a set of them. */
#define ngx_svc_jwa_bit(alg)  ((ngx_uint_t) 1 << (alg))


/* A new key for P-256 or RSA. */

typedef struct {
    u_char           der[NGX_SVC_JWK_DER_MAX];  /* private: PKCS#8, or PKCS#1
                                                   for RSA */
    size_t           der_len;
    u_char           kid[NGX_SVC_JWK_KID];      /* thumbprint, base64url */
    u_char           jwk[NGX_SVC_JWK_TEXT];     /* public: kty, crv, x, y, alg,
                                                   use, kid */
    size_t           jwk_len;
} ngx_svc_jwk_new_t;


/*
 * Returns the algorithm with that name, NGX_SVC_JWA_NONE for all names but the
 * six above.
 */
NGX_SVC_API ngx_svc_jwa_e ngx_svc_jwa(const char *name);

/*
 * Reads a public key.  Declines private members, another kty or crv, another
 * "alg" or "use", an x or y that is not base64url of 32 bytes in its one
 * spelling, a point that is not on P-256, and points of Ed25519 that can be
 * written in two ways, or for which everybody can sign.  A point that is not on
 * Ed25519 verifies nothing.
 *
 * Returns NGX_OK with *key, which the caller frees, *alg, and the thumbprint
 * (RFC 7638, SHA-256) set; NGX_DECLINED when it is no such key; or NGX_ERROR
 * when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_public(const cJSON *jwk, EVP_PKEY **key,
    ngx_svc_jwa_e *alg, u_char thumbprint[NGX_SVC_JWK_THUMBPRINT]);

/*
 * Generates a key for P-256.  Returns NGX_OK, or NGX_ERROR when OpenSSL fails.
 * The caller wipes new->der in either case.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_generate(ngx_svc_jwk_new_t *new);

/*
 * Reads a private key from a DER of ngx_svc_jwk_generate(); the caller frees
 * the key.  Returns NULL when the DER has not exactly this form, or OpenSSL
 * fails.
 */
NGX_SVC_API EVP_PKEY *ngx_svc_jwk_private(const u_char *der, size_t len);

/*
 * Clears OpenSSL's errors, which nginx would take for errors of a connection.
 * Returns NGX_ERROR when one of them is that memory ran out, and otherwise
 * NGX_DECLINED.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_refused(void);

/* Returns the value of a member that is a string, or NULL. */
NGX_SVC_API const char *ngx_svc_jwk_string(const cJSON *jwk,
    const char *name);

/* Returns 1 if a member is that string. */
NGX_SVC_API ngx_uint_t ngx_svc_jwk_is(const cJSON *jwk, const char *name,
    const char *value);

/* Returns 1 if a JWK has a member that only private or secret keys have. */
NGX_SVC_API ngx_uint_t ngx_svc_jwk_private_members(const cJSON *jwk);

/*
 * Checks the members that all types of keys have.  Returns NGX_OK, or
 * NGX_DECLINED when the key is private, or its "alg" or "use" is not for
 * signatures by alg.
 */
ngx_int_t ngx_svc_jwk_members(const cJSON *jwk, ngx_svc_jwa_e alg);

/*
 * Reads a coordinate of a point, which is base64url of len bytes, 48 at most.
 * Returns NGX_OK or NGX_DECLINED.
 */
ngx_int_t ngx_svc_jwk_coordinate(const cJSON *jwk, const char *name,
    u_char *out, size_t len);

/*
 * Writes a number as OSSL_PARAM has it, in the byte order of the machine.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_jwk_native(const u_char *number, u_char *native, size_t len);

/*
 * Makes a key of OpenSSL's type from an array of OSSL_PARAM.  selection: the
 * halves that it has.  Returns NGX_OK; NGX_DECLINED when OpenSSL does not take
 * the parameters; or NGX_ERROR.
 */
ngx_int_t ngx_svc_jwk_of(const char *type, int selection, void *params,
    EVP_PKEY **key);

/*
 * Writes a generated key into *new, and frees it; NULL: generating it has
 * failed.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_jwk_made(ngx_svc_jwk_new_t *new, EVP_PKEY *key,
    ngx_int_t (*write)(ngx_svc_jwk_new_t *new, EVP_PKEY *key));


#endif /* _NGX_SVC_JWK_H_INCLUDED_ */
