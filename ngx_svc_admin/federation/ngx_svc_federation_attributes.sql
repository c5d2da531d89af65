-- statement: federation_attributes (shared)
-- A user whom connections with identity providers have made is as they say, with each sign-in,
-- and one whom the directory has made as that says; SCIM's are as SCIM says, and all others as
-- they were. A key of another system that another user has is nobody else's.
--
-- parameters
--   key            text  ngx_svc_federation_param(connection.key)
--   user           uuid  ngx_svc_login_param(user)
--   first_name     text  ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_FIRST_NAME])
--   last_name      text  ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_LAST_NAME])
--   display_name   text  ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_DISPLAY_NAME])
--   title          text  ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_TITLE])
--   department     text  ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_DEPARTMENT])
--   locale         text  ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_LOCALE])
--   external_id    text  ngx_svc_federation_param(proof.attributes[NGX_SVC_ATTRIBUTE_EXTERNAL_ID])
WITH old AS (
    SELECT account.id, account.user_name, account.first_name, account.last_name,
           account.display_name, account.title, account.department, account.locale,
           account.external_id
      FROM svc.user_account account
     WHERE account.tenant_id = :tenant
       AND account.id = :user
       AND account.source = CASE :key::text WHEN 'ldap' THEN 'ldap' ELSE 'social' END
), wanted AS (
    SELECT old.id, old.user_name, coalesce(:first_name, old.first_name) AS first_name,
           coalesce(:last_name, old.last_name) AS last_name,
           coalesce(:display_name, old.display_name) AS display_name,
           coalesce(:title, old.title) AS title,
           coalesce(:department, old.department) AS department,
           coalesce(:locale, old.locale) AS locale,
           CASE
               WHEN EXISTS (SELECT
                              FROM svc.user_account other
                             WHERE other.tenant_id = :tenant
                               AND other.external_id = :external_id
                               AND other.id <> old.id) THEN old.external_id
               ELSE coalesce(:external_id, old.external_id)
           END AS external_id
      FROM old
), changed AS (
    SELECT wanted.*
      FROM wanted, old
     WHERE wanted IS DISTINCT FROM old
), updated AS (
    UPDATE svc.user_account account
       SET search = svc.user_search(changed.user_name, changed.display_name, changed.first_name,
                                    changed.last_name),
           updated_at = greatest(now(), account.updated_at + interval '1 millisecond'),
           first_name = changed.first_name,
           last_name = changed.last_name,
           display_name = changed.display_name,
           title = changed.title,
           department = changed.department,
           locale = changed.locale,
           external_id = changed.external_id
      FROM changed
     WHERE account.tenant_id = :tenant AND account.id = changed.id
)
INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
SELECT 'user.updated', 'user', changed.id::text, NULL,
       jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
           NULL,
           CASE WHEN changed.first_name IS DISTINCT FROM old.first_name THEN 'firstName' END,
           CASE WHEN changed.last_name IS DISTINCT FROM old.last_name THEN 'lastName' END,
           CASE WHEN changed.display_name IS DISTINCT FROM old.display_name
                THEN 'displayName' END,
           CASE WHEN changed.title IS DISTINCT FROM old.title THEN 'title' END,
           CASE WHEN changed.department IS DISTINCT FROM old.department THEN 'department' END,
           CASE WHEN changed.locale IS DISTINCT FROM old.locale THEN 'locale' END,
           CASE WHEN changed.external_id IS DISTINCT FROM old.external_id
                THEN 'externalId' END],
           NULL)))
  FROM changed, old;


