-- statement: admin_domains_total
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   name           text ngx_svc_param_call(ngx_svc_admin_domain_bind_name)
SELECT count(*)
  FROM svc.domain domain
 WHERE domain.tenant_id = :tenant
   AND (:q::text IS NULL
        OR strpos(domain.domain, lower(:q)) > 0
        OR domain.domain = :name);


-- statement: admin_domains_list
-- A search finds a part of a name as it is stored, and a whole one in any spelling.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   name           text ngx_svc_param_call(ngx_svc_admin_domain_bind_name)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT domain.domain,
       CASE WHEN domain.verified_at IS NULL THEN 'pending' ELSE 'verified' END AS status,
       domain.verified_at IS NOT NULL AS verified, 'TXT' AS "verification.type",
       '_svc-challenge.' || domain.domain AS "verification.name",
       'svc-verify=' || domain.token AS "verification.value", domain.created_at AS "createdAt",
       domain.verified_at AS "verifiedAt",
       svc.connection_key(domain.tenant_id, domain.sign_in) AS "signIn",
       domain.include_subdomains AS "includeSubdomains"
  FROM svc.domain domain
 WHERE domain.tenant_id = :tenant
   AND (:q::text IS NULL
        OR strpos(domain.domain, lower(:q)) > 0
        OR domain.domain = :name)
 ORDER BY domain.created_at DESC, domain.domain DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_domain_read (shared)
--
-- missing: NGX_SVC_ADMIN_NO_DOMAIN
-- parameters
--   domain         text ngx_svc_param_path_domain()
-- columns
--   domain             text
--   status             text         answer
--   verified           bool
--   verification.type  text         answer
--   verification.name  text         answer
--   verification.value text         answer
--   createdAt          timestamptz  answer
--   verifiedAt         timestamptz  answer
--   signIn             text         answer
--   includeSubdomains  bool         answer
--   _tenant            uuid
--   _token             text
SELECT domain.domain,
       CASE WHEN domain.verified_at IS NULL THEN 'pending' ELSE 'verified' END AS status,
       domain.verified_at IS NOT NULL AS verified, 'TXT' AS "verification.type",
       '_svc-challenge.' || domain.domain AS "verification.name",
       'svc-verify=' || domain.token AS "verification.value", domain.created_at AS "createdAt",
       domain.verified_at AS "verifiedAt",
       svc.connection_key(domain.tenant_id, domain.sign_in) AS "signIn",
       domain.include_subdomains AS "includeSubdomains",
       domain.tenant_id AS _tenant, domain.token AS _token
  FROM svc.domain domain
 WHERE domain.tenant_id = :tenant AND domain.domain = :domain;


-- statement: admin_domains_lock
-- Who adds one waits here for who adds another: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.domain'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_domains_create
-- A domain that another tenant has verified is taken; one that nobody has verified may be
-- wanted by several. Who has lost a race for the same one is told that the tenant has it.
--
-- parameters
--   domain         text ngx_svc_param_text(ngx_svc_admin_domain_body_t, domain)
--   token          text ngx_svc_param_call(ngx_svc_admin_domain_bind_token)
--   domains_max    int4 ngx_svc_param_constant(NGX_SVC_ADMIN_DOMAINS)
-- verdicts
--   own            conflict        The tenant has this domain already.
--   full           limit_exceeded  The tenant has %(NGX_SVC_ADMIN_DOMAINS) domains: delete
--                                  one.
WITH wanted AS (
    SELECT :tenant_or_null AS id,
           (SELECT count(*) FROM svc.domain domain WHERE domain.tenant_id = :tenant)
           < :domains_max::int4 AS room,
           EXISTS (SELECT
                     FROM svc.domain domain
                    WHERE domain.tenant_id = :tenant AND domain.domain = :domain) AS own,
           svc.domain_taken(:domain) AS taken
), domain AS (
    INSERT INTO svc.domain (tenant_id, domain, token)
    SELECT wanted.id, :domain, :token
      FROM wanted
     WHERE wanted.id IS NOT NULL AND wanted.room AND NOT wanted.own AND NOT wanted.taken
    ON CONFLICT DO NOTHING
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'domain.added', 'domain', domain.domain, NULL, '{}'
      FROM domain
)
SELECT CASE
           WHEN wanted.own THEN 'own'
           WHEN wanted.taken THEN 'domain_verified_key'
           WHEN NOT wanted.room THEN 'full'
           WHEN domain.domain IS NULL THEN 'own'
       END AS _verdict,
       domain.domain,
       CASE WHEN domain.verified_at IS NULL THEN 'pending' ELSE 'verified' END AS status,
       domain.verified_at IS NOT NULL AS verified, 'TXT' AS "verification.type",
       '_svc-challenge.' || domain.domain AS "verification.name",
       'svc-verify=' || domain.token AS "verification.value", domain.created_at AS "createdAt",
       domain.verified_at AS "verifiedAt",
       svc.connection_key(domain.tenant_id, domain.sign_in) AS "signIn",
       domain.include_subdomains AS "includeSubdomains"
  FROM wanted
  LEFT JOIN domain ON true;


-- statement: admin_domains_delete
--
-- missing: NGX_SVC_ADMIN_NO_DOMAIN
-- parameters
--   domain         text ngx_svc_param_path_domain()
WITH deleted AS (
    DELETE FROM svc.domain domain
     WHERE domain.tenant_id = :tenant AND domain.domain = :domain
    RETURNING domain.domain, domain.verified_at
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'domain.removed', 'domain', deleted.domain, NULL,
           jsonb_build_object('verified', deleted.verified_at IS NOT NULL)
      FROM deleted
)
SELECT deleted.domain
  FROM deleted;
