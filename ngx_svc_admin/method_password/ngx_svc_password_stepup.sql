-- statement: stepup_password
-- The password stands in for a factor only while there is none. While the hash was made a
-- factor may have come, or another password: then there is no tenant for the rest.
--
-- parameters
--   user             uuid ngx_svc_login_param(user)
--   password_version text ngx_svc_login_param(password.version)
SELECT shown.user_id, CASE WHEN shown.user_id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN (SELECT password.user_id
               FROM svc.user_account account
               JOIN svc.password password
                    ON password.tenant_id = account.tenant_id AND password.user_id = account.id
              WHERE account.tenant_id = :tenant
                AND account.id = :user
                AND NOT account.mfa_enrolled
                AND password.version = :password_version::text::bigint OFFSET 0) shown ON true;
