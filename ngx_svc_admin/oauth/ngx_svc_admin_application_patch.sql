-- statement: admin_applications_patch
-- Behind both locks, of all applications and of the row.  What the body lacks stays as it
-- is, unless the security profile asks for it.  A change that gives the application more
-- needs a fresh second factor; one that only takes something away needs none.  To switch an
-- agent on or off is a change of its policy as well.
--
-- long: An application has 31 settings, and each is compared, stored and told by name.
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id            text ngx_svc_param_application(0)
--   name                 text ngx_svc_param_text(ngx_svc_application_t, name)
--   type                 text ngx_svc_param_text(ngx_svc_application_t, type)
--   enabled              bool ngx_svc_param_boolean(ngx_svc_application_t, enabled)
--   assignment           text ngx_svc_param_text(ngx_svc_application_t, assignment)
--   redirect_uris        text ngx_svc_param_strings(ngx_svc_application_t, redirect_uris)
--   scopes               text ngx_svc_param_strings(ngx_svc_application_t, scopes)
--   grant_types          text ngx_svc_param_strings(ngx_svc_application_t, grant_types)
--   resource_uri         text ngx_svc_param_text(ngx_svc_application_t, resource_uri)
--   resource_key         text ngx_svc_param_application_key(resource_uri)
--   token_format         text ngx_svc_param_text(ngx_svc_application_t, format)
--   token_ttl            int4 ngx_svc_param_integer(ngx_svc_application_t, ttl)
--   require_consent      bool ngx_svc_param_boolean(ngx_svc_application_t, require_consent)
--   require_dpop         bool ngx_svc_param_boolean(ngx_svc_application_t, require_dpop)
--   types_of_grants      text ngx_svc_param_call(ngx_svc_application_bind_grants)
--   types_of_method      text ngx_svc_param_call(ngx_svc_application_bind_method)
--   if_match             text ngx_svc_param_if_match()
--   body                 text ngx_svc_param_body()
--   default_resource_uri text ngx_svc_param_text(ngx_svc_application_t, default_resource_uri)
--   default_resource_key text ngx_svc_param_application_key(default_resource_uri)
-- verdicts
--   ngx_svc_application_store_verdicts
--   ngx_svc_verdict_precondition
--   type           invalid_value   "type" of an application cannot be changed.
--   stale          step_up         What an application gets more by this needs a fresh
--                                  second factor: POST /v1/mfa/step-up.
-- columns
--   _verdict       text
--   _profiled      bool
--   _fetch         text         the clientId, if its keys are to be fetched
--   :application_columns
--   _version       int8         answer
WITH base AS (
    SELECT client.*
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id
), :application_wanted, decided AS (
    SELECT CASE
               -- To whom codes and tokens go, of whom, and what they are good for.
               WHEN ((wanted.redirect_uris, wanted.require_consent, wanted.assignment)
                     <> (base.redirect_uris, base.require_consent, base.assignment)
                     OR wanted.resource_uri IS DISTINCT FROM base.resource_uri
                     OR wanted.enabled AND NOT base.enabled
                     OR base.require_dpop AND NOT wanted.require_dpop
                     OR base.require_pkce AND NOT wanted.require_pkce
                     OR base.require_acr AND NOT wanted.require_acr
                     OR wanted.refresh_tokens = 'always' AND base.refresh_tokens <> 'always'
                     OR wanted.groups_claim = 'all' AND base.groups_claim <> 'all'
                     OR wanted.id_token_ttl > base.id_token_ttl
                     OR wanted.refresh_idle_days > base.refresh_idle_days
                     OR wanted.grant_days > base.grant_days
                     OR wanted.default_resource_uri IS DISTINCT FROM base.default_resource_uri
                     OR NOT wanted.id_token_claims <@ base.id_token_claims
                     OR NOT wanted.post_logout_redirect_uris <@ base.post_logout_redirect_uris
                     OR wanted.backchannel_logout_uri IS DISTINCT FROM base.backchannel_logout_uri
                        AND base.backchannel_logout_uri IS NOT NULL
                     OR wanted.auth_method <> base.auth_method
                     OR (wanted.jwks, wanted.jwks_uri)
                        IS DISTINCT FROM (base.jwks, base.jwks_uri)
                     OR base.require_par AND NOT wanted.require_par
                     OR base.security_profile IS NOT NULL AND wanted.security_profile IS NULL
                     OR wanted.access_token_ttl > base.access_token_ttl
                     OR wanted.access_token_format <> base.access_token_format
                     OR NOT wanted.scopes <@ base.scopes
                     OR NOT wanted.grant_types <@ base.grant_types)
                    AND :caller_stale THEN 'stale'
               WHEN base.type <> :type THEN 'type'
               WHEN wrong.verdict IS NOT NULL THEN wrong.verdict
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from base.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN EXISTS (SELECT
                              FROM svc.application client
                             WHERE client.tenant_id = :tenant
                               AND client.resource_key = wanted.resource_key
                               AND client.client_id <> :client_id) THEN 'taken'
           END AS verdict
      FROM wanted, base, wrong
), changed AS (
    -- the members of the body that change something, and whether the keys do
    SELECT ARRAY(
               SELECT member.name
                 FROM (VALUES
                      ('name', wanted.name <> base.name),
                      ('enabled', wanted.enabled <> base.enabled),
                      ('assignment', wanted.assignment <> base.assignment),
                      ('redirectUris', wanted.redirect_uris <> base.redirect_uris),
                      ('scopes', wanted.scopes <> base.scopes),
                      ('grantTypes', wanted.grant_types <> base.grant_types),
                      ('resourceUri', (wanted.resource_uri, wanted.resource_key)
                                      IS DISTINCT FROM (base.resource_uri, base.resource_key)),
                      ('accessTokenFormat', wanted.access_token_format <> base.access_token_format),
                      ('accessTokenTtlSeconds', wanted.access_token_ttl <> base.access_token_ttl),
                      ('requireConsent', wanted.require_consent <> base.require_consent),
                      ('requireDpop', wanted.require_dpop <> base.require_dpop),
                      ('signingAlg', wanted.signing_alg <> base.signing_alg),
                      ('requirePkce', wanted.require_pkce <> base.require_pkce),
                      ('requireAcr', wanted.require_acr <> base.require_acr),
                      ('unknownScopes', wanted.unknown_scopes <> base.unknown_scopes),
                      ('refreshTokens', wanted.refresh_tokens <> base.refresh_tokens),
                      ('idTokenClaims', wanted.id_token_claims <> base.id_token_claims),
                      ('groupsClaim', wanted.groups_claim <> base.groups_claim),
                      ('idTokenTtlSeconds', wanted.id_token_ttl <> base.id_token_ttl),
                      ('refreshIdleDays', wanted.refresh_idle_days <> base.refresh_idle_days),
                      ('grantDays', wanted.grant_days <> base.grant_days),
                      ('defaultResourceUri',
                       (wanted.default_resource_uri, wanted.default_resource_key)
                       IS DISTINCT FROM (base.default_resource_uri, base.default_resource_key)),
                      ('postLogoutRedirectUris',
                       wanted.post_logout_redirect_uris <> base.post_logout_redirect_uris),
                      ('backchannelLogoutUri',
                       wanted.backchannel_logout_uri IS DISTINCT FROM base.backchannel_logout_uri),
                      ('backchannelLogoutSessionRequired',
                       wanted.backchannel_session <> base.backchannel_session),
                      ('tokenEndpointAuthMethod', wanted.auth_method <> base.auth_method),
                      ('jwks', CASE WHEN wanted.jwks_uri IS NULL THEN wanted.jwks END
                               IS DISTINCT FROM
                               CASE WHEN base.jwks_uri IS NULL THEN base.jwks END),
                      ('jwksUri', wanted.jwks_uri IS DISTINCT FROM base.jwks_uri),
                      ('requirePar', wanted.require_par <> base.require_par),
                      ('securityProfile',
                       wanted.security_profile IS DISTINCT FROM base.security_profile)
                      ) member (name, changes)
                WHERE member.changes) AS members,
           (wanted.jwks::text || ' ' || coalesce(wanted.security_profile, ''))
           IS DISTINCT FROM
           (base.jwks::text || ' ' || coalesce(base.security_profile, '')) AS keys,
           wanted.jwks_uri IS DISTINCT FROM base.jwks_uri AS uri
      FROM wanted, base
), updated AS (
    UPDATE svc.application client
       SET (name, enabled, assignment, redirect_uris, scopes, grant_types, auth_method,
            resource_uri, resource_key, access_token_format, access_token_ttl, require_consent,
            require_dpop, signing_alg, require_pkce, require_acr, unknown_scopes, refresh_tokens,
            id_token_claims, groups_claim, id_token_ttl, refresh_idle_days, grant_days,
            default_resource_uri, default_resource_key, post_logout_redirect_uris,
            backchannel_logout_uri, backchannel_session, jwks, jwks_uri, require_par,
            security_profile)
           = ROW(wanted.*),
           (jwks_fetched_at, jwks_due_at, jwks_asked_at, jwks_failed_at, jwks_error)
           = ROW(CASE WHEN NOT changed.uri THEN client.jwks_fetched_at END,
                 CASE WHEN NOT changed.uri THEN client.jwks_due_at
                      WHEN wanted.jwks_uri IS NOT NULL THEN now() END,
                 CASE WHEN NOT changed.uri THEN client.jwks_asked_at END,
                 CASE WHEN NOT changed.uri THEN client.jwks_failed_at END,
                 CASE WHEN NOT changed.uri THEN client.jwks_error END),
           secret_rotated_at
           = CASE wanted.auth_method WHEN base.auth_method THEN client.secret_rotated_at END,
           previous_secret_until
           = CASE wanted.auth_method WHEN base.auth_method THEN client.previous_secret_until END,
           -- When the profile begins, older tokens may not be such as it asks for; and when
           -- an application is switched off and on again, none of its tokens lives again.
           tokens_valid_after = CASE
               WHEN client.enabled <> wanted.enabled
                    OR client.security_profile IS NULL AND wanted.security_profile IS NOT NULL
                    THEN greatest(client.tokens_valid_after, clock_timestamp())
               ELSE client.tokens_valid_after
           END,
           policy_set_at = CASE
               WHEN wanted.enabled <> client.enabled AND client.type = 'agent'
                    THEN coalesce(client.policy_set_at, now())
               ELSE client.policy_set_at
           END,
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
      FROM wanted, base, decided, changed
     WHERE client.tenant_id = :tenant
       AND client.client_id = :client_id
       AND decided.verdict IS NULL
       AND changed.members <> '{}'
    RETURNING client.*
), secrets_retired AS (
    UPDATE svc.oauth_login login
       SET retired_at = now()
      FROM updated, base
     WHERE updated.auth_method <> base.auth_method
       AND login.tenant_id = :tenant AND login.client_id = :client_id
       AND login.kind = 'secret'
       AND (login.retired_at IS NULL OR login.retired_at > now())
), keys_removed AS (
    DELETE FROM svc.oauth_login login
     USING updated, changed
     WHERE changed.keys
       AND login.tenant_id = :tenant AND login.client_id = :client_id
       AND login.kind = 'keys'
), keys_stored AS (
    INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind, retired_at)
    SELECT sha256('\x03' || convert_to(updated.client_id, 'UTF8') || '\x00'
                  || sha256(convert_to((updated.jwks::text || ' '
                                        || coalesce(updated.security_profile, '')), 'UTF8'))),
           updated.tenant_id, updated.client_id, 'keys',
           updated.jwks_fetched_at + interval '7 days'
      FROM updated, changed
     WHERE changed.keys AND updated.jwks IS NOT NULL
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'application.updated', 'application', updated.client_id, updated.name,
           jsonb_build_object('changed', changed.members)
      FROM updated, changed
    UNION ALL
    SELECT 'agent.policy_updated', 'agent', updated.client_id, updated.name,
           '{"changed": ["enabled"]}'::jsonb
      FROM updated, base
     WHERE updated.type = 'agent' AND updated.enabled <> base.enabled
), client AS (
    SELECT * FROM updated UNION ALL SELECT * FROM base WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT decided.verdict AS _verdict,
       EXISTS (SELECT
                 FROM updated, base
                WHERE base.security_profile IS NULL
                  AND updated.security_profile IS NOT NULL) AS _profiled,
       (SELECT updated.client_id
          FROM updated, changed
         WHERE changed.uri AND updated.jwks_uri IS NOT NULL) AS _fetch,
       :application_columns,
       (extract(epoch from client.updated_at) * 1000)::int8 AS _version
  FROM decided, client;
