/*
 * What the grant types of POST /oauth/token share.
 */

#ifndef _NGX_SVC_OAUTH_GRANT_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANT_H_INCLUDED_


#include "ngx_svc_oauth_issue.h"


/*
 * For a prepare: adds the client's login, and the statements of o->grant after
 * it.  before: a statement between the two; or NULL.  Returns as
 * ngx_svc_oauth_client_call() does.
 */
ngx_int_t ngx_svc_oauth_grant_calls(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *before);

/* The reply to those statements. */
ngx_int_t ngx_svc_oauth_grant_reply(ngx_svc_request_t *sr);

/*
 * For a grant's decide, and the replies after it, which return what this does:
 * runs those statements once more.
 */
ngx_int_t ngx_svc_oauth_grant_read(ngx_svc_oauth_t *o);

/*
 * Does the same because what was read has changed; after 7 times it answers
 * that the server is busy.
 */
ngx_int_t ngx_svc_oauth_grant_again(ngx_svc_oauth_t *o);

/* Makes the tenant's first key, and then does the same. */
ngx_int_t ngx_svc_oauth_grant_key(ngx_svc_oauth_t *o);

/* Counts a refusal, and answers by the verdict, see ngx_svc_oauth_refuse(). */
ngx_int_t ngx_svc_oauth_grant_refused(ngx_svc_oauth_t *o,
    const ngx_str_t *verdict, const ngx_str_t *allowed);

/* Answers with a token, which has to live as long as the request. */
ngx_int_t ngx_svc_oauth_grant_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token);

/*
 * For the calls of a second round trip: sets the tenant, reads the private key
 * o->kid if the worker lacks it, and adds the statement that gives a token.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_grant_give(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement);

/*
 * For the reply, when a token has been given: answers with it, as
 * ngx_svc_oauth_grant_send() does.
 */
ngx_int_t ngx_svc_oauth_grant_given(ngx_svc_oauth_t *o,
    ngx_svc_oauth_issued_t *token);


#endif /* _NGX_SVC_OAUTH_GRANT_H_INCLUDED_ */
