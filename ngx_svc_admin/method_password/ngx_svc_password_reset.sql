-- statement: reset_read
-- It finds the user of a token that is good, or nothing: one who is active, has not been cut
-- off since it was made, and whose password no directory has.
--
-- parameters
--   token          bytea ngx_svc_reset_param(token)
--   lockout_window int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW)
-- columns
--   _user             uuid
--   _email            text
--   _first            text
--   _last             text
--   _display          text
--   _slug             text
--   _name             text
--   min_length        int4
--   reject_breached   bool
--   reject_contextual bool
--   require_lower     bool
--   require_upper     bool
--   require_digit     bool
--   require_symbol    bool
--   _hash             bytea
--   _password         int8         as text
--   _history          text
--   _failures         int4         as text
--   forced            bool
SELECT account.id AS _user, account.user_name AS _email, account.first_name AS _first,
       account.last_name AS _last, account.display_name AS _display, tenant.slug AS _slug,
       tenant.name AS _name, rules.min_length, rules.reject_breached, rules.reject_contextual,
       rules.require_lower, rules.require_upper, rules.require_digit, rules.require_symbol,
       password.hash AS _hash,
       password.version AS _password,
       (SELECT string_agg(encode(former.hash, 'hex'), ',' ORDER BY former.version DESC)
          FROM (SELECT former.hash, former.version
                  FROM svc.password_history former
                 WHERE former.tenant_id = account.tenant_id AND former.user_id = account.id
                 ORDER BY former.version DESC
                 LIMIT rules.history_count) former) AS _history,
       CASE
           WHEN account.failed_since > now() - make_interval(secs => :lockout_window::int4)
               THEN account.failed_logins
           ELSE 0
       END AS _failures,
       svc.sign_in_by(tenant.id, tenant.sign_in_forced, account.user_name) IS NOT NULL AS forced
  FROM (SELECT reset.*
          FROM svc.password_reset reset
         WHERE reset.tenant_id = :tenant AND reset.token_hash BETWEEN :token AND :token
         ORDER BY reset.token_hash
         LIMIT 1) reset
  CROSS JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN reset.user_id AND reset.user_id
        ORDER BY account.id
        LIMIT 1) account
  JOIN svc.tenant tenant ON tenant.id = account.tenant_id
  JOIN svc.governance governance ON governance.tenant_id = account.tenant_id
  -- The policies of the user's groups decide, and without one the tenant's does.
  CROSS JOIN LATERAL (
       SELECT coalesce(max(policy.min_length), governance.min_length) AS min_length,
              coalesce(max(policy.history_count), governance.history_count) AS history_count,
              coalesce(bool_or(policy.reject_breached), governance.reject_breached)
                  AS reject_breached,
              coalesce(bool_or(policy.reject_contextual), governance.reject_contextual)
                  AS reject_contextual,
              coalesce(bool_or(policy.require_lower), governance.require_lower) AS require_lower,
              coalesce(bool_or(policy.require_upper), governance.require_upper) AS require_upper,
              coalesce(bool_or(policy.require_digit), governance.require_digit) AS require_digit,
              coalesce(bool_or(policy.require_symbol), governance.require_symbol) AS require_symbol
         FROM svc.group_member member
         JOIN svc.group_password_policy policy
              ON policy.tenant_id = member.tenant_id AND policy.group_id = member.group_id
        WHERE member.tenant_id = governance.tenant_id AND member.user_id = account.id) rules
  LEFT JOIN svc.password password
       ON password.tenant_id = account.tenant_id AND password.user_id = account.id
 WHERE reset.expires_at > now()
   AND account.status = 'active'
   AND reset.created_at >= coalesce(account.valid_after, '-infinity')
   AND NOT coalesce(svc.directory_account(tenant.id, tenant.directory, account.id), false);


-- statement: reset_check
-- Under the user's lock it is seen whether the token is as good as it was: otherwise there
-- is no tenant for the rest.
--
-- parameters
--   token          bytea ngx_svc_reset_param(token)
SELECT CASE
           WHEN decided.id IS NULL THEN set_config('svc.tenant', '', true)
           ELSE set_config('svc.actor_type', 'user', true)
                || set_config('svc.actor_id', decided.id::text, true)
       END IS NULL
  FROM (VALUES (1)) always
  LEFT JOIN (
       SELECT account.id
         FROM (SELECT reset.*
                 FROM svc.password_reset reset
                WHERE reset.tenant_id = :tenant AND reset.token_hash BETWEEN :token AND :token
                ORDER BY reset.token_hash
                LIMIT 1) reset
         CROSS JOIN LATERAL (
              SELECT account.*
                FROM svc.user_account account
               WHERE account.tenant_id = :tenant
                 AND account.id BETWEEN reset.user_id AND reset.user_id
               ORDER BY account.id
               LIMIT 1) account
        WHERE reset.expires_at > now()
          AND account.status = 'active'
          AND reset.created_at >= coalesce(account.valid_after, '-infinity')
          AND NOT coalesce(svc.directory_account(:tenant, (SELECT tenant.directory
                                                             FROM svc.tenant tenant
                                                            WHERE tenant.id = :tenant),
                                                 account.id),
                           false)
       OFFSET 0) decided ON true;


-- statement: reset_store
--
-- parameters
--   user             uuid  ngx_svc_login_param(user)
--   password_hash    bytea ngx_svc_reset_param(sealed)
--   password_version text  ngx_svc_login_param(password.version)
--   wanted_notice    text  ngx_svc_param_notice()
WITH :password_stored, event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'password.reset', 'user', password.user_id::text, NULL, '{}'
      FROM password
)
SELECT password.user_id, nullif(current_setting('svc.ip', true), '') AS _ip, notice.*
  FROM password
  LEFT JOIN LATERAL (:notice) notice ON true;
