/*
 * WebAuthn Level 3, for passkeys: reads, checks and verifies registrations and
 * authentications that a browser has sent as JSON.  Uses no hardware and no
 * storage, and never waits.
 *
 * After NGX_OK a route must insert used.hash in the same transaction, and
 * refuse where it is already there.
 */

#ifndef _NGX_SVC_WEBAUTHN_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_json.h"
#include "ngx_svc_passkey.h"
#include "ngx_svc_webauthn_challenge.h"
#include "ngx_svc_webauthn_key.h"


#define NGX_SVC_WEBAUTHN_USER_LEN  64       /* bytes of a user handle */


/* An authentication, before and after its signature is verified. */

typedef struct {
    ngx_str_t                  id;          /* of the credential */
    ngx_str_t                  user;        /* the user handle; may be empty */
    uint32_t                   sign_count;
    unsigned                   be:1;
    unsigned                   bs:1;
    unsigned                   cloned:1;    /* 1: the counter went back */
    ngx_svc_webauthn_used_t    used;
    ngx_svc_webauthn_signed_t  data;
} ngx_svc_webauthn_assertion_t;


/*
 * Checks a RegistrationResponseJSON from ngx_svc_json_parse(), and fills
 * *passkey, whose strings are allocated from the pool.  The caller must find
 * out whether its id is already registered.
 *
 * Returns NGX_OK with *used set; NGX_DECLINED with err set, whose message
 * speaks of "credential"; NGX_DONE when the challenge is too old; NGX_ERROR
 * when there is no memory or OpenSSL fails.
 */
ngx_int_t ngx_svc_webauthn_register(ngx_pool_t *pool, cJSON *credential,
    const ngx_svc_webauthn_ceremony_t *ceremony, ngx_svc_passkey_t *passkey,
    ngx_svc_webauthn_used_t *used, ngx_svc_error_t *err);

/*
 * Reads whose an AuthenticationResponseJSON says that it is, and checks nothing
 * else of it: the id of the credential and the user handle, which may be empty,
 * both allocated from the pool.  Returns NGX_OK; NGX_DECLINED with err set;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_webauthn_claim(ngx_pool_t *pool, cJSON *credential,
    ngx_str_t *id, ngx_str_t *user, ngx_svc_error_t *err);

/*
 * Checks all of an AuthenticationResponseJSON that can be checked without the
 * passkey; *assertion then has the id and the user, and its strings are
 * allocated from the pool.  Returns what ngx_svc_webauthn_register() returns.
 */
ngx_int_t ngx_svc_webauthn_assertion(ngx_pool_t *pool, cJSON *credential,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    ngx_svc_webauthn_assertion_t *assertion, ngx_svc_error_t *err);

/*
 * Verifies an assertion that ngx_svc_webauthn_assertion() has passed, with the
 * same ceremony and the stored passkey of this id: the passkey's rp_id must be
 * the ceremony's, and its user that of the assertion, or of the session.
 *
 * Returns NGX_OK: sign_count and bs are to be stored; NGX_DECLINED: the
 * signature is not the passkey's, or the assertion's "may be backed up" differs
 * from the passkey's, or the passkey was cloned, and then assertion->cloned is
 * set; NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_webauthn_verify(ngx_svc_webauthn_assertion_t *assertion,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const ngx_svc_passkey_t *passkey);


#endif /* _NGX_SVC_WEBAUTHN_H_INCLUDED_ */
