-- What sign-ins come to: numbers of each day, who is active, what the risk of the
-- next one is told from, and incidents.
--
-- A sign-in leaves an event beside its own rows, in its transaction; a sweep takes
-- events away and makes the rest of them, in one transaction, too.  So each counts
-- once, whenever it is committed, and whoever dies meanwhile; and it does not
-- matter for how long sign-ins themselves are kept.


-- What has happened and is not counted yet.  It has no foreign keys, which would
-- cost each sign-in a lock: the sweep looks whether tenant and user are there.

CREATE TABLE svc.sign_in_event (
    tenant_id        uuid            NOT NULL,
    id               bigint          NOT NULL GENERATED ALWAYS AS IDENTITY,
    at               timestamptz(3)  NOT NULL,
    kind             text            NOT NULL,  -- success, failure, denied, rate_limited
    reason           text,
    user_id          uuid,                      -- NULL: nobody known
    ip               inet,                      -- NULL: of a unix socket
    network          text,
    country          text,
    signals          text[],
    locked           boolean         NOT NULL DEFAULT false,  -- an account, by this
    active           boolean         NOT NULL DEFAULT false,  -- the user's first today
    last_active_day  date,                      -- the user's one before it
    CONSTRAINT sign_in_event_pkey PRIMARY KEY (tenant_id, id)
);

CREATE INDEX sign_in_event_order_idx ON svc.sign_in_event (id);


-- The numbers of a day of UTC: the sum over its rows.  What the sweep counts is in
-- one of its own, and new users come as svc.user_count goes on to another day.

CREATE TABLE svc.stat_day (
    tenant_id     uuid      NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    day           date      NOT NULL,
    shard         smallint  NOT NULL,                   -- -1: the sweep's
    success       bigint    NOT NULL DEFAULT 0,
    failure       bigint    NOT NULL DEFAULT 0,
    denied        bigint    NOT NULL DEFAULT 0,
    lockouts      bigint    NOT NULL DEFAULT 0,
    rate_limited  bigint    NOT NULL DEFAULT 0,
    active_users  bigint    NOT NULL DEFAULT 0,
    new_users     bigint    NOT NULL DEFAULT 0,
    CONSTRAINT stat_day_pkey PRIMARY KEY (tenant_id, day, shard)
) WITH (fillfactor = 50);


-- How many users have signed in on a day, and not since: their sum over the last
-- days is who was active in them, and nobody is looked at for it.

CREATE TABLE svc.active_day (
    tenant_id  uuid    NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    day        date    NOT NULL,
    users      bigint  NOT NULL,
    CONSTRAINT active_day_pkey PRIMARY KEY (tenant_id, day)
) WITH (fillfactor = 50);

ALTER TABLE svc.user_account ADD COLUMN last_active_day date;


-- What somebody should look at.  Of a type and what it is about one is open.

