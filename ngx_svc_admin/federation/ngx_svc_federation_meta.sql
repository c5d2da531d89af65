-- statement: federation_meta_store (shared)
-- Stores what an issuer publishes, of a connection that is still there. It is looked at again
-- when its answer says so: in an hour at the earliest, and within a day.
--
-- parameters
--   connection_id  uuid  ngx_svc_federation_param(connection.id)
--   document       text  ngx_svc_federation_param(connection.document)
--   jwks           text  ngx_svc_federation_param(connection.jwks)
--   max_age        int4  ngx_svc_param_call(ngx_svc_federation_bind_max_age)
INSERT INTO svc.federation_meta AS meta
    (tenant_id, connection_id, document, jwks, fetched_at, due_at)
SELECT social.tenant_id, social.connection_id, :document::text::jsonb, :jwks::text::jsonb, now(),
       now() + make_interval(secs => :max_age::int4)
  FROM svc.social social
 WHERE social.tenant_id = :tenant AND social.connection_id = :connection_id
ON CONFLICT (tenant_id, connection_id) DO UPDATE
   SET document = excluded.document, jwks = excluded.jwks, fetched_at = excluded.fetched_at,
       due_at = excluded.due_at, failed_at = NULL, error = NULL;
