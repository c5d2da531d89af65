-- Governance: access policy, risk, passwords, roles; and the sign-ins that a
-- policy is tried on.
--
-- A tenant has one row of svc.governance.  Whoever changes any of its governance
-- locks that row first, whatever table is to be changed, and moves the revision:
-- so changes of a tenant stand in line, and what was read at a revision is as it
-- was while the revision is the same.


CREATE TABLE svc.governance (
    tenant_id           uuid      NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    revision            bigint    NOT NULL DEFAULT 1,

    -- in the form that the modules write; the latest version holds it too
    access_policy       json      NOT NULL DEFAULT '{"rules":[],"defaultAction":"allow"}',
    access_number       bigint    NOT NULL DEFAULT 0,     -- of the latest version
    access_version_id   uuid,                             -- NULL: none yet
    access_updated_at   timestamptz(3),

    risk_enabled        boolean   NOT NULL DEFAULT false,
    risk_mfa_threshold  integer   NOT NULL DEFAULT 40,
    risk_deny_threshold integer   NOT NULL DEFAULT 80,
    risk_version        bigint    NOT NULL DEFAULT 1,

    min_length          integer   NOT NULL DEFAULT 12,
    reject_breached     boolean   NOT NULL DEFAULT true,
    reject_contextual   boolean   NOT NULL DEFAULT true,
    require_lower       boolean   NOT NULL DEFAULT false,
    require_upper       boolean   NOT NULL DEFAULT false,
    require_digit       boolean   NOT NULL DEFAULT false,
    require_symbol      boolean   NOT NULL DEFAULT false,
    history_count       integer   NOT NULL DEFAULT 5,
    max_age_days        integer   NOT NULL DEFAULT 0,
    password_version    bigint    NOT NULL DEFAULT 1,

    CONSTRAINT governance_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT governance_risk_check CHECK (
        risk_mfa_threshold BETWEEN 0 AND 100 AND risk_deny_threshold BETWEEN 1 AND 100
        AND risk_mfa_threshold < risk_deny_threshold),
    CONSTRAINT governance_password_check CHECK (
        min_length BETWEEN 8 AND 128 AND history_count BETWEEN 0 AND 24
        AND max_age_days BETWEEN 0 AND 3650)
) WITH (fillfactor = 70);

ALTER TABLE svc.governance ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.governance
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, UPDATE ON svc.governance TO svc_app;

INSERT INTO svc.governance (tenant_id) SELECT id FROM svc.tenant;

CREATE FUNCTION svc.governance_create() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO svc.governance (tenant_id) VALUES (NEW.id);
    RETURN NULL;
END
$$;

CREATE TRIGGER governance_create AFTER INSERT ON svc.tenant
    FOR EACH ROW EXECUTE FUNCTION svc.governance_create();


CREATE TABLE svc.access_policy_version (
    tenant_id        uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    id               uuid            NOT NULL DEFAULT gen_random_uuid(),
    number           bigint          NOT NULL,
    source           text            NOT NULL,
    restored_from    uuid,
    snapshot         json            NOT NULL,
    created_at       timestamptz(3)  NOT NULL DEFAULT now(),
    created_by_type  text
                         DEFAULT coalesce(nullif(current_setting('svc.actor_type', true), ''), 'system'),
    created_by_id    text            DEFAULT nullif(current_setting('svc.actor_id', true), ''),
    created_by_name  text            DEFAULT nullif(current_setting('svc.actor_name', true), ''),
    CONSTRAINT access_policy_version_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT access_policy_version_number_key UNIQUE (tenant_id, number),
    CONSTRAINT access_policy_version_source_check
        CHECK (source IN ('api', 'config', 'restore'))
);

ALTER TABLE svc.access_policy_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.access_policy_version
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.access_policy_version TO svc_app;


-- A field that is NULL is inherited.

