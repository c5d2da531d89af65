-- Writes that cost what they change.
--
-- A generated column's expression and a CHECK are read from their stored text,
-- and planned, by each execution that may need them, and an update is a HOT one
-- only if no index has to do with what it changes, in its condition neither.  So
-- what follows from other columns, and which values there are, is now a
-- trigger's work; and who is not active is found in a table of its own.


-- From names follow the key and what is searched.  An update that sets names sets
-- those too: one that does not, or sets something else, is mended afterwards, since
-- a trigger before an update locks the row each time.  A new row has them also from
-- who loads without triggers.

ALTER TABLE svc.user_account
    ALTER COLUMN user_name_key DROP EXPRESSION,
    ALTER COLUMN search DROP EXPRESSION,
    SET (fillfactor = 80);

CREATE FUNCTION svc.user_search(user_name text, display_name text, first_name text,
    last_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT svc.search_text(' ' || user_name || coalesce(' ' || display_name, '')
        || coalesce(' ' || first_name, '') || coalesce(' ' || last_name, ''))
$$;

CREATE FUNCTION svc.user_names() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    key    text := lower(NEW.user_name);
    words  text := svc.user_search(NEW.user_name, NEW.display_name, NEW.first_name,
                                   NEW.last_name);
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.user_name_key := key;
        NEW.search := words;

    ELSIF NEW.user_name_key <> key OR NEW.search <> words THEN
        UPDATE svc.user_account u SET user_name_key = key, search = words
         WHERE u.tenant_id = NEW.tenant_id AND u.id = NEW.id;
    END IF;

    RETURN NEW;
END
$$;

CREATE TRIGGER user_names_insert BEFORE INSERT ON svc.user_account
    FOR EACH ROW EXECUTE FUNCTION svc.user_names();
CREATE TRIGGER user_names_update
    AFTER UPDATE OF user_name, display_name, first_name, last_name, user_name_key, search
    ON svc.user_account FOR EACH ROW EXECUTE FUNCTION svc.user_names();
ALTER TABLE svc.user_account ENABLE ALWAYS TRIGGER user_names_insert;


-- The users who are not active, as lists of a state show them.

CREATE TABLE svc.user_inactive (
    tenant_id   uuid            NOT NULL,
    status      text COLLATE "C" NOT NULL,
    created_at  timestamptz(3)  NOT NULL,
    id          uuid            NOT NULL,
    CONSTRAINT user_inactive_pkey PRIMARY KEY (tenant_id, status, created_at, id)
);

ALTER TABLE svc.user_inactive ALTER COLUMN tenant_id SET STATISTICS 0;

ALTER TABLE svc.user_inactive ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.user_inactive
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.user_inactive TO svc_app;

DROP TRIGGER user_count_change ON svc.user_account;
DROP TRIGGER user_count_status ON svc.user_account;
DROP FUNCTION svc.user_count_change();
DROP INDEX svc.user_account_status_idx;

ALTER TABLE svc.user_account
    DROP CONSTRAINT user_account_status_check,
    DROP CONSTRAINT user_account_source_check;


-- What follows from a user's status: where the user is found and counted, and that
-- who is not active has no session.  With the caller's rights and the caller's
-- search_path: to set either costs more than the function does.

CREATE FUNCTION svc.user_status() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    tenant  uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
    place   smallint := pg_backend_pid() % 32 * 8;
    a       integer := 0;
    s       integer := 0;
    d       integer := 0;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.status = OLD.status AND NEW.source = OLD.source
           AND NEW.created_at = OLD.created_at AND NEW.id = OLD.id
           AND NEW.tenant_id = OLD.tenant_id
        THEN
            RETURN NULL;
        END IF;

        IF NEW.tenant_id <> OLD.tenant_id THEN
            RAISE EXCEPTION 'a user stays in its tenant'
                USING ERRCODE = 'integrity_constraint_violation', SCHEMA = 'svc',
                      TABLE = 'user_account';
        END IF;

        IF NEW.status <> 'active' THEN
            UPDATE svc.session s SET ended_at = now()
             WHERE s.tenant_id = tenant AND s.user_id = NEW.id AND s.ended_at IS NULL;
        END IF;
    END IF;

    IF TG_OP <> 'INSERT' THEN
        a := - (OLD.status = 'active')::integer;
        s := - (OLD.status = 'suspended')::integer;
        d := - (OLD.status = 'deactivated')::integer;

        IF a = 0 THEN
            DELETE FROM svc.user_inactive i
             WHERE i.tenant_id = tenant AND i.status = OLD.status
               AND i.created_at = OLD.created_at AND i.id = OLD.id;
        END IF;
    END IF;

    IF TG_OP <> 'DELETE' THEN
        place := place + (get_byte(uuid_send(NEW.id), 15) & 7);

        CASE NEW.status
            WHEN 'active' THEN a := a + 1;
            WHEN 'suspended' THEN s := s + 1;
            WHEN 'deactivated' THEN d := d + 1;
            ELSE
                RAISE EXCEPTION 'there is no status "%"', NEW.status
                    USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                          CONSTRAINT = 'user_account_status_check';
        END CASE;

        IF NEW.source NOT IN ('local', 'invitation', 'scim', 'ldap', 'saml', 'social') THEN
            RAISE EXCEPTION 'there is no source "%"', NEW.source
                USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'user_account',
                      CONSTRAINT = 'user_account_source_check';
        END IF;

        IF NEW.status <> 'active' THEN
            INSERT INTO svc.user_inactive VALUES (tenant, NEW.status, NEW.created_at, NEW.id);
        END IF;
    END IF;

    UPDATE svc.user_count c
       SET active = c.active + a, suspended = c.suspended + s,
           deactivated = c.deactivated + d
     WHERE c.tenant_id = tenant AND c.shard = place;

    -- a tenant that is being deleted takes its counts along

    IF NOT FOUND AND EXISTS (SELECT FROM svc.tenant t WHERE t.id = tenant) THEN
        INSERT INTO svc.user_count AS c VALUES (tenant, place, a, s, d)
        ON CONFLICT (tenant_id, shard) DO UPDATE
           SET active = c.active + a, suspended = c.suspended + s,
               deactivated = c.deactivated + d;
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER user_status
    AFTER INSERT OR DELETE OR UPDATE OF status, source, created_at, id, tenant_id
    ON svc.user_account FOR EACH ROW EXECUTE FUNCTION svc.user_status();


-- And none begins: whoever makes a session waits for who is changing the user.

CREATE FUNCTION svc.session_live() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.ended_at IS NULL THEN
        PERFORM FROM svc.user_account u
          WHERE u.tenant_id = NEW.tenant_id AND u.id = NEW.user_id AND u.status = 'active'
            FOR SHARE;

        IF NOT FOUND THEN
            NEW.ended_at := now();
        END IF;
    END IF;

    RETURN NEW;
END
$$;

CREATE TRIGGER session_live BEFORE INSERT OR UPDATE OF ended_at ON svc.session
    FOR EACH ROW EXECUTE FUNCTION svc.session_live();

UPDATE svc.session s SET ended_at = now() FROM svc.user_account u
 WHERE u.tenant_id = s.tenant_id AND u.id = s.user_id AND u.status <> 'active'
   AND s.ended_at IS NULL;


-- Whoever loads users without triggers calls it.

CREATE OR REPLACE FUNCTION svc.user_recount() RETURNS void
LANGUAGE sql AS $$
    LOCK TABLE svc.user_account IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM svc.user_count;
    INSERT INTO svc.user_count
    SELECT tenant_id, 0, count(*) FILTER (WHERE status = 'active'),
           count(*) FILTER (WHERE status = 'suspended'),
           count(*) FILTER (WHERE status = 'deactivated')
      FROM svc.user_account GROUP BY tenant_id;
    DELETE FROM svc.user_inactive;
    INSERT INTO svc.user_inactive
    SELECT tenant_id, status, created_at, id FROM svc.user_account WHERE status <> 'active';
    UPDATE svc.role SET member_count = 0 WHERE member_count <> 0;
    INSERT INTO svc.role (tenant_id, key, name, permissions, member_count)
    SELECT tenant_id, role, role, '{}', count(*) FROM svc.user_account
     WHERE role NOT IN ('owner', 'admin', 'member')
       AND role ~ '^[a-z][a-z0-9_-]{1,62}$'
     GROUP BY tenant_id, role
        ON CONFLICT (tenant_id, key) DO UPDATE SET member_count = EXCLUDED.member_count;
$$;

SELECT svc.user_recount();


-- As before, but for the users of a state who are not active.

CREATE OR REPLACE FUNCTION svc.user_page(q text, wanted text, page integer, skip integer,
    OUT total bigint, OUT ids uuid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET jit = off AS $$
DECLARE
    tenant   uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    newest   integer;
    most     integer := 10000;
    pattern  text := svc.search_text(btrim(q));
    users    text := CASE WHEN wanted <> 'active' THEN 'svc.user_inactive'
                          ELSE 'svc.user_account' END
                     || ' u WHERE u.tenant_id = $1'
                     || coalesce(' AND u.status = ' || quote_literal(wanted), '')
                     || ' ORDER BY u.created_at DESC, u.id DESC';
    search   text := CASE WHEN wanted <> 'active'
                          THEN '(SELECT a.search FROM svc.user_account a'
                               ' WHERE a.tenant_id = u.tenant_id AND a.id = u.id)'
                          ELSE 'u.search' END;
    last     record;
BEGIN
    SELECT coalesce(sum(CASE wanted WHEN 'active' THEN c.active
                                    WHEN 'suspended' THEN c.suspended
                                    WHEN 'deactivated' THEN c.deactivated
                                    ELSE c.active + c.suspended + c.deactivated END), 0)
      INTO total FROM svc.user_count c WHERE c.tenant_id = tenant;

    IF coalesce(pattern, '') = '' THEN
        EXECUTE 'SELECT ARRAY(SELECT u.id FROM ' || users || ' LIMIT $2 OFFSET $3)'
           INTO ids USING tenant, page, skip;
        RETURN;
    END IF;

    IF char_length(pattern) < 3 THEN
        pattern := ' ' || pattern;
    END IF;

    -- those of a state lie far apart; the last is for what pg_trgm cannot look up

    newest := CASE WHEN pattern !~ '[[:alnum:]]{3}|[^[:alnum:]][[:alnum:]]'
                                   '|[[:alnum:]]{2}[^[:alnum:]]' THEN 2147483647
                   WHEN wanted <> 'active' THEN 60000
                   WHEN total <= 100000 THEN 100000
                   ELSE 30000 END;

    pattern := '%' || pattern || '%';

    EXECUTE 'SELECT ARRAY(SELECT s.id FROM (SELECT u.id, ' || search || ' AS search FROM '
            || users || ' LIMIT $2) s WHERE s.search LIKE $3 LIMIT $4)'
       INTO ids USING tenant, newest, pattern, most;

    IF total > newest AND cardinality(ids) < most THEN
        EXECUTE 'SELECT u.created_at, u.id FROM ' || users || ' LIMIT 1 OFFSET $2'
           INTO last USING tenant, newest - 1;

        ids := ids || svc.user_search_rest(tenant, pattern, wanted, last.created_at,
                                           last.id, most - cardinality(ids));
    END IF;

    total := cardinality(ids);
    ids := ids[least(skip, most) + 1 : least(skip, most) + page];
END
$$;


-- A condition is read from its text by each statement that inserts.

DROP TRIGGER role_count_insert ON svc.user_account;
CREATE TRIGGER role_count_insert AFTER INSERT ON svc.user_account
    FOR EACH ROW WHEN (NEW.role <> 'member') EXECUTE FUNCTION svc.role_count_change();


-- What writes an audit event has its outcome and its actor's type from the
-- modules' own constants.  The partitions have the same constraints.

DO $$
DECLARE
    t  regclass;
    c  text;
BEGIN
    FOR t IN SELECT relid FROM pg_partition_tree('svc.audit_event') ORDER BY level LOOP
        FOREACH c IN ARRAY ARRAY['audit_event_outcome_check', 'audit_event_actor_type_check']
        LOOP
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', t, c);
        END LOOP;
    END LOOP;
END
$$;


GRANT EXECUTE ON FUNCTION svc.user_search(text, text, text, text) TO svc_app;
