/*
 * DPoP proofs of requests under /oauth (RFC 9449).
 */

#ifndef _NGX_SVC_OAUTH_PROOF_H_INCLUDED_
#define _NGX_SVC_OAUTH_PROOF_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Gives the answer to a request with a proof a nonce for the next proof.  Call
 * it first in a prepare, so that every answer has one, an error's, too.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof_nonce(ngx_svc_request_t *sr);

/* Returns 1 if the request has a DPoP header, with a good proof or not. */
ngx_uint_t ngx_svc_oauth_proof_presented(ngx_svc_request_t *sr);

/*
 * Checks the request's proof, and sets o->jkt and o->once; without a proof they
 * have no data.  token: the access token that "ath" must be the hash of; NULL:
 * "ath" is not looked at.  Call it in a prepare.  Returns NGX_OK; NGX_DECLINED
 * with sr->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof(ngx_svc_oauth_t *o, const ngx_str_t *token);

/*
 * _call_token() adds the call that spends a proof that comes with the access
 * token o->token, and makes sr->op one that writes.  Call it behind the call
 * that sets the tenant.  bound: the token is known to be ours and to be bound
 * to the proof's key, which has a backlog of its own then.
 *
 * _fresh_token() tells from the result whether the proof is new, and the token
 * lives and is bound to the proof's key.  Call it in the reply.
 *
 * Both return NGX_OK; NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof_call_token(ngx_svc_oauth_t *o,
    ngx_uint_t bound);
ngx_int_t ngx_svc_oauth_proof_fresh_token(ngx_svc_oauth_t *o);

/*
 * _known() sets *known to 1 if the opaque o->token lived, and was bound to the
 * proof's key, when this worker saw it last; else to 0.  _keep() remembers
 * whether it does.  Both return NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof_known(ngx_svc_oauth_t *o, ngx_uint_t *known);
ngx_int_t ngx_svc_oauth_proof_keep(ngx_svc_oauth_t *o, ngx_uint_t lives);


/*
 * Call these at the start and at the end of a worker.  _init_worker() returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_proof_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_oauth_proof_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_PROOF_H_INCLUDED_ */
