-- Makes :tenants more tenants, each with a client whose id and secret follow
-- from the tenant's slug, which contains its number from 0.

INSERT INTO svc.tenant (slug, name)
SELECT 'oauth' || i, 'OAuth ' || i FROM generate_series(0, :tenants - 1) i;

INSERT INTO svc.application (tenant_id, client_id, name, type, enabled, assignment,
    redirect_uris, scopes, grant_types, auth_method, access_token_format, access_token_ttl,
    require_consent, require_dpop, secret_rotated_at)
SELECT id, 'app_' || md5(slug), 'OAuth', 'm2m', true, 'everyone', '{}', '{invoices:read}',
       '{client_credentials}', 'client_secret_basic', 'jwt', 3600, false, false, now()
FROM svc.tenant WHERE slug ~ '^oauth\d';

INSERT INTO svc.oauth_login (tenant_id, client_id, kind, digest)
SELECT tenant_id, client_id, k.kind,
       sha256(k.byte || convert_to(client_id, 'UTF8') || '\x00' || convert_to(k.secret, 'UTF8'))
FROM svc.application,
LATERAL (VALUES ('id', '\x01'::bytea, ''),
                ('secret', '\x02'::bytea, 'secret-' || client_id)) k (kind, byte, secret)
WHERE name = 'OAuth';

VACUUM (ANALYZE) svc.tenant, svc.application, svc.oauth_login, svc.oauth_tenant;
