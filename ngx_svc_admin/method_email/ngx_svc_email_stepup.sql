-- statement: stepup_email
-- The code that was mailed for the session's challenge. There is one row in any case; its
-- id is NULL when no code was mailed, or is over, or is older than the user's cut-off. There
-- is no link that could be bound to a browser.
--
-- parameters
--   session        bytea ngx_svc_param_session()
-- columns
--   :challenge_tried
SELECT good.user_id, good.id, good.code_mac, good.data, good.void AS voided, false AS bound
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


-- statement: stepup_email_mailed
-- The challenge lasts as long as its newest code; one that is void changes nothing.
-- Without a row the challenge is another one by now.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   challenge_id   uuid  ngx_svc_stepup_param(challenge)
--   mail_id        uuid  ngx_svc_login_param(mailed.id)
-- columns
--   :stepup_tried
WITH mail AS (
    SELECT mail.*
      FROM svc.email_challenge mail
     WHERE mail.tenant_id = :tenant AND mail.id BETWEEN :mail_id AND :mail_id
     ORDER BY mail.id
     LIMIT 1
), mailed AS (
    UPDATE svc.challenge challenge
       SET mail_id = CASE WHEN mail.void THEN challenge.mail_id ELSE mail.id END,
           expires_at = CASE WHEN mail.void THEN challenge.expires_at ELSE mail.expires_at END
      FROM mail
     WHERE challenge.tenant_id = :tenant
       AND challenge.root_id = (SELECT session.root_id
                                  FROM (SELECT session.root_id
                                          FROM svc.session session
                                         WHERE session.tenant_id = :tenant
                                           AND session.token_hash BETWEEN :session AND :session
                                         ORDER BY session.token_hash
                                         LIMIT 1) session)
       AND challenge.id = :challenge_id
       AND coalesce(challenge.expires_at > now(), false)
    RETURNING challenge.id, challenge.attempts, challenge.expires_at
)
SELECT mailed.id AS "challengeId", mailed.attempts, mailed.expires_at AS "expiresAt", true AS own
  FROM mailed;


-- statement: stepup_email_use
-- One of the requests that present the same code uses it; the others have no tenant from
-- here on.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   factor_id      uuid ngx_svc_stepup_param(use[0])
--   mail_id        uuid ngx_svc_login_param(mailed.id)
WITH factor AS (
    UPDATE svc.factor factor
       SET last_used_at = now()
     WHERE factor.tenant_id = :tenant
       AND factor.user_id = :user
       AND factor.id = :factor_id
       AND factor.confirmed_at IS NOT NULL
    RETURNING factor.id
), used AS (
    UPDATE svc.email_challenge mail
       SET used_at = now()
      FROM factor
     WHERE mail.tenant_id = :tenant
       AND mail.id = :mail_id
       AND mail.used_at IS NULL
       AND coalesce(mail.expires_at > now(), false)
    RETURNING mail.id
)
SELECT used.id, CASE WHEN used.id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN used ON true;


-- statement: stepup_email_prove
-- In the stage "enroll" a code proves the address: the session may add its
-- first factor, and its challenge is over. The address is verified only while it is still
-- the one that the code was mailed to.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   user           uuid  ngx_svc_login_param(user)
--   email          text  ngx_svc_factor_param(email)
WITH presented AS MATERIALIZED (
    SELECT session.user_id, session.id, session.root_id
      FROM svc.session session
     WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
     ORDER BY session.token_hash
     LIMIT 1
), proved AS (
    UPDATE svc.session
       SET proved_at = now()
     WHERE tenant_id = :tenant
       AND (user_id, id) = (SELECT presented.user_id, presented.id FROM presented)
    RETURNING id
), challenge AS (
    DELETE FROM svc.challenge challenge
     WHERE challenge.tenant_id = :tenant
       AND challenge.root_id = (SELECT presented.root_id FROM presented)
), verified AS (
    UPDATE svc.user_account account
       SET email_verified = true,
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond')
     WHERE account.tenant_id = :tenant
       AND account.id = :user
       AND account.user_name_key = svc.address_key(:email)
       AND NOT account.email_verified
    RETURNING account.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'email.verified', 'user', verified.id::text, NULL, '{}'
      FROM verified
)
SELECT proved.id
  FROM proved;
