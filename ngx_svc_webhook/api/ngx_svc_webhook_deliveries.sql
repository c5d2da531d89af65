-- statement: webhook_attempts
-- Of the last seven days: the partitions before them are not looked at.
--
-- parameters
--   endpoint_id    uuid ngx_svc_param_path_id(0, NGX_SVC_WEBHOOK_NONE)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT attempt.delivery_id AS id, attempt.event_id AS "eventId", attempt.event, attempt.attempt,
       attempt.outcome, attempt.status, attempt.duration_ms AS "durationMs", attempt.error,
       attempt.created_at AS "createdAt"
  FROM svc.webhook_attempt attempt
 WHERE attempt.tenant_id = :tenant
   AND attempt.endpoint_id = :endpoint_id
   AND attempt.created_at >= now() - interval '7 days'
 ORDER BY attempt.created_at DESC, attempt.delivery_id DESC, attempt.attempt DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: webhook_attempts_total
--
-- missing: NGX_SVC_WEBHOOK_NONE
-- parameters
--   endpoint_id    uuid ngx_svc_param_path_id(0, NGX_SVC_WEBHOOK_NONE)
SELECT (SELECT count(*)
          FROM svc.webhook_attempt attempt
         WHERE attempt.tenant_id = :tenant
           AND attempt.endpoint_id = :endpoint_id
           AND attempt.created_at >= now() - interval '7 days')
  FROM svc.webhook_endpoint endpoint
 WHERE endpoint.tenant_id = :tenant AND endpoint.id = :endpoint_id;


-- statement: webhook_test
--
-- missing: NGX_SVC_WEBHOOK_NONE
-- parameters
--   endpoint_id    uuid ngx_svc_param_path_id(0, NGX_SVC_WEBHOOK_NONE)
--   delivery_id    text ngx_svc_param_call(ngx_svc_webhook_test_bind)
-- verdicts
--   disabled       invalid_request The webhook is disabled: enable it first, with PATCH and
--                                  {"enabled":true}.
WITH endpoint AS (
    SELECT endpoint.id, endpoint.url, endpoint.enabled
      FROM svc.webhook_endpoint endpoint
     WHERE endpoint.tenant_id = :tenant AND endpoint.id = :endpoint_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'webhook.tested', 'webhook', endpoint.id::text,
           substring(endpoint.url FROM '^https://([^/?]*)'),
           jsonb_build_object('deliveryId', :delivery_id::text)
      FROM endpoint
     WHERE endpoint.enabled
)
SELECT CASE WHEN NOT endpoint.enabled THEN 'disabled' END AS _verdict
  FROM endpoint;
