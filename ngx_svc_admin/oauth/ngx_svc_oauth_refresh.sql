-- The grant type refresh_token.  C judges what is read; the write, oauth_refresh, redeems
-- the token where it was read, if the row is of the same version and :granted_holds.


-- statement: oauth_refresh_read
-- The row of the token that the client presents, and its grant, if that is the client's; the
-- write looks at the user by :granted_holds, and oauth_refresh_read_wider tells why a write
-- has refused.  "again" is 0 where there is a successor, which the other form
-- looks up.
--
-- parameters
--   client_id     text   ngx_svc_oauth_param(client.id)
--   presented_digest  bytea  ngx_svc_oauth_granted_param(digest)
--   jkt           bytea  ngx_svc_oauth_param(jkt)
-- columns
--   :granted_read
SELECT CASE
           WHEN consented.revoked_at IS NOT NULL OR consented.expires_at <= now() THEN 'refresh'
           WHEN refresh.used_at <= now() - interval '30 seconds' THEN 'refresh_reused'
           WHEN refresh.expires_at <= now() THEN 'refresh'
           WHEN refresh.jkt <> coalesce(:jkt::bytea, '') THEN 'refresh_proof'
       END AS refusal,
       NULL::bool AS taken, CASE WHEN refresh.successor IS NOT NULL THEN 0 END AS again,
       NULL AS nonce,
       NOT consented.consented AS unasked,
       consented.id, consented.user_id, consented.scopes, consented.resources,
       consented.resource_keys,
       floor(date_part('epoch', consented.auth_time))::bigint AS auth_time,
       consented.methods, consented.claims, consented.expires_at, consented.session_id,
       consented.session_at, consented.xmin, consented.ctid, refresh.ctid AS presented_ctid,
       date_part('epoch', consented.created_at) AS created_at
  FROM (SELECT refresh.grant_id, refresh.jkt, refresh.expires_at, refresh.used_at,
               refresh.successor, refresh.ctid
          FROM svc.oauth_refresh refresh
         WHERE refresh.tenant_id = :tenant AND refresh.digest = :presented_digest::bytea
        OFFSET 0) refresh
  CROSS JOIN LATERAL (
       SELECT consented.id, consented.user_id, consented.scopes, consented.resources,
              consented.resource_keys, consented.auth_time, consented.methods, consented.claims,
              consented.session_id, consented.session_at, consented.created_at,
              consented.expires_at, consented.revoked_at, consented.consented, consented.xmin,
              consented.ctid
         FROM svc.oauth_grant consented
        WHERE consented.tenant_id = :tenant
          AND consented.id = refresh.grant_id
          AND consented.client_id = :client_id::text
       OFFSET 0) consented;


