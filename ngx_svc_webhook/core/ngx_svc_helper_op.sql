-- statement: helper_tenant
-- The helper works for one tenant at a time: this is the first statement of each of its ops.
-- lazy: whether a commit need not wait for the disk.
--
-- parameters
--   tenant_id      text
--   lazy           bool
SELECT set_config('svc.tenant', :tenant_id, true) AS tenant,
       set_config('synchronous_commit', CASE
                                            WHEN :lazy::bool THEN 'off'
                                            ELSE current_setting('synchronous_commit')
                                        END, true) AS commit;
