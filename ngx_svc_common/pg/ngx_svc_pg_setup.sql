-- statement: pg_settings (unnamed)
-- The session's settings go as a statement rather than in "options", which connection
-- poolers refuse.
--
-- parameters
--   lock_timeout   text
SELECT set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO', false),
       set_config('search_path', 'pg_catalog', false),
       set_config('lock_timeout', :lock_timeout, false);


-- statement: pg_check (unnamed)
-- A role that can bypass row-level security would see all tenants.  One without grants would
-- fail in each statement.  A schema that is too old may not say yet which modules it serves.
--
-- columns
--   version        int4
--   unsafe         bool         as text: only "f" is good
--   granted        bool
--   pid            int4
--   started        text
--   serves         int4         the oldest modules that it serves
SELECT (SELECT coalesce(max(migration.version), 0)
          FROM svc.schema_migration migration) AS version,
       (SELECT role.rolsuper OR role.rolbypassrls
          FROM pg_roles role
         WHERE role.rolname = current_user)
       OR EXISTS (SELECT FROM pg_class relation
                    JOIN pg_namespace namespace ON namespace.oid = relation.relnamespace
                   WHERE namespace.nspname = 'svc'
                     AND relation.relkind IN ('r', 'p')
                     AND pg_has_role(relation.relowner, 'MEMBER')) AS unsafe,
       has_table_privilege('svc.credential', 'SELECT')
       AND has_table_privilege('svc.tenant', 'SELECT')
       AND has_table_privilege('svc.user_account', 'SELECT')
       AND has_table_privilege('svc.user_account', 'INSERT')
       AND has_table_privilege('svc.audit_event', 'INSERT') AS granted,
       pg_backend_pid() AS pid,
       (SELECT backend.backend_start::text
          FROM pg_stat_get_activity(pg_backend_pid()) backend) AS started,
       (SELECT coalesce(max((to_jsonb(migration) ->> 'serves')::int4), 0)
          FROM svc.schema_migration migration) AS serves;


-- statement: pg_limits (unnamed)
-- It comes last: the limit of statements would hold for the whole setup, which is one
-- transaction.
--
-- parameters
--   statement_timeout text
--   lock_timeout      text
SELECT set_config('statement_timeout', :statement_timeout, false),
       set_config('lock_timeout', :lock_timeout, false);


-- statement: end_backend (shared, unnamed)
-- A pid may be another's by now, so the time of its start is compared. Of ours alone: the
-- server lets a role end its own sessions.
--
-- parameters
--   pid            text
--   started        text
-- columns
--   ended          int8
SELECT count(pg_terminate_backend(backend.pid)) AS ended
  FROM pg_stat_activity backend
 WHERE backend.pid = :pid::text::int4
   AND backend.backend_start::text = :started::text
   AND backend.usename = current_user;
