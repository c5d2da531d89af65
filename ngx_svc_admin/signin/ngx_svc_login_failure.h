/*
 * What a sign-in writes that fails, or is denied.
 */

#ifndef _NGX_SVC_LOGIN_FAILURE_H_INCLUDED_
#define _NGX_SVC_LOGIN_FAILURE_H_INCLUDED_


#include "ngx_svc_login.h"


extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_failure;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_denied;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_mfa_failure;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_failed_user;

/*
 * For ngx_svc_request_again(), in the write pool: ngx_svc_login_failure() adds
 * what a failed sign-in writes; ngx_svc_login_failed_again() does so for the
 * user of a session, and ngx_svc_login_failed_by() with the statement given.
 * ngx_svc_login_failure_reply() is the reply to them.
 */
ngx_int_t ngx_svc_login_failure(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_login_failed_again(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_login_failed_by(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *s);
ngx_int_t ngx_svc_login_failure_reply(ngx_svc_request_t *sr);

/* The "committed" of these: mails whom the failure has locked. */
void ngx_svc_login_failed(const ngx_svc_pg_results_t *results);

/*
 * Such a function, too, of a proof that was right, but is good for nothing: it
 * does not count for the lock.  sr->error is set when the reply is called.
 */
ngx_int_t ngx_svc_login_failure_right(ngx_svc_request_t *sr);

/*
 * For such a reply: returns NGX_DECLINED when the failure does not lock the
 * account.  Otherwise sets sr->error, tells the limits of the lock, calls
 * next() and returns what that returns, or what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_login_failure_locks(ngx_svc_login_t *login,
    ngx_int_t (*next)(ngx_svc_request_t *sr));

/*
 * For a session's request whose proof may not be taken: writes login->reason to
 * the audit log, and answers.
 */
ngx_int_t ngx_svc_login_bar(ngx_svc_request_t *sr);

/*
 * For a session's request whose read has returned rc, which is not NGX_OK:
 * calls ngx_svc_login_bar() when access is denied, or else answers sr->error or
 * 500.
 */
ngx_int_t ngx_svc_login_unread(ngx_svc_request_t *sr, ngx_int_t rc);


#endif /* _NGX_SVC_LOGIN_FAILURE_H_INCLUDED_ */
