-- What a bundle is made of, as one explicit transaction.
BEGIN;
{auth_read, :api_hash{tenant}, :api_kind, :api_config};
SELECT * FROM svc.governance;
SELECT * FROM svc.group_password_policy ORDER BY group_id;
SELECT key, name, permissions, member_count FROM svc.role ORDER BY key;
COMMIT;
