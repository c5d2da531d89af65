-- statement: admin_roles_list
-- Permissions are stored sorted.
--
-- parameters
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT role.key, role.name, array_to_json(role.permissions) AS permissions,
       role.member_count AS "memberCount", role.created_at AS "createdAt",
       role.updated_at AS "updatedAt"
  FROM svc.role role
 WHERE role.tenant_id = :tenant
 ORDER BY role.key
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_roles_get
--
-- missing: NGX_SVC_ADMIN_NO_ROLE
-- parameters
--   key            text ngx_svc_param_path(0)
SELECT role.key, role.name, array_to_json(role.permissions) AS permissions,
       role.member_count AS "memberCount", role.created_at AS "createdAt",
       role.updated_at AS "updatedAt",
       (extract(epoch from role.updated_at) * 1000)::int8 AS _edition
  FROM svc.role role
 WHERE role.tenant_id = :tenant AND role.key = :key;


-- statement: admin_roles_total
-- And how many have each role of the system, by its key.
SELECT own.roles, owners.users AS owner, admins.users AS admin,
       everybody.users - owners.users - admins.users - own.members AS member
  FROM (SELECT count(*) AS roles, coalesce(sum(role.member_count), 0) AS members
          FROM svc.role role
         WHERE role.tenant_id = :tenant) own,
       (SELECT count(*) AS users
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.role = 'owner') owners,
       (SELECT count(*) AS users
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant AND account.role = 'admin') admins,
       (SELECT coalesce(sum(user_count.active + user_count.suspended
                            + user_count.deactivated), 0) AS users
          FROM svc.user_count user_count
         WHERE user_count.tenant_id = :tenant) everybody;


-- statement: admin_roles_create
-- Nobody gives what is more than the caller has. Each change of a role is a new revision of
-- the tenant's governance.
--
-- parameters
--   key            text ngx_svc_param_text(ngx_svc_admin_role_t, key)
--   name           text ngx_svc_param_text(ngx_svc_admin_role_t, name)
--   permissions    text ngx_svc_param_permissions(ngx_svc_admin_role_t, permissions)
--   system         bool ngx_svc_param_call(ngx_svc_admin_role_bind_system)
--   roles_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_ROLES)
-- verdicts
--   NGX_SVC_ADMIN_ROLE_LACKS
--   taken          conflict        A role with the key "%V" exists already: choose another
--                                  "key".
--   full           limit_exceeded  The tenant has %(NGX_SVC_ADMIN_ROLES) roles: delete one.
WITH wanted AS (
    SELECT :tenant_or_null AS tenant,
           :permissions::text::text[] <@ :caller_permissions AS held,
           :system::bool
           OR EXISTS (SELECT
                        FROM svc.role role
                       WHERE role.tenant_id = :tenant AND role.key = :key) AS taken,
           (SELECT count(*) FROM svc.role role WHERE role.tenant_id = :tenant)
           < :roles_max::int4 AS room
), role AS (
    INSERT INTO svc.role AS role (tenant_id, key, name, permissions)
    SELECT wanted.tenant, :key, :name, :permissions::text::text[]
      FROM wanted
     WHERE wanted.tenant IS NOT NULL AND wanted.held AND NOT wanted.taken AND wanted.room
    RETURNING role.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'role.created', 'role', role.key, role.name,
           jsonb_build_object('permissions', to_jsonb(role.permissions))
      FROM role
), revised AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1
     WHERE governance.tenant_id = :tenant AND EXISTS (SELECT FROM role)
)
SELECT CASE
           WHEN wanted.held IS NOT TRUE THEN 'lacks'
           WHEN wanted.taken THEN 'taken ' || :key
           WHEN NOT wanted.room THEN 'full'
       END AS _verdict,
       role.key, role.name,
       array_to_json(role.permissions) AS permissions, role.member_count AS "memberCount",
       role.created_at AS "createdAt",
       role.updated_at AS "updatedAt",
       (extract(epoch from role.updated_at) * 1000)::int8 AS _edition
  FROM wanted
  LEFT JOIN role ON true;


-- statement: admin_roles_put
--
-- missing: NGX_SVC_ADMIN_NO_ROLE
-- parameters
--   key            text ngx_svc_param_path(0)
--   name           text ngx_svc_param_text(ngx_svc_admin_role_t, name)
--   permissions    text ngx_svc_param_permissions(ngx_svc_admin_role_t, permissions)
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   NGX_SVC_ADMIN_ROLE_LACKS
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT role.*
      FROM svc.role role
     WHERE role.tenant_id = :tenant AND role.key = :key
     FOR UPDATE
), wanted AS (
    SELECT old.key, coalesce(:name, old.name) AS name,
           coalesce(:permissions::text::text[], old.permissions) AS permissions,
           CASE
               WHEN (coalesce(:permissions::text::text[], old.permissions)
                     <@ :caller_permissions) IS NOT TRUE THEN 'lacks'
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.role role
       SET name = wanted.name, permissions = wanted.permissions,
           updated_at = greatest(now(), role.updated_at + interval '1 millisecond')
      FROM wanted, old
     WHERE role.tenant_id = :tenant
       AND role.key = wanted.key
       AND wanted.verdict IS NULL
       AND (wanted.name, wanted.permissions) <> (old.name, old.permissions)
    RETURNING role.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'role.updated', 'role', updated.key, updated.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.name IS DISTINCT FROM old.name THEN 'name' END,
               CASE WHEN updated.permissions IS DISTINCT FROM old.permissions THEN 'permissions' END
           ], NULL)))
      FROM updated, old
), revised AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1
     WHERE governance.tenant_id = :tenant AND EXISTS (SELECT FROM updated)
), shown AS (
    SELECT * FROM updated UNION ALL SELECT * FROM old WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT wanted.verdict AS _verdict, shown.key, shown.name,
       array_to_json(shown.permissions) AS permissions, shown.member_count AS "memberCount",
       shown.created_at AS "createdAt", shown.updated_at AS "updatedAt",
       (extract(epoch from shown.updated_at) * 1000)::int8 AS _edition
  FROM wanted, shown;


-- statement: admin_roles_delete
--
-- missing: NGX_SVC_ADMIN_NO_ROLE
-- parameters
--   key            text ngx_svc_param_path(0)
-- verdicts
--   used           role_in_use     The role has %V: give each of them another role first.
WITH old AS (
    SELECT role.key, role.member_count
      FROM svc.role role
     WHERE role.tenant_id = :tenant AND role.key = :key
     FOR UPDATE
), deleted AS (
    DELETE FROM svc.role role
     USING old
     WHERE role.tenant_id = :tenant AND role.key = old.key AND old.member_count = 0
    RETURNING role.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'role.deleted', 'role', deleted.key, deleted.name, '{}'
      FROM deleted
), revised AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1
     WHERE governance.tenant_id = :tenant AND EXISTS (SELECT FROM deleted)
)
SELECT CASE old.member_count
           WHEN 0 THEN NULL
           WHEN 1 THEN 'used 1 member'
           ELSE 'used ' || old.member_count || ' members'
       END AS _verdict
  FROM old;
