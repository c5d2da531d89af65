-- Reads everything in a bundle, in one explicit transaction.
BEGIN;
{auth_caller, :api_hash{tenant}, :api_kind, :api_config, :api_actor, :ip, :agent, :request_id};
{admin_bundle, NULL};
COMMIT;
