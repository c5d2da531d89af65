-- statement: oauth_sweep
-- The oldest tokens that no sweep has looked at yet, 5000 at most, are looked at for what is
-- unusual of an agent.  Younger ones than the lag wait: another one may still be written.
--
-- parameters
--   lag_ms  int4
SELECT *
  FROM svc.agent_sweep(:lag_ms::int4, 5000);


-- statement: oauth_expire
SELECT svc.oauth_expire(1000);
