-- statement: webhook_trim
-- By their places: no estimate of the planner's can make that a join. They are those of
-- this tenant, and stay while the statement sees them. Who trims keeps others from it, and
-- who deletes an endpoint waits: two that delete the same rows, each in an order of its own,
-- may wait for each other.
--
-- parameters
--   endpoint_ids   text
WITH endpoint AS MATERIALIZED (
    SELECT endpoint.id
      FROM svc.webhook_endpoint endpoint
     WHERE endpoint.tenant_id = :tenant
       AND endpoint.id = ANY ((SELECT CASE
               WHEN pg_try_advisory_xact_lock(hashtext('svc.webhook_attempt'),
                                              hashtext(current_setting('svc.tenant')))
                   THEN :endpoint_ids::text::uuid[]
           END)::uuid[])
     FOR KEY SHARE
)
SELECT svc.webhook_attempt_delete(ARRAY(
           SELECT attempt.ctid
             FROM endpoint, (VALUES (true), (false)) kept (acknowledged),
                  LATERAL (SELECT attempt.ctid
                             FROM svc.webhook_attempt attempt
                            WHERE attempt.tenant_id = :tenant
                              AND attempt.endpoint_id = endpoint.id
                              AND (attempt.outcome = 'acknowledged') = kept.acknowledged
                            ORDER BY attempt.created_at DESC, attempt.delivery_id DESC,
                                     attempt.attempt DESC
                            LIMIT 1000 OFFSET 100) attempt));
