-- statement: push_plan
-- In front of what looks up items. A plan that is made while there are few is kept when
-- there are more, and would read those of all tenants each time. What is planned behind
-- this takes an index.
SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true);
