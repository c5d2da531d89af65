-- fragment: saml_keyless
-- columns
--   _keyless       bool
--   _slug          text


-- statement: admin_saml_idp
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
-- columns
--   :saml_keyless
--   entityId       text         answer
--   ssoUrl         text         answer
--   metadataUrl    text         answer
--   certificate    text         answer
--   apps           json         answer
SELECT idp.tenant_id IS NULL AS _keyless, tenant.slug AS _slug,
       :base_url || '/v1/tenants/' || tenant.slug || '/saml-idp/metadata' AS "entityId",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml-idp/sso' AS "ssoUrl",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml-idp/metadata' AS "metadataUrl",
       idp.certificate,
       (SELECT coalesce(json_agg(json_build_object(
                   'id', app.id, 'name', app.name, 'spEntityId', app.sp_entity_id,
                   'acsUrl', app.acs_url, 'nameIdFormat', app.name_id_format,
                   'enabled', app.enabled,
                   'createdAt', to_char(app.created_at AT TIME ZONE 'UTC',
                                        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                   ORDER BY app.created_at DESC, app.id DESC), '[]')
          FROM svc.saml_app app
         WHERE app.tenant_id = :tenant) AS apps
  FROM svc.tenant tenant
  LEFT JOIN svc.saml_idp idp ON idp.tenant_id = tenant.id
 WHERE tenant.id = :tenant;


-- statement: admin_saml_apps_lock
-- Who adds one waits here for who adds another: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.saml_app'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_saml_apps_create
-- Without a key nothing is added.
--
-- parameters
--   new_id         uuid ngx_svc_param_new_id()
--   name           text ngx_svc_param_text(ngx_svc_admin_saml_app_t, name)
--   sp_entity_id   text ngx_svc_param_text(ngx_svc_admin_saml_app_t, sp_entity_id)
--   acs_url        text ngx_svc_param_text(ngx_svc_admin_saml_app_t, acs_url)
--   apps_max       int4 ngx_svc_param_constant(NGX_SVC_ADMIN_SAML_APPS)
-- verdicts
--   taken          conflict        There is an application with this "spEntityId" already.
--   full           limit_exceeded  The tenant has %(NGX_SVC_ADMIN_SAML_APPS) SAML
--                                  applications: delete one.
-- columns
--   _verdict       text
--   :saml_keyless
--   id             uuid         answer
--   name           text         answer
--   spEntityId     text         answer
--   acsUrl         text         answer
--   nameIdFormat   text         answer
--   enabled        bool         answer
--   createdAt      timestamptz  answer
WITH wanted AS (
    SELECT :tenant_or_null AS tenant,
           (SELECT count(*)
              FROM svc.saml_app app
             WHERE app.tenant_id = :tenant) < :apps_max::int4 AS room,
           EXISTS (SELECT
                     FROM svc.saml_app app
                    WHERE app.tenant_id = :tenant
                      AND app.sp_entity_id = :sp_entity_id) AS own,
           EXISTS (SELECT FROM svc.saml_idp idp WHERE idp.tenant_id = :tenant) AS keyed,
           (SELECT tenant.slug FROM svc.tenant tenant WHERE tenant.id = :tenant) AS slug
), app AS (
    INSERT INTO svc.saml_app (tenant_id, id, name, sp_entity_id, acs_url)
    SELECT wanted.tenant, :new_id::uuid, :name, :sp_entity_id, :acs_url
      FROM wanted
     WHERE wanted.tenant IS NOT NULL AND wanted.keyed AND wanted.room AND NOT wanted.own
    ON CONFLICT DO NOTHING
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'saml.updated', 'saml', app.id::text, app.name,
           jsonb_build_object('changed', '["apps"]'::jsonb, 'added', app.sp_entity_id)
      FROM app
)
SELECT CASE
           WHEN NOT wanted.keyed THEN NULL
           WHEN wanted.own THEN 'taken'
           WHEN NOT wanted.room THEN 'full'
           WHEN app.id IS NULL THEN 'taken'
       END AS _verdict,
       NOT wanted.keyed AS _keyless, wanted.slug AS _slug, app.id, app.name,
       app.sp_entity_id AS "spEntityId", app.acs_url AS "acsUrl",
       app.name_id_format AS "nameIdFormat", app.enabled,
       app.created_at AS "createdAt"
  FROM wanted
  LEFT JOIN app ON true;


-- statement: admin_saml_apps_get
-- An application has no time of its last change: its version is what it is.
--
-- missing: NGX_SVC_ADMIN_NO_SAML_APP
-- parameters
--   app_id         uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SAML_APP)
SELECT app.id, app.name, app.sp_entity_id AS "spEntityId", app.acs_url AS "acsUrl",
       app.name_id_format AS "nameIdFormat", app.enabled, app.created_at AS "createdAt",
       hashtextextended(concat_ws(chr(10), app.name, app.sp_entity_id, app.acs_url,
                                  app.name_id_format, app.enabled), 0)
       & 9223372036854775807 AS _version
  FROM svc.saml_app app
 WHERE app.tenant_id = :tenant AND app.id = :app_id::uuid;


-- statement: admin_saml_apps_patch
-- Behind the lock of those who add one: of two that want one "spEntityId" the first has it.
--
-- missing: NGX_SVC_ADMIN_NO_SAML_APP
-- parameters
--   app_id         uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SAML_APP)
--   name           text ngx_svc_param_text(ngx_svc_admin_saml_app_t, name)
--   sp_entity_id   text ngx_svc_param_text(ngx_svc_admin_saml_app_t, sp_entity_id)
--   acs_url        text ngx_svc_param_text(ngx_svc_admin_saml_app_t, acs_url)
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
--   taken          conflict        There is an application with this "spEntityId" already.
WITH old AS (
    SELECT app.*,
           hashtextextended(concat_ws(chr(10), app.name, app.sp_entity_id, app.acs_url,
                                      app.name_id_format, app.enabled), 0)
           & 9223372036854775807 AS version
      FROM svc.saml_app app
     WHERE app.tenant_id = :tenant AND app.id = :app_id::uuid
     FOR UPDATE
), wanted AS (
    SELECT coalesce(:name, old.name) AS name,
           coalesce(:sp_entity_id, old.sp_entity_id) AS sp_entity_id,
           coalesce(:acs_url, old.acs_url) AS acs_url
      FROM old
), decided AS (
    SELECT CASE
               WHEN NOT (:if_match::text IS NULL
                         OR old.version::text = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN EXISTS (SELECT
                              FROM svc.saml_app app
                             WHERE app.tenant_id = :tenant
                               AND app.sp_entity_id = wanted.sp_entity_id
                               AND app.id <> old.id) THEN 'taken'
           END AS verdict
      FROM wanted, old
), updated AS (
    UPDATE svc.saml_app app
       SET name = wanted.name, sp_entity_id = wanted.sp_entity_id, acs_url = wanted.acs_url
      FROM wanted, old, decided
     WHERE app.tenant_id = :tenant
       AND app.id = :app_id::uuid
       AND decided.verdict IS NULL
       AND (wanted.name, wanted.sp_entity_id, wanted.acs_url)
           <> (old.name, old.sp_entity_id, old.acs_url)
    RETURNING app.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'saml.updated', 'saml', updated.id::text, updated.name,
           jsonb_build_object('changed', '["apps"]'::jsonb, 'updated', updated.sp_entity_id,
                              'members', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.name <> old.name THEN 'name' END,
               CASE WHEN updated.sp_entity_id <> old.sp_entity_id THEN 'spEntityId' END,
               CASE WHEN updated.acs_url <> old.acs_url THEN 'acsUrl' END
           ], NULL)))
      FROM updated, old
), app AS (
    SELECT updated.* FROM updated
    UNION ALL
    SELECT app.*
      FROM svc.saml_app app
     WHERE app.tenant_id = :tenant
       AND app.id = :app_id::uuid
       AND NOT EXISTS (SELECT FROM updated)
)
SELECT decided.verdict AS _verdict, app.id, app.name, app.sp_entity_id AS "spEntityId",
       app.acs_url AS "acsUrl", app.name_id_format AS "nameIdFormat", app.enabled,
       app.created_at AS "createdAt",
       hashtextextended(concat_ws(chr(10), app.name, app.sp_entity_id, app.acs_url,
                                  app.name_id_format, app.enabled), 0)
       & 9223372036854775807 AS _version
  FROM decided, app;


-- statement: admin_saml_apps_delete
--
-- missing: NGX_SVC_ADMIN_NO_SAML_APP
-- parameters
--   app_id         uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SAML_APP)
WITH deleted AS (
    DELETE FROM svc.saml_app app
     WHERE app.tenant_id = :tenant AND app.id = :app_id::uuid
    RETURNING app.id, app.name, app.sp_entity_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'saml.updated', 'saml', deleted.id::text, deleted.name,
           jsonb_build_object('changed', '["apps"]'::jsonb, 'removed', deleted.sp_entity_id)
      FROM deleted
)
SELECT deleted.id
  FROM deleted;
