-- statement: signin_sweep
-- Counts what has happened, at most 1000 events in a round.
SELECT svc.sign_in_sweep(1000);
