-- statement: admin_logo_put
-- Its URL has a tag that is new with each upload: it may be kept for ever.
--
-- parameters
--   base_url       text  ngx_svc_param_base_url()
--   image          bytea ngx_svc_param_body()
--   content_type   text  ngx_svc_param_call(ngx_svc_admin_logo_bind_type)
--   if_match       text  ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT tenant.* FROM svc.tenant tenant WHERE tenant.id = :tenant FOR UPDATE
), decided AS (
    SELECT (:if_match::text IS NULL
            OR (extract(epoch from old.updated_at) * 1000)::int8::text
               = ANY (:if_match::text::text[])) AS matches
      FROM old
), updated AS (
    UPDATE svc.tenant tenant
       SET logo_uploads = old.logo_uploads + 1,
           logo_etag = left(encode(sha256(:image::bytea || int8send(old.logo_uploads + 1)), 'hex'),
                            12),
           updated_at = greatest(now(), tenant.updated_at + interval '1 millisecond')
      FROM old, decided
     WHERE tenant.id = old.id AND decided.matches
    RETURNING tenant.*
), logo AS (
    INSERT INTO svc.logo (tenant_id, content_type, data)
    SELECT updated.id, :content_type, :image
      FROM updated
    ON CONFLICT (tenant_id) DO UPDATE
       SET content_type = excluded.content_type, data = excluded.data
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'logo.uploaded', 'tenant', updated.id::text, updated.name,
           jsonb_build_object('contentType', :content_type::text, 'size', octet_length(:image))
      FROM updated
), shown AS (
    SELECT * FROM updated UNION ALL SELECT * FROM old WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT CASE WHEN NOT decided.matches THEN 'precondition' END AS _verdict, shown.id, shown.name,
       shown.slug,
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


-- statement: admin_logo_delete
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT tenant.* FROM svc.tenant tenant WHERE tenant.id = :tenant FOR UPDATE
), decided AS (
    SELECT (:if_match::text IS NULL
            OR (extract(epoch from old.updated_at) * 1000)::int8::text
               = ANY (:if_match::text::text[])) AS matches
      FROM old
), updated AS (
    UPDATE svc.tenant tenant
       SET logo_etag = NULL,
           updated_at = greatest(now(), tenant.updated_at + interval '1 millisecond')
      FROM old, decided
     WHERE tenant.id = old.id AND decided.matches AND old.logo_etag IS NOT NULL
    RETURNING tenant.*
), deleted AS (
    DELETE FROM svc.logo logo USING updated WHERE logo.tenant_id = updated.id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'logo.deleted', 'tenant', updated.id::text, updated.name, '{}'
      FROM updated
), shown AS (
    SELECT * FROM updated UNION ALL SELECT * FROM old WHERE NOT EXISTS (SELECT FROM updated)
)
SELECT CASE WHEN NOT decided.matches THEN 'precondition' END AS _verdict, shown.id, shown.name,
       shown.slug,
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
