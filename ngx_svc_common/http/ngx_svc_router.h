/*
 * Route tables.
 */

#ifndef _NGX_SVC_ROUTER_H_INCLUDED_
#define _NGX_SVC_ROUTER_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Finds the route for r->uri; NGX_OK with sr->route and sr->params set, or
 * NGX_DECLINED with sr->error (404, or 405 and sr->allow).
 */
NGX_SVC_API ngx_int_t ngx_svc_router_find(ngx_svc_request_t *sr);

/*
 * While the configuration is read.  Checking: that the values of each body find
 * room.  Adding: the same, and puts resources of another module behind those of
 * the surface with that prefix.  NGX_OK, or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_check_resources(ngx_conf_t *cf,
    ngx_svc_resources_t *resources);
NGX_SVC_API ngx_int_t ngx_svc_add_resources(ngx_conf_t *cf,
    const ngx_str_t *prefix, ngx_svc_resources_t *resources);


#endif /* _NGX_SVC_ROUTER_H_INCLUDED_ */
