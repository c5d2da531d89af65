-- statement: admin_scim_tokens_list
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT credential.id, credential.name, credential.prefix, credential.created_at AS "createdAt",
       credential.created_by_type AS "createdBy.type", credential.created_by_id AS "createdBy.id",
       credential.created_by_name AS "createdBy.name", :token_maker,
       credential.last_used_at AS "lastUsedAt", credential.revoked_at AS "revokedAt"
  FROM svc.credential credential
 WHERE credential.tenant_id = :tenant
   AND credential.kind = 'scim'
   AND (:q::text IS NULL
        OR strpos(lower(credential.name), lower(:q)) > 0
        OR strpos(credential.prefix, :q) > 0
        OR credential.id::text = lower(:q))
 ORDER BY credential.created_at DESC, credential.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_scim_tokens_total
-- Without a search an index counts them.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
SELECT CASE
           WHEN :q::text IS NULL
               THEN (SELECT count(*)
                       FROM svc.credential credential
                      WHERE credential.tenant_id = :tenant AND credential.kind = 'scim')
           ELSE (SELECT count(*)
                   FROM svc.credential credential
                  WHERE credential.tenant_id = :tenant
                    AND credential.kind = 'scim'
                    AND (strpos(lower(credential.name), lower(:q)) > 0
                         OR strpos(credential.prefix, :q) > 0
                         OR credential.id::text = lower(:q)))
       END AS count;


-- statement: admin_scim_tokens_get
-- A range and an ORDER BY have the index of ids looked up whatever the planner knows.
--
-- missing: NGX_SVC_ADMIN_NO_SCIM_TOKEN
-- parameters
--   token_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SCIM_TOKEN)
SELECT credential.id, credential.name, credential.prefix, credential.created_at AS "createdAt",
       credential.created_by_type AS "createdBy.type", credential.created_by_id AS "createdBy.id",
       credential.created_by_name AS "createdBy.name", :token_maker,
       credential.last_used_at AS "lastUsedAt", credential.revoked_at AS "revokedAt"
  FROM svc.credential credential
 WHERE credential.tenant_id = :tenant
   AND credential.kind = 'scim'
   AND credential.id BETWEEN :token_id AND :token_id
 ORDER BY credential.id
 LIMIT 1;


-- statement: admin_scim_tokens_lock
-- Who adds one waits here for who adds another: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.credential.scim'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_scim_tokens_create
-- Of the token its digest is stored, and the beginning that is shown.
--
-- parameters
--   token_hash     bytea ngx_svc_param_new_token(NGX_SVC_ADMIN_SCIM_PREFIX)
--   new_id         uuid  ngx_svc_param_new_id()
--   name           text  ngx_svc_param_text(ngx_svc_admin_scim_token_t, name)
--   prefix         text  ngx_svc_param_token_shown(NGX_SVC_ADMIN_SCIM_PREFIX)
--   tokens_max     int4  ngx_svc_param_constant(NGX_SVC_ADMIN_SCIM_TOKENS)
--   base_url       text  ngx_svc_param_base_url()
-- verdicts
--   full           limit_exceeded  The tenant has %(NGX_SVC_ADMIN_SCIM_TOKENS) live SCIM
--                                  tokens: revoke one.
WITH wanted AS (
    SELECT :tenant_or_null AS tenant,
           (SELECT count(*)
              FROM svc.credential live
             WHERE live.tenant_id = :tenant
               AND live.kind = 'scim'
               AND live.revoked_at IS NULL
               AND (live.expires_at IS NULL OR live.expires_at > now())) < :tokens_max::int4 AS room
), credential AS (
    INSERT INTO svc.credential
        (token_hash, tenant_id, id, kind, name, prefix, permissions, created_by_type, created_by_id,
         created_by_name)
    SELECT :token_hash, wanted.tenant, :new_id::uuid, 'scim', coalesce(:name, 'SCIM'),
           :prefix, '{scim}', current_setting('svc.actor_type', true),
           current_setting('svc.actor_id', true), current_setting('svc.actor_name', true)
      FROM wanted
     WHERE wanted.tenant IS NOT NULL AND wanted.room
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'scim.token_created', 'scimToken', credential.id::text, credential.name, '{}'
      FROM credential
)
SELECT CASE WHEN NOT wanted.room THEN 'full' END AS _verdict, issued.*,
       coalesce(nullif(current_setting('svc.base_url', true), ''), :base_url::text)
       || '/scim/v2' AS "baseUrl"
  FROM wanted
  LEFT JOIN (SELECT credential.id, credential.name, credential.prefix,
                    credential.created_at AS "createdAt",
                    credential.created_by_type AS "createdBy.type",
                    credential.created_by_id AS "createdBy.id",
                    credential.created_by_name AS "createdBy.name", :token_maker,
                    credential.last_used_at AS "lastUsedAt", credential.revoked_at AS "revokedAt"
               FROM credential) issued ON true;


-- statement: admin_scim_tokens_revoke
-- A range and an ORDER BY have the index of ids looked up whatever the planner knows.
--
-- missing: NGX_SVC_ADMIN_NO_SCIM_TOKEN
-- parameters
--   token_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SCIM_TOKEN)
WITH old AS (
    SELECT credential.token_hash, credential.id, credential.name, credential.revoked_at
      FROM svc.credential credential
     WHERE credential.tenant_id = :tenant
       AND credential.kind = 'scim'
       AND credential.id BETWEEN :token_id AND :token_id
     ORDER BY credential.id
     LIMIT 1
     FOR UPDATE
), updated AS (
    UPDATE svc.credential credential
       SET revoked_at = now()
     WHERE credential.tenant_id = :tenant
       AND credential.token_hash = (SELECT old.token_hash FROM old WHERE old.revoked_at IS NULL)
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'scim.token_revoked', 'scimToken', old.id::text, old.name, '{}'
      FROM old
     WHERE old.revoked_at IS NULL
)
SELECT old.id
  FROM old;
