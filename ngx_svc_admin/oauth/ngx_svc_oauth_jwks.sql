-- statement: oauth_jwks_claim
-- Whoever sets the time may fetch: one for each client, in each minute.
--
-- parameters
--   client_id      text
-- columns
--   jwks_uri       text
--   asked_at       text
UPDATE svc.application client
   SET jwks_asked_at = now()
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id
   AND client.jwks_uri IS NOT NULL
   AND coalesce(client.jwks_asked_at < now() - interval '1 minute', true)
RETURNING client.jwks_uri, client.jwks_asked_at::text AS asked_at;


-- statement: oauth_jwks_take
-- Claims those whose keys are due, 16 at most.  There is a row if there is none.
--
-- columns
--   taken          int8         clients, in each row
--   tenant         uuid
--   client_id      text
--   jwks_uri       text
--   asked_at       text
SELECT count(due.client_id) OVER () AS taken, due.tenant_id AS tenant, due.client_id,
       due.jwks_uri, due.jwks_asked_at::text AS asked_at
  FROM (SELECT) always
  LEFT JOIN svc.application_jwks_take(16) due ON true;


-- statement: oauth_jwks_store
-- Behind the lock of the row: what finds the client by its keys changes with them.  A fetch that
-- is not the client's last one, or is of another URI by now, stores nothing.
--
-- parameters
--   client_id      text
--   asked_at       text
--   jwks           text
--   max_age        int4
WITH stored AS (
    UPDATE svc.application client
       SET jwks = :jwks::text::jsonb,
           jwks_fetched_at = now(),
           jwks_due_at = now() + make_interval(secs => :max_age::int4),
           jwks_failed_at = NULL,
           jwks_error = NULL
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id
       AND client.jwks_asked_at = :asked_at::text::timestamptz
    RETURNING client.tenant_id, client.client_id,
              sha256('\x03' || convert_to(client.client_id, 'UTF8') || '\x00'
                     || sha256(convert_to((client.jwks::text || ' '
                                           || coalesce(client.security_profile, '')),
                                          'UTF8'))) AS digest
), removed AS (
    DELETE FROM svc.oauth_login login
     USING stored
     WHERE login.tenant_id = :tenant AND login.client_id = :client_id
       AND login.kind = 'keys' AND login.digest <> stored.digest
)
INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind, retired_at)
SELECT stored.digest, stored.tenant_id, stored.client_id, 'keys', now() + interval '7 days'
  FROM stored
ON CONFLICT (digest) DO UPDATE SET retired_at = excluded.retired_at;


-- statement: oauth_jwks_failed
-- The keys that there are stay.
--
-- parameters
--   client_id      text
--   asked_at       text
--   error          text
UPDATE svc.application client
   SET jwks_failed_at = now(), jwks_error = :error
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id
   AND client.jwks_asked_at = :asked_at::text::timestamptz;
