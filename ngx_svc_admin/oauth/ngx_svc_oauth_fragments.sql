-- What the statements of OAuth share: who may act, what is asked for, which token lives.


-- fragment: application_columns
-- needs: client
-- columns
--   clientId                         text         answer
--   name                             text         answer
--   type                             text         answer
--   redirectUris                     json         answer
--   scopes                           json         answer
--   grantTypes                       json         answer
--   enabled                          bool         answer
--   assignment                       text         answer
--   tokenEndpointAuthMethod          text         answer
--   resourceUri                      text         answer
--   accessTokenFormat                text         answer
--   accessTokenTtlSeconds            int4         answer
--   requireConsent                   bool         answer
--   requireDpop                      bool         answer
--   signingAlg                       text         answer
--   requirePkce                      bool         answer
--   requireAcr                       bool         answer
--   unknownScopes                    text         answer
--   refreshTokens                    text         answer
--   idTokenClaims                    json         answer
--   groupsClaim                      text         answer
--   idTokenTtlSeconds                int4         answer
--   refreshIdleDays                  int4         answer
--   grantDays                        int4         answer
--   defaultResourceUri               text         answer
--   postLogoutRedirectUris           json         answer
--   backchannelLogoutUri             text         answer
--   backchannelLogoutSessionRequired bool         answer
--   jwks                             jsonb        answer
--   jwksUri                          text         answer
--   jwksStatus                       json         answer
--   requirePar                       bool         answer
--   securityProfile                  text         answer
--   secretRotatedAt                  timestamptz  answer
--   previousSecretValidUntil         timestamptz  answer
--   lastUsedAt                       timestamptz  answer
--   createdAt                        timestamptz  answer
--   updatedAt                        timestamptz  answer
client.client_id AS "clientId", client.name, client.type,
array_to_json(client.redirect_uris) AS "redirectUris", array_to_json(client.scopes) AS scopes,
array_to_json(client.grant_types) AS "grantTypes", client.enabled, client.assignment,
client.auth_method AS "tokenEndpointAuthMethod", client.resource_uri AS "resourceUri",
client.access_token_format AS "accessTokenFormat",
client.access_token_ttl AS "accessTokenTtlSeconds", client.require_consent AS "requireConsent",
client.require_dpop AS "requireDpop", client.signing_alg AS "signingAlg",
client.require_pkce AS "requirePkce", client.require_acr AS "requireAcr",
client.unknown_scopes AS "unknownScopes", client.refresh_tokens AS "refreshTokens",
array_to_json(client.id_token_claims) AS "idTokenClaims", client.groups_claim AS "groupsClaim",
client.id_token_ttl AS "idTokenTtlSeconds", client.refresh_idle_days AS "refreshIdleDays",
client.grant_days AS "grantDays", client.default_resource_uri AS "defaultResourceUri",
array_to_json(client.post_logout_redirect_uris) AS "postLogoutRedirectUris",
client.backchannel_logout_uri AS "backchannelLogoutUri",
client.backchannel_session AS "backchannelLogoutSessionRequired",
CASE WHEN client.jwks_uri IS NULL THEN client.jwks END AS jwks, client.jwks_uri AS "jwksUri",
CASE
    WHEN client.jwks_uri IS NOT NULL THEN json_build_object(
         'state', CASE
                      WHEN client.jwks_failed_at IS NOT NULL THEN 'failed'
                      WHEN client.jwks_fetched_at IS NOT NULL THEN 'ready'
                      ELSE 'pending'
                  END,
         'fetchedAt', to_char(client.jwks_fetched_at AT TIME ZONE 'UTC',
                              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'error', client.jwks_error)
END AS "jwksStatus",
client.require_par AS "requirePar", client.security_profile AS "securityProfile",
client.secret_rotated_at AS "secretRotatedAt",
CASE
    WHEN client.previous_secret_until > now() THEN client.previous_secret_until
END AS "previousSecretValidUntil",
client.last_used_at AS "lastUsedAt", client.created_at AS "createdAt",
client.updated_at AS "updatedAt"


-- fragment: client_state
-- needs: client
-- Why a client may not act, in the order in which that is said; NULL: it may.  Of an
-- owner who is not active, valid_after is when that came to be.  What becomes of orphans
-- stands in the row of the client, or in the tenant's settings beside it, whichever is
-- read; to read both would be ambiguous, and so these two columns name no row.
CASE
    WHEN NOT client.enabled THEN 'disabled'
    WHEN client.expires_at <= now() THEN 'expired'
    WHEN orphan_action = 'disable'
         AND client.type = 'agent'
         AND CASE
                 WHEN client.owner_id IS NULL THEN client.owner_lost_at
                 ELSE (SELECT coalesce(owner.valid_after, '-infinity')
                         FROM (SELECT account.status, account.valid_after
                                 FROM svc.user_account account
                                WHERE account.tenant_id = :tenant
                                  AND account.id BETWEEN client.owner_id AND client.owner_id
                                ORDER BY account.id
                                LIMIT 1) owner
                        WHERE owner.status <> 'active')
             END <= now() - make_interval(hours => orphan_grace_hours)
         THEN 'orphaned'
END


-- fragment: authorize_asked
-- The client, its tenant and settings, and what it may have of what it asks for.
-- offline_access is nothing without refresh tokens.  Nobody is refused for a scope of
-- OpenID Connect that we have nothing for (its section 3.1.2.1), and some clients for none
-- that they do not have.
(SELECT client.type, client.enabled, client.expires_at, client.owner_id, client.owner_lost_at,
        client.client_id, client.name, client.auth_method, client.assignment,
        client.redirect_uris, client.scopes, client.grant_types, client.access_token_format,
        client.access_token_ttl, client.max_token_ttl, client.require_consent,
        client.require_dpop, client.resource_key, client.allowed_scopes,
        client.allowed_audiences, client.allowed_audience_keys, client.tokens_valid_after,
        client.default_resource_uri, client.default_resource_key, client.grant_days,
        client.require_pkce, client.require_acr, client.unknown_scopes, client.watches,
        client.require_par
   FROM svc.application client
  WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
  ORDER BY client.client_id
  LIMIT 1) client
JOIN svc.tenant tenant ON tenant.id = :tenant
JOIN svc.oauth_tenant settings ON settings.tenant_id = :tenant
CROSS JOIN LATERAL (SELECT :client_state AS state) standing
CROSS JOIN LATERAL (
     SELECT CASE
                WHEN client.allowed_scopes IS NULL THEN client.scopes
                ELSE ARRAY(SELECT scope
                             FROM unnest(client.scopes) scope
                            WHERE scope = ANY (client.allowed_scopes))
            END AS scopes) allowed
CROSS JOIN LATERAL (
     SELECT ARRAY(SELECT scope COLLATE "C"
                    FROM unnest(coalesce(:asked_scopes::text::text[], allowed.scopes)) scope
                   WHERE scope = ANY (client.scopes)
                      OR CASE scope
                             WHEN 'offline_access' THEN 'refresh_token' = ANY (client.grant_types)
                             WHEN 'address' THEN false
                             WHEN 'phone' THEN false
                             ELSE client.unknown_scopes = 'refuse'
                         END
                   ORDER BY 1) AS scopes) wanted
-- claims that are asked for by name, of scopes that the client may have
CROSS JOIN LATERAL (
     SELECT CASE
                WHEN :asked_claims::text IS NOT NULL AND 'openid' = ANY (wanted.scopes)
                     THEN ARRAY(SELECT claim COLLATE "C"
                                  FROM unnest(:asked_claims::text::text[]) claim
                                 WHERE split_part(claim, ' ', 1) = ANY (allowed.scopes)
                                 ORDER BY 1)
            END AS claims) named
-- what the user is shown, and consents to: also the scopes that those claims stand for
CROSS JOIN LATERAL (
     SELECT CASE
                WHEN named.claims IS NULL THEN wanted.scopes
                ELSE ARRAY(SELECT scope COLLATE "C"
                             FROM unnest(wanted.scopes) scope
                           UNION
                           SELECT split_part(claim, ' ', 1) COLLATE "C"
                             FROM unnest(named.claims) claim
                            ORDER BY 1)
            END AS scopes) shown
-- where a code is good: as asked for, or the client's default, or the only target there is
CROSS JOIN LATERAL (
     SELECT CASE
                WHEN :asked_resources::text::text[] <> '{}' THEN :asked_resources::text::text[]
                WHEN client.default_resource_key IS NOT NULL
                     THEN ARRAY[client.default_resource_uri]
                WHEN cardinality(client.allowed_audience_keys) = 1 THEN client.allowed_audiences
                ELSE '{}'
            END AS resources,
            CASE
                WHEN :asked_keys::text::text[] <> '{}' THEN :asked_keys::text::text[]
                WHEN client.default_resource_key IS NOT NULL
                     THEN ARRAY[client.default_resource_key]
                WHEN cardinality(client.allowed_audience_keys) = 1
                     THEN client.allowed_audience_keys
                ELSE '{}'
            END AS resource_keys) target


-- fragment: authorized
-- The last columns of the statements of an authorization.
-- columns
--   _verdict       text
--   slug           text
--   now            text
--   _policy        json
--   _version       int8         as text
--   _tenant        uuid


-- fragment: login_found
-- The first columns of the statements that find a client.
-- columns
--   tenant         text         empty: the client is not of the tenant that was named
--   retired        bool         it is a secret that was rotated, or keys that are too old


-- fragment: authorize_columns
-- needs: tenant, client, session, wanted, named, shown, target, approval, governance
-- What a grant is made of.  Behind the methods of its sign-in stands the class that the
-- client is told: of those that it asks for, the first that the session reaches.
tenant.slug, client.client_id, client.name, gen_random_uuid() AS id, session.user_id,
session.root_id, session.session_at, session.auth_time,
CASE
    WHEN :asked_acr::text IS NULL THEN session.methods
    ELSE session.methods
         || ARRAY(SELECT class
                    FROM unnest(:asked_acr::text::text[]) class
                   WHERE class = ANY (session.classes)
                   LIMIT 1)
END AS methods,
wanted.scopes, named.claims, shown.scopes AS shown, target.resources, target.resource_keys,
approval.consented, client.grant_days, client.watches, governance.tenant_id,
governance.access_policy, governance.access_number


-- fragment: user_session
-- The user's session, if the statement before has let it in, which says so by
-- svc.actor_id.  It is of the client's tenant: one of another tenant is not seen here.
-- "classes" are the classes of "acr" that its methods reach.
SELECT session.user_id, coalesce(session.root_id, session.id) AS root_id,
       coalesce(session.auth_time, session.created_at) AS auth_time, session.methods,
       CASE
           WHEN session.methods && :passkey_methods::text::text[]
                THEN '{urn:svc:1,urn:svc:2,phr}'::text[]
           WHEN session.methods && :password_methods::text::text[]
                AND session.methods && :code_methods::text::text[]
                THEN '{urn:svc:1,urn:svc:2}'
           ELSE '{urn:svc:1}'
       END AS classes,
       session.created_at AS session_at
  FROM (SELECT session.id, session.user_id, session.root_id, session.auth_time,
               session.created_at, session.methods
          FROM svc.session session
         WHERE session.tenant_id = :tenant
           AND session.token_hash BETWEEN :session_digest::bytea AND :session_digest::bytea
         ORDER BY session.token_hash
         LIMIT 1) session
 WHERE session.user_id::text = current_setting('svc.actor_id', true)


-- fragment: user_consent
-- needs: session, client
-- What the user has consented to, of the client: scopes at resources; or no row.  It is
-- compared as a row, since only the primary key has it in that order.
SELECT consent.allowed
  FROM svc.oauth_consent consent
 WHERE consent.tenant_id = :tenant
   AND (consent.user_id, consent.client_id)
       BETWEEN (session.user_id, client.client_id) AND (session.user_id, client.client_id)
 ORDER BY consent.user_id, consent.client_id
 LIMIT 1


-- fragment: consent_covers
-- needs: target, shown, consent
-- Whether the user has consented to all that is shown.  A consent has "<key> <scope>" for
-- each scope at each resource, and "<key> " for the resource itself; the issuer's key is
-- empty, and nobody who names no resource means another one.
SELECT coalesce(ARRAY(SELECT key || ' ' || scope COLLATE "C"
                        FROM unnest(coalesce(nullif(target.resource_keys, '{}'), '{""}')) key,
                             unnest('{""}' || shown.scopes) scope)
                <@ consent.allowed, false) AS consented
OFFSET 0


-- fragment: verdict_request
-- needs: client, tenant, standing, allowed, wanted, target
-- The first branches of a CASE, in the order in which errors are told: what is wrong with a
-- request, whoever its user is.  A redirect URI is compared byte for byte, but for the port
-- of a native client's loopback URI.  :fault_at is before which check the request itself was
-- found at fault.
WHEN NOT (:redirect_uri = ANY (client.redirect_uris)
          OR client.type = 'native'
             AND EXISTS (SELECT
                           FROM unnest(client.redirect_uris) registered
                          WHERE starts_with(registered, :loopback_before)
                            AND regexp_replace(substr(registered, length(:loopback_before) + 1),
                                               '^:[0-9]+', '') = :loopback_behind))
     THEN 'redirect'
WHEN client.require_par AND :pushed_digest::bytea IS NULL THEN 'par'
WHEN :fault_at = 'request' THEN 'fault'
WHEN client.require_pkce AND :challenge::bytea IS NULL THEN 'challenge'
WHEN tenant.suspended_at IS NOT NULL THEN 'suspended'
WHEN standing.state IS NOT NULL THEN standing.state
WHEN 'authorization_code' <> ALL (client.grant_types) THEN 'grant_type'
WHEN :fault_at = 'target' THEN 'fault'
WHEN client.allowed_audience_keys = '{}'
      OR NOT target.resource_keys <@ client.allowed_audience_keys THEN 'audience'
WHEN :fault_at = 'scope' THEN 'fault'
WHEN client.allowed_scopes = '{}'
      OR wanted.scopes = '{}'
         AND :asked_scopes::text IS NOT NULL
         AND NOT :asked_scopes::text::text[] <@ '{address,phone}' THEN 'scopes'
WHEN NOT array_remove(wanted.scopes, 'offline_access') <@ allowed.scopes
     THEN 'scope ' || (SELECT scope
                         FROM unnest(wanted.scopes) scope
                        WHERE scope <> 'offline_access' AND scope <> ALL (allowed.scopes)
                        LIMIT 1)
WHEN octet_length(array_to_string(wanted.scopes, ' ')) > :scope_max THEN 'scope_long'


-- fragment: verdict_place
-- needs: governance
-- Of a CASE: whether the address is blocked, and whether the tenant's policy is still to
-- be judged.  One that was never changed lets everybody through; the worker judges any
-- other, and comes again with its version.
WHEN EXISTS (SELECT
               FROM svc.ip_block block
              WHERE block.tenant_id = governance.tenant_id
                AND block.ip = :ip::text::inet
                AND coalesce(block.expires_at > now(), true)) THEN 'barred'
WHEN governance.access_policy::text <> '{"rules":[],"defaultAction":"allow"}'
     AND governance.access_number::text IS DISTINCT FROM :policy_version THEN 'policy'


-- fragment: verdict_user
-- needs: session, client
-- Of a CASE: whether the user has signed in as the client wants it, and may use the client.
-- A class that a session does not reach, a new sign-in may, once: :auth_after says that
-- there was one.
WHEN :hint_user = '' THEN 'hint'
WHEN session.user_id IS NULL THEN 'login'
WHEN :sign_in_again::bool
      OR session.user_id::text <> :hint_user
      OR session.user_id::text <> :claims_user
      OR session.auth_time < now() - make_interval(secs => :max_age::text::float8)
      OR session.auth_time <= to_timestamp(:auth_after::text::float8) THEN 'again'
WHEN :asked_acr::text IS NOT NULL
     AND (:acr_needed::bool OR client.require_acr)
     AND NOT session.classes && :asked_acr::text::text[]
     THEN CASE
              WHEN :auth_after::text IS NULL AND :asked_acr::text <> '{}' THEN 'acr_again'
              ELSE 'acr'
          END
WHEN NOT (client.assignment = 'everyone'
          OR EXISTS (SELECT
                       FROM (SELECT member.group_id
                               FROM svc.group_member member
                              WHERE member.tenant_id = :tenant
                                AND member.user_id BETWEEN session.user_id AND session.user_id
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
                             LIMIT 1) assigned)) THEN 'group'


-- fragment: lives_token
-- The token that is presented.  An opaque one has the hash of its secret, a JWT its key;
-- that must be the one in the row, and equality of the time finds the one partition.
SELECT token.jti, token.issued_at, token.user_id, token.client_id, token.grant_id,
       token.parent_jti, token.root_jti, token.chain, token.principals, token.scopes,
       token.audience, token.audience_key, token.jkt, token.ttl, token.revoked_at
  FROM svc.oauth_token token
 WHERE token.tenant_id = :tenant
   AND token.jti BETWEEN :token_jti::uuid AND :token_jti::uuid
   AND token.issued_at = to_timestamp(:token_ms::text::float8 / 1000)::timestamptz(3)
   AND token.secret_hash IS NOT DISTINCT FROM :token_secret_hash::bytea
   AND token.kid IS NOT DISTINCT FROM :token_kid::text
 ORDER BY token.jti
 LIMIT 1


-- fragment: grant_client
-- The first columns of the statements that read the client of a grant type.
-- columns
--   tenant_slug           text
--   auth_method           text
--   suspended             bool         the tenant
--   state                 text         why the client may not act; or NULL
--   grant_types           text[]
--   scopes                text[]
--   access_token_format   text
--   access_token_ttl      int4
--   max_token_ttl         int4         NULL: no ceiling
--   ttl_left              int4         seconds until it expires, a day at most
--   require_dpop          bool
--   signing_kid           text
--   allowed_scopes        text[]       NULL: no ceiling
--   allowed_audiences     text[]
--   allowed_audience_keys text[]       NULL: no ceiling
--   now                   int8         as text: ms


-- fragment: granted_client
-- What is read besides of the client of a grant, after :grant_client.
-- columns
--   name                  text
--   xmin                  xid
--   ctid                  tid
--   id_token_ttl          int4         as text: seconds
--   refresh_idle_days     int4         as text
--   refresh_tokens        text
--   id_token_claims       text[]
--   security_profile      text         NULL: none


-- fragment: granted_presented
-- A code, or a refresh token, and its grant.
-- columns
--   refusal        text         a verdict
--   taken          bool         the code was unused
--   again          int4         which successor the refresh token has, or 0; NULL: it has none
--   nonce          text
--   unasked        bool         consent is missing
--   id             uuid         of the grant
--   user_id        uuid
--   scopes         text[]
--   resources      text[]
--   resource_keys  text[]
--   auth_time      int8         as text: seconds
--   methods        text[]
--   claims         text[]
--   expires_at     timestamptz
--   session_id     uuid
--   session_at     timestamptz
--   xmin           xid
--   ctid           tid
--   presented_ctid tid


-- fragment: granted_read
-- columns
--   :granted_presented
--   created_at     float8       of the grant: seconds


-- fragment: granted_wider
-- columns
--   :grant_client
--   :granted_client
--   :granted_presented
--   assigned       bool         the user may use the client
--   registered     text         the target's URI as an application has it
--   ignores        bool         scopes that the client does not have are ignored


-- fragment: lives_client
-- A client that a token lives by, or that asks about it: the first columns of the statements
-- that look at a token with a row.
-- columns
--   state                 text         why it may not act; or of a statement that does not look
--                                      at owners the tenant's orphanAction
--   client_id             text         NULL: there is none in this row
--   auth_method           text
--   tenant_slug           text
--   suspended             bool         the tenant
--   enabled               bool
--   expired               bool
--   stale                 bool         the token is older than a cut-off
--   resource_key          text
--   access_token_ttl      int4
--   max_token_ttl         int4
--   scopes                text[]
--   allowed_scopes        text[]       NULL: no ceiling
--   allowed_audience_keys text[]       NULL: no ceiling
--   lets                  bool         as text: whether the user lets the client; NULL: nobody
--                                      asks


-- fragment: lives_read
-- The token is the same in all rows.
-- columns
--   :lives_client
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
--   revoked        bool
--   user_status    text
--   user_stale     bool         the token is older than the user's cut-off
--   grant_good     bool         also without a grant
--   now            int8         ms


-- fragment: lives_jwt
-- columns
--   :lives_read
--   kid            text         NULL: there is no such key
--   public         json


-- fragment: lives_columns
-- needs: token, revoked, account, consented, client
-- What C judges a token by, and of a client that it lives by what is behind the client's
-- state.  Clients are found by ANY, which starts for less than a join with unnest(), and by
-- a column, since an index is not searched for what is not leakproof; OFFSET 0 keeps a scan
-- of its own.
client.client_id, client.auth_method, client.tenant_slug,
client.tenant_suspended_at IS NOT NULL AS suspended, client.enabled,
client.expires_at <= now() AS expired,
token.issued_at < greatest(client.tokens_valid_after, client.tenant_valid_after) AS stale,
client.resource_key, client.access_token_ttl, client.max_token_ttl, client.scopes,
client.allowed_scopes, client.allowed_audience_keys, :lives_lets AS lets,
token.jti, token.user_id, token.client_id, token.chain, token.principals, token.scopes,
token.audience, token.audience_key, token.jkt, token.ttl,
token.revoked_at IS NOT NULL OR revoked.jti IS NOT NULL AS revoked,
account.status AS user_status, token.issued_at < account.valid_after AS user_stale,
token.grant_id IS NULL
OR consented.session_at >= coalesce(account.valid_after, '-infinity') AS grant_good,
floor(date_part('epoch', now()) * 1000)::bigint AS now


-- fragment: lives_lets
-- needs: token, client
-- Whether the token's user lets the client.  Of the last principal, which has got the grant
-- itself, its consent is the grant; the token's own client needs one for the token's
-- resource.  Most tokens do not come to the call.
CASE
    WHEN token.user_id IS NOT NULL
         AND (client.assignment = 'groups'
              OR client.require_consent
                 AND client.client_id <> token.principals[cardinality(token.principals)])
         AND client.client_id = ANY (token.principals)
         THEN svc.oauth_user_lets(token.user_id, client.client_id, client.assignment = 'groups',
                                  client.require_consent
                                  AND client.client_id
                                      <> token.principals[cardinality(token.principals)],
                                  CASE client.client_id
                                      WHEN token.client_id THEN coalesce(token.audience_key, '')
                                  END,
                                  token.scopes)
END


-- fragment: granted_holds
-- Grant and client are of the versions that were read, at the places where they were; and
-- the user is active, whose sessions of that time have not been ended.  A row that has been
-- changed is somewhere else by now, and what has taken its place is of another xmin.
(SELECT consented.xmin
   FROM svc.oauth_grant consented
  WHERE consented.tenant_id = :tenant
    AND consented.ctid = :grant_ctid::tid
    AND consented.id = :grant_id::uuid) = :grant_xmin::xid
AND (SELECT client.xmin
       FROM svc.application client
      WHERE client.tenant_id = :tenant
        AND client.ctid = :client_ctid::tid
        AND client.client_id = :client_id::text) = :client_xmin::xid
AND (SELECT account.status = 'active'
            AND :session_at::text::timestamptz >= coalesce(account.valid_after, '-infinity')
       FROM svc.user_account account
      WHERE account.tenant_id = :tenant AND account.id BETWEEN :user_id::uuid AND :user_id::uuid
      ORDER BY account.id
      LIMIT 1)


-- fragment: granted_token_insert
-- needs: decided
-- The access token that is given for a code, or for what refreshes.
INSERT INTO svc.oauth_token
    (tenant_id, jti, issued_at, client_id, user_id, grant_id, root_jti, parent_jti, chain,
     principals, grant_type, scopes, audience, audience_key, secret_hash, kid, jkt, ttl, ip,
     country)
SELECT decided.tenant_id, decided.jti, to_timestamp(decided.ms::float8 / 1000)::timestamptz(3),
       decided.client_id, decided.user_id, decided.grant_id, decided.root_jti,
       decided.parent_jti, decided.chain, decided.principals, decided.grant_type,
       decided.scopes, decided.audience, decided.audience_key, :secret_hash::bytea,
       decided.kid, :jkt::bytea, decided.ttl, :ip::text::inet, :country::text
  FROM decided


-- fragment: granted_journal
-- needs: decided
-- The journal's row of that token, where somebody acts for another.
INSERT INTO svc.delegation
    (id, created_at, client_id, client_name, subject_type, subject_id, chain, grant_type, audience,
     scopes, outcome, token_jti, parent_jti, root_jti, expires_at, bound, ip, country, request_id)
SELECT decided.jti::uuid, to_timestamp(decided.ms::float8 / 1000)::timestamptz(3),
       decided.client_id, decided.client_name,
       CASE
           WHEN decided.user_id IS NOT NULL THEN 'user'
           WHEN decided.subject LIKE 'agt\_%' THEN 'agent'
           WHEN decided.subject IS NOT NULL THEN 'service'
       END,
       decided.subject, decided.chain, decided.grant_type,
       coalesce(decided.audience, :issuer::text), decided.scopes, 'granted', decided.jti,
       decided.parent_jti, coalesce(decided.root_jti, decided.jti),
       to_timestamp(decided.ms::float8 / 1000)::timestamptz(3)
       + make_interval(secs => decided.ttl),
       :jkt::bytea IS NOT NULL, :ip::text, :country::text, :request_id::text
  FROM decided
 WHERE decided.chain IS NOT NULL
