-- Logout tokens that are to be sent to applications.


-- statement: logout_take
-- Of all tenants, but nothing of a client, or a tenant, that has enough under way.
--
-- parameters
--   logouts_max    int4
--   client_ids     text
--   tenant_ids     text
SELECT * FROM svc.oauth_logout_take(:logouts_max::int4, :client_ids::text::text[],
                                    :tenant_ids::text::uuid[]);


-- statement: logout_done
--
-- parameters
--   client_id      text
--   root_id        text
DELETE FROM svc.oauth_logout logout
 WHERE logout.tenant_id = :tenant
   AND (logout.client_id, logout.root_id) = (:client_id, :root_id::text::uuid);


-- statement: logout_again
-- A second after the first attempt, and five after the next. What was not an attempt is not
-- counted.
--
-- parameters
--   client_id      text
--   root_id        text
--   attempted      bool
UPDATE svc.oauth_logout logout
   SET attempts = logout.attempts - CASE WHEN :attempted::bool THEN 0 ELSE 1 END,
       due_at = clock_timestamp()
                + CASE
                      WHEN :attempted::bool AND logout.attempts > 1 THEN interval '5 s'
                      ELSE interval '1 s'
                  END
 WHERE logout.tenant_id = :tenant
   AND (logout.client_id, logout.root_id) = (:client_id, :root_id::text::uuid);
