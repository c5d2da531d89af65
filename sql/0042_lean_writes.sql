-- serves: 1
--
-- Writes of users for what they must cost.
--
-- The condition of a trigger is read from its text by each statement that may fire it, and
-- a function of PL/pgSQL pays for each of its expressions in each transaction.  So each
-- kind of write has one trigger, whose function has the conditions, and goes the way of
-- nearly all in as few expressions as there can be.  A condition is left to a trigger
-- where it is a short one that nearly nobody meets.


-- A new row's key and what is searched.

CREATE FUNCTION svc.user_names_new() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.user_name_key := svc.address_key(NEW.user_name);
    NEW.search := svc.user_search(NEW.user_name, NEW.display_name, NEW.first_name,
                                  NEW.last_name);
    RETURN NEW;
END
$$;

DROP TRIGGER user_names_insert ON svc.user_account;
CREATE TRIGGER user_names_insert BEFORE INSERT ON svc.user_account
    FOR EACH ROW EXECUTE FUNCTION svc.user_names_new();
ALTER TABLE svc.user_account ENABLE ALWAYS TRIGGER user_names_insert;


-- Those of a changed one: as of 0035.

CREATE OR REPLACE FUNCTION svc.user_names() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    key    text;
    words  text;
BEGIN
    IF NEW.user_name_key = svc.address_key(NEW.user_name)
       AND NEW.search = svc.user_search(NEW.user_name, NEW.display_name, NEW.first_name,
                                        NEW.last_name)
    THEN
        RETURN NULL;
    END IF;

    key := svc.address_key(NEW.user_name);
    words := svc.user_search(NEW.user_name, NEW.display_name, NEW.first_name,
                             NEW.last_name);

    IF NEW.user_name_key = svc.address_key_double(key, NEW.id)
       AND EXISTS (SELECT FROM svc.user_account u
                    WHERE u.tenant_id = NEW.tenant_id AND u.user_name_key = key)
    THEN
        key := NEW.user_name_key;
    END IF;

    IF NEW.user_name_key <> key OR NEW.search <> words THEN
        UPDATE svc.user_account u SET user_name_key = key, search = words
         WHERE u.tenant_id = NEW.tenant_id AND u.id = NEW.id;
    END IF;

    RETURN NULL;
END
$$;


-- Before a change of the status: since when somebody is not active is kept.  (And who is
-- active is a resource of SCIM: of nearly nobody that is to be said.)

CREATE OR REPLACE FUNCTION svc.user_inactive_since() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'active' AND OLD.valid_after IS NOT NULL THEN
        NEW.valid_after := OLD.valid_after;

    ELSIF NEW.valid_after IS NOT DISTINCT FROM OLD.valid_after THEN
        NEW.valid_after := clock_timestamp();
    END IF;

    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION svc.user_scim_back() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status = 'active' THEN
        NEW.scim_deleted := false;
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER user_scim_back ON svc.user_account;
CREATE TRIGGER user_scim_back BEFORE UPDATE OF status ON svc.user_account
    FOR EACH ROW WHEN (OLD.scim_deleted)
    EXECUTE FUNCTION svc.user_scim_back();


-- A new user is counted, and listed if it is not active.  Nearly all are active, and of
-- the day that the row of their count is of.
--
-- This and the next ones have their owner's rights: the row that they are for has passed
-- the policies, and they name its tenant.  The conditions of the policies of what they
-- write would be a third of what they cost.

CREATE FUNCTION svc.user_new() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    place  smallint;
    today  date;
    last   date;
