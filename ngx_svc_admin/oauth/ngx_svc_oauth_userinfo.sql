-- statement: oauth_userinfo
-- An API must not show here what it was sent: the token is for the issuer alone, and of
-- the key that the proof is of.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
--   token_unverified   bool   ngx_svc_oauth_param(token.unverified)
--   jkt                bytea  ngx_svc_oauth_param(jkt)
-- columns
--   :lives_jwt
--   sub                uuid
--   name               text
--   given_name         text
--   family_name        text
--   locale             text
--   updated_at         float8
--   email              text
--   email_verified     bool
--   named              text[]
SELECT :client_state AS state, :lives_columns,
       signing_key.kid, CASE WHEN :token_unverified::bool THEN signing_key.public END AS public,
       token.user_id AS sub, account.display_name AS name, account.first_name AS given_name,
       account.last_name AS family_name, account.locale,
       date_part('epoch', account.updated_at) AS updated_at, account.user_name AS email,
       account.email_verified, consented.named
  FROM (SELECT) always
  LEFT JOIN LATERAL (
       SELECT token.jti, token.issued_at, token.user_id, token.client_id, token.grant_id,
              token.parent_jti, token.root_jti, token.chain, token.principals, token.scopes,
              token.audience, token.audience_key, token.jkt, token.ttl, token.revoked_at
         FROM svc.oauth_token token
        WHERE token.tenant_id = :tenant
          AND token.jti BETWEEN :token_jti::uuid AND :token_jti::uuid
          AND token.issued_at = to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
          AND token.secret_hash IS NOT DISTINCT FROM :token_secret_hash::bytea
          AND token.kid IS NOT DISTINCT FROM :token_kid::text
          AND token.audience IS NULL
          AND token.jkt IS NOT DISTINCT FROM :jkt::bytea
        ORDER BY token.jti
        LIMIT 1) token ON true
  LEFT JOIN LATERAL (
       SELECT account.status, account.valid_after, account.display_name, account.first_name,
              account.last_name, account.locale, account.updated_at, account.user_name,
              account.email_verified
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN token.user_id AND token.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
  LEFT JOIN LATERAL (
       SELECT consented.session_at,
              -- the claims that the client has asked for by name, and when and how he signed in
              CASE
                  WHEN consented.claims IS NOT NULL
                       THEN consented.claims
                            || ARRAY[floor(date_part('epoch', consented.auth_time))::text,
                                     consented.methods::text]
              END AS named
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
