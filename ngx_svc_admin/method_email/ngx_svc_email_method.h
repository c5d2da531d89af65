/*
 * Codes and links by mail as a method, and as a second factor.
 */

#ifndef _NGX_SVC_EMAIL_METHOD_H_INCLUDED_
#define _NGX_SVC_EMAIL_METHOD_H_INCLUDED_


#include "ngx_svc_method.h"


/* The rows of its object. */
extern const ngx_svc_login_method_t  ngx_svc_email_login_method;
extern const ngx_svc_stepup_method_t  ngx_svc_email_stepup;

extern const ngx_svc_method_t  ngx_svc_email_method;


#endif /* _NGX_SVC_EMAIL_METHOD_H_INCLUDED_ */