BEGIN
    IF NEW.status = 'active' AND NOT NEW.mfa_enrolled AND NOT NEW.scim_deleted
       AND NEW.source IN ('local', 'invitation', 'scim', 'ldap', 'saml', 'social')
    THEN
        UPDATE svc.user_count c SET active = c.active + 1, added = c.added + 1
         WHERE c.tenant_id = NEW.tenant_id
           AND c.shard = (pg_backend_pid() % 32 * 8
                          + (get_byte(uuid_send(NEW.id), 15) & 7))::smallint
           AND c.day = (NEW.created_at AT TIME ZONE 'UTC')::date;

        IF FOUND THEN
            RETURN NULL;
        END IF;
    END IF;

    IF NEW.status NOT IN ('active', 'suspended', 'deactivated') THEN
        RAISE EXCEPTION 'there is no status "%"', NEW.status
            USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                  CONSTRAINT = 'user_account_status_check';
    END IF;

    IF NEW.source NOT IN ('local', 'invitation', 'scim', 'ldap', 'saml', 'social') THEN
        RAISE EXCEPTION 'there is no source "%"', NEW.source
            USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                  CONSTRAINT = 'user_account_source_check';
    END IF;

    IF NEW.status <> 'active' THEN
        INSERT INTO svc.user_inactive (tenant_id, status, created_at, id, scim_deleted)
        VALUES (NEW.tenant_id, NEW.status, NEW.created_at, NEW.id, NEW.scim_deleted);
    END IF;

    place := pg_backend_pid() % 32 * 8 + (get_byte(uuid_send(NEW.id), 15) & 7);
    today := (NEW.created_at AT TIME ZONE 'UTC')::date;

    INSERT INTO svc.user_count AS c (tenant_id, shard, active, suspended, deactivated, mfa,
                                     day, added, scim_deleted)
    VALUES (NEW.tenant_id, place, (NEW.status = 'active')::integer,
            (NEW.status = 'suspended')::integer, (NEW.status = 'deactivated')::integer,
            NEW.mfa_enrolled::integer, NULL, 1, NEW.scim_deleted::integer)
    ON CONFLICT (tenant_id, shard) DO UPDATE
       SET active = c.active + excluded.active, suspended = c.suspended + excluded.suspended,
           deactivated = c.deactivated + excluded.deactivated, mfa = c.mfa + excluded.mfa,
           added = c.added + 1, scim_deleted = c.scim_deleted + excluded.scim_deleted
    RETURNING c.day INTO last;

    IF last IS DISTINCT FROM today THEN
        PERFORM svc.user_added(NEW.tenant_id, place, today);
    END IF;

    RETURN NULL;
END
$$;


-- What follows from a change of who a user is: a token may have made it, the user is
-- found and counted elsewhere, and stays in the tenant.

CREATE FUNCTION svc.user_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    IF NEW.status = OLD.status THEN
        IF NEW.role = OLD.role AND NEW.source = OLD.source
           AND NEW.scim_deleted = OLD.scim_deleted AND NEW.created_at = OLD.created_at
           AND NEW.id = OLD.id AND NEW.tenant_id = OLD.tenant_id
        THEN
            RETURN NULL;
        END IF;
    END IF;

    -- that its maker is deactivated is not kept from a directory

    IF NEW.role <> OLD.role
       OR NEW.status <> OLD.status AND (OLD.role = 'owner' OR NEW.status = 'active')
    THEN
        IF NOT svc.token_acts(NEW.id, CASE WHEN 'owner' IN (OLD.role, NEW.role)
                                           THEN 'owner' ELSE NEW.role END)
        THEN
            RAISE EXCEPTION 'a token acts on an owner, or on its maker'
                USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                      CONSTRAINT = 'user_account_token_check';
        END IF;
    END IF;

    IF NEW.tenant_id <> OLD.tenant_id
       OR NEW.status NOT IN ('active', 'suspended', 'deactivated')
       OR NEW.source NOT IN ('local', 'invitation', 'scim', 'ldap', 'saml', 'social')
    THEN
        IF NEW.tenant_id <> OLD.tenant_id THEN
            RAISE EXCEPTION 'a user stays in its tenant'
                USING ERRCODE = 'integrity_constraint_violation', SCHEMA = 'svc',
                      TABLE = 'user_account';
        END IF;

        IF NEW.status NOT IN ('active', 'suspended', 'deactivated') THEN
            RAISE EXCEPTION 'there is no status "%"', NEW.status
                USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                      CONSTRAINT = 'user_account_status_check';
        END IF;

        RAISE EXCEPTION 'there is no source "%"', NEW.source
            USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                  CONSTRAINT = 'user_account_source_check';
    END IF;

    IF NEW.status = OLD.status THEN
        IF NEW.scim_deleted = OLD.scim_deleted AND NEW.created_at = OLD.created_at
           AND NEW.id = OLD.id
        THEN
            RETURN NULL;
        END IF;
    END IF;

    IF OLD.status <> 'active' THEN
        DELETE FROM svc.user_inactive i
         WHERE i.tenant_id = OLD.tenant_id AND i.status = OLD.status
           AND i.created_at = OLD.created_at AND i.id = OLD.id;
    END IF;

    IF NEW.status <> 'active' THEN
        INSERT INTO svc.user_inactive (tenant_id, status, created_at, id, scim_deleted)
        VALUES (NEW.tenant_id, NEW.status, NEW.created_at, NEW.id, NEW.scim_deleted);
    END IF;

    UPDATE svc.user_count c
       SET active = c.active + (NEW.status = 'active')::integer
                    - (OLD.status = 'active')::integer,
           suspended = c.suspended + (NEW.status = 'suspended')::integer
                       - (OLD.status = 'suspended')::integer,
           deactivated = c.deactivated + (NEW.status = 'deactivated')::integer
                         - (OLD.status = 'deactivated')::integer,
           scim_deleted = c.scim_deleted + NEW.scim_deleted::integer
                          - OLD.scim_deleted::integer
     WHERE c.tenant_id = NEW.tenant_id
       AND c.shard = (pg_backend_pid() % 32 * 8
                      + (get_byte(uuid_send(NEW.id), 15) & 7))::smallint;

    IF FOUND THEN
        RETURN NULL;
    END IF;

    -- a tenant that is being deleted takes its counts along

    INSERT INTO svc.user_count AS c (tenant_id, shard, active, suspended, deactivated,
                                     scim_deleted)
    SELECT NEW.tenant_id, pg_backend_pid() % 32 * 8
                          + (get_byte(uuid_send(NEW.id), 15) & 7),
           (NEW.status = 'active')::integer - (OLD.status = 'active')::integer,
           (NEW.status = 'suspended')::integer - (OLD.status = 'suspended')::integer,
           (NEW.status = 'deactivated')::integer - (OLD.status = 'deactivated')::integer,
           NEW.scim_deleted::integer - OLD.scim_deleted::integer
     WHERE EXISTS (SELECT FROM svc.tenant t WHERE t.id = NEW.tenant_id)
    ON CONFLICT (tenant_id, shard) DO UPDATE
       SET active = c.active + excluded.active, suspended = c.suspended + excluded.suspended,
           deactivated = c.deactivated + excluded.deactivated,
           scim_deleted = c.scim_deleted + excluded.scim_deleted;

    RETURN NULL;
