/*
 * The statement that finds a client, by what it has proved itself with.
 */

#ifndef _NGX_SVC_OAUTH_CLIENT_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLIENT_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * For a prepare: sets o->client.digest, by which the login statement finds the
 * client: by an id alone, or by o->client.id and, of that kind, a secret.
 * NGX_OK also when it cannot be one of ours: nothing is looked up then, see
 * ngx_svc_oauth_client_call(); NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_public(ngx_svc_oauth_t *o, const ngx_str_t *id);
ngx_int_t ngx_svc_oauth_client_digest(ngx_svc_oauth_t *o,
    ngx_svc_application_login_e kind, const ngx_str_t *secret);

/*
 * Adds a login statement to sr->op, whose turn it will be.  NGX_DECLINED with
 * sr->error: it cannot be one of ours; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_call(ngx_svc_oauth_t *o,
    ngx_svc_oauth_login_e login);

/* The login that is committed synchronously, and one statement behind it. */
ngx_int_t ngx_svc_oauth_client_call_then(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement);

/*
 * In place of a login: sets o->tenant, which one has found before.  What is
 * behind it asks of the client's row whether that is as it was: whatever ends
 * a login changes that as well.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_tenant(ngx_svc_oauth_t *o);

/* For a reply: the result of the login of its op; NULL: it has none. */
#define ngx_svc_oauth_client_result(o)  ngx_svc_result((o)->sr, (o)->login)

/*
 * For a reply: of the login's result.  NGX_OK with o->tenant;
 * NGX_DECLINED: it is unknown, or its secret is wrong, or retired; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_known(ngx_svc_oauth_t *o, PGresult *res);

/* Sets sr->error to what an unknown client gets.  NGX_DECLINED. */
ngx_int_t ngx_svc_oauth_client_refuse(ngx_svc_oauth_t *o);

/*
 * The slug of the tenant that a location, or the path, is for; empty: any.  No
 * tenant has the one where the two are not the same.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_pinned(ngx_svc_request_t *sr, ngx_str_t *slug);

/* Parameters: of a location, a path or an assertion the slug; NULL: any. */
ngx_svc_bind_function(ngx_svc_oauth_client_bind_tenant);

/* Three of them, .n of 0 to 2: the address, the User-Agent, the request's id. */
ngx_svc_bind_function(ngx_svc_oauth_client_bind_from);


#endif /* _NGX_SVC_OAUTH_CLIENT_H_INCLUDED_ */
