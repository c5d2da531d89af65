-- statement: oauth_client_keys (shared)
-- A client's keys, its profile, and a digest of both, by which C knows what it has kept.
--
-- parameters
--   client_id  text   ngx_svc_oauth_param(client.id)
-- columns
--   jwks             text
--   security_profile text
--   sha256           bytea
SELECT client.jwks::text, client.security_profile,
       sha256('\x03' || convert_to(client.client_id, 'UTF8') || '\x00'
              || sha256(convert_to((client.jwks::text || ' '
                                    || coalesce(client.security_profile, '')), 'UTF8')))
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
 ORDER BY client.client_id
 LIMIT 1;
