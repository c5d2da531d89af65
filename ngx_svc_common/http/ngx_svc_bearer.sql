-- The first statement of every op of a surface that takes tokens: it finds the token by
-- its digest and, if that lives and grants the route's permission, sets the tenant of the
-- transaction, by which row-level security lives. No row is 401, and a NULL in the first
-- column 403. It never raises an error, so that bad tokens do not fill PostgreSQL's log:
-- whatever follows finds no tenant, and no rows.
--
-- The second column says that last_used_at is over a minute old. Each setting costs
-- nearly a tenth of a read, so there is a statement for each need, and none sets what
-- nobody looks at.
--
-- Most of the rest is the start of functions, each of which PostgreSQL looks up with the
-- right to call it. So what can be said without one is: set_config() never returns NULL,
-- and an OR of such calls makes them all; CURRENT_TIMESTAMP is now(); and the permission
-- is NULL where any token will do.


-- fragment: credential_live
-- needs: credential
-- The token that the request shows, of this surface, unless it is revoked or expired.
credential.token_hash = :token_hash
   AND credential.kind = :kind
   AND credential.revoked_at IS NULL
   AND (credential.expires_at IS NULL OR credential.expires_at > CURRENT_TIMESTAMP)


-- statement: auth_read
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
-- columns
--   :credential
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_write
-- It sets who acts, too: defaults of svc.audit_event read that.
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
--   actor_type     text
--   client_ip      text
--   user_agent     text
--   request_id     text
-- columns
--   :credential
--   actor          bool
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch,
       set_config('svc.actor_type', :actor_type, true) IS NULL
       OR set_config('svc.actor_id', credential.id::text, true) IS NULL
       OR set_config('svc.actor_name', credential.name, true) IS NULL
       OR set_config('svc.ip', :client_ip, true) IS NULL
       OR set_config('svc.user_agent', :user_agent, true) IS NULL
       OR set_config('svc.request_id', :request_id, true) IS NULL AS actor
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_caller
-- It sets who acts, and what the token grants besides, for statements that ask.
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
--   actor_type     text
--   client_ip      text
--   user_agent     text
--   request_id     text
-- columns
--   :credential
--   actor          bool
--   granted        bool
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch,
       set_config('svc.actor_type', :actor_type, true) IS NULL
       OR set_config('svc.actor_id', credential.id::text, true) IS NULL
       OR set_config('svc.actor_name', credential.name, true) IS NULL
       OR set_config('svc.ip', :client_ip, true) IS NULL
       OR set_config('svc.user_agent', :user_agent, true) IS NULL
       OR set_config('svc.request_id', :request_id, true) IS NULL AS actor,
       CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.permissions', credential.permissions::text, true)
       END IS NULL AS granted
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_token
-- It sets whose the token is alone, for routes whose statements write the actor themselves.
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
-- columns
--   :credential
--   token          bool
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch,
       set_config('svc.token', credential.id::text || ' ' || credential.name, true) IS NULL
       AS token
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_read_domain
-- As auth_read, of a request whose Host might be a domain of the tenant: a verified one
-- is the base of the URLs that the answer has.
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
--   domain         text
--   base_url       text
-- columns
--   :credential
--   _base_url      text
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch,
       (SELECT set_config('svc.base_url', :base_url, true)
          FROM svc.domain domain
         WHERE domain.tenant_id = credential.tenant_id
           AND domain.domain = :domain
           AND domain.verified_at IS NOT NULL) AS _base_url
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_write_domain
-- As auth_write, with the domain.
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
--   actor_type     text
--   client_ip      text
--   user_agent     text
--   request_id     text
--   domain         text
--   base_url       text
-- columns
--   :credential
--   actor          bool
--   _base_url      text
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch,
       set_config('svc.actor_type', :actor_type, true) IS NULL
       OR set_config('svc.actor_id', credential.id::text, true) IS NULL
       OR set_config('svc.actor_name', credential.name, true) IS NULL
       OR set_config('svc.ip', :client_ip, true) IS NULL
       OR set_config('svc.user_agent', :user_agent, true) IS NULL
       OR set_config('svc.request_id', :request_id, true) IS NULL AS actor,
       (SELECT set_config('svc.base_url', :base_url, true)
          FROM svc.domain domain
         WHERE domain.tenant_id = credential.tenant_id
           AND domain.domain = :domain
           AND domain.verified_at IS NOT NULL) AS _base_url
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_caller_domain
-- As auth_caller, with the domain.
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
--   actor_type     text
--   client_ip      text
--   user_agent     text
--   request_id     text
--   domain         text
--   base_url       text
-- columns
--   :credential
--   actor          bool
--   granted        bool
--   _base_url      text
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch,
       set_config('svc.actor_type', :actor_type, true) IS NULL
       OR set_config('svc.actor_id', credential.id::text, true) IS NULL
       OR set_config('svc.actor_name', credential.name, true) IS NULL
       OR set_config('svc.ip', :client_ip, true) IS NULL
       OR set_config('svc.user_agent', :user_agent, true) IS NULL
       OR set_config('svc.request_id', :request_id, true) IS NULL AS actor,
       CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.permissions', credential.permissions::text, true)
       END IS NULL AS granted,
       (SELECT set_config('svc.base_url', :base_url, true)
          FROM svc.domain domain
         WHERE domain.tenant_id = credential.tenant_id
           AND domain.domain = :domain
           AND domain.verified_at IS NOT NULL) AS _base_url
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_token_domain
-- As auth_token, with the domain.
--
-- parameters
--   token_hash     bytea
--   kind           text
--   permission     text
--   domain         text
--   base_url       text
-- columns
--   :credential
--   token          bool
--   _base_url      text
SELECT CASE
           WHEN :permission = ANY (credential.permissions) OR :permission::text IS NULL
               THEN set_config('svc.tenant', credential.tenant_id::text, true)
       END AS tenant,
       credential.last_used_at IS NULL
       OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute' AS touch,
       set_config('svc.token', credential.id::text || ' ' || credential.name, true) IS NULL
       AS token,
       (SELECT set_config('svc.base_url', :base_url, true)
          FROM svc.domain domain
         WHERE domain.tenant_id = credential.tenant_id
           AND domain.domain = :domain
           AND domain.verified_at IS NOT NULL) AS _base_url
  FROM svc.credential credential
 WHERE :credential_live;


-- statement: auth_touch
-- It asks again whether a minute is over: other requests may have touched the token.
--
-- parameters
--   token_hash     bytea
UPDATE svc.credential credential
   SET last_used_at = now()
 WHERE credential.tenant_id = :tenant
   AND credential.token_hash = :token_hash
   AND (credential.last_used_at IS NULL
        OR credential.last_used_at < CURRENT_TIMESTAMP - interval '1 minute');
