-- statement: signin_failure (shared)
-- A wrong password, or a wrong code of a mail, of an address that is somebody's or not.
-- It answers how many seconds are left of a lock that this failure has made, and what its
-- mail has. What was typed is not kept: the event of an unknown address names nobody.
--
-- parameters
--   user             uuid  ngx_svc_login_param(user)
--   email_mac        bytea ngx_svc_login_param(asked.mac)
--   client_ip        text  ngx_svc_login_param(client.ip)
--   client_country   text  ngx_svc_login_param(client.country)
--   reason           text  ngx_svc_login_param(written.reason)
--   lockout_max      int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_MAX)
--   lockout_window   int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW)
--   lockout_duration int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_DURATION)
--   wanted_notice    text  ngx_svc_param_notice()
WITH :failure_counted, sign_in_event AS (
    INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason, user_id, ip, country, locked)
    SELECT tenant.id, now(), 'failure', :reason::text, :user, :client_ip::text::inet,
           :client_country,
           failure.locked_until IS NOT NULL AND :user::uuid IS NOT NULL
      FROM svc.tenant tenant, failure
     WHERE tenant.id = :tenant
), event AS (
    INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
    SELECT 'failure', 'user.login_failed', 'user', :user::text,
           (SELECT account.user_name
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
             ORDER BY account.id
             LIMIT 1),
           jsonb_build_object('reason', :reason::text)
      FROM failure
    UNION ALL
    SELECT 'success', 'user.locked', 'user', :user::text,
           (SELECT account.user_name
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
             ORDER BY account.id
             LIMIT 1),
           '{}'::jsonb
      FROM failure
     WHERE failure.locked_until IS NOT NULL AND :user::uuid IS NOT NULL
)
SELECT ceil(extract(epoch FROM failure.locked_until - now()) - 0.001)::bigint AS locked,
       :client_country AS _country,
       nullif(current_setting('svc.ip', true), '') AS _ip, mail.*
  FROM failure
  LEFT JOIN LATERAL (
       SELECT notice.*
         FROM (:notice) notice
        WHERE failure.locked_until IS NOT NULL) mail ON true;


-- statement: mfa_failure (shared)
-- A failure of a second factor, or of the proof in its place. It counts with failures of the
-- password, so that a known password buys no endless guesses.
--
-- parameters
--   user             uuid  ngx_svc_login_param(user)
--   email_mac        bytea ngx_svc_login_param(asked.mac)
--   client_ip        text  ngx_svc_login_param(client.ip)
--   client_country   text  ngx_svc_login_param(client.country)
--   method           text  ngx_svc_login_param(written.reason)
--   lockout_max      int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_MAX)
--   lockout_window   int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW)
--   lockout_duration int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_DURATION)
--   wanted_notice    text  ngx_svc_param_notice()
WITH :failure_counted, sign_in_event AS (
    INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason, user_id, ip, country, locked)
    SELECT tenant.id, now(), 'failure', 'mfa', :user, :client_ip::text::inet, :client_country,
           failure.locked_until IS NOT NULL AND :user::uuid IS NOT NULL
      FROM svc.tenant tenant, failure
     WHERE tenant.id = :tenant
), event AS (
    INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
    SELECT 'failure', 'mfa.challenge_failed', 'user', :user::text,
           (SELECT account.user_name
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
             ORDER BY account.id
             LIMIT 1),
           jsonb_build_object('method', :method::text)
      FROM failure
    UNION ALL
    SELECT 'success', 'user.locked', 'user', :user::text,
           (SELECT account.user_name
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
             ORDER BY account.id
             LIMIT 1),
           '{}'::jsonb
      FROM failure
     WHERE failure.locked_until IS NOT NULL AND :user::uuid IS NOT NULL
)
SELECT ceil(extract(epoch FROM failure.locked_until - now()) - 0.001)::bigint AS locked,
       :client_country AS _country,
       nullif(current_setting('svc.ip', true), '') AS _ip, mail.*
  FROM failure
  LEFT JOIN LATERAL (
       SELECT notice.*
         FROM (:notice) notice
        WHERE failure.locked_until IS NOT NULL) mail ON true;


-- statement: signin_denied (shared)
-- Refused whatever the password: by a block, a policy, or the risk; and what is wrong
-- of a passkey, which locks nothing.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   reason         text ngx_svc_login_param(written.reason)
--   score          int4 ngx_svc_param_call(ngx_svc_login_bind_score)
--   signals        text ngx_svc_login_param(risk.signals)
--   client_ip      text ngx_svc_login_param(client.ip)
--   client_country text ngx_svc_login_param(client.country)
WITH sign_in_event AS (
    INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason, user_id, ip, country, signals)
    SELECT tenant.id, now(),
           CASE
               WHEN :reason::text = ANY ('{blocked,policy,risk}') THEN 'denied'
               ELSE 'failure'
           END,
           :reason, :user::uuid, :client_ip::text::inet, :client_country,
           :signals::text::text[]
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
)
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', 'user.login_failed', 'user', :user::uuid::text,
       (SELECT account.user_name
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
         ORDER BY account.id
         LIMIT 1),
       jsonb_build_object('reason', :reason::text, 'score', :score::int4,
                          'signals', to_jsonb(:signals::text::text[]))
  FROM svc.tenant tenant
 WHERE tenant.id = :tenant;


-- statement: signin_failed_user (shared)
-- The user of a session that has been found, and may have ended since: who ends it while
-- he guesses has guessed all the same.
--
-- parameters
--   tenant_id      uuid ngx_svc_param_call(ngx_svc_login_bind_tenant)
--   user           uuid ngx_svc_login_param(user)
SELECT set_config('svc.tenant', :tenant_id::uuid::text, true)
       || set_config('svc.actor_type', 'user', true)
       || set_config('svc.actor_id', :user::uuid::text, true) IS NULL;
