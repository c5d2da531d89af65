-- statement: directory_lease
-- Whoever imports has the lease for another minute. When it is somebody else's by now, or the
-- directory is not to be imported any more as it was read, there is no tenant for the rest. An
-- import that goes on and on is late: others wait for its place.
--
-- parameters
--   run            text
--   version        text
-- columns
--   kept           bool
--   same           bool
--   forced         bool
--   deactivates    bool
--   late           bool
--   tenant_set     bool         unread
WITH kept AS (
    UPDATE svc.ldap_sync import
       SET lease_until = now() + interval '1 minute'
     WHERE import.tenant_id = :tenant
       AND import.run = :run::text::int8
       AND import.status = 'running'
    RETURNING import.tenant_id, import.forced, import.started_at
), directory AS (
    SELECT ldap.sync_deactivate
      FROM svc.ldap ldap
      JOIN svc.tenant tenant ON tenant.id = :tenant AND tenant.suspended_at IS NULL
     WHERE ldap.tenant_id = :tenant
       AND ldap.enabled
       AND ldap.vouched_owner
       AND ldap.sync_enabled
       AND ldap.updated_at = coalesce(:version::text::timestamptz, ldap.updated_at)
)
SELECT kept.tenant_id IS NOT NULL AS kept, directory.sync_deactivate IS NOT NULL AS same,
       kept.forced, directory.sync_deactivate AS deactivates,
       kept.started_at < now() - interval '1 hour' AS late,
       CASE
           WHEN kept.tenant_id IS NULL OR directory.sync_deactivate IS NULL
                THEN set_config('svc.tenant', '', true)
       END IS NULL AS tenant_set
  FROM (VALUES (1)) always
  LEFT JOIN kept ON true
  LEFT JOIN directory ON true;


-- statement: directory_end
-- The audit log has an import that has changed somebody, and one that has ended otherwise than
-- the one before. The next one is due so many seconds later, or -1: an interval after the start of
-- this one.
--
-- parameters
--   run            text
--   status         text
--   error          text
--   pause          int4
--   ending         int4
--   active         int4
WITH ended AS (
    UPDATE svc.ldap_sync import
       SET status = :status::text, error = :error::text, finished_at = now(), lease_until = NULL,
           forced = false,
           due_at = CASE
                        WHEN ldap.enabled AND ldap.vouched_owner AND ldap.sync_enabled
                             THEN CASE
                                      WHEN :pause::int4 < 0
                                           THEN greatest(now(),
                                                         import.started_at
                                                         + make_interval(
                                                             mins => ldap.sync_interval_minutes))
                                      ELSE now() + make_interval(secs => :pause)
                                  END
                    END
      FROM svc.ldap ldap
     WHERE import.tenant_id = :tenant
       AND import.run = :run::text::int8
       AND import.status = 'running'
       AND ldap.tenant_id = :tenant
    RETURNING import.*
), event AS (
    INSERT INTO svc.audit_event (action, outcome, target_type, target_id, target_name, details)
    SELECT 'ldap.synced', CASE ended.status WHEN 'ok' THEN 'success' ELSE 'failure' END, 'ldap',
           NULL, NULL,
           jsonb_strip_nulls(jsonb_build_object(
               'status', ended.status, 'seen', ended.seen, 'created', ended.created,
               'updated', ended.updated, 'deactivated', ended.deactivated,
               'reactivated', ended.reactivated, 'conflicts', ended.conflicting,
               'error', ended.error))
      FROM ended
     WHERE ended.status IS DISTINCT FROM ended.was
        OR ended.created + ended.updated + ended.deactivated + ended.reactivated > 0
)
SELECT CASE
           WHEN ended.status = 'held' THEN svc.ldap_sync_hold(:ending::int4, :active::int4)
       END
  FROM ended;
