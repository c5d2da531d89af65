-- What may be presented once: a proof, and an assertion.  A client spends it that
-- has authenticated as it has to.


-- statement: oauth_once
--
-- parameters
--   proof_digest   bytea  ngx_svc_oauth_param(once)
--   proof_seconds  text   ngx_svc_oauth_param(once_seconds)
--   client_id      text   ngx_svc_oauth_param(client.id)
--   client_public  bool   ngx_svc_oauth_param(client.public)
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
SELECT CASE WHEN EXISTS (SELECT FROM spent) THEN 'new' ELSE 'seen' END;


-- statement: oauth_once_assertion
-- The first column is of the proof that came with the assertion, if one did; the second one
-- of the assertion.
--
-- parameters
--   proof_digest      bytea  ngx_svc_oauth_param(once)
--   proof_seconds     text   ngx_svc_oauth_param(once_seconds)
--   client_id         text   ngx_svc_oauth_param(client.id)
--   client_public     bool   ngx_svc_oauth_param(client.public)
--   assertion_digest  bytea  ngx_svc_oauth_param(client.once)
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
SELECT CASE
           WHEN :proof_digest IS NULL
                 OR EXISTS (SELECT FROM spent WHERE spent.digest = :proof_digest) THEN 'new'
           ELSE 'seen'
       END,
       CASE
           WHEN EXISTS (SELECT FROM spent WHERE spent.digest = :assertion_digest) THEN 'new'
           ELSE 'seen'
       END;


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
SELECT CASE
           WHEN :proof_digest IS NULL
                 OR EXISTS (SELECT FROM spent WHERE spent.digest = :proof_digest) THEN 'new'
           ELSE 'seen'
       END,
       CASE
           WHEN EXISTS (SELECT FROM spent WHERE spent.digest = :assertion_digest) THEN 'new'
           ELSE 'seen' || set_config('svc.tenant', '', true)
       END;