-- statement: oauth_refresh_read_wider
-- Client, user, groups and resource at once: of an agent, of groups, for a resource; of
-- what was used before; and of what is refused, or is read once more.
--
-- parameters
--   client_id          text   ngx_svc_oauth_param(client.id)
--   presented_digest       bytea  ngx_svc_oauth_granted_param(digest)
--   jkt                bytea  ngx_svc_oauth_param(jkt)
--   successor_digests  text   ngx_svc_oauth_granted_param(digests)
--   resource_key       text   ngx_svc_oauth_param(resource_key)
-- columns
--   :granted_wider
SELECT client.tenant_slug, client.auth_method, client.tenant_suspended_at IS NOT NULL AS suspended,
       :client_state AS state, client.grant_types, client.scopes, client.access_token_format,
       client.access_token_ttl, client.max_token_ttl,
       least(86400, ceil(date_part('epoch', client.expires_at - now())))::integer AS ttl_left,
       client.require_dpop, client.signing_kid, client.allowed_scopes, client.allowed_audiences,
       client.allowed_audience_keys, floor(date_part('epoch', now()) * 1000)::bigint AS now,
       client.name, client.xmin, client.ctid, client.id_token_ttl, client.refresh_idle_days,
       client.refresh_tokens, client.id_token_claims, client.security_profile, granted.*
  FROM (SELECT client.client_id, client.enabled, client.expires_at, client.tenant_slug,
               client.auth_method, client.tenant_suspended_at, client.grant_types, client.scopes,
               client.access_token_format, client.access_token_ttl, client.max_token_ttl,
               client.require_dpop, client.signing_kid, client.allowed_scopes,
               client.allowed_audiences, client.allowed_audience_keys, client.type, client.owner_id,
               client.owner_lost_at, client.orphan_action, client.orphan_grace_hours, client.name,
               client.assignment, client.require_consent, client.tokens_valid_after,
               client.tenant_valid_after, client.id_token_ttl, client.refresh_idle_days,
               client.refresh_tokens, client.id_token_claims, client.security_profile,
               client.unknown_scopes, client.xmin, client.ctid
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
  LEFT JOIN LATERAL (
       SELECT CASE
                  WHEN consented.revoked_at IS NOT NULL OR consented.expires_at <= now()
                       THEN 'refresh'
                  WHEN refresh.used_at <= now() - interval '30 seconds'
                        OR successor.used_at IS NOT NULL THEN 'refresh_reused'
                  WHEN refresh.expires_at <= now()
                        OR NOT coalesce(refresh.successor
                                        = ANY (:successor_digests::text::bytea[]), true)
                       THEN 'refresh'
                  WHEN refresh.jkt <> coalesce(:jkt::bytea, '') THEN 'refresh_proof'
                  WHEN account.status <> 'active'
                        OR consented.session_at < account.valid_after
                        OR consented.created_at
                           < greatest(client.tokens_valid_after, client.tenant_valid_after)
                       THEN 'refresh'
              END AS refusal,
              NULL::bool AS taken,
              array_position(:successor_digests::text::bytea[], refresh.successor) AS again,
              NULL AS nonce,
              client.require_consent AND NOT consented.consented AS unasked,
              consented.id, consented.user_id, consented.scopes, consented.resources,
              consented.resource_keys,
              floor(date_part('epoch', consented.auth_time))::bigint AS auth_time,
              consented.methods, consented.claims, consented.expires_at, consented.session_id,
              consented.session_at, consented.xmin, consented.ctid, refresh.ctid AS presented_ctid,
              -- whether the grant's user may use the client, which may be for groups alone
              (client.assignment = 'everyone'
               OR EXISTS (SELECT
                            FROM (SELECT member.group_id
                                    FROM svc.group_member member
                                   WHERE member.tenant_id = :tenant
                                     AND member.user_id BETWEEN consented.user_id
                                                            AND consented.user_id
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
                                  LIMIT 1) assigned)) AS assigned,
              (SELECT target.uri
                 FROM (SELECT coalesce(:resource_key::text,
                                       CASE cardinality(consented.resource_keys)
                                           WHEN 1 THEN consented.resource_keys[1]
                                       END) AS key
                       OFFSET 0) asked
                CROSS JOIN LATERAL (
                      SELECT client.resource_uri AS uri
                        FROM svc.application client
                       WHERE client.tenant_id = :tenant
                         AND client.resource_key BETWEEN asked.key AND asked.key
                       ORDER BY client.resource_key
                       LIMIT 1) target) AS registered,
              client.unknown_scopes = 'ignore' AS ignores
         FROM (SELECT refresh.grant_id, refresh.jkt, refresh.expires_at, refresh.used_at,
                      refresh.successor, refresh.ctid
                 FROM svc.oauth_refresh refresh
                WHERE refresh.tenant_id = :tenant AND refresh.digest = :presented_digest::bytea
               OFFSET 0) refresh
         JOIN LATERAL (
              SELECT consented.id, consented.user_id, consented.scopes, consented.resources,
                     consented.resource_keys, consented.auth_time, consented.methods,
                     consented.claims, consented.session_id, consented.session_at,
                     consented.created_at, consented.expires_at, consented.revoked_at,
                     consented.consented, consented.xmin, consented.ctid, consented.client_id
                FROM svc.oauth_grant consented
               WHERE consented.tenant_id = :tenant
                 AND consented.id BETWEEN refresh.grant_id AND refresh.grant_id
               ORDER BY consented.id
               LIMIT 1) consented ON consented.client_id = client.client_id
         JOIN LATERAL (
              SELECT account.status, account.valid_after
                FROM svc.user_account account
               WHERE account.tenant_id = :tenant
                 AND account.id BETWEEN consented.user_id AND consented.user_id
               ORDER BY account.id
               LIMIT 1) account ON true
         LEFT JOIN LATERAL (
              SELECT successor.used_at
                FROM svc.oauth_refresh successor
               WHERE successor.tenant_id = :tenant
                 AND successor.digest BETWEEN refresh.successor AND refresh.successor
               ORDER BY successor.digest
               LIMIT 1) successor ON true) granted ON true;


-- statement: oauth_refresh
-- Spends the token that the client presents. There is no row when another request has spent
-- it.
--
-- parameters
--   presented_digest      bytea  ngx_svc_oauth_granted_param(digest)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   grant_id          uuid   ngx_svc_oauth_granted_as(uuid, id)
--   user_id           uuid   ngx_svc_oauth_granted_as(uuid, user_id)
--   grant_xmin        xid    ngx_svc_oauth_granted_as(int4, xmin)
--   client_xmin       xid    ngx_svc_oauth_granted_as(int4, client_xmin)
--   session_at        text   ngx_svc_oauth_granted_param(session_at)
--   issued_ms         int8   ngx_svc_oauth_granted_as(int8, ms)
--   token_jti         uuid   ngx_svc_oauth_granted_as(uuid, token.jti)
--   scope             text   ngx_svc_oauth_granted_param(token.scope)
--   audience          text   ngx_svc_oauth_granted_param(token.audience)
--   audience_key      text   ngx_svc_oauth_granted_param(audience_key)
--   secret_hash       bytea  ngx_svc_oauth_granted_param(secret_hash)
--   kid               text   ngx_svc_oauth_granted_param(token.kid)
--   jkt               bytea  ngx_svc_oauth_param(jkt)
--   ttl               int4   ngx_svc_oauth_granted_as(int4, ttl)
--   ip                text   ngx_svc_oauth_param(ip)
--   country           text   ngx_svc_oauth_param(country)
--   presented_ctid        tid    ngx_svc_oauth_granted_as(tid, presented_ctid)
--   grant_ctid        tid    ngx_svc_oauth_granted_as(tid, ctid)
--   client_ctid       tid    ngx_svc_oauth_granted_as(tid, client_ctid)
--   successor_digest  bytea  ngx_svc_oauth_granted_param(refresh)
--   refresh_jkt       bytea  ngx_svc_oauth_granted_param(refresh_jkt)
--   grant_expires_at  text   ngx_svc_oauth_granted_param(expires_at)
--   idle_days         int4   ngx_svc_oauth_granted_as(int4, idle_days)
WITH presented AS (
    UPDATE svc.oauth_refresh refresh
       SET used_at = now(), successor = :successor_digest::bytea
     WHERE refresh.tenant_id = :tenant
       AND refresh.digest = :presented_digest::bytea
       AND refresh.used_at IS NULL
       AND refresh.ctid = :presented_ctid::tid
       AND :granted_holds
    RETURNING refresh.tenant_id
), decided AS (
    SELECT presented.tenant_id, :issued_ms::bigint AS ms, :token_jti::uuid AS jti,
           :client_id::text AS client_id, :user_id::uuid AS user_id,
           :grant_id::uuid AS grant_id, NULL::uuid AS root_jti, NULL::uuid AS parent_jti,
           NULL::text[] AS chain,
           ARRAY[:client_id::text] AS principals, 'refresh_token' AS grant_type,
           string_to_array(:scope::text, ' ') AS scopes, :audience::text AS audience,
           :audience_key::text AS audience_key, :kid::text AS kid, :ttl::integer AS ttl
      FROM presented
), token AS (
    :granted_token_insert
), successor AS (
    INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, jkt, expires_at)
    SELECT presented.tenant_id, :successor_digest::bytea, :grant_id::uuid, :refresh_jkt::bytea,
           least(:grant_expires_at::text::timestamptz,
                 now() + :idle_days::integer * interval '1 day')
      FROM presented
)
SELECT
  FROM presented;


