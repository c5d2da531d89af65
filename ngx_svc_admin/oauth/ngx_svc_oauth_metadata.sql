-- What is public of a tenant.  Each runs as the owner of the schema: see the functions.


-- statement: oauth_metadata
--
-- parameters
--   slug  text   ngx_svc_param_call(ngx_svc_oauth_public_bind_slug)
-- columns
--   _tenant        uuid
--   allow_signup   bool
SELECT tenant.id AS _tenant, tenant.allow_signup
  FROM svc.public_tenant(:slug) tenant;


-- statement: oauth_jwks
--
-- parameters
--   slug  text   ngx_svc_param_call(ngx_svc_oauth_public_bind_slug)
SELECT tenant.id AS _tenant, tenant.keys
  FROM svc.oauth_jwks(:slug) tenant;
