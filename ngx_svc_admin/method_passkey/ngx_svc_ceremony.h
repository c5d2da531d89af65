/*
 * Ceremonies of WebAuthn: at which site one takes place, and the keys of its
 * challenge; and passkeys as PostgreSQL has them.
 */

#ifndef _NGX_SVC_CEREMONY_H_INCLUDED_
#define _NGX_SVC_CEREMONY_H_INCLUDED_


#include "ngx_svc_factor.h"
#include "ngx_svc_webauthn.h"


/* Of a session: its ceremony, and the user's passkeys of that site. */

typedef struct {
    ngx_svc_webauthn_ceremony_t  ceremony;
    u_char                       session[NGX_SVC_UUID_LEN];
    ngx_str_t                    display_name;  /* of the result */
    ngx_uint_t                   n;
    ngx_svc_passkey_t            passkeys[NGX_SVC_FACTORS];
} ngx_svc_ceremony_own_t;


/* For ngx_svc_ceremony_own(). */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_ceremony_own;


/* What a passkey has shown, as it is stored, after ngx_svc_ceremony_shown(). */

typedef struct {
    ngx_svc_webauthn_assertion_t  assertion;
    ngx_str_t                     id;       /* digest of the passkey's */
    ngx_str_t                     used;     /* digest of the challenge */
    ngx_str_t                     expires;  /* texts: ms since the epoch, */
    ngx_str_t                     count;    /* a number, */
    ngx_str_t                     bs;       /* a boolean */
    u_char                        digest[NGX_SVC_SHA256_LEN];
    u_char                        text[2 * NGX_INT64_LEN];
} ngx_svc_ceremony_shown_t;


/* A worker's start and end: the keys of challenges.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_ceremony_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_ceremony_exit_worker(void);

/*
 * The ceremony that a request is part of, without a session's id, whose strings
 * are the request's.  by_domain: the Host is a verified domain of the tenant,
 * and then the site; otherwise that is svc_base_url's.
 *
 * NGX_OK; NGX_DECLINED with sr->error: a browser makes no passkeys there;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_ceremony(ngx_svc_request_t *sr,
    ngx_svc_webauthn_purpose_e purpose, ngx_uint_t by_domain,
    ngx_svc_webauthn_ceremony_t *ceremony);

/* Of a session, by a result of ngx_svc_sql_ceremony_own; likewise. */
ngx_int_t ngx_svc_ceremony_own(ngx_svc_request_t *sr,
    ngx_svc_webauthn_purpose_e purpose, PGresult *res,
    ngx_svc_ceremony_own_t *own);

/* Binds whether a browser makes passkeys for the site of svc_base_url. */
ngx_int_t ngx_svc_ceremony_bind_possible(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * A passkey from the columns of ceremony_own, whose strings are the pool's;
 * without an id where these are NULL.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_ceremony_passkey(ngx_pool_t *pool, PGresult *res, int row,
    ngx_svc_passkey_t *passkey);

/* Adds a number as text.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_ceremony_bind_number(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, uint64_t n);

/* Of an assertion that has been verified.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_ceremony_shown(ngx_svc_ceremony_shown_t *shown);

/* Writes when a challenge of the ceremony is too old, as "expiresAt". */
void ngx_svc_ceremony_expires(ngx_svc_json_writer_t *w,
    const ngx_svc_webauthn_ceremony_t *ceremony);


#endif /* _NGX_SVC_CEREMONY_H_INCLUDED_ */
