-- fragment: application_wanted
-- needs: base
-- Three CTEs: "typical" has what each type of application gets, "wanted" what an application
-- is to be, and "wrong" what is wrong with that, whether it is new or changed.  Each setting is
-- what the body says, or else what the security profile asks for, or else what the application
-- has (base), or else what its type gets.  The columns of "wanted" stand in the same order in the
-- statements that store it.  types_of_grants and types_of_method are the types that the body would
-- do for.  What the profile does not let be is of the FAPI 2.0 Security Profile: there are
-- confidential clients only (5.3.2.1), no response is sent in the clear (5.3.2.2), and nothing is
-- signed by RS256 (5.4.1).
typical (type, scopes, grant_types, auth_method, signing_alg, ttl, require_consent) AS (
    VALUES ('web', '{email,openid,profile}'::text[], '{authorization_code,refresh_token}'::text[],
            'client_secret_basic', 'RS256', 3600, true),
           ('spa', '{email,openid,profile}', '{authorization_code,refresh_token}',
            'none', 'ES256', 3600, true),
           ('native', '{email,openid,profile}', '{authorization_code,refresh_token}',
            'none', 'ES256', 3600, true),
           ('m2m', '{}', '{client_credentials}', 'client_secret_basic', 'ES256', 3600, false),
           ('agent', '{}', '{client_credentials,urn:ietf:params:oauth:grant-type:token-exchange}',
            'client_secret_basic', 'ES256', 900, true)
), wanted AS (
    SELECT coalesce(:name, base.name) AS name,
           coalesce(:enabled::bool, base.enabled, true) AS enabled,
           coalesce(:assignment, base.assignment, 'everyone') AS assignment,
           coalesce(:redirect_uris::text::text[], base.redirect_uris, '{}') AS redirect_uris,
           CASE
               WHEN :scopes::text IS NULL THEN coalesce(base.scopes, typical.scopes)
               ELSE ARRAY(SELECT DISTINCT scope COLLATE "C"
                            FROM unnest(:scopes::text::text[]) scope
                           ORDER BY 1)
           END AS scopes,
           CASE
               WHEN :grant_types::text IS NULL THEN coalesce(base.grant_types, typical.grant_types)
               WHEN :grant_types = '{}' THEN typical.grant_types
               ELSE ARRAY(SELECT DISTINCT grant_type COLLATE "C"
                            FROM unnest(:grant_types::text::text[]) grant_type
                           ORDER BY 1)
           END AS grant_types,
           coalesce(given."tokenEndpointAuthMethod", profile.auth_method, base.auth_method,
                    typical.auth_method) AS auth_method,
           CASE WHEN said.body ? 'resourceUri' THEN :resource_uri
                ELSE base.resource_uri END AS resource_uri,
           CASE WHEN said.body ? 'resourceUri' THEN :resource_key
                ELSE base.resource_key END AS resource_key,
           coalesce(:token_format, base.access_token_format, 'jwt') AS access_token_format,
           coalesce(:token_ttl::int4, base.access_token_ttl, typical.ttl) AS access_token_ttl,
           coalesce(:require_consent::bool, base.require_consent, typical.require_consent)
               AS require_consent,
           coalesce(:require_dpop::bool, profile.required, base.require_dpop, false)
               AS require_dpop,
           coalesce(given."signingAlg", profile.signing_alg, base.signing_alg, typical.signing_alg)
               AS signing_alg,
           coalesce(given."requirePkce", profile.required, base.require_pkce, true)
               AS require_pkce,
           coalesce(given."requireAcr", base.require_acr, false) AS require_acr,
           coalesce(given."unknownScopes", base.unknown_scopes, 'refuse') AS unknown_scopes,
           coalesce(given."refreshTokens", base.refresh_tokens, 'offline_access')
               AS refresh_tokens,
           CASE
               WHEN given."idTokenClaims" IS NULL THEN coalesce(base.id_token_claims, '{}')
               ELSE ARRAY(SELECT DISTINCT claim COLLATE "C"
                            FROM unnest(given."idTokenClaims") claim
                           ORDER BY 1)
           END AS id_token_claims,
           coalesce(given."groupsClaim", base.groups_claim, 'all') AS groups_claim,
           coalesce(given."idTokenTtlSeconds", base.id_token_ttl)::int4 AS id_token_ttl,
           coalesce(given."refreshIdleDays", base.refresh_idle_days)::int4 AS refresh_idle_days,
           coalesce(given."grantDays", base.grant_days)::int4 AS grant_days,
           CASE WHEN said.body ? 'defaultResourceUri' THEN :default_resource_uri
                ELSE base.default_resource_uri END AS default_resource_uri,
           CASE WHEN said.body ? 'defaultResourceUri' THEN :default_resource_key
                ELSE base.default_resource_key END AS default_resource_key,
           coalesce(given."postLogoutRedirectUris", base.post_logout_redirect_uris, '{}')
               AS post_logout_redirect_uris,
           CASE WHEN said.body ? 'backchannelLogoutUri' THEN given."backchannelLogoutUri"
                ELSE base.backchannel_logout_uri END AS backchannel_logout_uri,
           coalesce(given."backchannelLogoutSessionRequired", base.backchannel_session, false)
               AS backchannel_session,
           -- what was fetched stays while it is of the same URI
           coalesce(given.jwks,
                    CASE
                        WHEN base.jwks_uri = uri.jwks_uri
                             OR base.jwks_uri IS NULL AND NOT said.body ? 'jwks' THEN base.jwks
                    END) AS jwks,
           uri.jwks_uri,
           coalesce(given."requirePar", profile.required, base.require_par, false) AS require_par,
           CASE WHEN said.body ? 'securityProfile' THEN given."securityProfile"
                ELSE base.security_profile END AS security_profile
      FROM base
      JOIN typical ON typical.type = base.type
      CROSS JOIN (SELECT :body::text::jsonb AS body) said
      CROSS JOIN LATERAL jsonb_to_record(said.body) AS given (
           "signingAlg" text, "requirePkce" boolean, "requireAcr" boolean, "unknownScopes" text,
           "refreshTokens" text, "idTokenClaims" text[], "groupsClaim" text,
           "idTokenTtlSeconds" numeric, "refreshIdleDays" numeric, "grantDays" numeric,
           "postLogoutRedirectUris" text[], "backchannelLogoutUri" text,
           "backchannelLogoutSessionRequired" boolean, "tokenEndpointAuthMethod" text, jwks jsonb,
           "jwksUri" text, "requirePar" boolean, "securityProfile" text)
      CROSS JOIN LATERAL (
           SELECT CASE WHEN said.body ? 'jwksUri' THEN given."jwksUri"
                       ELSE base.jwks_uri END AS jwks_uri) uri
      LEFT JOIN (
           SELECT 'private_key_jwt' AS auth_method, 'ES256' AS signing_alg, true AS required
           ) profile ON given."securityProfile" IS NOT NULL
), wrong AS (
    SELECT CASE
               WHEN NOT base.type = ANY (:types_of_grants::text::text[]) THEN 'grants'
               WHEN NOT base.type = ANY (:types_of_method::text::text[]) THEN 'method'
               WHEN wanted.security_profile IS NOT NULL AND base.type NOT IN ('web', 'm2m', 'agent')
                    THEN 'profile_type'
               WHEN wanted.security_profile IS NOT NULL AND wanted.auth_method <> 'private_key_jwt'
                    THEN 'profile_method'
               WHEN wanted.security_profile IS NOT NULL AND NOT wanted.require_par
                    THEN 'profile_par'
               WHEN wanted.security_profile IS NOT NULL AND NOT wanted.require_dpop
                    THEN 'profile_dpop'
               WHEN wanted.security_profile IS NOT NULL AND NOT wanted.require_pkce
                    THEN 'profile_pkce'
               WHEN wanted.security_profile IS NOT NULL AND wanted.signing_alg <> 'ES256'
                    THEN 'profile_alg'
               WHEN wanted.security_profile IS NOT NULL
                    AND wanted.jwks_uri IS NULL
                    AND coalesce(wanted.jwks @@ '$.keys[*].alg == "RS256"', false)
                    THEN 'profile_keys'
               WHEN wanted.security_profile IS NOT NULL
                    AND EXISTS (SELECT
                                  FROM unnest(wanted.redirect_uris) uri
                                 WHERE uri NOT LIKE 'https:%') THEN 'profile_redirect'
               WHEN (wanted.auth_method = 'private_key_jwt')
                    <> (wanted.jwks IS NOT NULL OR wanted.jwks_uri IS NOT NULL)
                    -- beside a URI there are only keys that were fetched
                    OR wanted.jwks_uri IS NOT NULL
                       AND (:body::text::jsonb ->> 'jwks' IS NOT NULL
                            OR base.jwks_uri IS NULL AND wanted.jwks IS NOT NULL) THEN 'keys'
               WHEN base.type = 'm2m' AND wanted.require_consent THEN 'consent'
               WHEN base.type <> 'web' AND NOT wanted.require_pkce THEN 'pkce'
               WHEN EXISTS (SELECT
                              FROM svc.oauth_tenant settings
                             WHERE settings.tenant_id = :tenant
                               AND (wanted.id_token_ttl > settings.max_id_token_ttl
                                    OR wanted.refresh_idle_days > settings.max_refresh_idle_days
                                    OR wanted.grant_days > settings.max_grant_days)) THEN 'above'
               WHEN 'authorization_code' = ANY (wanted.grant_types)
                    AND cardinality(wanted.redirect_uris) = 0 THEN 'redirect'
               WHEN NOT 'authorization_code' = ANY (wanted.grant_types)
                    AND cardinality(wanted.redirect_uris) > 0 THEN 'no_redirect'
           END AS verdict
      FROM base, wanted
)


-- statement: admin_applications_lock (shared)
-- Who makes or changes an application waits here: each sees what the other has stored.
SELECT pg_advisory_xact_lock(hashtext('svc.application'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_application_lock (shared)
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
SELECT
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id
 FOR NO KEY UPDATE;


-- statement: admin_group_apps_serialize (shared)
-- Who changes which groups applications have takes turns, and so does who deletes one.
SELECT pg_advisory_xact_lock(hashtext('svc.group_app'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;
