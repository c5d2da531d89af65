-- statement: admin_names_users
-- Who may not ask costs no search: the branches of "listed" are not run then.
--
-- when: ngx_svc_admin_names_users
-- parameters
--   q              text ngx_svc_param_data(ngx_svc_admin_names_t, q)
--   ids            text ngx_svc_param_data(ngx_svc_admin_names_t, ids)
--   names_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_NAMES)
-- verdicts
--   forbidden      forbidden  Names of users need "users:view", "members:manage",
--                             "groups:manage" or "apps:manage".
SELECT CASE WHEN NOT allowed.yes THEN 'forbidden' END AS _verdict,
       (SELECT coalesce(json_agg(json_build_object(
                   'id', account.id,
                   'name', coalesce(account.display_name, account.user_name),
                   'detail', account.user_name) ORDER BY listed.place), '[]')
          FROM (SELECT given.id, given.place
                  FROM unnest(:ids::text::uuid[]) WITH ORDINALITY given (id, place)
                UNION ALL
                SELECT found.id, found.place
                  FROM svc.user_page(:q, NULL, :names_max::int4, 0) page,
                       unnest(page.ids) WITH ORDINALITY found (id, place)
                 WHERE :q::text IS NOT NULL AND allowed.yes) listed
          CROSS JOIN LATERAL (
               SELECT account.id, account.display_name, account.user_name
                 FROM svc.user_account account
                WHERE account.tenant_id = :tenant AND account.id BETWEEN listed.id AND listed.id
                ORDER BY account.id
                LIMIT 1) account
         WHERE allowed.yes) AS names
  FROM (SELECT coalesce(:caller_permissions
                        && '{users:view,members:manage,groups:manage,apps:manage}',
                        false) AS yes OFFSET 0) allowed;


-- statement: admin_names_groups
--
-- when: ngx_svc_admin_names_groups
-- parameters
--   q              text ngx_svc_param_data(ngx_svc_admin_names_t, q)
--   ids            text ngx_svc_param_data(ngx_svc_admin_names_t, ids)
--   names_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_NAMES)
-- verdicts
--   forbidden      forbidden  Names of groups need "groups:manage", "members:manage",
--                             "tenant:manage" or "apps:manage".
SELECT CASE WHEN NOT allowed.yes THEN 'forbidden' END AS _verdict,
       (SELECT coalesce(json_agg(json_build_object('id', listed.id, 'name', listed.name,
                                                   'detail', listed.description)
                                 ORDER BY listed.name_key), '[]')
          FROM (SELECT user_group.id, user_group.name, user_group.description,
                       user_group.name_key
                  FROM unnest(:ids::text::uuid[]) given (id)
                  CROSS JOIN LATERAL (
                       SELECT user_group.*
                         FROM svc.user_group user_group
                        WHERE user_group.tenant_id = :tenant
                          AND user_group.id BETWEEN given.id AND given.id
                        ORDER BY user_group.id
                        LIMIT 1) user_group
                UNION ALL
                (SELECT user_group.id, user_group.name, user_group.description,
                        user_group.name_key
                   FROM svc.user_group user_group
                  WHERE user_group.tenant_id = :tenant
                    AND strpos(user_group.name_key, lower(:q::text)) > 0
                    AND allowed.yes
                  ORDER BY user_group.name_key
                  LIMIT :names_max::int4)) listed
         WHERE allowed.yes) AS names
  FROM (SELECT coalesce(:caller_permissions
                        && '{groups:manage,members:manage,tenant:manage,apps:manage}',
                        false) AS yes OFFSET 0) allowed;


-- statement: admin_names_roles
--
-- when: ngx_svc_admin_names_roles
-- parameters
--   q              text ngx_svc_param_data(ngx_svc_admin_names_t, q)
--   ids            text ngx_svc_param_data(ngx_svc_admin_names_t, ids)
--   names_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_NAMES)
-- verdicts
--   forbidden      forbidden  Names of roles need "members:manage" or "roles:manage".
SELECT CASE WHEN NOT allowed.yes THEN 'forbidden' END AS _verdict,
       (SELECT coalesce(json_agg(json_build_object('id', listed.key, 'name', listed.name,
                                                   'detail', NULL)
                                 ORDER BY listed.key), '[]')
          FROM (SELECT role.key, role.name
                  FROM (SELECT role.key, role.name
                          FROM svc.role role
                         WHERE role.tenant_id = :tenant
                        UNION ALL
                        VALUES ('owner', 'Owner'), ('admin', 'Administrator'),
                               ('member', 'Member')) role
                 WHERE (role.key = ANY (:ids::text::text[])
                        OR strpos(lower(role.name), lower(:q::text)) > 0
                        OR strpos(role.key, lower(:q::text)) > 0)
                 ORDER BY role.key
                 LIMIT :names_max::int4) listed
         WHERE allowed.yes) AS names
  FROM (SELECT coalesce(:caller_permissions && '{members:manage,roles:manage}',
                        false) AS yes OFFSET 0) allowed;


-- statement: admin_names_applications
--
-- when: ngx_svc_admin_names_applications
-- parameters
--   q              text ngx_svc_param_data(ngx_svc_admin_names_t, q)
--   ids            text ngx_svc_param_data(ngx_svc_admin_names_t, ids)
--   names_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_NAMES)
-- verdicts
--   forbidden      forbidden  Names of applications need "apps:manage" or
--                             "groups:manage".
SELECT CASE WHEN NOT allowed.yes THEN 'forbidden' END AS _verdict,
       (SELECT coalesce(json_agg(json_build_object('id', listed.client_id, 'name', listed.name,
                                                   'detail', listed.type)
                                 ORDER BY lower(listed.name), listed.client_id), '[]')
          FROM (SELECT client.client_id, client.name, client.type
                  FROM unnest(:ids::text::text[]) given (id)
                  CROSS JOIN LATERAL (
                       SELECT client.*
                         FROM svc.application client
                        WHERE client.tenant_id = :tenant
                          AND client.client_id BETWEEN given.id AND given.id
                        ORDER BY client.client_id
                        LIMIT 1) client
                UNION ALL
                (SELECT client.client_id, client.name, client.type
                   FROM svc.application client
                  WHERE client.tenant_id = :tenant
                    AND (strpos(lower(client.name), lower(:q::text)) > 0
                         OR strpos(client.client_id, :q) > 0)
                    AND allowed.yes
                  ORDER BY client.created_at DESC, client.client_id DESC
                  LIMIT :names_max::int4)) listed
         WHERE allowed.yes) AS names
  FROM (SELECT coalesce(:caller_permissions && '{apps:manage,groups:manage}',
                        false) AS yes OFFSET 0) allowed;
