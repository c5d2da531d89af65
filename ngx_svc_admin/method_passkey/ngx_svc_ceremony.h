/*
 * Ceremonies of WebAuthn: the site where one takes place, and the keys of its
 * challenge; and passkeys as PostgreSQL has them.
 */

#ifndef _NGX_SVC_CEREMONY_H_INCLUDED_
#define _NGX_SVC_CEREMONY_H_INCLUDED_


#include "ngx_svc_ceremony.row.h"
#include "ngx_svc_factor.h"
#include "ngx_svc_webauthn.h"


/* A ceremony of a session, and its user's passkeys of that site. */

typedef struct {
    ngx_svc_webauthn_ceremony_t  ceremony;
    u_char                       session[NGX_SVC_UUID_LEN];
    ngx_str_t                    display_name;  /* in the result */
    ngx_uint_t                   n;
    ngx_svc_passkey_t            passkeys[NGX_SVC_FACTORS];
} ngx_svc_ceremony_own_t;


/* Reads what ngx_svc_ceremony_own() takes. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_ceremony_own;


/*
 * An assertion, and what ngx_svc_ceremony_presented() makes of it to be
 * stored.
 */

typedef struct {
    ngx_svc_webauthn_assertion_t  assertion;
    ngx_str_t                     id;       /* digest of the passkey's id */
    ngx_str_t                     used;     /* digest of the challenge */
    ngx_str_t                     expires;  /* text: ms since the epoch */
    ngx_str_t                     count;    /* text: the sign count */
    ngx_str_t                     bs;       /* text: a boolean */
    u_char                        digest[NGX_SVC_SHA256_LEN];
    u_char                        text[2 * NGX_INT64_LEN];
} ngx_svc_ceremony_presented_t;


/*
 * Call these at the start and at the end of a worker: they make and wipe the
 * keys of challenges.  _init_worker() returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_ceremony_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_ceremony_exit_worker(void);

/*
 * Sets the ceremony that a request is part of, but not its session; the strings
 * live as long as the request.  by_domain: 1: the Host is a verified domain of
 * the tenant, and the site; 0: the site is that of svc_base_url.
 *
 * Returns NGX_OK; NGX_DECLINED with sr->error set when browsers make no
 * passkeys at that site; NGX_ERROR.
 */
ngx_int_t ngx_svc_ceremony(ngx_svc_request_t *sr,
    ngx_svc_webauthn_purpose_e purpose, ngx_uint_t by_domain,
    ngx_svc_webauthn_ceremony_t *ceremony);

/*
 * Sets the ceremony of a session and its user's passkeys by a result of
 * ngx_svc_sql_ceremony_own.  Returns as ngx_svc_ceremony().
 */
ngx_int_t ngx_svc_ceremony_own(ngx_svc_request_t *sr,
    ngx_svc_webauthn_purpose_e purpose, PGresult *res,
    ngx_svc_ceremony_own_t *own);

/*
 * Tells whether browsers make passkeys at the site of svc_base_url, or at the
 * tenant's domain, which the column "_by_domain" says is verified.
 */
ngx_uint_t ngx_svc_ceremony_offered(ngx_svc_request_t *sr, PGresult *res);

/* Tells the same.  by_domain: as for ngx_svc_ceremony(). */
ngx_uint_t ngx_svc_ceremony_possible(ngx_svc_request_t *sr,
    ngx_uint_t by_domain);

/*
 * Reads a passkey into the pool; it has no id where the row has none.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_ceremony_passkey(ngx_pool_t *pool,
    const ngx_svc_row_passkey_stored_t *row, ngx_svc_passkey_t *passkey);

/* Binds a number as text.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_ceremony_bind_number(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, uint64_t n);

/*
 * Makes what is stored of an assertion that has been verified.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_ceremony_presented(ngx_svc_ceremony_presented_t *presented);

/* Writes when a challenge of the ceremony expires, as "expiresAt". */
void ngx_svc_ceremony_expires(ngx_svc_json_writer_t *w,
    const ngx_svc_webauthn_ceremony_t *ceremony);


#endif /* _NGX_SVC_CEREMONY_H_INCLUDED_ */