END
$$;


-- Whose address changes: a token may have made it.

CREATE OR REPLACE FUNCTION svc.user_token_check() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT svc.token_acts(NEW.id, CASE WHEN 'owner' IN (OLD.role, NEW.role)
                                       THEN 'owner' ELSE NEW.role END)
    THEN
        RAISE EXCEPTION 'a token acts on an owner, or on its maker'
            USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                  CONSTRAINT = 'user_account_token_check';
    END IF;

    RETURN NULL;
END
$$;


-- Who has gone is neither counted nor listed.

CREATE FUNCTION svc.user_gone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    IF OLD.status <> 'active' THEN
        DELETE FROM svc.user_inactive i
         WHERE i.tenant_id = OLD.tenant_id AND i.status = OLD.status
           AND i.created_at = OLD.created_at AND i.id = OLD.id;
    END IF;

    UPDATE svc.user_count c
       SET active = c.active - (OLD.status = 'active')::integer,
           suspended = c.suspended - (OLD.status = 'suspended')::integer,
           deactivated = c.deactivated - (OLD.status = 'deactivated')::integer,
           mfa = c.mfa - OLD.mfa_enrolled::integer,
           scim_deleted = c.scim_deleted - OLD.scim_deleted::integer
     WHERE c.tenant_id = OLD.tenant_id AND c.shard = (pg_backend_pid() % 32 * 8)::smallint;

    IF FOUND THEN
        RETURN NULL;
    END IF;

    -- a tenant that is being deleted takes its counts along

    INSERT INTO svc.user_count AS c (tenant_id, shard, active, suspended, deactivated, mfa,
                                     scim_deleted)
    SELECT OLD.tenant_id, pg_backend_pid() % 32 * 8, - (OLD.status = 'active')::integer,
           - (OLD.status = 'suspended')::integer, - (OLD.status = 'deactivated')::integer,
           - OLD.mfa_enrolled::integer, - OLD.scim_deleted::integer
     WHERE EXISTS (SELECT FROM svc.tenant t WHERE t.id = OLD.tenant_id)
    ON CONFLICT (tenant_id, shard) DO UPDATE
       SET active = c.active + excluded.active, suspended = c.suspended + excluded.suspended,
           deactivated = c.deactivated + excluded.deactivated, mfa = c.mfa + excluded.mfa,
           scim_deleted = c.scim_deleted + excluded.scim_deleted;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.user_names_new, svc.user_new, svc.user_changed, svc.user_gone
    FROM PUBLIC;

DROP TRIGGER user_status ON svc.user_account;
DROP TRIGGER user_status_scim_insert ON svc.user_account;
DROP TRIGGER user_status_scim_update ON svc.user_account;
DROP TRIGGER user_status_scim_delete ON svc.user_account;
DROP TRIGGER user_token_check ON svc.user_account;
DROP FUNCTION svc.user_status();
DROP FUNCTION svc.user_scim();

CREATE TRIGGER user_status_insert AFTER INSERT ON svc.user_account
    FOR EACH ROW EXECUTE FUNCTION svc.user_new();

-- Two, of which one fires: nearly all that changes other columns sets a status, too, to
-- what it was, and what compares it is short.

CREATE TRIGGER user_status_update AFTER UPDATE OF status ON svc.user_account
    FOR EACH ROW WHEN (OLD.status <> NEW.status)
    EXECUTE FUNCTION svc.user_changed();
