-- statement: passkey_tenant
-- The tenant is that of the Host or of the slug; without a slug the passkey says which,
-- whose user handle names it.
--
-- parameters
--   host           text ngx_svc_login_param(asked.host)
--   slug           text ngx_svc_login_param(asked.slug)
--   handle_tenant  uuid ngx_svc_passkey_param(tenant)
-- columns
--   :login_tenant
SELECT set_config('svc.tenant', wanted.id::text, true) AS id, wanted.slug,
       coalesce(wanted.suspended, false) AS suspended,
       coalesce(wanted.by_domain, false) AS by_domain, false AS forced
  FROM (SELECT coalesce(tenant.id,
                        CASE WHEN :slug::text IS NULL THEN :handle_tenant::uuid END) AS id,
               tenant.slug, tenant.suspended, tenant.by_domain
          FROM (VALUES (1)) always
          LEFT JOIN svc.sign_in_tenant(:host, :slug) tenant ON true) wanted
 WHERE wanted.id IS NOT NULL;


-- statement: passkey_user
-- It finds one row of any tenant, whether there is such a passkey or not. A handle that
-- names another tenant is nobody's in this one. Of those who must come in by a connection
-- an owner alone comes in by a passkey.
--
-- parameters
--   client_ip       text  ngx_svc_login_param(client.ip)
--   handle_tenant   uuid  ngx_svc_passkey_param(tenant)
--   user            uuid  ngx_svc_passkey_param(user)
--   credential_hash bytea ngx_svc_passkey_param(id)
-- columns
--   :login_user
--   slug           text
--   suspended      bool
--   forced         bool
--   :passkey_stored
SELECT :login_governance, NULL::bigint AS locked, account.id, account.status,
       account.mfa_enrolled, tenant.slug, tenant.suspended_at IS NOT NULL AS suspended,
       account.role <> 'owner'
       AND svc.sign_in_by(tenant.id, tenant.sign_in_forced, account.user_name) IS NOT NULL
           AS forced,
       passkey.rp_id, passkey.credential_id, passkey.public_key, passkey.alg, passkey.sign_count,
       passkey.be, passkey.bs, passkey.transports
  FROM svc.governance governance
  JOIN svc.tenant tenant ON tenant.id = governance.tenant_id
  LEFT JOIN svc.user_account account
       ON account.tenant_id = governance.tenant_id
      AND account.tenant_id = :handle_tenant
      AND account.id = :user
  LEFT JOIN svc.passkey passkey
       ON passkey.tenant_id = governance.tenant_id
      AND passkey.credential_hash = :credential_hash
      AND passkey.user_id = account.id
 WHERE governance.tenant_id = :tenant;


-- statement: passkey_risk
-- It is as ngx_svc_sql_signin_risk, of the passkey's user: failures are the user's, as no
-- address is presented.
--
-- parameters
--   client_device    bytea ngx_svc_login_param(client.device)
--   client_agent     text  ngx_svc_login_param(client.agent)
--   client_network   text  ngx_svc_login_param(client.network)
--   client_country   text  ngx_svc_login_param(client.country)
--   client_ip        text  ngx_svc_login_param(client.ip)
--   client_latitude  text  ngx_svc_login_param(client.latitude)
--   client_longitude text  ngx_svc_login_param(client.longitude)
--   user             uuid  ngx_svc_passkey_param(user)
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
      AND account.id = :user
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


-- statement: passkey_check
-- The challenge is used up, by one of those that have it; and nobody has counted further
-- with the passkey in the meantime. A lock of the account does not refuse it, as there is
-- nothing to guess; else anybody could lock anybody out.
--
-- parameters
--   user              uuid  ngx_svc_login_param(user)
--   credential_hash   bytea ngx_svc_passkey_param(id)
--   presented_count       text  ngx_svc_passkey_param(presented.count)
--   challenge_hash    bytea ngx_svc_passkey_param(presented.used)
--   challenge_expires text  ngx_svc_passkey_param(presented.expires)
-- columns
--   :login_checked
WITH used AS (
    INSERT INTO svc.challenge_used (tenant_id, hash, expires_at)
    SELECT tenant.id, :challenge_hash::bytea,
           to_timestamp(:challenge_expires::text::float8 / 1000)
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
    ON CONFLICT DO NOTHING
    RETURNING 1
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
       SELECT account.id, NULL::bigint AS locked,
              CASE
                  WHEN account.status <> 'active'
                       OR NOT (EXISTS (SELECT FROM used)
                               AND passkey.user_id IS NOT NULL
                               AND (:presented_count::text::bigint > passkey.sign_count
                                    OR (:presented_count::text::bigint = 0
                                        AND passkey.sign_count = 0)))
                      THEN 'other'
                  ELSE 'go'
              END AS verdict
         FROM svc.user_account account
         LEFT JOIN svc.passkey passkey
              ON passkey.tenant_id = account.tenant_id
             AND passkey.credential_hash = :credential_hash
             AND passkey.user_id = account.id
        WHERE account.tenant_id = :tenant AND account.id = :user OFFSET 0) decided ON true;


-- statement: passkey_presented
--
-- parameters
--   user            uuid  ngx_svc_login_param(user)
--   credential_hash bytea ngx_svc_passkey_param(id)
--   presented_count     text  ngx_svc_passkey_param(presented.count)
--   presented_bs        text  ngx_svc_passkey_param(presented.bs)
WITH passkey AS (
    UPDATE svc.passkey
       SET sign_count = :presented_count::text::bigint, bs = :presented_bs::text::bool
     WHERE tenant_id = :tenant AND credential_hash = :credential_hash AND user_id = :user
    RETURNING user_id, factor_id
)
UPDATE svc.factor factor
   SET last_used_at = now()
 WHERE factor.tenant_id = :tenant
   AND (factor.user_id, factor.id) = (SELECT passkey.user_id, passkey.factor_id FROM passkey);
