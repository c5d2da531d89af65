-- Deletes what a measurement has created, as ../sql/reset.sql does.

BEGIN;
LOCK TABLE user_account IN EXCLUSIVE MODE;
DELETE FROM user_account WHERE source = 'scim';
UPDATE user_account SET status = 'active' WHERE status <> 'active';
TRUNCATE audit_event;
COMMIT;

VACUUM (ANALYZE) user_account;
