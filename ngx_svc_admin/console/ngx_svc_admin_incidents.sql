-- statement: admin_incidents_total
-- Open ones, or all, or those that are searched for: of the three two find nothing.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   all            text ngx_svc_param_query_word("all", ngx_svc_admin_incident_all)
SELECT count(*)
  FROM ((SELECT
           FROM svc.incident incident
          WHERE incident.tenant_id = :tenant
            AND incident.acknowledged_at IS NULL
            AND NOT coalesce(:all, 'false') = 'true'
            AND :q::text IS NULL
          LIMIT 10000)
        UNION ALL
        (SELECT
           FROM svc.incident incident
          WHERE incident.tenant_id = :tenant
            AND coalesce(:all, 'false') = 'true'
            AND :q::text IS NULL
          LIMIT 10000)
        UNION ALL
        (SELECT
           FROM svc.incident incident
          WHERE incident.tenant_id = :tenant
            AND :q::text IS NOT NULL
            AND (coalesce(:all, 'false') = 'true' OR incident.acknowledged_at IS NULL)
            AND (strpos(lower(concat_ws(E'\x01', incident.title, incident.type,
                                        incident.details::text)),
                        lower(:q)) > 0
                 OR incident.id::text = lower(:q))
          LIMIT 10000)) shown;


-- statement: admin_incidents_list
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   all            text ngx_svc_param_query_word("all", ngx_svc_admin_incident_all)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT shown.id, shown.type, shown.severity, shown.title,
       shown.details
       || jsonb_build_object('count', shown.count,
                             'lastSeenAt', to_char(shown.last_seen_at AT TIME ZONE 'UTC',
                                                   'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS details,
       CASE WHEN shown.acknowledged_at IS NULL THEN 'open' ELSE 'acknowledged' END AS status,
       shown.created_at AS "createdAt", shown.acknowledged_at AS "acknowledgedAt",
       shown.acknowledged_by_type AS "acknowledgedBy.type",
       shown.acknowledged_by_id AS "acknowledgedBy.id",
       shown.acknowledged_by_name AS "acknowledgedBy.name"
  FROM ((SELECT incident.*
           FROM svc.incident incident
          WHERE incident.tenant_id = :tenant
            AND incident.acknowledged_at IS NULL
            AND NOT coalesce(:all, 'false') = 'true'
            AND (:q::text IS NULL
                 OR strpos(lower(concat_ws(E'\x01', incident.title, incident.type,
                                           incident.details::text)),
                           lower(:q)) > 0
                 OR incident.id::text = lower(:q))
          ORDER BY incident.created_at DESC, incident.id DESC
          LIMIT :page_limit::int4 OFFSET :page_offset::int4)
        UNION ALL
        (SELECT incident.*
           FROM svc.incident incident
          WHERE incident.tenant_id = :tenant
            AND coalesce(:all, 'false') = 'true'
            AND (:q::text IS NULL
                 OR strpos(lower(concat_ws(E'\x01', incident.title, incident.type,
                                           incident.details::text)),
                           lower(:q)) > 0
                 OR incident.id::text = lower(:q))
          ORDER BY incident.created_at DESC, incident.id DESC
          LIMIT :page_limit::int4 OFFSET :page_offset::int4)) shown
 ORDER BY shown.created_at DESC, shown.id DESC;


-- statement: admin_incident_lock
--
-- missing: NGX_SVC_ADMIN_NO_INCIDENT
-- parameters
--   incident_id    uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INCIDENT)
SELECT incident.id
  FROM svc.incident incident
 WHERE incident.tenant_id = :tenant AND incident.id = :incident_id
 FOR NO KEY UPDATE;


-- statement: admin_incident_ack
-- Who comes later changes nothing. What is answered says who was first.
--
-- parameters
--   incident_id    uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INCIDENT)
WITH updated AS (
    UPDATE svc.incident incident
       SET acknowledged_at = now(),
           acknowledged_by_type = nullif(current_setting('svc.actor_type', true), ''),
           acknowledged_by_id = nullif(current_setting('svc.actor_id', true), ''),
           acknowledged_by_name = nullif(current_setting('svc.actor_name', true), '')
     WHERE incident.tenant_id = :tenant
       AND incident.id = :incident_id
       AND incident.acknowledged_at IS NULL
    RETURNING incident.id, incident.type
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'incident.acknowledged', 'incident', updated.id::text, NULL,
           jsonb_build_object('type', updated.type)
      FROM updated
)
SELECT updated.id
  FROM updated;


-- statement: admin_incident_get
--
-- missing: NGX_SVC_ADMIN_NO_INCIDENT
-- parameters
--   incident_id    uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INCIDENT)
SELECT incident.id, incident.type, incident.severity, incident.title,
       incident.details
       || jsonb_build_object('count', incident.count,
                             'lastSeenAt', to_char(incident.last_seen_at AT TIME ZONE 'UTC',
                                                   'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS details,
       CASE WHEN incident.acknowledged_at IS NULL THEN 'open' ELSE 'acknowledged' END AS status,
       incident.created_at AS "createdAt", incident.acknowledged_at AS "acknowledgedAt",
       incident.acknowledged_by_type AS "acknowledgedBy.type",
       incident.acknowledged_by_id AS "acknowledgedBy.id",
       incident.acknowledged_by_name AS "acknowledgedBy.name"
  FROM svc.incident incident
 WHERE incident.tenant_id = :tenant AND incident.id = :incident_id;
