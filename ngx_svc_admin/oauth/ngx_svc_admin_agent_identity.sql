-- statement: admin_agent_identity_put
-- Behind the lock of the row.  A new owner must be active.
--
-- parameters
--   client_id        text ngx_svc_param_application(0)
--   owner_id_given   bool ngx_svc_param_given(ngx_svc_admin_agent_identity_t, owner_id)
--   owner_id         uuid ngx_svc_param_id(ngx_svc_admin_agent_identity_t, owner_id)
--   expires_at_given bool ngx_svc_param_given(ngx_svc_admin_agent_identity_t, expires_at)
--   expires_ms       text ngx_svc_param_time(ngx_svc_admin_agent_identity_t, expires_at)
--   if_match         text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_application_verdict_owner
--   ngx_svc_verdict_precondition
WITH old AS (
    SELECT client.*
      FROM svc.application client
     WHERE client.tenant_id = :tenant AND client.client_id = :client_id AND client.type = 'agent'
), wanted AS (
    SELECT CASE WHEN :owner_id_given THEN :owner_id::uuid ELSE old.owner_id END AS owner_id,
           CASE WHEN :expires_at_given THEN to_timestamp(:expires_ms::text::float8 / 1000)
                ELSE old.expires_at END AS expires_at
      FROM old
), decided AS (
    SELECT CASE
               WHEN :owner_id::uuid IS NOT NULL
                    AND (SELECT account.status = 'active'
                           FROM svc.user_account account
                          WHERE account.tenant_id = :tenant
                            AND account.id BETWEEN :owner_id::uuid AND :owner_id::uuid
                          ORDER BY account.id
                          LIMIT 1) IS NOT TRUE THEN 'owner'
               WHEN NOT (:if_match::text IS NULL
                         OR (extract(epoch from old.updated_at) * 1000)::int8::text
                            = ANY (:if_match::text::text[])) THEN 'precondition'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.application client
       SET owner_id = wanted.owner_id, expires_at = wanted.expires_at,
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
      FROM wanted, decided
     WHERE client.tenant_id = :tenant
       AND client.client_id = :client_id
       AND decided.verdict IS NULL
       AND ROW(wanted.owner_id, wanted.expires_at::timestamptz(3))
           IS DISTINCT FROM ROW(client.owner_id, client.expires_at)
    RETURNING client.*
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'agent.identity_updated', 'agent', updated.client_id, updated.name,
           jsonb_build_object('changed', to_jsonb(array_remove(ARRAY[
               CASE WHEN updated.owner_id IS DISTINCT FROM old.owner_id THEN 'ownerId' END,
               CASE WHEN updated.expires_at IS DISTINCT FROM old.expires_at THEN 'expiresAt' END
               ], NULL)))
      FROM updated, old
)
SELECT decided.verdict AS _verdict
  FROM decided;
