-- Deletes what a measurement has created (seeded users have another source),
-- and reactivates the users whom it has deactivated.

SET session_replication_role = replica;

-- a request may still be on its way: it is deleted with its event, or stored
-- with it

BEGIN;
LOCK TABLE svc.user_account IN EXCLUSIVE MODE;
DELETE FROM svc.user_account WHERE source = 'scim';
UPDATE svc.user_account SET status = 'active' WHERE status <> 'active';
TRUNCATE svc.audit_event;
COMMIT;

SELECT svc.user_recount();

VACUUM (ANALYZE) svc.user_account;
-- an older schema does not have this table
SELECT 'VACUUM (ANALYZE) svc.user_inactive'
 WHERE to_regclass('svc.user_inactive') IS NOT NULL \gexec
VACUUM svc.credential;
VACUUM svc.governance;
VACUUM svc.role;
