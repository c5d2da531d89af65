-- POST /oauth/revoke (RFC 7009): a client revokes what is its own, also while it is disabled.
-- Of what is not, nothing is said.


-- statement: oauth_revoke
-- A token is of the tenant that it says itself, as an opaque one does.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   client_public      bool   ngx_svc_oauth_param(client.public)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
--   token_tenant       uuid   ngx_svc_oauth_param(token.tenant)
WITH client AS (
    SELECT client.client_id, client.auth_method
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
     ORDER BY client.client_id
     LIMIT 1
), revoker AS (
    SELECT client.client_id
      FROM client
     WHERE (client.auth_method = 'none') = :client_public::bool
), revoked AS (
    UPDATE svc.oauth_token token
       SET revoked_at = now()
      FROM revoker
     WHERE token.tenant_id = :tenant
       AND token.jti = :token_jti::uuid
       AND token.issued_at = to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
       AND token.client_id = revoker.client_id
       AND token.revoked_at IS NULL
       AND token.secret_hash IS NOT DISTINCT FROM :token_secret_hash::bytea
       AND token.kid IS NOT DISTINCT FROM :token_kid::text
       AND coalesce(:token_tenant::uuid = :tenant, true)
)
SELECT CASE
           WHEN (client.auth_method = 'none') <> :client_public::bool THEN 'client'
       END AS _verdict
  FROM client;


-- statement: oauth_revoke_children
-- All that was exchanged for the token, and for that.  It is a statement of its own, as it
-- has to see the mark that the one before has made; what was exchanged is not older.  The
-- row says whether the token itself was exchanged, and whether anything has been marked.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
--   token_tenant       uuid   ngx_svc_oauth_param(token.tenant)
-- columns
--   exchanged      bool
--   exists         bool
WITH RECURSIVE marked AS (
    SELECT token.issued_at, coalesce(token.root_jti, token.jti) AS root,
           token.root_jti IS NOT NULL AS exchanged
      FROM (SELECT token.*
              FROM svc.oauth_token token
             WHERE token.tenant_id = :tenant
               AND token.jti BETWEEN :token_jti::uuid AND :token_jti::uuid
               AND token.issued_at = to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
             ORDER BY token.jti
             LIMIT 1) token
     WHERE token.client_id = :client_id
       AND token.revoked_at IS NOT NULL
       AND token.secret_hash IS NOT DISTINCT FROM :token_secret_hash::bytea
       AND token.kid IS NOT DISTINCT FROM :token_kid::text
       AND coalesce(:token_tenant::uuid = :tenant, true)
), descendant AS (
    SELECT child.jti, child.issued_at, marked.root
      FROM marked, svc.oauth_token child
     WHERE child.tenant_id = :tenant
       AND child.root_jti = marked.root
       AND child.issued_at >= marked.issued_at
       AND child.parent_jti = :token_jti::uuid
    UNION
    SELECT child.jti, child.issued_at, descendant.root
      FROM descendant, marked, svc.oauth_token child
     WHERE child.tenant_id = :tenant
       AND child.root_jti = descendant.root
       AND child.issued_at >= marked.issued_at
       AND child.parent_jti = descendant.jti
), revoked AS (
    UPDATE svc.oauth_token token
       SET revoked_at = now()
      FROM descendant
     WHERE token.tenant_id = :tenant
       AND token.jti = descendant.jti
       AND token.issued_at = descendant.issued_at
       AND token.revoked_at IS NULL
    RETURNING token.jti
)
SELECT marked.exchanged, EXISTS (SELECT FROM revoked)
  FROM marked;


-- statement: oauth_revoke_grant
-- With what refreshes ends its whole grant.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   client_public      bool   ngx_svc_oauth_param(client.public)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
WITH client AS (
    SELECT client.client_id, client.auth_method
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
     ORDER BY client.client_id
     LIMIT 1
), revoker AS (
    SELECT client.client_id
      FROM client
     WHERE (client.auth_method = 'none') = :client_public::bool
), refresh AS (
    SELECT refresh.grant_id
      FROM svc.oauth_refresh refresh
     WHERE refresh.tenant_id = :tenant
       AND refresh.digest BETWEEN :token_secret_hash AND :token_secret_hash
     ORDER BY refresh.digest
     LIMIT 1
), revoked AS (
    UPDATE svc.oauth_grant consented
       SET revoked_at = now(), reason = 'revoked'
      FROM revoker, refresh
     WHERE consented.tenant_id = :tenant
       AND consented.id = refresh.grant_id
       AND consented.client_id = revoker.client_id
       AND consented.revoked_at IS NULL
)
SELECT CASE
           WHEN (client.auth_method = 'none') <> :client_public::bool THEN 'client'
       END AS _verdict
  FROM client;
