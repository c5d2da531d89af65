-- The grant type client_credentials.


-- fragment: own_client
-- columns
--   :grant_client
--   default_resource_uri  text


-- statement: oauth_own
-- The seconds that are left of a client are a day at most: one that ends far away has more
-- than any token.
--
-- parameters
--   client_id  text   ngx_svc_oauth_param(client.id)
-- columns
--   :own_client
SELECT client.tenant_slug, client.auth_method, client.tenant_suspended_at IS NOT NULL AS suspended,
       CASE
           WHEN NOT client.enabled THEN 'disabled'
           WHEN client.expires_at <= now() THEN 'expired'
       END AS state,
       client.grant_types, client.scopes, client.access_token_format, client.access_token_ttl,
       client.max_token_ttl,
       least(86400, ceil(date_part('epoch', client.expires_at - now())))::integer AS ttl_left,
       client.require_dpop, client.signing_kid, client.allowed_scopes, client.allowed_audiences,
       client.allowed_audience_keys, floor(date_part('epoch', now()) * 1000)::bigint AS now,
       client.default_resource_uri
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
 ORDER BY client.client_id
 LIMIT 1;


-- statement: oauth_own_wider
-- Of an agent, for a resource, or with a scope that it does not have.  The resource is as
-- its application has registered it, however the client spells it; its key is made a column,
-- as an index is not searched for an expression that is not leakproof.
--
-- parameters
--   client_id     text   ngx_svc_oauth_param(client.id)
--   resource_key  text   ngx_svc_oauth_param(resource_key)
-- columns
--   :own_client
--   registered    text         the target's URI as an application has it
--   ignores       bool         scopes that the client does not have are ignored
SELECT client.tenant_slug, client.auth_method, client.tenant_suspended_at IS NOT NULL AS suspended,
       :client_state AS state,
       client.grant_types, client.scopes, client.access_token_format, client.access_token_ttl,
       client.max_token_ttl,
       least(86400, ceil(date_part('epoch', client.expires_at - now())))::integer AS ttl_left,
       client.require_dpop, client.signing_kid, client.allowed_scopes, client.allowed_audiences,
       client.allowed_audience_keys, floor(date_part('epoch', now()) * 1000)::bigint AS now,
       client.default_resource_uri,
       (SELECT registered.uri
          FROM (SELECT coalesce(:resource_key::text,
                                CASE
                                    WHEN cardinality(client.allowed_audience_keys) = 1
                                         THEN client.allowed_audience_keys[1]
                                END) AS key
                OFFSET 0) asked
         CROSS JOIN LATERAL (
               SELECT client.resource_uri AS uri
                 FROM svc.application client
                WHERE client.tenant_id = :tenant
                  AND client.resource_key BETWEEN asked.key AND asked.key
                ORDER BY client.resource_key
                LIMIT 1) registered) AS registered,
       client.unknown_scopes = 'ignore' AS ignores
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id BETWEEN :client_id AND :client_id
 ORDER BY client.client_id
 LIMIT 1;
