-- statement: published_tenant (shared)
-- The tenant of what no request asks for.
--
-- parameters
--   tenant_id      uuid
SELECT set_config('svc.tenant', :tenant_id::uuid::text, true);
