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
