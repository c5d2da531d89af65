-- statement: invitation_tenant (shared)
-- The tenant of an invitation, which its token tells to whoever has it. Where the Host, a
-- domain, or the slug says otherwise there is none.
--
-- parameters
--   host           text  ngx_svc_login_param(asked.host)
--   slug           text  ngx_svc_login_param(asked.slug)
--   token_hash     bytea ngx_svc_invitation_param(token)
-- columns
--   :login_tenant
SELECT set_config('svc.tenant', tenant.id::text, true) AS id, tenant.slug, tenant.suspended,
       tenant.by_domain, false AS forced
  FROM svc.invitation_tenant(:host, :slug, :token_hash) tenant;
