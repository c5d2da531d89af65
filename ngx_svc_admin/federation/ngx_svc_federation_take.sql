-- statement: federation_tenant (shared)
-- The tenant of the flow whose state is presented, at the host where it began.
--
-- parameters
--   state_hash     bytea ngx_svc_federation_param(state_hash)
--   host           text  ngx_svc_login_param(asked.host)
--   domain_url     text  ngx_svc_param_domain_url()
-- columns
--   :login_tenant
--   case           text         unread
SELECT set_config('svc.tenant', tenant.id::text, true) AS id, tenant.slug, tenant.suspended,
       tenant.by_domain, false AS forced,
       CASE WHEN tenant.by_domain THEN set_config('svc.base_url', :domain_url, true) END
  FROM svc.federation_tenant(:state_hash::bytea, :host) tenant;


-- statement: federation_take (shared)
-- Takes the flow, which is spent with that whatever follows, for the browser that has begun
-- it; one of those that come at the same time gets the row. A form comes from another site, and
-- so without a cookie: what it proves is kept, under another token, for the browser that has the
-- cookie. One that waits for a code by mail is spent, and is looked at as often as a code is
-- asked for or typed. A connection that has been changed or switched off meanwhile has none,
-- unless it is tested.
--
-- parameters
--   state_hash     bytea ngx_svc_federation_param(state_hash)
--   cookie         bytea ngx_svc_federation_param(cookie)
--   posted         bool  ngx_svc_param_call(ngx_svc_federation_bind_posted)
--   finishes       bool  ngx_svc_param_call(ngx_svc_federation_bind_finishes)
--   mailed         bool  ngx_svc_param_call(ngx_svc_federation_bind_mailed)
-- columns
--   id             uuid
--   purpose        text
--   nonce          text
--   sealed         bytea
--   return_to      text
--   email_mac      bytea
--   asked          int8
--   :login_begun
--   connection_id  uuid
--   provider       text
--   client_id      text
--   client_secret  bytea
--   secret_id      uuid
--   team_id        text
--   key_id         text
--   issuer         text
--   directory      text
--   allowed        text[]
--   owned          text[]
--   trust_email    bool
--   trust_mfa      bool
--   mapping        jsonb
--   maps_groups    bool
--   grouped        bool
--   document       jsonb
--   jwks           jsonb
--   settings_set   bool         unread
WITH flow AS (
    UPDATE svc.federation_flow flow
       SET used_at = now()
     WHERE flow.tenant_id = :tenant
       AND flow.token_hash = :state_hash
       AND (flow.used_at IS NOT NULL) = :mailed::bool
       AND flow.tested_at IS NULL
       AND coalesce(flow.expires_at > now(), false)
       AND (flow.subject_hash IS NOT NULL) = :finishes::bool
       AND (flow.binding_hash = sha256(:cookie::bytea || uuid_send(flow.id)) OR :posted::bool)
    RETURNING flow.*
)
SELECT flow.id, flow.purpose, flow.nonce, flow.sealed, flow.return_to, flow.email_mac,
       coalesce(floor(extract(epoch FROM flow.min_auth_time))::bigint, 0) AS asked,
       host(flow.address) AS _ip,
       (extract(epoch FROM clock_timestamp() - flow.created_at) * 1000)::bigint AS _age,
       social.connection_id, social.provider, social.client_id, social.client_secret,
       social.client_secret_id AS secret_id, social.team_id, social.key_id, social.issuer,
       social.directory,
       social.allowed_tenants AS allowed,
       ARRAY(SELECT domain.domain::text
               FROM svc.domain domain
              WHERE domain.tenant_id = :tenant
                AND domain.domain = ANY (social.domains)
                AND domain.verified_at IS NOT NULL) AS owned,
       social.trust_email, social.trust_mfa, social.attribute_mapping AS mapping,
       social.group_mapping <> '[]' AS maps_groups, social.grouped, meta.document,
       meta.jwks, set_config('svc.found', coalesce(flow.found_id::text, ''), true) IS NULL
           AS settings_set
  FROM flow
  JOIN svc.social social
       ON social.tenant_id = :tenant
      AND social.connection_id = flow.connection_id
      AND social.updated_at = flow.connection_version
      AND (social.enabled OR flow.purpose = 'test')
  LEFT JOIN svc.federation_meta meta
       ON meta.tenant_id = :tenant
      AND meta.connection_id = flow.connection_id
      AND meta.fetched_at > now() - interval '7 days';
