-- Reads for a sign-in, before its proof is looked at: statements of one pipeline.


-- statement: signin_tenant (shared)
-- The tenant that the Host or the slug names. At a domain of its own URLs
-- begin with that domain. Where the address must come in by a connection there is no tenant
-- for the rest: nothing is looked up.
--
-- parameters
--   host           text ngx_svc_login_param(asked.host)
--   slug           text ngx_svc_login_param(asked.slug)
--   domain_url     text ngx_svc_param_domain_url()
--   email          text ngx_svc_login_param(asked.email)
-- columns
--   :login_tenant
--   case           text         unread
SELECT set_config('svc.tenant', CASE WHEN tenant.forced THEN '' ELSE tenant.id::text END, true)
           AS id,
       tenant.slug, tenant.suspended, tenant.by_domain, tenant.forced,
       CASE WHEN tenant.by_domain THEN set_config('svc.base_url', :domain_url, true) END
  FROM svc.sign_in_realm(:host, :slug, :email) tenant;


-- statement: signin_way (shared)
-- It is as signin_tenant, of a sign-in with a password, and the directory that this goes to:
-- then people of the domain need not come in otherwise.
--
-- parameters
--   host           text ngx_svc_login_param(asked.host)
--   slug           text ngx_svc_login_param(asked.slug)
--   domain_url     text ngx_svc_param_domain_url()
--   email          text ngx_svc_login_param(asked.email)
--   stored         bool ngx_svc_param_call(ngx_svc_login_bind_stored)
-- columns
--   :login_tenant
--   directory      uuid
--   case           text         unread
SELECT set_config('svc.tenant',
                  CASE
                      WHEN tenant.forced AND tenant.directory IS NULL THEN ''
                      ELSE tenant.id::text
                  END,
                  true) AS id,
       tenant.slug, tenant.suspended, tenant.by_domain,
       tenant.forced AND tenant.directory IS NULL AS forced, tenant.directory,
       CASE WHEN tenant.by_domain THEN set_config('svc.base_url', :domain_url, true) END
  FROM svc.sign_in_way(:host, :slug, :email, :stored::bool) tenant;


-- statement: signin_user (shared)
-- One row of any tenant, whether there is such a user or not. A lock is the user's, or
-- that of an address that is nobody's. With "few" sessions, and "few_devices", one more is
-- none too many: then nothing old is looked for when one is stored.
--
-- parameters
--   client_ip      text  ngx_svc_login_param(client.ip)
--   email          text  ngx_svc_login_param(asked.email)
--   email_mac      bytea ngx_svc_login_param(asked.mac)
-- columns
--   :login_user
--   hash           bytea
--   version        int8         as text
--   unfailed       bool
--   few            bool
--   few_devices    bool
--   expired        bool
SELECT :login_governance,
       ceil(extract(epoch FROM CASE
                                   WHEN account.id IS NULL THEN phantom.locked_until
                                   ELSE account.locked_until
                               END - now()) - 0.001)::bigint AS locked,
       account.id, account.status, account.mfa_enrolled, password.hash, password.version,
       account.failed_logins = 0 AND account.locked_until IS NULL AS unfailed,
       NOT EXISTS (SELECT
                     FROM (SELECT session.id
                             FROM svc.session session
                            WHERE session.tenant_id = :tenant
                              AND session.user_id BETWEEN account.id AND account.id
                              AND session.ended_at IS NULL
                            ORDER BY session.user_id OFFSET 0) session OFFSET 49) AS few,
       NOT EXISTS (SELECT
                     FROM svc.user_device device
                    WHERE device.tenant_id = :tenant
                      AND device.user_id BETWEEN account.id AND account.id
                    ORDER BY device.user_id OFFSET 49) AS few_devices,
       :password_expired AS expired
  FROM svc.governance governance
  LEFT JOIN svc.user_account account
       ON account.tenant_id = governance.tenant_id
      AND account.user_name_key = (SELECT svc.address_key(:email::text))
  LEFT JOIN svc.password password
       ON password.tenant_id = governance.tenant_id AND password.user_id = account.id
  LEFT JOIN svc.login_phantom phantom
       ON phantom.tenant_id = governance.tenant_id AND phantom.email_mac = :email_mac
 WHERE governance.tenant_id = :tenant;


-- statement: signin_risk (shared)
-- What is unusual about this sign-in: each column is a signal of
-- ngx_svc_risk.c, and one row comes in any case. It is read by keys, and so many rows at
-- the most, whatever has been going on. Of whom no sign-in is left it is still known when
-- he was here; where the last one came from is known at once, though it may not have been
-- swept up yet.
--
-- parameters
--   client_device    bytea ngx_svc_login_param(client.device)
--   client_agent     text  ngx_svc_login_param(client.agent)
--   client_network   text  ngx_svc_login_param(client.network)
--   client_country   text  ngx_svc_login_param(client.country)
--   client_ip        text  ngx_svc_login_param(client.ip)
--   client_latitude  text  ngx_svc_login_param(client.latitude)
--   client_longitude text  ngx_svc_login_param(client.longitude)
--   email            text  ngx_svc_login_param(asked.email)
--   email_mac        bytea ngx_svc_login_param(asked.mac)
-- columns
--   :risk_row
SELECT :risk_signals,
       (SELECT count(*)
          FROM (SELECT
                  FROM svc.sign_in failure
                 WHERE failure.tenant_id = governance.tenant_id
                   AND failure.email_mac BETWEEN :email_mac AND :email_mac
                   AND failure.outcome = 'failure'
                   AND failure.at > now() - interval '1 hour'
                 ORDER BY failure.email_mac
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
      AND account.user_name_key = (SELECT svc.address_key(:email::text))
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
