-- POST /oauth/introspect (RFC 7662): the token that the caller presents, and how its user
-- has signed in (RFC 9470, 6.2).  C judges whether it lives: there is a row
-- for the caller, and for each client that the token lives by.


-- statement: oauth_introspect_opaque
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
-- columns
--   :lives_read
--   auth_time          float8
--   methods            text[]
SELECT client.orphan_action AS state, :lives_columns,
       date_part('epoch', consented.auth_time) AS auth_time, consented.methods
  FROM (SELECT) always
  LEFT JOIN LATERAL (:lives_token) token ON true
  LEFT JOIN LATERAL (
       SELECT account.status, account.valid_after
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN token.user_id AND token.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
  LEFT JOIN LATERAL (
       SELECT consented.session_at, consented.auth_time, consented.methods
         FROM svc.oauth_grant consented
        WHERE consented.tenant_id = :tenant
          AND consented.id BETWEEN token.grant_id AND token.grant_id
          AND consented.revoked_at IS NULL
        ORDER BY consented.id
        LIMIT 1) consented ON true
  LEFT JOIN LATERAL (
       SELECT revoked.jti
         FROM svc.oauth_revoked revoked
        WHERE revoked.tenant_id = :tenant
          AND revoked.jti = ANY (ARRAY[token.jti, token.parent_jti, token.root_jti])
        LIMIT 1) revoked ON true
  CROSS JOIN LATERAL (SELECT :client_id::text || token.principals AS ids OFFSET 0) wanted
  LEFT JOIN LATERAL (
       SELECT client.client_id, client.auth_method, client.tenant_slug, client.tenant_suspended_at,
              client.tenant_valid_after, client.enabled, client.expires_at, client.orphan_action,
              client.assignment, client.require_consent, client.resource_key,
              client.tokens_valid_after, client.access_token_ttl, client.max_token_ttl,
              client.scopes, client.allowed_scopes, client.allowed_audience_keys
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id = ANY (wanted.ids)
       OFFSET 0) client ON true;


-- statement: oauth_introspect_jwt
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
--   token_unverified   bool   ngx_svc_oauth_param(token.unverified)
-- columns
--   :lives_jwt
--   auth_time          float8
--   methods            text[]
SELECT client.orphan_action AS state, :lives_columns,
       signing_key.kid, CASE WHEN :token_unverified::bool THEN signing_key.public END AS public,
       date_part('epoch', consented.auth_time) AS auth_time, consented.methods
  FROM (SELECT) always
  LEFT JOIN LATERAL (:lives_token) token ON true
  LEFT JOIN LATERAL (
       SELECT account.status, account.valid_after
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN token.user_id AND token.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
  LEFT JOIN LATERAL (
       SELECT consented.session_at, consented.auth_time, consented.methods
         FROM svc.oauth_grant consented
        WHERE consented.tenant_id = :tenant
          AND consented.id BETWEEN token.grant_id AND token.grant_id
          AND consented.revoked_at IS NULL
        ORDER BY consented.id
        LIMIT 1) consented ON true
  LEFT JOIN LATERAL (
       SELECT revoked.jti
         FROM svc.oauth_revoked revoked
        WHERE revoked.tenant_id = :tenant
          AND revoked.jti = ANY (ARRAY[token.jti, token.parent_jti, token.root_jti])
        LIMIT 1) revoked ON true
  LEFT JOIN LATERAL (
       SELECT signing_key.kid, signing_key.public
         FROM svc.oauth_key signing_key
        WHERE signing_key.tenant_id = :tenant
          AND signing_key.kid BETWEEN :token_kid::text AND :token_kid::text
          AND signing_key.revoked_at IS NULL
        ORDER BY signing_key.kid
        LIMIT 1) signing_key ON true
  CROSS JOIN LATERAL (SELECT :client_id::text || token.principals AS ids OFFSET 0) wanted
  LEFT JOIN LATERAL (
       SELECT client.client_id, client.auth_method, client.tenant_slug, client.tenant_suspended_at,
              client.tenant_valid_after, client.enabled, client.expires_at, client.orphan_action,
              client.assignment, client.require_consent, client.resource_key,
              client.tokens_valid_after, client.access_token_ttl, client.max_token_ttl,
              client.scopes, client.allowed_scopes, client.allowed_audience_keys
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id = ANY (wanted.ids)
       OFFSET 0) client ON true;


-- statement: oauth_introspect_owners
-- Of either kind of token, when owners of agents are to be looked at.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
--   token_unverified   bool   ngx_svc_oauth_param(token.unverified)
-- columns
--   :lives_jwt
--   auth_time          float8
--   methods            text[]
SELECT :client_state AS state, :lives_columns,
       signing_key.kid, CASE WHEN :token_unverified::bool THEN signing_key.public END AS public,
       date_part('epoch', consented.auth_time) AS auth_time, consented.methods
  FROM (SELECT) always
  LEFT JOIN LATERAL (:lives_token) token ON true
  LEFT JOIN LATERAL (
       SELECT account.status, account.valid_after
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN token.user_id AND token.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
  LEFT JOIN LATERAL (
       SELECT consented.session_at, consented.auth_time, consented.methods
         FROM svc.oauth_grant consented
        WHERE consented.tenant_id = :tenant
          AND consented.id BETWEEN token.grant_id AND token.grant_id
          AND consented.revoked_at IS NULL
        ORDER BY consented.id
        LIMIT 1) consented ON true
  LEFT JOIN LATERAL (
       SELECT revoked.jti
         FROM svc.oauth_revoked revoked
        WHERE revoked.tenant_id = :tenant
          AND revoked.jti = ANY (ARRAY[token.jti, token.parent_jti, token.root_jti])
        LIMIT 1) revoked ON true
  LEFT JOIN LATERAL (
       SELECT signing_key.kid, signing_key.public
         FROM svc.oauth_key signing_key
        WHERE signing_key.tenant_id = :tenant
          AND signing_key.kid BETWEEN :token_kid::text AND :token_kid::text
          AND signing_key.revoked_at IS NULL
        ORDER BY signing_key.kid
        LIMIT 1) signing_key ON true
  CROSS JOIN LATERAL (SELECT :client_id::text || token.principals AS ids OFFSET 0) wanted
  LEFT JOIN LATERAL (
       SELECT client.client_id, client.auth_method, client.tenant_slug, client.tenant_suspended_at,
              client.tenant_valid_after, client.enabled, client.expires_at, client.orphan_action,
              client.assignment, client.require_consent, client.resource_key,
              client.tokens_valid_after, client.access_token_ttl, client.max_token_ttl,
              client.scopes, client.allowed_scopes, client.allowed_audience_keys, client.type,
              client.owner_id, client.owner_lost_at, client.orphan_grace_hours
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id = ANY (wanted.ids)
       OFFSET 0) client ON true;


-- statement: oauth_introspect_none
-- Of what can be no token of ours, who asks is looked at alone: with a secret, and able to
-- act, or it is no client, whatever the reason.
--
-- parameters
--   client_id      text  ngx_svc_oauth_param(client.id)
--   client_public  bool  ngx_svc_oauth_param(client.public)
SELECT CASE
           WHEN client.auth_method = 'none'
                 OR :client_public::bool
                 OR tenant.suspended_at IS NOT NULL
                 OR :client_state IS NOT NULL THEN 'client'
       END AS _verdict
  FROM (SELECT client.type, client.enabled, client.expires_at, client.owner_id,
               client.owner_lost_at, client.client_id, client.name, client.auth_method,
               client.assignment, client.redirect_uris, client.scopes, client.grant_types,
               client.access_token_format, client.access_token_ttl, client.max_token_ttl,
               client.require_consent, client.require_dpop, client.resource_key,
               client.allowed_scopes, client.allowed_audiences, client.allowed_audience_keys,
               client.tokens_valid_after
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
  JOIN svc.tenant tenant ON tenant.id = :tenant
  JOIN svc.oauth_tenant settings ON settings.tenant_id = :tenant;


-- statement: oauth_introspect_refresh
-- What refreshes is told to its own client alone, while the grant's user may use that, and
-- it would be taken; with the scopes that the client still has.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   client_public      bool   ngx_svc_oauth_param(client.public)
-- columns
--   _verdict       text
--   sub            text
--   client_id      text
--   scope          text
--   exp            int8         as text
SELECT CASE
           WHEN client.auth_method = 'none'
                 OR :client_public::bool
                 OR tenant.suspended_at IS NOT NULL
                 OR :client_state IS NOT NULL THEN 'client'
       END AS _verdict,
       consented.user_id::text AS sub, consented.client_id,
       array_to_string(ARRAY(SELECT scope
                               FROM unnest(consented.scopes) scope
                              WHERE scope = 'offline_access'
                                 OR (scope = ANY (client.scopes)
                                     AND scope = ANY (coalesce(client.allowed_scopes,
                                                               client.scopes)))),
                       ' ') AS scope,
       floor(date_part('epoch', least(refresh.expires_at, consented.expires_at)))::bigint AS exp
  FROM (SELECT client.type, client.enabled, client.expires_at, client.owner_id,
               client.owner_lost_at, client.client_id, client.name, client.auth_method,
               client.assignment, client.redirect_uris, client.scopes, client.grant_types,
               client.access_token_format, client.access_token_ttl, client.max_token_ttl,
               client.require_consent, client.require_dpop, client.resource_key,
               client.allowed_scopes, client.allowed_audiences, client.allowed_audience_keys,
               client.tokens_valid_after, client.refresh_tokens
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
  JOIN svc.tenant tenant ON tenant.id = :tenant
  JOIN svc.oauth_tenant settings ON settings.tenant_id = :tenant
  LEFT JOIN LATERAL (
       SELECT refresh.grant_id, refresh.expires_at
         FROM svc.oauth_refresh refresh
        WHERE refresh.tenant_id = :tenant
          AND refresh.digest BETWEEN :token_secret_hash AND :token_secret_hash
          AND refresh.used_at IS NULL
        ORDER BY refresh.digest
        LIMIT 1) refresh ON refresh.expires_at > now()
  LEFT JOIN LATERAL (
       SELECT consented.*
         FROM svc.oauth_grant consented
        WHERE consented.tenant_id = :tenant
          AND consented.id BETWEEN refresh.grant_id AND refresh.grant_id
        ORDER BY consented.id
        LIMIT 1) consented
       ON consented.client_id = client.client_id
      AND consented.revoked_at IS NULL
      AND consented.expires_at > now()
      AND consented.created_at
          >= coalesce(greatest(client.tokens_valid_after, settings.tokens_valid_after), '-infinity')
      AND EXISTS (SELECT
                    FROM (SELECT account.status, account.valid_after
                            FROM svc.user_account account
                           WHERE account.tenant_id = :tenant
                             AND account.id BETWEEN consented.user_id AND consented.user_id
                           ORDER BY account.id
                           LIMIT 1) account
                   WHERE account.status = 'active'
                     AND consented.session_at >= coalesce(account.valid_after, '-infinity'))
      AND (client.assignment = 'everyone'
           OR EXISTS (SELECT
                        FROM (SELECT member.group_id
                                FROM svc.group_member member
                               WHERE member.tenant_id = :tenant
                                 AND member.user_id BETWEEN consented.user_id AND consented.user_id
                               ORDER BY member.user_id
                              OFFSET 0) member
                       CROSS JOIN LATERAL (
                             SELECT
                               FROM svc.group_app assigned
                              WHERE assigned.tenant_id = :tenant
                                AND (assigned.client_id, assigned.group_id)
                                    BETWEEN (client.client_id, member.group_id)
                                        AND (client.client_id, member.group_id)
                              ORDER BY assigned.client_id, assigned.group_id
                              LIMIT 1) assigned))
      AND (consented.consented OR NOT client.require_consent)
      AND 'refresh_token' = ANY (client.grant_types)
      AND (client.refresh_tokens = 'always' OR 'offline_access' = ANY (consented.scopes));
