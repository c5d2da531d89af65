-- statement: admin_audit_export_count
-- The newest key is where the first page begins: what comes later is not in. Whether the
-- export is truncated is told by the first event that is too many.
--
-- parameters
--   filter_q          text ngx_svc_param_data(ngx_svc_admin_export_t, filter.q)
--   filter_outcome    text ngx_svc_param_data(ngx_svc_admin_export_t, filter.outcome)
--   filter_action     text ngx_svc_param_data(ngx_svc_admin_export_t, filter.action)
--   filter_actor_id   text ngx_svc_param_data(ngx_svc_admin_export_t, filter.actor_id)
--   filter_target_id  text ngx_svc_param_data(ngx_svc_admin_export_t, filter.target_id)
--   filter_request_id text ngx_svc_param_data(ngx_svc_admin_export_t, filter.request_id)
--   filter_from       text ngx_svc_param_data(ngx_svc_admin_export_t, filter.from)
--   filter_to         text ngx_svc_param_data(ngx_svc_admin_export_t, filter.to)
--   events_max        int4 ngx_svc_param_constant(NGX_SVC_ADMIN_EXPORT_MAX)
-- columns
--   slug           text
--   createdAt      timestamptz
--   id             int8         as text
--   truncated      bool
SELECT tenant.slug, event.created_at AS "createdAt", event.id + 1 AS id,
       surplus.id IS NOT NULL AS truncated
  FROM svc.tenant tenant
  LEFT JOIN (SELECT event.created_at, event.id
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
              LIMIT 1) event ON true
  LEFT JOIN (SELECT event.id
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
              LIMIT 1 OFFSET :events_max::int4) surplus ON true
 WHERE tenant.id = :tenant;


-- statement: admin_audit_export_audit
--
-- parameters
--   format         text ngx_svc_param_data(ngx_svc_admin_export_t, format)
--   truncated      text ngx_svc_param_data(ngx_svc_admin_export_t, truncated)
INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
SELECT 'audit.exported', NULL, NULL, NULL,
       jsonb_build_object('format', :format::text, 'truncated', :truncated::text::bool)
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_audit_export_page
-- The events behind the last one of the page before.
--
-- parameters
--   filter_q          text ngx_svc_param_data(ngx_svc_admin_export_t, filter.q)
--   filter_outcome    text ngx_svc_param_data(ngx_svc_admin_export_t, filter.outcome)
--   filter_action     text ngx_svc_param_data(ngx_svc_admin_export_t, filter.action)
--   filter_actor_id   text ngx_svc_param_data(ngx_svc_admin_export_t, filter.actor_id)
--   filter_target_id  text ngx_svc_param_data(ngx_svc_admin_export_t, filter.target_id)
--   filter_request_id text ngx_svc_param_data(ngx_svc_admin_export_t, filter.request_id)
--   filter_from       text ngx_svc_param_data(ngx_svc_admin_export_t, filter.from)
--   filter_to         text ngx_svc_param_data(ngx_svc_admin_export_t, filter.to)
--   last_created      text ngx_svc_param_data(ngx_svc_admin_export_t, created)
--   last_id           text ngx_svc_param_data(ngx_svc_admin_export_t, id)
--   events_max        int4 ngx_svc_param_call(ngx_svc_admin_export_bind_limit)
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
SELECT event.id::text AS "id", event.created_at AS "createdAt", event.action AS "action",
       event.outcome AS "outcome", event.actor_type AS "actor.type", event.actor_id AS "actor.id",
       event.actor_name AS "actor.name", event.target_type AS "target.type",
       event.target_id AS "target.id", event.target_name AS "target.name", host(event.ip) AS "ip",
       event.country AS "country", event.user_agent AS "userAgent", event.request_id AS "requestId",
       event.details AS "details"
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
   AND event.created_at <= :last_created::text::timestamptz
   AND (event.created_at, event.id) < (:last_created::text::timestamptz, :last_id::text::int8)
   AND :audit_match
 ORDER BY event.created_at DESC, event.id DESC
 LIMIT :events_max::int4;
