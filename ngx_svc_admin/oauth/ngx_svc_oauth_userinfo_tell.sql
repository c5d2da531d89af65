-- statement: oauth_userinfo_tenant (shared)
-- The tenant of an opaque token is in it, that of a JWT has its key.
--
-- parameters
--   token_tenant  uuid  ngx_svc_oauth_param(token.tenant)
--   token_kid     text  ngx_svc_oauth_param(token.kid)
SELECT set_config('svc.tenant', issuer.id::text, true)
  FROM (SELECT coalesce(:token_tenant::uuid, svc.oauth_key_tenant(:token_kid::text)) AS id) issuer
 WHERE issuer.id IS NOT NULL;
