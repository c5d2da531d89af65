-- statement: webhook_note
-- Deliveries that are done, of any tenants: the two arrays go together.
--
-- parameters
--   tenant_ids     text
--   delivery_ids   text
SELECT svc.webhook_note(:tenant_ids::text::uuid[], :delivery_ids::text::uuid[]);


-- statement: webhook_done_expire
SELECT svc.webhook_done_expire();
