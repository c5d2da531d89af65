-- statement: admin_saml_idp_key (shared)
-- The key of a tenant that has none yet: of two that come at once the first one stays.
--
-- parameters
--   new_id         uuid  ngx_svc_param_new_id()
--   private_key    bytea ngx_svc_param_call(ngx_svc_admin_saml_idp_bind_key)
--   certificate    text  ngx_svc_param_call(ngx_svc_admin_saml_idp_bind_pem)
INSERT INTO svc.saml_idp (tenant_id, key_id, private_key, certificate)
SELECT wanted.tenant, :new_id::uuid, :private_key::bytea, :certificate
  FROM (SELECT :tenant_or_null AS tenant) wanted
 WHERE wanted.tenant IS NOT NULL
ON CONFLICT DO NOTHING;