CREATE TRIGGER user_status_other
    AFTER UPDATE OF role, scim_deleted, source, created_at, id, tenant_id
    ON svc.user_account FOR EACH ROW WHEN (OLD.status = NEW.status)
    EXECUTE FUNCTION svc.user_changed();
CREATE TRIGGER user_token_check AFTER UPDATE OF user_name_key ON svc.user_account
    FOR EACH ROW WHEN (OLD.user_name_key <> NEW.user_name_key)
    EXECUTE FUNCTION svc.user_token_check();
CREATE TRIGGER user_status_delete AFTER DELETE ON svc.user_account
    FOR EACH ROW EXECUTE FUNCTION svc.user_gone();


-- Whether the caller, if it is a token, may act on a user: as of 0036.  "svc.token" is
-- its id, a blank, and its name, where the statements have the rest of what is audited as
-- parameters; otherwise the settings of the audit log tell.

CREATE OR REPLACE FUNCTION svc.token_acts(who uuid, held text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    caller  text := nullif(current_setting('svc.token', true), '');
    tenant  uuid;
    token   record;
BEGIN
    IF caller IS NULL THEN
        IF coalesce(current_setting('svc.actor_type', true), '') NOT IN ('apiToken', 'scim')
        THEN
            RETURN true;
        END IF;

        caller := nullif(current_setting('svc.actor_id', true), '');
    END IF;

    tenant := nullif(current_setting('svc.tenant', true), '')::uuid;

    SELECT c.maker, c.owner INTO token FROM svc.credential c
     WHERE c.tenant_id = tenant AND c.id = left(caller, 36)::uuid;

    RETURN coalesce(token.owner OR held <> 'owner', false)
       AND coalesce(token.maker <> who, true);
END
$$;


-- Of whom tokens are that outlive what their maker may do: as of 0036.

CREATE OR REPLACE FUNCTION svc.user_maker_lost() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    three  text[] := '{members:manage,roles:manage,tenant:manage}';
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT FROM svc.tenant t WHERE t.id = OLD.tenant_id) THEN
            PERFORM svc.token_maker_lost(OLD.tenant_id, OLD.id, 'erased', three);
        END IF;

    ELSIF NEW.status <> 'active' THEN
        IF OLD.status = 'active'
           OR OLD.role <> NEW.role AND NEW.role <> 'owner' AND NEW.role <> 'admin'
        THEN
            PERFORM svc.token_maker_lost(NEW.tenant_id, NEW.id, NEW.status, three);
        END IF;

    ELSIF OLD.role <> NEW.role AND NEW.role <> 'owner' AND NEW.role <> 'admin' THEN
        PERFORM svc.token_maker_lost(NEW.tenant_id, NEW.id, 'role', ARRAY(
            SELECT unnest(three)
            EXCEPT
            SELECT unnest(r.permissions) FROM svc.role r
             WHERE r.tenant_id = NEW.tenant_id AND r.key = NEW.role));
    END IF;

    RETURN NULL;
END
$$;

DROP TRIGGER user_maker_lost ON svc.user_account;
CREATE TRIGGER user_maker_lost AFTER UPDATE OF role, status ON svc.user_account
    FOR EACH ROW WHEN (OLD.role <> 'member')
    EXECUTE FUNCTION svc.user_maker_lost();


-- The indexes of users, and what reads them.  Each of them is a fiftieth of what a new user
-- costs, and a condition of one a part of that for who does not meet it, too.
--
--     pkey             (tenant_id, id)               all that names a user
--     user_name_key    (tenant_id, user_name_key)    sign-in, filters of SCIM, conflicts
--     external_id_key  (tenant_id, external_id)      filters of SCIM, conflicts
--     created_idx      (tenant_id, created_at, id)   lists of users, searches of the newest
--     scim_idx         the same, NOT scim_deleted    pages of SCIM, by their numbers
--     unindexed_idx    the same, NOT indexed         svc.user_index(), the rest of a search
--     search_idx       GIN (search), indexed         searches among more than 100,000: new
--                                                    users are not in it (0013)
--     role_idx         (tenant_id, role, created_at, id), role <> 'member'
--                                                    members by role, owners, how many have
--                                                    a role of the system
--
-- Of role_idx owner_idx and admin_idx were parts, and no statement looks for users who are
-- deleted in SCIM but by their keys.
--
-- Of events: the primary key is for lists and exports, follow_idx for who follows the log,
-- and id_idx for a stream that is resumed, which knows an id alone.

DROP INDEX svc.user_account_owner_idx;
DROP INDEX svc.user_account_admin_idx;
DROP INDEX svc.user_account_scim_deleted_idx;
