-- statement: stepup_email_mailed (shared)
-- The challenge lasts as long as its newest code; one that is void changes nothing.
-- Without a row the challenge is another one by now.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   challenge_id   uuid  ngx_svc_stepup_param(challenge)
--   mail_id        uuid  ngx_svc_login_param(mailed.id)
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
SELECT mailed.id AS "challengeId", mailed.attempts, mailed.expires_at AS "expiresAt"
  FROM mailed;


-- statement: stepup_email_use (shared)
-- One of those that show the same code uses it; for the others there is no tenant for the
-- rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   factor_id      uuid ngx_svc_stepup_param(used)
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


-- statement: stepup_email_prove (shared)
-- In the stage "enroll" a code proves the address, signin.md 2.5: the session may add its
-- first factor, and its challenge is over. The address is verified only while it is still
-- the one that the code was mailed to.
--
-- parameters
--   session        bytea ngx_svc_param_session()
--   user           uuid  ngx_svc_login_param(user)
--   email          text  ngx_svc_factor_param(email)
WITH shown AS MATERIALIZED (
    SELECT session.user_id, session.id, session.root_id
      FROM svc.session session
     WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
     ORDER BY session.token_hash
     LIMIT 1
), proved AS (
    UPDATE svc.session
       SET proved_at = now()
     WHERE tenant_id = :tenant AND (user_id, id) = (SELECT shown.user_id, shown.id FROM shown)
    RETURNING id
), challenge AS (
    DELETE FROM svc.challenge challenge
     WHERE challenge.tenant_id = :tenant AND challenge.root_id = (SELECT shown.root_id FROM shown)
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
