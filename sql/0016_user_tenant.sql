-- A user's tenant is there, and when it goes, its users go, without a foreign key
-- of the users' own: to check that costs each new user a lock on the tenant's one
-- row.  A new user changes a row of svc.user_count, which has a foreign key: it
-- is the guard of the users, too.

ALTER TABLE svc.user_account DROP CONSTRAINT user_account_tenant_id_fkey;


-- A new user is counted, or is refused as its count is; that of a tenant that is
-- being deleted needs none.  A condition with a sub-select costs a query, also
-- where the other half of it decides: so there are two.

DO $$
DECLARE
    old   text := pg_get_functiondef('svc.user_status()'::regprocedure);
    cond  text := 'EXISTS (SELECT FROM svc.tenant t WHERE t.id = tenant) THEN';
    new   text := replace(old, 'IF NOT FOUND AND ' || cond,
                          E'IF FOUND THEN\n        RETURN NULL;\n    END IF;\n\n'
                          '    IF TG_OP = ''INSERT'' OR ' || cond);
BEGIN
    IF new = old THEN
        RAISE EXCEPTION 'svc.user_status() is not as it was';
    END IF;

    EXECUTE new;
END
$$;


-- Who deletes a tenant locks its users before their counts, as everybody does.
-- To delete the counts is to wait for who is creating a user, and to hold up who
-- comes later.  Whoever is changing one of the users that have come in between may
-- need a count: so the counts are let go, and all begins again.

CREATE FUNCTION svc.tenant_users_lock() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counted  boolean;
BEGIN
    LOOP
        PERFORM FROM svc.user_account u WHERE u.tenant_id = OLD.id FOR UPDATE;
        counted := false;

        BEGIN
            DELETE FROM svc.user_count c WHERE c.tenant_id = OLD.id;
            counted := true;
            PERFORM FROM svc.user_account u WHERE u.tenant_id = OLD.id FOR UPDATE NOWAIT;
            RETURN NULL;
        EXCEPTION WHEN lock_not_available THEN
            IF NOT counted THEN         -- by lock_timeout
                RAISE;
            END IF;
        END;
    END LOOP;
END
$$;

CREATE FUNCTION svc.tenant_users_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM svc.user_account;
    ELSE
        DELETE FROM svc.user_account u WHERE u.tenant_id = OLD.id;
    END IF;

    RETURN NULL;
END
$$;

-- Triggers fire in the order of their names, and those of foreign keys, which
-- delete counts and roles, begin with "RI_".  The users are locked before, and
-- deleted when there is nothing left that counts them.

CREATE TRIGGER "FK_user_account" AFTER DELETE ON svc.tenant
    FOR EACH ROW EXECUTE FUNCTION svc.tenant_users_lock();
CREATE TRIGGER user_account_delete AFTER DELETE ON svc.tenant
    FOR EACH ROW EXECUTE FUNCTION svc.tenant_users_delete();
CREATE TRIGGER user_account_truncate AFTER TRUNCATE ON svc.tenant
    FOR EACH STATEMENT EXECUTE FUNCTION svc.tenant_users_delete();
