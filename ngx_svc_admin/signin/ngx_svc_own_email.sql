-- Codes that are mailed to a user in a session, to the address that is the account's.


-- statement: own_email_open (shared)
-- Makes the challenge of a mail, behind email_challenge_lock. A commit that waits for the
-- disk would tell who there is: a code that a crash takes is asked for again.
--
-- parameters
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   kind           text  ngx_svc_login_param(mailed.kind)
--   email_mac      bytea ngx_svc_login_param(mailed.mac)
--   code_mac       bytea ngx_svc_login_param(mailed.code_mac)
--   token_hash     bytea ngx_svc_login_param(mailed.token_hash)
--   binding_hash   bytea ngx_svc_login_param(mailed.binding_hash)
--   data           bytea ngx_svc_login_param(mailed.data)
--   code_ttl       int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_TTL)
--   user           uuid  ngx_svc_login_param(user)
--   email          text  ngx_svc_factor_param(email)
--   session        bytea ngx_svc_param_session()
-- columns
--   :challenge_mailed
--   set_config     text         unread
WITH account AS MATERIALIZED (
    SELECT account.id, account.user_name, account.display_name, account.locale
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.id = :user
       AND account.user_name_key = (SELECT svc.address_key(:email::text))
     FOR KEY SHARE
), :email_code_limits, challenge AS (
    INSERT INTO svc.email_challenge
        (tenant_id, id, kind, user_id, root_id, email_mac, code_mac, token_hash, binding_hash, data,
         void, expires_at)
    SELECT tenant.id, :challenge_id, :kind, account.id,
           (SELECT session.root_id
              FROM (SELECT session.root_id
                      FROM svc.session session
                     WHERE session.tenant_id = :tenant
                       AND session.token_hash BETWEEN :session AND :session
                     ORDER BY session.token_hash
                     LIMIT 1) session),
           :email_mac, :code_mac, :token_hash, :binding_hash, :data, limits.void,
           now() + make_interval(secs => :code_ttl::int4)
      FROM svc.tenant tenant
      CROSS JOIN limits
      LEFT JOIN account ON true
     WHERE tenant.id = :tenant
    RETURNING id, expires_at, void
)
SELECT account.id AS user_id, challenge.id AS "challengeId", challenge.expires_at AS "expiresAt",
       challenge.void AS voided, account.user_name, account.display_name, account.locale,
       tenant.name AS tenant_name, tenant.branding ->> 'primary' AS color,
       tenant.slug || '/logo?v=' || tenant.logo_etag AS logo, tenant.slug,
       set_config('synchronous_commit', 'off', true)
  FROM svc.tenant tenant
  CROSS JOIN challenge
  LEFT JOIN account ON true
 WHERE tenant.id = :tenant;


-- statement: own_email_try (shared)
-- Takes an attempt of the challenge, under its row's lock, so that there are never more of
-- them; a link takes none. A code is the session's newest one, or that with the id; none
-- is good that is older than the user's last cut-off. There is one row in any case; its id
-- is NULL when the challenge is over.
--
-- parameters
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   token_hash     bytea ngx_svc_login_param(mailed.token_hash)
--   kind           text  ngx_svc_login_param(mailed.kind)
--   attempts_max   int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_ATTEMPTS)
--   session        bytea ngx_svc_param_session()
-- columns
--   :challenge_tried
WITH tried AS (
    UPDATE svc.email_challenge challenge
       SET attempts = challenge.attempts + CASE WHEN :token_hash::bytea IS NULL THEN 1 ELSE 0 END
     WHERE challenge.tenant_id = :tenant
       AND challenge.id = (
               SELECT own.id
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
                      SELECT own.*
                        FROM svc.email_challenge own
                       WHERE own.tenant_id = :tenant
                         AND own.user_id BETWEEN session.user_id AND session.user_id
                       ORDER BY own.user_id OFFSET 0) own
                WHERE own.kind = :kind
                  AND NOT own.void
                  AND own.used_at IS NULL
                  AND own.expires_at > now()
                  AND own.created_at >= coalesce(account.valid_after, '-infinity')
                  AND own.id = coalesce(:challenge_id::uuid, own.id)
                  AND CASE
                          WHEN :token_hash::bytea IS NULL THEN own.root_id = session.root_id
                          ELSE own.token_hash = :token_hash
                      END
                ORDER BY own.created_at DESC
                LIMIT 1)
       AND challenge.kind = :kind
       AND challenge.used_at IS NULL
       AND coalesce(challenge.expires_at > now(), false)
       AND challenge.attempts < :attempts_max::int4
    RETURNING challenge.user_id, challenge.id, challenge.code_mac, challenge.data,
              challenge.void AS voided,
              coalesce(challenge.root_id = (
                           SELECT session.root_id
                             FROM (SELECT session.root_id
                                     FROM svc.session session
                                    WHERE session.tenant_id = :tenant
                                      AND session.token_hash BETWEEN :session AND :session
                                    ORDER BY session.token_hash
                                    LIMIT 1) session),
                       false) AS bound
)
SELECT tried.*
  FROM (VALUES (1)) always
  LEFT JOIN tried ON true;
