-- statement: admin_authorization
-- The page asks what it has to show (GET /v1/oauth/authorization).  Nothing is shown of a
-- user who has to sign in first.
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
--   session_digest   bytea ngx_svc_oauth_request_param(digest)
--   sign_in_again    bool  ngx_svc_oauth_request_param(again)
--   max_age          text  ngx_svc_oauth_request_param(max_age)
--   auth_after       text  ngx_svc_oauth_request_param(auth_after)
--   hint_user        text  ngx_svc_oauth_request_param(hint)
--   ip               text  ngx_svc_oauth_request_param(oauth.ip)
--   policy_version   text  ngx_svc_oauth_request_param(policy)
--   asked_acr        text  ngx_svc_oauth_request_param(acr)
--   passkey_methods  text  ngx_svc_oauth_request_param(passkey_methods)
--   password_methods text  ngx_svc_oauth_request_param(password_methods)
--   code_methods     text  ngx_svc_oauth_request_param(code_methods)
--   acr_needed       bool  ngx_svc_oauth_request_param(acr_needed)
--   claims_user      text  ngx_svc_oauth_request_param(subject)
--   ask_consent      bool  ngx_svc_oauth_request_param(ask)
SELECT outcome.verdict AS _verdict, tenant.slug AS "tenant.slug", tenant.name AS "tenant.name",
       client.client_id AS "client.clientId", client.name AS "client.name",
       client.type AS "client.type",
       CASE
           WHEN outcome.verdict IN ('login', 'again', 'acr_again') THEN 'required'
           ELSE 'ok'
       END AS login,
       CASE WHEN outcome.verdict IS NULL THEN 'given' ELSE 'required' END AS consent,
       account.id AS "user.id", account.user_name AS "user.email",
       account.display_name AS "user.displayName",
       (SELECT coalesce(json_agg(
                   json_build_object(
                       'name', asked.name,
                       'granted', outcome.signed_in
                           AND coalesce(ARRAY(SELECT key || ' ' || scope COLLATE "C"
                                                FROM unnest(coalesce(
                                                         nullif(target.resource_keys, '{}'),
                                                         '{""}')) key,
                                                     unnest('{""}' || ARRAY[asked.name]) scope)
                                        <@ consent.allowed, false)
                   ) ORDER BY asked.name), '[]')
          FROM unnest(shown.scopes) asked (name)) AS scopes,
       array_to_json(target.resources) AS resources,
       CASE outcome.verdict WHEN 'policy' THEN governance.access_policy END AS _policy,
       governance.access_number AS _version, governance.tenant_id AS _tenant
  FROM :authorize_asked
  JOIN svc.governance governance ON governance.tenant_id = :tenant
  LEFT JOIN LATERAL (:user_session) session ON true
  LEFT JOIN LATERAL (:user_consent) consent ON true
  CROSS JOIN LATERAL (:consent_covers) approval
  CROSS JOIN LATERAL (
       SELECT CASE
                  :verdict_request
                  :verdict_place
                  :verdict_user
                  WHEN :ask_consent::bool
                        OR :loopback_before IS NOT NULL
                        OR client.require_consent AND NOT approval.consented THEN 'consent'
              END AS verdict OFFSET 0) judged
  CROSS JOIN LATERAL (
       SELECT judged.verdict, judged.verdict IS NULL OR judged.verdict = 'consent' AS signed_in
       ) outcome
  LEFT JOIN LATERAL (
       SELECT account.id, account.user_name, account.display_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant AND account.id BETWEEN session.user_id AND session.user_id
        ORDER BY account.id
        LIMIT 1) account ON outcome.signed_in;
