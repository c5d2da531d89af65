-- statement: passkey_option
-- Passkeys are of a domain: of the one that is configured, or of the tenant's verified one
-- that the page is served from.
--
-- parameters
--   configured     bool ngx_svc_param_call(ngx_svc_ceremony_bind_possible)
--   host           text ngx_svc_login_param(asked.host)
SELECT :configured::bool
       OR EXISTS (SELECT
                    FROM svc.domain domain
                   WHERE domain.tenant_id = :tenant
                     AND domain.domain = :host
                     AND domain.verified_at IS NOT NULL) AS offered;
