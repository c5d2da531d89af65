-- Outbound SCIM: the targets that users are pushed to, and what each of them has.
--
-- One helper at a time has a target: as long as its own lease lasts, of which there is
-- one for all its targets.  To renew it is one row, however many they are.  It follows the audit
-- log from (xid, event_id), in that order, and marks the users that it names; what a
-- user is to look like it reads when it pushes, so ten changes are one push.


CREATE TABLE svc.scim_target (
    tenant_id     uuid            NOT NULL
                      DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    id            uuid            NOT NULL DEFAULT gen_random_uuid(),
    client_id     text COLLATE "C" NOT NULL,
    name          text            NOT NULL,
    base_url      text            NOT NULL,
    token         bytea           NOT NULL,     -- sealed for the tenant and this id
    enabled       boolean         NOT NULL DEFAULT true,
    version       integer         NOT NULL DEFAULT 1,   -- of what the API may change

    -- the helper's

    lease_by      text COLLATE "C",             -- of svc.scim_helper, or nobody's
    xid           xid8,                         -- NULL: all users are to be looked at
    event_id      bigint,
    event_at      timestamptz(3),               -- about when that was
    next_at       timestamptz(3),               -- not before: Retry-After, or failing
    failures      smallint        NOT NULL DEFAULT 0,   -- 401 and 403, in a row
    patch         boolean,                      -- it takes PATCH; NULL: not known
    config_at     timestamptz(3),               -- when it was asked for that
    users         integer         NOT NULL DEFAULT 0,   -- counted now and then
    pending       integer         NOT NULL DEFAULT 0,
    errors        integer         NOT NULL DEFAULT 0,

    -- of both

    sync_id       uuid,
    sync_status   text COLLATE "C",
    sync_confirm  boolean         NOT NULL DEFAULT false,   -- however many it ends
    sync_at       timestamptz(3),               -- when the last one ended
    sync_next     uuid,                         -- user that the look goes on behind
    sync_again    boolean         NOT NULL DEFAULT false,   -- from the first one, then
    last_error    text,
    test_id       uuid,                         -- asked for; the answer is behind it
    test_at       timestamptz(3),
    test_done     uuid,
    test_status   smallint,
    test_patch    boolean,
    test_error    text,

    created_at    timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at    timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT scim_target_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT scim_target_client_key UNIQUE (tenant_id, client_id),
    CONSTRAINT scim_target_tenant_fkey FOREIGN KEY (tenant_id)
        REFERENCES svc.tenant ON DELETE CASCADE,

    -- deferred: a tenant takes its applications along before its targets

    CONSTRAINT scim_target_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT scim_target_name_check CHECK (char_length(name) BETWEEN 1 AND 100),
    CONSTRAINT scim_target_url_check
        CHECK (base_url ~ '^https://' AND length(base_url) <= 2048),
    CONSTRAINT scim_target_status_check CHECK (sync_status IN
        ('queued', 'running', 'success', 'partial', 'failing', 'held'))
) WITH (fillfactor = 50);


CREATE INDEX scim_target_lease_idx ON svc.scim_target (lease_by);


-- A user as a target has it.  The row outlives the user until the target knows that
-- the user has gone.

