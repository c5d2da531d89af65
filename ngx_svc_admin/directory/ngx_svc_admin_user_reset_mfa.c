/*
 * /v1/admin/users/{userId}/reset-mfa.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_notice.h"


static void ngx_svc_admin_reset_mfa_committed(
    const ngx_svc_pg_results_t *results);


/*
 * Of somebody who may do what the caller may not, or of an owner, it would be a
 * way to become one: with the mailbox, or the password, of somebody else.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_reset_mfa = {
    .name = "admin_user_reset_mfa",
    .text =
        "WITH o AS ("
            "SELECT id, role FROM svc.user_account"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
            " FOR NO KEY UPDATE"
        "), c AS ("
            "SELECT o.id, CASE" NGX_SVC_ADMIN_REFUSED " END AS verdict FROM o"
        "), d AS ("
            "DELETE FROM svc.factor f WHERE f.tenant_id = " NGX_SVC_TENANT
                " AND f.user_id ="
                    " (SELECT c.id FROM c WHERE c.verdict IS NULL)"
            " RETURNING f.confirmed_at"
        "), u AS ("
            "UPDATE svc.user_account a SET valid_after = clock_timestamp()"
            " FROM c WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND c.verdict IS NULL RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_MFA_RESET, "u.id::text", "NULL",
                "jsonb_build_object('factors',"
                    " (SELECT count(d.confirmed_at) FROM d))", "FROM u")
        ")"
        " SELECT c.verdict AS _verdict, m.*"
        " FROM c LEFT JOIN LATERAL ("
            NGX_SVC_NOTICE("$1", "$2", "c.verdict IS NULL"
                " AND (SELECT count(d.confirmed_at) FROM d) > 0")
        ") m ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER),
                   ngx_svc_param_notice()),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_REFUSALS),
    .missing = NGX_SVC_ADMIN_NO_USER
};


const ngx_svc_route_t  ngx_svc_admin_user_reset_mfa[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/reset-mfa"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_admin_user_reset_mfa,
                      &ngx_svc_sql_admin_users_get },
      .committed = ngx_svc_admin_reset_mfa_committed },

    ngx_svc_null_route
};


static void
ngx_svc_admin_reset_mfa_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                     ngx_svc_pg_result(results,
                                       &ngx_svc_sql_admin_user_reset_mfa));
}
