/*
 * WebAuthn Level 3, for passkeys: registrations and authentications that a
 * browser has sent as JSON are read, checked and verified.  No hardware, no
 * storage, no waiting.
 *
 * What else a route has to do with an answer that is NGX_OK: insert
 * used.hash in the same transaction, and refuse where it is already there.
 */

#ifndef _NGX_SVC_WEBAUTHN_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_json.h"
#include "ngx_svc_passkey.h"
#include "ngx_svc_webauthn_challenge.h"
#include "ngx_svc_webauthn_key.h"


#define NGX_SVC_WEBAUTHN_USER_LEN  64       /* a user handle, at most */


/* An answer to a request, before and after its signature is verified. */

typedef struct {
    ngx_str_t                  id;          /* of the credential */
    ngx_str_t                  user;        /* its user handle; may be empty */
    uint32_t                   sign_count;
    unsigned                   be:1;
    unsigned                   bs:1;
    unsigned                   cloned:1;    /* the counter went backwards */
    ngx_svc_webauthn_used_t    used;
    ngx_svc_webauthn_signed_t  data;
} ngx_svc_webauthn_assertion_t;


/*
 * A RegistrationResponseJSON, from ngx_svc_json_parse(): checks it, and fills
 * *passkey, whose strings are the pool's.  Whether its id is registered already
 * is for the caller to find out.
 *
 * NGX_OK with *used set; NGX_DECLINED with err set, whose message speaks of
 * "credential"; NGX_DONE: the challenge is too old; NGX_ERROR when memory runs
 * out or OpenSSL fails.
 */
ngx_int_t ngx_svc_webauthn_register(ngx_pool_t *pool, cJSON *credential,
    const ngx_svc_webauthn_ceremony_t *ceremony, ngx_svc_passkey_t *passkey,
    ngx_svc_webauthn_used_t *used, ngx_svc_error_t *err);

/*
 * Whose an AuthenticationResponseJSON says to be, of which nothing else has
 * been looked at: the id of the credential and the user handle, which may be
 * empty, both of the pool.  NGX_OK; NGX_DECLINED with err set; NGX_ERROR.
 */
ngx_int_t ngx_svc_webauthn_claim(ngx_pool_t *pool, cJSON *credential,
    ngx_str_t *id, ngx_str_t *user, ngx_svc_error_t *err);

/*
 * An AuthenticationResponseJSON: all that can be checked without the passkey,
 * of which *assertion then says the id and the user; its strings are the
 * pool's.  Results as above.
 */
ngx_int_t ngx_svc_webauthn_assertion(ngx_pool_t *pool, cJSON *credential,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    ngx_svc_webauthn_assertion_t *assertion, ngx_svc_error_t *err);

/*
 * Verifies what ngx_svc_webauthn_assertion() has passed, of the same ceremony,
 * with the stored passkey of this id: its rp_id must be the ceremony's, and its
 * user that of the assertion, or of the session.
 *
 * NGX_OK: sign_count and bs are to be stored.  NGX_DECLINED: the signature is
 * not the passkey's, or it says now that it may be backed up, or not any more,
 * or it was cloned, and then assertion->cloned is set.  NGX_ERROR when memory
 * runs out.
 */
ngx_int_t ngx_svc_webauthn_verify(ngx_svc_webauthn_assertion_t *assertion,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const ngx_svc_passkey_t *passkey);


#endif /* _NGX_SVC_WEBAUTHN_H_INCLUDED_ */
