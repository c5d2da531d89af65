-- statement: push_users_total
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   state          text ngx_svc_param_query_word("state", ngx_svc_push_states)
SELECT (SELECT count(*)
          FROM svc.scim_item item
         WHERE item.tenant_id = :tenant
           AND item.target_id = :target_id
           AND (:state::text IS NULL OR item.state = :state))
  FROM svc.scim_target target
 WHERE target.tenant_id = :tenant AND target.id = :target_id;


-- statement: push_users
-- One that was erased has no address.
--
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   state          text ngx_svc_param_query_word("state", ngx_svc_push_states)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT item.user_id AS "userId", account.user_name AS email, item.remote_id AS "remoteId",
       item.state, item.attempts, item.error,
       CASE WHEN item.done_rev < item.wanted_rev THEN item.next_at END AS "nextAttemptAt",
       item.synced_at AS "syncedAt"
  FROM (SELECT item.*
          FROM svc.scim_item item
         WHERE item.tenant_id = :tenant
           AND item.target_id = :target_id
           AND (:state::text IS NULL OR item.state = :state)
         ORDER BY item.user_id
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) item
  LEFT JOIN LATERAL (
       SELECT account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN item.user_id AND item.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
 ORDER BY item.user_id;


-- statement: push_user
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   user_id        uuid ngx_svc_param_path_id(1, NGX_SVC_PUSH_NO_USER)
-- verdicts
--   none           not_found       NGX_SVC_PUSH_NO_USER
SELECT CASE WHEN item.user_id IS NULL THEN 'none' END AS _verdict, item.user_id AS "userId",
       account.user_name AS email, item.remote_id AS "remoteId", item.state, item.attempts,
       item.error,
       CASE WHEN item.done_rev < item.wanted_rev THEN item.next_at END AS "nextAttemptAt",
       item.synced_at AS "syncedAt"
  FROM svc.scim_target target
  LEFT JOIN LATERAL (
       SELECT item.*
         FROM svc.scim_item item
        WHERE item.tenant_id = :tenant
          AND (item.target_id, item.user_id)
              BETWEEN (target.id, :user_id::uuid) AND (target.id, :user_id::uuid)
        ORDER BY item.target_id, item.user_id
        LIMIT 1) item ON true
  LEFT JOIN LATERAL (
       SELECT account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN item.user_id AND item.user_id
        ORDER BY account.id
        LIMIT 1) account ON true
 WHERE target.tenant_id = :tenant AND target.id = :target_id;


-- statement: push_user_sync
-- The user is marked, as by a sync of all, and read there. Whom the target has never heard of
-- is marked if the application is for this user. A mark that is due already is enough. How
-- many may be deactivated is decided when marks are taken, whoever has made them.
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   user_id        uuid ngx_svc_param_path_id(1, NGX_SVC_PUSH_NO_USER)
-- verdicts
--   disabled       invalid_request The SCIM target is disabled: enable it first, with PUT
--                                  and {"enabled":true}.
--   held           conflict        The SCIM target is held: confirm that first, with POST
--                                  .../sync?confirm=true.
--   none           not_found       NGX_SVC_PUSH_NO_USER
WITH target AS MATERIALIZED (
    SELECT target.*
      FROM svc.scim_target target
     WHERE target.tenant_id = :tenant AND target.id = :target_id
     FOR NO KEY UPDATE
), client AS MATERIALIZED (
    SELECT application.*
      FROM target
      CROSS JOIN LATERAL (
           SELECT application.client_id, application.enabled, application.assignment
             FROM svc.application application
            WHERE application.tenant_id = :tenant
              AND application.client_id BETWEEN target.client_id AND target.client_id
            ORDER BY application.client_id
            LIMIT 1) application
), concerned AS MATERIALIZED (
    SELECT :user_id::uuid AS id FROM target
), :push_scoped, known AS MATERIALIZED (
    SELECT item.*
      FROM target
      CROSS JOIN LATERAL (
           SELECT item.*
             FROM svc.scim_item item
            WHERE item.tenant_id = :tenant
              AND (item.target_id, item.user_id)
                  BETWEEN (target.id, :user_id::uuid) AND (target.id, :user_id::uuid)
            ORDER BY item.target_id, item.user_id
            LIMIT 1) item
), decided AS MATERIALIZED (
    SELECT target.id, target.name, wanted.user_id, wanted.user_name,
           CASE WHEN wanted.active THEN 1 ELSE 0 END AS priority,
           CASE
               WHEN NOT target.enabled THEN 'disabled'
               WHEN CASE
                        WHEN target.sync_status = 'failing' THEN target.sync_was
                        ELSE target.sync_status
                    END = 'held' THEN 'held'
               WHEN known.user_id IS NULL AND wanted.active IS NOT TRUE THEN 'none'
           END AS verdict,
           (known.done_rev < known.wanted_rev
            AND known.compare
            AND known.attempts = 0
            AND known.next_at <= now()) IS TRUE AS due
      FROM target
      CROSS JOIN wanted
      LEFT JOIN known ON true
), marked AS (
    INSERT INTO svc.scim_item AS item (target_id, user_id, priority, compare)
    SELECT decided.id, decided.user_id, decided.priority, true
      FROM decided
     WHERE decided.verdict IS NULL AND NOT decided.due
    ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE
       SET wanted_rev = item.wanted_rev + 1, priority = excluded.priority, next_at = now(),
           attempts = 0, state = 'pending', compare = true
    RETURNING item.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'scim.synced', 'scimTarget', decided.id::text, decided.name,
           jsonb_build_object('userId', marked.user_id)
      FROM marked, decided
), item AS (
    SELECT marked.* FROM marked
    UNION ALL
    SELECT known.* FROM known WHERE NOT EXISTS (SELECT FROM marked)
)
SELECT decided.verdict AS _verdict, item.user_id AS "userId", decided.user_name AS email,
       item.remote_id AS "remoteId", item.state, item.attempts, item.error,
       CASE WHEN item.done_rev < item.wanted_rev THEN item.next_at END AS "nextAttemptAt",
       item.synced_at AS "syncedAt"
  FROM decided
  LEFT JOIN item ON true;
