-- statement: signup_user (shared)
-- The new user, who acts from now on, and the event. Without a user, as when the address is
-- taken, or must come in by a connection by now, there is no tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   display_name   text ngx_svc_account_param(display_name)
--   stage          text ngx_svc_login_param(written.stage)
--   email          text ngx_svc_login_param(asked.email)
--   verified       bool ngx_svc_param_call(ngx_svc_signup_bind_verified)
-- columns
--   :account_stored
--   forced         bool
--   settings_set   bool         unread
WITH account AS (
    INSERT INTO svc.user_account
        (tenant_id, id, user_name, display_name, role, email_verified, source, last_login_at)
    SELECT :tenant, :user::uuid, :email, :display_name, 'member', :verified::bool, 'local',
           CASE :stage WHEN 'full' THEN now() END
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
       AND svc.sign_in_by(tenant.id, tenant.sign_in_forced, :email) IS NULL
    ON CONFLICT DO NOTHING
    RETURNING id, user_name
), event AS (
    INSERT INTO svc.audit_event
        (actor_type, actor_id, action, target_type, target_id, target_name, details)
    SELECT 'user', account.id::text, 'user.created', 'user', account.id::text, NULL,
           '{"source":"local"}'::jsonb
      FROM account
)
SELECT account.id AS _user, account.user_name AS _email, now()::timestamptz(3) AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.created' = ANY (endpoint.events)),
                       ',') AS _subscribers,
       svc.sign_in_by(tenant.id, tenant.sign_in_forced, :email) IS NOT NULL AS forced,
       CASE
           WHEN account.id IS NULL THEN set_config('svc.tenant', '', true)
           ELSE set_config('svc.actor_type', 'user', true)
                || set_config('svc.actor_id', account.id::text, true)
       END IS NULL AS settings_set
  FROM (VALUES (1)) always
  LEFT JOIN svc.tenant tenant ON tenant.id = :tenant
  LEFT JOIN account ON true;
