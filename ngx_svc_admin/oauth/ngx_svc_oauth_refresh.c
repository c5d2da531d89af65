/*
 * The grant type refresh_token (RFC 6749, 6).
 *
 * Each use has a successor.  Who shows a token again for a short while gets the
 * same one: answers are lost, and tabs refresh at the same time.  Later, or
 * when the successor has been used, two have the token, and its grant ends.
 */

#include "ngx_svc_oauth_granted.h"
#include "ngx_svc_oauth_token.h"


static ngx_int_t ngx_svc_oauth_refresh_check(ngx_svc_oauth_t *o);


#define NGX_SVC_OAUTH_REFRESH_VERDICT                                         \
    "coalesce(e.verdict, CASE"                                                \
    " WHEN p.id IS NULL OR p.revoked_at IS NOT NULL"                          \
        " OR p.expires_at <= now() THEN 'refresh'"                            \
    " WHEN c.used_at <= now() - interval '30 seconds'"                        \
        " OR n.used_at IS NOT NULL THEN 'refresh_reused'"                     \
    " WHEN c.expires_at <= now()"                                             \
        " OR c.successor <> ALL ($17::text::bytea[]) THEN 'refresh'"          \
    " WHEN c.jkt <> coalesce($8::bytea, '') THEN 'refresh_proof'"             \
    " WHEN u.status <> 'active' OR " NGX_SVC_OAUTH_GRANTED_CUT                \
        " THEN 'refresh'"                                                     \
    " WHEN NOT " NGX_SVC_OAUTH_ASSIGNED("p.user_id") " THEN 'refresh_group'"  \
    " WHEN " NGX_SVC_OAUTH_GRANTED_UNASKED " THEN 'refresh_unasked'"          \
    NGX_SVC_OAUTH_GRANTED_VERDICT("$18") " END)"

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_refresh = {
    .name = "oauth_refresh",
    .text =
        "WITH c AS ("
            NGX_SVC_OAUTH_GRANTED_SHOWN("svc.oauth_refresh")
        "), v AS ("
            "SELECT " NGX_SVC_OAUTH_REFRESH_VERDICT " AS verdict,"
                NGX_SVC_OAUTH_GRANTED_COLUMNS ", c.successor"
            " FROM " NGX_SVC_OAUTH_GRANTED_FROM("'refresh_token'")
            " LEFT JOIN LATERAL (SELECT k.used_at FROM svc.oauth_refresh k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.digest BETWEEN c.successor AND c.successor"
                " ORDER BY k.digest LIMIT 1) n ON true"
        "), x AS ("
            "UPDATE svc.oauth_refresh k SET used_at = now(),"
                " successor = ($17::text::bytea[])[1]"
            " FROM v WHERE v.verdict IS NULL AND v.successor IS NULL"
                " AND k.tenant_id = " NGX_SVC_TENANT
                " AND k.digest = $16::bytea AND k.used_at IS NULL"
        "), i AS ("
            NGX_SVC_OAUTH_INSERT("'refresh_token'", "$7", "$8", "$9", "$10")
        "), r AS ("
            NGX_SVC_OAUTH_GRANTED_REFRESH("($17::text::bytea[])[1]",
                                          "v.successor IS NULL")
        "), d AS ("
            NGX_SVC_OAUTH_GRANTED_DELEGATION("'refresh_token'")
        "), " NGX_SVC_OAUTH_GRANTED_REVOKE("'refresh_reused'",
                                           "'refresh_reused'")
        NGX_SVC_OAUTH_GRANTED_ROW(
            "CASE WHEN v.successor IS NULL THEN 1"
            " ELSE array_position($17::text::bytea[], v.successor) END",
            "NULL::text"),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_GRANTED_PARAMS,
                   ngx_svc_oauth_granted_param(digests),
                   ngx_svc_oauth_param(fault))
};


const ngx_svc_oauth_grant_t  ngx_svc_oauth_refresh = {
    .name = ngx_string("refresh_token"),
    .metric = NGX_SVC_M_TOKEN_REFRESH,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_refresh_check,
    .statement = &ngx_svc_sql_oauth_refresh,
    .refuse = ngx_svc_oauth_granted_refuse,
    .more = ngx_svc_oauth_granted_more
};


static ngx_int_t
ngx_svc_oauth_refresh_check(ngx_svc_oauth_t *o)
{
    ngx_int_t                 rc;
    ngx_str_t                 token;
    ngx_svc_main_conf_t      *smcf;
    ngx_svc_oauth_granted_t  *granted;

    smcf = ngx_http_get_module_main_conf(o->sr->request,
                                         ngx_http_svc_common_module);

    granted = ngx_svc_oauth_granted_new(o);
    if (granted == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_granted_shown(o, "refresh_token", &token);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_resource(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_scope(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_refresh_token_successors(&smcf->keys, &token,
                                                    granted->digest.data,
                                                    &granted->tokens);
    }

    return rc == NGX_OK
           ? ngx_svc_oauth_refresh_token_digests(o->sr->request->pool,
                                                 &granted->tokens,
                                                 &granted->digests)
           : rc;
}
