/*
 * POST /v1/admin/agents/{clientId}/policy/simulate: what the tokens of the last
 * days would have been under a policy, and what becomes of those that live.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_oauth_live.h"


#define NGX_SVC_ADMIN_AGENT_SIMULATE_DAYS    30
#define NGX_SVC_ADMIN_AGENT_SIMULATE_TOKENS  10000
#define NGX_SVC_ADMIN_AGENT_SIMULATE_VALUES  100


static ngx_int_t ngx_svc_admin_agent_issuer(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/* SQL.  Scopes that a policy is about: "offline_access" is no part of it. */

#define NGX_SVC_ADMIN_AGENT_SCOPES(scopes)                                    \
    "array_remove(" scopes ", 'offline_access')"

/*
 * Of a token that lives, "x", and the policy "n" that would be: whether it
 * loses a scope that it has today, and whether it had one, and would have none.
 */

#define NGX_SVC_ADMIN_AGENT_LOSES                                             \
    "EXISTS (SELECT FROM unnest("                                             \
        NGX_SVC_ADMIN_AGENT_SCOPES("x.now_scopes") ") s"                      \
    " WHERE s <> ALL (n.allowed_scopes))"

#define NGX_SVC_ADMIN_AGENT_BARE                                              \
    "(cardinality(" NGX_SVC_ADMIN_AGENT_SCOPES("x.scopes") ") > 0"            \
    " AND NOT EXISTS (SELECT FROM unnest(x.scopes) s"                         \
        " WHERE s = ANY (o.scopes)"                                           \
            " AND coalesce(s = ANY (n.allowed_scopes), true)))"

#define NGX_SVC_ADMIN_AGENT_ENDS                                              \
    "(x.issued_at + least(x.ttl, n.max_token_ttl) * interval '1 second')"

