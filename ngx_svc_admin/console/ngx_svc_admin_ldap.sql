-- statement: admin_ldap
-- columns
--   configured          bool
--   enabled             bool         answer
--   url                 text         answer
--   bindDn              text         answer
--   bindPasswordSet     bool         answer
--   baseDn              text         answer
--   userFilter          text         answer
--   attributeMapping    jsonb        answer
--   startTls            bool         answer
--   updatedAt           timestamptz  answer
--   connection          text         answer
--   uniqueIdAttribute   text         answer
--   caCertificates      text         answer
--   syncEnabled         bool         answer
--   syncFilter          text         answer
--   syncIntervalMinutes int4         answer
--   syncDeactivate      bool         answer
--   jitProvisioning     bool         answer
--   covers              text         answer
--   label               text         answer
--   domains             json         answer
--   jitRole             text         answer
--   linkByEmail         text         answer
--   trustMfa            bool         answer
--   mfaContexts         json         answer
--   showOnPage          bool         answer
--   groupMapping        jsonb        answer
--   _version            int8         answer
SELECT connection.tenant_id IS NOT NULL AS configured, connection.enabled, connection.url,
       connection.bind_dn AS "bindDn", connection.bind_password IS NOT NULL AS "bindPasswordSet",
       connection.base_dn AS "baseDn", connection.user_filter AS "userFilter",
       connection.attribute_mapping AS "attributeMapping", connection.start_tls AS "startTls",
       connection.updated_at AS "updatedAt", 'ldap' AS connection,
       connection.unique_id_attribute AS "uniqueIdAttribute",
       connection.ca_certificates AS "caCertificates", connection.sync_enabled AS "syncEnabled",
       connection.sync_filter AS "syncFilter",
       connection.sync_interval_minutes AS "syncIntervalMinutes",
       connection.sync_deactivate AS "syncDeactivate",
       connection.jit_provisioning AS "jitProvisioning", :connection_shown,
       coalesce((extract(epoch from connection.updated_at) * 1000)::int8, 0) AS _version
  FROM (VALUES (1)) always
  LEFT JOIN svc.ldap connection ON connection.tenant_id = :tenant;


-- statement: admin_ldap_lock
-- Whoever ends links of the directory waits for an import's page, which locks the row of its
-- import, and then links.
SELECT
  FROM (SELECT directory.tenant_id
          FROM svc.ldap directory
         WHERE directory.tenant_id = :tenant
         FOR UPDATE) directory
  CROSS JOIN LATERAL (
       SELECT
         FROM svc.ldap_sync import
        WHERE import.tenant_id = directory.tenant_id
        FOR NO KEY UPDATE) import;


