-- statement: oauth_alg
-- What a client's JWTs are signed with.
--
-- parameters
--   client_id  text   ngx_svc_oauth_param(client.id)
-- columns
--   signing_alg    text
SELECT client.signing_alg
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
 ORDER BY client.client_id
 LIMIT 1;
