-- Anomalies of agents.


-- statement: admin_anomalies_total
-- Up to 10,000 of one kind: those that nobody has acknowledged, or all, or those that are
-- searched for.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   severity       text ngx_svc_param_query_word("severity", ngx_svc_admin_anomaly_severities)
--   all            text ngx_svc_param_query_word("all", ngx_svc_admin_anomaly_all)
SELECT count(*)
  FROM ((SELECT
           FROM svc.agent_anomaly anomaly
          WHERE anomaly.tenant_id = :tenant
            AND anomaly.acknowledged_at IS NULL
            AND NOT coalesce(:all, 'false') IN ('true', '1')
            AND coalesce(:q::text, :severity::text) IS NULL
          LIMIT 10000)
        UNION ALL
        (SELECT
           FROM svc.agent_anomaly anomaly
          WHERE anomaly.tenant_id = :tenant
            AND coalesce(:all, 'false') IN ('true', '1')
            AND coalesce(:q::text, :severity::text) IS NULL
          LIMIT 10000)
        UNION ALL
        (SELECT
           FROM svc.agent_anomaly anomaly
          WHERE anomaly.tenant_id = :tenant
            AND coalesce(:q::text, :severity::text) IS NOT NULL
            AND (coalesce(:all, 'false') IN ('true', '1') OR anomaly.acknowledged_at IS NULL)
            AND (:severity::text IS NULL OR anomaly.severity = :severity)
            AND (:q::text IS NULL
                 OR anomaly.client_id = ANY (
                     ARRAY(SELECT client.client_id
                             FROM svc.application client
                            WHERE client.tenant_id = :tenant
                              AND client.type = 'agent'
                              AND (strpos(lower(client.name), lower(:q)) > 0
                                   OR strpos(client.client_id, :q) > 0)))
                 OR strpos(lower(anomaly.details::text), lower(:q)) > 0
                 OR anomaly.id::text = lower(:q))
          LIMIT 10000)) anomaly;


