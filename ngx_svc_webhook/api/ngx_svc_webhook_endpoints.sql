-- statement: webhook_list
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT endpoint.id, endpoint.url, array_to_json(endpoint.events) AS events, endpoint.enabled,
       endpoint.created_at AS "createdAt"
  FROM svc.webhook_endpoint endpoint
 WHERE endpoint.tenant_id = :tenant
   AND (:q::text IS NULL
        OR strpos(lower(endpoint.url), lower(:q)) > 0
        OR endpoint.id::text = lower(:q))
 ORDER BY endpoint.created_at DESC, endpoint.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: webhook_total
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
SELECT count(*)
  FROM svc.webhook_endpoint endpoint
 WHERE endpoint.tenant_id = :tenant
   AND (:q::text IS NULL
        OR strpos(lower(endpoint.url), lower(:q)) > 0
        OR endpoint.id::text = lower(:q));


-- statement: webhook_get
--
-- missing: NGX_SVC_WEBHOOK_NONE
-- parameters
--   endpoint_id    uuid ngx_svc_param_path_id(0, NGX_SVC_WEBHOOK_NONE)
SELECT endpoint.id, endpoint.url, array_to_json(endpoint.events) AS events, endpoint.enabled,
       endpoint.created_at AS "createdAt",
       (extract(epoch from endpoint.updated_at) * 1000)::int8 AS _version
  FROM svc.webhook_endpoint endpoint
 WHERE endpoint.tenant_id = :tenant AND endpoint.id = :endpoint_id;


-- statement: webhook_lock
-- Who adds one waits here for who adds another: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.webhook_endpoint'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: webhook_create
-- The tenant's audit log is followed from here on, if it is not yet.
--
-- parameters
--   new_id         uuid  ngx_svc_param_call(ngx_svc_webhook_bind_new)
--   url            text  ngx_svc_param_text(ngx_svc_webhook_input_t, url)
--   events         text  ngx_svc_param_call(ngx_svc_webhook_bind_events)
--   enabled        bool  ngx_svc_param_boolean(ngx_svc_webhook_input_t, enabled)
--   secret         bytea ngx_svc_param_call(ngx_svc_webhook_bind_sealed)
--   endpoints_max  int4  ngx_svc_param_constant(NGX_SVC_WEBHOOK_ENDPOINTS)
-- verdicts
--   full           limit_exceeded  The tenant has %(NGX_SVC_WEBHOOK_ENDPOINTS) webhooks:
--                                  delete one.
WITH wanted AS (
    SELECT :tenant_or_null AS tenant_id, count(*) < :endpoints_max::int4 AS room
      FROM svc.webhook_endpoint endpoint
     WHERE endpoint.tenant_id = :tenant
), endpoint AS (
    INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events, enabled, secret, since)
    SELECT wanted.tenant_id, :new_id::uuid, :url, :events::text::text[],
           coalesce(:enabled::bool, true), :secret::bytea,
           array_fill(now(), ARRAY[cardinality(:events::text::text[])])
      FROM wanted
     WHERE wanted.tenant_id IS NOT NULL AND wanted.room
    RETURNING *
), outbox AS (
    INSERT INTO svc.webhook_outbox (tenant_id, xid)
    SELECT endpoint.tenant_id, pg_snapshot_xmin(pg_current_snapshot())
      FROM endpoint
    ON CONFLICT (tenant_id) DO NOTHING
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'webhook.created', 'webhook', endpoint.id::text,
           substring(endpoint.url FROM '^https://([^/?]*)'),
           jsonb_build_object('events', to_jsonb(endpoint.events), 'enabled', endpoint.enabled)
      FROM endpoint
)
SELECT CASE WHEN NOT wanted.room THEN 'full' END AS _verdict, endpoint.id, endpoint.url,
       array_to_json(endpoint.events) AS events, endpoint.enabled,
       endpoint.created_at AS "createdAt",
       (extract(epoch from endpoint.updated_at) * 1000)::int8 AS _version
  FROM wanted
  LEFT JOIN endpoint ON true;


