/*
 * What may be presented only once: DPoP proofs (RFC 9449, 11.1) and assertions
 * of clients (RFC 7523, 3).
 */

#ifndef _NGX_SVC_OAUTH_ONCE_H_INCLUDED_
#define _NGX_SVC_OAUTH_ONCE_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * 1: the request has presented one of them, and the op that looks at it writes.
 */
#define ngx_svc_oauth_once_presented(o)                                       \
    ((o)->once.data || (o)->client.once.data)

/*
 * Add the call that tells whether a proof and an assertion have been presented
 * before, and that spends them.  Call one of them behind the login.  They add
 * nothing if the request has presented neither, or if an earlier op of it has
 * spent them.  _only() is for calls behind it that write, or that have no
 * verdict for an assertion that was presented before: the client is unknown to
 * these calls then.  Both return NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_once_call(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_once_call_only(ngx_svc_oauth_t *o);

/*
 * Sets o->proof_seen and o->assertion_seen from the results of the op.  Call it
 * in the reply.  A client that is unknown spends nothing.
 */
void ngx_svc_oauth_once_take(ngx_svc_oauth_t *o);

/*
 * Forgets that they are spent: the op's login has found no client, and another
 * op of the request will look at them.
 */
void ngx_svc_oauth_once_unspent(ngx_svc_oauth_t *o);

/* Logs which client's assertion is refused, and why. */
void ngx_svc_oauth_once_tell(ngx_svc_oauth_t *o, const char *why);


#endif /* _NGX_SVC_OAUTH_ONCE_H_INCLUDED_ */
