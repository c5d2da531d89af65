-- POST /v1/oauth/authorization: what the user has decided on the page.


-- statement: admin_authorization_decide
-- Nothing is granted but what the page has shown, to the user that it was shown to.  A
-- consent is stored, to what was allowed before, but for a loopback URI: whoever comes
-- by one is asked each time.
--
-- parameters
--   client_id        text  ngx_svc_oauth_request_param(oauth.client.id)
--   redirect_uri     text  ngx_svc_oauth_request_param(redirect_uri)
--   loopback_before  text  ngx_svc_oauth_request_param(before)
--   loopback_behind  text  ngx_svc_oauth_request_param(behind)
--   fault_at         text  ngx_svc_oauth_request_param(fault)
--   asked_resources  text  ngx_svc_oauth_request_param(resources)
--   asked_keys       text  ngx_svc_oauth_request_param(resource_keys)
--   asked_scopes     text  ngx_svc_oauth_request_param(oauth.scopes)
--   scope_max        int4  ngx_svc_param_constant(NGX_SVC_OAUTH_SCOPE_MAX)
--   challenge        bytea ngx_svc_oauth_request_param(challenge)
--   asked_claims     text  ngx_svc_oauth_request_param(claims)
--   pushed_digest    bytea ngx_svc_oauth_request_param(pushed)
--   session_digest   bytea ngx_svc_oauth_request_param(digest)
--   sign_in_again    bool  ngx_svc_oauth_request_param(again)
--   max_age          text  ngx_svc_oauth_request_param(max_age)
--   auth_after       text  ngx_svc_oauth_request_param(auth_after)
--   hint_user        text  ngx_svc_oauth_request_param(hint)
--   ip               text  ngx_svc_oauth_request_param(oauth.ip)
--   policy_version   text  ngx_svc_oauth_request_param(policy)
--   asked_acr        text  ngx_svc_oauth_request_param(acr)
--   passkey_methods  text  ngx_svc_oauth_request_param(passkey_methods)
--   password_methods text  ngx_svc_oauth_request_param(password_methods)
--   code_methods     text  ngx_svc_oauth_request_param(code_methods)
--   acr_needed       bool  ngx_svc_oauth_request_param(acr_needed)
--   claims_user      text  ngx_svc_oauth_request_param(subject)
--   code_digest      bytea ngx_svc_oauth_request_param(code_digest)
--   nonce            text  ngx_svc_oauth_request_param(nonce)
--   jkt              bytea ngx_svc_oauth_request_param(jkt)
--   decision         text  ngx_svc_oauth_request_param(decision)
--   decided_by       text  ngx_svc_oauth_request_param(user_id)
--   shown_scopes     text  ngx_svc_oauth_request_param(shown_scopes)
--   shown_resources  text  ngx_svc_oauth_request_param(shown_resources)
-- columns
--   :authorized
WITH decided AS (
    SELECT CASE
               :verdict_request
               :verdict_place
               :verdict_user
               WHEN session.user_id <> :decided_by::text::uuid THEN 'user'
               WHEN :decision = 'deny' THEN 'denied'
               WHEN NOT (:shown_scopes::text::text[] <@ shown.scopes
                         AND shown.scopes <@ :shown_scopes::text::text[])
                     OR NOT (:shown_resources::text::text[] <@ target.resources
                             AND target.resources <@ :shown_resources::text::text[])
                    THEN 'changed'
           END AS verdict,
           :authorize_columns
      FROM :authorize_asked
      JOIN svc.governance governance ON governance.tenant_id = :tenant
      LEFT JOIN LATERAL (:user_session) session ON true
      LEFT JOIN LATERAL (:user_consent) consent ON true
      CROSS JOIN LATERAL (:consent_covers) approval
), stored AS (
    INSERT INTO svc.oauth_consent AS consent
        (tenant_id, user_id, client_id, scopes, resources, allowed)
    SELECT :tenant_or_null, decided.user_id, decided.client_id, decided.shown,
           ARRAY(SELECT key COLLATE "C" FROM unnest(decided.resource_keys) key ORDER BY 1),
           ARRAY(SELECT key || ' ' || scope COLLATE "C"
                   FROM unnest(coalesce(nullif(decided.resource_keys, '{}'), '{""}')) key,
                        unnest('{""}' || decided.shown) scope)
      FROM decided
     WHERE decided.verdict IS NULL AND :loopback_before IS NULL
    ON CONFLICT (tenant_id, user_id, client_id) DO UPDATE
       SET scopes = ARRAY(SELECT DISTINCT scope COLLATE "C"
                            FROM unnest(consent.scopes || excluded.scopes) scope
                           ORDER BY 1),
           resources = ARRAY(SELECT DISTINCT key COLLATE "C"
                               FROM unnest(consent.resources || excluded.resources) key
                              ORDER BY 1),
           allowed = ARRAY(SELECT DISTINCT pair COLLATE "C"
                             FROM unnest(consent.allowed || excluded.allowed) pair
                            ORDER BY 1),
           updated_at = greatest(now(), consent.updated_at + interval '1 millisecond')
), granted AS (
    INSERT INTO svc.oauth_grant
        (tenant_id, id, client_id, user_id, scopes, resources, resource_keys, session_id,
         session_at, auth_time, methods, consented, claims, watches, expires_at)
    SELECT :tenant_or_null, decided.id, decided.client_id, decided.user_id, decided.scopes,
           decided.resources, decided.resource_keys, decided.root_id, decided.session_at,
           decided.auth_time, decided.methods, true, decided.claims, decided.watches,
           now() + decided.grant_days * interval '1 day'
      FROM decided
     WHERE decided.verdict IS NULL
), code AS (
    INSERT INTO svc.oauth_code
        (tenant_id, digest, grant_id, client_id, redirect_uri, challenge, nonce, jkt, expires_at)
    SELECT :tenant_or_null, :code_digest::bytea, decided.id, decided.client_id, :redirect_uri,
           :challenge::bytea, :nonce::text, :jkt::bytea, now() + interval '1 minute'
      FROM decided
     WHERE decided.verdict IS NULL
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'consent.granted', 'application', decided.client_id, decided.name,
           jsonb_build_object('scopes', to_jsonb(decided.shown),
                              'resources', to_jsonb(decided.resources))
      FROM decided
     WHERE decided.verdict IS NULL
)
SELECT decided.verdict AS _verdict, decided.slug, extract(epoch FROM now())::text AS now,
       CASE decided.verdict WHEN 'policy' THEN decided.access_policy END AS _policy,
       decided.access_number AS _version, decided.tenant_id AS _tenant
  FROM decided;


