-- statement: signin_options
-- The columns that begin with "_" are for the methods: what the tenant has switched on, and
-- whether it has verified the domain that the page is served from.
--
-- parameters
--   base_url       text ngx_svc_param_base_url()
--   host           text ngx_svc_login_param(asked.host)
SELECT tenant.slug AS "tenant.slug", tenant.name AS "tenant.name",
       tenant.branding
       || CASE
              WHEN tenant.logo_etag IS NULL THEN '{}'
              ELSE jsonb_build_object(
                       'logoUrl',
                       coalesce(nullif(current_setting('svc.base_url', true), ''), :base_url::text)
                       || '/v1/tenants/' || tenant.slug || '/logo?v=' || tenant.logo_etag)
          END AS branding,
       tenant.allow_signup AS _signup, tenant.allow_passwordless AS _passwordless,
       EXISTS (SELECT
                 FROM svc.domain domain
                WHERE domain.tenant_id = :tenant
                  AND domain.domain = :host
                  AND domain.verified_at IS NOT NULL) AS _by_domain,
       governance.min_length AS "passwordPolicy.minLength",
       governance.require_lower AS "passwordPolicy.requireLower",
       governance.require_upper AS "passwordPolicy.requireUpper",
       governance.require_digit AS "passwordPolicy.requireDigit",
       governance.require_symbol AS "passwordPolicy.requireSymbol",
       governance.reject_breached AS "passwordPolicy.rejectBreached",
       governance.reject_contextual AS "passwordPolicy.rejectContextual"
  FROM svc.governance governance,
       svc.public_tenant((SELECT named.slug
                            FROM svc.tenant named
                           WHERE named.id = :tenant)) tenant
 WHERE governance.tenant_id = :tenant;


-- statement: signin_options_connections
-- What the page has a button for, and whether it asks for the address first: that matters where
-- people of a domain must come in by a connection, or may by one without a button. SAML does
-- not yet work.
--
-- columns
--   connections    json
--   discover       bool
SELECT (SELECT coalesce(json_agg(json_build_object('connection', social.provider,
                                                   'kind', 'social',
                                                   'label', coalesce(social.label,
                                                                     social.provider))
                                 ORDER BY social.provider),
                        '[]')
          FROM svc.social social
         WHERE social.tenant_id = :tenant
           AND social.enabled
           AND social.show_on_page) AS connections,
       (SELECT owned.forced
               OR EXISTS (SELECT
                            FROM svc.social social
                           WHERE social.tenant_id = :tenant
                             AND social.enabled
                             AND NOT social.show_on_page
                             AND social.domains && owned.domains)
          FROM (SELECT bool_or(domain.sign_in IS NOT NULL) AS forced,
                       array_agg(domain.domain) AS domains
                  FROM svc.domain domain
                 WHERE domain.tenant_id = :tenant
                   AND domain.verified_at IS NOT NULL) owned) AS discover
 WHERE :tenant_or_null IS NOT NULL;
