-- GET of a user, as one explicit transaction.
\set n 1008000000000000000 + 10 * random(0, :users / 10 - 1) + {tenant}
BEGIN;
{auth_read, :hash{tenant}, :kind, :permission};
{scim_get, ('018f3a5c7d7e7' || :n)::uuid};
COMMIT;
