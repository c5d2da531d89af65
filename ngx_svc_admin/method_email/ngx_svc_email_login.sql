-- statement: passwordless_begin
-- It finds one row, whether there is such a user or not; of a tenant that there is not it
-- has an answer at least.
--
-- parameters
--   client_ip      text  ngx_svc_login_param(client.ip)
--   email          text  ngx_svc_login_param(asked.email)
--   email_mac      bytea ngx_svc_login_param(asked.mac)
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   code_ttl       int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_TTL)
-- columns
--   :login_denied
--   allowed        bool
--   challengeId    uuid         answer
--   expiresAt      timestamptz  answer
SELECT :login_governance,
       ceil(extract(epoch FROM CASE
                                   WHEN account.id IS NULL THEN phantom.locked_until
                                   ELSE account.locked_until
                               END - now()) - 0.001)::bigint AS locked,
       tenant.branding -> 'allowPasswordless' IS NOT DISTINCT FROM 'true' AS allowed,
       :challenge_id::uuid AS "challengeId",
       now() + make_interval(secs => :code_ttl::int4) AS "expiresAt"
  FROM (VALUES (1)) always
  LEFT JOIN svc.tenant tenant ON tenant.id = :tenant
  LEFT JOIN svc.governance governance ON governance.tenant_id = tenant.id
  LEFT JOIN svc.user_account account
       ON account.tenant_id = governance.tenant_id
      AND account.user_name_key = (SELECT svc.address_key(:email::text))
  LEFT JOIN svc.login_phantom phantom
       ON phantom.tenant_id = governance.tenant_id AND phantom.email_mac = :email_mac;


