/*
 * A sign-in with a password that the tenant's directory has.
 */

#ifndef _NGX_SVC_DIRECTORY_LOGIN_H_INCLUDED_
#define _NGX_SVC_DIRECTORY_LOGIN_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/* What the configuration has of it. */
extern const ngx_svc_login_directory_t  ngx_svc_directory_login;


#endif /* _NGX_SVC_DIRECTORY_LOGIN_H_INCLUDED_ */
