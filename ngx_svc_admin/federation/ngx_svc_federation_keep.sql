-- statement: federation_keep
-- The flow has its proof, under a token that the provider has not seen. What has come as a form
-- is good once more; what waits for a code by mail stays spent.
--
-- parameters
--   flow_id        uuid  ngx_svc_federation_param(id)
--   state_hash     bytea ngx_svc_federation_param(state_hash)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   proof          bytea ngx_svc_federation_param(kept)
--   found          text  ngx_svc_federation_param(found)
--   posted         bool  ngx_svc_param_call(ngx_svc_federation_bind_posted)
UPDATE svc.federation_flow flow
   SET token_hash = :state_hash, subject_hash = :subject_hash, sealed = :proof,
       found_id = :found::text::uuid, used_at = CASE WHEN NOT :posted::bool THEN flow.used_at END
 WHERE flow.tenant_id = :tenant
   AND flow.id = :flow_id
   AND flow.used_at IS NOT NULL
   AND (flow.subject_hash IS NULL OR NOT :posted)
RETURNING flow.id;
