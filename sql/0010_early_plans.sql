-- Plans that were made too early: before a table had rows, or by a request that
-- was refused.
--
-- A prepared statement keeps its plan until a table is analyzed.  For a request
-- without a tenant the planner sees a comparison with NULL, and counts on no rows:
-- any index that begins with the tenant is as good as the right one, and who comes
-- next has all rows of the tenant read for each one.  So without a tenant it is
-- compared with an id that is nobody's.  What may be written stays as it was.

ALTER TABLE svc.tenant ADD CONSTRAINT tenant_id_check
    CHECK (id <> '00000000-0000-0000-0000-000000000000');

DO $$
DECLARE
    p  record;
BEGIN
    FOR p IN
        SELECT l.polname AS name, l.polrelid::regclass AS of, l.polcmd AS command,
               pg_get_expr(l.polqual, l.polrelid) AS qual,
               pg_get_expr(l.polwithcheck, l.polrelid) AS with_check
          FROM pg_policy l JOIN pg_class c ON c.oid = l.polrelid
         WHERE c.relnamespace = 'svc'::regnamespace
         ORDER BY c.relname, l.polname
    LOOP
        CONTINUE WHEN p.qual IS NULL
            OR p.qual NOT IN (
                '(tenant_id = (NULLIF(current_setting(''svc.tenant''::text, true),'
                ' ''''::text))::uuid)',
                '(id = (NULLIF(current_setting(''svc.tenant''::text, true),'
                ' ''''::text))::uuid)');

        EXECUTE format('ALTER POLICY %I ON %s USING (%I ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)',
                       p.name, p.of, substring(p.qual FROM '\w+'))
                || CASE WHEN p.command IN ('*', 'w')
                        THEN format(' WITH CHECK (%s)', coalesce(p.with_check, p.qual))
                        ELSE '' END;
    END LOOP;
END
$$;


-- Attempts by their places, whatever the planner knows of the table: each other
-- way compares every attempt of the tenant with every place.

CREATE FUNCTION svc.webhook_attempt_delete(places tid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = off AS $$
BEGIN
    DELETE FROM svc.webhook_attempt a WHERE a.ctid = ANY (places);
END
$$;

REVOKE ALL ON FUNCTION svc.webhook_attempt_delete(tid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.webhook_attempt_delete(tid[]) TO svc_app;
