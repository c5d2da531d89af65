-- statement: admin_saml
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
SELECT coalesce(connection.enabled, false) AS enabled,
       connection.idp_entity_id AS "idpEntityId", connection.idp_sso_url AS "idpSsoUrl",
       coalesce(connection.idp_certificates, '[]') AS "idpCertificates",
       coalesce(connection.name_id_format, 'emailAddress') AS "nameIdFormat",
       coalesce(connection.attribute_mapping, '{"email":"email"}') AS "attributeMapping",
       coalesce(connection.jit_provisioning, false) AS "jitProvisioning",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml/metadata' AS "spEntityId",
       :base_url || '/v1/tenants/' || tenant.slug || '/saml/acs' AS "acsUrl",
       connection.updated_at AS "updatedAt", 'saml' AS connection, :connection_shown,
       coalesce((extract(epoch from connection.updated_at) * 1000)::int8, 0) AS _edition
  FROM svc.tenant tenant
  LEFT JOIN svc.saml_sp connection ON connection.tenant_id = tenant.id
 WHERE tenant.id = :tenant;


-- statement: admin_saml_put
-- The old row is locked and read before there is the new one: "sp" waits for "old". Another
-- identity provider is another connection, without the links of this one, unless an owner says
-- that the people are the same. What has never been configured is of the version 0.
--
-- parameters
--   said           text ngx_svc_param_data(ngx_svc_connection_said_t, said)
--   names          text ngx_svc_param_data(ngx_svc_connection_said_t, names)
--   keep_links     bool ngx_svc_param_boolean(ngx_svc_connection_t, keep_links)
--   vouch          bool ngx_svc_param_boolean(ngx_svc_connection_t, vouch)
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   NGX_SVC_CONNECTION_GROUPED
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT kept.*
      FROM svc.saml_sp kept
     WHERE kept.tenant_id = :tenant
     FOR UPDATE
), wanted AS (
    SELECT whole.* FROM jsonb_populate_record(NULL::svc.saml_sp, :said::text::jsonb) whole
), decided AS (
    SELECT :tenant_or_null AS tenant,
           CASE
               WHEN wanted.group_mapping <> coalesce(old.group_mapping, '[]')
                    AND 'groups:manage' <> ALL (:caller_permissions) THEN 'grouped'
               WHEN NOT (:if_match::text IS NULL
                         OR coalesce((extract(epoch from old.updated_at) * 1000)::int8, 0)::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict,
           CASE
               WHEN :keep_links::bool
                    OR wanted.idp_entity_id IS NOT DISTINCT FROM old.idp_entity_id
                    THEN old.connection_id
           END AS same_id,
           old.tenant_id IS NOT NULL
           AND (wanted.idp_entity_id, wanted.idp_sso_url, wanted.idp_certificates,
                wanted.name_id_format, wanted.attribute_mapping -> 'email', wanted.domains,
                wanted.link_by_email, wanted.trust_mfa, wanted.mfa_contexts)
               IS NOT DISTINCT FROM
               (old.idp_entity_id, old.idp_sso_url, old.idp_certificates,
                old.name_id_format, old.attribute_mapping -> 'email', old.domains,
                old.link_by_email, old.trust_mfa, old.mfa_contexts)
           AND (old.enabled OR NOT wanted.enabled)
           AND :vouch::bool IS NOT TRUE AS same_people,
           ARRAY(SELECT named.member
                   FROM json_each_text(:names::text::json)
                        WITH ORDINALITY named (column_name, member, place)
                  WHERE to_jsonb(wanted) ->> named.column_name
                        IS DISTINCT FROM to_jsonb(old) ->> named.column_name
                  ORDER BY named.place)
           || CASE WHEN :vouch THEN ARRAY['vouch'] ELSE '{}' END AS changed
      FROM wanted
      LEFT JOIN old ON true
), sp AS (
    INSERT INTO svc.saml_sp AS sp
        (tenant_id, enabled, idp_entity_id, idp_sso_url, idp_certificates, name_id_format,
         attribute_mapping, jit_provisioning, connection_id, domains, link_by_email, trust_mfa,
         mfa_contexts, show_on_page, label, group_mapping, vouched, vouched_owner, updated_at)
    SELECT decided.tenant, wanted.enabled, wanted.idp_entity_id, wanted.idp_sso_url,
           wanted.idp_certificates, wanted.name_id_format, wanted.attribute_mapping,
           wanted.jit_provisioning, coalesce(decided.same_id, gen_random_uuid()), wanted.domains,
           wanted.link_by_email, wanted.trust_mfa, wanted.mfa_contexts, wanted.show_on_page,
           wanted.label, wanted.group_mapping,
           CASE WHEN decided.same_people THEN old.vouched ELSE :caller_permissions END,
           CASE WHEN decided.same_people THEN old.vouched_owner ELSE :connection_by_owner END,
           greatest(now(), old.updated_at + interval '1 millisecond')
      FROM wanted
      CROSS JOIN decided
      LEFT JOIN old ON true
     WHERE decided.tenant IS NOT NULL
       AND :connection_good
       AND decided.verdict IS NULL
       AND decided.changed <> '{}'
    ON CONFLICT (tenant_id) DO UPDATE
       SET (enabled, idp_entity_id, idp_sso_url, idp_certificates, name_id_format,
            attribute_mapping, jit_provisioning, connection_id, domains, link_by_email, trust_mfa,
            mfa_contexts, show_on_page, label, group_mapping, vouched, vouched_owner, updated_at)
           = ROW (excluded.enabled, excluded.idp_entity_id, excluded.idp_sso_url,
                  excluded.idp_certificates, excluded.name_id_format, excluded.attribute_mapping,
                  excluded.jit_provisioning, excluded.connection_id, excluded.domains,
                  excluded.link_by_email, excluded.trust_mfa, excluded.mfa_contexts,
                  excluded.show_on_page, excluded.label, excluded.group_mapping,
                  excluded.vouched, excluded.vouched_owner, excluded.updated_at)
    RETURNING sp.connection_id
), links AS (
    DELETE FROM svc.federated_identity identity
     USING old, sp
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = old.connection_id
       AND old.connection_id <> sp.connection_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'saml.updated', 'saml', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(decided.changed))
      FROM sp, decided
)
SELECT decided.verdict AS _verdict
  FROM decided;
