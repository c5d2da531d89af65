-- statement: admin_identities_list
-- "machines" has all that are not users, a branch for each table: some thousands at most. A
-- user of which as many are newer as the offset has beyond their number is on no later page,
-- however they mix; so "humans" needs no users but the page's and as many more. "merged" has
-- the two. What no status or type has, as asked for, is not looked at.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   status         text ngx_svc_param_query_word("status", ngx_svc_admin_identity_statuses)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
--   type           text ngx_svc_param_query_word("type", ngx_svc_admin_identity_types)
WITH machines AS MATERIALIZED (
    SELECT machine.id, machine.type, machine.name, NULL AS email, machine.owner_id, machine.status,
           machine.active_at, machine.expires_at, machine.created_at
      FROM (SELECT credential.id::text COLLATE "C" AS id, 'service' AS type, credential.name,
                   CASE credential.created_by_type
                       WHEN 'user' THEN credential.created_by_id::uuid
                   END AS owner_id,
                   CASE
                       WHEN credential.revoked_at IS NOT NULL THEN 'revoked'
                       WHEN credential.expires_at <= now() THEN 'expired'
                       ELSE 'active'
                   END AS status,
                   credential.last_used_at AS active_at, credential.expires_at,
                   credential.created_at
              FROM svc.credential credential
             WHERE credential.tenant_id = :tenant
               AND credential.kind = 'api'
               AND coalesce(:type, 'service') = 'service'
               AND coalesce(:status, 'active') IN ('active', 'expired', 'revoked')
            UNION ALL
            SELECT client.client_id,
                   CASE client.type WHEN 'agent' THEN 'agent' ELSE 'service' END,
                   client.name, client.owner_id,
                   CASE
                       WHEN client.type = 'agent'
                           THEN CASE
                                    WHEN NOT client.enabled THEN 'disabled'
                                    WHEN client.expires_at <= now() THEN 'expired'
                                    WHEN (SELECT owner.status
                                            FROM svc.user_account owner
                                           WHERE owner.tenant_id = :tenant
                                             AND owner.id BETWEEN client.owner_id
                                                              AND client.owner_id
                                           ORDER BY owner.id
                                           LIMIT 1) IS DISTINCT FROM 'active'
                                        THEN 'orphaned'
                                    ELSE 'active'
                                END
                       WHEN client.enabled THEN 'active'
                       ELSE 'disabled'
                   END,
                   client.last_used_at, client.expires_at, client.created_at
              FROM svc.application client
             WHERE client.tenant_id = :tenant
               AND client.type IN ('m2m', 'agent')
               AND coalesce(:type, 'service') <> 'human'
               AND coalesce(:status, 'active')
                   IN ('active', 'disabled', 'expired', 'orphaned')) machine
     WHERE coalesce(:type::text, machine.type) = machine.type
       AND (:status::text IS NULL OR machine.status = :status)
       AND (:q::text IS NULL
            OR strpos(' ' || lower(machine.name),
                      CASE WHEN char_length(btrim(:q)) < 3 THEN ' ' ELSE '' END
                      || lower(btrim(:q))) > 0)
), counted AS (
    SELECT count(*)::int4 AS machines, least(count(*), :page_offset::int4)::int4 AS skip
      FROM machines
), humans AS MATERIALIZED (
    SELECT page.total, page.ids
      FROM counted,
           svc.user_page(:q, :status, :page_limit::int4 + counted.skip,
                         :page_offset::int4 - counted.skip) page
     WHERE coalesce(:type, 'human') = 'human'
       AND coalesce(:status, 'active') IN ('active', 'suspended', 'deactivated')
), merged AS (
    SELECT account.id::text COLLATE "C" AS id, 'human' AS type,
           coalesce(account.display_name,
                    nullif(concat_ws(' ', account.first_name, account.last_name), ''),
                    account.user_name) AS name,
           account.user_name AS email, NULL::uuid AS owner_id, account.status,
           account.last_login_at AS active_at, NULL::timestamptz AS expires_at, account.created_at
      FROM humans, unnest(humans.ids) listed (id)
      CROSS JOIN LATERAL (
           SELECT account.*
             FROM svc.user_account account
            WHERE account.tenant_id = :tenant AND account.id BETWEEN listed.id AND listed.id
            ORDER BY account.id
            LIMIT 1) account
    UNION ALL
    SELECT *
      FROM machines
     ORDER BY created_at DESC, id DESC
     LIMIT :page_limit::int4 OFFSET (SELECT skip FROM counted)
)
SELECT counted.machines + coalesce(humans.total, 0) AS _total, merged.id, merged.type, merged.name,
       merged.email, owner.id AS "owner.id", owner.user_name AS "owner.email", merged.status,
       CASE
           WHEN merged.type = 'agent'
               THEN (SELECT count(*)
                       FROM (SELECT
                               FROM svc.agent_anomaly anomaly
                              WHERE anomaly.tenant_id = :tenant
                                AND anomaly.client_id BETWEEN merged.id AND merged.id
                                AND anomaly.acknowledged_at IS NULL
                              ORDER BY anomaly.client_id
                              LIMIT 10000) anomaly)
           ELSE 0
       END AS anomalies,
       merged.active_at AS "lastActiveAt", merged.expires_at AS "expiresAt",
       merged.created_at AS "createdAt"
  FROM counted
  LEFT JOIN humans ON true
  LEFT JOIN merged ON true
  LEFT JOIN LATERAL (
       SELECT account.id, account.user_name
         FROM svc.user_account account
        WHERE account.tenant_id = :tenant
          AND account.id BETWEEN merged.owner_id AND merged.owner_id
        ORDER BY account.id
        LIMIT 1) owner ON true
 ORDER BY merged.created_at DESC, merged.id DESC;
