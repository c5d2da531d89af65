/*
 * /v1/oauth/consents: what applications may do for the caller, by his consent
 * or by a grant that lives.
 */

#include "ngx_svc_application.h"
#include "ngx_svc_oauth_sql.h"
#include "ngx_svc_signin.h"


#define NGX_SVC_ADMIN_NO_CONSENT  "There is no consent of yours to this client."


/* SQL: the caller's session. */

#define NGX_SVC_ADMIN_CONSENT_OWN                                             \
    "(" NGX_SVC_SESSION_ROW("k.user_id", "$1") ") o"

#define NGX_SVC_ADMIN_CONSENT_OWNER                                           \
    "(SELECT u.id AS user_id, u.valid_after FROM " NGX_SVC_ADMIN_CONSENT_OWN  \
        " CROSS JOIN LATERAL ("                                               \
            NGX_SVC_ROW("k.id, k.valid_after", "svc.user_account",            \
                        "o.user_id") ") u) o"

/* Those of one user, as svc.oauth_consent has what is allowed. */

#define NGX_SVC_ADMIN_CONSENT_KEPT                                            \
    "SELECT k.client_id, k.allowed, k.created_at, k.updated_at"               \
    " FROM svc.oauth_consent k"                                               \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.user_id BETWEEN o.user_id AND o.user_id"                      \
    " ORDER BY k.user_id, k.client_id OFFSET 0"

/* An application that did not have to ask has a grant alone. */

#define NGX_SVC_ADMIN_CONSENT_GRANTS                                          \
    "SELECT n.client_id, "                                                    \
        NGX_SVC_OAUTH_ALLOWED(NGX_SVC_OAUTH_ALLOWED_AT("n"), "n.scopes")      \
        " AS allowed, n.created_at, n.created_at"                             \
    " FROM (SELECT k.client_id, k.resource_keys, k.scopes, k.created_at,"     \
            " k.revoked_at, k.expires_at, k.session_at"                       \
        " FROM svc.oauth_grant k WHERE k.tenant_id = " NGX_SVC_TENANT         \
            " AND k.user_id BETWEEN o.user_id AND o.user_id"                  \
        " ORDER BY k.user_id OFFSET 0) n"                                     \
    " WHERE n.revoked_at IS NULL AND n.expires_at > now()"                    \
        " AND n.session_at >= coalesce(o.valid_after, '-infinity')"

#define NGX_SVC_ADMIN_CONSENT_LIST                                            \
    " FROM " NGX_SVC_ADMIN_CONSENT_OWNER " CROSS JOIN LATERAL ("              \
        "SELECT l.client_id, min(l.created_at) AS created_at,"                \
            " max(l.updated_at) AS updated_at,"                               \
            " array_agg(DISTINCT p.pair) AS allowed"                          \
        " FROM ((" NGX_SVC_ADMIN_CONSENT_KEPT ") UNION ALL ("                 \
            NGX_SVC_ADMIN_CONSENT_GRANTS ")) l"                               \
        " CROSS JOIN LATERAL unnest(l.allowed) p (pair)"                      \
        " GROUP BY l.client_id) c"

/* Of the pairs "c.allowed": what is before the space, and what is behind. */

#define NGX_SVC_ADMIN_CONSENT_PART(n)                                         \
    "(SELECT coalesce(json_agg(DISTINCT e.part ORDER BY e.part), '[]')"       \
        " FROM (SELECT split_part(p, ' ', " #n ") COLLATE \"C\" AS part"      \
            " FROM unnest(c.allowed) p) e WHERE e.part <> '')"

