/*
 * The password as a method.
 */

#ifndef _NGX_SVC_PASSWORD_METHOD_H_INCLUDED_
#define _NGX_SVC_PASSWORD_METHOD_H_INCLUDED_


#include "ngx_svc_method.h"


/* The rows of its object. */
extern const ngx_svc_login_method_t  ngx_svc_password_login_method;
extern const ngx_svc_account_method_t  ngx_svc_password_account;
extern const ngx_svc_stepup_method_t  ngx_svc_password_stepup;

extern const ngx_svc_method_t  ngx_svc_password_method;


#endif /* _NGX_SVC_PASSWORD_METHOD_H_INCLUDED_ */
