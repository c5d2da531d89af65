-- statement: stepup_totp (shared)
-- Of those that show the same code at the same time one has used it: the last step only
-- rises. For the others there is no tenant for the rest.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   factor_id      uuid ngx_svc_stepup_param(used)
--   step           text ngx_svc_stepup_param(step)
WITH used AS (
    UPDATE svc.factor factor
       SET last_step = :step::text::bigint, last_used_at = now()
     WHERE factor.tenant_id = :tenant
       AND factor.user_id = :user
       AND factor.id = :factor_id
       AND factor.confirmed_at IS NOT NULL
       AND factor.last_step < :step::text::bigint
    RETURNING factor.id
)
SELECT used.id, CASE WHEN used.id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN used ON true;


-- statement: stepup_recovery (shared)
-- A recovery code is good once.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   code_mac       bytea ngx_svc_stepup_param(used)
WITH used AS (
    DELETE FROM svc.recovery_code code
     WHERE code.tenant_id = :tenant
       AND code.user_id = :user
       AND code.mac = :code_mac
    RETURNING code.user_id
)
SELECT used.user_id, CASE WHEN used.user_id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN used ON true;
