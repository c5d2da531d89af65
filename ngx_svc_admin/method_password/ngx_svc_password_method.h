/*
 * The password as a method.
 */

#ifndef _NGX_SVC_PASSWORD_METHOD_H_INCLUDED_
#define _NGX_SVC_PASSWORD_METHOD_H_INCLUDED_


#include "ngx_svc_method.h"


/* The page where a link leads to set a password, and how long one is good. */
#define NGX_SVC_RESET_PATH  "/reset"
#define NGX_SVC_RESET_LIFE  1800        /* seconds */

#define NGX_SVC_PASSWORD_DIRECTORY                                            \
    "The directory of the organization has this password: change it there."


/* The rows of its object. */
extern const ngx_svc_login_method_t  ngx_svc_password_login_method;
extern const ngx_svc_account_method_t  ngx_svc_password_account;
extern const ngx_svc_stepup_method_t  ngx_svc_password_stepup;

extern const ngx_svc_method_t  ngx_svc_password_method;


#endif /* _NGX_SVC_PASSWORD_METHOD_H_INCLUDED_ */
