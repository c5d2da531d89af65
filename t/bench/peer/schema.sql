-- What the peer stores: the columns of svc.credential, svc.user_account and
-- svc.audit_event that a client or an auditor sees, without row-level security,
-- triggers, or the indexes of the admin API.

CREATE TABLE credential (
    token_hash    bytea           NOT NULL PRIMARY KEY,
    tenant_id     uuid            NOT NULL,
    id            uuid            NOT NULL,
    kind          text            NOT NULL,
    name          text            NOT NULL,
    permissions   text[]          NOT NULL,
    expires_at    timestamptz(3),
    revoked_at    timestamptz(3)
);

CREATE TABLE user_account (
    tenant_id       uuid            NOT NULL,
    id              uuid            NOT NULL,
    user_name       text            NOT NULL,
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
    locked_until    timestamptz(3),
    failed_logins   integer         NOT NULL DEFAULT 0,
    mfa_enrolled    boolean         NOT NULL DEFAULT false,
    last_login_at   timestamptz(3),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, user_name_key),
    UNIQUE (tenant_id, external_id)
) WITH (fillfactor = 90);

CREATE TABLE audit_event (
    tenant_id    uuid            NOT NULL,
    id           bigint          NOT NULL GENERATED ALWAYS AS IDENTITY,
    created_at   timestamptz(3)  NOT NULL DEFAULT now(),
    action       text            NOT NULL,
    outcome      text            NOT NULL DEFAULT 'success',
    actor_type   text            NOT NULL,
    actor_id     text,
    actor_name   text,
    target_type  text,
    target_id    text,
    target_name  text,
    ip           inet,
    country      text,
    user_agent   text,
    request_id   text,
    details      jsonb           NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, created_at, id)
);

CREATE ROLE peer LOGIN;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO peer;
