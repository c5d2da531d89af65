-- Makes unused tokens, a hundred in each tenant, so that a token is looked up
-- in its index: a table of twenty rows would be scanned.

INSERT INTO svc.credential (token_hash, tenant_id, kind, name, prefix,
                            permissions)
SELECT sha256(gen_random_uuid()::text::bytea), t.id, 'scim', 'token ' || i,
       'scim_AAAA', '{scim}'
FROM svc.tenant t, generate_series(1, 100) i;
