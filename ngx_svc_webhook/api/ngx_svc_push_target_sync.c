/*
 * POST /v1/admin/scim-targets/{id}/sync.
 */

#include "ngx_svc_push_api.h"


static const char *const  ngx_svc_push_confirm[] = { "true", "false", NULL };


static const ngx_svc_pg_statement_t  ngx_svc_sql_push_sync = {
    .name = "push_sync",
    .text =
        "WITH o AS ("
            "SELECT t.enabled, t.sync_status" NGX_SVC_PUSH_TARGET
            " FOR NO KEY UPDATE"
        "), c AS ("
            "SELECT CASE WHEN NOT o.enabled THEN 'disabled'"
                " WHEN o.sync_status IN ('queued', 'running') THEN 'running'"
                " WHEN o.sync_status = 'held'"
                    " AND $3::text IS DISTINCT FROM 'true' THEN 'held'"
                " END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.scim_target t SET sync_id = $2::uuid,"
                " sync_status = 'queued', sync_was = NULL,"
                " sync_confirm = $3 IS NOT DISTINCT FROM 'true',"
                " sync_next = NULL, sync_again = false, last_error = NULL, "
                NGX_SVC_PUSH_TRY_AGAIN
            " FROM c WHERE t.tenant_id = " NGX_SVC_TENANT " AND t.id = $1"
                " AND c.verdict IS NULL"
            " RETURNING t.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SCIM_SYNCED, "u.id::text", "u.name",
                "jsonb_build_object('syncId', u.sync_id, 'confirm',"
                " u.sync_confirm)", "FROM u")
        ")"
        " SELECT c.verdict AS _verdict, u.sync_id AS \"syncId\","
            " u.sync_status AS status"
        " FROM c LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE),
                   ngx_svc_param_new_id(),
                   ngx_svc_param_query_word("confirm", ngx_svc_push_confirm)),
    NGX_SVC_VERDICTS(
        { "disabled", NGX_SVC_E_INVALID_REQUEST,
          "The SCIM target is disabled: enable it first, with PUT and"
          " {\"enabled\":true}." },
        { "running", NGX_SVC_E_CONFLICT,
          "The SCIM target is being synchronized: wait for the end of it." },
        { "held", NGX_SVC_E_CONFLICT,
          "The last synchronization was held, as it would have deactivated"
          " more than half of the users there: confirm it with"
          " \"?confirm=true\"." }),
    .missing = NGX_SVC_PUSH_NONE
};


const ngx_svc_route_t  ngx_svc_push_target_sync[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim-targets/*/sync"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_push_sync },
      .status = NGX_HTTP_ACCEPTED },

    ngx_svc_null_route
};
