-- Sign-in: passwords, sessions, failures, and what the risk of a sign-in is told
-- from.


-- A suspended tenant has no sign-in and no session.

ALTER TABLE svc.tenant ADD COLUMN suspended_at timestamptz(3);


-- Failures are counted from the first one of a window.  What began before
-- valid_after, as a session, is over: whoever ends a user's sessions sets it under
-- the row's lock, and so it is not told to each of them.

ALTER TABLE svc.user_account
    ADD COLUMN failed_since  timestamptz,
    ADD COLUMN valid_after   timestamptz;


-- A password is the PHC string of its hash, sealed by the modules; one that begins
-- with "$" has been imported, and is not sealed.

CREATE TABLE svc.password (
    tenant_id  uuid         NOT NULL,
    user_id    uuid         NOT NULL,
    hash       bytea        NOT NULL,
    set_at     timestamptz  NOT NULL DEFAULT now(),
    version    bigint       NOT NULL DEFAULT 1,
    CONSTRAINT password_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT password_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
);

-- Those before it, of which the newest ones are kept.

CREATE TABLE svc.password_history (
    tenant_id  uuid         NOT NULL,
    user_id    uuid         NOT NULL,
    version    bigint       NOT NULL,
    hash       bytea        NOT NULL,
    CONSTRAINT password_history_pkey PRIMARY KEY (tenant_id, user_id, version),
    CONSTRAINT password_history_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
);


-- Who may set a password without the old one: the digest of a token that was sent
-- to them, or handed out by an operator.