-- statement: oauth_refresh_told
-- The same, with what the claims of an ID token are made of: the user is there, in the
-- snapshot in which the condition has seen him.
--
-- parameters
--   presented_digest      bytea  ngx_svc_oauth_granted_param(digest)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   grant_id          uuid   ngx_svc_oauth_granted_as(uuid, id)
--   user_id           uuid   ngx_svc_oauth_granted_as(uuid, user_id)
--   grant_xmin        xid    ngx_svc_oauth_granted_as(int4, xmin)
--   client_xmin       xid    ngx_svc_oauth_granted_as(int4, client_xmin)
--   session_at        text   ngx_svc_oauth_granted_param(session_at)
--   issued_ms         int8   ngx_svc_oauth_granted_as(int8, ms)
--   token_jti         uuid   ngx_svc_oauth_granted_as(uuid, token.jti)
--   scope             text   ngx_svc_oauth_granted_param(token.scope)
--   audience          text   ngx_svc_oauth_granted_param(token.audience)
--   audience_key      text   ngx_svc_oauth_granted_param(audience_key)
--   secret_hash       bytea  ngx_svc_oauth_granted_param(secret_hash)
--   kid               text   ngx_svc_oauth_granted_param(token.kid)
--   jkt               bytea  ngx_svc_oauth_param(jkt)
--   ttl               int4   ngx_svc_oauth_granted_as(int4, ttl)
--   ip                text   ngx_svc_oauth_param(ip)
--   country           text   ngx_svc_oauth_param(country)
--   presented_ctid        tid    ngx_svc_oauth_granted_as(tid, presented_ctid)
--   grant_ctid        tid    ngx_svc_oauth_granted_as(tid, ctid)
--   client_ctid       tid    ngx_svc_oauth_granted_as(tid, client_ctid)
--   successor_digest  bytea  ngx_svc_oauth_granted_param(refresh)
--   refresh_jkt       bytea  ngx_svc_oauth_granted_param(refresh_jkt)
--   grant_expires_at  text   ngx_svc_oauth_granted_param(expires_at)
--   idle_days         int4   ngx_svc_oauth_granted_as(int4, idle_days)
WITH presented AS (
    UPDATE svc.oauth_refresh refresh
       SET used_at = now(), successor = :successor_digest::bytea
     WHERE refresh.tenant_id = :tenant
       AND refresh.digest = :presented_digest::bytea
       AND refresh.used_at IS NULL
       AND refresh.ctid = :presented_ctid::tid
       AND :granted_holds
    RETURNING refresh.tenant_id
), decided AS (
    SELECT presented.tenant_id, :issued_ms::bigint AS ms, :token_jti::uuid AS jti,
           :client_id::text AS client_id, :user_id::uuid AS user_id,
           :grant_id::uuid AS grant_id, NULL::uuid AS root_jti, NULL::uuid AS parent_jti,
           NULL::text[] AS chain,
           ARRAY[:client_id::text] AS principals, 'refresh_token' AS grant_type,
           string_to_array(:scope::text, ' ') AS scopes, :audience::text AS audience,
           :audience_key::text AS audience_key, :kid::text AS kid, :ttl::integer AS ttl
      FROM presented
), token AS (
    :granted_token_insert
), successor AS (
    INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, jkt, expires_at)
    SELECT presented.tenant_id, :successor_digest::bytea, :grant_id::uuid, :refresh_jkt::bytea,
           least(:grant_expires_at::text::timestamptz,
                 now() + :idle_days::integer * interval '1 day')
      FROM presented
)
SELECT account.display_name AS name, account.first_name AS given_name,
       account.last_name AS family_name, account.locale,
       date_part('epoch', account.updated_at) AS updated_at, account.user_name AS email,
       account.email_verified, account.role AS roles
  FROM presented
  JOIN svc.user_account account ON account.tenant_id = :tenant AND account.id = :user_id::uuid;


