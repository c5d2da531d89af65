/*
 * Preflight requests: browsers ask whether a page of another origin may send a
 * request.
 */

#ifndef _NGX_SVC_OAUTH_PREFLIGHT_H_INCLUDED_
#define _NGX_SVC_OAUTH_PREFLIGHT_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* Routes below /oauth, and below each of the two paths of /.well-known. */
extern const ngx_svc_route_t  ngx_svc_oauth_preflight[];
extern const ngx_svc_route_t  ngx_svc_oauth_well_known_preflight[];


#endif /* _NGX_SVC_OAUTH_PREFLIGHT_H_INCLUDED_ */
