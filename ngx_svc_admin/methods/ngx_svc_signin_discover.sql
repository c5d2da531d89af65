-- statement: signin_discover_tenant
-- The tenant that the Host or the slug names, or else the domain of the address: which
-- tenant has a domain is public in DNS.
--
-- parameters
--   host           text ngx_svc_login_param(asked.host)
--   slug           text ngx_svc_login_param(asked.slug)
--   email          text ngx_svc_login_param(asked.email)
-- columns
--   :login_tenant
SELECT set_config('svc.tenant', tenant.id::text, true) AS id, tenant.slug, tenant.suspended,
       tenant.by_domain, false AS forced
  FROM svc.sign_in_tenant(:host, coalesce(:slug, svc.domain_slug(:email))) tenant;


-- statement: signin_discover
-- Connections are offered to people of the domains that they name and the tenant has verified
-- by now, and one to those who must come in by it. SAML does not yet work: it is for those
-- alone, and says whom they have to ask. The columns that begin with "_" are as those of
-- ngx_svc_sql_signin_options.
--
-- parameters
--   host           text ngx_svc_login_param(asked.host)
--   email          text ngx_svc_login_param(asked.email)
SELECT tenant.slug AS "tenant.slug", tenant.name AS "tenant.name",
       (SELECT coalesce(json_agg(json_build_object('connection', connection.key,
                                                   'kind', connection.kind,
                                                   'label', coalesce(connection.label,
                                                                     connection.key))
                                 ORDER BY connection.key),
                        '[]')::jsonb
          FROM (SELECT social.provider AS key,
                       'social' AS kind, social.label, social.domains, social.connection_id
                  FROM svc.social social
                 WHERE social.tenant_id = :tenant AND social.enabled
                UNION ALL
                SELECT 'saml', 'saml', sp.label, NULL, sp.connection_id
                  FROM svc.saml_sp sp
                 WHERE sp.tenant_id = :tenant AND sp.enabled
                UNION ALL
                SELECT 'ldap', 'ldap', ldap.label, ldap.domains, ldap.connection_id
                  FROM svc.ldap ldap
                 WHERE ldap.tenant_id = :tenant AND ldap.enabled) connection
         WHERE connection.domains && owned.domains
            OR connection.connection_id = owned.required) AS connections,
       svc.connection_key(tenant.id, owned.required) AS required,
       tenant.branding -> 'allowSelfSignup' IS NOT DISTINCT FROM 'true' AS _signup,
       tenant.branding -> 'allowPasswordless' IS NOT DISTINCT FROM 'true' AS _passwordless,
       EXISTS (SELECT
                 FROM svc.domain domain
                WHERE domain.tenant_id = :tenant
                  AND domain.domain = :host
                  AND domain.verified_at IS NOT NULL) AS _by_domain,
       (svc.domain_path(:email))[1] = ANY (owned.domains) AS _owned
  FROM svc.tenant tenant
  CROSS JOIN LATERAL (
       SELECT svc.sign_in_by(tenant.id, tenant.sign_in_forced, :email) AS required,
              ARRAY(SELECT domain.domain
                      FROM svc.domain_path(:email) path
                      JOIN svc.domain domain
                           ON domain.tenant_id = :tenant
                          AND domain.domain = ANY (path)
                          AND domain.verified_at IS NOT NULL
                          AND (domain.domain = path[1] OR domain.include_subdomains)) AS domains
       OFFSET 0) owned
 WHERE tenant.id = :tenant;
