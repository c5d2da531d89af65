-- statement: admin_audit_follow (shared)
-- An event is final when nothing can appear before it any more: it has an xid below all
-- that are under way. Of the events behind the cursor come those that are final and
-- asked for; the last one that is final, to go on from; and the last one, which tells
-- whether some are not final. A transaction may be older than the event before it by as
-- long as it was open: a week. With an upper bound of the time too, or with limits as
-- parameters, the planner would expect few rows, and sort them.
--
-- parameters
--   filter_q          text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.q)
--   filter_outcome    text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.outcome)
--   filter_action     text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.action)
--   filter_actor_id   text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.actor_id)
--   filter_target_id  text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.target_id)
--   filter_request_id text ngx_svc_param_data(ngx_svc_admin_follow_t, filter.request_id)
--   cursor_xid        text ngx_svc_param_data(ngx_svc_admin_follow_t, cursor.xid)
--   cursor_id         text ngx_svc_param_data(ngx_svc_admin_follow_t, cursor.id)
--   since             text ngx_svc_param_data(ngx_svc_admin_follow_t, since)
--   snapshot          text ngx_svc_param_data(ngx_svc_admin_follow_t, snapshot)
--   skip_xid          text ngx_svc_param_data(ngx_svc_admin_follow_t, skip.xid)
--   skip_id           text ngx_svc_param_data(ngx_svc_admin_follow_t, skip.id)
-- columns
--   id             text
--   createdAt      timestamptz
--   action         text         answer
--   outcome        text         answer
--   actor.type     text         answer
--   actor.id       text         answer
--   actor.name     text         answer
--   target.type    text         answer
--   target.id      text         answer
--   target.name    text         answer
--   ip             text         answer
--   country        text         answer
--   userAgent      text         answer
--   requestId      text         answer
--   details        jsonb        answer
--   _xid           xid8
--   _final         bool
--   _match         bool
--   _n             int8
SELECT event.id::text AS "id", event.created_at AS "createdAt", event.action AS "action",
       event.outcome AS "outcome", event.actor_type AS "actor.type", event.actor_id AS "actor.id",
       event.actor_name AS "actor.name", event.target_type AS "target.type",
       event.target_id AS "target.id", event.target_name AS "target.name", host(event.ip) AS "ip",
       event.country AS "country", event.user_agent AS "userAgent", event.request_id AS "requestId",
       event.details AS "details", event.xid AS _xid, event.final AS _final, event.match AS _match,
       event.place AS _n
  FROM (SELECT behind.*, lead(behind.final) OVER logged AS next,
               row_number() OVER logged AS place
          FROM (SELECT event.*,
                       event.xid < pg_snapshot_xmin(pg_current_snapshot()) AS final,
                       ((event.xid, event.id) > (:skip_xid::text::xid8, :skip_id::text::int8)
                        OR NOT pg_visible_in_snapshot(event.xid, :snapshot::text::pg_snapshot))
                       AND :audit_match AS match
                  FROM svc.audit_event event
                 WHERE event.tenant_id = :tenant
                   AND (event.xid, event.id) > (:cursor_xid::text::xid8, :cursor_id::text::int8)
                   AND event.created_at > :since::text::timestamptz - interval '7 days'
                 ORDER BY event.xid, event.id
                 LIMIT 1000) behind
        WINDOW logged AS (ORDER BY behind.xid, behind.id)) event
 WHERE event.final AND event.match
    OR event.final AND event.next IS NOT TRUE
    OR event.next IS NULL
 ORDER BY event.xid, event.id
 LIMIT 200;
