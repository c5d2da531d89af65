/*
 * /v1/admin/identities: humans, services and agents in one list.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_agent_state.h"


static const char *const  ngx_svc_admin_identity_types[] = {
    "human", "service", "agent", NULL
};

static const char *const  ngx_svc_admin_identity_statuses[] = {
    "active", "suspended", "deactivated", "expired", "revoked", "disabled",
    "orphaned", NULL
};


/* Those that are not users, as rows of one form. */

#define NGX_SVC_ADMIN_IDENTITY_TOKENS                                         \
    "SELECT k.id::text COLLATE \"C\" AS id, 'service' AS type, k.name,"       \
        " CASE k.created_by_type WHEN 'user'"                                 \
            " THEN k.created_by_id::uuid END AS owner_id,"                    \
        " CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'"                  \
            " WHEN k.expires_at <= now() THEN 'expired'"                      \
            " ELSE 'active' END AS status, k.last_used_at AS active_at,"      \
        " k.expires_at, k.created_at"                                         \
    " FROM svc.credential k WHERE k.tenant_id = " NGX_SVC_TENANT              \
        " AND k.kind = 'api'"                                                 \
        " AND coalesce($5, 'service') = 'service'"                            \
        " AND coalesce($2, 'active') IN ('active', 'expired', 'revoked')"

#define NGX_SVC_ADMIN_IDENTITY_APPLICATIONS                                   \
    "SELECT a.client_id, CASE a.type WHEN 'agent' THEN 'agent'"               \
            " ELSE 'service' END, a.name, a.owner_id,"                        \
        " CASE WHEN a.type = 'agent' THEN "                                   \
            NGX_SVC_AGENT_STATE("a", "("                                      \
                NGX_SVC_ROW("k.status", "svc.user_account", "a.owner_id")     \
                ")")                                                          \
            " WHEN a.enabled THEN 'active' ELSE 'disabled' END,"              \
        " a.last_used_at, a.expires_at, a.created_at"                         \
    " FROM svc.application a WHERE a.tenant_id = " NGX_SVC_TENANT             \
        " AND a.type IN ('m2m', 'agent')"                                     \
        " AND coalesce($5, 'service') <> 'human'"                             \
        " AND coalesce($2, 'active')"                                         \
            " IN ('active', 'disabled', 'expired', 'orphaned')"

/*
 * "s" has all that are not users, a branch for each table: some thousands at
 * most.  A user of which as many are newer as the offset has beyond their
 * number "n" is on no later page, however they mix; so "h" needs no users but
 * the page's and n more.  "m" merges the two.  What no status or type has, as
 * asked for, is not looked at.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_identities_list = {
    .name = "admin_identities_list",
    .text =
        "WITH s AS MATERIALIZED ("
            "SELECT c.id, c.type, c.name, NULL AS email, c.owner_id, c.status,"
                " c.active_at, c.expires_at, c.created_at"
            " FROM (" NGX_SVC_ADMIN_IDENTITY_TOKENS
                " UNION ALL " NGX_SVC_ADMIN_IDENTITY_APPLICATIONS ") c"
            " WHERE coalesce($5::text, c.type) = c.type"
                " AND ($2::text IS NULL OR c.status = $2)"
                " AND ($1::text IS NULL OR strpos(' ' || lower(c.name),"
                    " CASE WHEN char_length(btrim($1)) < 3 THEN ' ' ELSE '' END"
                    " || lower(btrim($1))) > 0)"
        "), n AS ("
            "SELECT count(*)::int4 AS n,"
                " least(count(*), $4::int4)::int4 AS skip FROM s"
        "), h AS MATERIALIZED ("
            "SELECT p.total, p.ids FROM n, svc.user_page($1, $2,"
                " $3::int4 + n.skip, $4::int4 - n.skip) p"
            " WHERE coalesce($5, 'human') = 'human' AND coalesce($2, 'active')"
                " IN ('active', 'suspended', 'deactivated')"
        "), m AS ("
            "SELECT u.id::text COLLATE \"C\" AS id, 'human' AS type,"
                " coalesce(u.display_name,"
                " nullif(concat_ws(' ', u.first_name, u.last_name), ''),"
                " u.user_name) AS name, u.user_name AS email,"
                " NULL::uuid AS owner_id, u.status,"
                " u.last_login_at AS active_at,"
                " NULL::timestamptz AS expires_at, u.created_at"
            " FROM h, unnest(h.ids) i (id) CROSS JOIN LATERAL ("
                NGX_SVC_ROW("k.*", "svc.user_account", "i.id") ") u"
            " UNION ALL SELECT * FROM s"
            " ORDER BY created_at DESC, id DESC"
            " LIMIT $3::int4 OFFSET (SELECT skip FROM n)"
        ")"
        " SELECT n.n + coalesce(h.total, 0) AS _total, m.id, m.type, m.name,"
            " m.email, o.id AS \"owner.id\", o.user_name AS \"owner.email\","
            " m.status, CASE WHEN m.type = 'agent' THEN "
                NGX_SVC_AGENT_ANOMALIES("m.id")
                " ELSE 0 END AS anomalies, m.active_at AS \"lastActiveAt\","
            " m.expires_at AS \"expiresAt\", m.created_at AS \"createdAt\""
        " FROM n LEFT JOIN h ON true LEFT JOIN m ON true"
        " LEFT JOIN LATERAL ("
            NGX_SVC_ROW("k.id, k.user_name", "svc.user_account", "m.owner_id")
            ") o ON true"
        " ORDER BY m.created_at DESC, m.id DESC",
    NGX_SVC_PARAMS(ngx_svc_param_query("q", NGX_SVC_ADMIN_QUERY),
                   ngx_svc_param_query_word("status",
                                            ngx_svc_admin_identity_statuses),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset(),
                   ngx_svc_param_query_word("type",
                                            ngx_svc_admin_identity_types))
};


const ngx_svc_route_t  ngx_svc_admin_identities[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/identities"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_identities_list },
      .list = "identities" },

    ngx_svc_null_route
};
