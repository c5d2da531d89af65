-- statement: admin_agent_review
-- Who reviewed it is the user who asks; nobody, when a token does.
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
--   note           text ngx_svc_param_text(ngx_svc_admin_review_t, note)
WITH updated AS (
    UPDATE svc.application client
       SET reviewed_at = now(),
           reviewed_by = CASE
               WHEN :caller_is_user
                    THEN nullif(current_setting('svc.actor_id', true), '')::uuid
           END,
           updated_at = greatest(now(), client.updated_at + interval '1 millisecond')
     WHERE client.tenant_id = :tenant
       AND client.client_id = :client_id
       AND client.type = 'agent'
    RETURNING client.client_id, client.name
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'agent.reviewed', 'agent', updated.client_id, updated.name,
           jsonb_strip_nulls(jsonb_build_object('note', nullif(:note, '')))
      FROM updated
)
SELECT
  FROM updated;
