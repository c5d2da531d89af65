-- fragment: push_leased
-- The target, as long as the helper that asks holds its lease.
SELECT target.*
  FROM svc.scim_target target
 WHERE target.tenant_id = :tenant
   AND target.id BETWEEN :target_id::text::uuid AND :target_id::text::uuid
   AND target.lease_by = :helper
 ORDER BY target.id
 LIMIT 1


-- fragment: push_position
-- The event of the log up to which a target has been brought.
-- columns
--   xid            xid8
--   event_id       int8         as text
--   event_at       timestamptz


-- fragment: push_wanted
-- What a target is to be told of a user.
-- columns
--   user_id        uuid
--   wanted_rev     int8         as text
--   gone           bool
--   active         bool
--   hash           bytea
--   user_name      text
--   display_name   text
--   first_name     text
--   last_name      text
--   title          text
--   locale         text
--   department     text
--   sent           int2         NULL: not known


-- fragment: push_scoped
-- needs: client, concerned
-- Two CTEs: "wanted" has of the users "concerned" what a target is told, with its hash: who is
-- gone here, and who is active: that is, who may use the application. Of a user who is not
-- active no more is told; the hash of one who is gone is NULL. A row is compared as one: only
-- the primary key has its columns in that order.
scoped AS MATERIALIZED (
    SELECT concerned.id AS user_id, account.id IS NULL AS gone, account.user_name,
           account.display_name, account.first_name, account.last_name, account.title,
           account.locale, account.department,
           account.status = 'active'
           AND client.enabled
           AND (client.assignment = 'everyone'
                OR EXISTS (SELECT
                             FROM (SELECT member.group_id
                                     FROM svc.group_member member
                                    WHERE member.tenant_id = :tenant
                                      AND member.user_id BETWEEN account.id AND account.id
                                    ORDER BY member.user_id OFFSET 0) member
                            WHERE EXISTS (SELECT
                                            FROM svc.group_app assigned
                                           WHERE assigned.tenant_id = :tenant
                                             AND (assigned.client_id, assigned.group_id)
                                                 BETWEEN (client.client_id, member.group_id)
                                                     AND (client.client_id, member.group_id)
                                           ORDER BY assigned.client_id, assigned.group_id
                                           LIMIT 1))) IS TRUE AS active
      FROM client
      CROSS JOIN concerned
      LEFT JOIN LATERAL (
           SELECT account.*
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant AND account.id BETWEEN concerned.id AND concerned.id
            ORDER BY account.id
            LIMIT 1) account ON true
), wanted AS (
    SELECT scoped.*,
           CASE
               WHEN scoped.gone THEN NULL
               WHEN scoped.active IS NOT TRUE THEN sha256('')
               ELSE sha256(convert_to(jsonb_build_array(scoped.user_name, scoped.display_name,
                                                        scoped.first_name, scoped.last_name,
                                                        scoped.title, scoped.locale,
                                                        scoped.department)::text, 'UTF8'))
           END AS hash
      FROM scoped
)
