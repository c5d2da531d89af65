-- statement: pg_timeline (shared)
-- Which cluster this is, and its timeline: by that it is told which of two servers that both
-- take writes is the primary. A standby says 0.
--
-- columns
--   system         int8         it stands for an unsigned number
--   timeline       text         hexadecimal
SELECT (SELECT control.system_identifier FROM pg_control_system() control) AS system,
       CASE
           WHEN pg_is_in_recovery() THEN '0'
           ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8)
       END AS timeline;
