/*
 * Bearer tokens (RFC 6750), and the statement that finds them.
 */

#ifndef _NGX_SVC_BEARER_H_INCLUDED_
#define _NGX_SVC_BEARER_H_INCLUDED_


#include "ngx_svc_route.h"


extern const ngx_svc_credential_t  ngx_svc_bearer;


#endif /* _NGX_SVC_BEARER_H_INCLUDED_ */
