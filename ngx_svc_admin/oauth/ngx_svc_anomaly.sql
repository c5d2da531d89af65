-- statement: oauth_anomaly (shared)
-- There is one row for an agent, a type and an hour, or a day of "expired_use".  It counts
-- how often that was seen, and only the first time is told in the audit log.  Refusals weigh
-- more the more there are.
--
-- parameters
--   client_id      text
--   type           text
--   details        text
-- columns
--   id             uuid         unread
--   created        bool
WITH client AS (
    SELECT client.client_id, client.name, :type::text AS type,
           to_char(now() AT TIME ZONE 'UTC', CASE :type::text
               WHEN 'expired_use' THEN 'YYYY-MM-DD'
               ELSE 'YYYY-MM-DD"T"HH24'
           END) AS key,
           CASE
               WHEN :type::text IN ('scope_denied', 'audience_denied') THEN 'low'
               WHEN :type::text = 'expired_use' THEN 'medium'
               ELSE 'high'
           END AS severity,
           jsonb_strip_nulls(:details::text::jsonb) AS details
      FROM svc.application client
     WHERE client.tenant_id = :tenant
       AND client.client_id = :client_id::text
       AND client.type = 'agent'
), anomaly AS (
    INSERT INTO svc.agent_anomaly AS anomaly (client_id, type, key, severity, details)
    SELECT client.client_id, client.type, client.key, client.severity, client.details
      FROM client
    ON CONFLICT (tenant_id, client_id, type, key) DO UPDATE
       SET occurrences = anomaly.occurrences + 1,
           last_seen_at = greatest(anomaly.last_seen_at, now()),
           details = excluded.details,
           severity = CASE
               WHEN NOT anomaly.type IN ('scope_denied', 'audience_denied') THEN anomaly.severity
               WHEN anomaly.occurrences + 1 >= 20 THEN 'high'
               WHEN anomaly.occurrences + 1 >= 5 THEN 'medium'
               ELSE anomaly.severity
           END
    RETURNING anomaly.id, anomaly.client_id, anomaly.type, anomaly.severity, anomaly.details,
              anomaly.occurrences
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'agent.anomaly_raised', 'agent', anomaly.client_id, client.name,
           anomaly.details
           || jsonb_build_object('anomalyId', anomaly.id, 'type', anomaly.type,
                                 'severity', anomaly.severity)
      FROM anomaly
      JOIN client ON client.client_id = anomaly.client_id
     WHERE anomaly.occurrences = 1
)
SELECT anomaly.id, anomaly.occurrences = 1 AS created
  FROM anomaly;
