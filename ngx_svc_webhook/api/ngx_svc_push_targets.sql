-- statement: push_list
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT target.id, target.client_id AS "clientId", target.name, target.base_url AS "baseUrl",
       target.enabled, true AS "tokenSet", target.sync_at AS "lastSyncAt",
       target.sync_status AS "lastSyncStatus", target.last_error AS "lastError",
       target.users AS "stats.users", target.pending AS "stats.pending",
       target.errors AS "stats.errors", target.created_at AS "createdAt",
       target.updated_at AS "updatedAt"
  FROM svc.scim_target target
 WHERE target.tenant_id = :tenant
   AND (:q::text IS NULL
        OR strpos(lower(concat_ws(E'\x01', target.name, target.base_url)), lower(:q)) > 0
        OR strpos(target.client_id, :q) > 0
        OR target.id::text = lower(:q))
 ORDER BY target.created_at DESC, target.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: push_total
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
SELECT count(*)
  FROM svc.scim_target target
 WHERE target.tenant_id = :tenant
   AND (:q::text IS NULL
        OR strpos(lower(concat_ws(E'\x01', target.name, target.base_url)), lower(:q)) > 0
        OR strpos(target.client_id, :q) > 0
        OR target.id::text = lower(:q));


-- statement: push_get
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
SELECT target.id, target.client_id AS "clientId", target.name, target.base_url AS "baseUrl",
       target.enabled, true AS "tokenSet", target.sync_at AS "lastSyncAt",
       target.sync_status AS "lastSyncStatus", target.last_error AS "lastError",
       target.users AS "stats.users", target.pending AS "stats.pending",
       target.errors AS "stats.errors", target.created_at AS "createdAt",
       target.updated_at AS "updatedAt",
       (extract(epoch from target.updated_at) * 1000)::int8 AS _edition
  FROM svc.scim_target target
 WHERE target.tenant_id = :tenant AND target.id = :target_id;


