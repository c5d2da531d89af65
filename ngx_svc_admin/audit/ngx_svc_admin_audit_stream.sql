-- statement: admin_audit_stream_lock
-- Who opens one waits here for who opens another: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.audit_stream'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_audit_stream_open
-- That there are too many is an event, once in a minute.
--
-- parameters
--   lease          uuid ngx_svc_param_data(ngx_svc_admin_follow_t, lease)
--   streams_max    int4 ngx_svc_param_constant(NGX_SVC_ADMIN_STREAM_MAX)
--   lease_seconds  int4 ngx_svc_param_constant(NGX_SVC_ADMIN_FOLLOW_LEASE)
-- verdicts
--   full           rate_limited    The tenant has %(NGX_SVC_ADMIN_STREAM_MAX) open streams
--                                  of its audit log: close one.
-- columns
--   _verdict       text
--   audited        bool
--   xid            xid8
--   since          timestamptz
--   snapshot       pg_snapshot
WITH expired AS (
    DELETE FROM svc.audit_stream stream
     WHERE stream.tenant_id = :tenant AND stream.expires_at <= now()
), opened AS (
    SELECT count(*) AS streams
      FROM svc.audit_stream stream
     WHERE stream.tenant_id = :tenant AND stream.expires_at > now()
), stream AS (
    INSERT INTO svc.audit_stream AS stream (id, expires_at)
    SELECT :lease::uuid, now() + :lease_seconds::int4 * interval '1 second'
      FROM opened
     WHERE opened.streams < :streams_max::int4 AND :tenant_or_null IS NOT NULL
    RETURNING stream.id
), event AS (
    INSERT INTO svc.audit_event AS event
        (outcome, action, target_type, target_id, target_name, details)
    SELECT 'failure', 'rate_limit.exceeded', NULL, NULL, NULL,
           jsonb_build_object('limit', 'audit.stream', 'max', :streams_max::int4)
      FROM opened
     WHERE opened.streams >= :streams_max::int4
       AND NOT EXISTS (SELECT
                         FROM svc.audit_event told
                        WHERE told.tenant_id = :tenant
                          AND told.created_at > now() - interval '1 minute'
                          AND told.created_at <= now()
                          AND told.action = 'rate_limit.exceeded')
    RETURNING event.id
)
SELECT CASE WHEN NOT EXISTS (SELECT FROM stream) THEN 'full' END AS _verdict,
       EXISTS (SELECT FROM event) AS audited,
       pg_snapshot_xmin(pg_current_snapshot()) AS xid, now() AS since,
       pg_current_snapshot() AS snapshot;


-- statement: admin_audit_stream_resume
-- Where to go on behind the event that was seen last: at most so many events back, and at
-- most so many of those that match. There is a gap when some are left out, or when the log
-- has no such event any more.
--
-- parameters
--   filter_q          text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.q)
--   filter_outcome    text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.outcome)
--   filter_action     text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.action)
--   filter_actor_id   text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.actor_id)
--   filter_target_id  text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.target_id)
--   filter_request_id text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.request_id)
--   after             text ngx_svc_param_data(ngx_svc_admin_follow_t, after)
--   replay_max        int4 ngx_svc_param_constant(NGX_SVC_ADMIN_STREAM_REPLAY)
--   window_max        int4 ngx_svc_param_constant(NGX_SVC_ADMIN_STREAM_WINDOW)
-- columns
--   xid            xid8
--   id             int8         as text
--   skip_xid       xid8
--   skip_id        int8         as text
--   since          timestamptz
--   gap            bool
--   snapshot       pg_snapshot
WITH seen AS MATERIALIZED (
    SELECT event.xid, event.id, event.created_at
      FROM svc.audit_event event
     WHERE event.tenant_id = :tenant AND event.id = :after::text::int8
), start AS MATERIALIZED (
    SELECT coalesce((SELECT seen.xid FROM seen), '0') AS xid,
           coalesce((SELECT seen.id FROM seen), -1) AS id
), outside AS MATERIALIZED (
    -- the newest event that is too far back
    SELECT event.xid, event.id, event.created_at
      FROM svc.audit_event event
     WHERE event.tenant_id = :tenant
       AND (event.xid, event.id) > ((SELECT start.xid FROM start), (SELECT start.id FROM start))
     ORDER BY event.xid DESC, event.id DESC
     LIMIT 1 OFFSET :window_max::int4
), windowed AS MATERIALIZED (
    SELECT coalesce((SELECT outside.xid FROM outside), start.xid) AS xid,
           coalesce((SELECT outside.id FROM outside), start.id) AS id
      FROM start
), surplus AS MATERIALIZED (
    -- the newest event that matches, and is one too many
    SELECT event.xid, event.id, event.created_at
      FROM svc.audit_event event
     WHERE event.tenant_id = :tenant
       AND (event.xid, event.id)
           > ((SELECT windowed.xid FROM windowed), (SELECT windowed.id FROM windowed))
       AND :audit_match
     ORDER BY event.xid DESC, event.id DESC
     LIMIT 1 OFFSET :replay_max::int4
), resumed AS (
    SELECT coalesce((SELECT surplus.xid FROM surplus), windowed.xid) AS xid,
           coalesce((SELECT surplus.id FROM surplus), windowed.id) AS id
      FROM windowed
)
SELECT least(resumed.xid, horizon.xmin) AS xid,
       CASE WHEN resumed.xid < horizon.xmin THEN resumed.id ELSE -1 END AS id,
       resumed.xid AS skip_xid, resumed.id AS skip_id,
       coalesce((SELECT surplus.created_at FROM surplus),
                (SELECT outside.created_at FROM outside),
                (SELECT seen.created_at FROM seen), '-infinity') AS since,
       NOT EXISTS (SELECT FROM seen)
       OR EXISTS (SELECT FROM outside)
       OR EXISTS (SELECT FROM surplus) AS gap,
       pg_current_snapshot() AS snapshot
  FROM resumed, (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin) horizon;


-- statement: admin_audit_stream_close
-- By the token, or where that may have ended.
--
-- parameters
--   lease          uuid
DELETE FROM svc.audit_stream stream
 WHERE stream.tenant_id = :tenant AND stream.id = :lease::uuid;


-- statement: admin_audit_stream_end
--
-- parameters
--   tenant_id      text
--   lease          uuid
SELECT svc.audit_stream_close(:tenant_id::text::uuid, :lease::uuid);
