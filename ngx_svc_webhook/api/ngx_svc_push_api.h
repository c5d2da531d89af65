/*
 * /v1/admin/scim-targets: its routes, and what their statements share.
 */

#ifndef _NGX_SVC_PUSH_API_H_INCLUDED_
#define _NGX_SVC_PUSH_API_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_PUSH_NONE  "There is no SCIM target with this id."


/* In ngx_svc_push_routes.c. */
extern ngx_svc_resources_t  ngx_svc_push_resources[];

/* The routes of the resources, each in the file of its name. */
extern const ngx_svc_route_t  ngx_svc_push_targets[];
extern const ngx_svc_route_t  ngx_svc_push_target_users[];
extern const ngx_svc_route_t  ngx_svc_push_target_sync[];
extern const ngx_svc_route_t  ngx_svc_push_target_test[];


#endif /* _NGX_SVC_PUSH_API_H_INCLUDED_ */
