-- Tenants, their users and sessions, credentials and the audit log.
--
-- The modules connect as svc_app.  It owns nothing and cannot bypass row-level
-- security: each tenant table shows and takes rows of the tenant in the
-- setting svc.tenant alone, which the credential statement sets for one
-- transaction.  Without it current_setting() gives NULL or '', and there are
-- no rows.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_app') THEN
        CREATE ROLE svc_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB
                            NOCREATEROLE NOINHERIT;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA svc TO svc_app;
GRANT SELECT ON svc.schema_migration TO svc_app;


CREATE TABLE svc.tenant (
    id          uuid            NOT NULL DEFAULT gen_random_uuid(),
    slug        text COLLATE "C" NOT NULL,
    name        text            NOT NULL,
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at  timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT tenant_pkey PRIMARY KEY (id),
    CONSTRAINT tenant_slug_key UNIQUE (slug),
    CONSTRAINT tenant_slug_check CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT tenant_name_check CHECK (char_length(name) BETWEEN 1 AND 120)
);

ALTER TABLE svc.tenant ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.tenant
    USING (id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT ON svc.tenant TO svc_app;


-- Bearer tokens of all tenants.  It is what says which tenant a request is of,
-- and so the one table that can be read without a tenant; but for the digest
-- of a random token and the grants that go with it there is nothing to see.

CREATE TABLE svc.credential (
    token_hash    bytea           NOT NULL,         -- SHA-256 of the token
    tenant_id     uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    id            uuid            NOT NULL DEFAULT gen_random_uuid(),
    kind          text            NOT NULL,
    name          text            NOT NULL,
    prefix        text            NOT NULL,
    permissions   text[]          NOT NULL,
    created_at    timestamptz(3)  NOT NULL DEFAULT now(),
    expires_at    timestamptz(3),
    revoked_at    timestamptz(3),
    last_used_at  timestamptz(3),
    CONSTRAINT credential_pkey PRIMARY KEY (token_hash),
    CONSTRAINT credential_id_key UNIQUE (tenant_id, id),
    CONSTRAINT credential_hash_check CHECK (octet_length(token_hash) = 32),
    CONSTRAINT credential_kind_check CHECK (kind IN ('api', 'scim')),
    CONSTRAINT credential_name_check CHECK (char_length(name) BETWEEN 1 AND 100)
) WITH (fillfactor = 70);

ALTER TABLE svc.credential ENABLE ROW LEVEL SECURITY;
CREATE POLICY credential_lookup ON svc.credential FOR SELECT USING (true);
CREATE POLICY credential_insert ON svc.credential FOR INSERT
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
CREATE POLICY credential_update ON svc.credential FOR UPDATE
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT ON svc.credential TO svc_app;
GRANT UPDATE (last_used_at) ON svc.credential TO svc_app;


CREATE TABLE svc.user_account (
    tenant_id       uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    id              uuid            NOT NULL,
    user_name       text            NOT NULL,       -- e-mail address, as given
    user_name_key   text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(user_name)) STORED,
    external_id     text COLLATE "C",
    status          text            NOT NULL DEFAULT 'active',
    role            text            NOT NULL DEFAULT 'member',
    email_verified  boolean         NOT NULL DEFAULT false,
    source          text            NOT NULL DEFAULT 'local',
    first_name      text,
    last_name       text,
    display_name    text,
    title           text,
    department      text,
    locale          text,
    created_at      timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at      timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT user_account_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT user_account_user_name_key UNIQUE (tenant_id, user_name_key),
    CONSTRAINT user_account_external_id_key UNIQUE (tenant_id, external_id),
    CONSTRAINT user_account_status_check CHECK (status IN ('active', 'suspended', 'deactivated')),
    CONSTRAINT user_account_source_check
        CHECK (source IN ('local', 'invitation', 'scim', 'ldap', 'saml', 'social'))
) WITH (fillfactor = 90);

CREATE INDEX user_account_created_idx ON svc.user_account (tenant_id, created_at, id);

ALTER TABLE svc.user_account ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.user_account
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON svc.user_account TO svc_app;


CREATE TABLE svc.session (
    tenant_id   uuid            NOT NULL,
    id          uuid            NOT NULL DEFAULT gen_random_uuid(),
    user_id     uuid            NOT NULL,
    token_hash  bytea           NOT NULL,
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    expires_at  timestamptz(3)  NOT NULL,
    ended_at    timestamptz(3),
    CONSTRAINT session_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT session_token_hash_key UNIQUE (tenant_id, token_hash),
    CONSTRAINT session_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX session_live_idx ON svc.session (tenant_id, user_id) WHERE ended_at IS NULL;

ALTER TABLE svc.session ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.session
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON svc.session TO svc_app;


-- Append-only for svc_app.  Who did it, and from where, comes from settings
-- that the credential statement makes together with svc.tenant.  A user is
-- named by id alone, so that an erased person leaves no personal data here.

CREATE TABLE svc.audit_event (
    tenant_id    uuid            NOT NULL
                     DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    id           bigint          NOT NULL GENERATED ALWAYS AS IDENTITY,
    created_at   timestamptz(3)  NOT NULL DEFAULT now(),
    action       text            NOT NULL,
    outcome      text            NOT NULL DEFAULT 'success',
    actor_type   text            NOT NULL
                     DEFAULT coalesce(nullif(current_setting('svc.actor_type', true), ''), 'system'),
    actor_id     text            DEFAULT nullif(current_setting('svc.actor_id', true), ''),
    actor_name   text            DEFAULT nullif(current_setting('svc.actor_name', true), ''),
    target_type  text,
    target_id    text,
    target_name  text,
    ip           inet            DEFAULT nullif(current_setting('svc.ip', true), '')::inet,
    country      text,
    user_agent   text            DEFAULT nullif(current_setting('svc.user_agent', true), ''),
    request_id   text            DEFAULT nullif(current_setting('svc.request_id', true), ''),
    details      jsonb           NOT NULL DEFAULT '{}',
    CONSTRAINT audit_event_pkey PRIMARY KEY (tenant_id, created_at, id),
    CONSTRAINT audit_event_outcome_check CHECK (outcome IN ('success', 'failure')),
    CONSTRAINT audit_event_actor_type_check
        CHECK (actor_type IN ('user', 'apiToken', 'agent', 'scim', 'system', 'anonymous'))
);

ALTER TABLE svc.audit_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.audit_event
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT ON svc.audit_event TO svc_app;
