-- Webhook events that no outage loses: the audit log is their outbox.
--
-- Each event has an audit event of its transaction.  A helper follows those of the
-- tenants with endpoints in the order (xid, id), and queues what nobody has
-- delivered.  Which deliveries have ended the helpers note.


-- Of each event of an endpoint, in their order, since when it takes it.

ALTER TABLE svc.webhook_endpoint ADD COLUMN since timestamptz(3)[] NOT NULL DEFAULT '{}';

UPDATE svc.webhook_endpoint
   SET since = array_fill(now()::timestamptz(3), ARRAY[cardinality(events)]);

GRANT UPDATE (since) ON svc.webhook_endpoint TO svc_app;


-- How far a tenant's log has been followed: of all before (xid, event_id) the
-- deliveries have ended, and what is up to (next_xid, next_id) was looked at.

CREATE TABLE svc.webhook_outbox (
    tenant_id    uuid            NOT NULL
                     DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                     REFERENCES svc.tenant ON DELETE CASCADE,
    xid          xid8,                          -- NULL: from the first look on
    event_id     bigint          NOT NULL DEFAULT 0,
    next_xid     xid8,                          -- NULL: the next look is from there
    next_id      bigint,
    due_at       timestamptz(3)  NOT NULL DEFAULT now(),
    pause        smallint        NOT NULL DEFAULT 1,    -- s, while nothing happens
    CONSTRAINT webhook_outbox_pkey PRIMARY KEY (tenant_id)
) WITH (fillfactor = 50);

CREATE INDEX webhook_outbox_due_idx ON svc.webhook_outbox (due_at);

INSERT INTO svc.webhook_outbox (tenant_id)
SELECT DISTINCT tenant_id FROM svc.webhook_endpoint;


-- Deliveries that have ended, until the log has been followed beyond their events.

CREATE TABLE svc.webhook_done (
    tenant_id    uuid            NOT NULL
                     DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                     REFERENCES svc.tenant ON DELETE CASCADE,
    delivery_id  uuid            NOT NULL,
    done_at      timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT webhook_done_pkey PRIMARY KEY (tenant_id, delivery_id)
);

CREATE INDEX webhook_done_at_idx ON svc.webhook_done (tenant_id, done_at);
CREATE INDEX webhook_done_old_idx ON svc.webhook_done (done_at);


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['webhook_outbox', 'webhook_done']
    LOOP
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

GRANT SELECT, INSERT ON svc.webhook_outbox TO svc_app;
GRANT UPDATE (xid, event_id, next_xid, next_id, due_at) ON svc.webhook_outbox TO svc_app;
GRANT SELECT, DELETE ON svc.webhook_done TO svc_app;


-- The tenants whose log has something new, or something that has not ended: up to
-- "most" of those that are due, the longest due first.  They are the caller's for
-- ten seconds, or until it says when they are due again.

CREATE FUNCTION svc.webhook_outbox_take(most integer) RETURNS TABLE (tenant_id uuid)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
    WITH d AS MATERIALIZED (
        SELECT o.tenant_id, o.due_at, o.xid, o.event_id, o.pause
          FROM svc.webhook_outbox o WHERE o.due_at <= now()
         ORDER BY o.due_at LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED
    ), b AS MATERIALIZED (
        -- a position of another cluster, of which this one is a dump, says nothing
        SELECT d.*, d.xid IS NULL OR d.xid > pg_snapshot_xmax(pg_current_snapshot())
                    OR l.id IS NOT NULL OR n.delivery_id IS NOT NULL AS busy
          FROM d LEFT JOIN LATERAL (
            SELECT e.id FROM svc.audit_event e
             WHERE e.tenant_id = d.tenant_id AND (e.xid, e.id) > (d.xid, d.event_id)
               AND e.created_at > now() - interval '2 days'
             ORDER BY e.xid, e.id LIMIT 1) l ON true
          LEFT JOIN LATERAL (
            SELECT k.delivery_id FROM svc.webhook_done k
             WHERE k.tenant_id = d.tenant_id ORDER BY k.done_at LIMIT 1) n ON true
    ), t AS MATERIALIZED (
        SELECT b.tenant_id FROM b WHERE b.busy ORDER BY b.due_at
         LIMIT least(greatest(most, 0), 1000)
    ), u AS (
        UPDATE svc.webhook_outbox o
           SET due_at = clock_timestamp() + CASE WHEN b.busy THEN interval '10 s'
                                            ELSE make_interval(secs => b.pause) END,
               pause = CASE WHEN b.busy THEN 1 ELSE least(2 * b.pause, 60) END
          FROM b WHERE o.tenant_id = b.tenant_id
           AND (NOT b.busy OR b.tenant_id IN (SELECT t.tenant_id FROM t))
    )
    SELECT t.tenant_id FROM t
$$;


-- Notes deliveries of any tenants, the first of the first tenant, that have ended.

CREATE FUNCTION svc.webhook_note(tenants uuid[], deliveries uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET jit = off AS $$
    INSERT INTO svc.webhook_done (tenant_id, delivery_id)
    SELECT o.tenant_id, n.id FROM unnest(tenants, deliveries) n (tenant, id)
     CROSS JOIN LATERAL (
        SELECT k.tenant_id FROM svc.webhook_outbox k
         WHERE k.tenant_id = n.tenant LIMIT 1) o
     ORDER BY o.tenant_id, n.id
    ON CONFLICT DO NOTHING
$$;


-- Of a tenant without endpoints a note may be left: some that are older than any event
-- that is still of interest, of all tenants.  Returns how many.  A tenant whose first
-- endpoint an older version has made gets its outbox.

CREATE FUNCTION svc.webhook_done_expire() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO svc.webhook_outbox (tenant_id)
    SELECT DISTINCT w.tenant_id FROM svc.webhook_endpoint w
     WHERE NOT EXISTS (SELECT FROM svc.webhook_outbox o WHERE o.tenant_id = w.tenant_id)
    ON CONFLICT DO NOTHING;

    WITH gone AS (
        DELETE FROM svc.webhook_done k WHERE (k.tenant_id, k.delivery_id) IN (
            SELECT o.tenant_id, o.delivery_id FROM svc.webhook_done o
             WHERE o.done_at < now() - interval '2 days' ORDER BY o.done_at LIMIT 1000
               FOR UPDATE SKIP LOCKED)
        RETURNING 1
    )
    SELECT count(*) FROM gone
$$;

REVOKE ALL ON FUNCTION svc.webhook_outbox_take, svc.webhook_note, svc.webhook_done_expire
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.webhook_outbox_take, svc.webhook_note,
    svc.webhook_done_expire TO svc_app;
