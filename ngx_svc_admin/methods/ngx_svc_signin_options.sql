-- statement: signin_options
-- What a tenant has switched on, and the server cannot do, is not offered. Passkeys are of
-- a domain: of the one that is configured, or a verified one of the tenant.
--
-- parameters
--   base_url            text ngx_svc_param_base_url()
--   passkeys_configured bool ngx_svc_param_call(ngx_svc_signin_options_passkey)
--   host                text ngx_svc_login_param(asked.host)
--   mail_configured     bool ngx_svc_param_call(ngx_svc_signin_options_mail)
--   organizations_open  bool ngx_svc_param_call(ngx_svc_signin_options_owners)
SELECT tenant.slug AS "tenant.slug", tenant.name AS "tenant.name",
       tenant.branding
       || CASE
              WHEN tenant.logo_etag IS NULL THEN '{}'
              ELSE jsonb_build_object(
                       'logoUrl',
                       coalesce(nullif(current_setting('svc.base_url', true), ''), :base_url::text)
                       || '/v1/tenants/' || tenant.slug || '/logo?v=' || tenant.logo_etag)
          END AS branding,
       true AS "methods.password",
       :passkeys_configured::bool
       OR EXISTS (SELECT
                    FROM svc.domain domain
                   WHERE domain.tenant_id = :tenant
                     AND domain.domain = :host
                     AND domain.verified_at IS NOT NULL) AS "methods.passkey",
       :mail_configured::bool AND tenant.allow_passwordless AS "methods.passwordless",
       :mail_configured::bool AS "methods.passwordReset",
       tenant.allow_signup AS "methods.signup",
       :organizations_open::bool AS "methods.organizations",
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
