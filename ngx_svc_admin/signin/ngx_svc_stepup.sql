-- statement: stepup_factors (shared)
--
-- parameters
--   session        bytea ngx_svc_param_session()
-- columns
--   id             uuid
--   secret         bytea
--   last_step      int8
--   type           text
SELECT factor.id, factor.secret, factor.last_step, factor.type
  FROM (SELECT session.user_id
          FROM svc.session session
         WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
         ORDER BY session.token_hash
         LIMIT 1) session
  CROSS JOIN LATERAL (
       SELECT factor.*
         FROM svc.factor factor
        WHERE factor.tenant_id = :tenant
          AND factor.user_id BETWEEN session.user_id AND session.user_id
        ORDER BY factor.user_id OFFSET 0) factor
 WHERE factor.confirmed_at IS NOT NULL;
