-- statement: admin_members_lock
-- What is done to a group's members is done one after the other: the group is locked by
-- a statement of its own, so that the next one sees what the one before has stored.
--
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
SELECT id
  FROM svc.user_group
 WHERE tenant_id = :tenant AND id = :group_id
 FOR NO KEY UPDATE;


-- statement: admin_members_find
-- The users of these addresses, beside those that are given by their ids: the statement that
-- changes the members takes both from a setting of the transaction. Whoever is to replace all
-- members by addresses means nobody else to go: where nobody has one of them there is an id
-- of nobody in its place, by which that statement changes nothing. The first ten are named,
-- but not where that statement asks for a fresh factor first.
--
-- when: ngx_svc_admin_members_by_email
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   user_ids       text ngx_svc_param_call(ngx_svc_admin_members_given)
--   emails         text ngx_svc_param_call(ngx_svc_admin_members_emails)
--   keys           text ngx_svc_param_call(ngx_svc_admin_members_keys)
--   replace        bool ngx_svc_param_call(ngx_svc_admin_members_replace)
-- verdicts
--   nobody         invalid_value   There is no user with one of these addresses: %V.
WITH named AS (
    SELECT given.address, given.place,
           (SELECT account.id
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.user_name_key BETWEEN given.key AND given.key
             ORDER BY account.user_name_key
             LIMIT 1) AS id
      FROM unnest(:emails::text::text[], :keys::text::text[])
           WITH ORDINALITY given (address, key, place)
), unknown AS (
    SELECT named.address, min(named.place) AS place
      FROM named
     WHERE named.id IS NULL
     GROUP BY named.address
)
SELECT CASE
           WHEN :replace
                AND EXISTS (SELECT FROM unknown)
                AND EXISTS (SELECT
                              FROM svc.user_group
                             WHERE tenant_id = :tenant
                               AND id = :group_id
                               AND NOT (app_count > 0 AND :caller_stale))
               THEN 'nobody ' || (SELECT string_agg(first.address, ', ' ORDER BY first.place)
                                    FROM (SELECT unknown.*
                                            FROM unknown
                                           ORDER BY unknown.place
                                           LIMIT 10) first)
       END AS _verdict,
       (SELECT coalesce(jsonb_agg(unknown.address ORDER BY unknown.place), '[]')
          FROM unknown) AS "unknownEmails",
       set_config('svc.members',
                  (:user_ids::text::uuid[]
                   || ARRAY(SELECT coalesce(named.id, gen_random_uuid())
                              FROM named
                             WHERE named.id IS NOT NULL OR :replace))::text,
                  true);


-- statement: admin_members_change
-- All are added, or none: whoever is in a group may use its applications, which takes a
-- fresh factor of a session. Of a replacement those go that are not named. The journal has
-- how many, and the first hundred of them.
--
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   user_ids       text ngx_svc_param_call(ngx_svc_admin_members_ids)
--   replace        bool ngx_svc_param_call(ngx_svc_admin_members_replace)
-- verdicts
--   NGX_SVC_ADMIN_MEMBERS_STALE_VERDICT
--   unknown        invalid_value   There is no user with the id %V.
WITH user_group AS (
    SELECT tenant_id, id, name, app_count
      FROM svc.user_group
     WHERE tenant_id = :tenant AND id = :group_id
), wanted AS (
    SELECT DISTINCT id
      FROM unnest(coalesce(:user_ids::text,
                           nullif(current_setting('svc.members', true), ''))::uuid[]) given (id)
), refused AS (
    (SELECT 'stale' AS verdict FROM user_group WHERE user_group.app_count > 0 AND :caller_stale)
    UNION ALL
    (SELECT 'unknown ' || wanted.id
       FROM wanted
      WHERE (SELECT true
               FROM svc.user_account account
              WHERE account.tenant_id = :tenant AND account.id BETWEEN wanted.id AND wanted.id
              ORDER BY account.id
              LIMIT 1) IS NULL
      LIMIT 1)
    LIMIT 1
), added AS (
    INSERT INTO svc.group_member (tenant_id, group_id, user_id)
    SELECT user_group.tenant_id, user_group.id, wanted.id
      FROM user_group, wanted
     WHERE NOT EXISTS (SELECT FROM refused)
    ON CONFLICT DO NOTHING
    RETURNING user_id
), removed AS (
    DELETE FROM svc.group_member member
     WHERE :replace
       AND member.tenant_id = :tenant
       AND member.group_id = :group_id
       AND member.user_id NOT IN (SELECT id FROM wanted)
       AND NOT EXISTS (SELECT FROM refused)
    RETURNING user_id
), added_event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.member_added', 'group', user_group.id::text, user_group.name, change.details
      FROM user_group,
           (SELECT count(*) AS users,
                   jsonb_build_object('count', count(*),
                                      'userIds', to_jsonb((array_agg(user_id))[1:100])) AS details
              FROM added) change
     WHERE change.users > 0
), removed_event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.member_removed', 'group', user_group.id::text, user_group.name, change.details
      FROM user_group,
           (SELECT count(*) AS users,
                   jsonb_build_object('count', count(*),
                                      'userIds', to_jsonb((array_agg(user_id))[1:100])) AS details
              FROM removed) change
     WHERE change.users > 0
)
SELECT refused.verdict AS _verdict
  FROM refused, user_group;


