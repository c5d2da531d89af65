/*
 * /v1/admin/webhooks: its routes, and what their handlers share.
 */

#ifndef _NGX_SVC_WEBHOOK_API_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_API_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_NONE      "There is no webhook with this id."


extern ngx_svc_resources_t  ngx_svc_webhook_resources[];

/* ngx_svc_webhook_endpoints.c: see ngx_svc_route_t. */
ngx_int_t ngx_svc_webhook_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_create_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_create_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_get_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_patch_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_delete_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_delete_reply(ngx_svc_request_t *sr);

extern ngx_svc_pg_statements_t  ngx_svc_webhook_endpoints_statements[];

/* ngx_svc_webhook_deliveries.c */
ngx_int_t ngx_svc_webhook_deliveries_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_deliveries_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_test_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_webhook_test_reply(ngx_svc_request_t *sr);

extern ngx_svc_pg_statements_t  ngx_svc_webhook_deliveries_statements[];


#endif /* _NGX_SVC_WEBHOOK_API_H_INCLUDED_ */
