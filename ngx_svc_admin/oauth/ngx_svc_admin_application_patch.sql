-- statement: admin_applications_patch
-- Behind both locks, of all applications and of the row.  What the body lacks stays as it
-- is, unless the security profile asks for it.  A change that gives the application more
-- needs a fresh second factor; one that only takes something away needs none.  To switch an
-- agent on or off is a change of its policy as well.
--
-- long: An application has 31 settings, and each is wanted, compared, stored and told by name.
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id                  text ngx_svc_param_application(0)
--   name                       text ngx_svc_param_text(ngx_svc_application_t, name)
--   type                       text ngx_svc_param_text(ngx_svc_application_t, type)
--   enabled                    bool ngx_svc_param_boolean(ngx_svc_application_t, enabled)
--   assignment                 text ngx_svc_param_text(ngx_svc_application_t, assignment)
--   redirect_uris              text ngx_svc_param_strings(ngx_svc_application_t, redirect_uris)
--   scopes                     text ngx_svc_param_strings(ngx_svc_application_t, scopes)
--   grant_types                text ngx_svc_param_strings(ngx_svc_application_t, grant_types)
--   resource_uri_given         bool ngx_svc_param_given(ngx_svc_application_t, resource_uri)
--   resource_uri               text ngx_svc_param_text(ngx_svc_application_t, resource_uri)
--   resource_key               text ngx_svc_param_application_key(resource_uri)
--   token_format               text ngx_svc_param_text(ngx_svc_application_t, format)
--   token_ttl                  int4 ngx_svc_param_integer(ngx_svc_application_t, ttl)
--   require_consent            bool ngx_svc_param_boolean(ngx_svc_application_t, require_consent)
--   require_dpop               bool ngx_svc_param_boolean(ngx_svc_application_t, require_dpop)
--   types_of_grants            text ngx_svc_param_call(ngx_svc_application_bind_grants)
--   types_of_method            text ngx_svc_param_call(ngx_svc_application_bind_method)
--   if_match                   text ngx_svc_param_if_match()
--   body                       text ngx_svc_param_body()
--   default_resource_uri_given bool
--         ngx_svc_param_given(ngx_svc_application_t, default_resource_uri)
--   default_resource_uri       text ngx_svc_param_text(ngx_svc_application_t, default_resource_uri)
--   default_resource_key       text ngx_svc_param_application_key(default_resource_uri)
-- verdicts
--   ngx_svc_application_store_verdicts
--   ngx_svc_verdict_precondition
--   type           invalid_value   "type" of an application cannot be changed.
--   stale          step_up         What an application gets more by this needs a fresh
--                                  second factor: POST /v1/mfa/step-up.
WITH old AS (
    SELECT client.*
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id
), wanted AS (
    SELECT old.client_id, old.type, coalesce(:name, old.name) AS name,
           coalesce(:enabled::bool, old.enabled) AS enabled,
           coalesce(:assignment, old.assignment) AS assignment,
           coalesce(:redirect_uris::text::text[], old.redirect_uris) AS redirect_uris,
           CASE
               WHEN :scopes::text IS NULL THEN old.scopes
               ELSE ARRAY(SELECT DISTINCT scope COLLATE "C"
                            FROM unnest(:scopes::text::text[]) scope
                           ORDER BY 1)
           END AS scopes,
           CASE
               WHEN :grant_types::text IS NULL THEN old.grant_types
               WHEN :grant_types = '{}' THEN CASE old.type
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
           CASE WHEN :resource_uri_given THEN :resource_uri ELSE old.resource_uri END
               AS resource_uri,
           CASE WHEN :resource_uri_given THEN :resource_key ELSE old.resource_key END
               AS resource_key,
           coalesce(:token_format, old.access_token_format) AS access_token_format,
           coalesce(:token_ttl::int4, old.access_token_ttl) AS access_token_ttl,
           coalesce(:require_consent::bool, old.require_consent) AS require_consent,
           coalesce(:require_dpop::bool, CASE WHEN given."securityProfile" IS NOT NULL THEN true
                                              ELSE old.require_dpop END) AS require_dpop,
           coalesce(given."signingAlg", CASE WHEN given."securityProfile" IS NOT NULL THEN 'ES256'
                                             ELSE old.signing_alg END) AS signing_alg,
           coalesce(given."requirePkce", CASE WHEN given."securityProfile" IS NOT NULL THEN true
                                              ELSE old.require_pkce END) AS require_pkce,
           coalesce(given."requireAcr", old.require_acr) AS require_acr,
           coalesce(given."unknownScopes", old.unknown_scopes) AS unknown_scopes,
           coalesce(given."refreshTokens", old.refresh_tokens) AS refresh_tokens,
           CASE
               WHEN given."idTokenClaims" IS NULL THEN old.id_token_claims
               ELSE ARRAY(SELECT DISTINCT claim COLLATE "C"
                            FROM unnest(given."idTokenClaims"::text::text[]) claim
                           ORDER BY 1)
           END AS id_token_claims,
           coalesce(given."groupsClaim", old.groups_claim) AS groups_claim,
           coalesce(given."idTokenTtlSeconds", old.id_token_ttl)::int4 AS id_token_ttl,
           coalesce(given."refreshIdleDays", old.refresh_idle_days)::int4 AS refresh_idle_days,
           coalesce(given."grantDays", old.grant_days)::int4 AS grant_days,
           CASE WHEN :default_resource_uri_given THEN :default_resource_uri
                ELSE old.default_resource_uri END AS default_resource_uri,
           CASE WHEN :default_resource_uri_given THEN :default_resource_key
                ELSE old.default_resource_key END AS default_resource_key,
           coalesce(given."postLogoutRedirectUris", old.post_logout_redirect_uris)
               AS post_logout_redirect_uris,
           CASE WHEN :body::text::jsonb ? 'backchannelLogoutUri' THEN given."backchannelLogoutUri"
                ELSE old.backchannel_logout_uri END AS backchannel_logout_uri,
           coalesce(given."backchannelLogoutSessionRequired", old.backchannel_session)
               AS backchannel_session,
           coalesce(given."tokenEndpointAuthMethod",
                    CASE WHEN given."securityProfile" IS NOT NULL THEN 'private_key_jwt'
                         ELSE old.auth_method END) AS auth_method,
           CASE WHEN :body::text::jsonb ? 'jwks' THEN given.jwks ELSE old.jwks END AS jwks,
           coalesce(given."requirePar", CASE WHEN given."securityProfile" IS NOT NULL THEN true
                                             ELSE old.require_par END) AS require_par,
           CASE WHEN :body::text::jsonb ? 'securityProfile' THEN given."securityProfile"
                ELSE old.security_profile END AS security_profile
      FROM old,
           jsonb_to_record(:body::text::jsonb) AS given (
               "signingAlg" text, "requirePkce" boolean, "requireAcr" boolean, "unknownScopes" text,
               "refreshTokens" text, "idTokenClaims" text[], "groupsClaim" text,
               "idTokenTtlSeconds" numeric, "refreshIdleDays" numeric, "grantDays" numeric,
               "postLogoutRedirectUris" text[], "backchannelLogoutUri" text,
               "backchannelLogoutSessionRequired" boolean, "tokenEndpointAuthMethod" text,
               jwks jsonb, "requirePar" boolean, "securityProfile" text)
), decided AS (
    SELECT CASE
               -- To whom codes and tokens go, of whom, and what they are good for.
               WHEN ((wanted.redirect_uris, wanted.require_consent, wanted.assignment)
                     <> (old.redirect_uris, old.require_consent, old.assignment)
                     OR wanted.resource_uri IS DISTINCT FROM old.resource_uri
                     OR wanted.enabled AND NOT old.enabled
                     OR old.require_dpop AND NOT wanted.require_dpop
                     OR old.require_pkce AND NOT wanted.require_pkce
                     OR old.require_acr AND NOT wanted.require_acr
                     OR wanted.refresh_tokens = 'always' AND old.refresh_tokens <> 'always'
                     OR wanted.groups_claim = 'all' AND old.groups_claim <> 'all'
                     OR wanted.id_token_ttl > old.id_token_ttl
                     OR wanted.refresh_idle_days > old.refresh_idle_days
                     OR wanted.grant_days > old.grant_days
                     OR wanted.default_resource_uri IS DISTINCT FROM old.default_resource_uri
                     OR NOT wanted.id_token_claims <@ old.id_token_claims
                     OR NOT wanted.post_logout_redirect_uris <@ old.post_logout_redirect_uris
                     OR wanted.backchannel_logout_uri IS DISTINCT FROM old.backchannel_logout_uri
                        AND old.backchannel_logout_uri IS NOT NULL
                     OR wanted.auth_method <> old.auth_method
                     OR wanted.jwks IS DISTINCT FROM old.jwks
                     OR old.require_par AND NOT wanted.require_par
                     OR old.security_profile IS NOT NULL AND wanted.security_profile IS NULL
                     OR wanted.access_token_ttl > old.access_token_ttl
                     OR wanted.access_token_format <> old.access_token_format
                     OR NOT wanted.scopes <@ old.scopes
                     OR NOT wanted.grant_types <@ old.grant_types)
                    AND :caller_stale THEN 'stale'
               WHEN wanted.type <> :type THEN 'type'
               :application_wrong
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN EXISTS (SELECT
                              FROM svc.application client
                             WHERE client.tenant_id = :tenant
                               AND client.resource_key = wanted.resource_key
                               AND client.client_id <> :client_id) THEN 'taken'
           END AS verdict
      FROM wanted, old
), updated AS (
    UPDATE svc.application client
       SET name = wanted.name, enabled = wanted.enabled, assignment = wanted.assignment,
           redirect_uris = wanted.redirect_uris, scopes = wanted.scopes,
           grant_types = wanted.grant_types, resource_uri = wanted.resource_uri,
           resource_key = wanted.resource_key, access_token_format = wanted.access_token_format,
           access_token_ttl = wanted.access_token_ttl, require_consent = wanted.require_consent,
           require_dpop = wanted.require_dpop, signing_alg = wanted.signing_alg,
           require_pkce = wanted.require_pkce, require_acr = wanted.require_acr,
           unknown_scopes = wanted.unknown_scopes, refresh_tokens = wanted.refresh_tokens,
           id_token_claims = wanted.id_token_claims, groups_claim = wanted.groups_claim,
           id_token_ttl = wanted.id_token_ttl, refresh_idle_days = wanted.refresh_idle_days,
           grant_days = wanted.grant_days, default_resource_uri = wanted.default_resource_uri,
           default_resource_key = wanted.default_resource_key,
           post_logout_redirect_uris = wanted.post_logout_redirect_uris,
           backchannel_logout_uri = wanted.backchannel_logout_uri,
           backchannel_session = wanted.backchannel_session, auth_method = wanted.auth_method,
           jwks = wanted.jwks, require_par = wanted.require_par,
           security_profile = wanted.security_profile,
           secret_rotated_at
           = CASE wanted.auth_method WHEN old.auth_method THEN client.secret_rotated_at END,
           previous_secret_until
           = CASE wanted.auth_method WHEN old.auth_method THEN client.previous_secret_until END,
           -- When the profile begins, older tokens may not be such as it asks for; and when
           -- an application is switched off and on again, none of its tokens lives again.
           tokens_valid_after = CASE
               WHEN client.security_profile IS NULL AND wanted.security_profile IS NOT NULL
                    THEN greatest(client.tokens_valid_after, clock_timestamp())
               ELSE CASE
                   WHEN client.enabled = wanted.enabled THEN client.tokens_valid_after
                   ELSE greatest(client.tokens_valid_after, clock_timestamp())
               END
           END,
           policy_set_at = CASE
               WHEN wanted.enabled <> client.enabled AND client.type = 'agent'
                    THEN coalesce(client.policy_set_at, now())
               ELSE client.policy_set_at
           END,
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
      FROM wanted, old, decided
     WHERE client.tenant_id = :tenant
       AND client.client_id = :client_id
       AND decided.verdict IS NULL
       AND ROW(wanted.*) IS DISTINCT FROM ROW(
               old.client_id, old.type, old.name, old.enabled, old.assignment, old.redirect_uris,
               old.scopes, old.grant_types, old.resource_uri, old.resource_key,
               old.access_token_format, old.access_token_ttl, old.require_consent, old.require_dpop,
               old.signing_alg, old.require_pkce, old.require_acr, old.unknown_scopes,
               old.refresh_tokens, old.id_token_claims, old.groups_claim, old.id_token_ttl,
               old.refresh_idle_days, old.grant_days, old.default_resource_uri,
               old.default_resource_key, old.post_logout_redirect_uris, old.backchannel_logout_uri,
               old.backchannel_session, old.auth_method, old.jwks, old.require_par,
               old.security_profile)
    RETURNING client.*
), secrets_retired AS (
    UPDATE svc.oauth_login login
       SET retired_at = now()
      FROM updated, old
     WHERE updated.auth_method <> old.auth_method
       AND login.tenant_id = :tenant AND login.client_id = :client_id
       AND login.kind = 'secret'
       AND (login.retired_at IS NULL OR login.retired_at > now())
), keys_removed AS (
    DELETE FROM svc.oauth_login login
     USING updated, old
     WHERE (updated.jwks::text || ' ' || coalesce(updated.security_profile, ''))
           IS DISTINCT FROM (old.jwks::text || ' ' || coalesce(old.security_profile, ''))
       AND login.tenant_id = :tenant AND login.client_id = :client_id
       AND login.kind = 'keys'
), keys_stored AS (
    INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)
    SELECT sha256('\x03' || convert_to(updated.client_id, 'UTF8') || '\x00'
                  || sha256(convert_to((updated.jwks::text || ' '
                                        || coalesce(updated.security_profile, '')), 'UTF8'))),
           updated.tenant_id, updated.client_id, 'keys'
      FROM updated, old
     WHERE (updated.jwks::text || ' ' || coalesce(updated.security_profile, ''))
           IS DISTINCT FROM (old.jwks::text || ' ' || coalesce(old.security_profile, ''))
       AND updated.jwks IS NOT NULL
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'application.updated', 'application', updated.client_id, updated.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.name IS DISTINCT FROM old.name THEN 'name' END,
               CASE WHEN updated.enabled IS DISTINCT FROM old.enabled THEN 'enabled' END,
               CASE WHEN updated.assignment IS DISTINCT FROM old.assignment THEN 'assignment' END,
               CASE WHEN updated.redirect_uris IS DISTINCT FROM old.redirect_uris
                    THEN 'redirectUris' END,
               CASE WHEN updated.scopes IS DISTINCT FROM old.scopes THEN 'scopes' END,
               CASE WHEN updated.grant_types IS DISTINCT FROM old.grant_types THEN 'grantTypes' END,
               CASE WHEN updated.resource_uri IS DISTINCT FROM old.resource_uri
                    THEN 'resourceUri' END,
               CASE WHEN updated.access_token_format IS DISTINCT FROM old.access_token_format
                    THEN 'accessTokenFormat' END,
               CASE WHEN updated.access_token_ttl IS DISTINCT FROM old.access_token_ttl
                    THEN 'accessTokenTtlSeconds' END,
               CASE WHEN updated.require_consent IS DISTINCT FROM old.require_consent
                    THEN 'requireConsent' END,
               CASE WHEN updated.require_dpop IS DISTINCT FROM old.require_dpop
                    THEN 'requireDpop' END,
               CASE WHEN updated.signing_alg IS DISTINCT FROM old.signing_alg THEN 'signingAlg' END,
               CASE WHEN updated.require_pkce IS DISTINCT FROM old.require_pkce
                    THEN 'requirePkce' END,
               CASE WHEN updated.require_acr IS DISTINCT FROM old.require_acr THEN 'requireAcr' END,
               CASE WHEN updated.unknown_scopes IS DISTINCT FROM old.unknown_scopes
                    THEN 'unknownScopes' END,
               CASE WHEN updated.refresh_tokens IS DISTINCT FROM old.refresh_tokens
                    THEN 'refreshTokens' END,
               CASE WHEN updated.id_token_claims IS DISTINCT FROM old.id_token_claims
                    THEN 'idTokenClaims' END,
               CASE WHEN updated.groups_claim IS DISTINCT FROM old.groups_claim
                    THEN 'groupsClaim' END,
               CASE WHEN updated.id_token_ttl IS DISTINCT FROM old.id_token_ttl
                    THEN 'idTokenTtlSeconds' END,
               CASE WHEN updated.refresh_idle_days IS DISTINCT FROM old.refresh_idle_days
                    THEN 'refreshIdleDays' END,
               CASE WHEN updated.grant_days IS DISTINCT FROM old.grant_days THEN 'grantDays' END,
               CASE WHEN updated.default_resource_uri IS DISTINCT FROM old.default_resource_uri
                    THEN 'defaultResourceUri' END,
               CASE WHEN updated.post_logout_redirect_uris
                         IS DISTINCT FROM old.post_logout_redirect_uris
                    THEN 'postLogoutRedirectUris' END,
               CASE WHEN updated.backchannel_logout_uri IS DISTINCT FROM old.backchannel_logout_uri
                    THEN 'backchannelLogoutUri' END,
               CASE WHEN updated.backchannel_session IS DISTINCT FROM old.backchannel_session
                    THEN 'backchannelLogoutSessionRequired' END,
               CASE WHEN updated.auth_method IS DISTINCT FROM old.auth_method
                    THEN 'tokenEndpointAuthMethod' END,
               CASE WHEN updated.jwks IS DISTINCT FROM old.jwks THEN 'jwks' END,
               CASE WHEN updated.require_par IS DISTINCT FROM old.require_par THEN 'requirePar' END,
               CASE WHEN updated.security_profile IS DISTINCT FROM old.security_profile
                    THEN 'securityProfile' END], NULL)))
      FROM updated, old
    UNION ALL
    SELECT 'agent.policy_updated', 'agent', updated.client_id, updated.name,
           '{"changed": ["enabled"]}'::jsonb
      FROM updated, old
     WHERE updated.type = 'agent' AND updated.enabled <> old.enabled
), client AS (
    SELECT * FROM updated UNION ALL SELECT * FROM old WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT decided.verdict AS _verdict,
       EXISTS (SELECT
                 FROM updated, old
                WHERE old.security_profile IS NULL
                  AND updated.security_profile IS NOT NULL) AS _profiled,
       :application_columns,
       (extract(epoch from client.updated_at) * 1000)::int8 AS _version
  FROM decided, client;
