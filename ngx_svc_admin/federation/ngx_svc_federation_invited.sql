-- statement: federation_invited (shared)
-- The invitation that a journey accepts: the one whose token began it, or the one of an address
-- that is proved, and of a domain of the connection's. It is good while it is open, and nobody
-- has its address. A directory has no flow, and so no token.
--
-- parameters
--   flow_id        uuid  ngx_svc_federation_param(id)
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   email          text  ngx_svc_federation_param(proof.email)
--   domain         text  ngx_svc_federation_param(proof.domain)
--   verified       bool  ngx_svc_param_call(ngx_svc_federation_bind_verified)
-- columns
--   token          bytea
--   fits           bool
--   covered        bool
--   forced         bool
WITH proof AS MATERIALIZED (
    SELECT flow.invitation_id, connection.connection_id, connection.vouched,
           connection.vouched_owner, tenant.sign_in_forced,
           (SELECT svc.address_key(:email::text)) AS email_key,
           :verified::bool AND connection.owned AS owned
      FROM svc.connection_of(:tenant, :connection_id::uuid, :domain::text) connection
      JOIN svc.tenant tenant ON tenant.id = :tenant
      LEFT JOIN LATERAL (
           SELECT flow.invitation_id
             FROM svc.federation_flow flow
            WHERE flow.tenant_id = :tenant
              AND flow.id = :flow_id
              AND flow.connection_id = connection.connection_id
            LIMIT 1) flow ON true
)
SELECT invitation.token_hash AS token,
       coalesce(invitation.email_key = proof.email_key, false) AS fits,
       svc.covers(:tenant, invitation.role, proof.vouched, proof.vouched_owner) AS covered,
       coalesce(svc.sign_in_by(:tenant, proof.sign_in_forced, invitation.email)
                <> proof.connection_id,
                false) AS forced
  FROM proof
  CROSS JOIN LATERAL (
       (SELECT invitation.*
          FROM svc.invitation invitation
         WHERE invitation.tenant_id = :tenant
           AND invitation.id BETWEEN proof.invitation_id AND proof.invitation_id
         ORDER BY invitation.id
         LIMIT 1)
       UNION ALL
       (SELECT invitation.*
          FROM svc.invitation invitation
         WHERE invitation.tenant_id = :tenant
           AND invitation.email_key BETWEEN proof.email_key AND proof.email_key
           AND invitation.accepted_at IS NULL
           AND invitation.revoked_at IS NULL
           AND proof.invitation_id IS NULL
           AND proof.owned
         ORDER BY invitation.email_key
         LIMIT 1)) invitation
 WHERE invitation.accepted_at IS NULL
   AND invitation.revoked_at IS NULL
   AND invitation.expires_at > now()
   AND (SELECT account.id
          FROM svc.user_account account
         WHERE account.tenant_id = :tenant
           AND account.user_name_key BETWEEN invitation.email_key AND invitation.email_key
         ORDER BY account.user_name_key
         LIMIT 1) IS NULL;
