-- Addresses from which nobody signs in.  One that has expired is none, and is
-- deleted by one of the next that are added.

CREATE TABLE svc.ip_block (
    tenant_id        uuid            NOT NULL
                         DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                         REFERENCES svc.tenant ON DELETE CASCADE,
    ip               inet            NOT NULL,
    reason           text,
    created_at       timestamptz(3)  NOT NULL DEFAULT now(),
    created_by_type  text            NOT NULL
                         DEFAULT coalesce(nullif(current_setting('svc.actor_type', true), ''), 'system'),
    created_by_id    text            DEFAULT nullif(current_setting('svc.actor_id', true), ''),
    created_by_name  text            DEFAULT nullif(current_setting('svc.actor_name', true), ''),
    expires_at       timestamptz(3),
    CONSTRAINT ip_block_pkey PRIMARY KEY (tenant_id, ip),
    CONSTRAINT ip_block_ip_check CHECK (ip = host(ip)::inet
                                        AND NOT ip <<= '::ffff:0.0.0.0/96'),
    CONSTRAINT ip_block_reason_check CHECK (char_length(reason) BETWEEN 1 AND 200)
);

CREATE INDEX ip_block_list_idx ON svc.ip_block (tenant_id, created_at, ip);
CREATE INDEX ip_block_expiry_idx ON svc.ip_block (tenant_id, expires_at)
    WHERE expires_at IS NOT NULL;

ALTER TABLE svc.ip_block ALTER COLUMN tenant_id SET STATISTICS 0;

ALTER TABLE svc.ip_block ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.ip_block
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.ip_block TO svc_app;
