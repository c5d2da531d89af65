/*
 * /v1/auth/identities, /v1/admin/users/{userId}/links: identities of other
 * servers that are a user's.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_notice.h"
#include "ngx_svc_signin.h"


#define NGX_SVC_FEDERATION_NO_OWN                                             \
    "There is no identity of yours with this id."
#define NGX_SVC_FEDERATION_NO_LINK  "The user has no link with this id."

#define NGX_SVC_FEDERATION_LAST_VERDICT                                       \
    { "last", NGX_SVC_E_LAST_FACTOR, NGX_SVC_WAY_IN_LAST }


static void ngx_svc_federation_links_own_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_federation_links_committed(
    const ngx_svc_pg_results_t *results);


#include "ngx_svc_federation_links.sql.h"


const ngx_svc_route_t  ngx_svc_federation_links[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/identities"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_federation_own_total,
                      &ngx_svc_sql_federation_own_list },
      .list = "identities",
      .total = &ngx_svc_sql_federation_own_total },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/auth/identities/*"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_federation_own_lock,
                      &ngx_svc_sql_federation_own_remove },
      .status = NGX_HTTP_NO_CONTENT,
      .committed = ngx_svc_federation_links_own_committed },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*/links"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_federation_links_total,
                      &ngx_svc_sql_federation_links_list },
      .list = "links",
      .total = &ngx_svc_sql_federation_links_total },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/users/*/links/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_federation_links_remove },
      .status = NGX_HTTP_NO_CONTENT,
      .committed = ngx_svc_federation_links_committed },

    ngx_svc_null_route
};


static void
ngx_svc_federation_links_own_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                         &ngx_svc_sql_federation_own_remove));
}


static void
ngx_svc_federation_links_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                       &ngx_svc_sql_federation_links_remove));
}
