-- statement: admin_social_list
--
-- parameters
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT social.provider, social.client_id AS "clientId",
       social.client_secret IS NOT NULL AS "secretSet", social.team_id AS "teamId",
       social.key_id AS "keyId", social.enabled, social.created_at AS "createdAt"
  FROM svc.social social
 WHERE social.tenant_id = :tenant
 ORDER BY social.created_at DESC, social.provider DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_social_total
SELECT count(*) FROM svc.social social WHERE social.tenant_id = :tenant;


-- statement: admin_social_create
--
-- parameters
--   provider       text  ngx_svc_param_text(ngx_svc_admin_social_t, provider)
--   client_id      text  ngx_svc_param_text(ngx_svc_admin_social_t, client_id)
--   new_id         uuid  ngx_svc_param_new_id()
--   client_secret  bytea ngx_svc_param_sealed(ngx_svc_admin_social_t, client_secret, "social")
--   team_id        text  ngx_svc_param_text(ngx_svc_admin_social_t, team_id)
--   key_id         text  ngx_svc_param_text(ngx_svc_admin_social_t, key_id)
--   enabled        bool  ngx_svc_param_boolean(ngx_svc_admin_social_t, enabled)
-- verdicts
--   taken          conflict        There is a connection with this provider already: delete
--                                  it first.
WITH social AS (
    INSERT INTO svc.social
        (tenant_id, provider, client_id, client_secret_id, client_secret, team_id, key_id, enabled)
    SELECT wanted.tenant, :provider, :client_id, :new_id::uuid, :client_secret::bytea, :team_id,
           :key_id, coalesce(:enabled::bool, true)
      FROM (SELECT :tenant_or_null AS tenant) wanted
     WHERE wanted.tenant IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'social.created', 'social', social.provider, NULL,
           jsonb_build_object('clientId', social.client_id, 'enabled', social.enabled)
      FROM social
)
SELECT CASE WHEN social.provider IS NULL THEN 'taken' END AS _verdict,
       social.provider, social.client_id AS "clientId",
       social.client_secret IS NOT NULL AS "secretSet", social.team_id AS "teamId",
       social.key_id AS "keyId", social.enabled, social.created_at AS "createdAt"
  FROM (VALUES (1)) always
  LEFT JOIN social ON true;


-- statement: admin_social_delete
--
-- missing: NGX_SVC_ADMIN_NO_SOCIAL
-- parameters
--   provider       text ngx_svc_param_call(ngx_svc_admin_social_bind)
WITH deleted AS (
    DELETE FROM svc.social social
     WHERE social.tenant_id = :tenant AND social.provider = :provider
    RETURNING social.provider
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'social.deleted', 'social', deleted.provider, NULL, '{}'
      FROM deleted
)
SELECT deleted.provider
  FROM deleted;
