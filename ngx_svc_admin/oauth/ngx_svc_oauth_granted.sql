-- statement: oauth_granted_client (shared)
-- The client of a grant, whose it may be, and what has cut off all tokens before.
--
-- parameters
--   client_id  text   ngx_svc_oauth_param(client.id)
-- columns
--   :grant_client
--   :granted_client
--   assignment      text
--   require_consent bool
--   cut_at          float8       seconds; NULL: nothing was cut off
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
       client.name, client.xmin,
       client.ctid, client.id_token_ttl, client.refresh_idle_days, client.refresh_tokens,
       client.id_token_claims, client.security_profile, client.assignment, client.require_consent,
       date_part('epoch', greatest(client.tokens_valid_after, client.tenant_valid_after)) AS cut_at
  FROM svc.application client
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id;
