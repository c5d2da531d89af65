-- Outbound SCIM: a sync reads the target's own list, page by page, and what is there as it
-- is to be is not read once more; a sync that a failure of the target breaks off goes on
-- behind it; and a helper that lost an answer learns which targets it has.

ALTER TABLE svc.scim_target
    ADD COLUMN sync_was   text COLLATE "C",     -- what "failing" has come over
    ADD COLUMN list_next  integer;              -- of its list; NULL: it is not read

ALTER TABLE svc.scim_item
    ADD COLUMN seen       uuid;                 -- sync that found it as it is to be


-- As of 0030; "has" less than 0: the helper does not know which targets it has, and all
-- of them are named.

CREATE OR REPLACE FUNCTION svc.scim_claim(helper text, has integer, most integer)
    RETURNS TABLE (kept boolean, share integer, tenant_id uuid, id uuid)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
DECLARE
    unsure  boolean := has < 0;
    gone    text[];
    free    integer;
    others  integer;
    theirs  bigint;
BEGIN
    WITH d AS (
        DELETE FROM svc.scim_helper h WHERE h.id = ANY (ARRAY(
            SELECT o.id FROM svc.scim_helper o WHERE o.lease_until < clock_timestamp()
             ORDER BY o.id LIMIT 100 FOR UPDATE SKIP LOCKED))
        RETURNING h.id
    )
    SELECT array_agg(d.id) INTO gone FROM d;

    IF gone IS NOT NULL THEN
        UPDATE svc.scim_target t SET lease_by = NULL WHERE t.lease_by = ANY (gone);
    END IF;

    IF unsure THEN
        SELECT count(*) INTO has FROM svc.scim_target t WHERE t.lease_by = helper;
    END IF;

    UPDATE svc.scim_helper h
       SET lease_until = clock_timestamp() + interval '30 seconds', targets = has
     WHERE h.id = helper;
    kept := FOUND;

    IF NOT kept THEN
        has := 0;
        INSERT INTO svc.scim_helper AS h (id, lease_until, targets)
        VALUES (helper, clock_timestamp() + interval '30 seconds', 0)
        ON CONFLICT DO NOTHING;
    END IF;

    SELECT count(*), coalesce(sum(h.targets), 0) INTO others, theirs
      FROM svc.scim_helper h WHERE h.id <> helper;
    SELECT count(*) INTO free FROM (
        SELECT FROM svc.scim_target t WHERE t.lease_by IS NULL LIMIT 10000) f;

    share := ceil((theirs + has + free) / (others + 1.0));
    RETURN NEXT;

    IF unsure THEN
        RETURN QUERY SELECT NULL::boolean, NULL::integer, t.tenant_id, t.id
                       FROM svc.scim_target t WHERE t.lease_by = helper;
    END IF;

    IF free > 0 THEN
        kept := NULL;

        FOR tenant_id, id IN
            UPDATE svc.scim_target t SET lease_by = helper
             WHERE (t.tenant_id, t.id) IN (
                SELECT f.tenant_id, f.id FROM svc.scim_target f
                 WHERE f.lease_by IS NULL
                 LIMIT greatest(least(most, share - has, 1000), 0) FOR NO KEY UPDATE SKIP LOCKED)
            RETURNING t.tenant_id, t.id
        LOOP
            RETURN NEXT;
        END LOOP;
    END IF;
END
$$;
