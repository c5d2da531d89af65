-- statement: oauth_par
-- POST /oauth/par: the request is judged as at the endpoint of authorization, as far as
-- that goes without a user, and is kept for 90 seconds.
--
-- parameters
--   client_id        text  ngx_svc_oauth_request_param(oauth.client.id)
--   redirect_uri     text  ngx_svc_oauth_request_param(redirect_uri)
--   loopback_before  text  ngx_svc_oauth_request_param(before)
--   loopback_behind  text  ngx_svc_oauth_request_param(behind)
--   fault_at         text  ngx_svc_oauth_request_param(fault)
--   asked_resources  text  ngx_svc_oauth_request_param(resources)
--   asked_keys       text  ngx_svc_oauth_request_param(resource_keys)
--   asked_scopes     text  ngx_svc_oauth_request_param(oauth.scopes)
--   scope_max        int4  ngx_svc_param_constant(NGX_SVC_OAUTH_SCOPE_MAX)
--   challenge        bytea ngx_svc_oauth_request_param(challenge)
--   asked_claims     text  ngx_svc_oauth_request_param(claims)
--   pushed_digest    bytea ngx_svc_oauth_request_param(pushed)
--   client_public    bool  ngx_svc_oauth_request_param(oauth.client.public)
--   params           text  ngx_svc_oauth_request_param(params)
--   jkt              bytea ngx_svc_oauth_request_param(jkt)
--   create_account   bool  ngx_svc_param_call(ngx_svc_oauth_par_bind_create)
--   hint_user        text  ngx_svc_oauth_request_param(hint)
-- columns
--   _verdict       text
WITH decided AS (
    SELECT CASE
               WHEN (client.auth_method = 'none') <> :client_public::bool THEN 'client'
               :verdict_request
               WHEN :create_account::bool
                    AND NOT (tenant.branding -> 'allowSelfSignup' IS NOT DISTINCT FROM 'true')
                    THEN 'create'
               WHEN :hint_user = '' THEN 'hint'
           END AS verdict
      FROM :authorize_asked
), pushed AS (
    INSERT INTO svc.oauth_par (tenant_id, digest, client_id, params, jkt, expires_at)
    SELECT :tenant_or_null, :pushed_digest::bytea, :client_id, :params, :jkt::bytea,
           now() + make_interval(secs => 90)
      FROM decided
     WHERE decided.verdict IS NULL
)
SELECT decided.verdict AS _verdict
  FROM decided;
