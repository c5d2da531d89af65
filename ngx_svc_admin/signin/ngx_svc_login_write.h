/*
 * What a sign-in writes that succeeds.
 */

#ifndef _NGX_SVC_LOGIN_WRITE_H_INCLUDED_
#define _NGX_SVC_LOGIN_WRITE_H_INCLUDED_


#include "ngx_svc_login.h"


extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant_write;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant_again;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_lock;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_check;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_new;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_old;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user_done;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user_kept;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_done;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_rehash;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_made;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_waits;

/* Adds the statements of a list that a NULL ends.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_calls(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *const *list);

/* Bind the score of the risk, and the tenant that the sign-in is to. */
ngx_int_t ngx_svc_login_bind_score(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_login_bind_tenant(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * For ngx_svc_request_again(), in the write pool: adds what a success writes;
 * and the reply to it.
 */
ngx_int_t ngx_svc_login_success(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_login_success_reply(ngx_svc_request_t *sr);

/*
 * For routes that have statements of their own: ngx_svc_login_begin() makes
 * what the session's statements bind, and returns NGX_OK or NGX_ERROR;
 * ngx_svc_login_end() answers by the stage, for a full one with the result of
 * ngx_svc_sql_signin_session_made.
 */
ngx_int_t ngx_svc_login_begin(ngx_svc_login_t *login);
ngx_int_t ngx_svc_login_end(ngx_svc_login_t *login);

/*
 * Adds what completes a sign-in that has waited at a stage.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_login_complete(ngx_svc_request_t *sr);

/* Its committed hook: emits user.login, and mails about a new device. */
void ngx_svc_login_completed(const ngx_svc_pg_results_t *results);

/* Emits user.login alone; the two results name tenant and user. */
void ngx_svc_login_emit(PGresult *tenant, PGresult *done);


#endif /* _NGX_SVC_LOGIN_WRITE_H_INCLUDED_ */
