-- Takes away what a measurement has created: the users seeded have another
-- source.

SET session_replication_role = replica;

DELETE FROM svc.user_account WHERE source = 'scim';
TRUNCATE svc.audit_event;
SELECT svc.user_recount();

VACUUM (ANALYZE) svc.user_account;
VACUUM svc.credential;
VACUUM svc.governance;
VACUUM svc.role;
