-- statement: signin_limited
-- Who tries too often is written down, of nobody known, with the numbers of the limit that
-- has been reached; nothing of a tenant that is not found.
--
-- parameters
--   host           text
--   slug           text
--   client_ip      text
--   family         text
--   kind           text
--   hits_max       int4
--   window         int4
WITH found AS (
    SELECT tenant.id, set_config('svc.tenant', tenant.id::text, true)
      FROM svc.sign_in_tenant(:host, :slug) tenant OFFSET 0
), sign_in_event AS (
    INSERT INTO svc.sign_in_event (tenant_id, at, kind, ip)
    SELECT found.id, now(), 'rate_limited', :client_ip::text::inet
      FROM found
)
INSERT INTO svc.audit_event
    (outcome, tenant_id, actor_type, ip, action, target_type, target_id, target_name, details)
SELECT 'failure', found.id, 'anonymous', :client_ip::text::inet, 'rate_limit.exceeded',
       NULL, NULL, NULL,
       jsonb_build_object('family', :family::text, 'key', :kind::text, 'limit', :hits_max::int4,
                          'window', :window::int4)
  FROM found
RETURNING tenant_id;
