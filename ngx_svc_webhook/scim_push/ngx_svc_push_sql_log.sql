-- What follows the audit log, from the event on that a target has been brought up to. A
-- transaction may be older than the event before it, by a week. None is of the future, so
-- that partitions of months to come are not looked at.


-- statement: push_log (shared)
-- What there is in the log: most of it is of no interest. It asks for no lease, and has
-- the helper among its parameters as the other statements of a target.
--
-- parameters
--   target_id      text
--   helper         text
--   xid            text
--   event_id       text
--   created_at     text
-- columns
--   events         int8
--   final          int8
--   relevant       bool
--   :push_position
WITH event AS MATERIALIZED (
    SELECT event.xid, event.id, event.created_at,
           event.xid < pg_snapshot_xmin(pg_current_snapshot()) AS final,
           (event.action IN ('user.created', 'user.updated', 'user.suspended', 'user.reactivated',
                             'user.deactivated', 'user.deleted', 'email.changed')
            OR event.action IN ('group.member_added', 'group.member_removed')
            OR event.action IN ('group.app_added', 'group.app_removed')
            OR event.action = 'group.deleted'
            OR event.action IN ('application.updated', 'agent.policy_updated',
                                'agent.policy_reset')) AS relevant
      FROM svc.audit_event event
     WHERE event.tenant_id = :tenant
       AND (event.xid, event.id) > (:xid::text::xid8, :event_id::text::int8)
       AND event.created_at > :created_at::text::timestamptz - interval '7 days'
       AND event.created_at < CURRENT_TIMESTAMP + interval '7 days'
       AND :target_id::text <> :helper::text
     ORDER BY event.xid, event.id
     LIMIT 1000
), last AS (
    SELECT event.*
      FROM event
     WHERE event.final
     ORDER BY event.xid DESC, event.id DESC
     LIMIT 1
)
SELECT (SELECT count(*) FROM event) AS events,
       (SELECT count(*) FROM event WHERE event.final) AS final,
       (SELECT bool_or(event.relevant) FROM event WHERE event.final) AS relevant,
       last.xid, last.id AS event_id, last.created_at AS event_at
  FROM (VALUES (1)) always
  LEFT JOIN last ON true;


-- statement: push_begin (shared)
-- A look at all users begins; the log is followed from before it on.
--
-- parameters
--   target_id      text
--   helper         text
UPDATE svc.scim_target target
   SET xid = pg_snapshot_xmin(pg_current_snapshot()), event_id = 0, event_at = now(),
       sync_next = '00000000-0000-0000-0000-000000000000'::uuid, sync_again = false,
       list_next = CASE
                       WHEN target.xid IS NULL
                            OR CASE
                                   WHEN target.sync_status = 'failing' THEN target.sync_was
                                   ELSE target.sync_status
                               END = 'queued' THEN 1
                   END,
       sync_was = CASE target.sync_was WHEN 'queued' THEN 'running' ELSE target.sync_was END,
       sync_status = CASE target.sync_status
                         WHEN 'queued' THEN 'running'
                         ELSE target.sync_status
                     END
 WHERE target.tenant_id = :tenant
   AND target.id = :target_id::text::uuid
   AND target.lease_by = :helper;


