-- statement: oauth_exchange
-- Of the clients that the token is to live by, each version is where it was read; its user
-- is active, whose tokens of that time have not been ended; and neither its parent, nor its
-- root, nor its grant is revoked.  What is committed in this moment ends the token, too:
-- whoever is asked about it looks at all that.
--
-- parameters
--   issued_ms      int8   ngx_svc_oauth_exchange_as(int8, ms)
--   token_jti      uuid   ngx_svc_oauth_exchange_as(uuid, token.jti)
--   client_id      text   ngx_svc_oauth_param(client.id)
--   user_id        uuid   ngx_svc_oauth_exchange_as(uuid, user_id)
--   grant_id       uuid   ngx_svc_oauth_exchange_as(uuid, grant_id)
--   root_jti       uuid   ngx_svc_oauth_exchange_as(uuid, root_jti)
--   parent_jti     uuid   ngx_svc_oauth_exchange_as(uuid, parent_jti)
--   chain          text   ngx_svc_oauth_exchange_param(token.chain)
--   principals     text   ngx_svc_oauth_exchange_param(principals_text)
--   scope          text   ngx_svc_oauth_exchange_param(token.scope)
--   audience       text   ngx_svc_oauth_exchange_param(token.audience)
--   audience_key   text   ngx_svc_oauth_exchange_param(key)
--   secret_hash    bytea  ngx_svc_oauth_exchange_param(secret_hash)
--   kid            text   ngx_svc_oauth_exchange_param(token.kid)
--   jkt            bytea  ngx_svc_oauth_param(jkt)
--   ttl            int4   ngx_svc_oauth_exchange_as(int4, ttl_text)
--   ip             text   ngx_svc_oauth_param(ip)
--   country        text   ngx_svc_oauth_param(country)
--   client_name    text   ngx_svc_oauth_exchange_param(name)
--   subject        text   ngx_svc_oauth_exchange_param(token.subject)
--   target         text   ngx_svc_oauth_exchange_param(target)
--   request_id     text   ngx_svc_oauth_param(request_id)
--   read_clients   text   ngx_svc_oauth_exchange_param(clients)
--   read_places    text   ngx_svc_oauth_exchange_param(places)
--   read_versions  text   ngx_svc_oauth_exchange_param(versions)
WITH token AS (
    INSERT INTO svc.oauth_token
        (tenant_id, jti, issued_at, client_id, user_id, grant_id, root_jti, parent_jti, chain,
         principals, grant_type, scopes, audience, audience_key, secret_hash, kid, jkt, ttl, ip,
         country)
    SELECT :tenant_or_null, :token_jti::uuid,
           to_timestamp(:issued_ms::bigint::float8 / 1000)::timestamptz(3), :client_id::text,
           :user_id::uuid, :grant_id::uuid, :root_jti::uuid, :parent_jti::uuid,
           string_to_array(:chain::text, ' '), string_to_array(:principals::text, ' '),
           'urn:ietf:params:oauth:grant-type:token-exchange',
           string_to_array(:scope::text, ' '), :audience::text, :audience_key::text,
           :secret_hash::bytea, :kid::text, :jkt::bytea, :ttl::integer, :ip::text::inet,
           :country::text
     WHERE cardinality(ARRAY(SELECT client.xmin
                               FROM svc.application client
                              WHERE client.tenant_id = :tenant
                                AND client.ctid = ANY (:read_places::text::tid[])
                                AND client.client_id = ANY (:read_clients::text::text[])
                                AND client.xmin = ANY (:read_versions::text::xid[])))
           = cardinality(:read_clients::text::text[])
       AND (:user_id::uuid IS NULL
            OR (SELECT account.status = 'active'
                       AND to_timestamp(:issued_ms::bigint::float8 / 1000)::timestamptz(3)
                           >= coalesce(account.valid_after, '-infinity')
                  FROM svc.user_account account
                 WHERE account.tenant_id = :tenant
                   AND account.id BETWEEN :user_id::uuid AND :user_id::uuid
                 ORDER BY account.id
                 LIMIT 1))
       AND NOT EXISTS (SELECT
                         FROM svc.oauth_revoked revoked
                        WHERE revoked.tenant_id = :tenant
                          AND revoked.jti = ANY (ARRAY[:root_jti::uuid, :parent_jti::uuid]))
       AND (:grant_id::uuid IS NULL
            OR (SELECT consented.revoked_at IS NULL
                  FROM svc.oauth_grant consented
                 WHERE consented.tenant_id = :tenant
                   AND consented.id BETWEEN :grant_id::uuid AND :grant_id::uuid
                 ORDER BY consented.id
                 LIMIT 1))
    RETURNING issued_at, chain, scopes
)
INSERT INTO svc.delegation
    (id, created_at, client_id, client_name, subject_type, subject_id, chain, grant_type, audience,
     scopes, outcome, token_jti, parent_jti, root_jti, expires_at, bound, ip, country, request_id)
SELECT :token_jti::uuid, token.issued_at, :client_id::text, :client_name::text,
       CASE
           WHEN :user_id::uuid IS NOT NULL THEN 'user'
           WHEN :subject::text LIKE 'agt\_%' THEN 'agent'
           WHEN :subject::text IS NOT NULL THEN 'service'
       END,
       :subject::text, token.chain, 'urn:ietf:params:oauth:grant-type:token-exchange',
       :target::text, token.scopes, 'granted', :token_jti::uuid, :parent_jti::uuid,
       :root_jti::uuid, token.issued_at + make_interval(secs => :ttl::integer),
       :jkt::bytea IS NOT NULL, :ip::text, :country::text, :request_id::text
  FROM token;
