-- What the helper reads and writes of a target as a whole. A target is one helper's as long as
-- that holds its lease: each statement asks for it, and finds no row when it is another's.
--
-- While a sync is 'failing', sync_was is how far it was: it stays under way.


-- statement: push_claim (shared)
-- What the helper gets of the targets of all tenants, by how many it has, or -1 where it
-- is unsure of that, and how many it may get.
--
-- parameters
--   helper         text
--   has            int4
--   targets_max    int4
-- columns
--   kept           bool
--   share          int4
--   tenant_id      uuid
--   id             uuid
SELECT claimed.kept, claimed.share, claimed.tenant_id, claimed.id
  FROM svc.scim_claim(:helper, :has, :targets_max) claimed;


-- statement: push_release (shared)
--
-- parameters
--   helper         text
--   target_ids     text
SELECT svc.scim_release(:helper, :target_ids::text::uuid[]);


-- statement: push_poll (shared)
-- What there is to do for a target. A log of which parts older than the last mark may be
-- gone, or that comes from another cluster, tells too little: then all users are looked at.
--
-- parameters
--   target_id      text
--   helper         text
-- columns
--   version        int4
--   enabled        bool
--   base_url       text
--   token          bytea
--   patch          bool
--   :push_position
--   lost           bool         all users are to be looked at
--   paused_ms      numeric      NULL: no pause
--   failures       int2
--   unprobed       bool         ServiceProviderConfig is to be asked for
--   status         text
--   looking        bool
--   test           uuid
--   item_ms        numeric      until a user is due; NULL: none is
--   unsynced       bool         users are left of a sync
--   failing        bool         the target failed, or says so
--   list_next      int4         NULL: the list is done
WITH target AS MATERIALIZED (
    :push_leased
)
SELECT target.version, target.enabled, target.base_url, target.token,
       target.patch IS NOT FALSE AS patch, target.xid, target.event_id, target.event_at,
       (target.xid IS NULL
        OR target.event_at < now() - interval '20 days'
        OR target.xid > pg_snapshot_xmax(pg_current_snapshot())) AS lost,
       ceil(extract(epoch FROM target.next_at - clock_timestamp()) * 1000) AS paused_ms,
       target.failures,
       (target.config_at IS NULL OR target.config_at < now() - interval '1 day') AS unprobed,
       sync.status, target.sync_next IS NOT NULL AS looking,
       CASE WHEN target.test_id IS DISTINCT FROM target.test_done THEN target.test_id END AS test,
       ceil(extract(epoch FROM item.next_at - clock_timestamp()) * 1000) AS item_ms,
       sync.status = 'running'
       AND EXISTS (SELECT
                     FROM svc.scim_item item
                    WHERE item.tenant_id = :tenant
                      AND item.target_id BETWEEN target.id AND target.id
                      AND item.done_rev < item.wanted_rev
                      AND (item.compare OR item.priority = 0 OR target.sync_id IS NULL)
                      AND item.state = 'pending'
                      AND item.attempts < 5
                    ORDER BY item.target_id, item.priority, item.next_at
                    LIMIT 1) AS unsynced,
       (target.last_error IS NOT NULL
        OR target.sync_status IS NOT DISTINCT FROM 'failing') AS failing,
       target.list_next
  FROM target
  CROSS JOIN LATERAL (
       SELECT CASE
                  WHEN target.sync_status = 'failing' THEN target.sync_was
                  ELSE target.sync_status
              END AS status) sync
  CROSS JOIN LATERAL (
       SELECT min(item.next_at) AS next_at
         FROM (VALUES (0), (1)) queue (priority)
         CROSS JOIN LATERAL (
              SELECT item.next_at
                FROM svc.scim_item item
               WHERE item.tenant_id = :tenant
                 AND item.target_id BETWEEN target.id AND target.id
                 AND item.priority = queue.priority
                 AND item.done_rev < item.wanted_rev
               ORDER BY item.target_id, item.priority, item.next_at
               LIMIT 1) item) item;


-- statement: push_state (shared)
-- delay_ms: not before then, or NULL: at once. failures: in a row. failing: whether the
-- target is one that fails: of its sync it is kept how far it was.
--
-- parameters
--   target_id      text
--   helper         text
--   delay_ms       text
--   failures       int4
--   error          text
--   version        int4
--   failing        bool
UPDATE svc.scim_target target
   SET next_at = now() + :delay_ms::text::int8 * interval '1 ms', failures = :failures::int4,
       last_error = :error,
       sync_was = CASE
                      WHEN :failing::bool
                          THEN CASE
                                   WHEN target.sync_status = 'failing' THEN target.sync_was
                                   ELSE target.sync_status
                               END
                      ELSE target.sync_was
                  END,
       sync_status = CASE
                         WHEN :failing::bool THEN 'failing'
                         WHEN target.sync_status = 'failing'
                             THEN coalesce(target.sync_was, 'running')
                         ELSE target.sync_status
                     END,
       sync_at = CASE WHEN :failing::bool THEN now() ELSE target.sync_at END
 WHERE target.tenant_id = :tenant
   AND target.id = :target_id::text::uuid
   AND target.lease_by = :helper
   AND target.version = :version::int4;


