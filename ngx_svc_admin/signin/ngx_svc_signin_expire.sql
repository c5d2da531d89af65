-- statement: signin_expire
-- Deletes what is over, at most 1000 rows of a table at a time; the window is that of the
-- failures of addresses that are nobody's.
--
-- parameters
--   lockout_window int4
SELECT svc.sign_in_expire(1000, :lockout_window::int4);
