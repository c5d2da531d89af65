-- The grant type token-exchange (RFC 8693): reads the token that the client presents,
-- the clients that it lives by, and an actor's token.
--
-- These are statements of their own, as each level of a join makes all columns anew
-- whenever its plan is begun.


-- fragment: exchange_token
-- The token, or nothing but NULL.
-- columns
--   jti            uuid
--   user_id        uuid
--   client_id      text
--   chain          text[]
--   principals     text[]
--   scopes         text[]
--   audience       text
--   audience_key   text
--   jkt            bytea
--   ttl            int4
--   grant_id       uuid
--   root_jti       uuid
--   revoked        bool
--   owner          text         of the user: status, cut-off
--   granted        text         of the grant: session, sign-in, methods
--   allowed        text[]       what the user has consented to
--   now            int8         as text: ms
--   principals_set text         unread


-- fragment: exchange_client
-- columns
--   :lives_client
--   grant_types          text[]
--   access_token_format  text
--   require_dpop         bool
--   signing_kid          text
--   allowed_audiences    text[]
--   name                 text
--   ttl_left             int4         seconds until it expires, a day at most
--   require_consent      bool
--   xmin                 xid
--   ctid                 tid
--   assigned             bool         the user may use it


-- statement: oauth_exchange_token
-- The token leaves the clients that it lives by in svc.principals, for the statement
-- behind.  What a row of another table has is one text: of the user the status, and before
-- which time tokens are dead; of the grant when its session began and the user signed in.
-- LIMIT says that one partition has it: else PostgreSQL would plan for each token anew.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
-- columns
--   :exchange_token
SELECT token.jti, token.user_id, token.client_id, token.chain, token.principals,
       token.scopes, token.audience, token.audience_key, token.jkt, token.ttl,
       token.grant_id, coalesce(token.root_jti, token.jti) AS root_jti,
       token.revoked_at IS NOT NULL
       OR EXISTS (SELECT
                    FROM svc.oauth_revoked revoked
                   WHERE revoked.tenant_id = :tenant
                     AND revoked.jti = ANY (ARRAY[token.jti, token.parent_jti,
                                                  token.root_jti])) AS revoked,
       (SELECT concat_ws(' ', account.status, date_part('epoch', account.valid_after))
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.id = token.user_id) AS owner,
       (SELECT concat_ws(' ', date_part('epoch', consented.session_at),
                         floor(date_part('epoch', consented.auth_time)),
                         consented.methods)
          FROM svc.oauth_grant consented
         WHERE consented.tenant_id = :tenant
           AND consented.id = token.grant_id
           AND consented.revoked_at IS NULL) AS granted,
       (SELECT consent.allowed
          FROM svc.oauth_consent consent
         WHERE consent.tenant_id = :tenant
           AND (consent.user_id, consent.client_id)
               BETWEEN (token.user_id, :client_id::text)
                   AND (token.user_id, :client_id::text)
       ) AS allowed,
       floor(date_part('epoch', now()) * 1000)::bigint AS now,
       set_config('svc.principals', array_to_string(token.principals, ' '), true)
           AS principals_set
  FROM svc.oauth_token token
 WHERE token.tenant_id = :tenant
   AND token.jti = :token_jti::uuid
   AND token.issued_at = to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
   AND token.secret_hash IS NOT DISTINCT FROM :token_secret_hash::bytea
   AND token.kid IS NOT DISTINCT FROM :token_kid::text
 LIMIT 1;


