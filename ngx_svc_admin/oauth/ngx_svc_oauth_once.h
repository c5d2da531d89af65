/*
 * What is shown once only: DPoP proofs (RFC 9449, 11.1) and assertions of
 * clients (RFC 7523, 3).
 */

#ifndef _NGX_SVC_OAUTH_ONCE_H_INCLUDED_
#define _NGX_SVC_OAUTH_ONCE_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* 1: the request has shown one of them; the op that looks at it writes. */
#define ngx_svc_oauth_once_shown(o)                                           \
    ((o)->once.data || (o)->client.once.data)

/*
 * Adds, behind the login, what tells whether they have been shown before, and
 * spends them.  Nothing without one; once in a request.  _only, in front of
 * what writes, or has no verdict for it: an assertion that was shown before
 * makes the client unknown to all that is behind.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_once_call(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_once_call_only(ngx_svc_oauth_t *o);

/*
 * For a reply: sets o->proof_seen and o->assertion_seen of its op, in which the
 * login is the first call.  Of a client that is unknown nothing is spent.
 */
void ngx_svc_oauth_once_take(ngx_svc_oauth_t *o);

/* The op's login has found no client: another op looks at them. */
void ngx_svc_oauth_once_unspent(ngx_svc_oauth_t *o);

/* Says to the error log why an assertion is not good, and of whom. */
void ngx_svc_oauth_once_tell(ngx_svc_oauth_t *o, const char *why);


#endif /* _NGX_SVC_OAUTH_ONCE_H_INCLUDED_ */
