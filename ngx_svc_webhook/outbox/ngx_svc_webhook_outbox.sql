-- The outbox of events: what Redis has not taken of them is looked for in the audit log.


-- statement: webhook_outbox_take
--
-- parameters
--   tenants_max    int4
-- columns
--   tenant_id      uuid
SELECT taken.tenant_id FROM svc.webhook_outbox_take(:tenants_max) taken;


-- statement: webhook_outbox_rest
-- In how many ms a tenant is due; negative: one is, NULL: none will be.
--
-- columns
--   ms             int8         as text
SELECT svc.webhook_outbox_rest() AS ms;


-- statement: webhook_outbox_look
-- The deliveries of a tenant that nobody has noted as done, delay_ms after their events. An
-- older transaction than the last one looked at may still commit: the log has been followed
-- up to the last event that is final. Notes are as old as their events, at least: with no
-- older event left that is of interest they can go.
-- There is always one row, if the tenant has an outbox; the columns behind "expired" are NULL
-- when there is no delivery to be queued.
--
-- long: each step of the look is a CTE of its own, all of one snapshot
-- parameters
--   delay_ms       int4
-- columns
--   expired        int8         deliveries that were given up
--   delivery       text
--   event          text
--   endpoint_id    uuid
--   action         text
--   target_id      text
--   user_name      text         NULL: the user is gone
--   created_at     timestamptz
WITH start AS MATERIALIZED (
    SELECT CASE WHEN log.here THEN outbox.xid ELSE log.xmin END AS xid,
           CASE WHEN log.here THEN outbox.event_id ELSE 0 END AS event_id,
           log.here AND outbox.next_xid IS NOT NULL AS again,
           CASE WHEN log.here THEN coalesce(outbox.next_xid, outbox.xid)
                ELSE log.xmin END AS next_xid,
           CASE WHEN log.here THEN coalesce(outbox.next_id, outbox.event_id) ELSE 0 END AS next_id
      FROM svc.webhook_outbox outbox
      CROSS JOIN LATERAL (
           SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin,
                  outbox.xid <= pg_snapshot_xmax(pg_current_snapshot()) IS TRUE AS here) log
     WHERE outbox.tenant_id = :tenant
     FOR NO KEY UPDATE OF outbox
), subscribed AS MATERIALIZED (
    -- what the endpoints take, and since when
    SELECT endpoint.id, listed.event,
           coalesce(endpoint.since[listed.place], endpoint.created_at) AS since
      FROM svc.webhook_endpoint endpoint
      CROSS JOIN unnest(endpoint.events) WITH ORDINALITY listed (event, place)
     WHERE endpoint.tenant_id = :tenant AND endpoint.enabled
), page AS MATERIALIZED (
    SELECT logged.xid, logged.id, logged.created_at, logged.action, logged.target_id,
           logged.xid < pg_snapshot_xmin(pg_current_snapshot()) AS final
      FROM svc.audit_event logged
     WHERE logged.tenant_id = :tenant
       AND (logged.xid, logged.id)
           > ((SELECT start.next_xid FROM start), (SELECT start.next_id FROM start))
       AND logged.created_at > now() - interval '2 days'
     ORDER BY logged.xid, logged.id
     LIMIT 1000
), event AS MATERIALIZED (
    -- of the page, fewer with many endpoints
    SELECT counted.xid, counted.id, counted.created_at, counted.action, counted.target_id,
           counted.final
      FROM (SELECT page.*,
                   count(*) FILTER (WHERE page.action IN (SELECT subscribed.event FROM subscribed))
                       OVER (ORDER BY page.xid, page.id) AS nth
              FROM page) counted
     WHERE counted.nth <= (SELECT greatest(1000 / greatest(count(DISTINCT subscribed.id), 1), 20)
                             FROM subscribed)
     ORDER BY counted.xid, counted.id
), addressed AS MATERIALIZED (
    -- which endpoint gets which event, with the id that ngx_svc_webhook_event.h makes
    SELECT event.*, subscribed.id AS endpoint_id,
           encode(substr(sha256(convert_to('svc.webhook.event ' || (:tenant)::text || ' '
               || event.action || ' '
               || CASE event.action WHEN 'user.login' THEN event.id::text ELSE event.target_id END,
               'UTF8')), 1, 16), 'hex') AS event
      FROM event
      JOIN subscribed ON subscribed.event = event.action AND subscribed.since <= event.created_at
     WHERE event.action IN ('user.created', 'user.login', 'user.deleted') AND event.final
), delivery AS MATERIALIZED (
    SELECT addressed.*,
           encode(substr(sha256(convert_to(addressed.event || ' ' || addressed.endpoint_id::text,
                                           'UTF8')), 1, 16), 'hex') AS delivery
      FROM addressed
), noted AS MATERIALIZED (
    SELECT delivery.*, delivery.delivery::uuid AS note FROM delivery
), pending AS MATERIALIZED (
    -- those that have not ended
    SELECT noted.*, noted.created_at <= now() - interval '1 day' AS expired
      FROM noted
      LEFT JOIN LATERAL (
           SELECT done.delivery_id
             FROM svc.webhook_done done
            WHERE done.tenant_id = :tenant AND done.delivery_id BETWEEN noted.note AND noted.note
            ORDER BY done.delivery_id
            LIMIT 1) done ON true
     WHERE done.delivery_id IS NULL
), blocking AS MATERIALIZED (
    -- the first event that holds up the others
    SELECT waiting.xid, waiting.id
      FROM (SELECT event.xid, event.id FROM event WHERE NOT event.final
            UNION ALL
            SELECT pending.xid, pending.id FROM pending WHERE NOT pending.expired) waiting
     ORDER BY waiting.xid, waiting.id
     LIMIT 1
), last AS MATERIALIZED (
    -- the last event before it
    SELECT event.xid, event.id
      FROM event
      LEFT JOIN blocking ON true
     WHERE blocking.xid IS NULL OR (event.xid, event.id) < (blocking.xid, blocking.id)
     ORDER BY event.xid DESC, event.id DESC
     LIMIT 1
), queued AS MATERIALIZED (
    -- the user is a column: below a policy a cast keeps an index from being used
    SELECT pending.*,
           CASE
               WHEN pending.target_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                   THEN pending.target_id::uuid
           END AS user_id
      FROM pending
     WHERE NOT pending.expired AND pending.created_at <= now() - :delay_ms::int4 * interval '1 ms'
     ORDER BY pending.xid, pending.id
     LIMIT 256
), decided AS MATERIALIZED (
    -- how to go on, and when the oldest event was that is of interest
    SELECT (SELECT count(*) FROM page) = 1000 OR (SELECT count(*) FROM page) > count(*) AS full,
           (SELECT count(*) = 256 FROM queued) AS many,
           coalesce(min(event.created_at) FILTER (WHERE last.xid IS NULL
                                                  OR (event.xid, event.id) > (last.xid, last.id)),
                    now()) AS since
      FROM event
      LEFT JOIN last ON true
), looked AS MATERIALIZED (
    -- the last event that was looked at
    SELECT event.xid, event.id
      FROM event
      CROSS JOIN decided
     WHERE NOT decided.many
        OR (event.xid, event.id) < (SELECT queued.xid, queued.id
                                      FROM queued ORDER BY queued.xid DESC, queued.id DESC LIMIT 1)
     ORDER BY event.xid DESC, event.id DESC
     LIMIT 1
), updated AS (
    UPDATE svc.webhook_outbox outbox
       SET xid = CASE WHEN start.again THEN start.xid ELSE coalesce(last.xid, start.xid) END,
           event_id = CASE WHEN start.again THEN start.event_id
                           ELSE coalesce(last.id, start.event_id) END,
           next_xid = CASE WHEN (decided.full OR decided.many)
                                AND (start.again OR blocking.xid IS NOT NULL) THEN looked.xid END,
           next_id = CASE WHEN (decided.full OR decided.many)
                               AND (start.again OR blocking.xid IS NOT NULL) THEN looked.id END,
           due_at = clock_timestamp() + CASE
                                            WHEN decided.many THEN interval '500 ms'
                                            WHEN decided.full THEN interval '100 ms'
                                            ELSE interval '1 s'
                                        END
      FROM start
      CROSS JOIN decided
      LEFT JOIN last ON true
      LEFT JOIN blocking ON true
      LEFT JOIN looked ON true
     WHERE outbox.tenant_id = :tenant
), deleted AS (
    DELETE FROM svc.webhook_done done
     USING start, decided
     WHERE done.tenant_id = :tenant
       AND NOT start.again
       AND NOT decided.full
       AND done.delivery_id = ANY (ARRAY(SELECT past.delivery_id
                                           FROM svc.webhook_done past
                                          WHERE past.tenant_id = :tenant
                                            AND past.done_at < (SELECT decided.since FROM decided)
                                          ORDER BY past.done_at
                                          LIMIT 5000))
)
SELECT CASE
           WHEN start.again THEN 0
           ELSE (SELECT count(*)
                   FROM pending
                   CROSS JOIN last
                  WHERE pending.expired AND (pending.xid, pending.id) <= (last.xid, last.id))
       END AS expired,
       queued.delivery, queued.event, queued.endpoint_id, queued.action, queued.target_id,
       account.user_name, queued.created_at
  FROM start
  LEFT JOIN queued ON true
  LEFT JOIN LATERAL (
       SELECT account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN queued.user_id AND queued.user_id
        ORDER BY account.id
        LIMIT 1) account ON queued.action = 'user.created'
 ORDER BY queued.xid, queued.id;