-- statement: oauth_refresh_agent
-- The same of an agent, with the journal's row of who acts for whom.
--
-- parameters
--   presented_digest      bytea  ngx_svc_oauth_granted_param(digest)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   grant_id          uuid   ngx_svc_oauth_granted_as(uuid, id)
--   user_id           uuid   ngx_svc_oauth_granted_as(uuid, user_id)
--   grant_xmin        xid    ngx_svc_oauth_granted_as(int4, xmin)
--   client_xmin       xid    ngx_svc_oauth_granted_as(int4, client_xmin)
--   session_at        text   ngx_svc_oauth_granted_param(session_at)
--   issued_ms         int8   ngx_svc_oauth_granted_as(int8, ms)
--   token_jti         uuid   ngx_svc_oauth_granted_as(uuid, token.jti)
--   scope             text   ngx_svc_oauth_granted_param(token.scope)
--   audience          text   ngx_svc_oauth_granted_param(token.audience)
--   audience_key      text   ngx_svc_oauth_granted_param(audience_key)
--   secret_hash       bytea  ngx_svc_oauth_granted_param(secret_hash)
--   kid               text   ngx_svc_oauth_granted_param(token.kid)
--   jkt               bytea  ngx_svc_oauth_param(jkt)
--   ttl               int4   ngx_svc_oauth_granted_as(int4, ttl)
--   ip                text   ngx_svc_oauth_param(ip)
--   country           text   ngx_svc_oauth_param(country)
--   presented_ctid        tid    ngx_svc_oauth_granted_as(tid, presented_ctid)
--   grant_ctid        tid    ngx_svc_oauth_granted_as(tid, ctid)
--   client_ctid       tid    ngx_svc_oauth_granted_as(tid, client_ctid)
--   successor_digest  bytea  ngx_svc_oauth_granted_param(refresh)
--   refresh_jkt       bytea  ngx_svc_oauth_granted_param(refresh_jkt)
--   grant_expires_at  text   ngx_svc_oauth_granted_param(expires_at)
--   idle_days         int4   ngx_svc_oauth_granted_as(int4, idle_days)
--   issuer            text   ngx_svc_oauth_granted_param(issuer)
--   request_id        text   ngx_svc_oauth_param(request_id)
--   client_name       text   ngx_svc_oauth_granted_param(name)
WITH presented AS (
    UPDATE svc.oauth_refresh refresh
       SET used_at = now(), successor = :successor_digest::bytea
     WHERE refresh.tenant_id = :tenant
       AND refresh.digest = :presented_digest::bytea
       AND refresh.used_at IS NULL
       AND refresh.ctid = :presented_ctid::tid
       AND :granted_holds
    RETURNING refresh.tenant_id
), decided AS (
    SELECT presented.tenant_id, :issued_ms::bigint AS ms, :token_jti::uuid AS jti,
           :client_id::text AS client_id, :user_id::uuid AS user_id,
           :user_id::uuid::text AS subject, :grant_id::uuid AS grant_id, NULL::uuid AS root_jti,
           NULL::uuid AS parent_jti, ARRAY[:client_id::text] AS chain,
           ARRAY[:client_id::text] AS principals, 'refresh_token' AS grant_type,
           string_to_array(:scope::text, ' ') AS scopes, :audience::text AS audience,
           :audience_key::text AS audience_key, :kid::text AS kid, :ttl::integer AS ttl,
           :client_name::text AS client_name
      FROM presented
), token AS (
    :granted_token_insert
), successor AS (
    INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, jkt, expires_at)
    SELECT presented.tenant_id, :successor_digest::bytea, :grant_id::uuid, :refresh_jkt::bytea,
           least(:grant_expires_at::text::timestamptz,
                 now() + :idle_days::integer * interval '1 day')
      FROM presented
), journal AS (
    :granted_journal
)
SELECT
  FROM presented;