CREATE TABLE svc.group_password_policy (
    tenant_id          uuid            NOT NULL,
    group_id           uuid            NOT NULL,
    min_length         integer,
    reject_breached    boolean,
    reject_contextual  boolean,
    require_lower      boolean,
    require_upper      boolean,
    require_digit      boolean,
    require_symbol     boolean,
    history_count      integer,
    max_age_days       integer,
    created_at         timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at         timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT group_password_policy_pkey PRIMARY KEY (tenant_id, group_id),
    CONSTRAINT group_password_policy_group_fkey FOREIGN KEY (tenant_id, group_id)
        REFERENCES svc.user_group (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT group_password_policy_any_check CHECK (
        num_nonnulls(min_length, reject_breached, reject_contextual, require_lower,
                     require_upper, require_digit, require_symbol, history_count,
                     max_age_days) > 0),
    CONSTRAINT group_password_policy_range_check CHECK (
        min_length BETWEEN 8 AND 128 AND history_count BETWEEN 0 AND 24
        AND max_age_days BETWEEN 0 AND 3650)
);

CREATE INDEX group_password_policy_created_idx
    ON svc.group_password_policy (tenant_id, created_at DESC, group_id DESC);

ALTER TABLE svc.group_password_policy ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.group_password_policy
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON svc.group_password_policy TO svc_app;


-- The roles that a tenant has made; owner, admin and member are everybody's.

CREATE TABLE svc.role (
    tenant_id     uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    key           text COLLATE "C" NOT NULL,
    name          text            NOT NULL,
    permissions   text[]          NOT NULL,                -- sorted
    member_count  integer         NOT NULL DEFAULT 0,
    created_at    timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at    timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT role_pkey PRIMARY KEY (tenant_id, key),
    CONSTRAINT role_key_check CHECK (key ~ '^[a-z][a-z0-9_-]{1,62}$'
                                     AND key NOT IN ('owner', 'admin', 'member')),
    CONSTRAINT role_name_check CHECK (char_length(name) BETWEEN 1 AND 100
                                      AND name !~ '[[:cntrl:]]')
) WITH (fillfactor = 80);

ALTER TABLE svc.role ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.role
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.role TO svc_app;
GRANT UPDATE (name, permissions, updated_at) ON svc.role TO svc_app;

-- Roles that users have already, whatever gave them, keep their names.  Who
-- loads users without triggers counts them, and their roles, by this function.

CREATE OR REPLACE FUNCTION svc.user_recount() RETURNS void
LANGUAGE sql AS $$
    LOCK TABLE svc.user_account IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM svc.user_count;
    INSERT INTO svc.user_count
    SELECT tenant_id, 0, count(*) FILTER (WHERE status = 'active'),
           count(*) FILTER (WHERE status = 'suspended'),
           count(*) FILTER (WHERE status = 'deactivated')
      FROM svc.user_account GROUP BY tenant_id;
    UPDATE svc.role SET member_count = 0 WHERE member_count <> 0;
    INSERT INTO svc.role (tenant_id, key, name, permissions, member_count)
    SELECT tenant_id, role, role, '{}', count(*) FROM svc.user_account
     WHERE role NOT IN ('owner', 'admin', 'member')
       AND role ~ '^[a-z][a-z0-9_-]{1,62}$'
     GROUP BY tenant_id, role
        ON CONFLICT (tenant_id, key) DO UPDATE SET member_count = EXCLUDED.member_count;
$$;

SELECT svc.user_recount();

CREATE INDEX user_account_admin_idx
    ON svc.user_account (tenant_id, id) WHERE role = 'admin';


-- A role that users have is not deleted: its row counts them, and to give it to
-- one more changes the row.  For "member", that nearly all have, nothing is done.
-- Of two roles the rows are locked in one order, whichever comes for the other.

CREATE FUNCTION svc.role_count_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM FROM svc.role r
          WHERE r.tenant_id = NEW.tenant_id AND r.key IN (OLD.role, NEW.role)
          ORDER BY r.key FOR NO KEY UPDATE;
    END IF;

    IF TG_OP <> 'INSERT' THEN
        UPDATE svc.role r SET member_count = r.member_count - 1
         WHERE r.tenant_id = OLD.tenant_id AND r.key = OLD.role;
    END IF;

    IF TG_OP <> 'DELETE' AND NEW.role NOT IN ('owner', 'admin', 'member') THEN
        UPDATE svc.role r SET member_count = r.member_count + 1
         WHERE r.tenant_id = NEW.tenant_id AND r.key = NEW.role;

        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no role "%"', NEW.role
                USING ERRCODE = 'foreign_key_violation', SCHEMA = 'svc',
                      TABLE = 'user_account', CONSTRAINT = 'user_account_role_fkey';
        END IF;
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER role_count_insert AFTER INSERT ON svc.user_account
    FOR EACH ROW WHEN (NEW.role NOT IN ('owner', 'admin', 'member'))
    EXECUTE FUNCTION svc.role_count_change();
CREATE TRIGGER role_count_update AFTER UPDATE OF role ON svc.user_account
    FOR EACH ROW WHEN (OLD.role <> NEW.role)
    EXECUTE FUNCTION svc.role_count_change();
CREATE TRIGGER role_count_delete AFTER DELETE ON svc.user_account
    FOR EACH ROW WHEN (OLD.role NOT IN ('owner', 'admin', 'member'))
    EXECUTE FUNCTION svc.role_count_change();


-- Sign-ins, and when a tenant was last signed in to from an address: the newest
-- thousand addresses are found without a look at all sign-ins.

CREATE TABLE svc.sign_in (
    tenant_id  uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    at         timestamptz(3)  NOT NULL,
    id         bigint          NOT NULL GENERATED ALWAYS AS IDENTITY,
    user_id    uuid,                                       -- NULL: not in the directory
    ip         inet            NOT NULL,
    country    text,                                       -- NULL: unknown
    outcome    text            NOT NULL DEFAULT 'success',
    CONSTRAINT sign_in_pkey PRIMARY KEY (tenant_id, at, id),
    CONSTRAINT sign_in_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT sign_in_ip_check CHECK (masklen(ip) = CASE family(ip) WHEN 4 THEN 32 ELSE 128 END),
    CONSTRAINT sign_in_country_check CHECK (country ~ '^[A-Z]{2}$'),
    CONSTRAINT sign_in_outcome_check CHECK (outcome IN ('success', 'failure'))
);

CREATE INDEX sign_in_ip_idx ON svc.sign_in (tenant_id, ip, at) INCLUDE (user_id, country)
    WHERE outcome = 'success';
CREATE INDEX sign_in_user_idx ON svc.sign_in (tenant_id, user_id);

ALTER TABLE svc.sign_in ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.sign_in
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT ON svc.sign_in TO svc_app;


CREATE TABLE svc.sign_in_address (
    tenant_id  uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    ip         inet            NOT NULL,
    last_at    timestamptz(3)  NOT NULL,                   -- the latest success
    CONSTRAINT sign_in_address_pkey PRIMARY KEY (tenant_id, ip)
) WITH (fillfactor = 70);

CREATE INDEX sign_in_address_last_idx ON svc.sign_in_address (tenant_id, last_at DESC, ip);

ALTER TABLE svc.sign_in_address ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.sign_in_address
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT ON svc.sign_in_address TO svc_app;


CREATE FUNCTION svc.sign_in_added() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO svc.sign_in_address AS a (tenant_id, ip, last_at)
    SELECT tenant_id, ip, max(at) FROM added WHERE outcome = 'success'
     GROUP BY tenant_id, ip ORDER BY tenant_id, ip
    ON CONFLICT (tenant_id, ip) DO UPDATE SET last_at = EXCLUDED.last_at
     WHERE a.last_at < EXCLUDED.last_at;

    RETURN NULL;
END
$$;

CREATE TRIGGER sign_in_added AFTER INSERT ON svc.sign_in
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION svc.sign_in_added();


-- Those that went take their addresses along, or set them back.

CREATE FUNCTION svc.sign_in_removed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM svc.sign_in_address a
      WHERE (a.tenant_id, a.ip) IN (SELECT g.tenant_id, g.ip FROM gone g)
      ORDER BY a.tenant_id, a.ip FOR UPDATE;

    DELETE FROM svc.sign_in_address a
     USING (SELECT DISTINCT tenant_id, ip FROM gone) g
     WHERE a.tenant_id = g.tenant_id AND a.ip = g.ip
       AND NOT EXISTS (SELECT FROM svc.sign_in s
                        WHERE s.tenant_id = g.tenant_id AND s.ip = g.ip
                          AND s.outcome = 'success');

    UPDATE svc.sign_in_address a SET last_at = l.at
      FROM (SELECT g.tenant_id, g.ip,
                   (SELECT max(s.at) FROM svc.sign_in s
                     WHERE s.tenant_id = g.tenant_id AND s.ip = g.ip
                       AND s.outcome = 'success') AS at
              FROM (SELECT DISTINCT tenant_id, ip FROM gone) g) l
     WHERE a.tenant_id = l.tenant_id AND a.ip = l.ip AND a.last_at <> l.at;

    RETURN NULL;
END
$$;

CREATE TRIGGER sign_in_removed AFTER DELETE ON svc.sign_in
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION svc.sign_in_removed();
