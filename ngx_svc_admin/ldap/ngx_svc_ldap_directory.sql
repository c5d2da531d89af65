-- statement: ldap_directory (shared)
-- What the tenant's directory is asked with, whether or not it is enabled.
--
-- missing: NGX_SVC_LDAP_NO_DIRECTORY
-- columns
--   tenant            uuid
--   connection        uuid
--   version           timestamptz
--   url               text
--   start_tls         bool
--   bind_dn           text
--   bind_password     bytea
--   bind_password_id  uuid
--   base_dn           text
--   user_filter       text
--   unique_id         text
--   ca_certificates   text
--   attribute_mapping jsonb
--   mapped            text[]
--   grouped           bool
--   sync_filter       text
--   vouched           bool
--   alone             bool
SELECT ldap.tenant_id AS tenant, ldap.connection_id AS connection, ldap.updated_at AS version,
       ldap.url, ldap.start_tls, ldap.bind_dn, ldap.bind_password, ldap.bind_password_id,
       ldap.base_dn, ldap.user_filter, ldap.unique_id_attribute AS unique_id,
       ldap.ca_certificates, ldap.attribute_mapping,
       ARRAY(SELECT mapping ->> 'external'
               FROM jsonb_array_elements(ldap.group_mapping) mapping) AS mapped,
       ldap.grouped, ldap.sync_filter,
       ldap.enabled AND ldap.vouched_owner AS vouched,
       coalesce(cardinality(ldap.domains) = 1, false) AS alone
  FROM svc.ldap ldap
 WHERE ldap.tenant_id = :tenant;
