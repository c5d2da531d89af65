-- What may be presented once: a proof, and an assertion.  A client spends it that
-- has authenticated as it has to.


-- fragment: once_seen
-- columns
--   proof_seen       bool         the proof that came was used before
--   assertion_seen   bool         the assertion was


-- statement: oauth_once
--
-- parameters
--   proof_digest   bytea  ngx_svc_oauth_param(once)
--   proof_seconds  text   ngx_svc_oauth_param(once_seconds)
--   client_id      text   ngx_svc_oauth_param(client.id)
--   client_public  bool   ngx_svc_oauth_param(client.public)
-- columns
--   :once_seen
WITH spent AS (
    INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)
    SELECT tenant.id, :proof_digest, now() + make_interval(secs => :proof_seconds::text::float8)
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant
       AND EXISTS (SELECT
                     FROM (SELECT client.auth_method
                             FROM svc.application client
                            WHERE client.tenant_id = :tenant
                              AND client.client_id BETWEEN :client_id AND :client_id
                            ORDER BY client.client_id
                            LIMIT 1) client
                    WHERE (client.auth_method = 'none') = :client_public::bool)
    ON CONFLICT DO NOTHING
    RETURNING digest
)
SELECT NOT EXISTS (SELECT FROM spent) AS proof_seen, false AS assertion_seen;


-- statement: oauth_once_assertion
-- With the assertion may have come a proof.
--
-- parameters
--   proof_digest      bytea  ngx_svc_oauth_param(once)
--   proof_seconds     text   ngx_svc_oauth_param(once_seconds)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   client_public     bool   ngx_svc_oauth_param(client.public)
--   assertion_digest  bytea  ngx_svc_oauth_param(client.once)
-- columns
--   :once_seen
WITH spent AS (
    INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)
    SELECT tenant.id, presented.digest, now() + make_interval(secs => presented.seconds)
      FROM svc.tenant tenant,
           (VALUES (:proof_digest::bytea, :proof_seconds::text::float8), (:assertion_digest, 360))
               presented (digest, seconds)
     WHERE presented.digest IS NOT NULL
       AND tenant.id = :tenant
       AND EXISTS (SELECT
                     FROM (SELECT client.auth_method
                             FROM svc.application client
                            WHERE client.tenant_id = :tenant
                              AND client.client_id BETWEEN :client_id AND :client_id
                            ORDER BY client.client_id
                            LIMIT 1) client
                    WHERE (client.auth_method = 'none') = :client_public::bool)
    ON CONFLICT DO NOTHING
    RETURNING digest
)
SELECT :proof_digest IS NOT NULL
       AND NOT EXISTS (SELECT FROM spent WHERE spent.digest = :proof_digest) AS proof_seen,
       NOT EXISTS (SELECT FROM spent WHERE spent.digest = :assertion_digest) AS assertion_seen;


-- statement: oauth_once_only
-- Behind an assertion that was seen before there is no tenant any more, and nothing that the
-- statements behind it would find.
--
-- parameters
--   proof_digest      bytea  ngx_svc_oauth_param(once)
--   proof_seconds     text   ngx_svc_oauth_param(once_seconds)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   client_public     bool   ngx_svc_oauth_param(client.public)
--   assertion_digest  bytea  ngx_svc_oauth_param(client.once)
-- columns
--   :once_seen
WITH spent AS (
    INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)
    SELECT tenant.id, presented.digest, now() + make_interval(secs => presented.seconds)
      FROM svc.tenant tenant,
           (VALUES (:proof_digest::bytea, :proof_seconds::text::float8), (:assertion_digest, 360))
               presented (digest, seconds)
     WHERE presented.digest IS NOT NULL
       AND tenant.id = :tenant
       AND EXISTS (SELECT
                     FROM (SELECT client.auth_method
                             FROM svc.application client
                            WHERE client.tenant_id = :tenant
                              AND client.client_id BETWEEN :client_id AND :client_id
                            ORDER BY client.client_id
                            LIMIT 1) client
                    WHERE (client.auth_method = 'none') = :client_public::bool)
    ON CONFLICT DO NOTHING
    RETURNING digest
)
SELECT :proof_digest IS NOT NULL
       AND NOT EXISTS (SELECT FROM spent WHERE spent.digest = :proof_digest) AS proof_seen,
       CASE
           WHEN EXISTS (SELECT FROM spent WHERE spent.digest = :assertion_digest) THEN false
           ELSE set_config('svc.tenant', '', true) = ''
       END AS assertion_seen;
