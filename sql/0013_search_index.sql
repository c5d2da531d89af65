-- Of users only those are in the index of the search whom a search looks up there.
--
-- The newest users of a tenant are looked at one by one: all of up to 100,000, or
-- the newest 30,000.  For nearly all tenants the index was never read, and it was
-- a third of what a new user cost.  A task of the modules now takes the older
-- users of big tenants into it, and leaves the newest 20,000; a search looks one
-- by one at those who ought to be in it and are not.

ALTER TABLE svc.user_account ADD COLUMN indexed boolean NOT NULL DEFAULT false;

DROP INDEX svc.user_account_search_idx;
CREATE INDEX user_account_unindexed_idx
    ON svc.user_account (tenant_id, created_at, id) WHERE NOT indexed;

DO $$
BEGIN
    EXECUTE format('CREATE INDEX user_account_search_idx ON svc.user_account'
                   ' USING gin (tenant_id, search %I.gin_trgm_ops)'
                   ' WITH (fastupdate = on, gin_pending_list_limit = 256) WHERE indexed',
                   (SELECT n.nspname FROM pg_extension e
                      JOIN pg_namespace n ON n.oid = e.extnamespace
                     WHERE e.extname = 'pg_trgm'));
END
$$;


-- Those that remain behind the newest ones.

CREATE OR REPLACE FUNCTION svc.user_search_rest(tenant uuid, pattern text, wanted text,
    before_at timestamptz, before_id uuid, most integer) RETURNS uuid[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_indexscan = off
SET enable_bitmapscan = on SET enable_sort = on
SET jit = off SET work_mem = '16MB' AS $$
BEGIN
    -- a CASE is no condition for a second index

    RETURN ARRAY(
        SELECT s.id FROM (
            (SELECT u.id, u.created_at FROM svc.user_account u
              WHERE u.tenant_id = tenant AND u.indexed AND u.search LIKE pattern
                AND CASE WHEN wanted IS NOT NULL THEN u.status = wanted ELSE true END
                AND CASE WHEN (u.created_at, u.id) < (before_at, before_id) THEN true END
              LIMIT most)
            UNION ALL
            (SELECT u.id, u.created_at FROM svc.user_account u
              WHERE u.tenant_id = tenant AND NOT u.indexed
                AND (u.created_at, u.id) < (before_at, before_id)
                AND CASE WHEN u.search LIKE pattern THEN true END
                AND CASE WHEN wanted IS NOT NULL THEN u.status = wanted ELSE true END
              LIMIT most)) s
         ORDER BY s.created_at DESC, s.id DESC LIMIT most);
END
$$;


-- Takes some of the oldest users of big tenants into the index, and returns how
-- many.  Who is being changed is left for the next time.

CREATE FUNCTION svc.user_index(most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET jit = off AS $$
DECLARE
    tenant   uuid;
    keep     integer := 20000;
    newest   timestamptz;
    n        integer;
    done     integer := 0;
BEGIN
    -- behind who loads users nobody waits

    BEGIN
        LOCK TABLE svc.user_account IN ROW EXCLUSIVE MODE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN 0;
    END;

    FOR tenant IN
        SELECT c.tenant_id FROM svc.user_count c GROUP BY c.tenant_id
        HAVING sum(c.active + c.suspended + c.deactivated) > 100000
    LOOP
        SELECT u.created_at INTO newest FROM svc.user_account u
         WHERE u.tenant_id = tenant AND NOT u.indexed
         ORDER BY u.created_at DESC, u.id DESC LIMIT 1 OFFSET keep;

        CONTINUE WHEN NOT FOUND;

        UPDATE svc.user_account a SET indexed = true
          FROM (SELECT u.id FROM svc.user_account u
                 WHERE u.tenant_id = tenant AND NOT u.indexed AND u.created_at <= newest
                 ORDER BY u.created_at, u.id LIMIT most - done
                   FOR NO KEY UPDATE SKIP LOCKED) o
         WHERE a.tenant_id = tenant AND a.id = o.id;
        GET DIAGNOSTICS n = ROW_COUNT;

        done := done + n;
        EXIT WHEN done >= most;
    END LOOP;

    RETURN done;
END
$$;

REVOKE ALL ON FUNCTION svc.user_index(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.user_index(integer) TO svc_app;


-- A plan that was made while a table was empty is kept when it no longer is.

ALTER FUNCTION svc.user_status() SET enable_seqscan = off;