-- statement: admin_authorization_decide_pushed
-- A request that was pushed is spent besides; of two decisions at once, by one alone.
--
-- parameters
--   client_id        text  ngx_svc_oauth_request_param(oauth.client.id)
--   redirect_uri     text  ngx_svc_oauth_request_param(redirect_uri)
--   loopback_before  text  ngx_svc_oauth_request_param(before)
--   loopback_behind  text  ngx_svc_oauth_request_param(behind)
--   fault_at         text  ngx_svc_oauth_request_param(fault)
--   asked_resources  text  ngx_svc_oauth_request_param(resources)
--   asked_keys       text  ngx_svc_oauth_request_param(resource_keys)
--   asked_scopes     text  ngx_svc_oauth_request_param(oauth.scopes)
--   scope_max        int4  ngx_svc_param_constant(NGX_SVC_OAUTH_SCOPE_MAX)
--   challenge        bytea ngx_svc_oauth_request_param(challenge)
--   asked_claims     text  ngx_svc_oauth_request_param(claims)
--   pushed_digest    bytea ngx_svc_oauth_request_param(pushed)
--   session_digest   bytea ngx_svc_oauth_request_param(digest)
--   sign_in_again    bool  ngx_svc_oauth_request_param(again)
--   max_age          text  ngx_svc_oauth_request_param(max_age)
--   auth_after       text  ngx_svc_oauth_request_param(auth_after)
--   hint_user        text  ngx_svc_oauth_request_param(hint)
--   ip               text  ngx_svc_oauth_request_param(oauth.ip)
--   policy_version   text  ngx_svc_oauth_request_param(policy)
--   asked_acr        text  ngx_svc_oauth_request_param(acr)
--   passkey_methods  text  ngx_svc_oauth_request_param(passkey_methods)
--   password_methods text  ngx_svc_oauth_request_param(password_methods)
--   code_methods     text  ngx_svc_oauth_request_param(code_methods)
--   acr_needed       bool  ngx_svc_oauth_request_param(acr_needed)
--   claims_user      text  ngx_svc_oauth_request_param(subject)
--   code_digest      bytea ngx_svc_oauth_request_param(code_digest)
--   nonce            text  ngx_svc_oauth_request_param(nonce)
--   jkt              bytea ngx_svc_oauth_request_param(jkt)
--   decision         text  ngx_svc_oauth_request_param(decision)
--   decided_by       text  ngx_svc_oauth_request_param(user_id)
--   shown_scopes     text  ngx_svc_oauth_request_param(shown_scopes)
--   shown_resources  text  ngx_svc_oauth_request_param(shown_resources)
-- columns
--   :authorized
WITH judged AS (
    SELECT CASE
               :verdict_request
               :verdict_place
               :verdict_user
               WHEN session.user_id <> :decided_by::text::uuid THEN 'user'
               WHEN :decision = 'deny' THEN 'denied'
               WHEN NOT (:shown_scopes::text::text[] <@ shown.scopes
                         AND shown.scopes <@ :shown_scopes::text::text[])
                     OR NOT (:shown_resources::text::text[] <@ target.resources
                             AND target.resources <@ :shown_resources::text::text[])
                    THEN 'changed'
           END AS verdict,
           :authorize_columns
      FROM :authorize_asked
      JOIN svc.governance governance ON governance.tenant_id = :tenant
      LEFT JOIN LATERAL (:user_session) session ON true
      LEFT JOIN LATERAL (:user_consent) consent ON true
      CROSS JOIN LATERAL (:consent_covers) approval
), spent AS (
    UPDATE svc.oauth_par pushed
       SET used_at = now()
      FROM judged
     WHERE judged.verdict IS NULL
       AND pushed.tenant_id = :tenant
       AND pushed.digest BETWEEN :pushed_digest::bytea AND :pushed_digest::bytea
       AND pushed.used_at IS NULL
    RETURNING pushed.digest
), decided AS (
    SELECT CASE
               WHEN judged.verdict IS NULL AND NOT EXISTS (SELECT FROM spent) THEN 'spent'
               ELSE judged.verdict
           END AS verdict,
           judged.slug, judged.client_id, judged.name, judged.id, judged.user_id, judged.root_id,
           judged.session_at, judged.auth_time, judged.methods, judged.scopes, judged.claims,
           judged.shown, judged.resources, judged.resource_keys, judged.consented,
           judged.grant_days, judged.watches, judged.tenant_id, judged.access_policy,
           judged.access_number
      FROM judged
), stored AS (
    INSERT INTO svc.oauth_consent AS consent
        (tenant_id, user_id, client_id, scopes, resources, allowed)
    SELECT :tenant_or_null, decided.user_id, decided.client_id, decided.shown,
           ARRAY(SELECT key COLLATE "C" FROM unnest(decided.resource_keys) key ORDER BY 1),
           ARRAY(SELECT key || ' ' || scope COLLATE "C"
                   FROM unnest(coalesce(nullif(decided.resource_keys, '{}'), '{""}')) key,
                        unnest('{""}' || decided.shown) scope)
      FROM decided
     WHERE decided.verdict IS NULL AND :loopback_before IS NULL
    ON CONFLICT (tenant_id, user_id, client_id) DO UPDATE
       SET scopes = ARRAY(SELECT DISTINCT scope COLLATE "C"
                            FROM unnest(consent.scopes || excluded.scopes) scope
                           ORDER BY 1),
           resources = ARRAY(SELECT DISTINCT key COLLATE "C"
                               FROM unnest(consent.resources || excluded.resources) key
                              ORDER BY 1),
           allowed = ARRAY(SELECT DISTINCT pair COLLATE "C"
                             FROM unnest(consent.allowed || excluded.allowed) pair
                            ORDER BY 1),
           updated_at = greatest(now(), consent.updated_at + interval '1 millisecond')
), granted AS (
    INSERT INTO svc.oauth_grant
        (tenant_id, id, client_id, user_id, scopes, resources, resource_keys, session_id,
         session_at, auth_time, methods, consented, claims, watches, expires_at)
    SELECT :tenant_or_null, decided.id, decided.client_id, decided.user_id, decided.scopes,
           decided.resources, decided.resource_keys, decided.root_id, decided.session_at,
           decided.auth_time, decided.methods, true, decided.claims, decided.watches,
           now() + decided.grant_days * interval '1 day'
      FROM decided
     WHERE decided.verdict IS NULL
), code AS (
    INSERT INTO svc.oauth_code
        (tenant_id, digest, grant_id, client_id, redirect_uri, challenge, nonce, jkt, expires_at)
    SELECT :tenant_or_null, :code_digest::bytea, decided.id, decided.client_id, :redirect_uri,
           :challenge::bytea, :nonce::text, :jkt::bytea, now() + interval '1 minute'
      FROM decided
     WHERE decided.verdict IS NULL
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'consent.granted', 'application', decided.client_id, decided.name,
           jsonb_build_object('scopes', to_jsonb(decided.shown),
                              'resources', to_jsonb(decided.resources))
      FROM decided
     WHERE decided.verdict IS NULL
)
SELECT decided.verdict AS _verdict, decided.slug, extract(epoch FROM now())::text AS now,
       CASE decided.verdict WHEN 'policy' THEN decided.access_policy END AS _policy,
       decided.access_number AS _version, decided.tenant_id AS _tenant
  FROM decided;
