-- statement: admin_domain_verify
-- Meanwhile the domain may have been deleted, and added again.
--
-- parameters
--   domain         text ngx_svc_param_data(ngx_svc_verify_t, domain)
--   token          text ngx_svc_param_data(ngx_svc_verify_t, token)
-- columns
--   _verdict           text
--   domain             text         answer
--   status             text         answer
--   verified           bool         answer
--   verification.type  text         answer
--   verification.name  text         answer
--   verification.value text         answer
--   createdAt          timestamptz  answer
--   verifiedAt         timestamptz  answer
--   signIn             text         answer
--   includeSubdomains  bool         answer
WITH old AS (
    SELECT domain.*
      FROM svc.domain domain
     WHERE domain.tenant_id = :tenant AND domain.domain = :domain
     FOR UPDATE
), decided AS (
    SELECT old.token = :token AS same, svc.domain_taken(:domain) AS taken
      FROM old
), updated AS (
    UPDATE svc.domain domain
       SET verified_at = now()
      FROM decided, old
     WHERE domain.tenant_id = :tenant
       AND domain.domain = :domain
       AND old.verified_at IS NULL
       AND decided.same
       AND NOT decided.taken
    RETURNING domain.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'domain.verified', 'domain', updated.domain, NULL, '{}'
      FROM updated
)
SELECT CASE
           WHEN shown.verified_at IS NOT NULL THEN NULL
           WHEN NOT decided.same THEN 'changed'
           ELSE 'domain_verified_key'
       END AS _verdict,
       shown.domain,
       CASE WHEN shown.verified_at IS NULL THEN 'pending' ELSE 'verified' END AS status,
       shown.verified_at IS NOT NULL AS verified, 'TXT' AS "verification.type",
       '_svc-challenge.' || shown.domain AS "verification.name",
       'svc-verify=' || shown.token AS "verification.value", shown.created_at AS "createdAt",
       shown.verified_at AS "verifiedAt",
       svc.connection_key(shown.tenant_id, shown.sign_in) AS "signIn",
       shown.include_subdomains AS "includeSubdomains"
  FROM decided,
       (SELECT * FROM updated
        UNION ALL
        SELECT * FROM old WHERE NOT EXISTS (SELECT FROM updated)) shown;
