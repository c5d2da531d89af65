-- statement: oauth_client_keys (shared)
-- A client's keys, its profile, and a digest of both, by which C knows what it has kept.  Keys
-- that were fetched are good for 7 days.  They may be fetched once in a minute.
--
-- parameters
--   client_id  text   ngx_svc_oauth_param(client.id)
-- columns
--   jwks             text
--   security_profile text
--   sha256           bytea
--   askable          bool         they can be fetched, and were not just now
SELECT CASE
           WHEN client.jwks_fetched_at <= now() - interval '7 days' THEN NULL
           ELSE client.jwks::text
       END AS jwks,
       client.security_profile,
       sha256('\x03' || convert_to(client.client_id, 'UTF8') || '\x00'
              || sha256(convert_to((client.jwks::text || ' '
                                    || coalesce(client.security_profile, '')), 'UTF8'))),
       client.jwks_uri IS NOT NULL
       AND coalesce(client.jwks_asked_at < now() - interval '1 minute', true) AS askable
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
 ORDER BY client.client_id
 LIMIT 1;
