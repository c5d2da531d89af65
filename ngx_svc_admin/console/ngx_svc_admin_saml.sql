-- statement: admin_saml
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
SELECT coalesce(sp.enabled, false) AS enabled, sp.idp_entity_id AS "idpEntityId",
       sp.idp_sso_url AS "idpSsoUrl",
       coalesce(sp.idp_certificates, '[]') AS "idpCertificates",
       coalesce(sp.name_id_format, 'emailAddress') AS "nameIdFormat",
       coalesce(sp.attribute_mapping, '{"email":"email"}') AS "attributeMapping",
       coalesce(sp.jit_provisioning, false) AS "jitProvisioning",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml/metadata' AS "spEntityId",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml/acs' AS "acsUrl",
       sp.updated_at AS "updatedAt"
  FROM svc.tenant tenant
  LEFT JOIN svc.saml_sp sp ON sp.tenant_id = tenant.id
 WHERE tenant.id = :tenant;


-- statement: admin_saml_put
-- The old row is locked and read before there is the new one: "sp" waits for "old".
--
-- parameters
--   base_url          text ngx_svc_param_base_url()
--   enabled           bool ngx_svc_param_boolean(ngx_svc_admin_saml_t, enabled)
--   idp_entity_id     text ngx_svc_param_text(ngx_svc_admin_saml_t, idp_entity_id)
--   idp_sso_url       text ngx_svc_param_text(ngx_svc_admin_saml_t, idp_sso_url)
--   idp_certificates  text ngx_svc_param_call(ngx_svc_admin_saml_bind)
--   name_id_format    text ngx_svc_param_text(ngx_svc_admin_saml_t, name_id_format)
--   attribute_mapping text ngx_svc_param_attribute_map(ngx_svc_admin_saml_t, attribute_mapping)
--   jit_provisioning  bool ngx_svc_param_boolean(ngx_svc_admin_saml_t, jit_provisioning)
WITH old AS (
    SELECT kept.*
      FROM svc.saml_sp kept
     WHERE kept.tenant_id = :tenant
     FOR UPDATE
), sp AS (
    INSERT INTO svc.saml_sp AS sp
        (tenant_id, enabled, idp_entity_id, idp_sso_url, idp_certificates, name_id_format,
         attribute_mapping, jit_provisioning)
    SELECT wanted.tenant, coalesce(:enabled::bool, false), :idp_entity_id, :idp_sso_url,
           coalesce(:idp_certificates::text::jsonb, '[]'),
           coalesce(:name_id_format, 'emailAddress'),
           coalesce(:attribute_mapping::text::jsonb, '{"email":"email"}'),
           coalesce(:jit_provisioning::bool, false)
      FROM (SELECT :tenant_or_null AS tenant) wanted
      LEFT JOIN old ON true
     WHERE wanted.tenant IS NOT NULL
    ON CONFLICT (tenant_id) DO UPDATE
       SET (enabled, idp_entity_id, idp_sso_url, idp_certificates, name_id_format,
            attribute_mapping, jit_provisioning, updated_at)
           = ROW (excluded.enabled, excluded.idp_entity_id, excluded.idp_sso_url,
                  excluded.idp_certificates, excluded.name_id_format, excluded.attribute_mapping,
                  excluded.jit_provisioning,
                  greatest(now(), sp.updated_at + interval '1 millisecond'))
     WHERE (sp.enabled, sp.idp_entity_id, sp.idp_sso_url, sp.idp_certificates,
            sp.name_id_format, sp.attribute_mapping, sp.jit_provisioning)
           IS DISTINCT FROM
           (excluded.enabled, excluded.idp_entity_id, excluded.idp_sso_url,
            excluded.idp_certificates, excluded.name_id_format, excluded.attribute_mapping,
            excluded.jit_provisioning)
    RETURNING sp.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'saml.updated', 'saml', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN sp.enabled IS DISTINCT FROM old.enabled THEN 'enabled' END,
               CASE WHEN sp.idp_entity_id IS DISTINCT FROM old.idp_entity_id
                        THEN 'idpEntityId' END,
               CASE WHEN sp.idp_sso_url IS DISTINCT FROM old.idp_sso_url THEN 'idpSsoUrl' END,
               CASE WHEN sp.idp_certificates IS DISTINCT FROM old.idp_certificates
                        THEN 'idpCertificates' END,
               CASE WHEN sp.name_id_format IS DISTINCT FROM old.name_id_format
                        THEN 'nameIdFormat' END,
               CASE WHEN sp.attribute_mapping IS DISTINCT FROM old.attribute_mapping
                        THEN 'attributeMapping' END,
               CASE WHEN sp.jit_provisioning IS DISTINCT FROM old.jit_provisioning
                        THEN 'jitProvisioning' END
           ], NULL)))
      FROM sp
      LEFT JOIN old ON true
)
SELECT coalesce(shown.enabled, false) AS enabled, shown.idp_entity_id AS "idpEntityId",
       shown.idp_sso_url AS "idpSsoUrl",
       coalesce(shown.idp_certificates, '[]') AS "idpCertificates",
       coalesce(shown.name_id_format, 'emailAddress') AS "nameIdFormat",
       coalesce(shown.attribute_mapping, '{"email":"email"}') AS "attributeMapping",
       coalesce(shown.jit_provisioning, false) AS "jitProvisioning",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml/metadata' AS "spEntityId",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml/acs' AS "acsUrl",
       shown.updated_at AS "updatedAt"
  FROM svc.tenant tenant
  LEFT JOIN (SELECT * FROM sp
             UNION ALL
             SELECT * FROM old WHERE NOT EXISTS (SELECT FROM sp)) shown ON true
 WHERE tenant.id = :tenant;
