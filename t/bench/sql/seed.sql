-- Makes users :first to :last, counted from 0, in each of :tenants tenants in
-- turn, which are called :tenant and a number from 0.  The id of a user follows
-- from its number, so that a load generator can compute it: see lua/common.lua
-- and pgbench/get.sql.

-- foreign keys hold by construction, and the users are counted afterwards

SET session_replication_role = replica;

INSERT INTO svc.user_account (tenant_id, id, user_name, external_id,
                              email_verified, source, first_name, last_name,
                              display_name, title, department, locale,
                              created_at, updated_at)
SELECT t.id, ('018f3a5c7d7e7' || 1008000000000000000 + i)::uuid,
       'user' || i || '@' || t.slug || '.test', 'ext-' || i, true, 'ldap',
       'Grace', 'Hopper ' || i, 'Grace Hopper ' || i, 'Rear Admiral',
       'Research', 'en-US', ts, ts
FROM generate_series(:first, :last) i
JOIN svc.tenant t ON t.slug = :'tenant' || i % :tenants,
LATERAL (SELECT timestamptz '2024-05-02' + i * interval '1 s' AS ts) c
ORDER BY i;

SELECT svc.user_recount();

-- the credentials' last_used_at is recent: it is written once a minute at most,
-- and so not under load

UPDATE svc.credential SET last_used_at = now();

VACUUM (ANALYZE) svc.user_account, svc.credential, svc.tenant;
