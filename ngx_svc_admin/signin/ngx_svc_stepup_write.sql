-- statement: stepup_unknown
-- What could not be judged gives its attempt back: the challenge had been tried before.
--
-- parameters
--   session        bytea ngx_svc_param_session()
UPDATE svc.challenge challenge
   SET attempts = challenge.attempts - 1
 WHERE challenge.tenant_id = :tenant
   AND challenge.root_id = (SELECT session.root_id
                              FROM svc.session session
                             WHERE session.tenant_id = :tenant
                               AND session.token_hash BETWEEN :session AND :session
                             ORDER BY session.token_hash
                             LIMIT 1)
   AND challenge.attempts > 0;


-- statement: stepup_check (shared)
-- As factor_check; and of a method that can be guessed a lock of the user counts, for how
-- many seconds it says as well.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   session        bytea ngx_svc_param_session()
--   guessed        bool  ngx_svc_param_call(ngx_svc_stepup_bind_guessed)
-- columns
--   verdict        text
--   set_config     text         unread
--   locked         int8
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


-- statement: stepup_first (shared)
-- What begins a session stands in for a factor only while there is none. While it was
-- verified a factor may have come, or another password: then there is no tenant for the
-- rest.
--
-- parameters
--   user             uuid ngx_svc_login_param(user)
--   password_version text ngx_svc_login_param(password.version)
SELECT shown.user_id, CASE WHEN shown.user_id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN (SELECT account.id AS user_id
               FROM svc.user_account account
               LEFT JOIN svc.password password
                    ON password.tenant_id = account.tenant_id AND password.user_id = account.id
              WHERE account.tenant_id = :tenant
                AND account.id = :user
                AND NOT account.mfa_enrolled
                AND password.version IS NOT DISTINCT FROM :password_version::text::bigint
             OFFSET 0) shown ON true;
