-- statement: signup_user (shared)
-- The new user, who acts from now on. Without a row, as when the address is taken, there
-- is no tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   display_name   text ngx_svc_account_param(display_name)
--   stage          text ngx_svc_login_param(written.stage)
--   email          text ngx_svc_login_param(asked.email)
--   verified       bool ngx_svc_param_call(ngx_svc_signup_bind_verified)
WITH account AS (
    INSERT INTO svc.user_account
        (tenant_id, id, user_name, display_name, role, email_verified, source, last_login_at)
    SELECT :tenant, :user::uuid, :email, :display_name, 'member', :verified::bool, 'local',
           CASE :stage WHEN 'full' THEN now() END
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT account.id AS _user,
       CASE
           WHEN account.id IS NULL THEN set_config('svc.tenant', '', true)
           ELSE set_config('svc.actor_type', 'user', true)
                || set_config('svc.actor_id', account.id::text, true)
       END IS NULL
  FROM (VALUES (1)) always
  LEFT JOIN account ON true;


-- statement: signup_store (shared)
-- What goes with the user: the password, and that it is written down.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   sealed_hash    bytea ngx_svc_account_param(sealed)
-- columns
--   :account_stored
WITH account AS MATERIALIZED (
    SELECT account.tenant_id, account.id, account.user_name
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id BETWEEN :user AND :user
     ORDER BY account.id
     LIMIT 1
), password AS (
    INSERT INTO svc.password (tenant_id, user_id, hash)
    SELECT account.tenant_id, account.id, :sealed_hash::bytea
      FROM account
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.created', 'user', account.id::text, NULL, '{"source":"local"}'::jsonb
      FROM account
)
SELECT account.id AS _user, account.user_name AS _email, now()::timestamptz(3) AS _at,
       array_to_string(ARRAY(SELECT endpoint.id
                               FROM svc.webhook_endpoint endpoint
                              WHERE endpoint.tenant_id = :tenant
                                AND endpoint.enabled
                                AND 'user.created' = ANY (endpoint.events)),
                       ',') AS _subscribers
  FROM account;
