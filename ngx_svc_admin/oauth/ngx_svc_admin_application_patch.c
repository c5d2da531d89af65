/*
 * PATCH /v1/applications/{clientId}.
 */

#include "ngx_svc_application_store.h"
#include "ngx_svc_etag.h"


/*
 * From o to n: to whom codes and tokens go, of whom, and what they are good
 * for.  What only stops is none of it.
 */

#define NGX_SVC_ADMIN_APPLICATION_PATCH_LOOSENS                               \
    "((n.redirect_uris, n.require_consent, n.assignment)"                     \
        " <> (o.redirect_uris, o.require_consent, o.assignment)"              \
    " OR n.resource_uri IS DISTINCT FROM o.resource_uri"                      \
    " OR n.enabled AND NOT o.enabled"                                         \
    " OR o.require_dpop AND NOT n.require_dpop"                               \
    " OR o.require_pkce AND NOT n.require_pkce"                               \
    " OR o.require_acr AND NOT n.require_acr"                                 \
    " OR n.refresh_tokens = 'always' AND o.refresh_tokens <> 'always'"        \
    " OR n.groups_claim = 'all' AND o.groups_claim <> 'all'"                  \
    " OR n.id_token_ttl > o.id_token_ttl"                                     \
    " OR n.refresh_idle_days > o.refresh_idle_days"                           \
    " OR n.grant_days > o.grant_days"                                         \
    " OR n.default_resource_uri IS DISTINCT FROM o.default_resource_uri"      \
    " OR NOT n.id_token_claims <@ o.id_token_claims"                          \
    " OR NOT n.post_logout_redirect_uris <@ o.post_logout_redirect_uris"      \
    " OR n.backchannel_logout_uri IS DISTINCT FROM o.backchannel_logout_uri"  \
        " AND o.backchannel_logout_uri IS NOT NULL"                           \
    " OR n.auth_method <> o.auth_method"                                      \
    " OR n.jwks IS DISTINCT FROM o.jwks"                                      \
    " OR o.require_par AND NOT n.require_par"                                 \
    " OR o.security_profile IS NOT NULL AND n.security_profile IS NULL"       \
    " OR n.access_token_ttl > o.access_token_ttl"                             \
    " OR n.access_token_format <> o.access_token_format"                      \
    " OR NOT n.scopes <@ o.scopes OR NOT n.grant_types <@ o.grant_types)"

/* From o to u: what it proves itself with is not what it was. */

#define NGX_SVC_ADMIN_APPLICATION_PATCH_KEYS                                  \
    NGX_SVC_APPLICATION_KEYS_TEXT("u") " IS DISTINCT FROM "                   \
    NGX_SVC_APPLICATION_KEYS_TEXT("o")


