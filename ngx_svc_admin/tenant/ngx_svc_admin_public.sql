-- statement: public_branding
-- Nobody is signed in, and there is no tenant: this, and the next one, call functions that
-- run as the owner of the schema, and find it by its name.
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
--   name           text ngx_svc_param_call(ngx_svc_admin_public_bind_name)
SELECT tenant.id AS _tenant, tenant.name, tenant.slug,
       tenant.branding
       || CASE
              WHEN tenant.logo_etag IS NULL THEN '{}'
              ELSE jsonb_build_object(
                       'logoUrl', coalesce(nullif(current_setting('svc.base_url', true), ''),
                                           :base_url::text)
                                  || '/v1/tenants/' || tenant.slug
                                  || '/logo?v=' || tenant.logo_etag)
          END AS branding,
       tenant.allow_signup AS "allowSignup", tenant.allow_passwordless AS "allowPasswordless"
  FROM svc.public_tenant(:name) tenant;


-- statement: public_logo
--
-- parameters
--   name           text ngx_svc_param_call(ngx_svc_admin_public_bind_name)
-- columns
--   _tenant        uuid
--   _etag          text
--   _type          text
--   _data          bytea
SELECT logo.id AS _tenant, logo.logo_etag AS _etag, logo.content_type AS _type,
       logo.data AS _data
  FROM svc.public_logo(:name) logo;
