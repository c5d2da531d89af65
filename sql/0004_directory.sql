-- The directory of the admin API: users, how many there are, a search for
-- them, and groups.

CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS pg_trgm;


-- What is searched: lower-case words, a blank before each.  The punctuation of
-- e-mail addresses and names stands as upper-case letters, so that pg_trgm takes
-- it for parts of words, and none of it is special in a pattern.  (A chain of
-- replace() takes a tenth of the time of one translate().)

CREATE FUNCTION svc.search_text(what text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT replace(replace(replace(replace(replace(replace(replace(replace(
               lower(what), '@', 'A'), '.', 'B'), '-', 'C'), '_', 'D'),
               '+', 'E'), '''', 'F'), '%', 'G'), '\', 'H')
$$;

ALTER TABLE svc.user_account
    ADD COLUMN locked_until   timestamptz(3),
    ADD COLUMN failed_logins  integer         NOT NULL DEFAULT 0,
    ADD COLUMN mfa_enrolled   boolean         NOT NULL DEFAULT false,
    ADD COLUMN last_login_at  timestamptz(3),
    ADD COLUMN search         text COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        svc.search_text(' ' || user_name || coalesce(' ' || display_name, '')
            || coalesce(' ' || first_name, '') || coalesce(' ' || last_name, ''))
    ) STORED;

CREATE INDEX user_account_status_idx
    ON svc.user_account (tenant_id, status, created_at, id) WHERE status <> 'active';
CREATE INDEX user_account_owner_idx
    ON svc.user_account (tenant_id, id) WHERE role = 'owner';

GRANT DELETE ON svc.user_account TO svc_app;

-- What an erased user's sessions are found by, the ended ones too.

CREATE INDEX session_user_idx ON svc.session (tenant_id, user_id);


-- An operator class that is not the type's own is named with its schema, and
-- that is the one that the extension was created in, now or before.  A search
-- reads the pending list besides the index: it is a short one.

DO $$
BEGIN
    EXECUTE format('CREATE INDEX user_account_search_idx ON svc.user_account'
                   ' USING gin (tenant_id, search %I.gin_trgm_ops)'
                   ' WITH (fastupdate = on, gin_pending_list_limit = 256)',
                   (SELECT n.nspname FROM pg_extension e
                      JOIN pg_namespace n ON n.oid = e.extnamespace
                     WHERE e.extname = 'pg_trgm'));
END
$$;


-- How many users a tenant has: the sum over its rows.  Sessions that create
-- users at the same time change different rows, mostly, and one row has all
-- states, so that a transaction takes one lock for each of its users.  Room is
-- left in the pages for HOT updates.
--
-- A transaction that changes a row n times leaves n versions of it to step
-- over: whoever loads some 10,000 users or more in one goes without triggers
-- (session_replication_role = replica), and then calls svc.user_recount().

CREATE TABLE svc.user_count (
    tenant_id    uuid      NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    shard        smallint  NOT NULL,
    active       bigint    NOT NULL,
    suspended    bigint    NOT NULL,
    deactivated  bigint    NOT NULL,
    CONSTRAINT user_count_pkey PRIMARY KEY (tenant_id, shard)
) WITH (fillfactor = 20);

ALTER TABLE svc.user_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.user_count
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE (active, suspended, deactivated) ON svc.user_count TO svc_app;


-- For the owner alone.

CREATE FUNCTION svc.user_recount() RETURNS void
LANGUAGE sql AS $$
    LOCK TABLE svc.user_account IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM svc.user_count;
    INSERT INTO svc.user_count
    SELECT tenant_id, 0, count(*) FILTER (WHERE status = 'active'),
           count(*) FILTER (WHERE status = 'suspended'),
           count(*) FILTER (WHERE status = 'deactivated')
      FROM svc.user_account GROUP BY tenant_id;
$$;

REVOKE ALL ON FUNCTION svc.user_recount() FROM PUBLIC;


-- With the caller's rights and the caller's search_path: to set either costs
-- more than the function does.

CREATE FUNCTION svc.user_count_change() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    tenant  uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
    place   smallint := pg_backend_pid() % 32 * 8;
    a       integer := 0;
    s       integer := 0;
    d       integer := 0;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        place := place + (get_byte(uuid_send(NEW.id), 15) & 7);
        a := (NEW.status = 'active')::integer;
        s := (NEW.status = 'suspended')::integer;
        d := (NEW.status = 'deactivated')::integer;
    END IF;

    IF TG_OP <> 'INSERT' THEN
        a := a - (OLD.status = 'active')::integer;
        s := s - (OLD.status = 'suspended')::integer;
        d := d - (OLD.status = 'deactivated')::integer;
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

CREATE TRIGGER user_count_change AFTER INSERT OR DELETE ON svc.user_account
    FOR EACH ROW EXECUTE FUNCTION svc.user_count_change();
CREATE TRIGGER user_count_status AFTER UPDATE OF status ON svc.user_account
    FOR EACH ROW WHEN (OLD.status <> NEW.status)
    EXECUTE FUNCTION svc.user_count_change();

SELECT svc.user_recount();


-- A page of a tenant's users, the newest first, and how many there are.
--
-- Row-level security would keep a search from its index: these two functions
-- see all tenants, and name the tenant themselves.  What they return is ids,
-- whose rows the caller reads under the policies.
--
-- A search looks at the newest users one by one, five of them in a microsecond:
-- that is all there is to do for most tenants, and for a text that many users
-- have.  What then remains is found by the index.  Over 10,000 matches are not
-- counted, nor are they all listed: of what the index has found it is not the
-- newest ones then, but their order is still that of the list.

CREATE FUNCTION svc.user_search_rest(tenant uuid, pattern text, wanted text,
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
            SELECT u.id, u.created_at FROM svc.user_account u
             WHERE u.tenant_id = tenant AND u.search LIKE pattern
               AND CASE WHEN wanted IS NOT NULL THEN u.status = wanted ELSE true END
               AND CASE WHEN (u.created_at, u.id) < (before_at, before_id) THEN true END
             LIMIT most) s
         ORDER BY s.created_at DESC, s.id DESC);
END
$$;

CREATE FUNCTION svc.user_page(q text, wanted text, page integer, skip integer,
    OUT total bigint, OUT ids uuid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET jit = off AS $$
DECLARE
    tenant   uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    newest   integer;
    most     integer := 10000;
    pattern  text := svc.search_text(btrim(q));
    users    text := 'FROM svc.user_account u WHERE u.tenant_id = $1'
                     || coalesce(' AND u.status = ' || quote_literal(wanted), '')
                     || ' ORDER BY u.created_at DESC, u.id DESC';
    last     record;
BEGIN
    SELECT coalesce(sum(CASE wanted WHEN 'active' THEN c.active
                                    WHEN 'suspended' THEN c.suspended
                                    WHEN 'deactivated' THEN c.deactivated
                                    ELSE c.active + c.suspended + c.deactivated END), 0)
      INTO total FROM svc.user_count c WHERE c.tenant_id = tenant;

    IF coalesce(pattern, '') = '' THEN
        EXECUTE 'SELECT ARRAY(SELECT u.id ' || users || ' LIMIT $2 OFFSET $3)'
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

    EXECUTE 'SELECT ARRAY(SELECT s.id FROM (SELECT u.id, u.search ' || users || ' LIMIT $2) s'
            ' WHERE s.search LIKE $3 LIMIT $4)'
       INTO ids USING tenant, newest, pattern, most;

    IF total > newest AND cardinality(ids) < most THEN
        EXECUTE 'SELECT u.created_at, u.id ' || users || ' LIMIT 1 OFFSET $2'
           INTO last USING tenant, newest - 1;

        ids := ids || svc.user_search_rest(tenant, pattern, wanted, last.created_at,
                                           last.id, most - cardinality(ids));
    END IF;

    total := cardinality(ids);
    ids := ids[least(skip, most) + 1 : least(skip, most) + page];
END
$$;

REVOKE ALL ON FUNCTION svc.user_search_rest(uuid, text, text, timestamptz, uuid, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION svc.user_page(text, text, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.user_page(text, text, integer, integer) TO svc_app;


-- Groups.  The number of members is kept, since a group may hold all users.

CREATE TABLE svc.user_group (
    tenant_id     uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    id            uuid            NOT NULL,
    name          text            NOT NULL,
    name_key      text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
    description   text,
    member_count  integer         NOT NULL DEFAULT 0,
    created_at    timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at    timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT user_group_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT user_group_name_key UNIQUE (tenant_id, name_key)
) WITH (fillfactor = 70);

ALTER TABLE svc.user_group ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.user_group
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.user_group TO svc_app;
GRANT UPDATE (name, description, updated_at) ON svc.user_group TO svc_app;


CREATE TABLE svc.group_member (
    tenant_id  uuid            NOT NULL,
    group_id   uuid            NOT NULL,
    user_id    uuid            NOT NULL,
    added_at   timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT group_member_pkey PRIMARY KEY (tenant_id, group_id, user_id),
    CONSTRAINT group_member_group_fkey FOREIGN KEY (tenant_id, group_id)
        REFERENCES svc.user_group (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT group_member_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX group_member_added_idx
    ON svc.group_member (tenant_id, group_id, added_at, user_id);
CREATE INDEX group_member_user_idx ON svc.group_member (tenant_id, user_id);

ALTER TABLE svc.group_member ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.group_member
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.group_member TO svc_app;


-- Rows are locked in one order, whatever order their members go in.

CREATE FUNCTION svc.member_count_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sign  integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    PERFORM FROM svc.user_group g
      WHERE (g.tenant_id, g.id) IN (SELECT c.tenant_id, c.group_id FROM changed c)
      ORDER BY g.tenant_id, g.id FOR NO KEY UPDATE;

    UPDATE svc.user_group g SET member_count = g.member_count + sign * c.n
      FROM (SELECT tenant_id, group_id, count(*)::integer AS n
              FROM changed GROUP BY tenant_id, group_id) c
     WHERE g.tenant_id = c.tenant_id AND g.id = c.group_id;

    RETURN NULL;
END
$$;

CREATE TRIGGER member_count_insert AFTER INSERT ON svc.group_member
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION svc.member_count_change();
CREATE TRIGGER member_count_delete AFTER DELETE ON svc.group_member
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION svc.member_count_change();


-- An erased user's name goes from the tokens that the user made.

GRANT UPDATE (created_by_name) ON svc.credential TO svc_app;
