-- The audit log by month, in an order that can be followed, and who follows it.
--
-- svc.audit_event becomes partitioned by created_at, in months of UTC.  A row
-- of a month without a partition goes to the default one.  What svc_app may do
-- it may do on the parent alone: the partitions are granted to nobody.
--
-- Events are followed in the order (xid, id).  Ids are taken before a
-- transaction commits, so the order of ids is not that in which they become
-- visible; but nothing more can appear below pg_snapshot_xmin() of a snapshot.
-- Defaults are evaluated in the order of columns: a transaction has its xid
-- before it takes an id.
--
-- A dump that is restored elsewhere brings the xids of another cluster:
-- "svcctl migrate" finds and repairs them with svc.audit_repair().

LOCK TABLE svc.audit_event IN ACCESS EXCLUSIVE MODE;

ALTER TABLE svc.audit_event RENAME TO audit_event_before;
ALTER INDEX svc.audit_event_pkey RENAME TO audit_event_before_pkey;

CREATE SEQUENCE svc.audit_event_seq AS bigint;

CREATE TABLE svc.audit_event (
    tenant_id    uuid            NOT NULL
                     DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    xid          xid8            NOT NULL DEFAULT pg_current_xact_id(),
    id           bigint          NOT NULL DEFAULT nextval('svc.audit_event_seq'),
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
) PARTITION BY RANGE (created_at);

ALTER SEQUENCE svc.audit_event_seq OWNED BY svc.audit_event.id;

-- To follow the log, and to find the event that a client has seen last.

CREATE INDEX audit_event_follow_idx ON svc.audit_event (tenant_id, xid, id);
CREATE INDEX audit_event_id_idx ON svc.audit_event (tenant_id, id);

ALTER TABLE svc.audit_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.audit_event
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT ON svc.audit_event TO svc_app;
GRANT USAGE ON SEQUENCE svc.audit_event_seq TO svc_app;

CREATE TABLE svc.audit_event_default PARTITION OF svc.audit_event DEFAULT;
ALTER TABLE svc.audit_event_default ENABLE ROW LEVEL SECURITY;


-- Makes the partitions of this month and the next ones, and of the months of
-- rows in the default partition, and moves those rows.  Returns what it made.
-- Of the tables only the default partition is locked against reading, and only
-- when there is something to make.

