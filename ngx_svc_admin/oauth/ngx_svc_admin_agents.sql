-- statement: admin_agents_list
-- All that match are counted: a tenant has some hundreds.  Who is on the page is looked up
-- by the primary key, with the members of admin_agent_get.
--
-- parameters
--   search         text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   status         text ngx_svc_param_query_word("status", ngx_svc_admin_agent_states)
--   owner_id       text ngx_svc_param_query("ownerId", NGX_SVC_PAGE_QUERY)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
WITH found AS MATERIALIZED (
    SELECT client.client_id, client.created_at
      FROM svc.application client
      LEFT JOIN LATERAL (
           SELECT account.id, account.user_name, account.display_name, account.status
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant
              AND account.id BETWEEN client.owner_id AND client.owner_id
            ORDER BY account.id
            LIMIT 1) owner ON true
     WHERE client.tenant_id = :tenant
       AND client.type = 'agent'
       AND (:search::text IS NULL
            OR strpos(lower(client.name), lower(:search)) > 0
            OR strpos(client.client_id, :search) > 0)
       AND (:status::text IS NULL
            OR :status = CASE
                WHEN NOT client.enabled THEN 'disabled'
                WHEN client.expires_at <= now() THEN 'expired'
                WHEN owner.status IS DISTINCT FROM 'active' THEN 'orphaned'
                ELSE 'active'
            END)
       AND (:owner_id::text IS NULL OR client.owner_id::text = :owner_id)
), page AS MATERIALIZED (
    SELECT found.client_id
      FROM found
     ORDER BY found.created_at DESC, found.client_id DESC
     LIMIT :page_limit::int4 OFFSET :page_offset::int4
), shown AS NOT MATERIALIZED (
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
           client.created_at AS "createdAt", client.updated_at AS "updatedAt"
      FROM page
      CROSS JOIN LATERAL (
           SELECT client.*
             FROM svc.application client
            WHERE client.tenant_id = :tenant
              AND client.client_id BETWEEN page.client_id AND page.client_id
            ORDER BY client.client_id
            LIMIT 1) client
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
                   WHERE tenant_id = :tenant) settings
)
SELECT counted.total AS _total, shown.*
  FROM (SELECT count(*) AS total FROM found) counted
  LEFT JOIN shown ON true
 ORDER BY shown."createdAt" DESC, shown."clientId" DESC;
