/*
 * Sign-up of a user: what the routes that begin it and that end it share.
 */

#ifndef _NGX_SVC_SIGNUP_USER_H_INCLUDED_
#define _NGX_SVC_SIGNUP_USER_H_INCLUDED_


#include "ngx_svc_signup.h"


#define NGX_SVC_SIGNUP_KIND    "signup"     /* of svc.email_challenge */


/* For ngx_svc_account_write(): stores a new member. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signup_user;


/*
 * For a reply: takes a result with "allowed" and the columns that
 * ngx_svc_login_denied() takes, or without a row when there is no such tenant.
 * Returns NGX_OK with login->stage set; NGX_DECLINED with sr->error set;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_signup_allowed(ngx_svc_login_t *login, PGresult *res);

/* For a reply: answers when that has not returned NGX_OK. */
ngx_int_t ngx_svc_signup_refused(ngx_svc_login_t *login, ngx_int_t rc);

/*
 * Sets sr->error to 403 signup_disabled, which is also said of a tenant that
 * does not exist.  Returns NGX_DECLINED.
 */
ngx_int_t ngx_svc_signup_disabled(ngx_svc_request_t *sr);

/*
 * For a reply: tells whether ngx_svc_sql_signup_user has stored nobody as the
 * address must come in by a connection by now.
 */
ngx_uint_t ngx_svc_signup_forced(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SIGNUP_USER_H_INCLUDED_ */