/*
 * "t" is the newest tokens, and one more, which tells that there are more; "s"
 * what they would have been, "r" why not, and "l" those that live.  Who asks
 * for no target gets the only one that is allowed.  $10 is the beginning of the
 * issuer, which is the target of who got no other one.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_simulate = {
    .name = "admin_agent_simulate",
    .text =
        "WITH " NGX_SVC_AGENT_POLICY
        ", t AS MATERIALIZED ("
            "SELECT k.*, coalesce(k.audience_key, $10 || i.slug) AS target,"
                " row_number() OVER (ORDER BY k.issued_at DESC, k.jti) AS n"
            " FROM o CROSS JOIN (SELECT slug FROM svc.tenant"
                    " WHERE id = " NGX_SVC_TENANT ") i"
                " CROSS JOIN LATERAL (SELECT k AS token, k.issued_at, k.jti,"
                        " k.ttl, k.scopes, k.audience, k.audience_key"
                    " FROM svc.oauth_token k"
                    " WHERE k.tenant_id = " NGX_SVC_TENANT
                        " AND k.client_id BETWEEN $1 AND $1"
                        " AND k.issued_at"
                            " > now() - $11::int4 * interval '24 hours'"
                    " ORDER BY k.client_id DESC, k.issued_at DESC"
                    " LIMIT $12::int4 + 1) k"
        "), s AS MATERIALIZED ("
            "SELECT t.*, NOT n.enabled AS off,"
                " n.allowed_audience_keys IS NOT NULL"
                    " AND NOT t.target = ANY (n.allowed_audience_keys)"
                    " AND NOT (t.audience IS NULL"
                        " AND cardinality(n.allowed_audience_keys) = 1)"
                    " AS elsewhere,"
                " ARRAY(SELECT x FROM unnest("
                        NGX_SVC_ADMIN_AGENT_SCOPES("t.scopes") ") x"
                    " WHERE x <> ALL (n.allowed_scopes)) AS beyond,"
                " coalesce(n.allowed_scopes = '{}', false) AS nothing,"
                " coalesce(t.ttl > n.max_token_ttl, false) AS longer"
            " FROM t, n WHERE t.n <= $12"
        "), v AS MATERIALIZED ("
            "SELECT s.*, s.off OR s.elsewhere OR s.nothing"
                " OR cardinality(s.beyond) > 0 AS refused FROM s"
        "), r AS ("
            "SELECT 'disabled' AS reason, NULL AS value, issued_at FROM v"
                " WHERE off"
            " UNION ALL SELECT 'audience', audience, issued_at FROM v"
                " WHERE elsewhere"
            " UNION ALL SELECT 'scope', x, issued_at"
                " FROM v, unnest(v.beyond) x"
            " UNION ALL SELECT 'scope', NULL, issued_at FROM v"
                " WHERE nothing AND cardinality(beyond) = 0"
        "), w AS ("
            "SELECT reason, value, count(*) AS tokens, max(issued_at) AS seen"
            " FROM r GROUP BY reason, value"
            " ORDER BY tokens DESC, reason, value COLLATE \"C\" LIMIT $13::int4"
        "), l AS ("
            "SELECT NOT n.enabled OR " NGX_SVC_ADMIN_AGENT_ENDS " <= now()"
                " OR " NGX_SVC_ADMIN_AGENT_BARE
                " OR n.allowed_audience_keys IS NOT NULL"
                    " AND NOT v.target = ANY (n.allowed_audience_keys) AS dies,"
                " " NGX_SVC_ADMIN_AGENT_ENDS " < x.ends"
                " OR " NGX_SVC_ADMIN_AGENT_LOSES " AS narrows"
            " FROM v CROSS JOIN o CROSS JOIN n"
            " JOIN svc.tenant t ON t.id = " NGX_SVC_TENANT
            " JOIN svc.oauth_tenant g ON g.tenant_id = " NGX_SVC_TENANT
            " CROSS JOIN LATERAL "
                NGX_SVC_OAUTH_LIVE("SELECT (v.token).*", "$10") " x"
            " WHERE v.issued_at + v.ttl * interval '1 second' > now()"
        ")"
        " SELECT a.tokens AS \"sample.tokens\","
            " CASE WHEN m.more THEN a.first"
                " ELSE now() - $11 * interval '24 hours' END"
                " AS \"sample.from\","
            " now() AS \"sample.to\", m.more AS \"sample.truncated\","
            " a.unchanged AS \"summary.unchanged\","
            " a.shortened AS \"summary.shortened\","
            " a.refused AS \"summary.refused\","
            " coalesce((SELECT json_agg(json_build_object('reason', reason,"
                " 'value', value, 'tokens', tokens, 'lastSeenAt', "
                NGX_SVC_TIME_TEXT("seen") ")) FROM w), '[]') AS refused,"
            " c.tokens AS \"live.tokens\", c.die AS \"live.wouldDie\","
            " c.narrow AS \"live.wouldNarrow\""
        " FROM o, (SELECT count(*) AS tokens, min(issued_at) AS first,"
                " count(*) FILTER (WHERE NOT refused AND NOT longer)"
                    " AS unchanged,"
                " count(*) FILTER (WHERE NOT refused AND longer) AS shortened,"
                " count(*) FILTER (WHERE refused) AS refused FROM v) a,"
            " (SELECT count(*) > $12 AS more FROM t) m,"
            " (SELECT count(*) AS tokens, count(*) FILTER (WHERE dies) AS die,"
                " count(*) FILTER (WHERE narrows AND NOT dies) AS narrow"
                " FROM l) c",
    NGX_SVC_PARAMS(ngx_svc_agent_policy_params,
                   ngx_svc_param_call(ngx_svc_admin_agent_issuer),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_AGENT_SIMULATE_DAYS),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_AGENT_SIMULATE_TOKENS),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_AGENT_SIMULATE_VALUES)),
    .missing = NGX_SVC_NO_AGENT
};


const ngx_svc_route_t  ngx_svc_admin_agent_simulate[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/agents/*/policy/simulate"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SLOW_POOL|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_agent_policy_members,
      .body_size = sizeof(ngx_svc_agent_policy_t),
      .check = ngx_svc_agent_policy_check,
      .statements = { &ngx_svc_sql_admin_agent_simulate } },

    ngx_svc_null_route
};


/* The key of a tenant's issuer, but for the slug that it ends with. */

static ngx_int_t
ngx_svc_admin_agent_issuer(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char              *p;
    ngx_str_t            uri, key;
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    uri.len = slcf->base_url.len + sizeof("/oauth/t/") - 1;

    p = ngx_pnalloc(sr->request->pool, 2 * uri.len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    uri.data = p;
    key.data = p + uri.len;

    p = ngx_cpymem(p, slcf->base_url.data, slcf->base_url.len);
    ngx_memcpy(p, "/oauth/t/", sizeof("/oauth/t/") - 1);

    ngx_svc_pg_bind_str(call, ngx_svc_application_resource(&uri, &key) == NGX_OK
                              ? &key : NULL);

    return NGX_OK;
}
