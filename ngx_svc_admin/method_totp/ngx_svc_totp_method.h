/*
 * One-time passwords as a method.
 */

#ifndef _NGX_SVC_TOTP_METHOD_H_INCLUDED_
#define _NGX_SVC_TOTP_METHOD_H_INCLUDED_


#include "ngx_svc_method.h"


/* The row of its object. */
extern const ngx_svc_stepup_method_t  ngx_svc_totp_stepup;

extern const ngx_svc_method_t  ngx_svc_totp_method;


#endif /* _NGX_SVC_TOTP_METHOD_H_INCLUDED_ */