-- statement: federation_groups_lock (shared)
-- What is done to a group's members is done one after the other, as by admin_members_lock. Whoever
-- is in a group may use its applications: the connection has to vouch for "groups:manage", now
-- and when the link was made; else it has no groups.
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   user           uuid  ngx_svc_login_param(user)
--   groups         text  ngx_svc_federation_param(proof.groups)
WITH connection AS (
    SELECT maps.group_mapping
      FROM (SELECT social.group_mapping, social.vouched
              FROM svc.social social
             WHERE social.tenant_id = :tenant AND social.connection_id = :connection_id
            UNION ALL
            SELECT ldap.group_mapping, ldap.vouched
              FROM svc.ldap ldap
             WHERE ldap.tenant_id = :tenant AND ldap.connection_id = :connection_id) maps
      JOIN svc.federated_identity identity
           ON identity.tenant_id = :tenant
          AND identity.connection_id = :connection_id
          AND identity.subject_hash = :subject_hash
     WHERE 'groups:manage' = ANY (maps.vouched)
       AND 'groups:manage' = ANY (identity.vouched)
), mapped AS (
    SELECT array_agg(mapping."groupId") FILTER (WHERE :groups::text::jsonb ? mapping.external)
               AS named
      FROM connection
      CROSS JOIN LATERAL jsonb_to_recordset(connection.group_mapping)
                 AS mapping (external text, "groupId" uuid)
), concerned AS (
    SELECT unnest(mapped.named) AS id FROM mapped
    UNION
    SELECT kept.group_id
      FROM (SELECT member.group_id, member.origin
              FROM svc.group_member member
             WHERE member.tenant_id = :tenant AND member.user_id BETWEEN :user::uuid AND :user
             ORDER BY member.user_id OFFSET 0) kept
     WHERE kept.origin = :connection_id
), locked AS (
    SELECT user_group.id
      FROM (SELECT concerned.id FROM concerned ORDER BY concerned.id OFFSET 0) concerned
      CROSS JOIN LATERAL (
           SELECT user_group.id
             FROM svc.user_group user_group
            WHERE user_group.tenant_id = :tenant
              AND user_group.id BETWEEN concerned.id AND concerned.id
            ORDER BY user_group.id
            LIMIT 1
            FOR NO KEY UPDATE) user_group
)
SELECT count(locked.id),
       set_config('svc.groups',
                  coalesce((SELECT coalesce(mapped.named, '{}')::text
                              FROM mapped
                             WHERE EXISTS (SELECT FROM connection)),
                           ''),
                  true)
  FROM locked;


-- statement: federation_groups (shared)
-- The user is in the groups that the connection's mapping has for what the proof names, and in
-- none of that connection beside them. Who was added by hand stays, and stays so.
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   user           uuid  ngx_svc_login_param(user)
WITH wanted AS (
    SELECT DISTINCT user_group.id
      FROM unnest(nullif(current_setting('svc.groups', true), '')::uuid[]) named (id)
      CROSS JOIN LATERAL (
           SELECT user_group.id
             FROM svc.user_group user_group
            WHERE user_group.tenant_id = :tenant
              AND user_group.id BETWEEN named.id AND named.id
            ORDER BY user_group.id
            LIMIT 1) user_group
), added AS (
    INSERT INTO svc.group_member (tenant_id, group_id, user_id, origin)
    SELECT :tenant, wanted.id, :user::uuid, :connection_id::uuid
      FROM wanted
    ON CONFLICT DO NOTHING
    RETURNING group_id
), removed AS (
    DELETE FROM svc.group_member member
     WHERE member.tenant_id = :tenant
       AND member.user_id = :user
       AND member.group_id = ANY (ARRAY(
               SELECT kept.group_id
                 FROM (SELECT member.group_id, member.origin
                         FROM svc.group_member member
                        WHERE member.tenant_id = :tenant
                          AND member.user_id BETWEEN :user AND :user
                        ORDER BY member.user_id OFFSET 0) kept
                WHERE kept.origin = :connection_id
                  AND kept.group_id NOT IN (SELECT wanted.id FROM wanted)))
       AND current_setting('svc.groups', true) <> ''
    RETURNING group_id
)
INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
SELECT change.action, 'group', user_group.id::text, user_group.name,
       jsonb_build_object('count', 1, 'userIds', jsonb_build_array(:user))
  FROM (SELECT added.group_id, 'group.member_added' AS action FROM added
        UNION ALL
        SELECT removed.group_id, 'group.member_removed' FROM removed) change
  CROSS JOIN LATERAL (
       SELECT user_group.id, user_group.name
         FROM svc.user_group user_group
        WHERE user_group.tenant_id = :tenant
          AND user_group.id BETWEEN change.group_id AND change.group_id
        ORDER BY user_group.id
        LIMIT 1) user_group;