-- statement: oauth_refresh_again
-- One more token for the same, while nobody has used its successor: of two requests at
-- once, both go on.
--
-- parameters
--   presented_digest      bytea  ngx_svc_oauth_granted_param(digest)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   grant_id          uuid   ngx_svc_oauth_granted_as(uuid, id)
--   user_id           uuid   ngx_svc_oauth_granted_as(uuid, user_id)
--   grant_xmin        xid    ngx_svc_oauth_granted_as(int4, xmin)
--   client_xmin       xid    ngx_svc_oauth_granted_as(int4, client_xmin)
--   session_at        text   ngx_svc_oauth_granted_param(session_at)
--   issued_ms         int8   ngx_svc_oauth_granted_as(int8, ms)
--   token_jti         uuid   ngx_svc_oauth_granted_as(uuid, token.jti)
--   scope             text   ngx_svc_oauth_granted_param(token.scope)
--   audience          text   ngx_svc_oauth_granted_param(token.audience)
--   audience_key      text   ngx_svc_oauth_granted_param(audience_key)
--   secret_hash       bytea  ngx_svc_oauth_granted_param(secret_hash)
--   kid               text   ngx_svc_oauth_granted_param(token.kid)
--   jkt               bytea  ngx_svc_oauth_param(jkt)
--   ttl               int4   ngx_svc_oauth_granted_as(int4, ttl)
--   ip                text   ngx_svc_oauth_param(ip)
--   country           text   ngx_svc_oauth_param(country)
--   presented_ctid        tid    ngx_svc_oauth_granted_as(tid, presented_ctid)
--   grant_ctid        tid    ngx_svc_oauth_granted_as(tid, ctid)
--   client_ctid       tid    ngx_svc_oauth_granted_as(tid, client_ctid)
--   successor_digest  bytea  ngx_svc_oauth_granted_param(refresh)
WITH presented AS (
    SELECT successor.tenant_id
      FROM svc.oauth_refresh refresh
      JOIN svc.oauth_refresh successor
           ON successor.tenant_id = :tenant
          AND successor.digest = :successor_digest::bytea
          AND successor.used_at IS NULL
     WHERE refresh.tenant_id = :tenant
       AND refresh.ctid = :presented_ctid::tid
       AND refresh.digest = :presented_digest::bytea
       AND refresh.successor = :successor_digest::bytea
       AND :granted_holds
), decided AS (
    SELECT presented.tenant_id, :issued_ms::bigint AS ms, :token_jti::uuid AS jti,
           :client_id::text AS client_id, :user_id::uuid AS user_id,
           :grant_id::uuid AS grant_id, NULL::uuid AS root_jti, NULL::uuid AS parent_jti,
           NULL::text[] AS chain,
           ARRAY[:client_id::text] AS principals, 'refresh_token' AS grant_type,
           string_to_array(:scope::text, ' ') AS scopes, :audience::text AS audience,
           :audience_key::text AS audience_key, :kid::text AS kid, :ttl::integer AS ttl
      FROM presented
), token AS (
    :granted_token_insert
)
SELECT
  FROM presented;


