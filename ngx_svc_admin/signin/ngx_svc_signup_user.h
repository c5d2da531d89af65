/*
 * Sign-up of a user to a tenant: what its beginning and its end share.
 */

#ifndef _NGX_SVC_SIGNUP_USER_H_INCLUDED_
#define _NGX_SVC_SIGNUP_USER_H_INCLUDED_


#include "ngx_svc_signup.h"


#define NGX_SVC_SIGNUP_KIND    "signup"     /* of svc.email_challenge */


/* For ngx_svc_account_write(): a member; his address is verified by mail. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signup_user;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signup_store;


/*
 * For a reply: the row of such columns, or of none when there is no such
 * tenant.  NGX_OK, with login->stage; NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_signup_allowed(ngx_svc_login_t *login, PGresult *res);

/* Of the two latter: what a reply returns. */
ngx_int_t ngx_svc_signup_refused(ngx_svc_login_t *login, ngx_int_t rc);

/* NGX_DECLINED: 403 signup_disabled, also of a tenant that there is not. */
ngx_int_t ngx_svc_signup_disabled(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SIGNUP_USER_H_INCLUDED_ */
