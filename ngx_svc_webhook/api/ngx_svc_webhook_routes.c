/*
 * The routes that webhooks add to the admin API.
 */

#include "ngx_svc_webhook_api.h"


#define NGX_SVC_WEBHOOK_MANAGE  ngx_string("tenant:manage")


const ngx_svc_route_t  ngx_svc_webhook_routes[] = {

    { NGX_HTTP_GET, ngx_string("/admin/webhooks"), NGX_SVC_WEBHOOK_MANAGE, 0,
      ngx_svc_webhook_list_prepare, ngx_svc_webhook_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/webhooks"), NGX_SVC_WEBHOOK_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE|NGX_SVC_ROUTE_CREATE,
      ngx_svc_webhook_create_prepare, ngx_svc_webhook_create_reply },

    { NGX_HTTP_GET, ngx_string("/admin/webhooks/*"), NGX_SVC_WEBHOOK_MANAGE, 0,
      ngx_svc_webhook_get_prepare, ngx_svc_webhook_get_reply },

    { NGX_HTTP_PATCH, ngx_string("/admin/webhooks/*"), NGX_SVC_WEBHOOK_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_webhook_patch_prepare, ngx_svc_webhook_get_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/webhooks/*"), NGX_SVC_WEBHOOK_MANAGE,
      NGX_SVC_ROUTE_WRITE, ngx_svc_webhook_delete_prepare,
      ngx_svc_webhook_delete_reply },

    { NGX_HTTP_GET, ngx_string("/admin/webhooks/*/deliveries"),
      NGX_SVC_WEBHOOK_MANAGE, 0, ngx_svc_webhook_deliveries_prepare,
      ngx_svc_webhook_deliveries_reply },

    { NGX_HTTP_POST, ngx_string("/admin/webhooks/*/test"),
      NGX_SVC_WEBHOOK_MANAGE, NGX_SVC_ROUTE_WRITE,
      ngx_svc_webhook_test_prepare, ngx_svc_webhook_test_reply },

    { 0, ngx_null_string, ngx_null_string, 0, NULL, NULL }
};
