-- statement: admin_agent_get (shared)
-- An agent's policy, who answers for it, and when it was reviewed; of anomalies that nobody
-- has acknowledged 10,000 are counted at most.
--
-- missing: NGX_SVC_NO_AGENT
-- parameters
--   client_id      text ngx_svc_param_application(0)
SELECT client.client_id AS "clientId", client.name,
       CASE
           WHEN NOT client.enabled THEN 'disabled'
           WHEN client.expires_at <= now() THEN 'expired'
           WHEN owner.status IS DISTINCT FROM 'active' THEN 'orphaned'
           ELSE 'active'
       END AS status,
       client.enabled AS "policy.enabled", client.max_token_ttl AS "policy.maxTokenTtlSeconds",
       array_to_json(client.allowed_scopes) AS "policy.allowedScopes",
       array_to_json(client.allowed_audiences) AS "policy.allowedAudiences",
       client.policy_set_at IS NULL AS "policy.isDefault",
       json_build_object(
           'ownerId', owner.id,
           'owner', CASE
               WHEN owner.id IS NOT NULL
                    THEN json_build_object('id', owner.id, 'email', owner.user_name,
                                           'displayName', owner.display_name)
           END,
           'expiresAt', to_char(client.expires_at AT TIME ZONE 'UTC',
                                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS identity,
       CASE
           WHEN client.reviewed_at IS NULL THEN 'never'
           WHEN client.reviewed_at + settings.every <= now() THEN 'due'
           ELSE 'current'
       END AS "review.status",
       client.reviewed_at AS "review.lastReviewedAt",
       CASE
           WHEN reviewer.id IS NOT NULL
                THEN json_build_object('id', reviewer.id, 'email', reviewer.user_name)
       END AS "review.reviewedBy",
       client.reviewed_at + settings.every AS "review.dueAt",
       (SELECT count(*)
          FROM (SELECT
                  FROM svc.agent_anomaly anomaly
                 WHERE anomaly.tenant_id = :tenant
                   AND anomaly.client_id BETWEEN client.client_id AND client.client_id
                   AND anomaly.acknowledged_at IS NULL
                 ORDER BY anomaly.client_id
                 LIMIT 10000) anomaly) AS anomalies,
       client.last_used_at AS "lastUsedAt", client.secret_rotated_at AS "secretRotatedAt",
       client.created_at AS "createdAt", client.updated_at AS "updatedAt",
       (extract(epoch from client.updated_at) * 1000)::int8 AS _edition
  FROM (SELECT client.*
          FROM svc.application client
         WHERE client.tenant_id = :tenant
           AND client.client_id = :client_id
           AND client.type = 'agent') client
  LEFT JOIN LATERAL (
       SELECT account.id, account.user_name, account.display_name, account.status
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN client.owner_id AND client.owner_id
        ORDER BY account.id
        LIMIT 1) owner ON true
  LEFT JOIN LATERAL (
       SELECT account.id, account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN client.reviewed_by AND client.reviewed_by
        ORDER BY account.id
        LIMIT 1) reviewer ON true
  CROSS JOIN (SELECT review_interval_days * interval '24 hours' AS every
                FROM svc.oauth_tenant
               WHERE tenant_id = :tenant) settings;
