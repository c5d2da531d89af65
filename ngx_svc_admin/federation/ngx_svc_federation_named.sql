-- statement: federation_named_tenant (shared)
-- The tenant that the path names, unless the Host is another one's. It may be suspended:
-- what ends there need not wait.
--
-- parameters
--   host           text ngx_svc_login_param(asked.host)
--   slug           text ngx_svc_login_param(asked.slug)
--   client_ip      text ngx_svc_login_param(client.ip)
--   user_agent     text ngx_svc_login_param(client.user_agent)
--   request_id     text ngx_svc_login_param(asked.request_id)
-- columns
--   id             text
--   actor          bool         unread
SELECT set_config('svc.tenant', tenant.id::text, true) AS id,
       set_config('svc.actor_type', 'system', true)
       || set_config('svc.ip', coalesce(:client_ip, ''), true)
       || set_config('svc.user_agent', :user_agent, true)
       || set_config('svc.request_id', :request_id, true) IS NULL AS actor
  FROM svc.sign_in_tenant(:host, :slug) tenant
 WHERE tenant.slug = :slug;


-- statement: federation_named (shared)
-- The connection that the path names, and what its issuer publishes.
--
-- parameters
--   key            text ngx_svc_federation_param(key)
-- columns
--   id             uuid
--   provider       text
--   client_id      text
--   issuer         text
--   directory      text
--   allowed        text[]
--   document       jsonb
--   jwks           jsonb
SELECT social.connection_id AS id, social.provider, social.client_id, social.issuer,
       social.directory, social.allowed_tenants AS allowed, meta.document, meta.jwks
  FROM svc.social social
  LEFT JOIN svc.federation_meta meta
       ON meta.tenant_id = :tenant
      AND meta.connection_id = social.connection_id
      AND meta.fetched_at > now() - interval '7 days'
 WHERE social.tenant_id = :tenant AND social.provider = :key AND social.enabled;