-- statement: push_lock
-- Who deletes an application stands in the same line.
SELECT pg_advisory_xact_lock(hashtext('svc.scim_target'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: push_create
--
-- parameters
--   new_id           uuid  ngx_svc_param_new_id()
--   client_id        text  ngx_svc_param_text(ngx_svc_push_input_t, client_id)
--   name             text  ngx_svc_param_text(ngx_svc_push_input_t, name)
--   base_url         text  ngx_svc_param_text(ngx_svc_push_input_t, base_url)
--   token            bytea ngx_svc_param_sealed(ngx_svc_push_input_t, token, NGX_SVC_PUSH_TOKEN_OF)
--   enabled          bool  ngx_svc_param_boolean(ngx_svc_push_input_t, enabled)
--   targets_max      int4  ngx_svc_param_constant(NGX_SVC_PUSH_TARGETS)
-- verdicts
--   unknown        invalid_value   "clientId" must be that of an application of the tenant.
--   taken          conflict        The application has a SCIM target already: change that
--                                  one.
--   full           limit_exceeded  The tenant has %(NGX_SVC_PUSH_TARGETS) SCIM targets:
--                                  delete one.
WITH wanted AS (
    SELECT :tenant_or_null AS tenant_id, count(*) < :targets_max::int4 AS room,
           coalesce(bool_or(target.client_id = :client_id), false) AS taken
      FROM svc.scim_target target
     WHERE target.tenant_id = :tenant
), decided AS (
    SELECT wanted.tenant_id,
           CASE
               WHEN NOT EXISTS (SELECT
                                  FROM svc.application client
                                 WHERE client.tenant_id = :tenant
                                   AND client.client_id = :client_id)
                   THEN 'unknown'
               WHEN wanted.taken THEN 'taken'
               WHEN NOT wanted.room THEN 'full'
           END AS verdict
      FROM wanted
), target AS (
    INSERT INTO svc.scim_target (tenant_id, id, client_id, name, base_url, token, enabled)
    SELECT decided.tenant_id, :new_id::uuid, :client_id, :name, :base_url, :token::bytea,
           coalesce(:enabled::bool, true)
      FROM decided
     WHERE decided.tenant_id IS NOT NULL AND decided.verdict IS NULL
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'scim.target_created', 'scimTarget', target.id::text, target.name,
           jsonb_build_object('clientId', target.client_id,
                              'host', substring(target.base_url FROM '^https://([^/?]*)'),
                              'enabled', target.enabled)
      FROM target
)
SELECT decided.verdict AS _verdict, target.id, target.client_id AS "clientId", target.name,
       target.base_url AS "baseUrl", target.enabled, true AS "tokenSet",
       target.sync_at AS "lastSyncAt", target.sync_status AS "lastSyncStatus",
       target.last_error AS "lastError", target.users AS "stats.users",
       target.pending AS "stats.pending", target.errors AS "stats.errors",
       target.created_at AS "createdAt", target.updated_at AS "updatedAt",
       (extract(epoch from target.updated_at) * 1000)::int8 AS _edition
  FROM decided
  LEFT JOIN target ON true;


-- statement: push_put
-- What the users are elsewhere is not known of another place: ids of one may be other
-- users of the other. The token is not for whoever may change the address alone. What ends
-- a quarantine is any change, or the same values again.
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id      uuid  ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   client_id      text  ngx_svc_param_text(ngx_svc_push_input_t, client_id)
--   name           text  ngx_svc_param_text(ngx_svc_push_input_t, name)
--   base_url       text  ngx_svc_param_text(ngx_svc_push_input_t, base_url)
--   token          bytea
--         ngx_svc_param_sealed_path(ngx_svc_push_input_t, token, NGX_SVC_PUSH_TOKEN_OF, 0)
--   enabled        bool  ngx_svc_param_boolean(ngx_svc_push_input_t, enabled)
--   if_match       text  ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
--   client         invalid_value   "clientId" cannot be changed: make a SCIM target of the
--                                  other application.
--   token          invalid_value   "token" is required with another "baseUrl".
WITH old AS (
    SELECT target.*
      FROM svc.scim_target target
     WHERE target.tenant_id = :tenant AND target.id = :target_id
     FOR NO KEY UPDATE
), wanted AS (
    SELECT coalesce(:name, old.name) AS name,
           coalesce(:base_url, old.base_url) AS base_url,
           coalesce(:token::bytea, old.token) AS token,
           coalesce(:enabled::bool, old.enabled) AS enabled
      FROM old
), decided AS (
    SELECT wanted.base_url <> old.base_url AS moved,
           CASE
               WHEN :client_id <> old.client_id THEN 'client'
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN wanted.base_url <> old.base_url AND :token IS NULL THEN 'token'
           END AS verdict
      FROM wanted, old
), updated AS (
    UPDATE svc.scim_target target
       SET name = wanted.name, base_url = wanted.base_url, token = wanted.token,
           enabled = wanted.enabled, version = target.version + 1, failures = 0,
           next_at = CASE WHEN target.failures > 0 THEN NULL ELSE target.next_at END,
           patch = CASE WHEN NOT decided.moved THEN target.patch END,
           config_at = CASE WHEN NOT decided.moved THEN target.config_at END,
           xid = CASE WHEN NOT decided.moved THEN target.xid END,
           event_id = CASE WHEN NOT decided.moved THEN target.event_id END,
           event_at = CASE WHEN NOT decided.moved THEN target.event_at END,
           sync_next = CASE WHEN NOT decided.moved THEN target.sync_next END,
           sync_at = CASE WHEN NOT decided.moved THEN target.sync_at END,
           list_next = CASE WHEN NOT decided.moved THEN target.list_next END,
           sync_status = CASE
                             WHEN NOT decided.moved OR target.sync_status IN ('queued', 'running')
                                 THEN target.sync_status
                             WHEN target.sync_status = 'failing'
                                  AND target.sync_was IN ('queued', 'running')
                                 THEN target.sync_was
                         END,
           last_error = CASE WHEN NOT decided.moved THEN target.last_error END,
           users = CASE WHEN decided.moved THEN 0 ELSE target.users END,
           pending = CASE WHEN decided.moved THEN 0 ELSE target.pending END,
           errors = CASE WHEN decided.moved THEN 0 ELSE target.errors END,
           updated_at = greatest(now(), target.updated_at + interval '1 millisecond')
      FROM wanted, old, decided
     WHERE target.tenant_id = :tenant
       AND target.id = :target_id
       AND decided.verdict IS NULL
       AND (old.failures > 0
            OR ROW(wanted.*)
               IS DISTINCT FROM ROW(old.name, old.base_url, old.token, old.enabled))
    RETURNING target.*
), deleted AS (
    DELETE FROM svc.scim_item item
     WHERE item.tenant_id = :tenant
       AND item.target_id = :target_id
       AND (SELECT decided.moved AND decided.verdict IS NULL FROM decided)
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'scim.target_updated', 'scimTarget', updated.id::text, updated.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.name IS DISTINCT FROM old.name THEN 'name' END,
               CASE WHEN updated.base_url IS DISTINCT FROM old.base_url THEN 'baseUrl' END,
               CASE WHEN updated.token IS DISTINCT FROM old.token THEN 'token' END,
               CASE WHEN updated.enabled IS DISTINCT FROM old.enabled THEN 'enabled' END
           ], NULL)))
      FROM updated, old
), shown AS (
    SELECT * FROM updated UNION ALL SELECT * FROM old WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT decided.verdict AS _verdict, shown.id, shown.client_id AS "clientId", shown.name,
       shown.base_url AS "baseUrl", shown.enabled, true AS "tokenSet",
       shown.sync_at AS "lastSyncAt", shown.sync_status AS "lastSyncStatus",
       shown.last_error AS "lastError", shown.users AS "stats.users",
       shown.pending AS "stats.pending", shown.errors AS "stats.errors",
       shown.created_at AS "createdAt", shown.updated_at AS "updatedAt",
       (extract(epoch from shown.updated_at) * 1000)::int8 AS _edition
  FROM decided, shown;


-- statement: push_delete
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
WITH deleted AS (
    DELETE FROM svc.scim_target target
     WHERE target.tenant_id = :tenant AND target.id = :target_id
    RETURNING target.id, target.name, target.client_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'scim.target_deleted', 'scimTarget', deleted.id::text, deleted.name,
           jsonb_build_object('clientId', deleted.client_id)
      FROM deleted
)
SELECT deleted.id
  FROM deleted;
