/*
 * What the routes of sign-in share.
 */

#ifndef _NGX_SVC_SIGNIN_H_INCLUDED_
#define _NGX_SVC_SIGNIN_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_password_queue.h"
#include "ngx_svc_session.h"
#include "ngx_svc_setting_param.h"


/* Parameters: the digest of the request's session, or of one that is made. */

#define ngx_svc_param_session()                                               \
    { .bind = ngx_svc_signin_bind_session }
#define ngx_svc_param_new_session()                                           \
    { .bind = ngx_svc_signin_bind_new_session }


/*
 * Of a session's methods, beside "passkey": one that cannot be backed up, for
 * RFC 8176.  To people it is a passkey as any other one; SQL: what they see.
 */

#define NGX_SVC_SIGNIN_HARDWARE  "hwk"


/* A session that is being made; of the request's pool, first in sr->data. */

typedef struct {
    u_char           key[NGX_SVC_SESSION_KEY];
    u_char           hash[NGX_SVC_SHA256_LEN];
} ngx_svc_signin_key_t;


/*
 * What GET /v1/auth/session says of a session; the same session under another
 * digest, while the old one ends; its end.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_rotate;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_logout;


ngx_int_t ngx_svc_signin_bind_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_signin_bind_new_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* A new secret and its digest, for that tenant.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_signin_key(ngx_svc_signin_key_t *key,
    const u_char tenant[NGX_SVC_UUID_LEN]);

/* For a check: the same, of the tenant of the session, in sr->data. */
ngx_int_t ngx_svc_signin_new_key(ngx_svc_request_t *sr);

/*
 * For a reply: sends a row of ngx_svc_sql_signin_session with the CSRF token of
 * that key, and the route's status; or n rows, whose members are those of one.
 */
ngx_int_t ngx_svc_signin_session_of(ngx_svc_request_t *sr, PGresult **results,
    ngx_uint_t n, const u_char key[NGX_SVC_SESSION_KEY]);
ngx_int_t ngx_svc_signin_session(ngx_svc_request_t *sr, PGresult *res,
    const u_char key[NGX_SVC_SESSION_KEY]);

/*
 * For a reply, which returns what it does: has a job done, whose handler, with
 * data as the job's, finalizes the request; or 503, or 500.
 */
ngx_int_t ngx_svc_signin_post(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, ngx_svc_password_handler_pt handler,
    void *data);

/* 503: too many passwords wait to be hashed. */
ngx_int_t ngx_svc_signin_busy(ngx_svc_request_t *sr);

/* Adds Cache-Control: no-store.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_signin_no_store(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SIGNIN_H_INCLUDED_ */
