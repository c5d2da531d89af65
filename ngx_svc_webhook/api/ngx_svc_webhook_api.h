/*
 * /v1/admin/webhooks: its routes, and what their handlers share.
 */

#ifndef _NGX_SVC_WEBHOOK_API_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_API_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_NONE      "There is no webhook with this id."


/* In ngx_svc_webhook_routes.c. */
extern ngx_svc_resources_t  ngx_svc_webhook_resources[];

/* The routes of the resources, each in the file of its name. */
extern const ngx_svc_route_t  ngx_svc_webhook_endpoints[];
extern const ngx_svc_route_t  ngx_svc_webhook_deliveries[];


#endif /* _NGX_SVC_WEBHOOK_API_H_INCLUDED_ */
