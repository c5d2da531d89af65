-- statement: admin_tenant
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
SELECT tenant.id, tenant.name, tenant.slug,
       '{"allowSelfSignup":false,"allowPasswordless":false}'::jsonb || tenant.branding
       || CASE
              WHEN tenant.logo_etag IS NULL THEN '{}'
              ELSE jsonb_build_object(
                       'logoUrl', coalesce(nullif(current_setting('svc.base_url', true), ''),
                                           :base_url::text)
                                  || '/v1/tenants/' || tenant.slug
                                  || '/logo?v=' || tenant.logo_etag)
          END AS branding,
       tenant.created_at AS "createdAt", tenant.updated_at AS "updatedAt",
       (extract(epoch from tenant.updated_at) * 1000)::int8 AS _version
  FROM svc.tenant tenant
 WHERE tenant.id = :tenant;


-- statement: admin_tenant_patch
-- The row is locked, compared with what it would become, and written only when that
-- differs.
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
--   body           text ngx_svc_param_body()
--   name           text ngx_svc_param_text(ngx_svc_admin_tenant_t, name)
--   if_match       text ngx_svc_param_if_match()
--   branding_max   int4 ngx_svc_param_constant(NGX_SVC_ADMIN_BRANDING_SIZE)
-- verdicts
--   ngx_svc_verdict_precondition
--   large          invalid_request NGX_SVC_ADMIN_LARGE
WITH old AS (
    SELECT tenant.* FROM svc.tenant tenant WHERE tenant.id = :tenant FOR UPDATE
), wanted AS (
    SELECT old.id, coalesce(:name, old.name) AS name,
           svc.json_merge(old.branding, coalesce(:body::text::jsonb -> 'branding', '{}')
                                        - 'logoUrl') AS branding,
           (:if_match::text IS NULL
            OR (extract(epoch from old.updated_at) * 1000)::int8::text
               = ANY (:if_match::text::text[])) AS matches
      FROM old
), decided AS (
    SELECT wanted.*, octet_length(wanted.branding::text) <= :branding_max::int4 AS fits
      FROM wanted
), updated AS (
    UPDATE svc.tenant tenant
       SET name = decided.name, branding = decided.branding,
           updated_at = greatest(now(), tenant.updated_at + interval '1 millisecond')
      FROM decided, old
     WHERE tenant.id = decided.id
       AND decided.matches
       AND decided.fits
       AND (decided.name,
            '{"allowSelfSignup":false,"allowPasswordless":false}'::jsonb || decided.branding)
           <> (old.name,
               '{"allowSelfSignup":false,"allowPasswordless":false}'::jsonb || old.branding)
    RETURNING tenant.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'tenant.updated', 'tenant', updated.id::text, updated.name,
           jsonb_build_object('changed', to_jsonb(
               array_remove(ARRAY[
                   CASE WHEN updated.name IS DISTINCT FROM old.name THEN 'name' END
               ], NULL)
               || ARRAY(
                   SELECT 'branding.' || added.key
                     FROM (SELECT * FROM jsonb_each(updated.branding)
                           EXCEPT
                           SELECT * FROM jsonb_each(
                               '{"allowSelfSignup":false,"allowPasswordless":false}'::jsonb
                               || old.branding)) added
                   UNION
                   SELECT 'branding.' || gone.key
                     FROM (SELECT jsonb_object_keys(old.branding) AS key
                           EXCEPT
                           SELECT jsonb_object_keys(updated.branding)) gone
                    ORDER BY 1)))
      FROM updated, old
), shown AS (
    SELECT * FROM updated UNION ALL SELECT * FROM old WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT CASE
           WHEN NOT decided.matches THEN 'precondition'
           WHEN NOT decided.fits THEN 'large'
       END AS _verdict,
       shown.id, shown.name, shown.slug,
       '{"allowSelfSignup":false,"allowPasswordless":false}'::jsonb || shown.branding
       || CASE
              WHEN shown.logo_etag IS NULL THEN '{}'
              ELSE jsonb_build_object(
                       'logoUrl', coalesce(nullif(current_setting('svc.base_url', true), ''),
                                           :base_url::text)
                                  || '/v1/tenants/' || shown.slug
                                  || '/logo?v=' || shown.logo_etag)
          END AS branding,
       shown.created_at AS "createdAt", shown.updated_at AS "updatedAt",
       (extract(epoch from shown.updated_at) * 1000)::int8 AS _version
  FROM shown, decided;