-- statement: oauth_exchange_token_jwt
-- Of a JWT there is a row with its key, unless that is revoked, also if the token is not
-- found.  The key itself is of use where the signature has not been looked at yet.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
--   token_unverified   bool   ngx_svc_oauth_param(token.unverified)
-- columns
--   :exchange_token
--   public             text         NULL: there is no such key
SELECT found.*,
       (SELECT CASE WHEN :token_unverified::bool THEN signing_key.public::text ELSE '' END
          FROM svc.oauth_key signing_key
         WHERE signing_key.tenant_id = :tenant
           AND signing_key.kid = :token_kid::text
           AND signing_key.revoked_at IS NULL) AS public
  FROM (SELECT) always
  LEFT JOIN LATERAL (
       SELECT token.jti, token.user_id, token.client_id, token.chain, token.principals,
              token.scopes, token.audience, token.audience_key, token.jkt, token.ttl,
              token.grant_id, coalesce(token.root_jti, token.jti) AS root_jti,
              token.revoked_at IS NOT NULL
              OR EXISTS (SELECT
                           FROM svc.oauth_revoked revoked
                          WHERE revoked.tenant_id = :tenant
                            AND revoked.jti = ANY (ARRAY[token.jti, token.parent_jti,
                                                         token.root_jti])) AS revoked,
              (SELECT concat_ws(' ', account.status, date_part('epoch', account.valid_after))
                 FROM svc.user_account account
                WHERE account.tenant_id = :tenant AND account.id = token.user_id) AS owner,
              (SELECT concat_ws(' ', date_part('epoch', consented.session_at),
                                floor(date_part('epoch', consented.auth_time)),
                                consented.methods)
                 FROM svc.oauth_grant consented
                WHERE consented.tenant_id = :tenant
                  AND consented.id = token.grant_id
                  AND consented.revoked_at IS NULL) AS granted,
              (SELECT consent.allowed
                 FROM svc.oauth_consent consent
                WHERE consent.tenant_id = :tenant
                  AND (consent.user_id, consent.client_id)
                      BETWEEN (token.user_id, :client_id::text)
                          AND (token.user_id, :client_id::text)
              ) AS allowed,
              floor(date_part('epoch', now()) * 1000)::bigint AS now,
              set_config('svc.principals', array_to_string(token.principals, ' '), true)
                  AS principals_set
         FROM svc.oauth_token token
        WHERE token.tenant_id = :tenant
          AND token.jti = :token_jti::uuid
          AND token.issued_at = to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
          AND token.secret_hash IS NOT DISTINCT FROM :token_secret_hash::bytea
          AND token.kid IS NOT DISTINCT FROM :token_kid::text
        LIMIT 1) found ON true;


-- statement: oauth_exchange_read
-- A row of who asks, and of each client that the token lives by.  A row's xmin is of its
-- version, and its ctid is where that is: what has another one has been changed.
--
-- parameters
--   client_id  text  ngx_svc_oauth_param(client.id)
--   token_ms   text  ngx_svc_oauth_param(token.ms)
-- columns
--   :exchange_client
SELECT client.orphan_action AS state, client.client_id, client.auth_method, client.tenant_slug,
       client.tenant_suspended_at IS NOT NULL AS suspended, client.enabled,
       client.expires_at <= now() AS expired,
       to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
       < greatest(client.tokens_valid_after, client.tenant_valid_after) AS stale,
       client.resource_key, client.access_token_ttl, client.max_token_ttl, client.scopes,
       client.allowed_scopes, client.allowed_audience_keys, NULL::bool AS lets,
       client.grant_types, client.access_token_format, client.require_dpop, client.signing_kid,
       client.allowed_audiences, client.name,
       least(86400, ceil(date_part('epoch', client.expires_at - now())))::integer AS ttl_left,
       client.require_consent, client.xmin, client.ctid,
       client.assignment = 'everyone' AS assigned
  FROM svc.application client
 WHERE client.tenant_id = :tenant
   AND client.client_id = ANY ((SELECT string_to_array(
                                    concat_ws(' ', :client_id::text,
                                              nullif(current_setting('svc.principals', true), '')),
                                    ' '))::text[]);


