-- statement: oauth_kept_row (shared)
-- One of them is stored at once, for statements of the same transaction that look for it.
-- It must be of the client's tenant: that of an opaque token is in it, that of a JWT has its
-- key.
--
-- parameters
--   client_id     text
--   token_jti     uuid
--   issued_ms     text
--   scope         text
--   audience      text
--   audience_key  text
--   secret_hash   bytea
--   kid           text
--   jkt           bytea
--   ttl           int4
--   token_tenant  uuid
--   ip            text
--   country       text
INSERT INTO svc.oauth_token
    (tenant_id, jti, issued_at, client_id, principals, grant_type, scopes, audience, audience_key,
     secret_hash, kid, jkt, ttl, ip, country)
SELECT :tenant_or_null, :token_jti::uuid,
       to_timestamp(:issued_ms::text::float8 / 1000)::timestamptz(3), client.client_id,
       ARRAY[client.client_id], 'client_credentials', string_to_array(:scope::text, ' '),
       :audience::text, :audience_key::text, :secret_hash::bytea, :kid::text, :jkt::bytea,
       :ttl::int4, :ip::text::inet, :country::text
  FROM (SELECT client.client_id
          FROM svc.application client
         WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
         ORDER BY client.client_id
         LIMIT 1) client
 WHERE CASE
           WHEN :kid::text IS NULL THEN coalesce(:token_tenant::uuid = :tenant, true)
           ELSE EXISTS (SELECT
                          FROM svc.oauth_key signing_key
                         WHERE signing_key.tenant_id = :tenant AND signing_key.kid = :kid::text)
       END
ON CONFLICT DO NOTHING;
