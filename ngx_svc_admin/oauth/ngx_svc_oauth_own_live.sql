-- Whether a client's own token lives, which says itself whose it is: the client that asks,
-- and the holder, which has no columns if it is gone.  The tenant's settings are in either
-- row.


-- fragment: own_token
-- The first columns of the statements that look at a client's own token.
-- columns
--   _verdict              text
--   tenant_slug           text
--   resource_key          text         of the client that asks
--   state                 text         why the holder may not act; NULL
--   scopes                text[]
--   access_token_ttl      int4         as text
--   max_token_ttl         int4         as text
--   allowed_scopes        text[]
--   allowed_audience_keys text[]
--   fresh                 bool         it was made since tokens were last ended
--   revoked               bool
--   now                   int8         ms


-- fragment: own_jwt
-- columns
--   :own_token
--   kid            text         NULL: there is no such key
--   public         json


-- statement: oauth_own_opaque (shared)
--
-- parameters
--   client_id      text   ngx_svc_oauth_param(client.id)
--   client_public  bool   ngx_svc_oauth_param(client.public)
--   holder_id      text   ngx_svc_param_call(ngx_svc_oauth_own_bind_client)
--   token_jti      uuid   ngx_svc_oauth_param(token.jti)
--   token_ms       text   ngx_svc_oauth_param(token.ms)
-- columns
--   :own_token
SELECT CASE
           WHEN client.auth_method = 'none'
                 OR :client_public::bool
                 OR client.tenant_suspended_at IS NOT NULL
                 OR CASE
                        WHEN NOT client.enabled THEN 'disabled'
                        WHEN client.expires_at <= now() THEN 'expired'
                    END IS NOT NULL THEN 'client'
       END AS _verdict,
       client.tenant_slug, client.resource_key,
       CASE
           WHEN holder.client_id IS NULL THEN 'gone'
           ELSE CASE
                    WHEN NOT holder.enabled THEN 'disabled'
                    WHEN holder.expires_at <= now() THEN 'expired'
                END
       END AS state,
       holder.scopes, holder.access_token_ttl, holder.max_token_ttl, holder.allowed_scopes,
       holder.allowed_audience_keys,
       to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
       >= coalesce(greatest(holder.tokens_valid_after, holder.tenant_valid_after), '-infinity')
       AS fresh,
       revoked.jti IS NOT NULL AS revoked,
       floor(date_part('epoch', now()) * 1000)::bigint AS now
  FROM (SELECT client.auth_method, client.tenant_suspended_at, client.tenant_slug,
               client.resource_key, client.enabled, client.expires_at
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
  LEFT JOIN LATERAL (
       SELECT client.client_id, client.scopes, client.access_token_ttl, client.max_token_ttl,
              client.allowed_scopes, client.allowed_audience_keys, client.tokens_valid_after,
              client.tenant_valid_after, client.enabled, client.expires_at
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :holder_id AND :holder_id
        ORDER BY client.client_id
        LIMIT 1) holder ON true
  LEFT JOIN LATERAL (
       SELECT revoked.jti
         FROM svc.oauth_revoked revoked
        WHERE revoked.tenant_id = :tenant
          AND revoked.jti BETWEEN :token_jti::uuid AND :token_jti::uuid
        ORDER BY revoked.jti
        LIMIT 1) revoked ON true;


-- statement: oauth_own_jwt (shared)
--
-- parameters
--   client_id         text   ngx_svc_oauth_param(client.id)
--   client_public     bool   ngx_svc_oauth_param(client.public)
--   holder_id         text   ngx_svc_param_call(ngx_svc_oauth_own_bind_client)
--   token_jti         uuid   ngx_svc_oauth_param(token.jti)
--   token_ms          text   ngx_svc_oauth_param(token.ms)
--   token_kid         text   ngx_svc_oauth_param(token.kid)
--   token_unverified  bool   ngx_svc_oauth_param(token.unverified)
-- columns
--   :own_jwt
SELECT CASE
           WHEN client.auth_method = 'none'
                 OR :client_public::bool
                 OR client.tenant_suspended_at IS NOT NULL
                 OR CASE
                        WHEN NOT client.enabled THEN 'disabled'
                        WHEN client.expires_at <= now() THEN 'expired'
                    END IS NOT NULL THEN 'client'
       END AS _verdict,
       client.tenant_slug, client.resource_key,
       CASE
           WHEN holder.client_id IS NULL THEN 'gone'
           ELSE CASE
                    WHEN NOT holder.enabled THEN 'disabled'
                    WHEN holder.expires_at <= now() THEN 'expired'
                END
       END AS state,
       holder.scopes, holder.access_token_ttl, holder.max_token_ttl, holder.allowed_scopes,
       holder.allowed_audience_keys,
       to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
       >= coalesce(greatest(holder.tokens_valid_after, holder.tenant_valid_after), '-infinity')
       AS fresh,
       revoked.jti IS NOT NULL AS revoked,
       floor(date_part('epoch', now()) * 1000)::bigint AS now,
       signing_key.kid, CASE WHEN :token_unverified::bool THEN signing_key.public END AS public
  FROM (SELECT client.auth_method, client.tenant_suspended_at, client.tenant_slug,
               client.resource_key, client.enabled, client.expires_at
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
  LEFT JOIN LATERAL (
       SELECT client.client_id, client.scopes, client.access_token_ttl, client.max_token_ttl,
              client.allowed_scopes, client.allowed_audience_keys, client.tokens_valid_after,
              client.tenant_valid_after, client.enabled, client.expires_at
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :holder_id AND :holder_id
        ORDER BY client.client_id
        LIMIT 1) holder ON true
  LEFT JOIN LATERAL (
       SELECT revoked.jti
         FROM svc.oauth_revoked revoked
        WHERE revoked.tenant_id = :tenant
          AND revoked.jti BETWEEN :token_jti::uuid AND :token_jti::uuid
        ORDER BY revoked.jti
        LIMIT 1) revoked ON true
  LEFT JOIN LATERAL (
       SELECT signing_key.kid, signing_key.public
         FROM svc.oauth_key signing_key
        WHERE signing_key.tenant_id = :tenant
          AND signing_key.kid BETWEEN :token_kid::text AND :token_kid::text
          AND signing_key.revoked_at IS NULL
        ORDER BY signing_key.kid
        LIMIT 1) signing_key ON true;


-- statement: oauth_own_agent (shared)
-- Of either kind of token, when client or holder is an agent: its owner is looked up.
--
-- parameters
--   client_id         text   ngx_svc_oauth_param(client.id)
--   client_public     bool   ngx_svc_oauth_param(client.public)
--   holder_id         text   ngx_svc_param_call(ngx_svc_oauth_own_bind_client)
--   token_jti         uuid   ngx_svc_oauth_param(token.jti)
--   token_ms          text   ngx_svc_oauth_param(token.ms)
--   token_kid         text   ngx_svc_oauth_param(token.kid)
--   token_unverified  bool   ngx_svc_oauth_param(token.unverified)
-- columns
--   :own_jwt
SELECT CASE
           WHEN client.auth_method = 'none'
                 OR :client_public::bool
                 OR client.tenant_suspended_at IS NOT NULL
                 OR :client_state IS NOT NULL THEN 'client'
       END AS _verdict,
       client.tenant_slug, client.resource_key,
       CASE
           WHEN holder.client_id IS NULL THEN 'gone'
           ELSE CASE
                    WHEN NOT holder.enabled THEN 'disabled'
                    WHEN holder.expires_at <= now() THEN 'expired'
                    WHEN holder.on_orphan = 'disable'
                         AND holder.type = 'agent'
                         AND CASE
                                 WHEN holder.owner_id IS NULL THEN holder.owner_lost_at
                                 ELSE (SELECT coalesce(owner.valid_after, '-infinity')
                                         FROM (SELECT account.status, account.valid_after
                                                 FROM svc.user_account account
                                                WHERE account.tenant_id = :tenant
                                                  AND account.id BETWEEN holder.owner_id
                                                      AND holder.owner_id
                                                ORDER BY account.id
                                                LIMIT 1) owner
                                        WHERE owner.status <> 'active')
                             END <= now() - make_interval(hours => holder.grace_hours)
                         THEN 'orphaned'
                END
       END AS state,
       holder.scopes, holder.access_token_ttl, holder.max_token_ttl, holder.allowed_scopes,
       holder.allowed_audience_keys,
       to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
       >= coalesce(greatest(holder.tokens_valid_after, holder.tenant_valid_after), '-infinity')
       AS fresh,
       revoked.jti IS NOT NULL AS revoked,
       floor(date_part('epoch', now()) * 1000)::bigint AS now,
       signing_key.kid, CASE WHEN :token_unverified::bool THEN signing_key.public END AS public
  FROM (SELECT client.auth_method, client.tenant_suspended_at, client.tenant_slug,
               client.resource_key, client.enabled, client.expires_at, client.type, client.owner_id,
               client.owner_lost_at, client.orphan_action, client.orphan_grace_hours
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
  LEFT JOIN LATERAL (
       SELECT client.client_id, client.scopes, client.access_token_ttl, client.max_token_ttl,
              client.allowed_scopes, client.allowed_audience_keys, client.tokens_valid_after,
              client.tenant_valid_after, client.enabled, client.expires_at, client.type,
              client.owner_id, client.owner_lost_at, client.orphan_action AS on_orphan,
              client.orphan_grace_hours AS grace_hours
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :holder_id AND :holder_id
        ORDER BY client.client_id
        LIMIT 1) holder ON true
  LEFT JOIN LATERAL (
       SELECT revoked.jti
         FROM svc.oauth_revoked revoked
        WHERE revoked.tenant_id = :tenant
          AND revoked.jti BETWEEN :token_jti::uuid AND :token_jti::uuid
        ORDER BY revoked.jti
        LIMIT 1) revoked ON true
  LEFT JOIN LATERAL (
       SELECT signing_key.kid, signing_key.public
         FROM svc.oauth_key signing_key
        WHERE signing_key.tenant_id = :tenant
          AND signing_key.kid BETWEEN :token_kid::text AND :token_kid::text
          AND signing_key.revoked_at IS NULL
        ORDER BY signing_key.kid
        LIMIT 1) signing_key ON true;
