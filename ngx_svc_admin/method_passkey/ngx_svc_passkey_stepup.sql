-- statement: stepup_passkey
-- One of those that have the challenge uses it, and counts on: a count that does not rise
-- is that of a copy, but 0 is that of a passkey that does not count. Otherwise there is no
-- tenant for the rest.
--
-- parameters
--   user                 uuid  ngx_svc_login_param(user)
--   credential_hash      bytea ngx_svc_stepup_param(use[NGX_SVC_PASSKEY_USE_ID])
--   sign_count           text  ngx_svc_stepup_param(use[NGX_SVC_PASSKEY_USE_COUNT])
--   backed_up            text  ngx_svc_stepup_param(use[NGX_SVC_PASSKEY_USE_BS])
--   challenge_hash       bytea ngx_svc_stepup_param(use[NGX_SVC_PASSKEY_USE_CHALLENGE])
--   challenge_expires_ms text  ngx_svc_stepup_param(use[NGX_SVC_PASSKEY_USE_EXPIRES])
WITH taken AS (
    INSERT INTO svc.challenge_used (tenant_id, hash, expires_at)
    SELECT tenant.id, :challenge_hash::bytea,
           to_timestamp(:challenge_expires_ms::text::float8 / 1000)
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
    ON CONFLICT DO NOTHING
    RETURNING 1
), used AS (
    UPDATE svc.passkey passkey
       SET sign_count = :sign_count::text::bigint, bs = :backed_up::text::bool
     WHERE passkey.tenant_id = :tenant
       AND passkey.credential_hash = :credential_hash
       AND passkey.user_id = :user
       AND EXISTS (SELECT FROM taken)
       AND (:sign_count::text::bigint > passkey.sign_count
            OR :sign_count::text::bigint = 0 AND passkey.sign_count = 0)
    RETURNING passkey.user_id, passkey.factor_id
), factor AS (
    UPDATE svc.factor factor
       SET last_used_at = now()
     WHERE factor.tenant_id = :tenant
       AND (factor.user_id, factor.id) = (SELECT used.user_id, used.factor_id FROM used)
)
SELECT used.factor_id,
       CASE WHEN used.factor_id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN used ON true;


-- statement: stepup_passkey_wrong
-- Nothing can be guessed of a passkey: a wrong one does not count for the lock.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   reason         text ngx_svc_login_param(written.reason)
--   client_ip      text ngx_svc_login_param(client.ip)
--   client_country text ngx_svc_login_param(client.country)
WITH sign_in_event AS (
    INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason, user_id, ip, country)
    SELECT tenant.id, now(), 'failure', :reason::text, :user::uuid, :client_ip::text::inet,
           :client_country
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
)
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', 'mfa.challenge_failed', 'user', :user::uuid::text,
       (SELECT account.user_name
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
         ORDER BY account.id
         LIMIT 1),
       jsonb_build_object('method', 'passkey', 'reason', :reason::text)
  FROM svc.tenant tenant
 WHERE tenant.id = :tenant;
