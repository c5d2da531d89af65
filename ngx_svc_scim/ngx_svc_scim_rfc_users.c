/*
 * /Users/{id}, and creating one, of svc_scim_mode rfc: a user has a version, a
 * userName that changes, and an end, from which creating it again brings it
 * back.
 */

#include "ngx_svc_scim_write.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_scim_rfc_check(ngx_svc_request_t *sr, void *body);
static void ngx_svc_scim_rfc_created(const ngx_svc_pg_results_t *results);
static void ngx_svc_scim_rfc_changed(const ngx_svc_pg_results_t *results);


#define NGX_SVC_SCIM_RFC_PROFILE(_)                                           \
    _(USER_NAME, user_name, "email", "$17", "$18")                            \
    NGX_SVC_SCIM_PROFILE(_)

/*
 * Whose address would change is a way to become that user: not of those who
 * may do more than others, and whom the identity provider has not brought.
 */

#define NGX_SVC_SCIM_FIXED                                                    \
    "(o.role <> 'member' AND o.source <> 'scim')"

#define NGX_SVC_SCIM_RFC_VERDICTS                                             \
    NGX_SVC_VERDICTS(                                                         \
        ngx_svc_verdict_precondition,                                         \
        { "fixed", NGX_SVC_E_MUTABILITY,                                      \
          "\"userName\" of this user cannot be changed through SCIM: the"     \
          " user has a role, and did not come by it." })


static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_rfc_get = {
    .name = "scim_rfc_get",
    .text = NGX_SVC_SCIM_SELECT " AND id = $1 AND " NGX_SVC_SCIM_EXISTS,
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER)),
    .missing = NGX_SVC_SCIM_NO_USER
};

/*
 * Of two deleted users the one with the userName comes back; the other one,
 * whom no client sees, has to leave it the externalId: before, as a constraint
 * looks at each row by itself.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_rfc_yield = {
    .name = "scim_rfc_yield",
    .text =
        "WITH u AS ("
            "UPDATE svc.user_account a SET external_id = NULL,"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " WHERE " NGX_SVC_SCIM_GONE("a") " AND a.id = (SELECT k.id"
                " FROM svc.user_account k WHERE " NGX_SVC_SCIM_GONE("k")
                " AND k.external_id = $2::text"
                " AND EXISTS (SELECT FROM svc.user_account n"
                    " WHERE " NGX_SVC_SCIM_GONE("n")
                    " AND n.user_name_key = svc.address_key($1::text)"
                    " AND n.id <> k.id))"
            " RETURNING a.id"
        ") "
        NGX_SVC_AUDIT(NGX_SVC_A_USER_UPDATED, "u.id::text", "NULL",
            "'{\"source\":\"scim\",\"changed\":[\"externalId\"]}'", "FROM u"),
    NGX_SVC_PARAMS(ngx_svc_param_text(ngx_svc_scim_user_t, user_name),
                   ngx_svc_param_text(ngx_svc_scim_user_t, external_id))
};

/*
 * As scim_create, but for "o", a deleted user whom it brings back: locked, so
 * that of two who create the same one is a conflict.  All of it is as of a new
 * one, but for what SCIM does not know of: the role, the password.
 */