/*
 * Behind both locks.  That of an agent that is switched on or off is a
 * change of its policy, too.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_patch = {
    .name = "admin_applications_patch",
    .text =
        "WITH o AS ("
            "SELECT a.* FROM svc.application a"
            " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.client_id = $1"
        "), n AS ("
            "SELECT o.client_id, o.type, coalesce($2, o.name) AS name,"
                " coalesce($4::bool, o.enabled) AS enabled,"
                " coalesce($5, o.assignment) AS assignment,"
                " coalesce($6::text::text[], o.redirect_uris)"
                    " AS redirect_uris,"
                " CASE WHEN $7::text IS NULL THEN o.scopes ELSE "
                    NGX_SVC_APPLICATION_SORTED("$7") " END AS scopes,"
                " CASE WHEN $8::text IS NULL THEN o.grant_types"
                    " WHEN $8 = '{}' THEN "
                    NGX_SVC_APPLICATION_OF_TYPE("o.type",
                        NGX_SVC_APPLICATION_TYPE_GRANTS)
                    " ELSE " NGX_SVC_APPLICATION_SORTED("$8")
                    " END AS grant_types,"
                " CASE WHEN $9 THEN $10 ELSE o.resource_uri END"
                    " AS resource_uri,"
                " CASE WHEN $9 THEN $11 ELSE o.resource_key END"
                    " AS resource_key,"
                " coalesce($12, o.access_token_format) AS access_token_format,"
                " coalesce($13::int4, o.access_token_ttl) AS access_token_ttl,"
                " coalesce($14::bool, o.require_consent) AS require_consent,"
                " coalesce($15::bool, "
                    NGX_SVC_APPLICATION_PROFILED("true", "o.require_dpop")
                    ") AS require_dpop,"
                " coalesce(b.\"signingAlg\", "
                    NGX_SVC_APPLICATION_PROFILED("'ES256'", "o.signing_alg")
                    ") AS signing_alg,"
                " coalesce(b.\"requirePkce\", "
                    NGX_SVC_APPLICATION_PROFILED("true", "o.require_pkce")
                    ") AS require_pkce,"
                " coalesce(b.\"requireAcr\", o.require_acr) AS require_acr,"
                " coalesce(b.\"unknownScopes\", o.unknown_scopes)"
                    " AS unknown_scopes,"
                " coalesce(b.\"refreshTokens\", o.refresh_tokens)"
                    " AS refresh_tokens,"
                " CASE WHEN b.\"idTokenClaims\" IS NULL"
                    " THEN o.id_token_claims ELSE "
                    NGX_SVC_APPLICATION_SORTED("b.\"idTokenClaims\"")
                    " END AS id_token_claims,"
                " coalesce(b.\"groupsClaim\", o.groups_claim)"
                    " AS groups_claim,"
                " coalesce(b.\"idTokenTtlSeconds\", o.id_token_ttl)::int4"
                    " AS id_token_ttl,"
                " coalesce(b.\"refreshIdleDays\", o.refresh_idle_days)::int4"
                    " AS refresh_idle_days,"
                " coalesce(b.\"grantDays\", o.grant_days)::int4"
                    " AS grant_days,"
                " CASE WHEN $20 THEN $21 ELSE o.default_resource_uri END"
                    " AS default_resource_uri,"
                " CASE WHEN $20 THEN $22 ELSE o.default_resource_key END"
                    " AS default_resource_key,"
                " coalesce(b.\"postLogoutRedirectUris\","
                    " o.post_logout_redirect_uris)"
                    " AS post_logout_redirect_uris,"
                " CASE WHEN $19::text::jsonb ? 'backchannelLogoutUri'"
                    " THEN b.\"backchannelLogoutUri\""
                    " ELSE o.backchannel_logout_uri END"
                    " AS backchannel_logout_uri,"
                " coalesce(b.\"backchannelLogoutSessionRequired\","
                    " o.backchannel_session) AS backchannel_session,"
                " coalesce(b.\"tokenEndpointAuthMethod\", "
                    NGX_SVC_APPLICATION_PROFILED(
                        "'" NGX_SVC_APPLICATION_BY_KEYS "'", "o.auth_method")
                    ") AS auth_method,"
                " CASE WHEN $19::text::jsonb ? 'jwks' THEN b.jwks"
                    " ELSE o.jwks END AS jwks,"
                " coalesce(b.\"requirePar\", "
                    NGX_SVC_APPLICATION_PROFILED("true", "o.require_par")
                    ") AS require_par,"
                " CASE WHEN $19::text::jsonb ? 'securityProfile'"
                    " THEN b.\"securityProfile\" ELSE o.security_profile END"
                    " AS security_profile"
            " FROM o, " NGX_SVC_APPLICATION_STORE_OPENID("$19")
        "), c AS ("
            "SELECT CASE WHEN " NGX_SVC_ADMIN_APPLICATION_PATCH_LOOSENS
                    " AND " NGX_SVC_CALLER_STALE " THEN 'stale'"
                " WHEN n.type <> $3 THEN 'type'"
                NGX_SVC_APPLICATION_STORE_WRONG("$16", "$17")
                " WHEN NOT " NGX_SVC_IF_MATCH("$18",
                    NGX_SVC_APPLICATION_VERSION("o")) " THEN 'precondition'"
                " WHEN " NGX_SVC_APPLICATION_STORE_TAKEN("n.resource_key")
                    " AND k.client_id <> $1) THEN 'taken' END AS verdict"
            " FROM n, o"
        "), u AS ("
            "UPDATE svc.application a SET name = n.name, enabled = n.enabled,"
                " assignment = n.assignment, redirect_uris = n.redirect_uris,"
                " scopes = n.scopes, grant_types = n.grant_types,"
                " resource_uri = n.resource_uri,"
                " resource_key = n.resource_key,"
                " access_token_format = n.access_token_format,"
                " access_token_ttl = n.access_token_ttl,"
                " require_consent = n.require_consent,"
                " require_dpop = n.require_dpop,"
                " signing_alg = n.signing_alg,"
                " require_pkce = n.require_pkce,"
                " require_acr = n.require_acr,"
                " unknown_scopes = n.unknown_scopes,"
                " refresh_tokens = n.refresh_tokens,"
                " id_token_claims = n.id_token_claims,"
                " groups_claim = n.groups_claim,"
                " id_token_ttl = n.id_token_ttl,"
                " refresh_idle_days = n.refresh_idle_days,"
                " grant_days = n.grant_days,"
                " default_resource_uri = n.default_resource_uri,"
                " default_resource_key = n.default_resource_key,"
                " post_logout_redirect_uris = n.post_logout_redirect_uris,"
                " backchannel_logout_uri = n.backchannel_logout_uri,"
                " backchannel_session = n.backchannel_session,"
                " auth_method = n.auth_method, jwks = n.jwks,"
                " require_par = n.require_par,"
                " security_profile = n.security_profile,"
                " secret_rotated_at = CASE n.auth_method"
                    " WHEN o.auth_method THEN a.secret_rotated_at END,"
                " previous_secret_until = CASE n.auth_method"
                    " WHEN o.auth_method THEN a.previous_secret_until END,"
                " tokens_valid_after = "
                    NGX_SVC_APPLICATION_PROFILE_CUT_OFF(
                        NGX_SVC_APPLICATION_CUT_OFF("n.enabled")) ","
                " policy_set_at = CASE WHEN n.enabled <> a.enabled"
                    " AND a.type = 'agent'"
                    " THEN coalesce(a.policy_set_at, now())"
                    " ELSE a.policy_set_at END,"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM n, o, c WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.client_id = $1 AND c.verdict IS NULL"
                " AND ROW(n.*) IS DISTINCT FROM ROW(o.client_id, o.type,"
                    " o.name, o.enabled, o.assignment, o.redirect_uris,"
                    " o.scopes, o.grant_types, o.resource_uri, o.resource_key,"
                    " o.access_token_format, o.access_token_ttl,"
                    " o.require_consent, o.require_dpop, o.signing_alg,"
                    " o.require_pkce, o.require_acr, o.unknown_scopes,"
                    " o.refresh_tokens, o.id_token_claims, o.groups_claim,"
                    " o.id_token_ttl, o.refresh_idle_days, o.grant_days,"
                    " o.default_resource_uri, o.default_resource_key,"
                    " o.post_logout_redirect_uris,"
                    " o.backchannel_logout_uri, o.backchannel_session,"
                    " o.auth_method, o.jwks, o.require_par,"
                    " o.security_profile)"
            " RETURNING a.*"
        "), s AS ("
            "UPDATE svc.oauth_login l SET retired_at = now() FROM u, o"
            " WHERE u.auth_method <> o.auth_method"
                " AND l.tenant_id = " NGX_SVC_TENANT
                " AND l.client_id = $1 AND l.kind = 'secret'"
                " AND (l.retired_at IS NULL OR l.retired_at > now())"
        "), d AS ("
            "DELETE FROM svc.oauth_login l USING u, o"
            " WHERE " NGX_SVC_ADMIN_APPLICATION_PATCH_KEYS
                " AND l.tenant_id = " NGX_SVC_TENANT
                " AND l.client_id = $1 AND l.kind = 'keys'"
        "), l AS ("
            "INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)"
            " SELECT " NGX_SVC_APPLICATION_KEYS_DIGEST("u") ", u.tenant_id,"
                " u.client_id, 'keys' FROM u, o"
            " WHERE " NGX_SVC_ADMIN_APPLICATION_PATCH_KEYS
                " AND u.jwks IS NOT NULL"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_APPLICATION_UPDATED, "u.client_id",
                "u.name",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("name", "name") ", "
                    NGX_SVC_DIFFERS("enabled", "enabled") ", "
                    NGX_SVC_DIFFERS("assignment", "assignment") ", "
                    NGX_SVC_DIFFERS("redirect_uris", "redirectUris") ", "
                    NGX_SVC_DIFFERS("scopes", "scopes") ", "
                    NGX_SVC_DIFFERS("grant_types", "grantTypes") ", "
                    NGX_SVC_DIFFERS("resource_uri", "resourceUri") ", "
                    NGX_SVC_DIFFERS("access_token_format",
                                    "accessTokenFormat") ", "
                    NGX_SVC_DIFFERS("access_token_ttl",
                                    "accessTokenTtlSeconds") ", "
                    NGX_SVC_DIFFERS("require_consent", "requireConsent") ", "
                    NGX_SVC_DIFFERS("require_dpop", "requireDpop") ", "
                    NGX_SVC_DIFFERS("signing_alg", "signingAlg") ", "
                    NGX_SVC_DIFFERS("require_pkce", "requirePkce") ", "
                    NGX_SVC_DIFFERS("require_acr", "requireAcr") ", "
                    NGX_SVC_DIFFERS("unknown_scopes", "unknownScopes") ", "
                    NGX_SVC_DIFFERS("refresh_tokens", "refreshTokens") ", "
                    NGX_SVC_DIFFERS("id_token_claims", "idTokenClaims") ", "
                    NGX_SVC_DIFFERS("groups_claim", "groupsClaim") ", "
                    NGX_SVC_DIFFERS("id_token_ttl", "idTokenTtlSeconds") ", "
                    NGX_SVC_DIFFERS("refresh_idle_days",
                                    "refreshIdleDays") ", "
                    NGX_SVC_DIFFERS("grant_days", "grantDays") ", "
                    NGX_SVC_DIFFERS("default_resource_uri",
                                    "defaultResourceUri") ", "
                    NGX_SVC_DIFFERS("post_logout_redirect_uris",
                                    "postLogoutRedirectUris") ", "
                    NGX_SVC_DIFFERS("backchannel_logout_uri",
                                    "backchannelLogoutUri") ", "
                    NGX_SVC_DIFFERS("backchannel_session",
                                    "backchannelLogoutSessionRequired") ", "
                    NGX_SVC_DIFFERS("auth_method",
                                    "tokenEndpointAuthMethod") ", "
                    NGX_SVC_DIFFERS("jwks", "jwks") ", "
                    NGX_SVC_DIFFERS("require_par", "requirePar") ", "
                    NGX_SVC_DIFFERS("security_profile", "securityProfile")),
                "FROM u, o")
            NGX_SVC_AUDIT_THEN(NGX_SVC_A_AGENT_POLICY_UPDATED, "u.client_id",
                "u.name", "'{\"changed\": [\"enabled\"]}'::jsonb",
                "FROM u, o WHERE u.type = 'agent' AND u.enabled <> o.enabled")
        "), r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT c.verdict AS _verdict,"
            " " NGX_SVC_APPLICATION_PROFILE_BEGINS " AS _profiled, "
            NGX_SVC_APPLICATION_COLUMNS("r")
            NGX_SVC_APPLICATION_AS_VERSION("r") " FROM c, r",
    NGX_SVC_PARAMS(ngx_svc_param_application(0),
                   ngx_svc_param_text(ngx_svc_application_t, name),
                   ngx_svc_param_text(ngx_svc_application_t, type),
                   ngx_svc_param_boolean(ngx_svc_application_t, enabled),
                   ngx_svc_param_text(ngx_svc_application_t, assignment),
                   ngx_svc_param_strings(ngx_svc_application_t, redirect_uris),
                   ngx_svc_param_strings(ngx_svc_application_t, scopes),
                   ngx_svc_param_strings(ngx_svc_application_t, grant_types),
                   ngx_svc_param_given(ngx_svc_application_t, resource_uri),
                   ngx_svc_param_text(ngx_svc_application_t, resource_uri),
                   ngx_svc_param_application_key(resource_uri),
                   ngx_svc_param_text(ngx_svc_application_t, format),
                   ngx_svc_param_integer(ngx_svc_application_t, ttl),
                   ngx_svc_param_boolean(ngx_svc_application_t,
                                         require_consent),
                   ngx_svc_param_boolean(ngx_svc_application_t, require_dpop),
                   ngx_svc_param_call(ngx_svc_application_bind_grants),
                   ngx_svc_param_call(ngx_svc_application_bind_method),
                   ngx_svc_param_if_match(),
                   ngx_svc_param_body(),
                   ngx_svc_param_given(ngx_svc_application_t,
                                       default_resource_uri),
                   ngx_svc_param_text(ngx_svc_application_t,
                                      default_resource_uri),
                   ngx_svc_param_application_key(default_resource_uri)),
    NGX_SVC_VERDICTS(
        ngx_svc_application_store_verdicts,
        ngx_svc_verdict_precondition,
        { "type", NGX_SVC_E_INVALID_VALUE,
          "\"type\" of an application cannot be changed." },
        { "stale", NGX_SVC_E_STEP_UP,
          "What an application gets more by this needs a fresh second factor:"
          " POST /v1/mfa/step-up." }),
    .missing = NGX_SVC_NO_APPLICATION
};


const ngx_svc_route_t  ngx_svc_admin_application_patch[] = {

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/applications/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_application_patch_members,
      .body_size = sizeof(ngx_svc_application_t),
      .check = ngx_svc_application_profile_check,
      .statements = { &ngx_svc_sql_admin_applications_lock,
                      &ngx_svc_sql_admin_application_lock,
                      &ngx_svc_sql_admin_applications_patch },
      .reply = ngx_svc_application_profile_reply },

    ngx_svc_null_route
};
