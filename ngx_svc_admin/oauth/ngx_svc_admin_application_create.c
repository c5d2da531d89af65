/*
 * POST /v1/applications.
 */

#include "ngx_svc_application_secret.h"
#include "ngx_svc_application_store.h"


static ngx_int_t ngx_svc_admin_application_new(ngx_svc_request_t *sr,
    void *body);


/* $17 and $18 are the digests; of who has no secret the second one is NULL. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_create = {
    .name = "admin_applications_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant_id,"
                " $1::text AS client_id, $2::text AS name, $3::text AS type,"
                " coalesce($4::bool, true) AS enabled,"
                " coalesce($5, 'everyone') AS assignment,"
                " coalesce($6::text::text[], '{}') AS redirect_uris,"
                " CASE WHEN $7::text IS NULL THEN "
                    NGX_SVC_APPLICATION_OF_TYPE("$3",
                        NGX_SVC_APPLICATION_TYPE_SCOPES)
                    " ELSE " NGX_SVC_APPLICATION_SORTED("$7")
                    " END AS scopes,"
                " CASE WHEN coalesce($8::text, '{}') = '{}' THEN "
                    NGX_SVC_APPLICATION_OF_TYPE("$3",
                        NGX_SVC_APPLICATION_TYPE_GRANTS)
                    " ELSE " NGX_SVC_APPLICATION_SORTED("$8")
                    " END AS grant_types, "
                " coalesce(b.\"tokenEndpointAuthMethod\", "
                    NGX_SVC_APPLICATION_PROFILED(
                        "'" NGX_SVC_APPLICATION_BY_KEYS "'",
                        NGX_SVC_APPLICATION_OF_TYPE("$3",
                            NGX_SVC_APPLICATION_TYPE_METHOD))
                    ") AS auth_method,"
                " $9::text AS resource_uri, $10::text AS resource_key,"
                " coalesce($11, 'jwt') AS format, coalesce($12::int4, "
                    NGX_SVC_APPLICATION_OF_TYPE("$3",
                        NGX_SVC_APPLICATION_TYPE_TTL) ") AS ttl,"
                " coalesce($13::bool, "
                    NGX_SVC_APPLICATION_OF_TYPE("$3",
                        NGX_SVC_APPLICATION_TYPE_CONSENT)
                    ") AS require_consent,"
                " coalesce($14::bool, "
                    NGX_SVC_APPLICATION_PROFILED("true", "false")
                    ") AS require_dpop,"
                " $15::uuid AS owner_id,"
                " coalesce(b.\"signingAlg\", "
                    NGX_SVC_APPLICATION_PROFILED("'ES256'",
                        "CASE $3::text WHEN 'web' THEN 'RS256'"
                        " ELSE 'ES256' END") ") AS signing_alg,"
                " coalesce(b.\"requirePkce\", true) AS require_pkce,"
                " coalesce(b.\"requireAcr\", false) AS require_acr,"
                " coalesce(b.\"unknownScopes\", 'refuse') AS unknown_scopes,"
                " coalesce(b.\"refreshTokens\", 'offline_access')"
                    " AS refresh_tokens, "
                NGX_SVC_APPLICATION_SORTED("b.\"idTokenClaims\"")
                    " AS id_token_claims,"
                " coalesce(b.\"groupsClaim\", 'all') AS groups_claim,"
                " coalesce(b.\"idTokenTtlSeconds\","
                    " least(3600, g.max_id_token_ttl))::int4 AS id_token_ttl,"
                " coalesce(b.\"refreshIdleDays\","
                    " least(30, g.max_refresh_idle_days))::int4"
                    " AS refresh_idle_days,"
                " coalesce(b.\"grantDays\", least(90, g.max_grant_days))::int4"
                    " AS grant_days,"
                " $22::text AS default_resource_uri,"
                " $23::text AS default_resource_key,"
                " coalesce(b.\"postLogoutRedirectUris\", '{}')"
                    " AS post_logout_redirect_uris,"
                " b.\"backchannelLogoutUri\" AS backchannel_logout_uri,"
                " coalesce(b.\"backchannelLogoutSessionRequired\", false)"
                    " AS backchannel_session,"
                " b.jwks, coalesce(b.\"requirePar\", "
                    NGX_SVC_APPLICATION_PROFILED("true", "false")
                    ") AS require_par,"
                " b.\"securityProfile\" AS security_profile"
            " FROM " NGX_SVC_APPLICATION_STORE_OPENID("$21")
            " LEFT JOIN svc.oauth_tenant g ON g.tenant_id = " NGX_SVC_TENANT
        "), c AS ("
            "SELECT CASE WHEN false THEN NULL"
                NGX_SVC_APPLICATION_STORE_WRONG("$16", "$19")
                " WHEN n.owner_id IS NOT NULL AND n.type <> 'agent'"
                    " THEN 'not_owned'"
                " WHEN n.owner_id IS NOT NULL AND ("
                    NGX_SVC_ROW("k.status = 'active'", "svc.user_account",
                                "n.owner_id") ") IS NOT TRUE THEN 'owner'"
                " WHEN " NGX_SVC_APPLICATION_STORE_TAKEN("n.resource_key")
                    ") THEN 'taken'"
                " WHEN (SELECT count(*) FROM svc.application k"
                    " WHERE k.tenant_id = " NGX_SVC_TENANT ") >= $20::int4"
                    " THEN 'full' END AS verdict"
            " FROM n"
        "), a AS ("
            "INSERT INTO svc.application (tenant_id, client_id, name, type,"
                " enabled, assignment, redirect_uris, scopes, grant_types,"
                " auth_method, resource_uri, resource_key,"
                " access_token_format, access_token_ttl, require_consent,"
                " require_dpop, owner_id, signing_alg, require_pkce,"
                " require_acr, unknown_scopes, refresh_tokens,"
                " id_token_claims, groups_claim, id_token_ttl,"
                " refresh_idle_days, grant_days, default_resource_uri,"
                " default_resource_key, post_logout_redirect_uris,"
                " backchannel_logout_uri, backchannel_session, jwks,"
                " require_par, security_profile, secret_rotated_at,"
                " policy_set_at)"
            " SELECT n.*, CASE WHEN $18::bytea IS NOT NULL THEN now() END,"
                " CASE WHEN n.type = 'agent' AND NOT n.enabled THEN now() END"
            " FROM n, c WHERE n.tenant_id IS NOT NULL AND c.verdict IS NULL"
            " ON CONFLICT (tenant_id, resource_key) DO NOTHING"
            " RETURNING *"
        "), l AS ("
            "INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)"
            " SELECT d.digest, a.tenant_id, a.client_id, d.kind FROM a,"
                " LATERAL (VALUES ($17::bytea, 'id'), ($18, 'secret'), ("
                    NGX_SVC_APPLICATION_KEYS_DIGEST("a") ", 'keys'))"
                " d (digest, kind) WHERE d.digest IS NOT NULL"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_APPLICATION_CREATED, "a.client_id",
                          "a.name", "jsonb_build_object('type', a.type)",
                          "FROM a")
        ")"
        " SELECT CASE WHEN c.verdict IS NULL AND a.client_id IS NULL THEN 'taken'"
                " ELSE c.verdict END AS _verdict, "
            NGX_SVC_APPLICATION_COLUMNS("a")
        " FROM c LEFT JOIN a ON true",
    NGX_SVC_PARAMS(ngx_svc_application_secret_param(client_id),
                   ngx_svc_param_text(ngx_svc_application_t, name),
                   ngx_svc_param_text(ngx_svc_application_t, type),
                   ngx_svc_param_boolean(ngx_svc_application_t, enabled),
                   ngx_svc_param_text(ngx_svc_application_t, assignment),
                   ngx_svc_param_strings(ngx_svc_application_t, redirect_uris),
                   ngx_svc_param_strings(ngx_svc_application_t, scopes),
                   ngx_svc_param_strings(ngx_svc_application_t, grant_types),
                   ngx_svc_param_text(ngx_svc_application_t, resource_uri),
                   ngx_svc_param_application_key(resource_uri),
                   ngx_svc_param_text(ngx_svc_application_t, format),
                   ngx_svc_param_integer(ngx_svc_application_t, ttl),
                   ngx_svc_param_boolean(ngx_svc_application_t,
                                         require_consent),
                   ngx_svc_param_boolean(ngx_svc_application_t, require_dpop),
                   ngx_svc_param_id(ngx_svc_application_t, owner_id),
                   ngx_svc_param_call(ngx_svc_application_bind_grants),
                   ngx_svc_application_secret_param(id_digest),
                   ngx_svc_application_secret_param(secret_digest),
                   ngx_svc_param_call(ngx_svc_application_bind_method),
                   ngx_svc_param_constant(NGX_SVC_APPLICATIONS),
                   ngx_svc_param_body(),
                   ngx_svc_param_text(ngx_svc_application_t,
                                      default_resource_uri),
                   ngx_svc_param_application_key(default_resource_uri)),
    NGX_SVC_VERDICTS(
        ngx_svc_application_store_verdicts,
        { "not_owned", NGX_SVC_E_INVALID_VALUE,
          "\"ownerId\" may be given of an agent only." },
        ngx_svc_application_verdict_owner,
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant has " ngx_value(NGX_SVC_APPLICATIONS) " applications:"
          " delete one." })
};


const ngx_svc_route_t  ngx_svc_admin_application_create[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/applications"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_application_create_members,
      .body_size = sizeof(ngx_svc_application_t),
      .check = ngx_svc_admin_application_new,
      .statements = { &ngx_svc_sql_admin_applications_lock,
                      &ngx_svc_sql_admin_applications_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_application_secret_write },

    ngx_svc_null_route
};


/* Makes its clientId and its secret, which are sr->data until the answer. */

static ngx_int_t
ngx_svc_admin_application_new(ngx_svc_request_t *sr, void *body)
{
    u_char                             random[NGX_SVC_APPLICATION_RANDOM];
    ngx_int_t                          rc;
    ngx_str_t                          id;
    ngx_svc_application_t             *app = body;
    const ngx_svc_application_type_t  *type;

    rc = ngx_svc_application_check(sr, body);
    if (rc != NGX_OK) {
        return rc;
    }

    type = ngx_svc_application_type(&app->type.str);
    id.data = ngx_pnalloc(sr->request->pool, NGX_SVC_APPLICATION_ID);

    if (type == NULL || id.data == NULL
        || ngx_svc_random(random, sizeof(random)) != NGX_OK)
    {
        return NGX_ERROR;
    }

    id.len = NGX_SVC_APPLICATION_ID;
    ngx_hex_dump(ngx_cpymem(id.data, type->prefix, NGX_SVC_APPLICATION_PREFIX),
                 random, sizeof(random));

    sr->data = ngx_svc_application_secret_new(sr, &id,
                                       ngx_strcmp(type->method, "none") != 0
                                       && !ngx_svc_application_by_keys(app));

    return sr->data ? NGX_OK : NGX_ERROR;
}
