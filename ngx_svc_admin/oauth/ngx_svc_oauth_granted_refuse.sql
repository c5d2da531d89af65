-- statement: oauth_granted_revoke
-- A grant ends, and with it all its tokens; the audit log is told of it once.
--
-- parameters
--   grant_id    text   ngx_svc_oauth_granted_param(id)
--   client_id   text   ngx_svc_oauth_param(client.id)
--   reason      text   ngx_svc_oauth_granted_param(replayed)
--   ip          text   { .bind = ngx_svc_oauth_client_bind_from, .n = 0 }
--   user_agent  text   { .bind = ngx_svc_oauth_client_bind_from, .n = 1 }
--   request_id  text   { .bind = ngx_svc_oauth_client_bind_from, .n = 2 }
WITH revoked AS (
    UPDATE svc.oauth_grant consented
       SET revoked_at = now(), reason = :reason
      FROM (SELECT client.name, client.type
              FROM svc.application client
             WHERE client.tenant_id = :tenant
               AND client.client_id BETWEEN :client_id::text AND :client_id::text
             ORDER BY client.client_id
             LIMIT 1) client
     WHERE consented.tenant_id = :tenant
       AND consented.id = :grant_id::text::uuid
       AND consented.revoked_at IS NULL
    RETURNING consented.id, consented.user_id, consented.client_id, client.name, client.type,
              consented.reason
), event AS (
    INSERT INTO svc.audit_event
        (actor_type, actor_id, actor_name, ip, user_agent, request_id, action, target_type,
         target_id, target_name, details)
    SELECT CASE revoked.type WHEN 'agent' THEN 'agent' ELSE 'application' END,
           revoked.client_id, revoked.name, :ip::text::inet, :user_agent::text,
           :request_id::text, 'oauth.grant_revoked', 'grant', revoked.id::text, NULL,
           jsonb_build_object('reason', revoked.reason, 'clientId', revoked.client_id,
                              'userId', revoked.user_id)
      FROM revoked
)
SELECT
  FROM revoked;
