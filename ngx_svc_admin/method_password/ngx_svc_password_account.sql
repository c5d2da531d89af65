-- statement: account_password
-- The password of the user whom the statement before has stored, unless it has stored nobody.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   sealed_hash    bytea ngx_svc_account_param(stored)
INSERT INTO svc.password (tenant_id, user_id, hash)
SELECT tenant.id, :user::uuid, :sealed_hash::bytea
  FROM svc.tenant tenant
 WHERE tenant.id = :tenant;
