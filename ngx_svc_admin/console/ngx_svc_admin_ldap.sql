-- statement: admin_ldap
-- columns
--   configured       bool
--   enabled          bool         answer
--   url              text         answer
--   bindDn           text         answer
--   bindPasswordSet  bool         answer
--   baseDn           text         answer
--   userFilter       text         answer
--   attributeMapping jsonb        answer
--   startTls         bool         answer
--   updatedAt        timestamptz  answer
SELECT ldap.tenant_id IS NOT NULL AS configured, ldap.enabled, ldap.url, ldap.bind_dn AS "bindDn",
       ldap.bind_password IS NOT NULL AS "bindPasswordSet", ldap.base_dn AS "baseDn",
       ldap.user_filter AS "userFilter", ldap.attribute_mapping AS "attributeMapping",
       ldap.start_tls AS "startTls", ldap.updated_at AS "updatedAt"
  FROM (VALUES (1)) always
  LEFT JOIN svc.ldap ldap ON ldap.tenant_id = :tenant;


-- statement: admin_ldap_put
-- The password stays with the server and the name that it was given for: who changes
-- those could have it sent elsewhere. A name without one would bind as nobody (RFC
-- 4513, 5.1.2). The row is locked before it is written, whatever the parameters: the
-- join has no condition.
--
-- parameters
--   enabled           bool  ngx_svc_param_boolean(ngx_svc_admin_ldap_t, enabled)
--   url               text  ngx_svc_param_text(ngx_svc_admin_ldap_t, url)
--   bind_dn           text  ngx_svc_param_text(ngx_svc_admin_ldap_t, bind_dn)
--   base_dn           text  ngx_svc_param_text(ngx_svc_admin_ldap_t, base_dn)
--   user_filter       text  ngx_svc_param_text(ngx_svc_admin_ldap_t, user_filter)
--   new_id            uuid  ngx_svc_param_new_id()
--   bind_password     bytea ngx_svc_param_sealed(ngx_svc_admin_ldap_t, bind_password, "ldap")
--   attribute_mapping text  ngx_svc_param_attribute_map(ngx_svc_admin_ldap_t, attribute_mapping)
--   start_tls         bool  ngx_svc_param_boolean(ngx_svc_admin_ldap_t, start_tls)
-- verdicts
--   password       invalid_value   "bindPassword" is required with "bindDn", and again when
--                                  that or "url" changes.
WITH old AS (
    SELECT kept.*
      FROM svc.ldap kept
     WHERE kept.tenant_id = :tenant
     FOR UPDATE
), wanted AS (
    SELECT :tenant_or_null AS tenant,
           CASE
               WHEN :bind_password::bytea IS NOT NULL THEN :bind_password
               WHEN old.url = :url AND old.bind_dn = :bind_dn THEN old.bind_password
           END AS password,
           CASE
               WHEN :bind_password::bytea IS NOT NULL THEN :new_id::uuid
               WHEN old.url = :url AND old.bind_dn = :bind_dn THEN old.bind_password_id
           END AS password_id
      FROM (VALUES (1)) always
      LEFT JOIN old ON true
), ldap AS (
    INSERT INTO svc.ldap AS ldap
        (tenant_id, enabled, url, bind_dn, bind_password, bind_password_id, base_dn, user_filter,
         attribute_mapping, start_tls)
    SELECT wanted.tenant, coalesce(:enabled::bool, true), :url, :bind_dn, wanted.password,
           wanted.password_id, :base_dn, :user_filter,
           coalesce(:attribute_mapping::text::jsonb, '{}'), coalesce(:start_tls::bool, false)
      FROM wanted
     WHERE wanted.tenant IS NOT NULL AND (:bind_dn IS NULL) = (wanted.password IS NULL)
    ON CONFLICT (tenant_id) DO UPDATE
       SET (enabled, url, bind_dn, bind_password, bind_password_id, base_dn, user_filter,
            attribute_mapping, start_tls, updated_at)
           = ROW (excluded.enabled, excluded.url, excluded.bind_dn, excluded.bind_password,
                  excluded.bind_password_id, excluded.base_dn, excluded.user_filter,
                  excluded.attribute_mapping, excluded.start_tls,
                  greatest(now(), ldap.updated_at + interval '1 millisecond'))
     WHERE (ldap.enabled, ldap.url, ldap.bind_dn, ldap.bind_password, ldap.base_dn,
            ldap.user_filter, ldap.attribute_mapping, ldap.start_tls)
           IS DISTINCT FROM
           (excluded.enabled, excluded.url, excluded.bind_dn, excluded.bind_password,
            excluded.base_dn, excluded.user_filter, excluded.attribute_mapping,
            excluded.start_tls)
    RETURNING ldap.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'ldap.updated', 'ldap', NULL, NULL,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN ldap.enabled IS DISTINCT FROM old.enabled THEN 'enabled' END,
               CASE WHEN ldap.url IS DISTINCT FROM old.url THEN 'url' END,
               CASE WHEN ldap.bind_dn IS DISTINCT FROM old.bind_dn THEN 'bindDn' END,
               CASE WHEN ldap.bind_password IS DISTINCT FROM old.bind_password
                        THEN 'bindPassword' END,
               CASE WHEN ldap.base_dn IS DISTINCT FROM old.base_dn THEN 'baseDn' END,
               CASE WHEN ldap.user_filter IS DISTINCT FROM old.user_filter THEN 'userFilter' END,
               CASE WHEN ldap.attribute_mapping IS DISTINCT FROM old.attribute_mapping
                        THEN 'attributeMapping' END,
               CASE WHEN ldap.start_tls IS DISTINCT FROM old.start_tls THEN 'startTls' END
           ], NULL)))
      FROM ldap
      LEFT JOIN old ON true
)
SELECT CASE WHEN :bind_dn IS NOT NULL AND wanted.password IS NULL THEN 'password' END AS _verdict,
       shown.tenant_id IS NOT NULL AS configured, shown.enabled, shown.url,
       shown.bind_dn AS "bindDn",
       shown.bind_password IS NOT NULL AS "bindPasswordSet", shown.base_dn AS "baseDn",
       shown.user_filter AS "userFilter", shown.attribute_mapping AS "attributeMapping",
       shown.start_tls AS "startTls", shown.updated_at AS "updatedAt"
  FROM wanted
  LEFT JOIN (SELECT * FROM ldap
             UNION ALL
             SELECT * FROM old WHERE NOT EXISTS (SELECT FROM ldap)) shown ON true;


-- statement: admin_ldap_delete
WITH deleted AS (
    DELETE FROM svc.ldap ldap WHERE ldap.tenant_id = :tenant RETURNING ldap.tenant_id
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'ldap.deleted', 'ldap', NULL, NULL, '{}'
      FROM deleted
)
SELECT count(*)
  FROM deleted;
