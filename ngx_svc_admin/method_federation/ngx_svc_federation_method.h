/*
 * A tenant's connection to an identity provider, as a method.
 */

#ifndef _NGX_SVC_FEDERATION_METHOD_H_INCLUDED_
#define _NGX_SVC_FEDERATION_METHOD_H_INCLUDED_


#include "ngx_svc_method.h"


/* What svc.session.methods calls it. */
#define NGX_SVC_FEDERATION_METHOD  "social"

/* What stands beside it where the provider has asked for two factors. */
#define NGX_SVC_FEDERATION_TWO     "mfa"


extern const ngx_svc_method_t  ngx_svc_federation_method;


#endif /* _NGX_SVC_FEDERATION_METHOD_H_INCLUDED_ */