-- statement: push_follow (shared)
-- The users that the next events name are marked, unless the target has them already, or has
-- never heard of them and need not; or all are to be looked at: an event of many members
-- names but the first of them. An id that is none stops nobody, which one regular expression
-- would say for more than twice the price.
--
-- parameters
--   target_id      text
--   helper         text
--   xid            text
--   event_id       text
--   created_at     text
-- columns
--   :push_position
--   looking        bool
--   marked         int8
--   events         int8
WITH target AS MATERIALIZED (
    :push_leased
    FOR NO KEY UPDATE
), client AS MATERIALIZED (
    SELECT application.*
      FROM target
      CROSS JOIN LATERAL (
           SELECT application.client_id, application.enabled, application.assignment
             FROM svc.application application
            WHERE application.tenant_id = :tenant
              AND application.client_id BETWEEN target.client_id AND target.client_id
            ORDER BY application.client_id
            LIMIT 1) application
), event AS MATERIALIZED (
    SELECT event.xid, event.id, event.created_at, event.action, event.target_id, event.details,
           CASE
               WHEN event.target_id LIKE '________-____-____-____-____________'
                    AND event.target_id NOT LIKE '%-%-%-%-%-%'
                    AND event.target_id !~ '[^0-9a-f-]' THEN event.target_id::uuid
           END AS subject
      FROM svc.audit_event event
     WHERE event.tenant_id = :tenant
       AND (event.xid, event.id) > (:xid::text::xid8, :event_id::text::int8)
       AND event.created_at > :created_at::text::timestamptz - interval '7 days'
       AND event.created_at < CURRENT_TIMESTAMP + interval '7 days'
       AND event.xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY event.xid, event.id
     LIMIT 200
), joined AS MATERIALIZED (
    SELECT event.details
      FROM event
      CROSS JOIN client
     WHERE event.action IN ('group.member_added', 'group.member_removed')
       AND client.assignment = 'groups'
       AND EXISTS (SELECT
                     FROM svc.group_app assigned
                    WHERE assigned.tenant_id = :tenant
                      AND (assigned.client_id, assigned.group_id)
                          BETWEEN (client.client_id, event.subject)
                              AND (client.client_id, event.subject)
                    ORDER BY assigned.client_id, assigned.group_id
                    LIMIT 1)
), concerned AS MATERIALIZED (
    SELECT event.subject AS id
      FROM event
     WHERE event.action IN ('user.created', 'user.updated', 'user.suspended', 'user.reactivated',
                            'user.deactivated', 'user.deleted', 'email.changed')
       AND event.subject IS NOT NULL
    UNION
    SELECT member.id::uuid
      FROM joined
      CROSS JOIN LATERAL jsonb_array_elements_text(joined.details->'userIds') member (id)
), decided AS MATERIALIZED (
    SELECT EXISTS (SELECT
                     FROM joined
                    WHERE (joined.details->>'count')::int8
                          > jsonb_array_length(joined.details->'userIds'))
           OR EXISTS (SELECT
                        FROM event
                        CROSS JOIN client
                       WHERE event.action IN ('group.app_added', 'group.app_removed')
                             AND (event.details->'clientIds' ? client.client_id
                                  OR (event.details->>'count')::int8
                                     > jsonb_array_length(event.details->'clientIds'))
                          OR event.action = 'group.deleted' AND client.assignment = 'groups'
                          OR event.action IN ('application.updated', 'agent.policy_updated',
                                              'agent.policy_reset')
                             AND event.target_id = client.client_id
                             AND event.details->'changed' ?| '{enabled,assignment}'::text[])
           AS look
), :push_scoped, marked AS (
    INSERT INTO svc.scim_item AS item (target_id, user_id, priority, compare)
    SELECT target.id, wanted.user_id, CASE WHEN wanted.active THEN 1 ELSE 0 END,
           false
      FROM target
      CROSS JOIN wanted
      LEFT JOIN LATERAL (
             SELECT item.*
               FROM svc.scim_item item
              WHERE item.tenant_id = :tenant
                AND (item.target_id, item.user_id)
                    BETWEEN (target.id, wanted.user_id) AND (target.id, wanted.user_id)
              ORDER BY item.target_id, item.user_id
              LIMIT 1) known ON true
     WHERE CASE
               WHEN known.user_id IS NULL THEN wanted.active
               WHEN false
                    AND (wanted.active OR known.remote_id IS NOT NULL)
                    AND (known.seen IS NULL OR known.seen IS DISTINCT FROM target.sync_id)
                   THEN true
               ELSE known.done_rev < known.wanted_rev
                    OR known.remote_hash IS DISTINCT FROM wanted.hash
           END
    ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE
       SET wanted_rev = item.wanted_rev + 1, priority = excluded.priority, next_at = now(),
           attempts = 0, state = 'pending', compare = item.compare OR excluded.compare
    RETURNING 1
), last AS (
    SELECT event.* FROM event ORDER BY event.xid DESC, event.id DESC LIMIT 1
), updated AS (
    UPDATE svc.scim_target following
       SET xid = last.xid, event_id = last.id, event_at = last.created_at,
           sync_next = CASE WHEN decided.look
                                THEN coalesce(following.sync_next,
                                              '00000000-0000-0000-0000-000000000000'::uuid)
                            ELSE following.sync_next END,
           sync_again = following.sync_again OR decided.look AND following.sync_next IS NOT NULL
      FROM target, last, decided
     WHERE following.tenant_id = :tenant
       AND following.id = target.id AND following.xid IS NOT NULL
    RETURNING following.xid, following.event_id, following.event_at,
              following.sync_next IS NOT NULL AS looking
)
SELECT updated.xid, updated.event_id, updated.event_at, updated.looking,
       (SELECT count(*) FROM marked) AS marked, (SELECT count(*) FROM event) AS events
  FROM updated;


