/*
 * What the routes of sign-in share.
 */

#ifndef _NGX_SVC_SIGNIN_H_INCLUDED_
#define _NGX_SVC_SIGNIN_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_password_queue.h"
#include "ngx_svc_session.h"
#include "ngx_svc_setting_param.h"


/* Parameters: the digest of the request's session, and of a new one. */

#define ngx_svc_param_session()                                               \
    { .bind = ngx_svc_signin_bind_session }
#define ngx_svc_param_new_session()                                           \
    { .bind = ngx_svc_signin_bind_new_session }


/*
 * A session has this method beside "passkey" when the passkey cannot be backed
 * up (RFC 8176, "hwk").  SQL removes it from what is shown to people, to whom
 * it is a passkey as any other.
 */

#define NGX_SVC_SIGNIN_HARDWARE  "hwk"


/* What svc.way_in_last() is answered with. */
#define NGX_SVC_WAY_IN_LAST  "There is no other way to sign in: add one first."


/* The key of a new session, in the request's pool.  It is first in sr->data. */

typedef struct {
    u_char           key[NGX_SVC_SESSION_KEY];
    u_char           hash[NGX_SVC_SHA256_LEN];
} ngx_svc_signin_key_t;


/*
 * ..._session reads what GET /v1/auth/session says of a session.  ..._rotate
 * makes a new session that goes on for the request's one, which it ends.
 * ..._logout ends the request's session.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_rotate;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_logout;


ngx_int_t ngx_svc_signin_bind_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_signin_bind_new_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* Makes the key of a new session of a tenant.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_signin_key(ngx_svc_signin_key_t *key,
    const u_char tenant[NGX_SVC_UUID_LEN]);

/*
 * For a check: makes sr->data, with the key of a new session of the same
 * tenant.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_signin_new_key(ngx_svc_request_t *sr);

/*
 * For a reply: send a row of ngx_svc_sql_signin_session with the CSRF token of
 * that key, and the route's status.  ngx_svc_signin_session_of() sends the
 * columns of n such rows as one object.
 */
ngx_int_t ngx_svc_signin_session_of(ngx_svc_request_t *sr, PGresult **results,
    ngx_uint_t n, const u_char key[NGX_SVC_SESSION_KEY]);
ngx_int_t ngx_svc_signin_session(ngx_svc_request_t *sr, PGresult *res,
    const u_char key[NGX_SVC_SESSION_KEY]);

/*
 * For a reply, which returns what this returns: posts a job, whose handler
 * finalizes the request, with data as the job's; or else answers 503 or 500.
 */
ngx_int_t ngx_svc_signin_post(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, ngx_svc_password_handler_pt handler,
    void *data);

/* For a reply: answers 503, as too many passwords wait to be hashed. */
ngx_int_t ngx_svc_signin_busy(ngx_svc_request_t *sr);

/* Adds "Cache-Control: no-store".  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_signin_no_store(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SIGNIN_H_INCLUDED_ */
