/*
 * /v1/admin/identities: humans, services and agents in one list.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_search.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_agent_state.h"


static const char *const  ngx_svc_admin_identity_types[] = {
    "human", "service", "agent", NULL
};

static const char *const  ngx_svc_admin_identity_statuses[] = {
    "active", "suspended", "deactivated", "expired", "revoked", "disabled",
    "orphaned", NULL
};


#include "ngx_svc_admin_identities.sql.h"


const ngx_svc_route_t  ngx_svc_admin_identities[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/identities"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_identities_list },
      .list = "identities" },

    ngx_svc_null_route
};
