/*
 * /Users/{id}, and creating a user, in svc_scim_mode rfc: a user has a version,
 * a userName that can change, and can be deleted; creating it again brings it
 * back.
 */

#include "ngx_svc_scim_write.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_scim_rfc_check(ngx_svc_request_t *sr, void *body);
static void ngx_svc_scim_rfc_created(const ngx_svc_pg_results_t *results);
static void ngx_svc_scim_rfc_changed(const ngx_svc_pg_results_t *results);


#include "ngx_svc_scim_rfc_users.sql.h"


const ngx_svc_route_t  ngx_svc_scim_rfc_users[] = {

    { ngx_svc_scim_route(NGX_HTTP_POST, NGX_SVC_SCIM_USERS, NGX_SVC_ROUTE_JSON,
                         ngx_svc_scim_rfc_check),
      .statements = { &ngx_svc_sql_scim_rfc_yield,
                      &ngx_svc_sql_scim_rfc_create },
      .status = NGX_HTTP_CREATED,
      .committed = ngx_svc_scim_rfc_created,
      .reply = ngx_svc_scim_user_reply },

    { .method = NGX_HTTP_GET,
      .path = NGX_SVC_SCIM_USER,
      .permission = NGX_SVC_P_SCIM,
      .check = ngx_svc_scim_mask,
      .statements = { &ngx_svc_sql_scim_rfc_get },
      .reply = ngx_svc_scim_user_reply },

    { ngx_svc_scim_route(NGX_HTTP_PUT, NGX_SVC_SCIM_USER, NGX_SVC_ROUTE_JSON,
                         ngx_svc_scim_rfc_check),
      .statements = { &ngx_svc_sql_scim_rfc_change,
                      &ngx_svc_sql_scim_rfc_get },
      .committed = ngx_svc_scim_rfc_changed,
      .reply = ngx_svc_scim_user_reply },

    { ngx_svc_scim_route(NGX_HTTP_PATCH, NGX_SVC_SCIM_USER, NGX_SVC_ROUTE_JSON,
                         ngx_svc_scim_rfc_check),
      .statements = { &ngx_svc_sql_scim_rfc_change,
                      &ngx_svc_sql_scim_rfc_get },
      .committed = ngx_svc_scim_rfc_changed,
      .reply = ngx_svc_scim_user_reply },

    { .method = NGX_HTTP_DELETE,
      .path = NGX_SVC_SCIM_USER,
      .permission = NGX_SVC_P_SCIM,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_scim_rfc_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_scim_rfc_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t  rc;

    rc = ngx_svc_scim_mask(sr, body);
    if (rc != NGX_OK) {
        return rc;
    }

    switch (sr->route->method) {

    case NGX_HTTP_POST:
        return ngx_svc_scim_user_rfc_create(sr->json, body, &sr->error);

    case NGX_HTTP_PUT:
        return ngx_svc_scim_user_rfc_replace(sr->json, body, &sr->error);

    default: /* NGX_HTTP_PATCH */
        return ngx_svc_scim_user_rfc_patch(sr->json, body, &sr->error);
    }
}


static void
ngx_svc_scim_rfc_created(const ngx_svc_pg_results_t *results)
{
    ngx_svc_scim_created(results,
                         ngx_svc_pg_result(results,
                                           &ngx_svc_sql_scim_rfc_create));
}


static void
ngx_svc_scim_rfc_changed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                             &ngx_svc_sql_scim_rfc_change));
}
