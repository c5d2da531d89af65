-- statement: health_read
SELECT true;


-- statement: health_write
-- A transaction that has written nothing to the log, but for its end, waits neither for
-- the disk nor for a standby. No row: there can be no writes.
SELECT pg_logical_emit_message(true, 'svc.health', ''::text)
 WHERE current_setting('transaction_read_only') = 'off';
