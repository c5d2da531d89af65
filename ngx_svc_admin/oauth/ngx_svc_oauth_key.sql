-- A tenant's keys: their public halves, their private ones as sealed, and the first of all.


-- statement: oauth_key_public (shared)
--
-- parameters
--   token_kid  text   ngx_svc_oauth_param(token.kid)
-- columns
--   public         json
SELECT signing_key.public
  FROM svc.oauth_key signing_key
 WHERE signing_key.tenant_id = :tenant
   AND signing_key.kid BETWEEN :token_kid AND :token_kid
   AND signing_key.revoked_at IS NULL
 ORDER BY signing_key.kid
 LIMIT 1;


-- statement: oauth_key_sealed (shared)
--
-- parameters
--   kid  text   ngx_svc_oauth_param(kid)
-- columns
--   sealed         bytea
SELECT signing_key.sealed
  FROM svc.oauth_key signing_key
 WHERE signing_key.tenant_id = :tenant
   AND signing_key.kid BETWEEN :kid AND :kid
   AND signing_key.revoked_at IS NULL
 ORDER BY signing_key.kid
 LIMIT 1;


-- statement: oauth_key_first (shared)
-- Who comes second waits for the first, and finds that there is one.
--
-- parameters
--   new_kid  text   ngx_svc_oauth_param(kid)
--   jwk      text   ngx_svc_oauth_param(jwk)
--   sealed   bytea  ngx_svc_oauth_param(sealed)
WITH activated AS (
    UPDATE svc.oauth_tenant settings
       SET active_kid = :new_kid
     WHERE settings.tenant_id = :tenant
       AND (settings.active_kid IS NULL
            OR EXISTS (SELECT
                         FROM svc.oauth_key signing_key
                        WHERE signing_key.tenant_id = :tenant
                          AND signing_key.kid = settings.active_kid
                          AND signing_key.revoked_at IS NOT NULL))
    RETURNING settings.tenant_id
)
INSERT INTO svc.oauth_key (tenant_id, kid, public, sealed)
SELECT activated.tenant_id, :new_kid, :jwk::text::json, :sealed
  FROM activated;