-- statement: oauth_refresh_again_agent
--
-- parameters
--   presented_digest      bytea  ngx_svc_oauth_granted_param(digest)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   grant_id          uuid   ngx_svc_oauth_granted_as(uuid, id)
--   user_id           uuid   ngx_svc_oauth_granted_as(uuid, user_id)
--   grant_xmin        xid    ngx_svc_oauth_granted_as(int4, xmin)
--   client_xmin       xid    ngx_svc_oauth_granted_as(int4, client_xmin)
--   session_at        text   ngx_svc_oauth_granted_param(session_at)
--   issued_ms         int8   ngx_svc_oauth_granted_as(int8, ms)
--   token_jti         uuid   ngx_svc_oauth_granted_as(uuid, token.jti)
--   scope             text   ngx_svc_oauth_granted_param(token.scope)
--   audience          text   ngx_svc_oauth_granted_param(token.audience)
--   audience_key      text   ngx_svc_oauth_granted_param(audience_key)
--   secret_hash       bytea  ngx_svc_oauth_granted_param(secret_hash)
--   kid               text   ngx_svc_oauth_granted_param(token.kid)
--   jkt               bytea  ngx_svc_oauth_param(jkt)
--   ttl               int4   ngx_svc_oauth_granted_as(int4, ttl)
--   ip                text   ngx_svc_oauth_param(ip)
--   country           text   ngx_svc_oauth_param(country)
--   presented_ctid        tid    ngx_svc_oauth_granted_as(tid, presented_ctid)
--   grant_ctid        tid    ngx_svc_oauth_granted_as(tid, ctid)
--   client_ctid       tid    ngx_svc_oauth_granted_as(tid, client_ctid)
--   successor_digest  bytea  ngx_svc_oauth_granted_param(refresh)
--   issuer            text   ngx_svc_oauth_granted_param(issuer)
--   request_id        text   ngx_svc_oauth_param(request_id)
--   client_name       text   ngx_svc_oauth_granted_param(name)
WITH presented AS (
    SELECT successor.tenant_id
      FROM svc.oauth_refresh refresh
      JOIN svc.oauth_refresh successor
           ON successor.tenant_id = :tenant
          AND successor.digest = :successor_digest::bytea
          AND successor.used_at IS NULL
     WHERE refresh.tenant_id = :tenant
       AND refresh.ctid = :presented_ctid::tid
       AND refresh.digest = :presented_digest::bytea
       AND refresh.successor = :successor_digest::bytea
       AND :granted_holds
), decided AS (
    SELECT presented.tenant_id, :issued_ms::bigint AS ms, :token_jti::uuid AS jti,
           :client_id::text AS client_id, :user_id::uuid AS user_id,
           :user_id::uuid::text AS subject, :grant_id::uuid AS grant_id, NULL::uuid AS root_jti,
           NULL::uuid AS parent_jti, ARRAY[:client_id::text] AS chain,
           ARRAY[:client_id::text] AS principals, 'refresh_token' AS grant_type,
           string_to_array(:scope::text, ' ') AS scopes, :audience::text AS audience,
           :audience_key::text AS audience_key, :kid::text AS kid, :ttl::integer AS ttl,
           :client_name::text AS client_name
      FROM presented
), token AS (
    :granted_token_insert
), journal AS (
    :granted_journal
)
SELECT
  FROM presented;


