-- statement: admin_applications_cut
-- Once more, when the profile is committed: until then there were tokens without it,
-- and those may be newer than the cut-off.
--
-- parameters
--   client_id      text ngx_svc_param_application(0)
UPDATE svc.application client
   SET tokens_valid_after = greatest(client.tokens_valid_after, clock_timestamp())
 WHERE client.tenant_id = :tenant AND client.client_id = :client_id
RETURNING :application_columns, (extract(epoch from client.updated_at) * 1000)::int8 AS _version;
