-- What was answered to a request with an Idempotency-Key.  Kept for a day; each
-- new key of a tenant takes some old ones away.

CREATE TABLE svc.idempotency (
    tenant_id      uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    credential_id  uuid            NOT NULL,
    path           text            NOT NULL,
    key            text COLLATE "C" NOT NULL,
    body_hash      bytea           NOT NULL,        -- SHA-256
    created_at     timestamptz(3)  NOT NULL DEFAULT now(),
    status         integer,                         -- NULL: not yet known
    reply          text,                            -- without secrets
    CONSTRAINT idempotency_pkey PRIMARY KEY (tenant_id, credential_id, path, key)
);

CREATE INDEX idempotency_created_idx ON svc.idempotency (tenant_id, created_at);

ALTER TABLE svc.idempotency ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.idempotency
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON svc.idempotency TO svc_app;
