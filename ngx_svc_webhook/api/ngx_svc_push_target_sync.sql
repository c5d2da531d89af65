-- statement: push_sync
-- A target that fails is tried again at once.
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   sync_id        uuid ngx_svc_param_new_id()
--   confirm        text ngx_svc_param_query_word("confirm", ngx_svc_push_confirm)
-- verdicts
--   disabled       invalid_request The SCIM target is disabled: enable it first, with PUT
--                                  and {"enabled":true}.
--   running        conflict        The SCIM target is being synchronized: wait for the end
--                                  of it.
--   held           conflict        The last synchronization was held, as it would have
--                                  deactivated more than half of the users there: confirm it
--                                  with "?confirm=true".
WITH old AS (
    SELECT target.enabled, target.sync_status
      FROM svc.scim_target target
     WHERE target.tenant_id = :tenant AND target.id = :target_id
     FOR NO KEY UPDATE
), decided AS (
    SELECT CASE
               WHEN NOT old.enabled THEN 'disabled'
               WHEN old.sync_status IN ('queued', 'running') THEN 'running'
               WHEN old.sync_status = 'held' AND :confirm::text IS DISTINCT FROM 'true' THEN 'held'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.scim_target target
       SET sync_id = :sync_id::uuid, sync_status = 'queued', sync_was = NULL,
           sync_confirm = :confirm IS NOT DISTINCT FROM 'true', sync_next = NULL,
           sync_again = false, last_error = NULL, failures = 0,
           next_at = CASE WHEN target.failures > 0 THEN NULL ELSE target.next_at END
      FROM decided
     WHERE target.tenant_id = :tenant AND target.id = :target_id AND decided.verdict IS NULL
    RETURNING target.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'scim.synced', 'scimTarget', updated.id::text, updated.name,
           jsonb_build_object('syncId', updated.sync_id, 'confirm', updated.sync_confirm)
      FROM updated
)
SELECT decided.verdict AS _verdict, updated.sync_id AS "syncId", updated.sync_status AS status
  FROM decided
  LEFT JOIN updated ON true;