CREATE FUNCTION svc.audit_partitions(ahead integer DEFAULT 12)
    RETURNS TABLE (made text, moved bigint)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this_month  timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
    month       timestamp;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('svc.audit_partitions'));

    -- an array: a query under way would be in the way of ALTER TABLE

    FOREACH month IN ARRAY ARRAY(
        SELECT m FROM (
            SELECT this_month + i * interval '1 month' AS m
              FROM generate_series(0, greatest(ahead, 0)) i
            UNION
            SELECT DISTINCT date_trunc('month', created_at AT TIME ZONE 'UTC')
              FROM svc.audit_event_default
        ) s
         WHERE m <= this_month + greatest(ahead, 0) * interval '1 month'
           AND to_regclass('svc.audit_event_' || to_char(m, 'YYYY_MM')) IS NULL
         ORDER BY m)
    LOOP
        made := 'audit_event_' || to_char(month, 'YYYY_MM');

        EXECUTE format('CREATE TABLE svc.%I (LIKE svc.audit_event'
                       ' INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', made);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', made);

        LOCK TABLE svc.audit_event_default IN ACCESS EXCLUSIVE MODE;

        EXECUTE format(
            'WITH d AS (DELETE FROM svc.audit_event_default'
            ' WHERE created_at >= $1 AND created_at < $2 RETURNING *)'
            ' INSERT INTO svc.%I SELECT * FROM d', made)
            USING month AT TIME ZONE 'UTC',
                  (month + interval '1 month') AT TIME ZONE 'UTC';
        GET DIAGNOSTICS moved = ROW_COUNT;

        EXECUTE format(
            'ALTER TABLE svc.audit_event ATTACH PARTITION svc.%I'
            ' FOR VALUES FROM (%L) TO (%L)', made,
            to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00',
            to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00');

        RETURN NEXT;
    END LOOP;
END
$$;


-- Drops the partitions that lie wholly before the last months, and deletes the
-- rows of that time that are in the default one.  Returns what it dropped.

CREATE FUNCTION svc.audit_retain(months integer)
    RETURNS TABLE (dropped text, deleted bigint)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first_kept  timestamp := date_trunc('month', now() AT TIME ZONE 'UTC')
                             - months * interval '1 month';
BEGIN
    IF months IS NULL OR months < 1 THEN
        RAISE EXCEPTION 'at least one month is kept';
    END IF;

    PERFORM pg_advisory_xact_lock(hashtext('svc.audit_partitions'));

    deleted := NULL;

    FOR dropped IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'svc.audit_event'::regclass
           AND c.relname ~ '^audit_event_\d{4,}_\d\d$'
           AND to_date(substr(c.relname, 13), 'YYYY_MM') < first_kept
         ORDER BY to_date(substr(c.relname, 13), 'YYYY_MM')
    LOOP
        EXECUTE format('DROP TABLE svc.%I', dropped);
        RETURN NEXT;
    END LOOP;

    DELETE FROM svc.audit_event_default
     WHERE created_at < first_kept AT TIME ZONE 'UTC';
    GET DIAGNOSTICS deleted = ROW_COUNT;

    IF deleted > 0 THEN
        dropped := 'audit_event_default';
        RETURN NEXT;
    END IF;
END
$$;


-- Rows with an xid that this cluster has not come to yet are of another one.
-- They would be followed only when it does, and then in the middle of others.
-- All rows get the order of their ids.  Returns how many.

CREATE FUNCTION svc.audit_repair()
    RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    repaired  bigint := 0;
BEGIN
    IF EXISTS (SELECT FROM svc.audit_event
                WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()))
    THEN
        UPDATE svc.audit_event SET xid = '0' WHERE xid <> '0';
        GET DIAGNOSTICS repaired = ROW_COUNT;
    END IF;

    RETURN repaired;
END
$$;

REVOKE ALL ON FUNCTION svc.audit_partitions(integer), svc.audit_retain(integer),
    svc.audit_repair() FROM PUBLIC;


-- The rows there are: the ones of before have the order of their ids.

INSERT INTO svc.audit_event (xid, tenant_id, id, created_at, action, outcome,
                             actor_type, actor_id, actor_name, target_type,
                             target_id, target_name, ip, country, user_agent,
                             request_id, details)
SELECT '0', tenant_id, id, created_at, action, outcome, actor_type, actor_id,
       actor_name, target_type, target_id, target_name, ip, country, user_agent,
       request_id, details
  FROM svc.audit_event_before ORDER BY id;

DO $$
BEGIN
    PERFORM setval('svc.audit_event_seq', coalesce(max(id), 0) + 1, false)
       FROM svc.audit_event;
    PERFORM svc.audit_partitions(12);
END
$$;

DROP TABLE svc.audit_event_before;


-- Who follows a tenant's log, over all workers and nodes: a lease that the
-- follower renews.

CREATE TABLE svc.audit_stream (
    tenant_id   uuid         NOT NULL
                    DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                    REFERENCES svc.tenant ON DELETE CASCADE,
    id          uuid         NOT NULL,
    expires_at  timestamptz  NOT NULL,
    CONSTRAINT audit_stream_pkey PRIMARY KEY (tenant_id, id)
);

ALTER TABLE svc.audit_stream ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.audit_stream
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.audit_stream TO svc_app;
GRANT UPDATE (expires_at) ON svc.audit_stream TO svc_app;

-- A stream whose token was revoked ends, and has no credential to say so with:
-- who knows the id of a lease may end it.

CREATE FUNCTION svc.audit_stream_close(tenant uuid, lease uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM svc.audit_stream WHERE tenant_id = tenant AND id = lease
$$;

REVOKE ALL ON FUNCTION svc.audit_stream_close(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.audit_stream_close(uuid, uuid) TO svc_app;
