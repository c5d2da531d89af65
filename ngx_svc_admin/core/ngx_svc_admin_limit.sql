-- statement: admin_limited
-- That there are too many, once in a window.
--
-- parameters
--   family         text
--   key            text
--   tries_max      int4
--   window         int4
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', 'rate_limit.exceeded', NULL, NULL, NULL,
       jsonb_build_object('family', :family::text, 'key', :key::text,
                          'limit', :tries_max::int4, 'window', :window::int4)
  FROM svc.tenant tenant
 WHERE tenant.id = :tenant;
