/*
 * /v1/admin/scim-targets/{id}/users: what of each user the target has.
 */

#include "ngx_svc_push_api.h"


static const char *const  ngx_svc_push_states[] = {
    "error", "pending", "synced", NULL
};


/* $2 is the state, or NULL. */

#define NGX_SVC_PUSH_USERS                                                    \
    " FROM svc.scim_item i WHERE i.tenant_id = " NGX_SVC_TENANT               \
    " AND i.target_id = $1 AND ($2::text IS NULL OR i.state = $2)"

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_users_total = {
    .name = "push_users_total",
    .text =
        "SELECT (SELECT count(*)" NGX_SVC_PUSH_USERS ")" NGX_SVC_PUSH_TARGET,
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE),
                   ngx_svc_param_query_word("state", ngx_svc_push_states)),
    .missing = NGX_SVC_PUSH_NONE
};

/* one that was erased has no address */

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_users = {
    .name = "push_users",
    .text =
        "SELECT i.user_id AS \"userId\", u.user_name AS email,"
            " i.remote_id AS \"remoteId\", i.state, i.attempts, i.error,"
            " CASE WHEN i.done_rev < i.wanted_rev THEN i.next_at END"
                " AS \"nextAttemptAt\", i.synced_at AS \"syncedAt\""
        " FROM (SELECT i.*" NGX_SVC_PUSH_USERS
            " ORDER BY i.user_id LIMIT $3::int4 OFFSET $4::int4) i"
        " LEFT JOIN LATERAL ("
            NGX_SVC_ROW("k.user_name", "svc.user_account", "i.user_id")
        ") u ON true"
        " ORDER BY i.user_id",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE),
                   ngx_svc_param_query_word("state", ngx_svc_push_states),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};


const ngx_svc_route_t  ngx_svc_push_target_users[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim-targets/*/users"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_push_users_total,
                      &ngx_svc_sql_push_users },
      .list = "users",
      .total = &ngx_svc_sql_push_users_total },

    ngx_svc_null_route
};
