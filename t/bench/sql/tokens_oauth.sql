-- Makes :tokens more opaque tokens of a :client, of the last days, each with
-- its time in its id.

SET synchronous_commit = off;

INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals, grant_type,
    scopes, secret_hash, ttl)
SELECT a.tenant_id,
       (lpad(to_hex(c.ms), 12, '0') || '7' || lpad(to_hex(i & 4095), 3, '0') || 'a'
        || right(md5(i::text), 15))::uuid,
       to_timestamp(c.ms / 1000.0), a.client_id, ARRAY[a.client_id], 'client_credentials',
       '{invoices:read}', sha256(int8send(i)), 86400
FROM svc.application a, generate_series(1, :tokens) i,
LATERAL (SELECT floor(extract(epoch FROM now() - random() * interval '2 days') * 1000)::bigint
                AS ms) c
WHERE a.client_id = :'client';

VACUUM (ANALYZE) svc.oauth_token;
