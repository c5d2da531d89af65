-- The two statements of a GET.  The second must return one row, which it does
-- only when the first has found the token and set the tenant.
\set n 1008000000000000000 + 10 * random(0, :users / 10 - 1) + {tenant}
BEGIN;
{auth_read, :hash{tenant}, :kind, :permission};
{scim_get, ('018f3a5c7d7e7' || :n)::uuid} \gset
COMMIT;
