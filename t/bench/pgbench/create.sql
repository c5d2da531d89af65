-- POST of a user.  Ids grow with time, as the module's do.
\set k :k + 1
\set n 1008000000000000000 + 64 * :k + :client_id
\set r random(1, 1000000000000000)
BEGIN;
{auth_token, :hash{tenant}, :kind, :permission};
{scim_create, ('01a0000000007' || :n)::uuid, 'grace.' || :r || '@example.test', 'pg-' || :r, :active, :given, :family, :display, :title, :department, :locale, :ip, :agent, :request_id};
COMMIT;