CREATE TABLE svc.scim_item (
    tenant_id    uuid            NOT NULL
                     DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    target_id    uuid            NOT NULL,
    user_id      uuid            NOT NULL,
    wanted_rev   bigint          NOT NULL DEFAULT 1,    -- grows with each mark
    done_rev     bigint          NOT NULL DEFAULT 0,    -- the mark that was last met
    compare      boolean         NOT NULL DEFAULT false,    -- the target's is to be read
    remote_id    text COLLATE "C",                      -- NULL: look it up first
    remote_hash  bytea,                                 -- of what it was last given
    remote_active boolean        NOT NULL DEFAULT false,
    state        text COLLATE "C" NOT NULL DEFAULT 'pending',
    priority     smallint        NOT NULL DEFAULT 1,    -- 0: is to be deactivated
    next_at      timestamptz(3)  NOT NULL DEFAULT now(),
    attempts     smallint        NOT NULL DEFAULT 0,
    error        text,
    error_at     timestamptz(3),
    synced_at    timestamptz(3),
    CONSTRAINT scim_item_pkey PRIMARY KEY (tenant_id, target_id, user_id),
    CONSTRAINT scim_item_target_fkey FOREIGN KEY (tenant_id, target_id)
        REFERENCES svc.scim_target (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT scim_item_state_check CHECK (state IN ('pending', 'synced', 'error'))
) WITH (fillfactor = 70);

CREATE INDEX scim_item_due_idx
    ON svc.scim_item (tenant_id, target_id, priority, next_at)
    WHERE done_rev < wanted_rev;
CREATE INDEX scim_item_error_idx ON svc.scim_item (tenant_id, target_id, user_id)
    WHERE state = 'error';


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['scim_target', 'scim_item']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
        EXECUTE format('GRANT SELECT, INSERT, DELETE, UPDATE ON svc.%I TO svc_app', t);
    END LOOP;
END
$$;


-- The helpers: nobody's rows.

CREATE TABLE svc.scim_helper (
    id           text COLLATE "C" NOT NULL,
    lease_until  timestamptz     NOT NULL,
    targets      integer         NOT NULL,          -- that it has, as it says
    CONSTRAINT scim_helper_pkey PRIMARY KEY (id),
    CONSTRAINT scim_helper_id_check CHECK (id ~ '^[0-9a-f]{32}$')
) WITH (fillfactor = 20);

ALTER TABLE svc.scim_helper ENABLE ROW LEVEL SECURITY;
CREATE POLICY nobody ON svc.scim_helper USING (false);


-- Renews the lease of a helper, for 30 seconds; takes their targets from those whose
-- lease has run out; and gives up to "most" of what nobody has to this one, as long as
-- it has not more than its share.  "has": how many it knows of.  The first row says
-- whether it had a lease still (otherwise it has no target any more), and its share; the
-- others name the targets that it has from now on.
--
-- No helper can take from one that lives, unless it knows its id, which is random.

CREATE FUNCTION svc.scim_claim(helper text, has integer, most integer)
    RETURNS TABLE (kept boolean, share integer, tenant_id uuid, id uuid)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
DECLARE
    gone    text[];
    free    integer;
    others  integer;
    theirs  bigint;
BEGIN
    WITH d AS (
        DELETE FROM svc.scim_helper h WHERE h.id = ANY (ARRAY(
            SELECT o.id FROM svc.scim_helper o WHERE o.lease_until < clock_timestamp()
             ORDER BY o.id LIMIT 100 FOR UPDATE SKIP LOCKED))
        RETURNING h.id
    )
    SELECT array_agg(d.id) INTO gone FROM d;

    IF gone IS NOT NULL THEN
        UPDATE svc.scim_target t SET lease_by = NULL WHERE t.lease_by = ANY (gone);
    END IF;

    UPDATE svc.scim_helper h
       SET lease_until = clock_timestamp() + interval '30 seconds',
           targets = greatest(has, 0)
     WHERE h.id = helper;
    kept := FOUND;

    IF NOT kept THEN
        has := 0;
        INSERT INTO svc.scim_helper AS h (id, lease_until, targets)
        VALUES (helper, clock_timestamp() + interval '30 seconds', 0)
        ON CONFLICT DO NOTHING;
    END IF;

    SELECT count(*), coalesce(sum(h.targets), 0) INTO others, theirs
      FROM svc.scim_helper h WHERE h.id <> helper;
    SELECT count(*) INTO free FROM (
        SELECT FROM svc.scim_target t WHERE t.lease_by IS NULL LIMIT 10000) f;

    share := ceil((theirs + greatest(has, 0) + free) / (others + 1.0));
    RETURN NEXT;

    IF free > 0 THEN
        kept := NULL;

        FOR tenant_id, id IN
            UPDATE svc.scim_target t SET lease_by = helper
             WHERE (t.tenant_id, t.id) IN (
                SELECT f.tenant_id, f.id FROM svc.scim_target f
                 WHERE f.lease_by IS NULL
                 LIMIT greatest(least(most, share - has, 1000), 0) FOR NO KEY UPDATE SKIP LOCKED)
            RETURNING t.tenant_id, t.id
        LOOP
            RETURN NEXT;
        END LOOP;
    END IF;
END
$$;


-- A helper gives back targets, or, with NULL, all of them and its lease.

CREATE FUNCTION svc.scim_release(helper text, targets uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off AS $$
BEGIN
    UPDATE svc.scim_target t SET lease_by = NULL
     WHERE t.lease_by = helper AND (targets IS NULL OR t.id = ANY (targets));

    IF targets IS NULL THEN
        DELETE FROM svc.scim_helper h WHERE h.id = helper;
    END IF;
END
$$;


-- A target of the tenant is held: more users would be deactivated than somebody is
-- likely to mean.  Nothing is sent until it is confirmed, and there is an incident.

CREATE FUNCTION svc.scim_hold(target uuid, users integer, active integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant  uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    title   text;
    made    uuid := gen_random_uuid();
    told    uuid;
    told_of jsonb;
BEGIN
    UPDATE svc.scim_target t SET sync_status = 'held', sync_at = now()
     WHERE t.tenant_id = tenant AND t.id = target AND NOT t.sync_confirm
       AND t.sync_status IS DISTINCT FROM 'held'
    RETURNING t.name INTO title;

    IF NOT FOUND THEN
        RETURN false;
    END IF;

    told_of := jsonb_build_object('targetId', target, 'targetName', title,
                                  'users', users, 'activeUsers', active);

    INSERT INTO svc.incident AS i (tenant_id, id, type, subject, severity, title, details,
                                   count, last_seen_at)
    VALUES (tenant, made, 'scim_target_held', target::text, 'high',
            'A SCIM target is held: more than half of its users would be deactivated.',
            told_of, 1, now())
    ON CONFLICT (tenant_id, type, subject) WHERE acknowledged_at IS NULL
    DO UPDATE SET count = i.count + 1, details = excluded.details, last_seen_at = now()
    RETURNING i.id INTO told;

    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, target_name,
                                 details)
    VALUES (tenant, 'scim.target_held', 'scimTarget', target::text, title,
            told_of - ARRAY['targetId', 'targetName']);

    IF told = made THEN
        INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
        VALUES (tenant, 'incident.created', 'incident', told::text,
                jsonb_build_object('type', 'scim_target_held', 'severity', 'high')
                || told_of);
    END IF;

    RETURN true;
END
$$;

REVOKE ALL ON FUNCTION svc.scim_claim, svc.scim_release, svc.scim_hold FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.scim_claim, svc.scim_release, svc.scim_hold TO svc_app;