-- statement: admin_ldap_put
-- The password stays with the server and the name that it was given for: who changes
-- those could have it sent elsewhere. A name without one would bind as nobody (RFC
-- 4513, 5.1.2). The row is locked before it is written, whatever the parameters: the
-- join has no condition. Another directory is another connection, without the links of this
-- one, unless an owner says that the people are the same. What has never been configured is of
-- the version 0.
--
-- parameters
--   said              text  ngx_svc_param_data(ngx_svc_connection_said_t, said)
--   names             text  ngx_svc_param_data(ngx_svc_connection_said_t, names)
--   keep_links        bool  ngx_svc_param_boolean(ngx_svc_connection_t, keep_links)
--   new_id            uuid  ngx_svc_param_new_id()
--   bind_password     bytea ngx_svc_param_sealed(ngx_svc_admin_ldap_t, bind_password, "ldap")
--   vouch             bool  ngx_svc_param_boolean(ngx_svc_connection_t, vouch)
--   if_match          text  ngx_svc_param_if_match()
-- verdicts
--   NGX_SVC_CONNECTION_GROUPED
--   ngx_svc_verdict_precondition
--   password       invalid_value   "bindPassword" is required with "bindDn", and again when
--                                  that or "url" changes.
WITH old AS (
    SELECT kept.*
      FROM svc.ldap kept
     WHERE kept.tenant_id = :tenant
     FOR UPDATE
), wanted AS (
    SELECT whole.*
      FROM (SELECT :said::text::jsonb AS body) given
      LEFT JOIN old ON true
      CROSS JOIN LATERAL jsonb_populate_record(NULL::svc.ldap, given.body
           || CASE
                  WHEN :bind_password::bytea IS NOT NULL
                       THEN jsonb_build_object('bind_password', :bind_password,
                                               'bind_password_id', :new_id::uuid)
                  WHEN given.body ->> 'url' = old.url AND given.body ->> 'bind_dn' = old.bind_dn
                       THEN jsonb_build_object('bind_password', old.bind_password,
                                               'bind_password_id', old.bind_password_id)
                  ELSE '{}'
              END) whole
), decided AS (
    SELECT :tenant_or_null AS tenant,
           CASE
               WHEN wanted.group_mapping <> coalesce(old.group_mapping, '[]')
                    AND 'groups:manage' <> ALL (:caller_permissions) THEN 'grouped'
               WHEN NOT (:if_match::text IS NULL
                         OR coalesce((extract(epoch from old.updated_at) * 1000)::int8, 0)::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
               WHEN wanted.bind_dn IS NOT NULL AND wanted.bind_password IS NULL THEN 'password'
           END AS verdict,
           CASE
               WHEN :keep_links::bool
                    OR (wanted.url, wanted.base_dn, wanted.unique_id_attribute)
                       IS NOT DISTINCT FROM (old.url, old.base_dn, old.unique_id_attribute)
                    THEN old.connection_id
           END AS same_id,
           (wanted.url, wanted.base_dn, wanted.unique_id_attribute, wanted.user_filter,
            wanted.ca_certificates, wanted.attribute_mapping -> 'email', wanted.domains,
            wanted.link_by_email, wanted.trust_mfa, wanted.mfa_contexts, wanted.sync_filter,
            wanted.sync_deactivate)
           IS NOT DISTINCT FROM
           (old.url, old.base_dn, old.unique_id_attribute, old.user_filter,
            old.ca_certificates, old.attribute_mapping -> 'email', old.domains,
            old.link_by_email, old.trust_mfa, old.mfa_contexts, old.sync_filter,
            old.sync_deactivate)
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
), ldap AS (
    INSERT INTO svc.ldap AS ldap
        (tenant_id, enabled, url, bind_dn, bind_password, bind_password_id, base_dn, user_filter,
         attribute_mapping, start_tls, jit_provisioning, unique_id_attribute, ca_certificates,
         sync_enabled, sync_filter, sync_interval_minutes, sync_deactivate, connection_id, domains,
         link_by_email, trust_mfa, mfa_contexts, show_on_page, label, group_mapping, vouched,
         vouched_owner, updated_at)
    SELECT decided.tenant, wanted.enabled, wanted.url, wanted.bind_dn, wanted.bind_password,
           wanted.bind_password_id, wanted.base_dn, wanted.user_filter, wanted.attribute_mapping,
           wanted.start_tls, wanted.jit_provisioning, wanted.unique_id_attribute,
           wanted.ca_certificates, wanted.sync_enabled, wanted.sync_filter,
           wanted.sync_interval_minutes, wanted.sync_deactivate,
           coalesce(decided.same_id, gen_random_uuid()), wanted.domains, wanted.link_by_email,
           wanted.trust_mfa, wanted.mfa_contexts, wanted.show_on_page, wanted.label,
           wanted.group_mapping,
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
       SET (enabled, url, bind_dn, bind_password, bind_password_id, base_dn, user_filter,
            attribute_mapping, start_tls, jit_provisioning, unique_id_attribute, ca_certificates,
            sync_enabled, sync_filter, sync_interval_minutes, sync_deactivate, connection_id,
            domains, link_by_email, trust_mfa, mfa_contexts, show_on_page, label, group_mapping,
            vouched, vouched_owner, updated_at)
           = ROW (excluded.enabled, excluded.url, excluded.bind_dn, excluded.bind_password,
                  excluded.bind_password_id, excluded.base_dn, excluded.user_filter,
                  excluded.attribute_mapping, excluded.start_tls, excluded.jit_provisioning,
                  excluded.unique_id_attribute, excluded.ca_certificates, excluded.sync_enabled,
                  excluded.sync_filter, excluded.sync_interval_minutes, excluded.sync_deactivate,
                  excluded.connection_id, excluded.domains, excluded.link_by_email,
                  excluded.trust_mfa, excluded.mfa_contexts, excluded.show_on_page,
                  excluded.label, excluded.group_mapping, excluded.vouched,
                  excluded.vouched_owner, excluded.updated_at)
    RETURNING ldap.connection_id
), links AS (
    DELETE FROM svc.federated_identity identity
     USING old, ldap
     WHERE identity.tenant_id = :tenant
       AND identity.connection_id = old.connection_id
       AND old.connection_id <> ldap.connection_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'ldap.updated', 'ldap', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(decided.changed))
      FROM ldap, decided
)
SELECT decided.verdict AS _verdict
  FROM decided;


-- statement: admin_ldap_delete
WITH deleted AS (
    DELETE FROM svc.ldap ldap WHERE ldap.tenant_id = :tenant RETURNING ldap.connection_id
), links AS (
    DELETE FROM svc.federated_identity identity
     USING deleted
     WHERE identity.tenant_id = :tenant AND identity.connection_id = deleted.connection_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'ldap.deleted', 'ldap', NULL, NULL, '{}'
      FROM deleted
)
SELECT count(*)
  FROM deleted;
