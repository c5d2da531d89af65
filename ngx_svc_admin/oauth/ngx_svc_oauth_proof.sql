-- statement: oauth_once_token
-- A proof is spent by a request that presents a token bound to the proof's key.  A crash
-- loses the row anyway, so the commit does not wait for the disk.
--
-- parameters
--   proof_digest       bytea  ngx_svc_oauth_param(once)
--   proof_seconds      text   ngx_svc_oauth_param(once_seconds)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   jkt                bytea  ngx_svc_oauth_param(jkt)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
-- columns
--   fresh          bool
--   set_config     text         unread
WITH spent AS (
    INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)
    SELECT token.tenant_id, :proof_digest,
           now() + make_interval(secs => :proof_seconds::text::float8)
      FROM (SELECT token.*
              FROM svc.oauth_token token
             WHERE token.tenant_id = :tenant
               AND token.jti BETWEEN :token_jti::uuid AND :token_jti::uuid
               AND token.issued_at = to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
             ORDER BY token.jti
             LIMIT 1) token
     WHERE token.jkt = :jkt
       AND token.revoked_at IS NULL
       AND token.issued_at + make_interval(secs => token.ttl) > now()
       AND token.secret_hash IS NOT DISTINCT FROM :token_secret_hash::bytea
       AND token.kid IS NOT DISTINCT FROM :token_kid::text
    ON CONFLICT DO NOTHING
    RETURNING digest
)
SELECT EXISTS (SELECT FROM spent) AS fresh, set_config('synchronous_commit', 'off', true);
