/*
 * Tokens that are presented: in a form, by a client that asks about them; and
 * to a request that writes, which must know before whether they are forged.
 */

#ifndef _NGX_SVC_OAUTH_PRESENTED_H_INCLUDED_
#define _NGX_SVC_OAUTH_PRESENTED_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/*
 * Takes the form of a client, with "token" as o->token.  Call it in a prepare.
 * Returns NGX_OK; NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_presented_take(ngx_svc_request_t *sr,
    ngx_svc_oauth_t **o);

/*
 * Calls send() with the statement's result, if the client is known and the row
 * has no "_verdict"; else refuses the client.  Call it in the reply, which
 * returns what this returns.
 */
ngx_int_t ngx_svc_oauth_presented_answer(ngx_svc_oauth_t *o, PGresult *res,
    ngx_int_t (*send)(ngx_svc_oauth_t *o, PGresult *res));

/*
 * Tells whether the signature of a JWT is good, by this key if the worker does
 * not know it.  Call it in a reply.  Returns NGX_OK, also for other kinds of
 * tokens; NGX_DECLINED: it is not good, or there is no key; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_presented_verify(ngx_svc_oauth_t *o,
    ngx_svc_oauth_bearer_t *bearer, const ngx_str_t *jwk);

/* Makes a forged token one of the kind _NONE, which is never found. */
void ngx_svc_oauth_presented_forget(ngx_svc_oauth_bearer_t *bearer);

/*
 * Verifies the signature of o->token, and forgets the token if it is forged.
 * Then calls calls(), which adds the op's calls; reply() is their reply.  If
 * the worker does not know the key of a JWT, a round trip before that gets it
 * from the client's tenant.  Call it in a prepare, which returns what this
 * returns.
 */
ngx_int_t ngx_svc_oauth_presented(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_OAUTH_PRESENTED_H_INCLUDED_ */
