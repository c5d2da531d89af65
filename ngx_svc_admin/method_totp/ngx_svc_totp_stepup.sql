-- statement: stepup_totp
-- One of the requests that present the same code at the same time uses it, since the last
-- step only rises. The others have no tenant from here on.
--
-- parameters
--   user           uuid ngx_svc_login_param(user)
--   factor_id      uuid ngx_svc_stepup_param(use[0])
--   step           text ngx_svc_stepup_param(use[1])
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
