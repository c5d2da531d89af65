/*
 * The statement that finds a client by what it authenticates with.
 */

#ifndef _NGX_SVC_OAUTH_CLIENT_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLIENT_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * For a prepare: sets o->client.digest, by which the login statement finds the
 * client: here by its id alone.  Returns NGX_OK also when the client cannot be
 * one of ours: nothing is looked up then, see ngx_svc_oauth_client_call();
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_public(ngx_svc_oauth_t *o, const ngx_str_t *id);

/* Does the same by o->client.id and a secret of that kind. */
ngx_int_t ngx_svc_oauth_client_digest(ngx_svc_oauth_t *o,
    ngx_svc_application_login_e kind, const ngx_str_t *secret);

/*
 * Adds a login statement to sr->op, which waits in the client's backlog.
 * Returns NGX_OK; NGX_DECLINED with sr->error set: the client cannot be one of
 * ours; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_call(ngx_svc_oauth_t *o,
    ngx_svc_oauth_login_e login);

/*
 * Adds the login that is committed synchronously, and a statement after it.
 * Returns as ngx_svc_oauth_client_call() does.
 */
ngx_int_t ngx_svc_oauth_client_call_then(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement);

/*
 * Adds a statement, in place of a login, that sets the tenant to o->tenant,
 * which a login has found before.  The statement after it must check that the
 * client's row is as it was: whatever ends a login changes that row, too.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_tenant(ngx_svc_oauth_t *o);

/* For a reply: the result of the login of its op; NULL: it has none. */
#define ngx_svc_oauth_client_result(o)  ngx_svc_result((o)->sr, (o)->login)

/*
 * For a reply: reads the login's result.  Returns NGX_OK with o->tenant set;
 * NGX_DECLINED: the client is unknown, or its secret is wrong or retired;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_known(ngx_svc_oauth_t *o, PGresult *res);

/*
 * Sets sr->error to what an unknown client is answered.  Returns NGX_DECLINED.
 */
ngx_int_t ngx_svc_oauth_client_refuse(ngx_svc_oauth_t *o);

/*
 * Gets the slug of the tenant that the location, or the path, is for; empty:
 * any.  If the two differ, the slug is one that no tenant has.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_pinned(ngx_svc_request_t *sr, ngx_str_t *slug);

/*
 * Binds the slug of the location, the path or the assertion; NULL: any tenant.
 */
ngx_svc_bind_function(ngx_svc_oauth_client_bind_tenant);

/*
 * Binds three parameters, .n of 0 to 2: the address, the User-Agent and the
 * request's id.
 */
ngx_svc_bind_function(ngx_svc_oauth_client_bind_from);


#endif /* _NGX_SVC_OAUTH_CLIENT_H_INCLUDED_ */
