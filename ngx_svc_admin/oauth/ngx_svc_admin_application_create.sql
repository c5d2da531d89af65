-- statement: admin_applications_create
-- What the body lacks is what its type gets, or what the security profile asks for.  An
-- application without a secret has no secret_digest.  Nobody else takes the resource while
-- the lock of all applications is held; the index is a backstop.
--
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
-- columns
--   _verdict       text
--   :application_columns
--   _fetch         text         its clientId, if its keys are to be fetched
WITH base AS (
    -- an application that has its type alone, and the times that the tenant's settings allow
    SELECT client.*
      FROM (SELECT) fresh
      LEFT JOIN svc.oauth_tenant settings ON settings.tenant_id = :tenant
      CROSS JOIN LATERAL jsonb_populate_record(NULL::svc.application, jsonb_build_object(
           'type', :type::text, 'id_token_ttl', least(3600, settings.max_id_token_ttl),
           'refresh_idle_days', least(30, settings.max_refresh_idle_days),
           'grant_days', least(90, settings.max_grant_days))) client
), :application_wanted, decided AS (
    SELECT CASE
               WHEN wrong.verdict IS NOT NULL THEN wrong.verdict
               WHEN :owner_id::uuid IS NOT NULL AND :type <> 'agent' THEN 'not_owned'
               WHEN :owner_id IS NOT NULL
                    AND (SELECT account.status = 'active'
                           FROM svc.user_account account
                          WHERE account.tenant_id = :tenant
                            AND account.id BETWEEN :owner_id AND :owner_id
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
      FROM wanted, base, wrong
), client AS (
    INSERT INTO svc.application
        (tenant_id, client_id, type, owner_id, secret_rotated_at, policy_set_at, name, enabled,
         assignment, redirect_uris, scopes, grant_types, auth_method, resource_uri, resource_key,
         access_token_format, access_token_ttl, require_consent, require_dpop, signing_alg,
         require_pkce, require_acr, unknown_scopes, refresh_tokens, id_token_claims, groups_claim,
         id_token_ttl, refresh_idle_days, grant_days, default_resource_uri, default_resource_key,
         post_logout_redirect_uris, backchannel_logout_uri, backchannel_session, jwks, jwks_uri,
         require_par, security_profile, jwks_due_at)
    SELECT :tenant_or_null, :client_id, :type, :owner_id,
           CASE WHEN :secret_digest::bytea IS NOT NULL THEN now() END,
           CASE WHEN :type = 'agent' AND NOT wanted.enabled THEN now() END,
           wanted.*, CASE WHEN wanted.jwks_uri IS NOT NULL THEN now() END
      FROM wanted, decided
     WHERE :tenant_or_null IS NOT NULL AND decided.verdict IS NULL
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
       :application_columns,
       CASE WHEN client.jwks_uri IS NOT NULL THEN client.client_id END AS _fetch
  FROM decided
  LEFT JOIN client ON true;
