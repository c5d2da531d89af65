/*
 * DPoP proofs of requests under /oauth (RFC 9449).
 */

#ifndef _NGX_SVC_OAUTH_PROOF_H_INCLUDED_
#define _NGX_SVC_OAUTH_PROOF_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * For a prepare, first of all: whatever answers a request with a proof has a
 * nonce for the next one.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof_nonce(ngx_svc_request_t *sr);

/* 1: the request has a proof, or what should be one. */
ngx_uint_t ngx_svc_oauth_proof_shown(ngx_svc_request_t *sr);

/*
 * For a prepare: o->jkt and o->once of the request's proof, or none of them.
 * token: what its "ath" is of; NULL: an "ath" is not looked at.  NGX_OK;
 * NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof(ngx_svc_oauth_t *o, const ngx_str_t *token);

/*
 * Adds what tells whether a proof is new that comes with the access token
 * o->token, behind the statement that sets its tenant: sr->op may write then.
 * bound: the token is ours and bound to the proof's key, which has turns of its
 * own then.
 * For its reply: by its result whether the proof is new, of a token that lives
 * and is bound to the proof's key.  NGX_OK; NGX_DECLINED with sr->error;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof_call_token(ngx_svc_oauth_t *o,
    ngx_uint_t bound);
ngx_int_t ngx_svc_oauth_proof_fresh_token(ngx_svc_oauth_t *o);

/*
 * Whether the opaque o->token lived with the proof's key when this worker saw
 * it last: 1 or 0, in *known.  And keeps that it lives, or does not.  NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof_known(ngx_svc_oauth_t *o, ngx_uint_t *known);
ngx_int_t ngx_svc_oauth_proof_keep(ngx_svc_oauth_t *o, ngx_uint_t lives);


/* A worker's start and end.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_proof_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_oauth_proof_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_PROOF_H_INCLUDED_ */
