-- fragment: owners
-- Two CTEs of a statement that may take an owner away, of the parameter user_id. "owners"
-- are all of them, when the user is one, locked in the same order by all who do this, so
-- that they are not the last ones of each other; with what they are once the locks are
-- held. "old" is the user, locked after them.
owners AS (
    SELECT id, status
      FROM svc.user_account
     WHERE tenant_id = :tenant
       AND role = 'owner'
       AND EXISTS (SELECT
                     FROM svc.user_account
                    WHERE tenant_id = :tenant AND id = :user_id AND role = 'owner')
     ORDER BY id
     FOR UPDATE
), old AS (
    SELECT *
      FROM svc.user_account
     WHERE tenant_id = :tenant AND id = :user_id AND (SELECT count(*) FROM owners) >= 0
     FOR UPDATE
)


-- fragment: role_beyond
-- needs: old
-- Whether a role is more than the caller may act on, or give: it grants what the caller
-- may not do; and of the owners only one acts by a session. A statement that acts on a user
-- has the user as "old", whom an earlier statement has locked, so that this one sees what
-- the role grants. One that gives a role has that role as the only column of "old", and
-- svc.governance is locked: else the role may be gone meanwhile. The fragment is for routes
-- with NGX_SVC_ROUTE_CALLER. What a token may not do, whatever it grants, svc.token_acts()
-- says.
(CASE
     WHEN old.role IN ('owner', 'admin')
         THEN (ARRAY['', 'apps:manage', 'audit:view', 'groups:manage', 'members:manage',
                     'roles:manage', 'tenant:manage', 'users:view'])[2:]
     ELSE coalesce((SELECT role.permissions
                      FROM svc.role role
                     WHERE role.tenant_id = :tenant AND role.key = old.role),
                   '{}')
 END <@ :caller_permissions
 AND CASE
         WHEN old.role = 'owner' AND :caller_is_user
             THEN (SELECT account.role
                     FROM svc.user_account account
                    WHERE account.tenant_id = :tenant
                      AND account.id BETWEEN nullif(current_setting('svc.actor_id', true), '')::uuid
                                         AND nullif(current_setting('svc.actor_id', true), '')::uuid
                    ORDER BY account.id
                    LIMIT 1) = 'owner'
         ELSE true
     END) IS NOT TRUE
