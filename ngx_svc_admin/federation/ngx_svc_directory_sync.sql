-- statement: directory_sync
-- What has become of the last import, or how far the present one is. Where there is no directory
-- none was.
SELECT CASE
           WHEN import.status = 'running' AND import.lease_until < now() THEN 'waiting'
           ELSE coalesce(import.status, 'never')
       END AS status,
       import.started_at AS "startedAt", import.finished_at AS "finishedAt",
       import.due_at AS "nextAt", coalesce(import.seen, 0) AS seen,
       coalesce(import.created, 0) AS created, coalesce(import.updated, 0) AS updated,
       coalesce(import.deactivated, 0) AS deactivated,
       coalesce(import.reactivated, 0) AS reactivated, import.error,
       coalesce(import.conflicting, 0) AS "conflictCount",
       coalesce(import.conflicts, '[]') AS conflicts
  FROM (VALUES (1)) always
  LEFT JOIN svc.ldap_sync import ON import.tenant_id = :tenant;


-- statement: directory_sync_begin
-- The import is due now. While one is under way, and while one waits already, nothing is. That
-- any number of people may leave is an owner's to say.
--
-- missing: NGX_SVC_LDAP_NO_DIRECTORY
-- when: ngx_svc_directory_sync_later
-- parameters
--   force          bool  ngx_svc_param_boolean(ngx_svc_directory_sync_t, force)
-- verdicts
--   owner          forbidden       "force" takes the session of an owner.
--   off            conflict        The directory is not imported: "enabled" and "syncEnabled"
--                                  must be true, and "covers" be "owners".
--   running        conflict        The directory is being imported: wait for the end of it.
WITH caller AS (
    SELECT coalesce(:caller_is_user
                    AND (SELECT account.role
                           FROM svc.user_account account
                          WHERE account.tenant_id = :tenant
                            AND account.id
                                BETWEEN nullif(current_setting('svc.actor_id', true), '')::uuid
                                    AND nullif(current_setting('svc.actor_id', true), '')::uuid
                          ORDER BY account.id
                          LIMIT 1) = 'owner', false) AS owner
), old AS (
    SELECT import.lease_until >= now() AS leased,
           ldap.enabled AND ldap.sync_enabled AND ldap.vouched_owner AS takes
      FROM svc.ldap_sync import
      JOIN svc.ldap ldap ON ldap.tenant_id = :tenant
     WHERE import.tenant_id = :tenant
     FOR NO KEY UPDATE OF import
), decided AS (
    SELECT CASE
               WHEN :force::bool AND NOT caller.owner THEN 'owner'
               WHEN NOT old.takes THEN 'off'
               WHEN old.leased THEN 'running'
           END AS verdict
      FROM old
      CROSS JOIN caller
), begun AS (
    UPDATE svc.ldap_sync import
       SET was = CASE WHEN import.status IN ('ok', 'failed', 'held') THEN import.status
                      ELSE import.was END,
           status = 'waiting', due_at = now(), forced = coalesce(:force::bool, false)
      FROM decided
     WHERE import.tenant_id = :tenant AND decided.verdict IS NULL
    RETURNING import.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'ldap.sync_requested', 'ldap', NULL, NULL, jsonb_build_object('force', begun.forced)
      FROM begun
)
SELECT decided.verdict AS _verdict, begun.status, begun.started_at AS "startedAt",
       begun.finished_at AS "finishedAt", begun.due_at AS "nextAt", begun.seen, begun.created,
       begun.updated, begun.deactivated, begun.reactivated, begun.error,
       begun.conflicting AS "conflictCount", begun.conflicts
  FROM decided
  LEFT JOIN begun ON true;
