/*
 * A tenant's connection to an identity provider, as a method.
 */

#ifndef _NGX_SVC_FEDERATION_METHOD_H_INCLUDED_
#define _NGX_SVC_FEDERATION_METHOD_H_INCLUDED_


#include "ngx_svc_method.h"


/* What svc.session.methods calls it. */
#define NGX_SVC_FEDERATION_METHOD  "social"

/* What it calls a password that the tenant's directory has found right. */
#define NGX_SVC_DIRECTORY_METHOD   "ldap"

/* What stands beside the first where the provider has asked for two factors. */
#define NGX_SVC_FEDERATION_TWO     "mfa"


extern const ngx_svc_method_t  ngx_svc_federation_method;
extern const ngx_svc_method_t  ngx_svc_directory_method;


#endif /* _NGX_SVC_FEDERATION_METHOD_H_INCLUDED_ */
