-- statement: admin_group_apps_lock
-- Two locks, in the order of all who take both: the group, and applications.
--
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
SELECT id
  FROM svc.user_group
 WHERE tenant_id = :tenant AND id = :group_id
 FOR NO KEY UPDATE;


-- statement: admin_group_apps_lock_them
-- In the order of their clientIds, as everybody locks several.
--
-- parameters
--   client_ids     text ngx_svc_param_call(ngx_svc_admin_group_apps_ids)
SELECT client.client_id
  FROM (SELECT DISTINCT id COLLATE "C" AS id
          FROM unnest(:client_ids::text::text[]) id
         ORDER BY 1 OFFSET 0) wanted
  CROSS JOIN LATERAL (
       SELECT client.client_id
         FROM svc.application client
        WHERE client.tenant_id = :tenant AND client.client_id BETWEEN wanted.id AND wanted.id
        ORDER BY client.client_id
        LIMIT 1
        FOR NO KEY UPDATE) client;


-- statement: admin_group_apps_change
-- Adds applications to a group, and takes all others from it if it is asked to replace.
-- One that had no group before is for groups only from then on.
--
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   client_ids     text ngx_svc_param_call(ngx_svc_admin_group_apps_ids)
--   replace        bool ngx_svc_param_call(ngx_svc_admin_group_apps_replace)
-- verdicts
--   unknown        invalid_value   There is no application with the clientId %V.
WITH user_group AS (
    SELECT tenant_id, id, name
      FROM svc.user_group
     WHERE tenant_id = :tenant AND id = :group_id
), wanted AS MATERIALIZED (
    SELECT DISTINCT id COLLATE "C" AS id FROM unnest(:client_ids::text::text[]) id
), unknown AS (
    SELECT wanted.id
      FROM wanted
     WHERE (SELECT true
              FROM svc.application client
             WHERE client.tenant_id = :tenant AND client.client_id BETWEEN wanted.id AND wanted.id
             ORDER BY client.client_id
             LIMIT 1) IS NULL
     LIMIT 1
), added AS (
    INSERT INTO svc.group_app (tenant_id, client_id, group_id)
    SELECT user_group.tenant_id, wanted.id, user_group.id
      FROM user_group, wanted
     WHERE NOT EXISTS (SELECT FROM unknown)
    ON CONFLICT DO NOTHING
    RETURNING client_id
), removed AS (
    DELETE FROM svc.group_app group_app
     WHERE :replace
       AND group_app.group_id = :group_id
       AND group_app.tenant_id = :tenant
       AND group_app.client_id NOT IN (SELECT id FROM wanted)
       AND NOT EXISTS (SELECT FROM unknown)
    RETURNING client_id
), first_group AS (
    SELECT client.client_id
      FROM added
      CROSS JOIN LATERAL (
           SELECT client.client_id, client.assignment
             FROM svc.application client
            WHERE client.tenant_id = :tenant
              AND client.client_id BETWEEN added.client_id AND added.client_id
            ORDER BY client.client_id
            LIMIT 1) client
     WHERE client.assignment = 'everyone'
       AND NOT EXISTS (SELECT
                         FROM svc.group_app group_app
                        WHERE group_app.tenant_id = :tenant
                          AND group_app.client_id = client.client_id)
), limited AS (
    UPDATE svc.application client
       SET assignment = 'groups',
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
     WHERE client.tenant_id = :tenant
       AND client.client_id = ANY (ARRAY(SELECT first_group.client_id FROM first_group))
    RETURNING client.client_id, client.name
), added_event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.app_added', 'group', user_group.id::text, user_group.name, summary.details
      FROM user_group,
           (SELECT count(*) AS apps,
                   jsonb_build_object('count', count(*), 'clientIds',
                                      to_jsonb((array_agg(client_id))[1:100])) AS details
              FROM added) summary
     WHERE summary.apps > 0
), removed_event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.app_removed', 'group', user_group.id::text, user_group.name, summary.details
      FROM user_group,
           (SELECT count(*) AS apps,
                   jsonb_build_object('count', count(*), 'clientIds',
                                      to_jsonb((array_agg(client_id))[1:100])) AS details
              FROM removed) summary
     WHERE summary.apps > 0
), limited_event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'application.updated', 'application', limited.client_id, limited.name,
           '{"changed": ["assignment"]}'
      FROM limited
)
SELECT 'unknown ' || unknown.id AS _verdict
  FROM unknown, user_group;


-- statement: admin_group_apps_remove
--
-- missing: NGX_SVC_ADMIN_NO_GROUP_APP
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   client_id      text ngx_svc_param_application(1)
WITH user_group AS (
    SELECT id, name FROM svc.user_group WHERE tenant_id = :tenant AND id = :group_id
), removed AS (
    DELETE FROM svc.group_app group_app
     WHERE group_app.tenant_id = :tenant
       AND group_app.client_id = :client_id
       AND group_app.group_id = :group_id
    RETURNING group_app.client_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.app_removed', 'group', user_group.id::text, user_group.name, summary.details
      FROM user_group,
           (SELECT count(*) AS apps,
                   jsonb_build_object('count', count(*), 'clientIds',
                                      to_jsonb((array_agg(client_id))[1:100])) AS details
              FROM removed) summary
     WHERE summary.apps > 0
)
SELECT client_id
  FROM removed;


-- statement: admin_group_apps_total
--
-- missing: NGX_SVC_ADMIN_NO_GROUP
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
SELECT app_count
  FROM svc.user_group
 WHERE tenant_id = :tenant AND id = :group_id;


-- statement: admin_group_apps_list
--
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT client.client_id AS "clientId", client.name, client.type, group_app.added_at AS "addedAt"
  FROM (SELECT client_id, added_at
          FROM svc.group_app
         WHERE tenant_id = :tenant AND group_id = :group_id
         ORDER BY added_at DESC, client_id DESC
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) group_app
  CROSS JOIN LATERAL (
       SELECT client.*
         FROM svc.application client
        WHERE client.tenant_id = :tenant
          AND client.client_id BETWEEN group_app.client_id AND group_app.client_id
        ORDER BY client.client_id
        LIMIT 1) client
 ORDER BY group_app.added_at DESC, group_app.client_id DESC;
