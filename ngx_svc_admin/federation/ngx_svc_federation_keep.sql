-- statement: federation_keep
-- The flow has its proof, and is good once more, under a token that the provider has not seen.
--
-- parameters
--   flow_id        uuid  ngx_svc_federation_param(id)
--   state_hash     bytea ngx_svc_federation_param(state_hash)
--   subject_hash   bytea ngx_svc_federation_param(proof.subject_hash)
--   proof          bytea ngx_svc_federation_param(kept)
--   found          text  ngx_svc_federation_param(found)
UPDATE svc.federation_flow flow
   SET token_hash = :state_hash, subject_hash = :subject_hash, sealed = :proof,
       found_id = :found::text::uuid, used_at = NULL
 WHERE flow.tenant_id = :tenant
   AND flow.id = :flow_id
   AND flow.used_at IS NOT NULL
   AND flow.subject_hash IS NULL
RETURNING flow.id;
