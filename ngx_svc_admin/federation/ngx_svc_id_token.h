/*
 * Tokens that other identity providers sign for us: ID tokens (OpenID Connect
 * Core 1.0, 3.1.3.7) and logout tokens (OpenID Connect Back-Channel Logout 1.0,
 * 2.6).
 */

#ifndef _NGX_SVC_ID_TOKEN_H_INCLUDED_
#define _NGX_SVC_ID_TOKEN_H_INCLUDED_


#include "ngx_svc_jws.h"


#define NGX_SVC_ID_TOKEN_DRIFT  60      /* seconds between two clocks */
#define NGX_SVC_ID_TOKEN_AGE    600     /* seconds since iat, at most */
#define NGX_SVC_ID_TOKEN_SUB    255     /* bytes of sub, sid, jti */
#define NGX_SVC_ID_TOKEN_TID    "{tenantid}"


/* What we know of the token before we see it; the members that are not said to
   be optional have at least one byte. */

typedef struct {
    ngx_str_t         issuer;       /* for Microsoft: "{tenantid}" stands in
                                       it for the token's tid */
    ngx_str_t         issuer_too;   /* another spelling; no data: none */
    ngx_str_t         client_id;
    ngx_str_t         nonce;        /* of ID tokens */
    ngx_str_t         access_token; /* no data: at_hash is not looked at */
    const ngx_str_t  *tids;         /* for Microsoft: those that are allowed,
                                       in lower case */
    ngx_uint_t        ntids;
    time_t            now;
    time_t            asked;        /* since when the person must have signed
                                       in there; 0: at any time */
    unsigned          tenant:1;     /* 1: Microsoft's rules for iss and tid */
    unsigned          no_nonce:1;   /* 1: a token without a nonce will do */
    unsigned          undated:1;    /* 1: a token without auth_time will do,
                                       even if "asked" is set */
} ngx_svc_id_token_expected_t;

/* A token, checked.  Its texts are in the pool. */

typedef struct {
    ngx_svc_jws_t     jws;
    ngx_str_t         key_issuer;   /* of Microsoft's keys; no data: none */
    const cJSON      *claims;
    ngx_str_t         sub;          /* no data: a logout token has none */
    ngx_str_t         sid;          /* no data: there is none */
    ngx_str_t         jti;          /* of logout tokens */
    time_t            auth_time;    /* never after now; 0: it is not said */
    const char       *why;          /* unless NGX_OK: "is ...", "has ..." */
} ngx_svc_id_token_t;


/*
 * Checks an ID token in this order: its form, "crit" and "alg", the key, the
 * signature, iss, aud, exp, iat, nbf, nonce, at_hash, sub, auth_time.  jwks: a
 * text of ngx_svc_oidc_jwks_keep(), or any key set.
 *
 * Returns NGX_OK; NGX_AGAIN with token->why when a newer key set may have the
 * key: the caller may fetch it once and call again, and takes a second
 * NGX_AGAIN for NGX_DECLINED; NGX_DECLINED with token->why, printable ASCII
 * without '"' and "\"; NGX_ERROR when memory runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_id_token_check(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, const ngx_svc_id_token_expected_t *expected,
    ngx_svc_id_token_t *token);

/*
 * Checks a logout token: as ngx_svc_id_token_check() does up to nbf, then
 * events, that there is no nonce, jti, and that there is a sub, a sid or both.
 * Whether jti is new is the caller's.  Returns the same.
 */
ngx_int_t ngx_svc_logout_token_check(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, const ngx_svc_id_token_expected_t *expected,
    ngx_svc_id_token_t *token);

/* Returns 1 if iss is issuer, with tid in place of NGX_SVC_ID_TOKEN_TID. */
ngx_uint_t ngx_svc_id_token_issued(const ngx_str_t *issuer,
    const ngx_str_t *tid, const ngx_str_t *iss);

/* Returns 1 if a claim is true or "true", as Apple writes it. */
ngx_uint_t ngx_svc_id_token_true(const cJSON *claims, const char *name);


#endif /* _NGX_SVC_ID_TOKEN_H_INCLUDED_ */
