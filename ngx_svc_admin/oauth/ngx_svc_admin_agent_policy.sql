-- statement: admin_agent_policy_put
-- Behind the lock of the row.  A member that is absent keeps what the agent has, and one
-- that is null clears it; a ceiling that is NULL is none.  Who gives the agent more needs a
-- fresh second factor.
-- When it is switched off and on again, none of its tokens lives again: this may have waited
-- for the lock, and so the cut-off is clock_timestamp(), which is later than now().
--
-- parameters
--   client_id       text ngx_svc_param_application(0)
--   enabled         bool ngx_svc_param_boolean(ngx_svc_agent_policy_t, enabled)
--   max_ttl_given   bool ngx_svc_param_given(ngx_svc_agent_policy_t, max_ttl)
--   max_ttl         int4 ngx_svc_param_integer(ngx_svc_agent_policy_t, max_ttl)
--   scopes_given    bool ngx_svc_param_given(ngx_svc_agent_policy_t, scopes)
--   scopes          text ngx_svc_param_strings(ngx_svc_agent_policy_t, scopes)
--   audiences_given bool ngx_svc_param_given(ngx_svc_agent_policy_t, audiences)
--   audiences       text ngx_svc_param_strings(ngx_svc_agent_policy_t, audiences)
--   audience_keys   text ngx_svc_param_call(ngx_svc_agent_bind_keys)
--   if_match        text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_admin_agent_policy_verdicts
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
               WHEN :audiences_given THEN :audiences::text::text[]
               ELSE old.allowed_audiences
           END AS allowed_audiences,
           CASE
               WHEN :audiences_given THEN :audience_keys::text::text[]
               ELSE old.allowed_audience_keys
           END AS allowed_audience_keys
      FROM old
), decided AS (
    SELECT CASE
               WHEN (wanted.enabled AND NOT old.enabled
                     OR coalesce(wanted.max_token_ttl > old.max_token_ttl,
                                 wanted.max_token_ttl IS NULL AND old.max_token_ttl IS NOT NULL)
                     OR coalesce(NOT wanted.allowed_scopes <@ old.allowed_scopes,
                                 wanted.allowed_scopes IS NULL AND old.allowed_scopes IS NOT NULL)
                     OR coalesce(NOT wanted.allowed_audience_keys <@ old.allowed_audience_keys,
                                 wanted.allowed_audience_keys IS NULL
                                 AND old.allowed_audience_keys IS NOT NULL))
                    AND :caller_stale THEN 'stale'
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM old, wanted
), updated AS (
    UPDATE svc.application client
       SET enabled = wanted.enabled, max_token_ttl = wanted.max_token_ttl,
           allowed_scopes = wanted.allowed_scopes, allowed_audiences = wanted.allowed_audiences,
           allowed_audience_keys = wanted.allowed_audience_keys,
           policy_set_at = coalesce(client.policy_set_at, now()),
           tokens_valid_after = CASE
               WHEN client.enabled = wanted.enabled THEN client.tokens_valid_after
               ELSE greatest(client.tokens_valid_after, clock_timestamp())
           END,
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
      FROM wanted, decided
     WHERE client.tenant_id = :tenant
       AND client.client_id = :client_id
       AND decided.verdict IS NULL
       AND (ROW(wanted.enabled, wanted.max_token_ttl, wanted.allowed_scopes,
                wanted.allowed_audiences, wanted.allowed_audience_keys)
            IS DISTINCT FROM
            ROW(client.enabled, client.max_token_ttl, client.allowed_scopes,
                client.allowed_audiences, client.allowed_audience_keys))
    RETURNING client.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'agent.policy_updated', 'agent', updated.client_id, updated.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.enabled IS DISTINCT FROM old.enabled THEN 'enabled' END,
               CASE WHEN updated.max_token_ttl IS DISTINCT FROM old.max_token_ttl
                    THEN 'maxTokenTtlSeconds' END,
               CASE WHEN updated.allowed_scopes IS DISTINCT FROM old.allowed_scopes
                    THEN 'allowedScopes' END,
               CASE WHEN updated.allowed_audiences IS DISTINCT FROM old.allowed_audiences
                    THEN 'allowedAudiences' END], NULL)))
      FROM updated, old
)
SELECT decided.verdict AS _verdict
  FROM decided;


-- statement: admin_agent_policy_reset
-- Likewise, with the same rule of what is more: the policy becomes the one of an agent that
-- nobody has limited.
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_admin_agent_policy_verdicts
WITH old AS (
    SELECT client.*
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id AND client.type = 'agent'
), wanted AS (
    SELECT true AS enabled, NULL::int4 AS max_token_ttl, NULL::text[] AS allowed_scopes,
           NULL::text[] AS allowed_audiences, NULL::text[] AS allowed_audience_keys
      FROM old
), decided AS (
    SELECT CASE
               WHEN (wanted.enabled AND NOT old.enabled
                     OR coalesce(wanted.max_token_ttl > old.max_token_ttl,
                                 wanted.max_token_ttl IS NULL AND old.max_token_ttl IS NOT NULL)
                     OR coalesce(NOT wanted.allowed_scopes <@ old.allowed_scopes,
                                 wanted.allowed_scopes IS NULL AND old.allowed_scopes IS NOT NULL)
                     OR coalesce(NOT wanted.allowed_audience_keys <@ old.allowed_audience_keys,
                                 wanted.allowed_audience_keys IS NULL
                                 AND old.allowed_audience_keys IS NOT NULL))
                    AND :caller_stale THEN 'stale'
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM old, wanted
), updated AS (
    UPDATE svc.application client
       SET enabled = wanted.enabled, max_token_ttl = wanted.max_token_ttl,
           allowed_scopes = wanted.allowed_scopes, allowed_audiences = wanted.allowed_audiences,
           allowed_audience_keys = wanted.allowed_audience_keys,
           policy_set_at = NULL,
           tokens_valid_after = CASE
               WHEN client.enabled = wanted.enabled THEN client.tokens_valid_after
               ELSE greatest(client.tokens_valid_after, clock_timestamp())
           END,
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
      FROM wanted, decided
     WHERE client.tenant_id = :tenant
       AND client.client_id = :client_id
       AND decided.verdict IS NULL
       AND (ROW(wanted.enabled, wanted.max_token_ttl, wanted.allowed_scopes,
                wanted.allowed_audiences, wanted.allowed_audience_keys)
            IS DISTINCT FROM
            ROW(client.enabled, client.max_token_ttl, client.allowed_scopes,
                client.allowed_audiences, client.allowed_audience_keys)
            OR client.policy_set_at IS NOT NULL)
    RETURNING client.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'agent.policy_reset', 'agent', updated.client_id, updated.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.enabled IS DISTINCT FROM old.enabled THEN 'enabled' END,
               CASE WHEN updated.max_token_ttl IS DISTINCT FROM old.max_token_ttl
                    THEN 'maxTokenTtlSeconds' END,
               CASE WHEN updated.allowed_scopes IS DISTINCT FROM old.allowed_scopes
                    THEN 'allowedScopes' END,
               CASE WHEN updated.allowed_audiences IS DISTINCT FROM old.allowed_audiences
                    THEN 'allowedAudiences' END], NULL)))
      FROM updated, old
)
SELECT decided.verdict AS _verdict
  FROM decided;
