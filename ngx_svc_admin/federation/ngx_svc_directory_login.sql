-- statement: directory_ambiguous
-- More than one entry of the directory fits: somebody should look at its filter.
SELECT svc.directory_ambiguous()
 WHERE :tenant_or_null IS NOT NULL;


-- statement: directory_failure
-- A password that is wrong of somebody's entry, where another address was typed than that of his
-- account: it counts for this one, too. The failure is audited as one of the typed address.
--
-- parameters
--   user             uuid  ngx_svc_directory_login_param(other)
--   email_mac        bytea ngx_svc_login_param(asked.mac)
--   client_ip        text  ngx_svc_login_param(client.ip)
--   client_country   text  ngx_svc_login_param(client.country)
--   reason           text  ngx_svc_login_param(written.reason)
--   lockout_max      int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_MAX)
--   lockout_window   int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW)
--   lockout_duration int4  ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_DURATION)
--   wanted_notice    text  ngx_svc_param_notice()
WITH :failure_counted, sign_in_event AS (
    INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason, user_id, ip, country, locked)
    SELECT :tenant, now(), 'failure', :reason::text, :user, :client_ip::text::inet,
           :client_country, true
      FROM failure
     WHERE failure.locked_until IS NOT NULL
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'user.locked', 'user', :user::text,
           (SELECT account.user_name
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND account.id BETWEEN :user::uuid AND :user::uuid
             ORDER BY account.id
             LIMIT 1),
           '{}'
      FROM failure
     WHERE failure.locked_until IS NOT NULL
)
SELECT :client_country AS _country, nullif(current_setting('svc.ip', true), '') AS _ip, mail.*
  FROM failure
  CROSS JOIN LATERAL (:notice) mail
 WHERE failure.locked_until IS NOT NULL;
