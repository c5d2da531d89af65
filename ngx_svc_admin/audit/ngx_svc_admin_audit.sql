-- statement: admin_audit_list
-- One pass finds the page and the total: the keys of what matches, newest first, as
-- many as the total counts or the page needs. LATERAL with a LIMIT is looked up row by
-- row: a plain join, planned while a month's partition was nearly empty, would read all
-- of it for each row of the page.
--
-- parameters
--   filter_q          text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.q)
--   filter_outcome    text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.outcome)
--   filter_action     text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.action)
--   filter_actor_id   text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.actor_id)
--   filter_target_id  text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.target_id)
--   filter_request_id text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.request_id)
--   filter_from       text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.from)
--   filter_to         text ngx_svc_param_data(ngx_svc_admin_audit_list_t, filter.to)
--   page_limit        int4 ngx_svc_param_limit()
--   page_offset       int4 ngx_svc_param_offset()
WITH event AS MATERIALIZED (
    SELECT event.created_at, event.id
      FROM svc.audit_event event
     WHERE event.tenant_id = :tenant
       AND event.created_at >= CASE
                                   WHEN :filter_from::text IS NULL THEN '-infinity'
                                   ELSE to_timestamp(:filter_from::float8 / 1000)
                               END
       AND event.created_at < CASE
                                  WHEN :filter_to::text IS NULL THEN 'infinity'
                                  ELSE to_timestamp(:filter_to::float8 / 1000)
                              END
       AND :audit_match
     ORDER BY event.created_at DESC, event.id DESC
     LIMIT greatest(10000, :page_limit::int4::int8 + :page_offset::int4)
), page AS MATERIALIZED (
    SELECT event.*
      FROM event
     ORDER BY event.created_at DESC, event.id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
)
SELECT counted.total AS _total, event.id::text AS "id", event.created_at AS "createdAt",
       event.action AS "action", event.outcome AS "outcome", event.actor_type AS "actor.type",
       event.actor_id AS "actor.id", event.actor_name AS "actor.name",
       event.target_type AS "target.type", event.target_id AS "target.id",
       event.target_name AS "target.name", host(event.ip) AS "ip", event.country AS "country",
       event.user_agent AS "userAgent", event.request_id AS "requestId", event.details AS "details"
  FROM (SELECT least(count(*), 10000) AS total FROM event) counted
  LEFT JOIN (page CROSS JOIN LATERAL (
                     SELECT logged.*
                       FROM svc.audit_event logged
                      WHERE logged.tenant_id = :tenant
                        AND logged.created_at = page.created_at
                        AND logged.id = page.id
                      LIMIT 1) event) ON true
 ORDER BY event.created_at DESC, event.id DESC;


-- statement: admin_audit_get
-- A range and an ORDER BY have the index of ids looked up in each partition, whatever the
-- planner knows.
--
-- missing: NGX_SVC_ADMIN_NO_EVENT
-- parameters
--   event_id       text ngx_svc_param_call(ngx_svc_admin_audit_bind_id)
SELECT event.id::text AS "id", event.created_at AS "createdAt",
       event.action AS "action", event.outcome AS "outcome", event.actor_type AS "actor.type",
       event.actor_id AS "actor.id", event.actor_name AS "actor.name",
       event.target_type AS "target.type", event.target_id AS "target.id",
       event.target_name AS "target.name", host(event.ip) AS "ip", event.country AS "country",
       event.user_agent AS "userAgent", event.request_id AS "requestId", event.details AS "details"
  FROM svc.audit_event event
 WHERE event.tenant_id = :tenant
   AND event.id BETWEEN :event_id::text::int8 AND :event_id::text::int8
 ORDER BY event.id
 LIMIT 1;