#define NGX_SVC_SCIM_MOVES  NGX_SVC_PROFILE_MOVES("$2::text", "o")

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_rfc_create = {
    .name = "scim_rfc_create",
    .text =
        "WITH o AS ("
            "SELECT id, user_name, status, role, source"
                NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_COLUMN)
            " FROM svc.user_account d WHERE " NGX_SVC_SCIM_GONE("d")
                " AND id = (SELECT"
                " coalesce((SELECT k.id FROM svc.user_account k"
                    " WHERE " NGX_SVC_SCIM_GONE("k")
                    " AND k.user_name_key = svc.address_key($2::text)),"
                " (SELECT k.id FROM svc.user_account k"
                    " WHERE " NGX_SVC_SCIM_GONE("k")
                    " AND k.external_id = $3::text)))"
            " FOR UPDATE"
        "), n AS ("
            "SELECT id, CASE WHEN " NGX_SVC_SCIM_MOVES
                    " AND " NGX_SVC_SCIM_FIXED " THEN 'fixed'"
                " ELSE svc.user_conflict("
                    "CASE WHEN " NGX_SVC_SCIM_MOVES " THEN $2::text END,"
                    " CASE WHEN $3::text <> coalesce(external_id, '')"
                        " THEN $3::text END) END AS verdict"
            " FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET user_name = $2,"
                " user_name_key = CASE WHEN svc.address_key($2::text)"
                    " <> svc.address_key(a.user_name)"
                    " THEN svc.address_key($2::text) ELSE a.user_name_key END,"
                " external_id = $3,"
                " status = CASE a.status WHEN 'suspended' THEN a.status"
                    " ELSE coalesce($4, 'active') END, email_verified = true,"
                " first_name = $5, last_name = $6, display_name = $7,"
                " title = $8, department = $9, locale = $10,"
                " search = svc.user_search($2::text, $7::text, $5::text,"
                    " $6::text),"
                " valid_after = clock_timestamp(),"
                " updated_at = " NGX_SVC_CHANGED_AT("a") ","
                " scim_deleted = false"
            " WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = (SELECT n.id FROM n WHERE n.verdict IS NULL)"
            " RETURNING " NGX_SVC_SCIM_COLUMNS
        "), i AS ("
            NGX_SVC_SCIM_INSERT(" AND NOT EXISTS (SELECT FROM o)", "")
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_CREATED, "i.id::text", "NULL",
                          "'{\"source\":\"scim\"}'::jsonb", "FROM i")
            " UNION ALL"
            NGX_SVC_AUDIT_ROWS(
                "CASE WHEN u.status = 'active' AND o.status = 'deactivated'"
                    " THEN " NGX_SVC_A_USER_REACTIVATED(NGX_SVC_AUDIT_NAME)
                    " ELSE " NGX_SVC_A_USER_UPDATED(NGX_SVC_AUDIT_NAME)
                    " END, 'user'",
                "u.id::text", "NULL",
                "'{\"source\":\"scim\"}' || " NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("user_name", "email")
                    NGX_SVC_SCIM_PROFILE(NGX_SVC_PROFILE_DIFFERS)
                    ", " NGX_SVC_DIFFERS("status", "status")),
                "FROM u, o")
        ")"
        " SELECT r.*, CASE WHEN r.id IS NULL"
            " AND current_setting('svc.tenant', true) <> ''"
            " THEN coalesce((SELECT n.verdict FROM n),"
                " svc.user_conflict($2, $3), 'user_account_user_name_key')"
            " END, CASE WHEN EXISTS (SELECT FROM i) THEN "
            NGX_SVC_EVENT_SUBSCRIBERS("user.created") " END"
        " FROM (SELECT) one LEFT JOIN ("
            "SELECT * FROM i UNION ALL SELECT * FROM u) r ON true",
    NGX_SVC_PARAMS(ngx_svc_scim_insert_params()),
    NGX_SVC_SCIM_RFC_VERDICTS,
    .verdict = NGX_SVC_SCIM_COL_VERDICT
};

