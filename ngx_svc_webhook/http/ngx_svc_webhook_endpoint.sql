-- statement: webhook_endpoints
SELECT endpoint.id, endpoint.url, endpoint.enabled, endpoint.secret
  FROM svc.webhook_endpoint endpoint
 WHERE endpoint.tenant_id = :tenant;
