-- statement: admin_applications_create
-- What the body lacks is what its type gets, or what the security profile asks for.  An
-- application without a secret has no secret_digest.  Nobody else takes the resource while
-- the lock of all applications is held; the index is a backstop.
--
-- long: An application has 36 columns that the body, its type or the profile may say.
-- parameters
--   client_id            text  ngx_svc_application_secret_param(client_id)
--   name                 text  ngx_svc_param_text(ngx_svc_application_t, name)
--   type                 text  ngx_svc_param_text(ngx_svc_application_t, type)
--   enabled              bool  ngx_svc_param_boolean(ngx_svc_application_t, enabled)
--   assignment           text  ngx_svc_param_text(ngx_svc_application_t, assignment)
--   redirect_uris        text  ngx_svc_param_strings(ngx_svc_application_t, redirect_uris)
--   scopes               text  ngx_svc_param_strings(ngx_svc_application_t, scopes)
--   grant_types          text  ngx_svc_param_strings(ngx_svc_application_t, grant_types)
--   resource_uri         text  ngx_svc_param_text(ngx_svc_application_t, resource_uri)
--   resource_key         text  ngx_svc_param_application_key(resource_uri)
--   token_format         text  ngx_svc_param_text(ngx_svc_application_t, format)
--   token_ttl            int4  ngx_svc_param_integer(ngx_svc_application_t, ttl)
--   require_consent      bool  ngx_svc_param_boolean(ngx_svc_application_t, require_consent)
--   require_dpop         bool  ngx_svc_param_boolean(ngx_svc_application_t, require_dpop)
--   owner_id             uuid  ngx_svc_param_id(ngx_svc_application_t, owner_id)
--   types_of_grants      text  ngx_svc_param_call(ngx_svc_application_bind_grants)
--   id_digest            bytea ngx_svc_application_secret_param(id_digest)
--   secret_digest        bytea ngx_svc_application_secret_param(secret_digest)
--   types_of_method      text  ngx_svc_param_call(ngx_svc_application_bind_method)
--   applications_max     int4  ngx_svc_param_constant(NGX_SVC_APPLICATIONS)
--   body                 text  ngx_svc_param_body()
--   default_resource_uri text  ngx_svc_param_text(ngx_svc_application_t, default_resource_uri)
--   default_resource_key text  ngx_svc_param_application_key(default_resource_uri)
-- verdicts
--   ngx_svc_application_store_verdicts
--   not_owned      invalid_value   "ownerId" may be given of an agent only.
--   ngx_svc_application_verdict_owner
--   full           limit_exceeded  The tenant has %(NGX_SVC_APPLICATIONS) applications:
--                                  delete one.
WITH wanted AS (
    SELECT :tenant_or_null AS tenant_id, :client_id::text AS client_id, :name::text AS name,
           :type::text AS type, coalesce(:enabled::bool, true) AS enabled,
           coalesce(:assignment, 'everyone') AS assignment,
           coalesce(:redirect_uris::text::text[], '{}') AS redirect_uris,
           CASE
               WHEN :scopes::text IS NULL THEN CASE :type
                   WHEN 'web' THEN '{email,openid,profile}'::text[]
                   WHEN 'spa' THEN '{email,openid,profile}'::text[]
                   WHEN 'native' THEN '{email,openid,profile}'::text[]
                   WHEN 'm2m' THEN '{}'::text[]
                   WHEN 'agent' THEN '{}'::text[]
               END
               ELSE ARRAY(SELECT DISTINCT scope COLLATE "C"
                            FROM unnest(:scopes::text::text[]) scope
                           ORDER BY 1)
           END AS scopes,
           CASE
               WHEN coalesce(:grant_types::text, '{}') = '{}' THEN CASE :type
                   WHEN 'web' THEN '{authorization_code,refresh_token}'::text[]
                   WHEN 'spa' THEN '{authorization_code,refresh_token}'::text[]
                   WHEN 'native' THEN '{authorization_code,refresh_token}'::text[]
                   WHEN 'm2m' THEN '{client_credentials}'::text[]
                   WHEN 'agent' THEN :agent_grant_types
               END
               ELSE ARRAY(SELECT DISTINCT grant_type COLLATE "C"
                            FROM unnest(:grant_types::text::text[]) grant_type
                           ORDER BY 1)
           END AS grant_types,
           coalesce(given."tokenEndpointAuthMethod", CASE
               WHEN given."securityProfile" IS NOT NULL THEN 'private_key_jwt'
               ELSE CASE :type
                   WHEN 'web' THEN 'client_secret_basic'
                   WHEN 'spa' THEN 'none'
                   WHEN 'native' THEN 'none'
                   WHEN 'm2m' THEN 'client_secret_basic'
                   WHEN 'agent' THEN 'client_secret_basic'
               END
           END) AS auth_method,
           :resource_uri::text AS resource_uri, :resource_key::text AS resource_key,
           coalesce(:token_format, 'jwt') AS format,
           coalesce(:token_ttl::int4, CASE :type
               WHEN 'web' THEN 3600 WHEN 'spa' THEN 3600 WHEN 'native' THEN 3600
               WHEN 'm2m' THEN 3600 WHEN 'agent' THEN 900
           END) AS ttl,
           coalesce(:require_consent::bool, CASE :type
               WHEN 'web' THEN true WHEN 'spa' THEN true WHEN 'native' THEN true
               WHEN 'm2m' THEN false WHEN 'agent' THEN true
           END) AS require_consent,
           coalesce(:require_dpop::bool, CASE WHEN given."securityProfile" IS NOT NULL THEN true
                                              ELSE false END) AS require_dpop,
           :owner_id::uuid AS owner_id,
           coalesce(given."signingAlg", CASE
               WHEN given."securityProfile" IS NOT NULL THEN 'ES256'
               ELSE CASE :type::text WHEN 'web' THEN 'RS256' ELSE 'ES256' END
           END) AS signing_alg,
           coalesce(given."requirePkce", true) AS require_pkce,
           coalesce(given."requireAcr", false) AS require_acr,
           coalesce(given."unknownScopes", 'refuse') AS unknown_scopes,
           coalesce(given."refreshTokens", 'offline_access') AS refresh_tokens,
           ARRAY(SELECT DISTINCT claim COLLATE "C"
                   FROM unnest(given."idTokenClaims"::text::text[]) claim
                  ORDER BY 1) AS id_token_claims,
           coalesce(given."groupsClaim", 'all') AS groups_claim,
           coalesce(given."idTokenTtlSeconds",
                    least(3600, settings.max_id_token_ttl))::int4 AS id_token_ttl,
           coalesce(given."refreshIdleDays",
                    least(30, settings.max_refresh_idle_days))::int4 AS refresh_idle_days,
           coalesce(given."grantDays", least(90, settings.max_grant_days))::int4 AS grant_days,
           :default_resource_uri::text AS default_resource_uri,
           :default_resource_key::text AS default_resource_key,
           coalesce(given."postLogoutRedirectUris", '{}') AS post_logout_redirect_uris,
           given."backchannelLogoutUri" AS backchannel_logout_uri,
           coalesce(given."backchannelLogoutSessionRequired", false) AS backchannel_session,
           given.jwks,
           coalesce(given."requirePar", CASE WHEN given."securityProfile" IS NOT NULL THEN true
                                             ELSE false END) AS require_par,
           given."securityProfile" AS security_profile
      FROM jsonb_to_record(:body::text::jsonb) AS given (
               "signingAlg" text, "requirePkce" boolean, "requireAcr" boolean, "unknownScopes" text,
               "refreshTokens" text, "idTokenClaims" text[], "groupsClaim" text,
               "idTokenTtlSeconds" numeric, "refreshIdleDays" numeric, "grantDays" numeric,
               "postLogoutRedirectUris" text[], "backchannelLogoutUri" text,
               "backchannelLogoutSessionRequired" boolean, "tokenEndpointAuthMethod" text,
               jwks jsonb, "requirePar" boolean, "securityProfile" text)
      LEFT JOIN svc.oauth_tenant settings ON settings.tenant_id = :tenant
), decided AS (
    SELECT CASE
               :application_wrong
               WHEN wanted.owner_id IS NOT NULL AND wanted.type <> 'agent' THEN 'not_owned'
               WHEN wanted.owner_id IS NOT NULL
                    AND (SELECT account.status = 'active'
                           FROM svc.user_account account
                          WHERE account.tenant_id = :tenant
                            AND account.id BETWEEN wanted.owner_id AND wanted.owner_id
                          ORDER BY account.id
                          LIMIT 1) IS NOT TRUE THEN 'owner'
               WHEN EXISTS (SELECT
                              FROM svc.application client
                             WHERE client.tenant_id = :tenant
                               AND client.resource_key = wanted.resource_key) THEN 'taken'
               WHEN (SELECT count(*)
                       FROM svc.application client
                      WHERE client.tenant_id = :tenant) >= :applications_max::int4 THEN 'full'
           END AS verdict
      FROM wanted
), client AS (
    INSERT INTO svc.application
        (tenant_id, client_id, name, type, enabled, assignment, redirect_uris, scopes, grant_types,
         auth_method, resource_uri, resource_key, access_token_format, access_token_ttl,
         require_consent, require_dpop, owner_id, signing_alg, require_pkce, require_acr,
         unknown_scopes, refresh_tokens, id_token_claims, groups_claim, id_token_ttl,
         refresh_idle_days, grant_days, default_resource_uri, default_resource_key,
         post_logout_redirect_uris, backchannel_logout_uri, backchannel_session, jwks, require_par,
         security_profile, secret_rotated_at, policy_set_at)
    SELECT wanted.*,
           CASE WHEN :secret_digest::bytea IS NOT NULL THEN now() END,
           CASE WHEN wanted.type = 'agent' AND NOT wanted.enabled THEN now() END
      FROM wanted, decided
     WHERE wanted.tenant_id IS NOT NULL AND decided.verdict IS NULL
    ON CONFLICT (tenant_id, resource_key) DO NOTHING
    RETURNING *
), logins AS (
    INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)
    SELECT login.digest, client.tenant_id, client.client_id, login.kind
      FROM client,
           LATERAL (VALUES
                (:id_digest::bytea, 'id'),
                (:secret_digest, 'secret'),
                (sha256('\x03' || convert_to(client.client_id, 'UTF8') || '\x00'
                        || sha256(convert_to((client.jwks::text || ' '
                                              || coalesce(client.security_profile, '')), 'UTF8'))),
                 'keys')) login (digest, kind)
     WHERE login.digest IS NOT NULL
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'application.created', 'application', client.client_id, client.name,
           jsonb_build_object('type', client.type)
      FROM client
)
SELECT CASE
           WHEN decided.verdict IS NULL AND client.client_id IS NULL THEN 'taken'
           ELSE decided.verdict
       END AS _verdict,
       :application_columns
  FROM decided
  LEFT JOIN client ON true;
