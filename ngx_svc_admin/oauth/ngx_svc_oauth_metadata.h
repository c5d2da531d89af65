/*
 * What everybody may know about a tenant's authorization server.
 */

#ifndef _NGX_SVC_OAUTH_METADATA_H_INCLUDED_
#define _NGX_SVC_OAUTH_METADATA_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* Routes below /oauth. */
extern const ngx_svc_route_t  ngx_svc_oauth_metadata[];
extern const ngx_svc_route_t  ngx_svc_oauth_jwks[];

/* Routes below each of the two paths of /.well-known. */
extern const ngx_svc_route_t  ngx_svc_oauth_well_known[];


#endif /* _NGX_SVC_OAUTH_METADATA_H_INCLUDED_ */
