-- statement: oauth_key_first_rsa
-- As of P-256; and one of that besides, unless there is one, so that who has fetched the
-- keys does not meet another one when the tenant's first client with ES256 gets a token.
-- The first key of P-256 has none of RSA beside it: that takes so long.
--
-- parameters
--   new_kid    text   ngx_svc_oauth_param(kid)
--   jwk        text   ngx_svc_oauth_param(jwk)
--   sealed     bytea  ngx_svc_oauth_param(sealed)
--   ec_kid     text   ngx_svc_oauth_param(ec_kid)
--   ec_jwk     text   ngx_svc_oauth_param(ec_jwk)
--   ec_sealed  bytea  ngx_svc_oauth_param(ec_sealed)
WITH activated AS (
    UPDATE svc.oauth_tenant settings
       SET active_rsa_kid = :new_kid, active_kid = coalesce(settings.active_kid, :ec_kid)
     WHERE settings.tenant_id = :tenant
       AND (settings.active_rsa_kid IS NULL
            OR EXISTS (SELECT
                         FROM svc.oauth_key signing_key
                        WHERE signing_key.tenant_id = :tenant
                          AND signing_key.kid = settings.active_rsa_kid
                          AND signing_key.revoked_at IS NOT NULL))
    RETURNING settings.tenant_id, settings.active_kid
)
INSERT INTO svc.oauth_key (tenant_id, kid, alg, public, sealed)
SELECT activated.tenant_id, :new_kid, 'RS256', :jwk::text::json, :sealed::bytea
  FROM activated
UNION ALL
SELECT activated.tenant_id, :ec_kid, 'ES256', :ec_jwk::text::json, :ec_sealed::bytea
  FROM activated
 WHERE activated.active_kid = :ec_kid;
