-- statement: admin_audit_follow_renew (shared)
-- No row: the lease has been taken away.
--
-- parameters
--   lease          uuid ngx_svc_param_data(ngx_svc_admin_follow_t, lease)
--   lease_seconds  int4 ngx_svc_param_constant(NGX_SVC_ADMIN_FOLLOW_LEASE)
UPDATE svc.audit_stream stream
   SET expires_at = now() + :lease_seconds::int4 * interval '1 second'
 WHERE stream.tenant_id = :tenant AND stream.id = :lease::uuid
RETURNING stream.id;
