-- statement: webhook_record
-- An endpoint may be gone meanwhile, or go just now, and rows may be there already when
-- the answer to the first try was lost.
--
-- parameters
--   attempts       text
WITH result AS MATERIALIZED (
    SELECT result.*
      FROM json_to_recordset(:attempts::text::json) AS result (
               endpoint uuid, began float8, delivery text, attempt smallint, event_id text,
               event text, outcome text, status smallint, duration integer, error text,
               audit boolean, more integer)
), endpoint AS MATERIALIZED (
    SELECT endpoint.id, substring(endpoint.url FROM '^https://([^/?]*)') AS host
      FROM svc.webhook_endpoint endpoint
     WHERE endpoint.tenant_id = :tenant AND endpoint.id IN (SELECT result.endpoint FROM result)
     FOR KEY SHARE
), attempt AS (
    INSERT INTO svc.webhook_attempt
        (endpoint_id, created_at, delivery_id, attempt, event_id, event, outcome, status,
         duration_ms, error)
    SELECT result.endpoint, to_timestamp(result.began / 1000), result.delivery, result.attempt,
           result.event_id, result.event, result.outcome, result.status, result.duration,
           result.error
      FROM result
      JOIN endpoint ON endpoint.id = result.endpoint
     WHERE result.more IS NULL
    ON CONFLICT DO NOTHING
)
-- no more of the URL than its host: what follows that may be as good as a password
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', 'webhook.delivery_failed', 'webhook', result.endpoint::text, endpoint.host,
       jsonb_strip_nulls(jsonb_build_object(
           'deliveryId', result.delivery, 'eventId', result.event_id, 'event', result.event,
           'attempts', result.attempt, 'status', result.status, 'error', result.error,
           'more', result.more))
  FROM result
  LEFT JOIN endpoint ON endpoint.id = result.endpoint
 WHERE result.audit;
