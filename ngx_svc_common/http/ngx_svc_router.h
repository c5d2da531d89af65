/*
 * Route tables.
 */

#ifndef _NGX_SVC_ROUTER_H_INCLUDED_
#define _NGX_SVC_ROUTER_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Finds the route for r->uri.  Returns NGX_OK with sr->route and sr->params
 * set, or NGX_DECLINED with sr->error set (404, or 405 with sr->allow).
 */
NGX_SVC_API ngx_int_t ngx_svc_router_find(ngx_svc_request_t *sr);

/*
 * Checks that there is room for the values of each route's body, while the
 * configuration is read.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_check_resources(ngx_conf_t *cf,
    ngx_svc_resources_t *resources);

/*
 * Checks resources of another module, and adds them to those of the surface
 * with that prefix, while the configuration is read.  Returns NGX_OK or
 * NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_add_resources(ngx_conf_t *cf,
    const ngx_str_t *prefix, ngx_svc_resources_t *resources);


#endif /* _NGX_SVC_ROUTER_H_INCLUDED_ */
