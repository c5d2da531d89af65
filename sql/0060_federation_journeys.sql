-- serves: 1
--
-- More ways in by other servers.


-- A proof that comes from another site, without the browser's cookie: whom it is of, which
-- is sealed beside, too.

ALTER TABLE svc.federation_flow ADD COLUMN found_id uuid;       -- NULL: nobody yet

GRANT UPDATE (found_id) ON svc.federation_flow TO svc_app;
