/*
 * The grant type client_credentials (RFC 6749, 4.4): a client's own tokens.
 */

#include "ngx_svc_oauth_token.h"


static ngx_int_t ngx_svc_oauth_client_credentials_check(ngx_svc_oauth_t *o);


/*
 * SQL: what "a" may have of itself: of its scopes, but those of users, the ones
 * below its ceiling.
 */

#define NGX_SVC_OAUTH_OWN_SCOPES                                              \
    "ARRAY(SELECT s FROM unnest(a.scopes) s"                                  \
        " WHERE s <> ALL (" NGX_SVC_OAUTH_USER_SCOPES ")"                     \
            " AND (a.allowed_scopes IS NULL OR s = ANY (a.allowed_scopes)))"

#define NGX_SVC_OAUTH_OWN_VERDICT                                             \
    "CASE" NGX_SVC_OAUTH_VERDICT_CLIENT("$2::bool")                           \
    NGX_SVC_OAUTH_VERDICT_STATE("s.state")                                    \
    NGX_SVC_OAUTH_VERDICT_GRANT("'client_credentials'")                       \
    NGX_SVC_OAUTH_VERDICT_PROOF("$8")                                         \
    NGX_SVC_OAUTH_VERDICT_FAULT("$13", NGX_SVC_OAUTH_FAULT_TARGET)            \
    " WHEN " NGX_SVC_OAUTH_AUDIENCE_DENIED("a", "$5::text")                   \
        " THEN 'audience'"                                                    \
    NGX_SVC_OAUTH_VERDICT_FAULT("$13", NGX_SVC_OAUTH_FAULT_SCOPE)             \
    " WHEN a.allowed_scopes = '{}' OR NOT $3::text::text[] <@ o.scopes"       \
        " THEN coalesce('scope ' || (SELECT s FROM unnest($3::text::text[]) s"\
                " WHERE s <> ALL (a.scopes)"                                  \
                    " OR s = ANY (" NGX_SVC_OAUTH_USER_SCOPES ") LIMIT 1),"   \
            " 'scope_ceiling ' || coalesce("                                  \
                "(SELECT s FROM unnest($3::text::text[]) s"                   \
                    " WHERE s <> ALL (o.scopes) LIMIT 1), ''))"               \
    " WHEN octet_length(array_to_string("                                     \
            "coalesce($3::text::text[], o.scopes), ' ')) > $12"               \
        " THEN 'scope_long'"                                                  \
    " WHEN a.access_token_format = 'jwt' AND y.kid IS NULL THEN 'key' END"

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own = {
    .name = "oauth_own",
    .text =
        "WITH v AS ("
            "SELECT " NGX_SVC_OAUTH_OWN_VERDICT " AS verdict,"
                " t.slug, a.access_token_format AS format, m.ms, "
                NGX_SVC_OAUTH_JTI_OF("m.ms", "$6::text") " AS jti,"
                " a.client_id, a.client_id AS subject, NULL::uuid AS user_id,"
                " NULL::uuid AS grant_id, NULL::uuid AS root_jti,"
                " NULL::uuid AS parent_jti, NULL::text[] AS chain,"
                " ARRAY[a.client_id] AS principals,"
                " coalesce($3::text::text[], o.scopes) AS scopes,"
                " " NGX_SVC_OAUTH_AUDIENCE_COLUMNS(
                    NGX_SVC_OAUTH_AUDIENCE("a", "$4::text"),
                    NGX_SVC_OAUTH_AUDIENCE_KEY("a", "$5::text"), "$11") ","
                " y.kid, y.sealed, a.allowed_scopes, a.allowed_audiences,"
                " least(a.access_token_ttl, a.max_token_ttl,"
                    " " NGX_SVC_OAUTH_TTL_LEFT("a")
                    ") AS ttl"
            " FROM " NGX_SVC_OAUTH_CLIENT("$1") NGX_SVC_OAUTH_KEY
            " CROSS JOIN (SELECT " NGX_SVC_OAUTH_MS " AS ms) m"
            " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_STATE("a", "g")
                " AS state) s"
            " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_OWN_SCOPES
                " AS scopes) o"
        "), i AS ("
            NGX_SVC_OAUTH_INSERT("'client_credentials'", "$7", "$8", "$9",
                                 "$10")
        ")"
        " SELECT " NGX_SVC_OAUTH_ROW("NULL::bigint") " FROM v",
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(client.public),
                   ngx_svc_oauth_param(scopes),
                   ngx_svc_oauth_param(resource),
                   ngx_svc_oauth_param(resource_key),
                   ngx_svc_oauth_param(jti),
                   ngx_svc_oauth_param(secret_hash),
                   ngx_svc_oauth_param(jkt),
                   ngx_svc_oauth_param(ip),
                   ngx_svc_oauth_param(country),
                   ngx_svc_oauth_param(issuer),
                   ngx_svc_param_constant(NGX_SVC_OAUTH_SCOPE_MAX),
                   ngx_svc_oauth_param(fault))
};


const ngx_svc_oauth_grant_t  ngx_svc_oauth_client_credentials = {
    .name = ngx_string("client_credentials"),
    .metric = NGX_SVC_M_TOKEN_CLIENT,
    .login = NGX_SVC_OAUTH_LOGIN_ASYNC,
    .check = ngx_svc_oauth_client_credentials_check,
    .statement = &ngx_svc_sql_oauth_own
};


static ngx_int_t
ngx_svc_oauth_client_credentials_check(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_later(o, ngx_svc_oauth_resource(o));

    return rc == NGX_OK ? ngx_svc_oauth_later(o, ngx_svc_oauth_scope(o)) : rc;
}
