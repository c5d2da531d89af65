/*
 * /v1/oauth/consents: what applications may do for the caller, by a consent or
 * by a live grant.
 */

#include "ngx_svc_application.h"
#include "ngx_svc_signin.h"


#define NGX_SVC_ADMIN_NO_CONSENT  "There is no consent of yours to this client."


#include "ngx_svc_admin_consents.sql.h"


const ngx_svc_route_t  ngx_svc_admin_consents[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/oauth/consents"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_admin_consents_total,
                      &ngx_svc_sql_admin_consents_list },
      .list = "consents",
      .total = &ngx_svc_sql_admin_consents_total },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/oauth/consents/*"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_admin_consent_delete,
                      &ngx_svc_sql_admin_consent_grants },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
