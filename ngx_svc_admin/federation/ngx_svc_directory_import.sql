-- statement: directory_import_due
-- Takes the import that is due first. There is a row if there is none.
--
-- columns
--   taken          int8         unread
--   tenant         uuid
--   run            int8         as text
SELECT count(due.tenant) OVER () AS taken, due.tenant, due.run
  FROM (SELECT) always
  LEFT JOIN svc.ldap_sync_due(1) due ON true;