-- statement: webhook_patch
-- Who gets events that did not needs what a new webhook needs. An event that is taken as
-- before keeps its "since": what happened in between is delivered.
--
-- missing: NGX_SVC_WEBHOOK_NONE
-- parameters
--   endpoint_id    uuid ngx_svc_param_path_id(0, NGX_SVC_WEBHOOK_NONE)
--   url            text ngx_svc_param_text(ngx_svc_webhook_input_t, url)
--   events         text ngx_svc_param_call(ngx_svc_webhook_bind_events)
--   enabled        bool ngx_svc_param_boolean(ngx_svc_webhook_input_t, enabled)
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
--   stale          step_up         Another "url", more "events", and a webhook that is
--                                  switched on need a fresh second factor: POST
--                                  /v1/mfa/step-up.
WITH old AS (
    SELECT endpoint.*
      FROM svc.webhook_endpoint endpoint
     WHERE endpoint.tenant_id = :tenant AND endpoint.id = :endpoint_id
     FOR UPDATE
), wanted AS (
    SELECT old.tenant_id, old.id, coalesce(:url, old.url) AS url,
           coalesce(:events::text::text[], old.events) AS events,
           coalesce(:enabled::bool, old.enabled) AS enabled
      FROM old
), decided AS (
    SELECT CASE
               WHEN (wanted.url <> old.url
                     OR NOT wanted.events <@ old.events
                     OR wanted.enabled AND NOT old.enabled)
                    AND :caller_stale THEN 'stale'
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM wanted, old
), updated AS (
    UPDATE svc.webhook_endpoint endpoint
       SET url = wanted.url, events = wanted.events, enabled = wanted.enabled,
           since = ARRAY(SELECT CASE
                                    WHEN old.enabled
                                         AND wanted.enabled
                                         AND listed.event = ANY (old.events)
                                        THEN coalesce(old.since[array_position(old.events,
                                                                               listed.event)],
                                                      old.created_at)
                                    ELSE now()
                                END
                           FROM unnest(wanted.events) WITH ORDINALITY listed (event, place)
                          ORDER BY listed.place),
           updated_at = greatest(now(), endpoint.updated_at + interval '1 millisecond')
      FROM wanted, old, decided
     WHERE endpoint.tenant_id = wanted.tenant_id
       AND endpoint.id = wanted.id
       AND decided.verdict IS NULL
       AND (wanted.url, wanted.events, wanted.enabled) <> (old.url, old.events, old.enabled)
    RETURNING endpoint.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'webhook.updated', 'webhook', updated.id::text,
           substring(updated.url FROM '^https://([^/?]*)'),
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.url IS DISTINCT FROM old.url THEN 'url' END,
               CASE WHEN updated.events IS DISTINCT FROM old.events THEN 'events' END,
               CASE WHEN updated.enabled IS DISTINCT FROM old.enabled THEN 'enabled' END
           ], NULL)))
      FROM updated, old
)
SELECT decided.verdict AS _verdict, updated.id, updated.url,
       array_to_json(updated.events) AS events, updated.enabled, updated.created_at AS "createdAt",
       (extract(epoch from updated.updated_at) * 1000)::int8 AS _version
  FROM updated, decided
UNION ALL
SELECT decided.verdict, old.id, old.url, array_to_json(old.events) AS events, old.enabled,
       old.created_at AS "createdAt",
       (extract(epoch from old.updated_at) * 1000)::int8 AS _version
  FROM old, decided
 WHERE NOT EXISTS (SELECT FROM updated);


-- statement: webhook_delete
--
-- missing: NGX_SVC_WEBHOOK_NONE
-- parameters
--   endpoint_id    uuid ngx_svc_param_path_id(0, NGX_SVC_WEBHOOK_NONE)
WITH deleted AS (
    DELETE FROM svc.webhook_endpoint endpoint
     WHERE endpoint.tenant_id = :tenant AND endpoint.id = :endpoint_id
    RETURNING endpoint.id, endpoint.url
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'webhook.deleted', 'webhook', deleted.id::text,
           substring(deleted.url FROM '^https://([^/?]*)'), '{}'
      FROM deleted
)
SELECT deleted.id
  FROM deleted;
