/*
 * PATCH /v1/applications/{clientId}.
 */

#include "ngx_svc_application_store.h"
#include "ngx_svc_etag.h"
#include "ngx_svc_oauth_jwks.h"


static void ngx_svc_admin_application_patched(
    const ngx_svc_pg_results_t *results);


#include "ngx_svc_admin_application_patch.sql.h"


const ngx_svc_route_t  ngx_svc_admin_application_patch[] = {

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/applications/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_application_patch_members,
      .body_size = sizeof(ngx_svc_application_t),
      .check = ngx_svc_application_profile_check,
      .statements = { &ngx_svc_sql_admin_applications_lock,
                      &ngx_svc_sql_admin_application_lock,
                      &ngx_svc_sql_admin_applications_patch },
      .committed = ngx_svc_admin_application_patched,
      .reply = ngx_svc_application_profile_reply },

    ngx_svc_null_route
};


static void
ngx_svc_admin_application_patched(const ngx_svc_pg_results_t *results)
{
    ngx_svc_row_admin_applications_patch_t  row;

    ngx_svc_row_admin_applications_patch(&row,
        ngx_svc_pg_result(results, &ngx_svc_sql_admin_applications_patch), 0);

    ngx_svc_oauth_jwks_committed(results, &row.fetch);
}