-- statement: admin_members_remove
--
-- missing: NGX_SVC_ADMIN_NO_MEMBER
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   user_id        uuid ngx_svc_param_path_id(1, NGX_SVC_ADMIN_NO_MEMBER)
-- verdicts
--   NGX_SVC_ADMIN_MEMBERS_STALE_VERDICT
WITH user_group AS (
    SELECT user_group.id, user_group.name, user_group.app_count > 0 AND :caller_stale AS stale
      FROM svc.user_group user_group
     WHERE user_group.tenant_id = :tenant AND user_group.id = :group_id
), removed AS (
    DELETE FROM svc.group_member
     WHERE tenant_id = :tenant
       AND group_id = :group_id
       AND user_id = :user_id
       AND NOT EXISTS (SELECT FROM user_group WHERE user_group.stale)
    RETURNING user_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'group.member_removed', 'group', user_group.id::text, user_group.name, change.details
      FROM user_group,
           (SELECT count(*) AS users,
                   jsonb_build_object('count', count(*),
                                      'userIds', to_jsonb((array_agg(user_id))[1:100])) AS details
              FROM removed) change
     WHERE change.users > 0
)
SELECT CASE WHEN user_group.stale THEN 'stale' END AS _verdict
  FROM user_group
  LEFT JOIN removed ON true
 WHERE user_group.stale OR removed.user_id IS NOT NULL;


-- statement: admin_members_total
--
-- missing: NGX_SVC_ADMIN_NO_GROUP
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
SELECT member_count
  FROM svc.user_group
 WHERE tenant_id = :tenant AND id = :group_id;


-- statement: admin_members_list
-- The page's members are looked up first, and then the users of them alone.
--
-- parameters
--   group_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT account.id AS "userId", account.user_name AS email, account.display_name AS "displayName",
       member.added_at AS "addedAt"
  FROM (SELECT user_id, added_at
          FROM svc.group_member
         WHERE tenant_id = :tenant AND group_id = :group_id
         ORDER BY added_at DESC, user_id DESC
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) member
  CROSS JOIN LATERAL (
       SELECT account.*
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN member.user_id AND member.user_id
        ORDER BY account.id
        LIMIT 1) account
 ORDER BY member.added_at DESC, member.user_id DESC;


-- statement: admin_user_groups_total
--
-- missing: NGX_SVC_ADMIN_NO_USER
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
SELECT (SELECT count(*)
          FROM (SELECT
                  FROM svc.group_member member
                 WHERE member.tenant_id = :tenant AND member.user_id BETWEEN :user_id AND :user_id
                 ORDER BY member.user_id OFFSET 0) member)
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id;


-- statement: admin_user_groups_list
--
-- parameters
--   user_id        uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT listed.id, listed.name, listed.description, listed.added_at AS "addedAt",
       svc.connection_key(:tenant, listed.origin) AS connection
  FROM (SELECT user_group.id, user_group.name, user_group.description, member.added_at,
               member.origin
          FROM (SELECT member.group_id, member.added_at, member.origin
                  FROM svc.group_member member
                 WHERE member.tenant_id = :tenant AND member.user_id BETWEEN :user_id AND :user_id
                 ORDER BY member.user_id OFFSET 0) member
          CROSS JOIN LATERAL (
               SELECT user_group.*
                 FROM svc.user_group user_group
                WHERE user_group.tenant_id = :tenant
                  AND user_group.id BETWEEN member.group_id AND member.group_id
                ORDER BY user_group.id
                LIMIT 1) user_group
         ORDER BY user_group.name_key
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) listed;
