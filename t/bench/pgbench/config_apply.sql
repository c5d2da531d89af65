-- Reads the bundle and writes one role, in one explicit transaction; each
-- client has a tenant of its own.
BEGIN;
{auth_caller, (:api_hashes::text[])[:client_id + 1]::bytea, :api_kind, :api_config, :api_actor, :ip, :agent, :request_id};
{admin_bundle, NULL};
{admin_governance_lock, };
{admin_config_apply, (SELECT (revision + 1)::text FROM svc.governance), NULL, NULL, NULL, NULL, NULL, NULL, :apply_roles, NULL, :apply_events, 50};
COMMIT;
