-- statement: admin_groups_list
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT user_group.id, user_group.name, user_group.description,
       user_group.member_count AS "memberCount", user_group.app_count AS "appCount",
       user_group.created_at AS "createdAt", user_group.updated_at AS "updatedAt"
  FROM svc.user_group user_group
 WHERE tenant_id = :tenant AND (:q::text IS NULL OR strpos(name_key, lower(:q)) > 0)
 ORDER BY name_key
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_groups_total
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
SELECT count(*)
  FROM svc.user_group user_group
 WHERE tenant_id = :tenant AND (:q::text IS NULL OR strpos(name_key, lower(:q)) > 0);


-- statement: admin_groups_get
--
-- missing: NGX_SVC_ADMIN_NO_GROUP
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
SELECT user_group.id, user_group.name, user_group.description,
       user_group.member_count AS "memberCount", user_group.app_count AS "appCount",
       user_group.created_at AS "createdAt", user_group.updated_at AS "updatedAt",
       (extract(epoch from user_group.updated_at) * 1000)::int8 AS _edition
  FROM svc.user_group user_group
 WHERE user_group.tenant_id = :tenant AND user_group.id = :group_id;


-- statement: admin_groups_lock
-- Who adds a group waits here for who adds another one: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.user_group'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_groups_create
-- The verdict of a name that is taken has the constraint's name, as when two take it in the
-- same moment.
--
-- parameters
--   group_id       uuid ngx_svc_param_new_id()
--   name           text ngx_svc_param_text(ngx_svc_admin_group_t, name)
--   description    text ngx_svc_param_text(ngx_svc_admin_group_t, description)
--   groups_max     int4 ngx_svc_param_constant(NGX_SVC_ADMIN_GROUPS)
-- verdicts
--   full           limit_exceeded  The tenant has %(NGX_SVC_ADMIN_GROUPS) groups: delete
--                                  one.
WITH wanted AS (
    SELECT :tenant_or_null AS id,
           (SELECT count(*)
              FROM svc.user_group
             WHERE tenant_id = :tenant) < :groups_max::int4 AS room
), user_group AS (
    INSERT INTO svc.user_group (tenant_id, id, name, description)
    SELECT wanted.id, :group_id::uuid, :name, :description
      FROM wanted
     WHERE wanted.id IS NOT NULL AND wanted.room
    ON CONFLICT (tenant_id, name_key) DO NOTHING
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.created', 'group', user_group.id::text, user_group.name, '{}'
      FROM user_group
)
SELECT CASE
           WHEN user_group.id IS NOT NULL THEN NULL
           WHEN NOT wanted.room THEN 'full'
           ELSE 'user_group_name_key'
       END AS _verdict,
       user_group.id, user_group.name, user_group.description,
       user_group.member_count AS "memberCount", user_group.app_count AS "appCount",
       user_group.created_at AS "createdAt", user_group.updated_at AS "updatedAt",
       (extract(epoch from user_group.updated_at) * 1000)::int8 AS _edition
  FROM wanted
  LEFT JOIN user_group ON true;


-- statement: admin_groups_put
-- What differs is told from the locked row. The answer is the row as it is now, or, when
-- nothing is written, as it was. The verdict of a name that is taken has the constraint's name.
--
-- missing: NGX_SVC_ADMIN_NO_GROUP
-- parameters
--   group_id          uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   name_given        bool ngx_svc_param_given(ngx_svc_admin_group_t, name)
--   name              text ngx_svc_param_text(ngx_svc_admin_group_t, name)
--   description_given bool ngx_svc_param_given(ngx_svc_admin_group_t, description)
--   description       text ngx_svc_param_text(ngx_svc_admin_group_t, description)
--   if_match          text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT *
      FROM svc.user_group
     WHERE tenant_id = :tenant AND id = :group_id
     FOR NO KEY UPDATE
), wanted AS (
    SELECT CASE WHEN :name_given THEN :name ELSE name END AS name,
           CASE WHEN :description_given THEN :description ELSE description END AS description,
           CASE
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN :name_given
                    AND lower(:name) <> name_key
                    AND EXISTS (SELECT
                                  FROM svc.user_group namesake
                                 WHERE namesake.tenant_id = :tenant
                                   AND namesake.name_key = lower(:name))
                   THEN 'user_group_name_key'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.user_group user_group
       SET name = wanted.name, description = wanted.description,
           updated_at = greatest(now(), user_group.updated_at + interval '1 millisecond')
      FROM wanted, old
     WHERE user_group.tenant_id = :tenant
       AND user_group.id = :group_id
       AND wanted.verdict IS NULL
       AND (wanted.name, wanted.description) IS DISTINCT FROM (old.name, old.description)
    RETURNING user_group.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.updated', 'group', updated.id::text, updated.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.name IS DISTINCT FROM old.name THEN 'name' END,
               CASE WHEN updated.description IS DISTINCT FROM old.description
                    THEN 'description' END],
               NULL)))
      FROM updated
      JOIN old ON old.id = updated.id
)
SELECT NULL AS _verdict, updated.id, updated.name, updated.description,
       updated.member_count AS "memberCount", updated.app_count AS "appCount",
       updated.created_at AS "createdAt", updated.updated_at AS "updatedAt",
       (extract(epoch from updated.updated_at) * 1000)::int8 AS _edition
  FROM updated
UNION ALL
SELECT wanted.verdict, old.id, old.name, old.description, old.member_count AS "memberCount",
       old.app_count AS "appCount", old.created_at AS "createdAt", old.updated_at AS "updatedAt",
       (extract(epoch from old.updated_at) * 1000)::int8 AS _edition
  FROM old, wanted
 WHERE NOT EXISTS (SELECT FROM updated);


-- statement: admin_groups_delete
-- This is behind the lock of governance: the group's password policy goes with it, and moves
-- the revision.
--
-- missing: NGX_SVC_ADMIN_NO_GROUP
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
WITH policy AS (
    SELECT group_id
      FROM svc.group_password_policy
     WHERE tenant_id = :tenant AND group_id = :group_id
), removed AS (
    DELETE FROM svc.user_group
     WHERE tenant_id = :tenant AND id = :group_id
    RETURNING id, name
), ruled AS (
    SELECT removed.* FROM removed JOIN policy ON policy.group_id = removed.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group_password_policy.deleted', 'groupPasswordPolicy', ruled.id::text, ruled.name,
           '{}'::jsonb
      FROM ruled
    UNION ALL
    SELECT 'group.deleted', 'group', removed.id::text, removed.name, '{}'
      FROM removed
), governance AS (
    UPDATE svc.governance
       SET revision = revision + 1
     WHERE tenant_id = :tenant AND EXISTS (SELECT FROM ruled)
)
SELECT removed.id
  FROM removed;