-- statement: push_look (shared)
-- One page of a look at all: of users, and of items, whose user may be gone. While a sync
-- runs, whom the target's list has not shown is read there, too.
--
-- parameters
--   target_id      text
--   helper         text
-- columns
--   looking        bool
--   marked         int8
WITH target AS MATERIALIZED (
    :push_leased
    FOR NO KEY UPDATE
), client AS MATERIALIZED (
    SELECT application.*
      FROM target
      CROSS JOIN LATERAL (
           SELECT application.client_id, application.enabled, application.assignment
             FROM svc.application application
            WHERE application.tenant_id = :tenant
              AND application.client_id BETWEEN target.client_id AND target.client_id
            ORDER BY application.client_id
            LIMIT 1) application
), concerned AS MATERIALIZED (
    SELECT page.id
      FROM ((SELECT account.id
               FROM svc.user_account account
              WHERE account.tenant_id = :tenant
                AND account.id > (SELECT target.sync_next FROM target)
              ORDER BY account.id
              LIMIT 500)
            UNION
            (SELECT item.user_id
               FROM svc.scim_item item
              WHERE item.tenant_id = :tenant
                AND (item.target_id, item.user_id)
                    > (SELECT target.id, target.sync_next FROM target)
                AND item.target_id <= (SELECT target.id FROM target)
              ORDER BY item.target_id, item.user_id
              LIMIT 500)) page
     ORDER BY page.id
     LIMIT 500
), :push_scoped, marked AS (
    INSERT INTO svc.scim_item AS item (target_id, user_id, priority, compare)
    SELECT target.id, wanted.user_id, CASE WHEN wanted.active THEN 1 ELSE 0 END,
           (CASE
                WHEN target.sync_status = 'failing' THEN target.sync_was
                ELSE target.sync_status
            END IS NOT DISTINCT FROM 'running')
      FROM target
      CROSS JOIN wanted
      LEFT JOIN LATERAL (
             SELECT item.*
               FROM svc.scim_item item
              WHERE item.tenant_id = :tenant
                AND (item.target_id, item.user_id)
                    BETWEEN (target.id, wanted.user_id) AND (target.id, wanted.user_id)
              ORDER BY item.target_id, item.user_id
              LIMIT 1) known ON true
     WHERE CASE
               WHEN known.user_id IS NULL THEN wanted.active
               WHEN (CASE
                         WHEN target.sync_status = 'failing' THEN target.sync_was
                         ELSE target.sync_status
                     END IS NOT DISTINCT FROM 'running')
                    AND (wanted.active OR known.remote_id IS NOT NULL)
                    AND (known.seen IS NULL OR known.seen IS DISTINCT FROM target.sync_id)
                   THEN true
               ELSE known.done_rev < known.wanted_rev
                    OR known.remote_hash IS DISTINCT FROM wanted.hash
           END
    ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE
       SET wanted_rev = item.wanted_rev + 1, priority = excluded.priority, next_at = now(),
           attempts = 0, state = 'pending', compare = item.compare OR excluded.compare
    RETURNING 1
), paged AS (
    SELECT count(*) AS users, (array_agg(concerned.id ORDER BY concerned.id DESC))[1] AS last
      FROM concerned
), updated AS (
    UPDATE svc.scim_target looked
       SET sync_next = CASE
                           WHEN paged.users = 500 THEN paged.last
                           WHEN looked.sync_again
                               THEN '00000000-0000-0000-0000-000000000000'::uuid
                       END,
           sync_again = looked.sync_again AND paged.users = 500
      FROM target, paged
     WHERE looked.tenant_id = :tenant
       AND looked.id = target.id
       AND looked.sync_next IS NOT NULL
    RETURNING looked.sync_next IS NOT NULL AS looking
)
SELECT updated.looking, (SELECT count(*) FROM marked) AS marked
  FROM updated;
