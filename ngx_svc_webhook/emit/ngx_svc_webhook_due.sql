-- statement: webhook_outbox_due
-- The outbox looks at the tenant after delay_ms milliseconds, unless it does so earlier.
--
-- parameters
--   delay_ms       int4
UPDATE svc.webhook_outbox outbox
   SET due_at = now() + :delay_ms::int4 * interval '1 ms'
 WHERE outbox.tenant_id = :tenant AND outbox.due_at > now() + :delay_ms::int4 * interval '1 ms';
