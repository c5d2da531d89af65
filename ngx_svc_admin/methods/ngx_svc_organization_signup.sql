-- statement: organization_read
-- The policy is that of a tenant that is new, as svc.governance has it.
--
-- parameters
--   slug           text ngx_svc_signup_param(slug)
--   email          text ngx_svc_login_param(asked.email)
--   display_name   text ngx_svc_account_param(display_name)
--   name           text ngx_svc_signup_param(name)
-- columns
--   taken             bool
--   _slug             text
--   _name             text
--   _email            text
--   _first            text
--   _last             text
--   _display          text
--   min_length        int4         unread
--   reject_breached   bool
--   reject_contextual bool
--   require_lower     bool
--   require_upper     bool
--   require_digit     bool
--   require_symbol    bool
--   _hash             text
--   _history          text
SELECT svc.organization_taken(:slug) AS taken, :slug::text AS _slug, :name::text AS _name,
       :email::text AS _email, NULL::text AS _first, NULL::text AS _last,
       :display_name::text AS _display, policy.min_length, policy.reject_breached,
       policy.reject_contextual, policy.require_lower, policy.require_upper, policy.require_digit,
       policy.require_symbol, NULL::text AS _hash, NULL::text AS _history
  FROM (VALUES (12, true, true, false, false, false, false))
       policy (min_length, reject_breached, reject_contextual, require_lower, require_upper,
               require_digit, require_symbol);


-- statement: organization_open
-- This makes a row of no tenant: the first column is what ngx_svc_committed_tenant() reads.
-- The mail has the slug, as a name is any text, of anybody to anybody.
--
-- parameters
--   challenge_id      uuid  ngx_svc_login_param(mailed.id)
--   slug              text  ngx_svc_signup_param(slug)
--   email_mac         bytea ngx_svc_login_param(mailed.mac)
--   code_mac          bytea ngx_svc_login_param(mailed.code_mac)
--   token_hash        bytea ngx_svc_login_param(mailed.token_hash)
--   binding_hash      bytea ngx_svc_login_param(mailed.binding_hash)
--   data              bytea ngx_svc_login_param(mailed.data)
--   code_ttl          int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_TTL)
--   organizations_max int4  ngx_svc_param_constant(NGX_SVC_ORGANIZATIONS)
--   mail_name         text  ngx_svc_signup_param(slug)
-- columns
--   :challenge_mailed
SELECT NULL::uuid AS user_id, challenge.id AS "challengeId", challenge.expires_at AS "expiresAt",
       challenge.void AS voided, NULL::text AS user_name, NULL::text AS display_name,
       NULL::text AS locale, :mail_name::text AS tenant_name, NULL::text AS color,
       NULL::text AS logo, NULL::text AS slug
  FROM svc.organization_open(:challenge_id, :slug, :email_mac, :code_mac, :token_hash,
                             :binding_hash, :data, :code_ttl, :organizations_max) challenge;


-- statement: organization_try
-- It takes an attempt of a code: there is one row in any case, whose id is NULL when the
-- challenge is over.
--
-- parameters
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   token_hash     bytea ngx_svc_login_param(mailed.token_hash)
--   attempts_max   int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_ATTEMPTS)
--   binding_hash   bytea ngx_svc_login_param(mailed.binding_hash)
-- columns
--   :challenge_tried
SELECT NULL::uuid AS user_id, challenge.id, challenge.code_mac, challenge.data,
       challenge.void AS voided, challenge.bound
  FROM (VALUES (1)) always
  LEFT JOIN svc.organization_try(:challenge_id, :token_hash, :attempts_max,
                                 :binding_hash) challenge ON true;


-- statement: organization_create
-- The code is used up and the tenant is made, which is that of the rest of the pipeline, and
-- of its rows of the journal.
--
-- parameters
--   challenge_id      uuid ngx_svc_login_param(mailed.id)
--   new_tenant        uuid ngx_svc_signup_param(tenant)
--   name              text ngx_svc_signup_param(name)
--   client_ip         text ngx_svc_login_param(client.ip)
--   client_user_agent text ngx_svc_login_param(client.user_agent)
--   request_id        text ngx_svc_login_param(asked.request_id)
-- columns
--   id             text
--   verdict        text
--   settings_set   bool         unread
SELECT CASE made.verdict
           WHEN 'made' THEN set_config('svc.tenant', :new_tenant::uuid::text, true)
       END AS id,
       made.verdict,
       set_config('svc.ip', coalesce(:client_ip, ''), true)
       || set_config('svc.user_agent', :client_user_agent, true)
       || set_config('svc.request_id', :request_id, true) IS NULL AS settings_set
  FROM (SELECT svc.organization_create(:challenge_id, :new_tenant, :name) AS verdict
        OFFSET 0) made;


-- statement: organization_user
-- Who has signed the organization up owns it, and the events say who has made both. When no
-- user is made there is no tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   display_name   text ngx_svc_account_param(display_name)
--   stage_name     text ngx_svc_login_param(written.stage)
--   email          text ngx_svc_login_param(asked.email)
-- columns
--   :account_stored
--   settings_set   bool         unread
WITH account AS (
    INSERT INTO svc.user_account
        (tenant_id, id, user_name, display_name, role, email_verified, source, last_login_at)
    SELECT :tenant, :user::uuid, :email, :display_name, 'owner', true, 'local',
           CASE :stage_name WHEN 'full' THEN now() END
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
    ON CONFLICT DO NOTHING
    RETURNING tenant_id, id, user_name
), event AS (
    INSERT INTO svc.audit_event
        (actor_type, actor_id, action, target_type, target_id, target_name, details)
    SELECT 'user', account.id::text, 'user.created', 'user', account.id::text, NULL,
           '{"source":"local"}'::jsonb
      FROM account
    UNION ALL
    SELECT 'user', account.id::text, 'tenant.created', 'tenant', tenant.id::text, tenant.name,
           jsonb_build_object('slug', tenant.slug)
      FROM account
      JOIN svc.tenant tenant ON tenant.id = account.tenant_id
)
SELECT account.id AS _user, account.user_name AS _email, now()::timestamptz(3) AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.created' = ANY (endpoint.events)),
                       ',') AS _subscribers,
       CASE
           WHEN account.id IS NULL THEN set_config('svc.tenant', '', true)
           ELSE set_config('svc.actor_type', 'user', true)
                || set_config('svc.actor_id', account.id::text, true)
       END IS NULL AS settings_set
  FROM (VALUES (1)) always
  LEFT JOIN account ON true;