-- statement: push_config (shared)
-- patch: whether the target takes PATCH, or NULL: nobody knows. asked: whether it has said
-- so; else it is asked again in an hour, and not in a day.
--
-- parameters
--   target_id      text
--   helper         text
--   patch          bool
--   asked          bool
--   version        int4
UPDATE svc.scim_target target
   SET patch = coalesce(:patch::bool, target.patch),
       config_at = CASE WHEN :asked::bool THEN now() ELSE now() - interval '23 hours' END
 WHERE target.tenant_id = :tenant
   AND target.id = :target_id::text::uuid
   AND target.lease_by = :helper
   AND target.version = :version::int4;


-- statement: push_tested (shared)
-- Of the version that was tested: another one is tested anew.
--
-- parameters
--   target_id      text
--   helper         text
--   test_id        text
--   status         int4
--   patch          bool
--   error          text
--   version        int4
UPDATE svc.scim_target target
   SET test_done = :test_id::text::uuid, test_status = nullif(:status::int4, 0),
       test_patch = :patch::bool, test_error = :error
 WHERE target.tenant_id = :tenant
   AND target.id = :target_id::text::uuid
   AND target.lease_by = :helper
   AND target.version = :version::int4
   AND target.test_id = :test_id::text::uuid;


-- statement: push_count (shared)
-- ended: whether a sync has ended. What is held goes on when fewer are to be deactivated,
-- as when a group is assigned again.
--
-- parameters
--   target_id      text
--   helper         text
--   ended          bool
WITH counted AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE item.remote_active) AS users,
           count(*) FILTER (WHERE item.done_rev < item.wanted_rev
                            AND item.state <> 'error') AS pending,
           count(*) FILTER (WHERE item.state = 'error') AS errors,
           count(*) FILTER (WHERE item.attempts > 0) AS tried,
           count(*) FILTER (WHERE item.remote_active
                            AND item.priority = 0
                            AND item.done_rev < item.wanted_rev) AS ended
      FROM svc.scim_item item
     WHERE item.tenant_id = :tenant AND item.target_id = :target_id::text::uuid
)
UPDATE svc.scim_target target
   SET users = counted.users, pending = counted.pending, errors = counted.errors,
       sync_status = CASE
                         WHEN :ended::bool
                             THEN CASE
                                      WHEN counted.errors + counted.tried > 0 THEN 'partial'
                                      ELSE 'success'
                                  END
                         WHEN target.sync_status = 'held'
                              AND NOT (counted.ended > 20 AND 2 * counted.ended > counted.users)
                             THEN 'running'
                         ELSE target.sync_status
                     END,
       sync_was = CASE
                      WHEN target.sync_status = 'failing'
                           AND target.sync_was = 'held'
                           AND NOT (counted.ended > 20 AND 2 * counted.ended > counted.users)
                          THEN 'running'
                      ELSE target.sync_was
                  END,
       sync_at = CASE WHEN :ended::bool THEN now() ELSE target.sync_at END,
       sync_confirm = target.sync_confirm AND NOT :ended::bool
  FROM counted
 WHERE target.tenant_id = :tenant
   AND target.id = :target_id::text::uuid
   AND target.lease_by = :helper
   AND (NOT :ended::bool
        OR CASE WHEN target.sync_status = 'failing' THEN target.sync_was ELSE target.sync_status END
           = 'running');


-- statement: push_hold (shared)
-- ended, users: how many are to be deactivated, of how many.
--
-- parameters
--   target_id      text
--   helper         text
--   ended          int4
--   users          int4
SELECT svc.scim_hold(target.id, :ended, :users)
  FROM svc.scim_target target
 WHERE target.tenant_id = :tenant
   AND target.id = :target_id::text::uuid
   AND target.lease_by = :helper;


-- statement: push_keep (shared)
-- The log has been followed up to this event, behind which there is none.
--
-- parameters
--   target_id      text
--   helper         text
--   xid            text
--   event_id       text
UPDATE svc.scim_target target
   SET xid = :xid::text::xid8, event_id = :event_id::text::int8, event_at = now()
 WHERE target.tenant_id = :tenant
   AND target.id = :target_id::text::uuid
   AND target.lease_by = :helper
   AND target.xid IS NOT NULL;
