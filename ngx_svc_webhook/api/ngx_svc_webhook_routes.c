/*
 * The routes that webhooks add to the admin API.
 */

#include "ngx_svc_webhook_api.h"


static const ngx_svc_route_t  ngx_svc_webhook_routes[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/webhooks"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_webhook_list_prepare,
      .reply = ngx_svc_webhook_list_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/webhooks"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CREATE,
      .prepare = ngx_svc_webhook_create_prepare,
      .reply = ngx_svc_webhook_create_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/webhooks/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_webhook_get_prepare,
      .reply = ngx_svc_webhook_get_reply },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/admin/webhooks/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_webhook_patch_prepare,
      .reply = ngx_svc_webhook_get_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/webhooks/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_webhook_delete_prepare,
      .reply = ngx_svc_webhook_delete_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/webhooks/*/deliveries"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_webhook_deliveries_prepare,
      .reply = ngx_svc_webhook_deliveries_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/webhooks/*/test"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_webhook_test_prepare,
      .reply = ngx_svc_webhook_test_reply },

    ngx_svc_null_route
};


ngx_svc_resources_t  ngx_svc_webhook_resources[] = {
    ngx_svc_webhook_routes,
    NULL
};
