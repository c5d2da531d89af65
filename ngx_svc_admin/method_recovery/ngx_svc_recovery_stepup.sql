-- statement: stepup_codes
--
-- parameters
--   session        bytea ngx_svc_param_session()
-- columns
--   mac            bytea
--   key_id         text
SELECT code.mac, code.key_id
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT code.mac, code.key_id
         FROM svc.recovery_code code
        WHERE code.tenant_id = :tenant
          AND code.user_id BETWEEN session.user_id AND session.user_id
        ORDER BY code.user_id OFFSET 0) code;


-- statement: stepup_recovery
-- A recovery code is good once.
--
-- parameters
--   user           uuid  ngx_svc_login_param(user)
--   code_mac       bytea ngx_svc_stepup_param(use[0])
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
