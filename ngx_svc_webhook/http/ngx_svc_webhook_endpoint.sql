-- statement: webhook_endpoints
-- columns
--   id             uuid
--   url            text
--   enabled        bool
--   secret         bytea
SELECT endpoint.id, endpoint.url, endpoint.enabled, endpoint.secret
  FROM svc.webhook_endpoint endpoint
 WHERE endpoint.tenant_id = :tenant;
