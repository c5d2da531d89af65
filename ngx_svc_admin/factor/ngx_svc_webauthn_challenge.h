/*
 * Challenges of WebAuthn that are stored nowhere: a challenge itself tells
 * when, and for what, it was made.
 */

#ifndef _NGX_SVC_WEBAUTHN_CHALLENGE_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_CHALLENGE_H_INCLUDED_


#include "ngx_svc_crypto.h"


#define NGX_SVC_WEBAUTHN_CHALLENGE_LEN  32
#define NGX_SVC_WEBAUTHN_RP_ID_MAX      253         /* bytes */
#define NGX_SVC_WEBAUTHN_TIMEOUT        300000      /* ms, after it was made */


typedef enum {
    NGX_SVC_WEBAUTHN_SIGN_IN = 0,
    NGX_SVC_WEBAUTHN_REGISTER,
    NGX_SVC_WEBAUTHN_STEP_UP
} ngx_svc_webauthn_purpose_e;

/* The purpose of a ceremony, and where it takes place. */

typedef struct {
    ngx_svc_webauthn_purpose_e   purpose;
    ngx_str_t                    rp_id;     /* a host's name */
    ngx_str_t                    origin;    /* "https://<host>[:<port>]" */
    const u_char                *session;   /* its id, NGX_SVC_UUID_LEN bytes;
                                               NULL before sign-in */
    const u_char               (*keys)[NGX_SVC_KEY_LEN];
                                            /* derived for challenges: the
                                               first one makes, all verify */
    ngx_uint_t                   nkeys;
    uint64_t                     now;       /* ms since the epoch */
} ngx_svc_webauthn_ceremony_t;

/*
 * Keeps a challenge from being used twice: the hash is inserted, if it is not
 * there yet, in the transaction that acts on the challenge, and kept until that
 * expires.
 */

typedef struct {
    u_char                       hash[NGX_SVC_SHA256_LEN];
    uint64_t                     expires;   /* ms since the epoch */
} ngx_svc_webauthn_used_t;


/*
 * Makes a challenge for the ceremony, whose origin is not used.  Returns
 * NGX_OK; NGX_DECLINED when rp_id is empty or too long; NGX_ERROR when OpenSSL
 * fails.
 */
ngx_int_t ngx_svc_webauthn_challenge(
    const ngx_svc_webauthn_ceremony_t *ceremony,
    u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN]);

/*
 * Verifies a challenge.  Returns NGX_OK with *used set; NGX_DECLINED when it is
 * not one of this ceremony; NGX_DONE when it is, and is too old; NGX_ERROR when
 * OpenSSL fails.
 */
ngx_int_t ngx_svc_webauthn_challenge_verify(
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    ngx_svc_webauthn_used_t *used);


#endif /* _NGX_SVC_WEBAUTHN_CHALLENGE_H_INCLUDED_ */