-- statement: oauth_refresh_kept
-- A token that stays is idle from now on.  It is found by its digest, and not where it was
-- read: another use of it at the same time moves the row, and is no reason to read it again.
--
-- parameters
--   presented_digest      bytea  ngx_svc_oauth_granted_param(digest)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   grant_id          uuid   ngx_svc_oauth_granted_as(uuid, id)
--   user_id           uuid   ngx_svc_oauth_granted_as(uuid, user_id)
--   grant_xmin        xid    ngx_svc_oauth_granted_as(int4, xmin)
--   client_xmin       xid    ngx_svc_oauth_granted_as(int4, client_xmin)
--   session_at        text   ngx_svc_oauth_granted_param(session_at)
--   issued_ms         int8   ngx_svc_oauth_granted_as(int8, ms)
--   token_jti         uuid   ngx_svc_oauth_granted_as(uuid, token.jti)
--   scope             text   ngx_svc_oauth_granted_param(token.scope)
--   audience          text   ngx_svc_oauth_granted_param(token.audience)
--   audience_key      text   ngx_svc_oauth_granted_param(audience_key)
--   secret_hash       bytea  ngx_svc_oauth_granted_param(secret_hash)
--   kid               text   ngx_svc_oauth_granted_param(token.kid)
--   jkt               bytea  ngx_svc_oauth_param(jkt)
--   ttl               int4   ngx_svc_oauth_granted_as(int4, ttl)
--   ip                text   ngx_svc_oauth_param(ip)
--   country           text   ngx_svc_oauth_param(country)
--   idle_days         int4   ngx_svc_oauth_granted_as(int4, idle_days)
--   grant_ctid        tid    ngx_svc_oauth_granted_as(tid, ctid)
--   client_ctid       tid    ngx_svc_oauth_granted_as(tid, client_ctid)
--   grant_expires_at  text   ngx_svc_oauth_granted_param(expires_at)
WITH presented AS (
    UPDATE svc.oauth_refresh refresh
       SET expires_at = least(:grant_expires_at::text::timestamptz,
                              now() + :idle_days::integer * interval '1 day')
     WHERE refresh.tenant_id = :tenant
       AND refresh.digest = :presented_digest::bytea
       AND refresh.used_at IS NULL
       AND :granted_holds
    RETURNING refresh.tenant_id
), decided AS (
    SELECT presented.tenant_id, :issued_ms::bigint AS ms, :token_jti::uuid AS jti,
           :client_id::text AS client_id, :user_id::uuid AS user_id,
           :grant_id::uuid AS grant_id, NULL::uuid AS root_jti, NULL::uuid AS parent_jti,
           NULL::text[] AS chain,
           ARRAY[:client_id::text] AS principals, 'refresh_token' AS grant_type,
           string_to_array(:scope::text, ' ') AS scopes, :audience::text AS audience,
           :audience_key::text AS audience_key, :kid::text AS kid, :ttl::integer AS ttl
      FROM presented
), token AS (
    :granted_token_insert
)
SELECT
  FROM presented;


