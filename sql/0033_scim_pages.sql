-- Users as SCIM sees them in the mode rfc: pages that cost the same however many are
-- deleted, and an administrator's word that somebody is back.
--
-- Nobody uses a table meanwhile, as with each migration, and here two indexes are built.
-- Where there are millions of users that of all can be built before, CONCURRENTLY and by
-- this name: it is left as it is then, unless that has failed.  The other one, of those
-- who are not active, needs a column of this migration.

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_index i
                WHERE i.indexrelid = to_regclass('svc.user_account_scim_idx')
                  AND NOT i.indisvalid)
    THEN
        DROP INDEX svc.user_account_scim_idx;
    END IF;
END
$$;

CREATE INDEX IF NOT EXISTS user_account_scim_idx
    ON svc.user_account (tenant_id, created_at, id) WHERE NOT scim_deleted;


-- How many of the users are deleted, and which of those who are not active.

ALTER TABLE svc.user_count ADD COLUMN scim_deleted bigint NOT NULL DEFAULT 0;
ALTER TABLE svc.user_inactive ADD COLUMN scim_deleted boolean NOT NULL DEFAULT false;

GRANT UPDATE (scim_deleted) ON svc.user_count TO svc_app;
GRANT UPDATE (scim_deleted) ON svc.user_inactive TO svc_app;

CREATE FUNCTION svc.user_scim() RETURNS trigger
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    tenant  uuid := coalesce(NEW.tenant_id, OLD.tenant_id);
    place   smallint := pg_backend_pid() % 32 * 8
                        + (get_byte(uuid_send(coalesce(NEW.id, OLD.id)), 15) & 7);
    n       integer := coalesce(NEW.scim_deleted, false)::integer
                       - coalesce(OLD.scim_deleted, false)::integer;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        UPDATE svc.user_inactive i SET scim_deleted = NEW.scim_deleted
         WHERE i.tenant_id = tenant AND i.status = NEW.status
           AND i.created_at = NEW.created_at AND i.id = NEW.id;
    END IF;

    IF n = 0 THEN
        RETURN NULL;
    END IF;

    UPDATE svc.user_count c SET scim_deleted = c.scim_deleted + n
     WHERE c.tenant_id = tenant AND c.shard = place;

    -- a tenant that is being deleted takes its counts along

    IF NOT FOUND AND EXISTS (SELECT FROM svc.tenant t WHERE t.id = tenant) THEN
        INSERT INTO svc.user_count AS c
               (tenant_id, shard, active, suspended, deactivated, scim_deleted)
        VALUES (tenant, place, 0, 0, 0, n)
        ON CONFLICT (tenant_id, shard) DO UPDATE SET scim_deleted = c.scim_deleted + n;
    END IF;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.user_scim FROM PUBLIC;

-- Of any column: another trigger may be who changes this one.  They go by their names,
-- and these behind user_status, which makes the rows of user_inactive.

CREATE TRIGGER user_status_scim_update AFTER UPDATE ON svc.user_account
    FOR EACH ROW WHEN (OLD.scim_deleted <> NEW.scim_deleted
                       OR NEW.scim_deleted
                          AND (OLD.status, OLD.created_at, OLD.id)
                              <> (NEW.status, NEW.created_at, NEW.id))
    EXECUTE FUNCTION svc.user_scim();
CREATE TRIGGER user_status_scim_insert AFTER INSERT ON svc.user_account
    FOR EACH ROW WHEN (NEW.scim_deleted)
    EXECUTE FUNCTION svc.user_scim();
CREATE TRIGGER user_status_scim_delete AFTER DELETE ON svc.user_account
    FOR EACH ROW WHEN (OLD.scim_deleted)
    EXECUTE FUNCTION svc.user_scim();


-- Who is active is a resource of SCIM, whoever has reactivated the user: no account works
-- that the identity provider can neither see nor deactivate.

CREATE FUNCTION svc.user_scim_back() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.scim_deleted := false;

    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION svc.user_scim_back FROM PUBLIC;

CREATE TRIGGER user_scim_back BEFORE UPDATE OF status ON svc.user_account
    FOR EACH ROW WHEN (OLD.scim_deleted AND NEW.status = 'active')
    EXECUTE FUNCTION svc.user_scim_back();


-- The users there are.

LOCK TABLE svc.user_account IN SHARE ROW EXCLUSIVE MODE;

INSERT INTO svc.user_count (tenant_id, shard, active, suspended, deactivated, scim_deleted)
SELECT u.tenant_id, 0, 0, 0, 0, count(*) FROM svc.user_account u
 WHERE u.scim_deleted GROUP BY u.tenant_id
    ON CONFLICT (tenant_id, shard) DO UPDATE SET scim_deleted = excluded.scim_deleted;

UPDATE svc.user_account a
   SET scim_deleted = false,
       updated_at = greatest(now(), a.updated_at + interval '1 millisecond')
 WHERE a.scim_deleted AND a.status = 'active';

UPDATE svc.user_inactive i SET scim_deleted = true
  FROM svc.user_account u
 WHERE u.scim_deleted AND u.tenant_id = i.tenant_id AND u.id = i.id;

CREATE INDEX user_inactive_scim_idx
    ON svc.user_inactive (tenant_id, created_at, id) WHERE NOT scim_deleted;


-- Whoever loads users without triggers calls it.

CREATE OR REPLACE FUNCTION svc.user_recount() RETURNS void
LANGUAGE sql AS $$
    LOCK TABLE svc.user_account IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM svc.user_count;
    INSERT INTO svc.user_count (tenant_id, shard, active, suspended, deactivated, mfa,
                                scim_deleted)
    SELECT tenant_id, 0, count(*) FILTER (WHERE status = 'active'),
           count(*) FILTER (WHERE status = 'suspended'),
           count(*) FILTER (WHERE status = 'deactivated'),
           count(*) FILTER (WHERE mfa_enrolled),
           count(*) FILTER (WHERE scim_deleted)
      FROM svc.user_account GROUP BY tenant_id;
    UPDATE svc.stat_day SET new_users = 0 WHERE new_users <> 0;
    INSERT INTO svc.stat_day AS s (tenant_id, day, shard, new_users)
    SELECT tenant_id, (created_at AT TIME ZONE 'UTC')::date, 0, count(*)
      FROM svc.user_account WHERE created_at > now() - interval '91 days'
     GROUP BY 1, 2
        ON CONFLICT (tenant_id, day, shard) DO UPDATE SET new_users = excluded.new_users;
    DELETE FROM svc.user_inactive;
    INSERT INTO svc.user_inactive (tenant_id, status, created_at, id, scim_deleted)
    SELECT tenant_id, status, created_at, id, scim_deleted
      FROM svc.user_account WHERE status <> 'active';
    UPDATE svc.role SET member_count = 0 WHERE member_count <> 0;
    INSERT INTO svc.role (tenant_id, key, name, permissions, member_count)
    SELECT tenant_id, role, role, '{}', count(*) FROM svc.user_account
     WHERE role NOT IN ('owner', 'admin', 'member')
       AND role ~ '^[a-z][a-z0-9_-]{1,62}$'
     GROUP BY tenant_id, role
        ON CONFLICT (tenant_id, key) DO UPDATE SET member_count = EXCLUDED.member_count;
$$;
