-- statement: admin_application_groups_total
--
-- missing: NGX_SVC_NO_APPLICATION
-- parameters
--   client_id      text ngx_svc_param_application(0)
SELECT (SELECT count(*)
          FROM svc.group_app group_app
         WHERE group_app.tenant_id = :tenant AND group_app.client_id = :client_id)
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id;


-- statement: admin_application_groups_list
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT user_group.id, user_group.name, user_group.member_count AS "memberCount",
       group_app.added_at AS "addedAt"
  FROM (SELECT group_id, added_at
          FROM svc.group_app
         WHERE tenant_id = :tenant AND client_id = :client_id
         ORDER BY added_at DESC, group_id DESC
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) group_app
  CROSS JOIN LATERAL (
       SELECT user_group.id, user_group.name, user_group.member_count
         FROM svc.user_group user_group
        WHERE user_group.tenant_id = :tenant
          AND user_group.id BETWEEN group_app.group_id AND group_app.group_id
        ORDER BY user_group.id
        LIMIT 1) user_group
 ORDER BY group_app.added_at DESC, group_app.group_id DESC;