-- statement: passwordless_open
-- Who may not sign in gets no mail. Whose address is just being changed is looked at
-- behind that, for the row is locked: a code that is newer than the change would be good,
-- in the old mailbox. A commit that waits for the disk would tell who there is; a code
-- that a crash takes is asked for again.
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
--   email          text  ngx_svc_login_param(asked.email)
-- columns
--   :challenge_mailed
--   set_config     text         unread
WITH account AS MATERIALIZED (
    SELECT account.id,
           CASE account.status WHEN 'active' THEN account.user_name END AS user_name,
           account.display_name, account.locale
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.user_name_key BETWEEN (SELECT svc.address_key(:email::text))
                                     AND (SELECT svc.address_key(:email::text))
     ORDER BY account.user_name_key
     FOR KEY SHARE
), :email_code_limits, challenge AS (
    INSERT INTO svc.email_challenge
        (tenant_id, id, kind, user_id, root_id, email_mac, code_mac, token_hash, binding_hash, data,
         void, expires_at)
    SELECT tenant.id, :challenge_id, :kind, account.id, NULL, :email_mac, :code_mac, :token_hash,
           :binding_hash, :data, limits.void, now() + make_interval(secs => :code_ttl::int4)
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


-- statement: passwordless_user
-- It is as ngx_svc_sql_signin_user, of whom the challenge is for, whatever has become of
-- that; and has the request that has begun it. A range and an ORDER BY have a key looked
-- up whatever the planner knows, and with a SELECT around it the challenge's id is one
-- under row-level security, too.
--
-- parameters
--   client_ip      text  ngx_svc_login_param(client.ip)
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   token_hash     bytea ngx_svc_login_param(mailed.token_hash)
-- columns
--   :login_user
--   allowed        bool
--   expired        bool
--   forced         bool
--   _mac           bytea
--   :login_begun
SELECT :login_governance,
       ceil(extract(epoch FROM CASE
                                   WHEN account.id IS NULL THEN phantom.locked_until
                                   ELSE account.locked_until
                               END - now()) - 0.001)::bigint AS locked,
       account.id, account.status, account.mfa_enrolled,
       tenant.branding -> 'allowPasswordless' IS NOT DISTINCT FROM 'true' AS allowed,
       :password_expired AS expired,
       svc.sign_in_by(tenant.id, tenant.sign_in_forced, account.user_name) IS NOT NULL AS forced,
       challenge.email_mac AS _mac, encode(challenge.data, 'escape') AS _ip,
       (extract(epoch FROM clock_timestamp() - challenge.created_at) * 1000)::bigint AS _age
  FROM svc.governance governance
  JOIN svc.tenant tenant ON tenant.id = governance.tenant_id
  LEFT JOIN LATERAL (
       SELECT challenge.*
         FROM svc.email_challenge challenge
        WHERE challenge.tenant_id = :tenant
          AND challenge.id BETWEEN
                  (SELECT coalesce(:challenge_id::uuid, (
                       SELECT linked.id
                         FROM svc.email_challenge linked
                        WHERE linked.tenant_id = :tenant AND linked.token_hash = :token_hash)))
              AND (SELECT coalesce(:challenge_id::uuid, (
                       SELECT linked.id
                         FROM svc.email_challenge linked
                        WHERE linked.tenant_id = :tenant AND linked.token_hash = :token_hash)))
        ORDER BY challenge.id
        LIMIT 1) challenge ON true
  LEFT JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN challenge.user_id AND challenge.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
  LEFT JOIN svc.password password
       ON password.tenant_id = governance.tenant_id AND password.user_id = account.id
  LEFT JOIN svc.login_phantom phantom
       ON phantom.tenant_id = governance.tenant_id AND phantom.email_mac = challenge.email_mac
 WHERE governance.tenant_id = :tenant;


-- statement: passwordless_risk
-- It is as ngx_svc_sql_signin_risk, of whom the challenge is for: failures are the
-- user's, as no address is shown.
--
-- parameters
--   client_device    bytea ngx_svc_login_param(client.device)
--   client_agent     text  ngx_svc_login_param(client.agent)
--   client_network   text  ngx_svc_login_param(client.network)
--   client_country   text  ngx_svc_login_param(client.country)
--   client_ip        text  ngx_svc_login_param(client.ip)
--   client_latitude  text  ngx_svc_login_param(client.latitude)
--   client_longitude text  ngx_svc_login_param(client.longitude)
--   challenge_id     uuid  ngx_svc_login_param(mailed.id)
--   token_hash       bytea ngx_svc_login_param(mailed.token_hash)
-- columns
--   :risk_row
SELECT :risk_signals,
       (SELECT count(*)
          FROM (SELECT
                  FROM svc.sign_in failure
                 WHERE failure.tenant_id = governance.tenant_id
                   AND failure.user_id BETWEEN account.id AND account.id
                   AND failure.outcome = 'failure'
                   AND failure.at > now() - interval '1 hour'
                 ORDER BY failure.user_id, failure.at DESC
                 LIMIT 10) failure) AS failures,
       (SELECT count(DISTINCT failure.email_mac)
          FROM (SELECT failure.email_mac
                  FROM svc.sign_in failure
                 WHERE failure.tenant_id = governance.tenant_id
                   AND failure.ip BETWEEN :client_ip::text::inet AND :client_ip::text::inet
                   AND failure.outcome = 'failure'
                   AND failure.at > now() - interval '1 hour'
                 ORDER BY failure.ip DESC, failure.at DESC
                 LIMIT 200) failure) AS accounts
  FROM svc.governance governance
  LEFT JOIN svc.user_account account
       ON account.tenant_id = governance.tenant_id
      AND account.id = (SELECT challenge.user_id
                          FROM svc.email_challenge challenge
                         WHERE challenge.tenant_id = :tenant
                           AND challenge.id BETWEEN
                                   (SELECT coalesce(:challenge_id::uuid, (
                                        SELECT linked.id
                                          FROM svc.email_challenge linked
                                         WHERE linked.tenant_id = :tenant
                                           AND linked.token_hash = :token_hash)))
                               AND (SELECT coalesce(:challenge_id::uuid, (
                                        SELECT linked.id
                                          FROM svc.email_challenge linked
                                         WHERE linked.tenant_id = :tenant
                                           AND linked.token_hash = :token_hash)))
                         ORDER BY challenge.id
                         LIMIT 1)
  LEFT JOIN svc.user_device device
       ON device.tenant_id = governance.tenant_id
      AND device.user_id = account.id
      AND device.hash = :client_device
  LEFT JOIN LATERAL (
       SELECT success.at, success.ip, success.country, success.latitude, success.longitude
         FROM svc.sign_in success
        WHERE success.tenant_id = governance.tenant_id
          AND success.user_id BETWEEN account.id AND account.id
          AND success.outcome = 'success'
        ORDER BY success.user_id, success.at DESC
        LIMIT 1) last ON true
  CROSS JOIN LATERAL (
       SELECT count(*) AS successes,
              count(*) FILTER (WHERE extract(hour FROM success.at AT TIME ZONE 'UTC')
                                     = extract(hour FROM now() AT TIME ZONE 'UTC')) AS this_hour
         FROM (SELECT success.at
                 FROM svc.sign_in success
                WHERE success.tenant_id = governance.tenant_id
                  AND success.user_id BETWEEN account.id AND account.id
                  AND success.outcome = 'success'
                ORDER BY success.user_id, success.at DESC
                LIMIT 50) success) habit
 WHERE governance.tenant_id = :tenant;


-- statement: passwordless_check
-- The challenge is used up, by one of those that have it; and it is not older than what
-- has ended all that was. Otherwise there is no tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   challenge_id   uuid ngx_svc_login_param(mailed.id)
-- columns
--   :login_checked
WITH used AS (
    UPDATE svc.email_challenge challenge
       SET used_at = now()
     WHERE challenge.tenant_id = :tenant
       AND challenge.id = :challenge_id
       AND challenge.used_at IS NULL
       AND coalesce(challenge.expires_at > now(), false)
    RETURNING challenge.created_at
)
SELECT decided.verdict,
       CASE decided.verdict
           WHEN 'go' THEN set_config('svc.actor_type', 'user', true)
                          || set_config('svc.actor_id', decided.id::text, true)
           ELSE set_config('svc.tenant', '', true)
       END IS NULL,
       decided.locked
  FROM (VALUES (1)) always
  LEFT JOIN (
       SELECT account.id,
              CASE
                  WHEN account.locked_until > now()
                      THEN greatest(ceil(extract(epoch FROM account.locked_until - now())
                                         - 0.001)::bigint,
                                    1)
              END AS locked,
              CASE
                  WHEN account.status <> 'active'
                       OR NOT (coalesce(used.created_at
                                        >= coalesce(account.valid_after, '-infinity'),
                                        false))
                      THEN 'other'
                  WHEN account.locked_until > now() THEN 'locked'
                  ELSE 'go'
              END AS verdict
         FROM svc.user_account account
         LEFT JOIN used ON true
        WHERE account.tenant_id = :tenant AND account.id = :user OFFSET 0) decided ON true;
