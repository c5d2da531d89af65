-- statement: email_challenge_tenant (shared)
-- The tenant of a challenge, which its id, or the token of the link, tells to whoever has
-- it. Where the Host, a domain, or the slug says otherwise there is none.
--
-- parameters
--   host           text  ngx_svc_login_param(asked.host)
--   slug           text  ngx_svc_login_param(asked.slug)
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   token_hash     bytea ngx_svc_login_param(mailed.token_hash)
-- columns
--   :login_tenant
SELECT set_config('svc.tenant', tenant.id::text, true) AS id, tenant.slug, tenant.suspended,
       tenant.by_domain, false AS forced
  FROM svc.email_challenge_tenant(:host, :slug, :challenge_id, :token_hash) tenant;


-- statement: email_challenge_try (shared)
-- Takes an attempt of the challenge, under its row's lock, so that there are never more of
-- them; a link takes none. "bound" says whether it is of this browser. There is one row in
-- any case; its id is NULL when the challenge is over. With a SELECT around the id an index
-- is used for it under row-level security.
--
-- parameters
--   challenge_id   uuid  ngx_svc_login_param(mailed.id)
--   token_hash     bytea ngx_svc_login_param(mailed.token_hash)
--   kind           text  ngx_svc_login_param(mailed.kind)
--   attempts_max   int4  ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_ATTEMPTS)
--   binding_hash   bytea ngx_svc_login_param(mailed.binding_hash)
-- columns
--   :challenge_tried
WITH tried AS (
    UPDATE svc.email_challenge challenge
       SET attempts = challenge.attempts + CASE WHEN :token_hash::bytea IS NULL THEN 1 ELSE 0 END
     WHERE challenge.tenant_id = :tenant
       AND challenge.id = (SELECT coalesce(:challenge_id::uuid,
                                           (SELECT linked.id
                                              FROM svc.email_challenge linked
                                             WHERE linked.tenant_id = :tenant
                                               AND linked.token_hash = :token_hash)))
       AND challenge.kind = :kind
       AND challenge.used_at IS NULL
       AND coalesce(challenge.expires_at > now(), false)
       AND challenge.attempts < :attempts_max::int4
    RETURNING challenge.user_id, challenge.id, challenge.code_mac, challenge.data,
              challenge.void AS voided,
              coalesce(challenge.binding_hash = :binding_hash, false) AS bound
)
SELECT tried.*
  FROM (VALUES (1)) always
  LEFT JOIN tried ON true;


-- statement: email_challenge_use (shared)
-- One of the requests that present the same code uses it; the others have no tenant from
-- here on.
--
-- parameters
--   challenge_id   uuid ngx_svc_login_param(mailed.id)
WITH used AS (
    UPDATE svc.email_challenge challenge
       SET used_at = now()
     WHERE challenge.tenant_id = :tenant
       AND challenge.id = :challenge_id
       AND challenge.used_at IS NULL
       AND coalesce(challenge.expires_at > now(), false)
    RETURNING challenge.id
)
SELECT used.id, CASE WHEN used.id IS NULL THEN set_config('svc.tenant', '', true) END
  FROM (VALUES (1)) always
  LEFT JOIN used ON true;