CREATE TABLE svc.password_reset (
    tenant_id   uuid            NOT NULL,
    token_hash  bytea           NOT NULL,               -- SHA-256 of the token
    user_id     uuid            NOT NULL,
    created_at  timestamptz     NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz(3)  NOT NULL,
    CONSTRAINT password_reset_pkey PRIMARY KEY (tenant_id, token_hash),
    CONSTRAINT password_reset_hash_check CHECK (octet_length(token_hash) = 32),
    CONSTRAINT password_reset_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX password_reset_user_idx ON svc.password_reset (tenant_id, user_id);
CREATE INDEX password_reset_expiry_idx ON svc.password_reset (expires_at);


-- A session is "full", or waits for a second factor (mfa), for the first one to be
-- enrolled (enroll) or for a new password (password).  Its id and its secret change
-- with each step up; root_id and auth_time, when it became full, stay.

DROP TRIGGER session_live ON svc.session;
DROP FUNCTION svc.session_live();

ALTER TABLE svc.session
    ALTER COLUMN created_at TYPE timestamptz,
    ALTER COLUMN created_at SET DEFAULT clock_timestamp(),
    ADD COLUMN root_id       uuid,
    ADD COLUMN stage         text         NOT NULL DEFAULT 'full',
    ADD COLUMN methods       text[]       NOT NULL DEFAULT '{}',
    ADD COLUMN auth_time     timestamptz,
    ADD COLUMN last_seen_at  timestamptz  NOT NULL DEFAULT now(),
    ADD COLUMN mfa_at        timestamptz,               -- the last second factor
    ADD COLUMN reauth_at     timestamptz,               -- the last password
    ADD COLUMN ip            inet,
    ADD COLUMN country       text,
    ADD COLUMN user_agent    text,
    ADD COLUMN risk          smallint,
    ADD COLUMN signals       text[],
    SET (fillfactor = 80);

UPDATE svc.session SET root_id = id, auth_time = created_at;

CREATE INDEX session_expiry_idx ON svc.session (expires_at);


-- Whose failures are counted without being anybody: unknown addresses are locked
-- as known ones are.  The key is a code of the address, not the address.

CREATE TABLE svc.login_phantom (
    tenant_id     uuid         NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    email_mac     bytea        NOT NULL,
    failed        integer      NOT NULL,
    failed_since  timestamptz  NOT NULL,
    locked_until  timestamptz,
    CONSTRAINT login_phantom_pkey PRIMARY KEY (tenant_id, email_mac)
) WITH (fillfactor = 80);

CREATE INDEX login_phantom_since_idx ON svc.login_phantom (failed_since);


-- What a user has signed in with and from: a browser that has the device's cookie,
-- kinds of browsers, networks and countries.

CREATE TABLE svc.user_device (
    tenant_id      uuid         NOT NULL,
    user_id        uuid         NOT NULL,
    hash           bytea        NOT NULL,               -- SHA-256 of the cookie
    last_at        timestamptz  NOT NULL,
    trusted_until  timestamptz,                         -- after a second factor
    CONSTRAINT user_device_pkey PRIMARY KEY (tenant_id, user_id, hash),
    CONSTRAINT user_device_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE TABLE svc.user_seen (
    tenant_id  uuid             NOT NULL,
    user_id    uuid             NOT NULL,
    kind       text COLLATE "C" NOT NULL,               -- agent, network, country
    value      text COLLATE "C" NOT NULL,
    last_at    timestamptz      NOT NULL,
    CONSTRAINT user_seen_pkey PRIMARY KEY (tenant_id, user_id, kind, value),
    CONSTRAINT user_seen_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);


-- Failures too, by the code of the address.

ALTER TABLE svc.sign_in
    ADD COLUMN email_mac  bytea,
    ADD COLUMN latitude   real,                         -- rounded to a tenth
    ADD COLUMN longitude  real;

-- Instead of one by tenant and user: what a user's end deletes is found by it, too.

CREATE INDEX sign_in_user_at_idx ON svc.sign_in (tenant_id, user_id, outcome, at DESC);
DROP INDEX svc.sign_in_user_idx;

-- From where a tenant was last signed in to is written along with a sign-in, and not
-- by a trigger, which would run for failures too.

DROP TRIGGER sign_in_added ON svc.sign_in;
DROP FUNCTION svc.sign_in_added();
GRANT INSERT, UPDATE (last_at) ON svc.sign_in_address TO svc_app;

-- By which they go.

CREATE INDEX sign_in_at_idx ON svc.sign_in (at);

CREATE INDEX sign_in_failure_ip_idx ON svc.sign_in (tenant_id, ip, at)
    INCLUDE (email_mac) WHERE outcome = 'failure';
CREATE INDEX sign_in_failure_email_idx ON svc.sign_in (tenant_id, email_mac, at)
    WHERE outcome = 'failure';


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['password', 'password_history', 'password_reset',
                             'login_phantom', 'user_device', 'user_seen']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON svc.%I TO svc_app', t);
    END LOOP;
END
$$;


-- The tenant of somebody who has not signed in yet: of a verified domain, else of
-- a slug, else the only one there is.  Anybody may ask: it tells what a page with
-- the tenant's name and colours tells too.

CREATE FUNCTION svc.sign_in_tenant(host text, named text)
    RETURNS TABLE (id uuid, slug text, name text, suspended boolean, by_domain boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant     uuid;
    by_domain  boolean;
BEGIN
    SELECT d.tenant_id INTO tenant FROM svc.domain d
     WHERE d.domain = host AND d.verified_at IS NOT NULL;

    by_domain := FOUND;

    IF NOT by_domain THEN
        IF named IS NOT NULL THEN
            SELECT t.id INTO tenant FROM svc.tenant t WHERE t.slug = named;

        ELSE
            SELECT t.id INTO tenant FROM svc.tenant t ORDER BY t.id LIMIT 1;

            IF EXISTS (SELECT FROM svc.tenant t WHERE t.id > tenant) THEN
                tenant := NULL;
            END IF;
        END IF;
    END IF;

    RETURN QUERY SELECT t.id, t.slug, t.name, t.suspended_at IS NOT NULL, by_domain
                   FROM svc.tenant t WHERE t.id = tenant;
END
$$;

-- Deletes what is over: sessions an hour after they have ended or expired, tokens
-- to reset a password, failures of nobody whose window, of so many seconds, and
-- whose lock are over, and sign-ins after ninety days.  Returns how many there were.

CREATE FUNCTION svc.sign_in_expire(most integer, login_window integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    n     integer;
    done  bigint := 0;
BEGIN
    DELETE FROM svc.session WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM svc.session s
         WHERE s.expires_at < now() - interval '1 hour'
         ORDER BY s.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.password_reset WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM svc.password_reset r
         WHERE r.expires_at < now() - interval '1 hour'
         ORDER BY r.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.login_phantom WHERE ctid = ANY (ARRAY(
        SELECT f.ctid FROM svc.login_phantom f
         WHERE f.failed_since < now() - make_interval(secs => login_window)
           AND coalesce(f.locked_until < now(), true)
         ORDER BY f.failed_since LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.sign_in WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM svc.sign_in s
         WHERE s.at < now() - interval '90 days'
         ORDER BY s.at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;

    RETURN done + n;
END
$$;

REVOKE ALL ON FUNCTION svc.sign_in_tenant, svc.sign_in_expire FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.sign_in_tenant, svc.sign_in_expire TO svc_app;


-- As before, but for sessions, which valid_after ends: it is mended of who does not
-- set it along with the status.

CREATE OR REPLACE FUNCTION svc.user_status() RETURNS trigger
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    tenant  uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
    place   smallint := pg_backend_pid() % 32 * 8;
    a       integer := 0;
    s       integer := 0;
    d       integer := 0;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.status = OLD.status AND NEW.source = OLD.source
           AND NEW.created_at = OLD.created_at AND NEW.id = OLD.id
           AND NEW.tenant_id = OLD.tenant_id
        THEN
            RETURN NULL;
        END IF;

        IF NEW.tenant_id <> OLD.tenant_id THEN
            RAISE EXCEPTION 'a user stays in its tenant'
                USING ERRCODE = 'integrity_constraint_violation', SCHEMA = 'svc',
                      TABLE = 'user_account';
        END IF;

        IF NEW.status <> 'active' AND NEW.valid_after IS NOT DISTINCT FROM OLD.valid_after
        THEN
            UPDATE svc.user_account u SET valid_after = clock_timestamp()
             WHERE u.tenant_id = tenant AND u.id = NEW.id;
        END IF;
    END IF;

    IF TG_OP <> 'INSERT' THEN
        a := - (OLD.status = 'active')::integer;
        s := - (OLD.status = 'suspended')::integer;
        d := - (OLD.status = 'deactivated')::integer;

        IF a = 0 THEN
            DELETE FROM svc.user_inactive i
             WHERE i.tenant_id = tenant AND i.status = OLD.status
               AND i.created_at = OLD.created_at AND i.id = OLD.id;
        END IF;
    END IF;

    IF TG_OP <> 'DELETE' THEN
        place := place + (get_byte(uuid_send(NEW.id), 15) & 7);

        CASE NEW.status
            WHEN 'active' THEN a := a + 1;
            WHEN 'suspended' THEN s := s + 1;
            WHEN 'deactivated' THEN d := d + 1;
            ELSE
                RAISE EXCEPTION 'there is no status "%"', NEW.status
                    USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                          CONSTRAINT = 'user_account_status_check';
        END CASE;

        IF NEW.source NOT IN ('local', 'invitation', 'scim', 'ldap', 'saml', 'social') THEN
            RAISE EXCEPTION 'there is no source "%"', NEW.source
                USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                      CONSTRAINT = 'user_account_source_check';
        END IF;

        IF NEW.status <> 'active' THEN
            INSERT INTO svc.user_inactive VALUES (tenant, NEW.status, NEW.created_at, NEW.id);
        END IF;
    END IF;

    UPDATE svc.user_count c
       SET active = c.active + a, suspended = c.suspended + s,
           deactivated = c.deactivated + d
     WHERE c.tenant_id = tenant AND c.shard = place;

    -- a tenant that is being deleted takes its counts along

    IF NOT FOUND AND EXISTS (SELECT FROM svc.tenant t WHERE t.id = tenant) THEN
        INSERT INTO svc.user_count AS c VALUES (tenant, place, a, s, d)
        ON CONFLICT (tenant_id, shard) DO UPDATE
           SET active = c.active + a, suspended = c.suspended + s,
               deactivated = c.deactivated + d;
    END IF;

    RETURN NULL;
END
$$;