-- statement: admin_anomalies_list
-- One of the two halves is empty: each has an index of its own.  What an anomaly is told as
-- has a detail of it in the place of "%", or is said without, when there is none; whoever
-- acknowledges it, below, is told the same.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   severity       text ngx_svc_param_query_word("severity", ngx_svc_admin_anomaly_severities)
--   all            text ngx_svc_param_query_word("all", ngx_svc_admin_anomaly_all)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT anomaly.id, anomaly.client_id AS "clientId", client.name AS "agentName", anomaly.type,
       anomaly.severity,
       CASE anomaly.type
           WHEN 'token_burst' THEN coalesce(
               replace('% token requests in a minute, many more than usual', '%',
                       translate(anomaly.details->>'tokens', '[]"', '')),
               'Many more token requests in a minute than usual')
           WHEN 'new_ip' THEN coalesce(
               replace('First token request from %', '%',
                       translate(anomaly.details->>'ip', '[]"', '')),
               'First token request from another network')
           WHEN 'new_country' THEN coalesce(
               replace('First token request from %', '%',
                       translate(anomaly.details->>'country', '[]"', '')),
               'First token request from another country')
           WHEN 'scope_denied' THEN coalesce(
               replace('Asked for %, which its policy does not allow', '%',
                       translate(anomaly.details->>'scopes', '[]"', '')),
               'Asked for scopes that its policy does not allow')
           WHEN 'audience_denied' THEN coalesce(
               replace('Asked for a token for %, which its policy does not allow', '%',
                       translate(anomaly.details->>'resource', '[]"', '')),
               'Asked for a token for an audience that its policy does not allow')
           WHEN 'off_hours' THEN coalesce(
               replace('Token requests at % h UTC, when it has almost none', '%',
                       translate(anomaly.details->>'hour', '[]"', '')),
               'Token requests at an hour when it has almost none')
           WHEN 'disabled_use' THEN coalesce(
               replace('Good credentials from % while it is disabled', '%',
                       translate(anomaly.details->>'ip', '[]"', '')),
               'Good credentials while it is disabled')
           WHEN 'expired_use' THEN coalesce(
               replace('Good credentials from % after it expired', '%',
                       translate(anomaly.details->>'ip', '[]"', '')),
               'Good credentials after it expired')
           WHEN 'new_subject' THEN coalesce(
               replace('% subjects in an hour for whom it had not acted before', '%',
                       translate(anomaly.details->>'newSubjects', '[]"', '')),
               'Acts for somebody for whom it had not acted before')
           WHEN 'secret_reuse' THEN coalesce(
               replace('A secret that has been replaced was used from %', '%',
                       translate(anomaly.details->>'ip', '[]"', '')),
               'A secret that has been replaced was used')
       END AS description,
       anomaly.details
       || jsonb_build_object('occurrences', anomaly.occurrences, 'lastSeenAt',
                             to_char(anomaly.last_seen_at AT TIME ZONE 'UTC',
                                     'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS details,
       anomaly.created_at AS "createdAt", anomaly.acknowledged_at IS NOT NULL AS acknowledged,
       anomaly.acknowledged_at AS "acknowledgedAt", account.id AS "acknowledgedBy.id",
       account.user_name AS "acknowledgedBy.email"
  FROM ((SELECT anomaly.*
           FROM svc.agent_anomaly anomaly
          WHERE anomaly.tenant_id = :tenant
            AND anomaly.acknowledged_at IS NULL
            AND NOT coalesce(:all, 'false') IN ('true', '1')
            AND (:severity::text IS NULL OR anomaly.severity = :severity)
            AND (:q::text IS NULL
                 OR anomaly.client_id = ANY (
                     ARRAY(SELECT client.client_id
                             FROM svc.application client
                            WHERE client.tenant_id = :tenant
                              AND client.type = 'agent'
                              AND (strpos(lower(client.name), lower(:q)) > 0
                                   OR strpos(client.client_id, :q) > 0)))
                 OR strpos(lower(anomaly.details::text), lower(:q)) > 0
                 OR anomaly.id::text = lower(:q))
          ORDER BY anomaly.created_at DESC, anomaly.id DESC
          LIMIT :page_limit::int4 OFFSET :page_offset::int4)
        UNION ALL
        (SELECT anomaly.*
           FROM svc.agent_anomaly anomaly
          WHERE anomaly.tenant_id = :tenant
            AND coalesce(:all, 'false') IN ('true', '1')
            AND (:severity::text IS NULL OR anomaly.severity = :severity)
            AND (:q::text IS NULL
                 OR anomaly.client_id = ANY (
                     ARRAY(SELECT client.client_id
                             FROM svc.application client
                            WHERE client.tenant_id = :tenant
                              AND client.type = 'agent'
                              AND (strpos(lower(client.name), lower(:q)) > 0
                                   OR strpos(client.client_id, :q) > 0)))
                 OR strpos(lower(anomaly.details::text), lower(:q)) > 0
                 OR anomaly.id::text = lower(:q))
          ORDER BY anomaly.created_at DESC, anomaly.id DESC
          LIMIT :page_limit::int4 OFFSET :page_offset::int4)) anomaly
  CROSS JOIN LATERAL (
       SELECT client.name
         FROM svc.application client
        WHERE client.tenant_id = :tenant
          AND client.client_id BETWEEN anomaly.client_id AND anomaly.client_id
        ORDER BY client.client_id
        LIMIT 1) client
  LEFT JOIN LATERAL (
       SELECT account.id, account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN anomaly.acknowledged_by AND anomaly.acknowledged_by
        ORDER BY account.id
        LIMIT 1) account ON true
 ORDER BY anomaly.created_at DESC, anomaly.id DESC;


-- statement: admin_anomaly_lock
--
-- missing: NGX_SVC_ADMIN_NO_ANOMALY
-- parameters
--   anomaly_id     uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_ANOMALY)
SELECT anomaly.id
  FROM svc.agent_anomaly anomaly
 WHERE anomaly.tenant_id = :tenant AND anomaly.id = :anomaly_id
 FOR NO KEY UPDATE;


-- statement: admin_anomaly_ack
-- Who comes later changes nothing, and is told who was first.  With "IS NULL" the index of
-- those that are not acknowledged would be as good to the planner.
--
-- missing: NGX_SVC_ADMIN_NO_ANOMALY
-- parameters
--   anomaly_id     uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_ANOMALY)
WITH updated AS (
    UPDATE svc.agent_anomaly anomaly
       SET acknowledged_at = now(),
           acknowledged_by = CASE
               WHEN :caller_is_user
                    THEN nullif(current_setting('svc.actor_id', true), '')::uuid
           END
     WHERE anomaly.tenant_id = :tenant
       AND anomaly.id = :anomaly_id
       AND coalesce(anomaly.acknowledged_at, 'infinity') = 'infinity'
    RETURNING anomaly.*
), shown AS (
    SELECT anomaly.id, anomaly.client_id AS "clientId", client.name AS "agentName", anomaly.type,
           anomaly.severity,
           CASE anomaly.type
               WHEN 'token_burst' THEN coalesce(
                   replace('% token requests in a minute, many more than usual', '%',
                           translate(anomaly.details->>'tokens', '[]"', '')),
                   'Many more token requests in a minute than usual')
               WHEN 'new_ip' THEN coalesce(
                   replace('First token request from %', '%',
                           translate(anomaly.details->>'ip', '[]"', '')),
                   'First token request from another network')
               WHEN 'new_country' THEN coalesce(
                   replace('First token request from %', '%',
                           translate(anomaly.details->>'country', '[]"', '')),
                   'First token request from another country')
               WHEN 'scope_denied' THEN coalesce(
                   replace('Asked for %, which its policy does not allow', '%',
                           translate(anomaly.details->>'scopes', '[]"', '')),
                   'Asked for scopes that its policy does not allow')
               WHEN 'audience_denied' THEN coalesce(
                   replace('Asked for a token for %, which its policy does not allow', '%',
                           translate(anomaly.details->>'resource', '[]"', '')),
                   'Asked for a token for an audience that its policy does not allow')
               WHEN 'off_hours' THEN coalesce(
                   replace('Token requests at % h UTC, when it has almost none', '%',
                           translate(anomaly.details->>'hour', '[]"', '')),
                   'Token requests at an hour when it has almost none')
               WHEN 'disabled_use' THEN coalesce(
                   replace('Good credentials from % while it is disabled', '%',
                           translate(anomaly.details->>'ip', '[]"', '')),
                   'Good credentials while it is disabled')
               WHEN 'expired_use' THEN coalesce(
                   replace('Good credentials from % after it expired', '%',
                           translate(anomaly.details->>'ip', '[]"', '')),
                   'Good credentials after it expired')
               WHEN 'new_subject' THEN coalesce(
                   replace('% subjects in an hour for whom it had not acted before', '%',
                           translate(anomaly.details->>'newSubjects', '[]"', '')),
                   'Acts for somebody for whom it had not acted before')
               WHEN 'secret_reuse' THEN coalesce(
                   replace('A secret that has been replaced was used from %', '%',
                           translate(anomaly.details->>'ip', '[]"', '')),
                   'A secret that has been replaced was used')
           END AS description,
           anomaly.details
           || jsonb_build_object('occurrences', anomaly.occurrences, 'lastSeenAt',
                                 to_char(anomaly.last_seen_at AT TIME ZONE 'UTC',
                                         'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS details,
           anomaly.created_at AS "createdAt", anomaly.acknowledged_at IS NOT NULL AS acknowledged,
           anomaly.acknowledged_at AS "acknowledgedAt", account.id AS "acknowledgedBy.id",
           account.user_name AS "acknowledgedBy.email", updated.id AS _done
      FROM (SELECT *
              FROM updated
            UNION ALL
            SELECT *
              FROM svc.agent_anomaly anomaly
             WHERE anomaly.tenant_id = :tenant
               AND anomaly.id = :anomaly_id
               AND anomaly.acknowledged_at IS NOT NULL) anomaly
      CROSS JOIN LATERAL (
           SELECT client.name
             FROM svc.application client
            WHERE client.tenant_id = :tenant
              AND client.client_id BETWEEN anomaly.client_id AND anomaly.client_id
            ORDER BY client.client_id
            LIMIT 1) client
      LEFT JOIN LATERAL (
           SELECT account.id, account.user_name
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.id BETWEEN anomaly.acknowledged_by AND anomaly.acknowledged_by
            ORDER BY account.id
            LIMIT 1) account ON true
      LEFT JOIN updated ON true
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'agent.anomaly_acknowledged', 'agent', shown."clientId", shown."agentName",
           jsonb_build_object('anomalyId', shown.id, 'type', shown.type)
      FROM shown
     WHERE shown._done IS NOT NULL
)
SELECT *
  FROM shown;
