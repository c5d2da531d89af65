-- statement: admin_tokens_list
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT credential.id, credential.name,
       array_to_json(ARRAY(SELECT unnest(credential.permissions) ORDER BY 1)) AS scopes,
       credential.prefix,
       CASE
           WHEN credential.revoked_at IS NOT NULL THEN 'revoked'
           WHEN credential.expires_at <= now() THEN 'expired'
           ELSE 'active'
       END AS status,
       credential.created_at AS "createdAt", credential.created_by_type AS "createdBy.type",
       credential.created_by_id AS "createdBy.id", credential.created_by_name AS "createdBy.name",
       :token_maker, credential.expires_at AS "expiresAt",
       credential.last_used_at AS "lastUsedAt", credential.revoked_at AS "revokedAt"
  FROM svc.credential credential
 WHERE credential.tenant_id = :tenant
   AND credential.kind = 'api'
   AND (:q::text IS NULL
        OR strpos(lower(credential.name), lower(:q)) > 0
        OR strpos(credential.prefix, :q) > 0
        OR credential.id::text = lower(:q))
 ORDER BY credential.created_at DESC, credential.id DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_tokens_total
-- And what the caller may give: what it has itself. Without a search an index counts them.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
SELECT CASE
           WHEN :q::text IS NULL
               THEN (SELECT count(*)
                       FROM svc.credential credential
                      WHERE credential.tenant_id = :tenant AND credential.kind = 'api')
           ELSE (SELECT count(*)
                   FROM svc.credential credential
                  WHERE credential.tenant_id = :tenant
                    AND credential.kind = 'api'
                    AND (strpos(lower(credential.name), lower(:q)) > 0
                         OR strpos(credential.prefix, :q) > 0
                         OR credential.id::text = lower(:q)))
       END AS count,
       array_to_json(ARRAY(SELECT unnest(:caller_permissions) ORDER BY 1)) AS scopes;


-- statement: admin_tokens_get
-- A range and an ORDER BY have the index of ids looked up whatever the planner knows.
--
-- missing: NGX_SVC_ADMIN_NO_TOKEN
-- parameters
--   token_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_TOKEN)
SELECT credential.id, credential.name,
       array_to_json(ARRAY(SELECT unnest(credential.permissions) ORDER BY 1)) AS scopes,
       credential.prefix,
       CASE
           WHEN credential.revoked_at IS NOT NULL THEN 'revoked'
           WHEN credential.expires_at <= now() THEN 'expired'
           ELSE 'active'
       END AS status,
       credential.created_at AS "createdAt", credential.created_by_type AS "createdBy.type",
       credential.created_by_id AS "createdBy.id", credential.created_by_name AS "createdBy.name",
       :token_maker, credential.expires_at AS "expiresAt",
       credential.last_used_at AS "lastUsedAt", credential.revoked_at AS "revokedAt"
  FROM svc.credential credential
 WHERE credential.tenant_id = :tenant
   AND credential.kind = 'api'
   AND credential.id BETWEEN :token_id AND :token_id
 ORDER BY credential.id
 LIMIT 1;


-- statement: admin_tokens_lock
-- Who adds one waits here for who adds another: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.credential'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_tokens_create
-- Of the token its digest is stored, and the beginning that is shown.
--
-- parameters
--   token_hash      bytea ngx_svc_param_new_token(NGX_SVC_ADMIN_TOKEN_PREFIX)
--   new_id          uuid  ngx_svc_param_new_id()
--   name            text  ngx_svc_param_text(ngx_svc_admin_token_t, name)
--   prefix          text  ngx_svc_param_token_shown(NGX_SVC_ADMIN_TOKEN_PREFIX)
--   scopes          text  ngx_svc_param_permissions(ngx_svc_admin_token_t, scopes)
--   expires_at      text  ngx_svc_param_time(ngx_svc_admin_token_t, expires_at)
--   expires_in_days int4  ngx_svc_param_integer(ngx_svc_admin_token_t, expires_in_days)
--   tokens_max      int4  ngx_svc_param_constant(NGX_SVC_ADMIN_TOKENS)
-- verdicts
--   lacks          forbidden       "scopes" holds a permission that the token of this
--                                  request does not have.
--   full           limit_exceeded  The tenant has %(NGX_SVC_ADMIN_TOKENS) live API tokens:
--                                  revoke one.
WITH wanted AS (
    SELECT :tenant_or_null AS tenant,
           :scopes::text::text[] <@ :caller_permissions AS held,
           (SELECT count(*)
              FROM svc.credential live
             WHERE live.tenant_id = :tenant
               AND live.kind = 'api'
               AND live.revoked_at IS NULL
               AND (live.expires_at IS NULL OR live.expires_at > now())) < :tokens_max::int4 AS room
), credential AS (
    INSERT INTO svc.credential
        (token_hash, tenant_id, id, kind, name, prefix, permissions, expires_at, created_by_type,
         created_by_id, created_by_name)
    SELECT :token_hash, wanted.tenant, :new_id::uuid, 'api', :name, :prefix,
           :scopes::text::text[],
           coalesce(to_timestamp(:expires_at::text::float8 / 1000),
                    now() + :expires_in_days::int4 * interval '24 hours'),
           current_setting('svc.actor_type', true), current_setting('svc.actor_id', true),
           current_setting('svc.actor_name', true)
      FROM wanted
     WHERE wanted.tenant IS NOT NULL AND wanted.held AND wanted.room
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'api_token.created', 'apiToken', credential.id::text, credential.name,
           jsonb_build_object('scopes', to_jsonb(credential.permissions))
      FROM credential
)
SELECT CASE
           WHEN wanted.held IS NOT TRUE THEN 'lacks'
           WHEN NOT wanted.room THEN 'full'
       END AS _verdict,
       issued.*
  FROM wanted
  LEFT JOIN (SELECT credential.id, credential.name,
                    array_to_json(ARRAY(SELECT unnest(credential.permissions) ORDER BY 1))
                    AS scopes,
                    credential.prefix,
                    CASE
                        WHEN credential.revoked_at IS NOT NULL THEN 'revoked'
                        WHEN credential.expires_at <= now() THEN 'expired'
                        ELSE 'active'
                    END AS status,
                    credential.created_at AS "createdAt",
                    credential.created_by_type AS "createdBy.type",
                    credential.created_by_id AS "createdBy.id",
                    credential.created_by_name AS "createdBy.name",
                    :token_maker, credential.expires_at AS "expiresAt",
                    credential.last_used_at AS "lastUsedAt", credential.revoked_at AS "revokedAt"
               FROM credential) issued ON true;


-- statement: admin_tokens_revoke
-- A range and an ORDER BY have the index of ids looked up whatever the planner knows.
--
-- missing: NGX_SVC_ADMIN_NO_TOKEN
-- parameters
--   token_id       uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_TOKEN)
WITH old AS (
    SELECT credential.token_hash, credential.id, credential.name, credential.revoked_at
      FROM svc.credential credential
     WHERE credential.tenant_id = :tenant
       AND credential.kind = 'api'
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
    SELECT 'api_token.revoked', 'apiToken', old.id::text, old.name, '{}'
      FROM old
     WHERE old.revoked_at IS NULL
)
SELECT old.id
  FROM old;
