/*
 * The device that a complete sign-in comes from, and the mail about a new one.
 */

#ifndef _NGX_SVC_LOGIN_SEEN_H_INCLUDED_
#define _NGX_SVC_LOGIN_SEEN_H_INCLUDED_


#include "ngx_svc_login.h"


extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_seen;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_notice;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_device;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_devices;

/*
 * The statement that tells what to mail of a new device, or, where no mails are
 * sent, one that says nothing.
 */
const ngx_svc_pg_statement_t *ngx_svc_login_notice(ngx_svc_request_t *sr);

/* Binds login->written.factor. */
ngx_int_t ngx_svc_login_bind_trusted(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#endif /* _NGX_SVC_LOGIN_SEEN_H_INCLUDED_ */
