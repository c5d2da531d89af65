-- statement: federation_begin
-- Begins a flow, of a connection whose issuer's metadata are there; GitHub publishes none. What
-- a browser's address and a tenant have open is limited: a client that goes on for a while has
-- others expire. Who has few open is not kept out by others, and the tenant's are not counted for
-- that. Of rows that are written at the same time each may be one too many. A flow of a session
-- is its user's, and one of an invitation is good while that is: it is open, and nobody has its
-- address. A connection that is off can be tested.
--
-- parameters
--   new_id         uuid  ngx_svc_param_new_id()
--   key            text  ngx_svc_federation_param(key)
--   state_hash     bytea ngx_svc_federation_param(state_hash)
--   cookie_hash    bytea ngx_svc_federation_param(cookie_hash)
--   nonce          text  ngx_svc_federation_param(nonce)
--   verifier       bytea ngx_svc_federation_param(verifier_sealed)
--   return_to      text  ngx_svc_federation_param(return_to)
--   host           text  ngx_svc_login_param(asked.host)
--   email_mac      bytea ngx_svc_login_param(asked.mac)
--   client_ip      text  ngx_svc_login_param(client.ip)
--   purpose        text  ngx_svc_federation_param_purpose()
--   session        bytea ngx_svc_federation_param_session()
--   token          bytea ngx_svc_invitation_param(token)
--   few            int4  ngx_svc_param_constant(NGX_SVC_FEDERATION_ADDRESS_FEW)
--   address_max    int4  ngx_svc_param_constant(NGX_SVC_FEDERATION_ADDRESS_MAX)
--   tenant_max     int4  ngx_svc_param_constant(NGX_SVC_FEDERATION_TENANT_MAX)
--   again          bool  ngx_svc_param_call(ngx_svc_federation_bind_again)
--   max_age        text  ngx_svc_federation_param(max_age)
--   usual_contexts text  ngx_svc_param_call(ngx_svc_federation_bind_contexts)
-- columns
--   :login_governance
--   slug           text         of the tenant
--   id             uuid
--   provider       text
--   client_id      text
--   issuer         text
--   directory      text
--   document       jsonb
--   error          text         of the last fetch of what it publishes
--   ready          bool
--   begun          bool
--   trust_mfa      bool
--   contexts       text
--   invited        bool
WITH asked AS MATERIALIZED (
    SELECT network(set_masklen(:client_ip::text::inet,
                               CASE family(:client_ip::text::inet) WHEN 4 THEN 32 ELSE 64 END))
               AS address
), connection AS MATERIALIZED (
    SELECT social.tenant_id, social.connection_id, social.updated_at, social.provider,
           social.client_id, social.issuer, social.directory,
           CASE WHEN meta.fetched_at > now() - interval '7 days' THEN meta.document END AS document,
           social.provider = 'github'
           OR coalesce(meta.fetched_at > now() - interval '7 days', false) AS ready, meta.error,
           social.trust_mfa, social.mfa_contexts
      FROM svc.social social
      LEFT JOIN svc.federation_meta meta
           ON meta.tenant_id = social.tenant_id
          AND meta.connection_id = social.connection_id
     WHERE social.tenant_id = :tenant
       AND social.provider = :key
       AND (social.enabled OR :purpose = 'test')
), own AS MATERIALIZED (
    SELECT (SELECT count(*)
              FROM (SELECT
                      FROM svc.federation_flow flow
                     WHERE flow.tenant_id = :tenant
                       AND flow.address BETWEEN asked.address AND asked.address
                       AND flow.created_at > now() - interval '10 minutes'
                       AND flow.used_at IS NULL
                     ORDER BY flow.address, flow.created_at
                     LIMIT :address_max::int4) flow) AS flows
      FROM asked
), caller AS MATERIALIZED (
    SELECT session.user_id, session.root_id
      FROM svc.session session
     WHERE session.tenant_id = :tenant AND session.token_hash BETWEEN :session AND :session
     ORDER BY session.token_hash
     LIMIT 1
), invited AS MATERIALIZED (
    SELECT invitation.id
      FROM (SELECT invitation.*
              FROM svc.invitation invitation
             WHERE invitation.tenant_id = :tenant
               AND invitation.token_hash BETWEEN :token AND :token
             ORDER BY invitation.token_hash
             LIMIT 1) invitation
     WHERE invitation.accepted_at IS NULL
       AND invitation.revoked_at IS NULL
       AND invitation.expires_at > now()
       AND (SELECT account.id
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.user_name_key BETWEEN invitation.email_key AND invitation.email_key
             ORDER BY account.user_name_key
             LIMIT 1) IS NULL
), open AS MATERIALIZED (
    SELECT CASE
               WHEN own.flows < :few::int4 THEN true
               WHEN own.flows >= :address_max::int4 THEN false
               ELSE coalesce((SELECT flow.expires_at
                                FROM svc.federation_flow flow
                               WHERE flow.tenant_id = :tenant AND flow.used_at IS NULL
                               ORDER BY flow.expires_at DESC OFFSET :tenant_max::int4 - 1
                               LIMIT 1) <= now(),
                             true)
           END AS room
      FROM own
), begun AS (
    INSERT INTO svc.federation_flow
        (tenant_id, id, token_hash, connection_id, connection_version, purpose, binding_hash,
         nonce, sealed, return_to, address, email_mac, host, user_id, root_id, invitation_id,
         min_auth_time, expires_at)
    SELECT connection.tenant_id, :new_id::uuid, :state_hash, connection.connection_id,
           connection.updated_at, :purpose, :cookie_hash, :nonce, :verifier, :return_to,
           asked.address, :email_mac, :host, caller.user_id, caller.root_id, invited.id,
           CASE
               WHEN :again::bool THEN now()
               ELSE now() - make_interval(secs => :max_age::text::float8)
           END,
           now() + interval '10 minutes'
      FROM connection
      CROSS JOIN open
      CROSS JOIN asked
      LEFT JOIN caller ON true
      LEFT JOIN invited ON true
     WHERE connection.ready
       AND open.room
       AND CASE :purpose::text
               WHEN 'sign_in' THEN true
               WHEN 'invite' THEN invited.id IS NOT NULL
               ELSE caller.user_id IS NOT NULL
           END
    RETURNING id
)
SELECT :login_governance, tenant.slug, connection.connection_id AS id, connection.provider,
       connection.client_id, connection.issuer, connection.directory, connection.document,
       connection.error, connection.ready, begun.id IS NOT NULL AS begun, connection.trust_mfa,
       array_to_string(coalesce(connection.mfa_contexts, :usual_contexts::text::text[]), ' ')
           AS contexts,
       EXISTS (SELECT FROM invited) AS invited
  FROM connection
  JOIN svc.governance governance ON governance.tenant_id = :tenant
  JOIN svc.tenant tenant ON tenant.id = :tenant
  LEFT JOIN begun ON true;
