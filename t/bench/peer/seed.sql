-- Makes users 0 to :users - 1 of the tenant :tenant, the same as those of
-- ../sql/seed.sql, its token with the digest :hash, and a hundred unused ones.

INSERT INTO user_account (tenant_id, id, user_name, external_id,
                          email_verified, source, first_name, last_name,
                          display_name, title, department, locale,
                          created_at, updated_at)
SELECT :'tenant', ('018f3a5c7d7e7' || 1008000000000000000 + i)::uuid,
       'user' || i || '@bench0.test', 'ext-' || i, true, 'ldap',
       'Grace', 'Hopper ' || i, 'Grace Hopper ' || i, 'Rear Admiral',
       'Research', 'en-US', ts, ts
FROM generate_series(0, :users - 1) i,
LATERAL (SELECT timestamptz '2024-05-02' + i * interval '1 s' AS ts) c
ORDER BY i;

INSERT INTO credential (token_hash, tenant_id, id, kind, name, permissions)
SELECT CASE i WHEN 0 THEN :'hash'::bytea
              ELSE sha256(gen_random_uuid()::text::bytea) END,
       :'tenant', gen_random_uuid(), 'scim', 'token ' || i, '{scim}'
FROM generate_series(0, 100) i;

VACUUM (ANALYZE) user_account, credential;
