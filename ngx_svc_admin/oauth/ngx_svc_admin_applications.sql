-- statement: admin_applications_total
--
-- parameters
--   search         text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   type           text ngx_svc_param_query_word("type", ngx_svc_admin_application_types)
--   enabled        text ngx_svc_param_query_word("enabled", ngx_svc_admin_application_switches)
SELECT count(*)
  FROM svc.application client
 WHERE client.tenant_id = :tenant
   AND (:search::text IS NULL
        OR strpos(lower(client.name), lower(:search)) > 0
        OR strpos(client.client_id, :search) > 0)
   AND (:type::text IS NULL OR client.type = :type)
   AND (:enabled::text IS NULL OR client.enabled = :enabled::bool);


-- statement: admin_applications_list
--
-- parameters
--   search         text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   type           text ngx_svc_param_query_word("type", ngx_svc_admin_application_types)
--   enabled        text ngx_svc_param_query_word("enabled", ngx_svc_admin_application_switches)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT :application_columns
  FROM svc.application client
 WHERE client.tenant_id = :tenant
   AND (:search::text IS NULL
        OR strpos(lower(client.name), lower(:search)) > 0
        OR strpos(client.client_id, :search) > 0)
   AND (:type::text IS NULL OR client.type = :type)
   AND (:enabled::text IS NULL OR client.enabled = :enabled::bool)
 ORDER BY client.created_at DESC, client.client_id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_applications_get
--
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id      text ngx_svc_param_application(0)
SELECT :application_columns, (extract(epoch from client.updated_at) * 1000)::int8 AS _edition
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id;


-- statement: admin_application_groups
-- The groups are locked before the application: whoever changes those of a group locks it
-- first, too.
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
SELECT user_group.id
  FROM (SELECT group_id
          FROM svc.group_app
         WHERE tenant_id = :tenant AND client_id = :client_id
         ORDER BY group_id OFFSET 0) group_app
  CROSS JOIN LATERAL (
       SELECT user_group.id
         FROM svc.user_group user_group
        WHERE user_group.tenant_id = :tenant
          AND user_group.id BETWEEN group_app.group_id AND group_app.group_id
        ORDER BY user_group.id
        LIMIT 1
        FOR NO KEY UPDATE) user_group;


-- statement: admin_application_targets
-- With those who make targets: each sees what the other has stored.
SELECT pg_advisory_xact_lock(hashtext('svc.scim_target'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_applications_delete
--
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id      text ngx_svc_param_application(0)
-- verdicts
--   used           conflict        The application has a SCIM target: delete that one first.
WITH target AS (
    SELECT EXISTS (SELECT
                     FROM svc.scim_target target
                    WHERE target.tenant_id = :tenant
                      AND target.client_id = :client_id) AS used
), removed AS (
    DELETE FROM svc.application client
     USING target
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id AND NOT target.used
    RETURNING client.client_id, client.name
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'application.deleted', 'application', removed.client_id, removed.name, '{}'
      FROM removed
)
SELECT CASE WHEN target.used THEN 'used' END AS _verdict
  FROM target
  LEFT JOIN removed ON true
 WHERE target.used OR removed.client_id IS NOT NULL;