-- statement: oauth_refresh_kept_agent
--
-- parameters
--   presented_digest      bytea  ngx_svc_oauth_granted_param(digest)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   grant_id          uuid   ngx_svc_oauth_granted_as(uuid, id)
--   user_id           uuid   ngx_svc_oauth_granted_as(uuid, user_id)
--   grant_xmin        xid    ngx_svc_oauth_granted_as(int4, xmin)
--   client_xmin       xid    ngx_svc_oauth_granted_as(int4, client_xmin)
--   session_at        text   ngx_svc_oauth_granted_param(session_at)
--   issued_ms         int8   ngx_svc_oauth_granted_as(int8, ms)
--   token_jti         uuid   ngx_svc_oauth_granted_as(uuid, token.jti)
--   scope             text   ngx_svc_oauth_granted_param(token.scope)
--   audience          text   ngx_svc_oauth_granted_param(token.audience)
--   audience_key      text   ngx_svc_oauth_granted_param(audience_key)
--   secret_hash       bytea  ngx_svc_oauth_granted_param(secret_hash)
--   kid               text   ngx_svc_oauth_granted_param(token.kid)
--   jkt               bytea  ngx_svc_oauth_param(jkt)
--   ttl               int4   ngx_svc_oauth_granted_as(int4, ttl)
--   ip                text   ngx_svc_oauth_param(ip)
--   country           text   ngx_svc_oauth_param(country)
--   idle_days         int4   ngx_svc_oauth_granted_as(int4, idle_days)
--   grant_ctid        tid    ngx_svc_oauth_granted_as(tid, ctid)
--   client_ctid       tid    ngx_svc_oauth_granted_as(tid, client_ctid)
--   grant_expires_at  text   ngx_svc_oauth_granted_param(expires_at)
--   issuer            text   ngx_svc_oauth_granted_param(issuer)
--   request_id        text   ngx_svc_oauth_param(request_id)
--   client_name       text   ngx_svc_oauth_granted_param(name)
WITH presented AS (
    UPDATE svc.oauth_refresh refresh
       SET expires_at = least(:grant_expires_at::text::timestamptz,
                              now() + :idle_days::integer * interval '1 day')
     WHERE refresh.tenant_id = :tenant
       AND refresh.digest = :presented_digest::bytea
       AND refresh.used_at IS NULL
       AND :granted_holds
    RETURNING refresh.tenant_id
), decided AS (
    SELECT presented.tenant_id, :issued_ms::bigint AS ms, :token_jti::uuid AS jti,
           :client_id::text AS client_id, :user_id::uuid AS user_id,
           :user_id::uuid::text AS subject, :grant_id::uuid AS grant_id, NULL::uuid AS root_jti,
           NULL::uuid AS parent_jti, ARRAY[:client_id::text] AS chain,
           ARRAY[:client_id::text] AS principals, 'refresh_token' AS grant_type,
           string_to_array(:scope::text, ' ') AS scopes, :audience::text AS audience,
           :audience_key::text AS audience_key, :kid::text AS kid, :ttl::integer AS ttl,
           :client_name::text AS client_name
      FROM presented
), token AS (
    :granted_token_insert
), journal AS (
    :granted_journal
)
SELECT
  FROM presented;
