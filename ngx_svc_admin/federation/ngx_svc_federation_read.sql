-- statement: federation_risk (shared)
-- It is as ngx_svc_sql_signin_risk, of whom federation_match has found: failures are the
-- user's, as no address is presented.
--
-- parameters
--   client_device    bytea ngx_svc_login_param(client.device)
--   client_agent     text  ngx_svc_login_param(client.agent)
--   client_network   text  ngx_svc_login_param(client.network)
--   client_country   text  ngx_svc_login_param(client.country)
--   client_ip        text  ngx_svc_login_param(client.ip)
--   client_latitude  text  ngx_svc_login_param(client.latitude)
--   client_longitude text  ngx_svc_login_param(client.longitude)
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
  LEFT JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN nullif(current_setting('svc.found', true), '')::uuid
                             AND nullif(current_setting('svc.found', true), '')::uuid
        ORDER BY account.id
        LIMIT 1) account ON true
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