#define NGX_SVC_ADMIN_CONSENT_ACCESS                                          \
    "(SELECT coalesce(json_agg(json_build_object("                            \
            "'resource', nullif(e.key, ''), 'scopes', e.scopes)"              \
            " ORDER BY e.key), '[]')"                                         \
        " FROM (SELECT split_part(p, ' ', 1) COLLATE \"C\" AS key,"           \
            " coalesce(json_agg(split_part(p, ' ', 2) ORDER BY p)"            \
                " FILTER (WHERE split_part(p, ' ', 2) <> ''), '[]') AS scopes"\
            " FROM unnest(c.allowed) p GROUP BY 1) e)"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_consents_total = {
    .name = "admin_consents_total",
    .text = "SELECT count(*)" NGX_SVC_ADMIN_CONSENT_LIST,
    NGX_SVC_PARAMS(ngx_svc_param_session())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_consents_list = {
    .name = "admin_consents_list",
    .text =
        "SELECT c.client_id AS \"clientId\", a.name, a.type,"
            " " NGX_SVC_ADMIN_CONSENT_PART(2) " AS scopes,"
            " " NGX_SVC_ADMIN_CONSENT_PART(1) " AS resources,"
            " " NGX_SVC_ADMIN_CONSENT_ACCESS " AS access,"
            " c.created_at AS \"createdAt\", c.updated_at AS \"updatedAt\""
        " FROM (SELECT c.*" NGX_SVC_ADMIN_CONSENT_LIST
            " ORDER BY c.updated_at DESC, c.client_id"
            " LIMIT $2::int4 OFFSET $3::int4) c"
        " CROSS JOIN LATERAL ("
            NGX_SVC_OAUTH_APPLICATION("k.name, k.type", "c.client_id") ") a"
        " ORDER BY c.updated_at DESC, c.client_id",
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

/*
 * The consent goes first: what was granted by it while this has waited is seen
 * by the statement behind.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_consent_delete = {
    .name = "admin_consent_delete",
    .text =
        "DELETE FROM svc.oauth_consent c"
        " WHERE c.tenant_id = " NGX_SVC_TENANT
            " AND (c.user_id, c.client_id) = ("
                "SELECT k.user_id, k.client_id FROM " NGX_SVC_ADMIN_CONSENT_OWN
                " CROSS JOIN LATERAL (SELECT k.user_id, k.client_id"
                    " FROM svc.oauth_consent k"
                    " WHERE k.tenant_id = " NGX_SVC_TENANT
                        " AND k.user_id BETWEEN o.user_id AND o.user_id"
                        " AND k.client_id BETWEEN $2 AND $2"
                    " ORDER BY k.user_id, k.client_id LIMIT 1) k)"
        " RETURNING set_config('svc.consent', c.client_id, true)",
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_application(0))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_consent_grants = {
    .name = "admin_consent_grants",
    .text =
        "WITH g AS ("
            "SELECT n.id FROM " NGX_SVC_ADMIN_CONSENT_OWN
            " CROSS JOIN LATERAL ("
                "SELECT k.id, k.client_id, k.revoked_at, k.expires_at"
                " FROM svc.oauth_grant k WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.user_id BETWEEN o.user_id AND o.user_id"
                " ORDER BY k.user_id OFFSET 0) n"
            " WHERE n.client_id = $2 AND n.revoked_at IS NULL"
                " AND n.expires_at > now()"
        "), r AS ("
            "UPDATE svc.oauth_grant u"
            " SET revoked_at = now(), reason = 'consent_revoked'"
            " WHERE u.tenant_id = " NGX_SVC_TENANT
                " AND u.id = ANY (ARRAY(SELECT g.id FROM g))"
                " AND u.revoked_at IS NULL"
            " RETURNING u.id"
        "), n AS ("
            "SELECT count(r.id) AS grants FROM r"
        "), v AS ("
            "SELECT n.grants FROM n WHERE n.grants > 0"
                " OR current_setting('svc.consent', true) = $2"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_CONSENT_REVOKED, "$2", "a.name",
                "jsonb_build_object('grants', v.grants)",
                "FROM v LEFT JOIN LATERAL ("
                    NGX_SVC_OAUTH_APPLICATION("k.name", "$2") ") a ON true")
        ")"
        " SELECT grants FROM v",
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_application(0)),
    .missing = NGX_SVC_ADMIN_NO_CONSENT
};


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
