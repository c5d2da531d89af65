/*
 * Tokens that are shown: in a form by a client that asks of them, and to a
 * write, which must know beforehand whether one is forged.
 */

#ifndef _NGX_SVC_OAUTH_SHOWN_H_INCLUDED_
#define _NGX_SVC_OAUTH_SHOWN_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/*
 * For a prepare: the form of a client with its "token", as o->token.  NGX_OK;
 * NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_shown_take(ngx_svc_request_t *sr,
    ngx_svc_oauth_t **o);

/*
 * For its reply: sends, of the row of its statement, when the client is known
 * and there is no "_verdict"; else that it is no client.  Returns what send
 * does.
 */
ngx_int_t ngx_svc_oauth_shown_answer(ngx_svc_oauth_t *o, PGresult *res,
    ngx_int_t (*send)(ngx_svc_oauth_t *o, PGresult *res));

/*
 * For a reply: whether the signature of a JWT is good, by the key that is in a
 * column when the worker does not know it.  NGX_OK, of other kinds, too;
 * NGX_DECLINED: it is not, or there is no key; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_shown_verify(ngx_svc_oauth_t *o,
    ngx_svc_oauth_bearer_t *bearer, PGresult *res, const char *column);

/* What does not verify is like nothing: _NONE without an id. */
void ngx_svc_oauth_shown_forget(ngx_svc_oauth_bearer_t *bearer);

/*
 * For a prepare, of o->token: calls adds the op's statements, of which reply is
 * the reply, when the signature has been looked at; a token that is forged is
 * forgotten then.  When the worker does not know the key of a JWT a round trip
 * gets it before, from the client's tenant.  Returns what calls does.
 */
ngx_int_t ngx_svc_oauth_shown(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_OAUTH_SHOWN_H_INCLUDED_ */
