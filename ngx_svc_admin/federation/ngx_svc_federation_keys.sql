-- statement: federation_keys
-- The keys of the connection's issuer, which were looked for just now.
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
-- columns
--   jwks           jsonb
SELECT meta.jwks
  FROM svc.federation_meta meta
 WHERE meta.tenant_id = :tenant AND meta.connection_id = :connection_id
   AND meta.fetched_at > now() - interval '7 days';
