-- What the demo's agents have done for people: chains of tokens, and what they were refused.
-- psql runs it, with the variables "slug", "assistant" and "researcher", which are clientIds,
-- and "api", an audience.

SELECT tenant.id AS tenant, account.id AS mei
  FROM svc.tenant tenant
  JOIN svc.user_account account ON account.tenant_id = tenant.id
 WHERE tenant.slug = :'slug' AND account.user_name = 'mei@acme.test' \gset

-- Each chain begins with a token that a person has got, and is "ago" minutes old.  The one
-- that came for nothing asked for more than the agent's ceiling.

INSERT INTO svc.delegation (tenant_id, id, created_at, client_id, client_name, subject_type,
                            subject_id, chain, grant_type, audience, scopes, outcome, reason,
                            token_jti, parent_jti, root_jti, expires_at, ip)
SELECT :'tenant', gen_random_uuid(), now() - make_interval(mins => chain.ago - step.later),
       step.client_id, step.name, 'user', :'mei', step.chain,
       'urn:ietf:params:oauth:grant-type:token-exchange', :'api', step.scopes,
       CASE WHEN step.reason IS NULL THEN 'granted' ELSE 'refused' END, step.reason,
       CASE WHEN step.reason IS NULL THEN (chain.jti || step.last)::uuid END,
       (chain.jti || step.parent)::uuid, (chain.jti || '000000000000')::uuid,
       CASE WHEN step.reason IS NULL
           THEN now() - make_interval(mins => chain.ago - step.later - 15) END, '192.0.2.17'
  FROM (SELECT ago, substr(gen_random_uuid()::text, 1, 24) AS jti
          FROM (VALUES (7), (190), (1500), (4400), (10200)) at (ago)) chain
  CROSS JOIN (VALUES
      (0, '000000000001', '000000000000', :'assistant', 'Travel assistant',
       ARRAY[:'assistant'], '{invoices:read,trips:write}'::text[], NULL),
      (1, '000000000002', '000000000001', :'researcher', 'Price researcher',
       ARRAY[:'researcher', :'assistant'], '{invoices:read}', NULL),
      (2, NULL, '000000000001', :'researcher', 'Price researcher',
       ARRAY[:'researcher', :'assistant'], '{trips:write}', 'invalid_scope'))
      step (later, last, parent, client_id, name, chain, scopes, reason)
 WHERE NOT EXISTS (SELECT FROM svc.delegation WHERE tenant_id = :'tenant');
