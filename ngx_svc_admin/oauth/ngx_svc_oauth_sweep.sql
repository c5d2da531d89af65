-- statement: oauth_sweep
-- The oldest tokens that no sweep has looked at yet, 5000 at most, are looked at for what is
-- unusual of an agent.  Younger ones than the lag wait: another one may still be written.
--
-- parameters
--   lag_ms  int4
-- columns
--   taken          int8         in the first row: tokens
--   raised_for     uuid         the tenant of a new anomaly; NULL in the first row
--   raised         text         its type
SELECT *
  FROM svc.agent_sweep(:lag_ms::int4, 5000);


-- statement: oauth_expire
SELECT svc.oauth_expire(1000);
