-- statement: signin_seen (shared)
-- A success is written down. Of the event come networks, countries and addresses, and what
-- is counted. Whether it is the user's first one today is told under the lock of the
-- user's row, before signin_user_done changes it.
--
-- parameters
--   user             uuid ngx_svc_login_param(user)
--   client_ip        text ngx_svc_login_param(client.ip)
--   client_country   text ngx_svc_login_param(client.country)
--   client_network   text ngx_svc_login_param(client.network)
--   client_latitude  text ngx_svc_login_param(client.latitude)
--   client_longitude text ngx_svc_login_param(client.longitude)
--   signals          text ngx_svc_login_param(risk.signals)
WITH account AS MATERIALIZED (
    SELECT account.tenant_id, account.last_active_day AS day,
           coalesce(account.last_active_day < (now()::timestamptz(3) AT TIME ZONE 'UTC')::date,
                    true) AS first
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant AND account.id = :user
), sign_in AS (
    INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, country, latitude, longitude)
    SELECT account.tenant_id, now(), :user::uuid, :client_ip::text::inet, :client_country,
           :client_latitude::text::real, :client_longitude::text::real
      FROM account
     WHERE :client_ip IS NOT NULL
)
INSERT INTO svc.sign_in_event
    (tenant_id, at, kind, user_id, ip, network, country, signals, active, last_active_day)
SELECT account.tenant_id, now(), 'success', :user, :client_ip::text::inet, :client_network,
       :client_country, :signals::text::text[], account.first, account.day
  FROM account;


-- statement: signin_notice (shared)
-- The mail to a user who signs in with a device that he has not had before; who signs in
-- for the first time is not told of it.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   client_country text  ngx_svc_login_param(client.country)
--   client_agent   text  ngx_svc_login_param(client.agent)
--   device         bytea ngx_svc_param_call(ngx_svc_login_bind_device)
--   wanted_notice  text  ngx_svc_param_notice()
SELECT :client_country AS _country, nullif(current_setting('svc.ip', true), '') AS _ip, mail.*
  FROM svc.user_account account
  CROSS JOIN LATERAL (
       SELECT notice.*
         FROM (:notice) notice
        WHERE NOT EXISTS (SELECT
                            FROM svc.user_device device
                           WHERE device.tenant_id = notice._notice
                             AND device.user_id = :user
                             AND device.hash = :device)
          AND NOT EXISTS (SELECT
                            FROM svc.user_seen seen
                           WHERE seen.tenant_id = notice._notice
                             AND seen.user_id = :user
                             AND seen.kind = 'agent'
                             AND seen.value = :client_agent
                             AND seen.last_at > now() - interval '400 days')) mail
 WHERE account.tenant_id = :tenant AND account.id = :user AND account.last_active_day IS NOT NULL;


-- statement: signin_unnoticed
-- It takes the place of signin_notice where there is no mail.
SELECT WHERE false;


-- statement: signin_device (shared)
-- A device that a second factor has been shown with is trusted for a while.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   client_agent   text  ngx_svc_login_param(client.agent)
--   device         bytea ngx_svc_param_call(ngx_svc_login_bind_device)
--   trusted        bool  ngx_svc_param_call(ngx_svc_login_bind_trusted)
WITH device AS (
    INSERT INTO svc.user_device AS device (tenant_id, user_id, hash, last_at, trusted_until)
    SELECT :tenant_or_null, :user::uuid, :device::bytea, now(),
           CASE WHEN :trusted::bool THEN now() + interval '30 days' END
     WHERE :tenant_or_null IS NOT NULL
    ON CONFLICT (tenant_id, user_id, hash) DO UPDATE
       SET last_at = excluded.last_at,
           trusted_until = coalesce(excluded.trusted_until, device.trusted_until)
)
INSERT INTO svc.user_seen AS seen (tenant_id, user_id, kind, value, last_at)
SELECT :tenant_or_null, :user, 'agent', :client_agent::text, now()
 WHERE :tenant_or_null IS NOT NULL AND :client_agent IS NOT NULL
ON CONFLICT (tenant_id, user_id, kind, value) DO UPDATE
   SET last_at = excluded.last_at;


-- statement: signin_devices (shared)
-- Whoever signs in from a script has another device each time: 49 stay, beside the one of
-- this sign-in.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   device         bytea ngx_svc_param_call(ngx_svc_login_bind_device)
DELETE FROM svc.user_device
 WHERE tenant_id = :tenant
   AND user_id = :user
   AND hash = ANY (ARRAY(SELECT device.hash
                           FROM (SELECT hash, last_at
                                   FROM svc.user_device
                                  WHERE tenant_id = :tenant
                                    AND user_id BETWEEN :user AND :user
                                    AND hash <> :device::bytea
                                  ORDER BY user_id OFFSET 0) device
                          ORDER BY device.last_at DESC OFFSET 49));
