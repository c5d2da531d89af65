-- statement: federation_failed
-- What has come of a journey that ends at the provider: it has refused, or its answer is not
-- good. What it says itself is for the audit log alone.
--
-- parameters
--   denied         bool ngx_svc_param_call(ngx_svc_federation_bind_denied)
--   key            text ngx_svc_federation_param(connection.key)
--   why            text ngx_svc_federation_param(why)
INSERT INTO svc.audit_event (outcome, action, target_type, target_id, target_name, details)
SELECT 'failure', CASE WHEN :denied::bool THEN 'federation.denied' ELSE 'federation.failed' END,
       'connection', :key::text, NULL, jsonb_build_object('connection', :key, 'why', :why::text)
 WHERE :tenant_or_null IS NOT NULL;
