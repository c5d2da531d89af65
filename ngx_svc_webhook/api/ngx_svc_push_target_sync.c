/*
 * POST /v1/admin/scim-targets/{id}/sync.
 */

#include "ngx_svc_push_api.h"


static const char *const  ngx_svc_push_confirm[] = { "true", "false", NULL };


#include "ngx_svc_push_target_sync.sql.h"


const ngx_svc_route_t  ngx_svc_push_target_sync[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim-targets/*/sync"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_push_sync },
      .status = NGX_HTTP_ACCEPTED },

    ngx_svc_null_route
};
