-- PUT of a user's title, with its event, as one explicit transaction.
\set n 1008000000000000000 + 10 * random(0, :users / 10 - 1) + {tenant}
\set r random(1, 1000000000000000)
BEGIN;
{auth_caller, :api_hash{tenant}, :api_kind, :api_manage, :api_actor, :ip, :agent, :request_id};
{admin_user_put_profile, ('018f3a5c7d7e7' || :n)::uuid, :ip, :agent, :no, NULL, :no, NULL, :no, NULL, :yes, 'Rear Admiral ' || :r, :no, NULL, :no, NULL, :request_id, NULL};
COMMIT;
