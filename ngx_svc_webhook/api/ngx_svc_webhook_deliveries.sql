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


-- statement: webhook_redeliver
-- The body is not kept: it is made again of the event in the audit log, which has the time
-- and, by its id, is known to be that one.  The search begins where the first attempt that
-- is kept began, by the clock of a helper, and goes back as far as the outbox does.
--
-- missing: NGX_SVC_WEBHOOK_NONE
-- parameters
--   endpoint_id    uuid ngx_svc_param_path_id(0, NGX_SVC_WEBHOOK_NONE)
--   delivery_id    text ngx_svc_param_call(ngx_svc_webhook_redeliver_bind)
--   events_max     int4 ngx_svc_param_constant(NGX_SVC_WEBHOOK_LOOKED)
-- verdicts
--   none           not_found       NGX_SVC_WEBHOOK_NO_DELIVERY
--   disabled       invalid_request The webhook is disabled: enable it first, with PATCH and
--                                  {"enabled":true}.
--   unwanted       invalid_request The webhook does not take %V any more.
--   known          conflict        NGX_SVC_WEBHOOK_KNOWN_YET
--   gone           conflict        The event of the delivery is not found in the audit log,
--                                  or it was a sample: it cannot be delivered again.
-- columns
--   _verdict       text
--   _endpoint_id   uuid
--   _event_id      text
--   _action        text
--   _target_id     text
--   _user_name     text         NULL: the user is gone
--   _at            timestamptz
WITH endpoint AS (
    SELECT endpoint.id, endpoint.url, endpoint.enabled, endpoint.events
      FROM svc.webhook_endpoint endpoint
     WHERE endpoint.tenant_id = :tenant AND endpoint.id = :endpoint_id
), attempt AS MATERIALIZED (
    SELECT attempt.event_id, attempt.event, attempt.created_at
      FROM svc.webhook_attempt attempt
     WHERE attempt.tenant_id = :tenant
       AND attempt.endpoint_id = :endpoint_id
       AND attempt.created_at >= now() - interval '7 days'
       AND attempt.delivery_id = :delivery_id
     ORDER BY attempt.created_at DESC
), delivery AS MATERIALIZED (
    SELECT min(attempt.event_id) AS event_id, min(attempt.event) AS event,
           min(attempt.created_at) - interval '2 days' AS since,
           min(attempt.created_at) + interval '10 seconds' AS until,
           max(attempt.created_at) AS tried_at
      FROM attempt
    HAVING count(*) > 0
), event AS MATERIALIZED (
    -- with the id that ngx_svc_webhook_event.h makes, of its number or of its user
    SELECT logged.created_at, logged.action, logged.target_id,
           CASE
               WHEN logged.target_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                   THEN logged.target_id::uuid
           END AS user_id
      FROM delivery
      CROSS JOIN LATERAL (
           SELECT logged.id, logged.created_at, logged.action, logged.target_id
             FROM svc.audit_event logged
            WHERE logged.tenant_id = :tenant
              AND logged.created_at > delivery.since
              AND logged.created_at < delivery.until
            ORDER BY logged.created_at DESC, logged.id DESC
            LIMIT :events_max::int4) logged
     WHERE logged.action = delivery.event
       AND delivery.event_id IN (
               SELECT encode(substr(sha256(convert_to('svc.webhook.event ' || (:tenant)::text || ' '
                          || logged.action || ' ' || called.name, 'UTF8')), 1, 16), 'hex')
                 FROM (VALUES (logged.id::text), (logged.target_id)) called (name))
     LIMIT 1
), decided AS (
    SELECT CASE
               WHEN delivery.event_id IS NULL THEN 'none'
               WHEN NOT endpoint.enabled THEN 'disabled'
               WHEN delivery.event <> ALL (endpoint.events) THEN 'unwanted ' || delivery.event
               WHEN delivery.tried_at > now() - interval '1 minute' THEN 'known'
               WHEN event.action IS NULL THEN 'gone'
           END AS verdict,
           endpoint.id, endpoint.url, delivery.event_id, event.action, event.target_id,
           event.user_id, event.created_at
      FROM endpoint
      LEFT JOIN delivery ON true
      LEFT JOIN event ON true
), told AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'webhook.redelivered', 'webhook', decided.id::text,
           substring(decided.url FROM '^https://([^/?]*)'),
           jsonb_build_object('deliveryId', :delivery_id::text, 'eventId', decided.event_id,
                              'event', decided.action)
      FROM decided
     WHERE decided.verdict IS NULL
)
SELECT decided.verdict AS _verdict, decided.id AS _endpoint_id, decided.event_id AS _event_id,
       decided.action AS _action, decided.target_id AS _target_id,
       account.user_name AS _user_name, decided.created_at AS _at
  FROM decided
  LEFT JOIN LATERAL (
       SELECT account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN decided.user_id AND decided.user_id
        ORDER BY account.id
        LIMIT 1) account ON true;