/*
 * As scim_change, with the address, of which all is as when an administrator
 * changes it: the new one is not verified, unless it is the same one written
 * otherwise, nobody is signed in any more, and the old one is told by mail.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_rfc_change = {
    .name = "scim_rfc_change",
    .text =
        "WITH o AS ("
            "SELECT id, role, source, updated_at, status,"
                " $17 AND " NGX_SVC_PROFILE_MOVES("$18::text", "k") " AS moves"
                NGX_SVC_SCIM_RFC_PROFILE(NGX_SVC_PROFILE_COLUMN)
            " FROM svc.user_account k WHERE tenant_id = " NGX_SVC_TENANT
            " AND id = $1 AND " NGX_SVC_SCIM_EXISTS " FOR UPDATE"
        "), n AS ("
            "SELECT id" NGX_SVC_SCIM_RFC_PROFILE(NGX_SVC_PROFILE_WANTED)
                NGX_SVC_SCIM_STATUS_WANTED ","
                " CASE WHEN NOT " NGX_SVC_SCIM_IF_MATCH("$19", "o")
                    " THEN 'precondition'"
                " WHEN moves AND " NGX_SVC_SCIM_FIXED " THEN 'fixed'"
                " WHEN moves OR $2 AND $3 <> coalesce(external_id, '')"
                    " THEN svc.user_conflict("
                        "CASE WHEN moves THEN $18::text END,"
                        " CASE WHEN $2 AND $3 <> coalesce(external_id, '')"
                            " THEN $3::text END) END AS verdict"
            " FROM o"
        "), u AS ("
            "SELECT n.*, o.moves FROM n, o WHERE n.verdict IS NULL"
                " AND (n.status" NGX_SVC_SCIM_RFC_PROFILE(NGX_SVC_PROFILE_NEW)
                ") IS DISTINCT FROM"
                " (o.status" NGX_SVC_SCIM_RFC_PROFILE(NGX_SVC_PROFILE_OLD) ")"
        "), w AS ("
            "UPDATE svc.user_account a SET status = u.status,"
                " email_verified = a.email_verified AND NOT u.moves,"
                " valid_after = CASE WHEN u.status IN ('active', a.status)"
                    " AND NOT u.moves"
                    " THEN a.valid_after ELSE clock_timestamp() END,"
                " user_name_key = " NGX_SVC_PROFILE_KEY("u.moves", "u") ","
                " search = " NGX_SVC_PROFILE_SEARCH("u") ","
                " updated_at = " NGX_SVC_CHANGED_AT("a")
                NGX_SVC_SCIM_RFC_PROFILE(NGX_SVC_PROFILE_SET)
            " FROM u WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"
        "), e AS ("
            NGX_SVC_AUDIT_AS(
                NGX_SVC_SCIM_CHANGED_ACTION("o.status"), "u.id::text", "NULL",
                NGX_SVC_SCIM_CHANGED_DETAILS(
                    NGX_SVC_SCIM_RFC_PROFILE(NGX_SVC_PROFILE_DIFFERS)
                    ", " NGX_SVC_DIFFERS("status", "status")),
                "FROM u, o")
        ")"
        " SELECT n.verdict, m.*"
        " FROM n LEFT JOIN LATERAL ("
            NGX_SVC_NOTICE("$1", "$20",
                "n.verdict IS NULL AND (SELECT o.moves FROM o)")
        ") m ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER),
                   NGX_SVC_SCIM_PROFILE(ngx_svc_scim_params)
                   ngx_svc_param_call(ngx_svc_scim_status),
                   ngx_svc_scim_params(USER_NAME, user_name)
                   ngx_svc_param_scim_if_match(),
                   ngx_svc_param_notice()),
    NGX_SVC_SCIM_RFC_VERDICTS,
    .missing = NGX_SVC_SCIM_NO_USER
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_rfc_delete = {
    .name = "scim_rfc_delete",
    .text =
        "WITH o AS ("
            "SELECT id, status, updated_at FROM svc.user_account"
            " WHERE tenant_id = " NGX_SVC_TENANT
            " AND id = $1 AND " NGX_SVC_SCIM_EXISTS " FOR NO KEY UPDATE"
        "), n AS ("
            "SELECT CASE WHEN NOT " NGX_SVC_SCIM_IF_MATCH("$2", "o")
                " THEN 'precondition' END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET status = 'deactivated',"
                " valid_after = clock_timestamp(),"
                " updated_at = " NGX_SVC_CHANGED_AT("a") ","
                " scim_deleted = true"
            " FROM n WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND n.verdict IS NULL"
            " RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT_AS(
                "CASE o.status WHEN 'deactivated' THEN "
                    NGX_SVC_A_USER_UPDATED(NGX_SVC_AUDIT_NAME)
                    " ELSE " NGX_SVC_A_USER_DEACTIVATED(NGX_SVC_AUDIT_NAME)
                    " END, 'user'",
                "u.id::text", "NULL",
                "jsonb_build_object('source', 'scim', 'deleted', true,"
                    " 'changed', CASE o.status WHEN 'deactivated'"
                    " THEN '[]'::jsonb ELSE '[\"status\"]' END)",
                "FROM u, o")
        ")"
        " SELECT verdict FROM n",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_SCIM_NO_USER),
                   ngx_svc_param_scim_if_match()),
    NGX_SVC_SCIM_RFC_VERDICTS,
    .missing = NGX_SVC_SCIM_NO_USER
};


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
