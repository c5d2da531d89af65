/*
 * What is read for a sign-in, and what the tenant's policies make of it.
 */

#ifndef _NGX_SVC_LOGIN_READ_H_INCLUDED_
#define _NGX_SVC_LOGIN_READ_H_INCLUDED_


#include "ngx_svc_login.h"
#include "ngx_svc_login_read.row.h"


extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_way;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_risk;

/*
 * Takes what was read of the tenant and of the user, results that begin with
 * :login_tenant and :login_user, and decides by the policies.  Returns NGX_OK
 * when the proof is to be verified: login->reason is NGX_SVC_LOGIN_WRONG then,
 * unless the sign-in fails anyway; NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_login_decide(ngx_svc_login_t *login, PGresult *tenant,
    PGresult *user);

/*
 * Takes the risk from a row of :risk_signals, which is needed if
 * login->risk.enabled.  Is called before ngx_svc_login_stage().
 */
void ngx_svc_login_take_risk(ngx_svc_login_t *login, PGresult *risks);

/*
 * When the proof is right: sets login->stage, or login->risk.action to
 * NGX_SVC_ACCESS_DENY.  by_mail: 1: the proof came by mail.
 */
void ngx_svc_login_stage(ngx_svc_login_t *login, ngx_uint_t by_mail);

/*
 * For a reply, when ngx_svc_login_decide() has returned NGX_DECLINED: a denied
 * sign-in is written to the audit log before it is answered.
 */
ngx_int_t ngx_svc_login_declined(ngx_svc_login_t *login);

/*
 * Takes a result that begins with :login_tenant.  Returns NGX_OK; NGX_DECLINED
 * with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_login_tenant(ngx_svc_login_t *login, PGresult *res);

/*
 * When that has no row: returns NGX_OK if the request named a tenant, or else
 * NGX_DECLINED with sr->error set.
 */
ngx_int_t ngx_svc_login_no_tenant(ngx_svc_login_t *login);

/*
 * Takes a result that begins with :login_denied.  Returns as
 * ngx_svc_login_tenant().
 */
ngx_int_t ngx_svc_login_denied(ngx_svc_login_t *login, PGresult *res);

/*
 * Tells whether the policy, or a block of the address, keeps a proof from being
 * taken; sets login->action, and login->reason with sr->error.  Returns NGX_OK,
 * NGX_DECLINED or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_bars(ngx_svc_login_t *login,
    const ngx_svc_row_login_bars_t *row);

/*
 * For a reply: takes the user of the request's session, and how the sign-in
 * began; copies them into the request's pool.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_take_user(ngx_svc_login_t *login,
    const ngx_svc_row_login_session_t *row);


#endif /* _NGX_SVC_LOGIN_READ_H_INCLUDED_ */