-- statement: oauth_exchange_read_wider
-- The same with owners of agents, with what the user lets each client, with how many may
-- act, and with a target: the key that is asked for, or the application's whose clientId
-- is, or the only one that the client may have; and which application has registered it.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_param(token.jti)
--   token_ms           text   ngx_svc_oauth_param(token.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_param(token.secret_hash)
--   token_kid          text   ngx_svc_oauth_param(token.kid)
--   resource_key       text   ngx_svc_oauth_param(resource_key)
--   audience           text   ngx_svc_oauth_exchange_param(audience)
-- columns
--   :exchange_client
--   max_delegation_depth  int4
--   target_key            text
--   target_uri            text
--   target_enabled        bool
SELECT :client_state AS state, client.client_id, client.auth_method, client.tenant_slug,
       client.tenant_suspended_at IS NOT NULL AS suspended, client.enabled,
       client.expires_at <= now() AS expired,
       token.issued_at < greatest(client.tokens_valid_after, client.tenant_valid_after) AS stale,
       client.resource_key, client.access_token_ttl, client.max_token_ttl, client.scopes,
       client.allowed_scopes, client.allowed_audience_keys, :lives_lets AS lets,
       client.grant_types, client.access_token_format, client.require_dpop, client.signing_kid,
       client.allowed_audiences, client.name,
       least(86400, ceil(date_part('epoch', client.expires_at - now())))::integer AS ttl_left,
       client.require_consent, client.xmin, client.ctid,
       CASE
           WHEN client.client_id = :client_id::text AND token.user_id IS NOT NULL
                THEN (client.assignment = 'everyone'
                      OR EXISTS (SELECT
                                   FROM (SELECT member.group_id
                                           FROM svc.group_member member
                                          WHERE member.tenant_id = :tenant
                                            AND member.user_id
                                                BETWEEN token.user_id AND token.user_id
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
       END AS assigned,
       (SELECT settings.max_delegation_depth
          FROM svc.oauth_tenant settings
         WHERE settings.tenant_id = :tenant) AS max_delegation_depth,
       target.key AS target_key, target.uri AS target_uri, target.enabled AS target_enabled
  FROM (SELECT) always
  LEFT JOIN LATERAL (:lives_token) token ON true
  CROSS JOIN LATERAL (SELECT :client_id::text || token.principals AS ids OFFSET 0) wanted
  LEFT JOIN LATERAL (
       SELECT client.client_id, client.auth_method, client.tenant_slug, client.tenant_suspended_at,
              client.tenant_valid_after, client.enabled, client.expires_at, client.orphan_action,
              client.assignment, client.require_consent, client.resource_key,
              client.tokens_valid_after, client.access_token_ttl, client.max_token_ttl,
              client.scopes, client.allowed_scopes, client.allowed_audience_keys, client.type,
              client.owner_id, client.owner_lost_at, client.orphan_grace_hours, client.grant_types,
              client.access_token_format, client.require_dpop, client.signing_kid,
              client.allowed_audiences, client.name, client.xmin, client.ctid
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id = ANY (wanted.ids)
       OFFSET 0) client ON true
  LEFT JOIN LATERAL (
       SELECT asked.key, registered.uri, registered.enabled
         FROM (SELECT CASE
                          WHEN :audience::text IS NULL
                               THEN coalesce(:resource_key::text,
                                             CASE
                                                 WHEN cardinality(client.allowed_audience_keys) = 1
                                                      THEN client.allowed_audience_keys[1]
                                             END)
                          ELSE (SELECT client.resource_key
                                  FROM svc.application client
                                 WHERE client.tenant_id = :tenant
                                   AND client.client_id BETWEEN :audience::text AND :audience::text
                                 ORDER BY client.client_id
                                 LIMIT 1)
                      END AS key
                WHERE client.client_id = :client_id::text
               OFFSET 0) asked
         LEFT JOIN LATERAL (
              SELECT client.resource_uri AS uri, client.enabled
                FROM svc.application client
               WHERE client.tenant_id = :tenant
                 AND client.resource_key BETWEEN asked.key AND asked.key
               ORDER BY client.resource_key
               LIMIT 1) registered ON true) target ON true;


-- statement: oauth_exchange_acting
-- The token is the actor's: it lives by the same rules as the subject's.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   token_jti          uuid   ngx_svc_oauth_exchange_param(actor.jti)
--   token_ms           text   ngx_svc_oauth_exchange_param(actor.ms)
--   token_secret_hash  bytea  ngx_svc_oauth_exchange_param(actor.secret_hash)
--   token_kid          text   ngx_svc_oauth_exchange_param(actor.kid)
--   token_unverified   bool   ngx_svc_oauth_exchange_param(actor.unverified)
-- columns
--   :lives_jwt
SELECT :client_state AS state, :lives_columns,
       signing_key.kid, CASE WHEN :token_unverified::bool THEN signing_key.public END AS public
  FROM (SELECT) always
  LEFT JOIN LATERAL (:lives_token) token ON true
  LEFT JOIN LATERAL (
       SELECT account.status, account.valid_after
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN token.user_id AND token.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
  LEFT JOIN LATERAL (
       SELECT consented.session_at
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
