/*
 * What the grant types of POST /oauth/token share.
 */

#ifndef _NGX_SVC_OAUTH_GRANT_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANT_H_INCLUDED_


#include "ngx_svc_oauth_issue.h"


/*
 * For a prepare: the statements of o->grant behind the client's.  before: one
 * that runs in front of them; or NULL.
 */
ngx_int_t ngx_svc_oauth_grant_calls(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *before);

/* Their reply. */
ngx_int_t ngx_svc_oauth_grant_reply(ngx_svc_request_t *sr);

/*
 * For a grant's decide, and the replies behind it, which return what these do.
 * _read: asks the grant's statement once more.  _again: the same, when what was
 * read has changed, 8 times at most.  _key: the same when the tenant's first key
 * has been made.  _refused: of a verdict, see ngx_svc_oauth_refuse().  _send:
 * answers with a token, which lives as long as the request.
 */
ngx_int_t ngx_svc_oauth_grant_read(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_grant_again(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_grant_key(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_grant_refused(ngx_svc_oauth_t *o,
    const ngx_str_t *verdict, const ngx_str_t *allowed);
ngx_int_t ngx_svc_oauth_grant_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token);

/*
 * For the calls of a second trip: what gives a token, behind the tenant and the
 * private key o->kid, if the worker lacks that.  NGX_OK or NGX_ERROR.  _given:
 * for its reply, when there is one: answers with it, as _send does.
 */
ngx_int_t ngx_svc_oauth_grant_give(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement);
ngx_int_t ngx_svc_oauth_grant_given(ngx_svc_oauth_t *o,
    ngx_svc_oauth_issued_t *token);


#endif /* _NGX_SVC_OAUTH_GRANT_H_INCLUDED_ */