CREATE TABLE svc.incident (
    tenant_id             uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    id                    uuid            NOT NULL,
    type                  text            NOT NULL,
    subject               text            NOT NULL,     -- an address, a user, or nothing
    severity              text            NOT NULL,
    title                 text            NOT NULL,
    details               jsonb           NOT NULL,
    count                 bigint          NOT NULL,
    created_at            timestamptz(3)  NOT NULL DEFAULT now(),
    last_seen_at          timestamptz(3)  NOT NULL,
    acknowledged_at       timestamptz(3),
    acknowledged_by_type  text,
    acknowledged_by_id    text,
    acknowledged_by_name  text,
    CONSTRAINT incident_pkey PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX incident_open_idx ON svc.incident (tenant_id, type, subject)
    WHERE acknowledged_at IS NULL;
CREATE INDEX incident_open_list_idx ON svc.incident (tenant_id, created_at, id)
    WHERE acknowledged_at IS NULL;
CREATE INDEX incident_list_idx ON svc.incident (tenant_id, created_at, id);


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['sign_in_event', 'stat_day', 'active_day', 'incident'] LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
    END LOOP;
END
$$;

GRANT INSERT ON svc.sign_in_event TO svc_app;
GRANT SELECT, INSERT, UPDATE (new_users) ON svc.stat_day TO svc_app;
GRANT SELECT ON svc.active_day, svc.incident TO svc_app;
GRANT UPDATE (acknowledged_at, acknowledged_by_type, acknowledged_by_id, acknowledged_by_name)
    ON svc.incident TO svc_app;


-- Which failures have locked an account.

ALTER TABLE svc.sign_in ADD COLUMN locked boolean;
CREATE INDEX sign_in_locked_idx ON svc.sign_in (tenant_id, at) WHERE locked;


-- Users are counted where their states are, in a row that is changed anyway: how
-- many have a second factor, and how many were new on the day that the row is of.

ALTER TABLE svc.user_count
    ADD COLUMN mfa    bigint  NOT NULL DEFAULT 0,
    ADD COLUMN day    date,
    ADD COLUMN added  bigint  NOT NULL DEFAULT 0;

GRANT UPDATE (mfa, day, added) ON svc.user_count TO svc_app;

-- A new user has been counted for the day that its row is of, which is another
-- one: of a later day what was counted before leaves the row.

CREATE FUNCTION svc.user_added(tenant uuid, place smallint, today date) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    last    date;
    before  bigint;
BEGIN
    SELECT c.day, c.added - 1 INTO last, before
      FROM svc.user_count c WHERE c.tenant_id = tenant AND c.shard = place;

    IF last IS NULL OR last < today THEN
        UPDATE svc.user_count c SET day = today, added = 1
         WHERE c.tenant_id = tenant AND c.shard = place;

    ELSE
        UPDATE svc.user_count c SET added = before
         WHERE c.tenant_id = tenant AND c.shard = place;
        last := today;
        before := 1;
    END IF;

    IF last IS NOT NULL AND before > 0 THEN
        INSERT INTO svc.stat_day AS s (tenant_id, day, shard, new_users)
        VALUES (tenant, last, place / 8, before)
        ON CONFLICT (tenant_id, day, shard) DO UPDATE
           SET new_users = s.new_users + excluded.new_users;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION svc.user_added FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.user_added TO svc_app;

CREATE OR REPLACE FUNCTION svc.user_status() RETURNS trigger
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    tenant  uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
    place   smallint := pg_backend_pid() % 32 * 8;
    a       integer := 0;
    s       integer := 0;
    d       integer := 0;
    m       integer := 0;
    n       integer := (TG_OP = 'INSERT')::integer;
    today   date;
    last    date;
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
        m := - OLD.mfa_enrolled::integer;

        IF a = 0 THEN
            DELETE FROM svc.user_inactive i
             WHERE i.tenant_id = tenant AND i.status = OLD.status
               AND i.created_at = OLD.created_at AND i.id = OLD.id;
        END IF;
    END IF;

    IF TG_OP <> 'DELETE' THEN
        place := place + (get_byte(uuid_send(NEW.id), 15) & 7);
        today := (NEW.created_at AT TIME ZONE 'UTC')::date;
        m := m + NEW.mfa_enrolled::integer;

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
           deactivated = c.deactivated + d, mfa = c.mfa + m, added = c.added + n
     WHERE c.tenant_id = tenant AND c.shard = place
    RETURNING c.day INTO last;

    -- a tenant that is being deleted takes its counts along

    IF NOT FOUND THEN
        IF TG_OP <> 'INSERT' THEN
            IF NOT EXISTS (SELECT FROM svc.tenant t WHERE t.id = tenant) THEN
                RETURN NULL;
            END IF;
        END IF;

        INSERT INTO svc.user_count AS c VALUES (tenant, place, a, s, d, m, NULL, n)
        ON CONFLICT (tenant_id, shard) DO UPDATE
           SET active = c.active + a, suspended = c.suspended + s,
               deactivated = c.deactivated + d, mfa = c.mfa + m, added = c.added + n
        RETURNING c.day INTO last;
    END IF;

    IF n > 0 AND last IS DISTINCT FROM today THEN
        PERFORM svc.user_added(tenant, place, today);
    END IF;

    RETURN NULL;
END
$$;

CREATE FUNCTION svc.user_mfa() RETURNS trigger
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    place  smallint := pg_backend_pid() % 32 * 8 + (get_byte(uuid_send(NEW.id), 15) & 7);
    m      integer := NEW.mfa_enrolled::integer - OLD.mfa_enrolled::integer;
BEGIN
    UPDATE svc.user_count c SET mfa = c.mfa + m
     WHERE c.tenant_id = NEW.tenant_id AND c.shard = place;

    IF NOT FOUND THEN
        INSERT INTO svc.user_count AS c (tenant_id, shard, active, suspended, deactivated, mfa)
        VALUES (NEW.tenant_id, place, 0, 0, 0, m)
        ON CONFLICT (tenant_id, shard) DO UPDATE SET mfa = c.mfa + m;
    END IF;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.user_mfa FROM PUBLIC;

CREATE TRIGGER user_mfa AFTER UPDATE OF mfa_enrolled ON svc.user_account
    FOR EACH ROW WHEN (NEW.mfa_enrolled <> OLD.mfa_enrolled)
    EXECUTE FUNCTION svc.user_mfa();


-- The users there are.

LOCK TABLE svc.user_account IN SHARE ROW EXCLUSIVE MODE;

UPDATE svc.user_count c SET mfa = m.n
  FROM (SELECT u.tenant_id, count(*) AS n FROM svc.user_account u
         WHERE u.mfa_enrolled GROUP BY u.tenant_id) m
 WHERE c.tenant_id = m.tenant_id
   AND c.shard = (SELECT min(k.shard) FROM svc.user_count k WHERE k.tenant_id = m.tenant_id);

INSERT INTO svc.stat_day (tenant_id, day, shard, new_users)
SELECT u.tenant_id, (u.created_at AT TIME ZONE 'UTC')::date, 0, count(*)
  FROM svc.user_account u WHERE u.created_at > now() - interval '91 days'
 GROUP BY 1, 2;


-- Whoever loads users without triggers calls it.

CREATE OR REPLACE FUNCTION svc.user_recount() RETURNS void
LANGUAGE sql AS $$
    LOCK TABLE svc.user_account IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM svc.user_count;
    INSERT INTO svc.user_count (tenant_id, shard, active, suspended, deactivated, mfa)
    SELECT tenant_id, 0, count(*) FILTER (WHERE status = 'active'),
           count(*) FILTER (WHERE status = 'suspended'),
           count(*) FILTER (WHERE status = 'deactivated'),
           count(*) FILTER (WHERE mfa_enrolled)
      FROM svc.user_account GROUP BY tenant_id;
    UPDATE svc.stat_day SET new_users = 0 WHERE new_users <> 0;
    INSERT INTO svc.stat_day AS s (tenant_id, day, shard, new_users)
    SELECT tenant_id, (created_at AT TIME ZONE 'UTC')::date, 0, count(*)
      FROM svc.user_account WHERE created_at > now() - interval '91 days'
     GROUP BY 1, 2
        ON CONFLICT (tenant_id, day, shard) DO UPDATE SET new_users = excluded.new_users;
    DELETE FROM svc.user_inactive;
    INSERT INTO svc.user_inactive
    SELECT tenant_id, status, created_at, id FROM svc.user_account WHERE status <> 'active';
    UPDATE svc.role SET member_count = 0 WHERE member_count <> 0;
    INSERT INTO svc.role (tenant_id, key, name, permissions, member_count)
    SELECT tenant_id, role, role, '{}', count(*) FROM svc.user_account
     WHERE role NOT IN ('owner', 'admin', 'member')
       AND role ~ '^[a-z][a-z0-9_-]{1,62}$'
     GROUP BY tenant_id, role
        ON CONFLICT (tenant_id, key) DO UPDATE SET member_count = EXCLUDED.member_count;
$$;


-- Raises the incidents that events come to.  One that is open is raised again:
-- what is new of it are the number and the time.

CREATE FUNCTION svc.incident_raise(events svc.sign_in_event[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
    WITH rule (type, severity, title) AS (
        VALUES ('credential_stuffing', 'high',
                'Sign-ins to many accounts have failed from one address.'),
               ('account_lockouts', 'medium', 'Several accounts have been locked.'),
               ('mfa_guessing', 'high',
                'Somebody who knows a password has guessed at the second factor.'),
               ('risk_denied', 'high',
                'A sign-in with the right credentials was denied for its risk.'),
               ('impossible_travel', 'medium',
                'Somebody has signed in from two places that are too far apart.'),
               ('passkey_cloned', 'high',
                'A passkey has counted backwards: there may be a copy of it.')
    ), event AS MATERIALIZED (
        SELECT * FROM unnest(events)
    ), hit (tenant_id, type, subject, at, details) AS (
        SELECT e.tenant_id, 'credential_stuffing', host(e.ip), e.at,
               jsonb_build_object('ip', host(e.ip), 'country', e.country,
                                  'accounts', f.accounts)
          FROM event e CROSS JOIN LATERAL (
                SELECT count(DISTINCT s.email_mac) AS accounts FROM (
                    SELECT s.email_mac FROM svc.sign_in s
                     WHERE s.tenant_id = e.tenant_id AND s.ip BETWEEN e.ip AND e.ip
                       AND s.outcome = 'failure' AND s.at <= e.at
                       AND s.at > e.at - interval '10 minutes'
                     ORDER BY s.ip DESC, s.at DESC LIMIT 200) s) f
         WHERE e.kind = 'failure' AND f.accounts >= 10
        UNION ALL
        SELECT e.tenant_id, 'account_lockouts', '', e.at,
               jsonb_build_object('lockouts', l.lockouts)
          FROM event e CROSS JOIN LATERAL (
                SELECT count(*) AS lockouts FROM (
                    SELECT FROM svc.sign_in s
                     WHERE s.tenant_id = e.tenant_id AND s.locked AND s.at <= e.at
                       AND s.at > e.at - interval '1 hour'
                     ORDER BY s.at DESC LIMIT 1000) s) l
         WHERE e.locked AND l.lockouts >= 5
        UNION ALL
        SELECT e.tenant_id, t.type, e.user_id::text, e.at,
               jsonb_build_object('userId', e.user_id, 'ip', host(e.ip),
                                  'country', e.country, 'signals', to_jsonb(e.signals))
          FROM event e CROSS JOIN LATERAL (
                SELECT 'mfa_guessing' WHERE e.locked AND e.reason = 'mfa'
                UNION ALL
                SELECT 'risk_denied' WHERE e.kind = 'denied' AND e.reason = 'risk'
                UNION ALL
                SELECT 'impossible_travel' WHERE 'impossible_travel' = ANY (e.signals)
                UNION ALL
                SELECT 'passkey_cloned' WHERE e.reason = 'passkey_cloned') t (type)
         WHERE e.user_id IS NOT NULL
    ), raised AS MATERIALIZED (
        SELECT gen_random_uuid() AS id, h.tenant_id, r.type, h.subject, r.severity, r.title,
               jsonb_strip_nulls((array_agg(h.details ORDER BY h.at DESC))[1]) AS details,
               count(*) AS count, max(h.at) AS at
          FROM hit h JOIN rule r ON r.type = h.type
         GROUP BY h.tenant_id, r.type, h.subject, r.severity, r.title
    ), open AS (
        INSERT INTO svc.incident AS i (tenant_id, id, type, subject, severity, title,
                                       details, count, last_seen_at)
        SELECT r.tenant_id, r.id, r.type, r.subject, r.severity, r.title, r.details,
               r.count, r.at FROM raised r
        ON CONFLICT (tenant_id, type, subject) WHERE acknowledged_at IS NULL
        DO UPDATE SET count = i.count + excluded.count, details = excluded.details,
                      last_seen_at = greatest(i.last_seen_at, excluded.last_seen_at)
        RETURNING i.id
    )
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, target_name, details)
    SELECT r.tenant_id, 'incident.created', 'incident', r.id::text, NULL,
           jsonb_build_object('type', r.type, 'severity', r.severity) || r.details
      FROM raised r JOIN open o ON o.id = r.id;
$$;


-- Takes so many events, the oldest, and makes of them what there is to make; one
-- at a time, over all nodes.  Who deletes a tenant or a user, or changes its key,
-- is not waited for: their events stay for the next round.  Of a user who has gone
-- numbers alone remain, and of a tenant nothing.  Returns how many it took.

CREATE FUNCTION svc.sign_in_sweep(most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET jit = off AS $$
DECLARE
    taken    svc.sign_in_event[];
    counted  svc.sign_in_event[];
    seen     svc.sign_in_event[];       -- successes of users who are here
    tenants  uuid[];
    here     bigint[];                  -- the events of users who are
    n        bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('svc.sign_in_sweep')) THEN
        RETURN 0;
    END IF;

    taken := ARRAY(SELECT e FROM svc.sign_in_event e ORDER BY e.id LIMIT most);

    IF cardinality(taken) = 0 THEN
        RETURN 0;
    END IF;

    tenants := ARRAY(
        SELECT t.id FROM svc.tenant t
         WHERE t.id = ANY (ARRAY(SELECT DISTINCT e.tenant_id FROM unnest(taken) e))
         ORDER BY t.id FOR KEY SHARE SKIP LOCKED);

    here := ARRAY(
        SELECT e.id FROM (SELECT * FROM unnest(taken) k ORDER BY k.tenant_id, k.user_id) e
         CROSS JOIN LATERAL (
            SELECT FROM svc.user_account u
             WHERE u.tenant_id = e.tenant_id AND u.id BETWEEN e.user_id AND e.user_id
             ORDER BY u.id LIMIT 1 FOR KEY SHARE SKIP LOCKED) u
         WHERE e.tenant_id = ANY (tenants));

    counted := ARRAY(
        SELECT e FROM unnest(taken) e
         WHERE e.tenant_id = ANY (tenants)
           AND (e.user_id IS NULL OR e.id = ANY (here) OR NOT EXISTS (
                    SELECT FROM svc.user_account u
                     WHERE u.tenant_id = e.tenant_id
                       AND u.id BETWEEN e.user_id AND e.user_id)));

    seen := ARRAY(SELECT e FROM unnest(counted) e
                   WHERE e.kind = 'success' AND e.id = ANY (here));

    DELETE FROM svc.sign_in_event v WHERE v.id = ANY (ARRAY(
        SELECT e.id FROM unnest(counted) e
        UNION ALL
        SELECT e.id FROM unnest(taken) e
         WHERE NOT EXISTS (SELECT FROM svc.tenant t WHERE t.id = e.tenant_id)));
    GET DIAGNOSTICS n = ROW_COUNT;

    INSERT INTO svc.user_seen AS k (tenant_id, user_id, kind, value, last_at)
    SELECT e.tenant_id, e.user_id, v.kind, v.value, max(e.at)
      FROM unnest(seen) e
     CROSS JOIN LATERAL (VALUES ('network', e.network), ('country', e.country))
           v (kind, value)
     WHERE v.value IS NOT NULL
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, user_id, kind, value) DO UPDATE SET last_at = excluded.last_at
     WHERE k.last_at < excluded.last_at;

    -- whoever signs in from a script has many networks

    DELETE FROM svc.user_seen WHERE ctid = ANY (ARRAY(
        SELECT o.ctid
          FROM (SELECT DISTINCT e.tenant_id, e.user_id FROM unnest(seen) e) e
         CROSS JOIN LATERAL (
            SELECT k.ctid, k.last_at FROM svc.user_seen k
             WHERE k.tenant_id = e.tenant_id AND k.user_id = e.user_id
               AND k.kind = 'network'
             ORDER BY k.last_at DESC OFFSET 100) o));

    INSERT INTO svc.sign_in_address AS a (tenant_id, ip, last_at)
    SELECT e.tenant_id, e.ip, max(e.at) FROM unnest(seen) e WHERE e.ip IS NOT NULL
     GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (tenant_id, ip) DO UPDATE SET last_at = excluded.last_at
     WHERE a.last_at < excluded.last_at;

    INSERT INTO svc.stat_day AS s (tenant_id, day, shard, success, failure, denied,
                                   lockouts, rate_limited, active_users)
    SELECT e.tenant_id, (e.at AT TIME ZONE 'UTC')::date, -1,
           count(*) FILTER (WHERE e.kind = 'success'),
           count(*) FILTER (WHERE e.kind = 'failure'),
           count(*) FILTER (WHERE e.kind = 'denied'),
           count(*) FILTER (WHERE e.locked),
           count(*) FILTER (WHERE e.kind = 'rate_limited'),
           count(*) FILTER (WHERE e.active)
      FROM unnest(counted) e GROUP BY 1, 2
    ON CONFLICT (tenant_id, day, shard) DO UPDATE
       SET success = s.success + excluded.success, failure = s.failure + excluded.failure,
           denied = s.denied + excluded.denied, lockouts = s.lockouts + excluded.lockouts,
           rate_limited = s.rate_limited + excluded.rate_limited,
           active_users = s.active_users + excluded.active_users;

    INSERT INTO svc.active_day AS a (tenant_id, day, users)
    SELECT m.tenant_id, m.day, sum(m.users)
      FROM (SELECT e.tenant_id, (e.at AT TIME ZONE 'UTC')::date AS day, 1 AS users
              FROM unnest(counted) e WHERE e.active
            UNION ALL
            SELECT e.tenant_id, e.last_active_day, -1
              FROM unnest(counted) e WHERE e.active AND e.last_active_day IS NOT NULL) m
     GROUP BY 1, 2 HAVING sum(m.users) <> 0
    ON CONFLICT (tenant_id, day) DO UPDATE SET users = a.users + excluded.users;

    PERFORM svc.incident_raise(counted);

    RETURN n;
END
$$;

REVOKE ALL ON FUNCTION svc.incident_raise, svc.sign_in_sweep FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.sign_in_sweep TO svc_app;
