-- statement: admin_agent_simulate
-- What the newest tokens of an agent would have been under a policy, and what becomes by it
-- of those that live.  One more is read than is judged, which tells that there are more.
-- Who asks for no target gets the only one that is allowed, or the issuer, of which the
-- parameter is the beginning.  The policy is what admin_agent_policy_put would store.
--
-- long: It judges by rows whether each of many tokens lives, which C does of one alone.
-- missing: NGX_SVC_NO_AGENT
-- parameters
--   client_id       text ngx_svc_param_application(0)
--   enabled         bool ngx_svc_param_boolean(ngx_svc_agent_policy_t, enabled)
--   max_ttl_given   bool ngx_svc_param_given(ngx_svc_agent_policy_t, max_ttl)
--   max_ttl         int4 ngx_svc_param_integer(ngx_svc_agent_policy_t, max_ttl)
--   scopes_given    bool ngx_svc_param_given(ngx_svc_agent_policy_t, scopes)
--   scopes          text ngx_svc_param_strings(ngx_svc_agent_policy_t, scopes)
--   audiences_given bool ngx_svc_param_given(ngx_svc_agent_policy_t, audiences)
--   audience_keys   text ngx_svc_param_call(ngx_svc_agent_bind_keys)
--   issuer          text ngx_svc_param_call(ngx_svc_admin_agent_issuer)
--   days_max        int4 ngx_svc_param_constant(NGX_SVC_ADMIN_AGENT_SIMULATE_DAYS)
--   tokens_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_AGENT_SIMULATE_TOKENS)
--   reasons_max     int4 ngx_svc_param_constant(NGX_SVC_ADMIN_AGENT_SIMULATE_VALUES)
WITH old AS (
    SELECT client.*
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id AND client.type = 'agent'
), wanted AS (
    SELECT coalesce(:enabled::bool, old.enabled) AS enabled,
           CASE WHEN :max_ttl_given THEN :max_ttl::int4 ELSE old.max_token_ttl END AS max_token_ttl,
           CASE
               WHEN NOT :scopes_given THEN old.allowed_scopes
               WHEN :scopes::text IS NOT NULL
                    THEN ARRAY(SELECT DISTINCT scope COLLATE "C"
                                 FROM unnest(:scopes::text::text[]) scope
                                ORDER BY 1)
           END AS allowed_scopes,
           CASE
               WHEN :audiences_given THEN :audience_keys::text::text[]
               ELSE old.allowed_audience_keys
           END AS allowed_audience_keys
      FROM old
), newest AS MATERIALIZED (
    SELECT token.*, coalesce(token.audience_key, :issuer || tenant.slug) AS target,
           row_number() OVER (ORDER BY token.issued_at DESC, token.jti) AS place
      FROM old
      CROSS JOIN (SELECT slug FROM svc.tenant WHERE id = :tenant) tenant
      CROSS JOIN LATERAL (
           SELECT token AS token, token.issued_at, token.jti, token.ttl, token.scopes,
                  token.audience, token.audience_key
             FROM svc.oauth_token token
            WHERE token.tenant_id = :tenant
              AND token.client_id BETWEEN :client_id AND :client_id
              AND token.issued_at > now() - :days_max::int4 * interval '24 hours'
            ORDER BY token.client_id DESC, token.issued_at DESC
            LIMIT :tokens_max::int4 + 1) token
), judged AS MATERIALIZED (
    SELECT newest.*, NOT wanted.enabled AS off,
           wanted.allowed_audience_keys IS NOT NULL
           AND NOT newest.target = ANY (wanted.allowed_audience_keys)
           AND NOT (newest.audience IS NULL AND cardinality(wanted.allowed_audience_keys) = 1)
               AS elsewhere,
           ARRAY(SELECT scope
                   FROM unnest(array_remove(newest.scopes, 'offline_access')) scope
                  WHERE scope <> ALL (wanted.allowed_scopes)) AS beyond,
           coalesce(wanted.allowed_scopes = '{}', false) AS nothing,
           coalesce(newest.ttl > wanted.max_token_ttl, false) AS longer
      FROM newest, wanted
     WHERE newest.place <= :tokens_max
), given AS MATERIALIZED (
    SELECT judged.*,
           judged.off OR judged.elsewhere OR judged.nothing OR cardinality(judged.beyond) > 0
               AS refused
      FROM judged
), refusal AS (
    SELECT 'disabled' AS reason, NULL AS value, issued_at FROM given WHERE off
    UNION ALL
    SELECT 'audience', audience, issued_at FROM given WHERE elsewhere
    UNION ALL
    SELECT 'scope', scope, issued_at FROM given, unnest(given.beyond) scope
    UNION ALL
    SELECT 'scope', NULL, issued_at FROM given WHERE nothing AND cardinality(beyond) = 0
), reasons AS (
    SELECT reason, value, count(*) AS tokens, max(issued_at) AS seen
      FROM refusal
     GROUP BY reason, value
     ORDER BY tokens DESC, reason, value COLLATE "C"
     LIMIT :reasons_max::int4
), living AS (
    -- It dies when it had a scope, and would have none; it narrows when it loses one.
    SELECT NOT wanted.enabled
           OR (live.issued_at + least(live.ttl, wanted.max_token_ttl) * interval '1 second')
              <= now()
           OR (cardinality(array_remove(live.scopes, 'offline_access')) > 0
               AND NOT EXISTS (SELECT
                                 FROM unnest(live.scopes) scope
                                WHERE scope = ANY (old.scopes)
                                  AND coalesce(scope = ANY (wanted.allowed_scopes), true)))
           OR wanted.allowed_audience_keys IS NOT NULL
              AND NOT given.target = ANY (wanted.allowed_audience_keys) AS dies,
           (live.issued_at + least(live.ttl, wanted.max_token_ttl) * interval '1 second')
           < live.ends
           OR EXISTS (SELECT
                        FROM unnest(array_remove(live.now_scopes, 'offline_access')) scope
                       WHERE scope <> ALL (wanted.allowed_scopes)) AS narrows
      FROM given
      CROSS JOIN (SELECT old.scopes FROM old) old
      CROSS JOIN wanted
      JOIN svc.tenant tenant ON tenant.id = :tenant
      JOIN svc.oauth_tenant settings ON settings.tenant_id = :tenant
      CROSS JOIN LATERAL (
           SELECT token.*, signing_key.public, consented.auth_time,
                  ARRAY(SELECT scope
                          FROM unnest(token.scopes) scope
                         WHERE scope <> ALL (coalesce(holders.lost, '{}'))) AS now_scopes,
                  token.issued_at + make_interval(secs => least(token.ttl, holders.ttl)) AS ends
             FROM (SELECT (given.token).*) token
             -- All clients that it lives by: who has it, and those that act.  Of the last
             -- one its user's consent is the grant; most tokens do not come to the call.
             CROSS JOIN LATERAL (
                  SELECT bool_and(
                             client.client_id IS NOT NULL AND may.state IS NULL
                             AND token.issued_at >= coalesce(client.tokens_valid_after, '-infinity')
                             AND CASE
                                 WHEN token.user_id IS NULL THEN true
                                 WHEN client.assignment = 'everyone'
                                      AND (NOT client.require_consent OR holder.is_root) THEN true
                                 ELSE svc.oauth_user_lets(
                                     token.user_id, holder.client_id, client.assignment = 'groups',
                                     client.require_consent AND NOT holder.is_root,
                                     CASE holder.client_id
                                         WHEN token.client_id THEN coalesce(token.audience_key, '')
                                     END,
                                     token.scopes)
                             END
                             AND (NOT coalesce(holder.acts, false)
                                  OR client.allowed_audience_keys IS NULL
                                  OR coalesce(token.audience_key, (:issuer || tenant.slug))
                                     = ANY (client.allowed_audience_keys))) AS alive,
                         least(min(client.max_token_ttl) FILTER (WHERE holder.acts),
                               min(client.access_token_ttl)
                                   FILTER (WHERE holder.client_id = token.client_id)) AS ttl,
                         string_to_array(string_agg(concat_ws(' ',
                             CASE WHEN NOT token.scopes <@ (client.scopes || '{offline_access}')
                                  THEN array_to_string(ARRAY(
                                      SELECT scope
                                        FROM unnest(token.scopes) scope
                                       WHERE scope <> ALL (client.scopes || '{offline_access}')),
                                      ' ')
                             END,
                             CASE WHEN client.allowed_scopes IS NOT NULL AND holder.acts THEN CASE
                                  WHEN NOT token.scopes <@ (client.allowed_scopes
                                                            || '{offline_access}')
                                  THEN array_to_string(ARRAY(
                                      SELECT scope
                                        FROM unnest(token.scopes) scope
                                       WHERE scope <> ALL (client.allowed_scopes
                                                           || '{offline_access}')),
                                      ' ')
                             END END), ' '), ' ') AS lost
                    FROM (SELECT principal.client_id,
                                 principal.client_id
                                 = token.principals[cardinality(token.principals)] AS is_root,
                                 (principal.client_id = token.client_id
                                  OR principal.client_id = ANY (token.chain)) AS acts
                            FROM unnest(token.principals) principal (client_id)) holder
                    LEFT JOIN LATERAL (
                         SELECT client.type, client.enabled, client.expires_at, client.owner_id,
                                client.owner_lost_at, client.client_id, client.scopes,
                                client.assignment, client.require_consent,
                                client.tokens_valid_after, client.access_token_ttl,
                                client.max_token_ttl, client.allowed_scopes,
                                client.allowed_audience_keys
                           FROM svc.application client
                          WHERE client.tenant_id = :tenant
                            AND client.client_id BETWEEN holder.client_id AND holder.client_id
                          ORDER BY client.client_id
                          LIMIT 1) client ON true
                    LEFT JOIN LATERAL (SELECT :client_state AS state) may ON true) holders
             LEFT JOIN LATERAL (
                  SELECT signing_key.kid, signing_key.public
                    FROM svc.oauth_key signing_key
                   WHERE signing_key.tenant_id = :tenant
                     AND signing_key.kid BETWEEN token.kid AND token.kid
                     AND signing_key.revoked_at IS NULL
                   ORDER BY signing_key.kid
                   LIMIT 1) signing_key ON true
             LEFT JOIN LATERAL (
                  SELECT account.id, account.status, account.valid_after
                    FROM svc.user_account account
                   WHERE account.tenant_id = :tenant
                     AND account.id BETWEEN token.user_id AND token.user_id
                   ORDER BY account.id
                   LIMIT 1) account ON true
             LEFT JOIN LATERAL (
                  SELECT consented.id, consented.revoked_at, consented.session_at,
                         consented.auth_time
                    FROM svc.oauth_grant consented
                   WHERE consented.tenant_id = :tenant
                     AND consented.id BETWEEN token.grant_id AND token.grant_id
                   ORDER BY consented.id
                   LIMIT 1) consented ON true
            WHERE tenant.suspended_at IS NULL
              AND token.revoked_at IS NULL
              AND holders.alive
              AND NOT EXISTS (SELECT
                                FROM svc.oauth_revoked revoked
                               WHERE revoked.tenant_id = :tenant
                                 AND revoked.jti
                                     = ANY (ARRAY[token.jti, token.parent_jti, token.root_jti]))
              AND token.issued_at + make_interval(secs => least(token.ttl, holders.ttl)) > now()
              AND token.issued_at >= coalesce(settings.tokens_valid_after, '-infinity')
              AND (token.kid IS NULL OR signing_key.kid IS NOT NULL)
              AND (token.user_id IS NULL
                   OR account.status = 'active'
                      AND token.issued_at >= coalesce(account.valid_after, '-infinity'))
              AND (token.grant_id IS NULL
                   OR consented.id IS NOT NULL
                      AND consented.revoked_at IS NULL
                      AND consented.session_at >= coalesce(account.valid_after, '-infinity'))
              AND (token.scopes <@ '{offline_access}'
                   OR NOT token.scopes <@ (coalesce(holders.lost, '{}') || '{offline_access}'))
           ) live
     WHERE given.issued_at + given.ttl * interval '1 second' > now()
)
SELECT sample.tokens AS "sample.tokens",
       CASE WHEN whole.more THEN sample.first ELSE now() - :days_max * interval '24 hours' END
           AS "sample.from",
       now() AS "sample.to", whole.more AS "sample.truncated",
       sample.unchanged AS "summary.unchanged", sample.shortened AS "summary.shortened",
       sample.refused AS "summary.refused",
       coalesce((SELECT json_agg(json_build_object(
                            'reason', reason, 'value', value, 'tokens', tokens, 'lastSeenAt',
                            to_char(seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
                   FROM reasons), '[]') AS refused,
       live.tokens AS "live.tokens", live.die AS "live.wouldDie", live.narrow AS "live.wouldNarrow"
  FROM old,
       (SELECT count(*) AS tokens, min(issued_at) AS first,
               count(*) FILTER (WHERE NOT refused AND NOT longer) AS unchanged,
               count(*) FILTER (WHERE NOT refused AND longer) AS shortened,
               count(*) FILTER (WHERE refused) AS refused
          FROM given) sample,
       (SELECT count(*) > :tokens_max AS more FROM newest) whole,
       (SELECT count(*) AS tokens, count(*) FILTER (WHERE dies) AS die,
               count(*) FILTER (WHERE narrows AND NOT dies) AS narrow
          FROM living) live;
