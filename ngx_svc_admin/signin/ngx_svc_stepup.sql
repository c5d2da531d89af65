-- statement: stepup_factors (shared)
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT factor.id, factor.secret, factor.last_step, factor.type
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT factor.*
         FROM svc.factor factor
        WHERE factor.tenant_id = :tenant
          AND factor.user_id BETWEEN session.user_id AND session.user_id
        ORDER BY factor.user_id OFFSET 0) factor
 WHERE factor.confirmed_at IS NOT NULL;


-- statement: stepup_codes (shared)
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT code.mac, code.key_id
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT code.mac, code.key_id
         FROM svc.recovery_code code
        WHERE code.tenant_id = :tenant
          AND code.user_id BETWEEN session.user_id AND session.user_id
        ORDER BY code.user_id OFFSET 0) code;


-- statement: stepup_check (shared)
-- As factor_check; and of a method that can be guessed a lock of the user counts, for how
-- many seconds it says as well.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   session        bytea ngx_svc_param_session()
--   guessed        bool  ngx_svc_param_call(ngx_svc_stepup_bind_guessed)
SELECT judged.verdict,
       CASE judged.verdict WHEN 'go' THEN NULL ELSE set_config('svc.tenant', '', true) END,
       judged.locked
  FROM (VALUES (1)) always
  LEFT JOIN (SELECT CASE
                        WHEN :guessed::bool AND account.locked_until > now() THEN 'locked'
                        ELSE 'go'
                    END AS verdict,
                    greatest(ceil(extract(epoch FROM account.locked_until - now())
                                  - 0.001)::bigint,
                             1) AS locked
               FROM svc.user_account account
              WHERE account.tenant_id = :tenant
                AND account.id = :user
                AND account.status = 'active'
                AND EXISTS (SELECT
                              FROM (SELECT session.*
                                      FROM svc.session session
                                     WHERE session.tenant_id = :tenant
                                       AND session.token_hash BETWEEN :session AND :session
                                     ORDER BY session.token_hash
                                     LIMIT 1) session
                             WHERE session.ended_at IS NULL
                               AND session.user_id = account.id
                               AND session.stage <> 'locked'
                               AND session.created_at
                                   >= coalesce(account.valid_after, '-infinity'))
             OFFSET 0) judged ON true;


-- statement: stepup_email (shared)
-- The code that was mailed for the session's challenge. There is one row in any case; its
-- id is NULL when no code was mailed, or is over, or is older than the user's cut-off.
--
-- parameters
--   session        bytea ngx_svc_param_session()
SELECT good.id, good.user_id, good.code_mac, good.data, good.void
  FROM (VALUES (1)) always
  LEFT JOIN (SELECT mail.*
               FROM (SELECT session.root_id, session.user_id
                       FROM svc.session session
                      WHERE session.tenant_id = :tenant
                        AND session.token_hash BETWEEN :session AND :session
                      ORDER BY session.token_hash
                      LIMIT 1) session
               CROSS JOIN LATERAL (
                    SELECT account.valid_after
                      FROM svc.user_account account
                     WHERE account.tenant_id = :tenant
                       AND account.id BETWEEN session.user_id AND session.user_id
                     ORDER BY account.id
                     LIMIT 1) account
               CROSS JOIN LATERAL (
                    SELECT challenge.mail_id
                      FROM svc.challenge challenge
                     WHERE challenge.tenant_id = :tenant
                       AND challenge.root_id BETWEEN session.root_id AND session.root_id
                     ORDER BY challenge.root_id
                     LIMIT 1) challenge
               CROSS JOIN LATERAL (
                    SELECT mail.*
                      FROM svc.email_challenge mail
                     WHERE mail.tenant_id = :tenant
                       AND mail.id BETWEEN challenge.mail_id AND challenge.mail_id
                     ORDER BY mail.id
                     LIMIT 1) mail
              WHERE mail.used_at IS NULL
                AND mail.expires_at > now()
                AND mail.created_at >= coalesce(account.valid_after, '-infinity')) good ON true;
