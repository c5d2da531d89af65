-- serves: 1
--
-- What an operator does: back to modules that are older, and tenants that go.


-- The oldest modules that a schema serves, by the newest migration of theirs.  "svcctl
-- migrate" has it from the first line of a migration; the highest one counts.

ALTER TABLE svc.schema_migration ADD COLUMN serves integer;


-- Tenants that are being deleted, and that are gone.  Nobody else has the name of one
-- for 30 days: what was made for it may still be sent there.

CREATE TABLE svc.tenant_gone (
    id          uuid            NOT NULL,
    slug        text COLLATE "C" NOT NULL,
    began_at    timestamptz(3)  NOT NULL DEFAULT now(),
    gone_at     timestamptz(3),
    CONSTRAINT tenant_gone_pkey PRIMARY KEY (id)
);

CREATE INDEX tenant_gone_slug_idx ON svc.tenant_gone (slug, gone_at);

ALTER TABLE svc.tenant_gone ENABLE ROW LEVEL SECURITY;
CREATE POLICY nobody ON svc.tenant_gone USING (false);


CREATE OR REPLACE FUNCTION svc.organization_taken(wanted text) RETURNS boolean
    LANGUAGE sql STABLE STRICT SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS
$$
    SELECT EXISTS (SELECT FROM svc.tenant t WHERE t.slug = wanted)
        OR EXISTS (SELECT FROM svc.tenant_gone g
                    WHERE g.slug = wanted AND g.gone_at > now() - interval '30 days')
$$;


-- Whatever makes a tenant: as if the one before were still there.

CREATE FUNCTION svc.tenant_slug_free() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM svc.tenant_gone g
                WHERE g.slug = NEW.slug AND g.gone_at > now() - interval '30 days')
    THEN
        RAISE EXCEPTION 'duplicate key value violates unique constraint "tenant_slug_key"'
            USING ERRCODE = 'unique_violation', SCHEMA = 'svc', TABLE = 'tenant',
                  CONSTRAINT = 'tenant_slug_key';
    END IF;

    RETURN NEW;
END
$$;

CREATE TRIGGER tenant_slug_free BEFORE INSERT OR UPDATE OF slug ON svc.tenant
    FOR EACH ROW EXECUTE FUNCTION svc.tenant_slug_free();


-- As before; a name that is not free yet is taken.

CREATE OR REPLACE FUNCTION svc.organization_create(which uuid, tenant uuid, title text)
    RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    wanted  text;
BEGIN
    SELECT o.slug INTO wanted FROM svc.organization_signup o
     WHERE o.id = which AND o.used_at IS NULL AND o.expires_at > now() FOR UPDATE;

    IF NOT FOUND THEN
        RETURN 'over';
    END IF;

    IF svc.organization_taken(wanted) THEN
        RETURN 'taken';
    END IF;

    INSERT INTO svc.tenant (id, slug, name) VALUES (tenant, wanted, title)
        ON CONFLICT DO NOTHING;

    IF NOT FOUND THEN
        RETURN 'taken';
    END IF;

    UPDATE svc.organization_signup o SET used_at = now() WHERE o.id = which;
    RETURN 'made';
END
$$;


-- It is added to, and goes by whole months, or with its tenant.

CREATE OR REPLACE FUNCTION svc.delegation_keep() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('svc.tenant_delete', true) = 'on' THEN
        RETURN NULL;
    END IF;

    RAISE EXCEPTION 'the journal of delegations is not changed'
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Old months are dropped: svcctl delegations retain.';
END
$$;


-- Deletes up to so many rows of a tenant, those first that refer to others; how many
-- there were.  Counts of users go with the tenant: their users' triggers write them.

CREATE FUNCTION svc.tenant_delete_rows(tenant uuid, most integer) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    part  regclass;
    n     integer;
    done  integer := 0;
BEGIN
    PERFORM set_config('svc.tenant_delete', 'on', true);

    FOR part IN
        WITH RECURSIVE holds AS (
            SELECT c.oid FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
             WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind = 'r'
               AND a.attname = 'tenant_id' AND c.oid <> 'svc.user_count'::regclass
        ), refers AS (
            SELECT DISTINCT k.conrelid AS child, k.confrelid AS parent
              FROM pg_constraint k
             WHERE k.contype = 'f' AND k.conrelid <> k.confrelid
               AND k.conrelid IN (SELECT oid FROM holds)
               AND k.confrelid IN (SELECT oid FROM holds)
        ), turn (oid, place) AS (
            SELECT oid, 0 FROM holds
            UNION
            SELECT refers.parent, turn.place + 1
              FROM turn JOIN refers ON refers.child = turn.oid
             WHERE turn.place < 100
        )
        SELECT oid FROM turn GROUP BY oid ORDER BY max(place), oid
    LOOP
        EXIT WHEN done >= most;

        EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY('
                       'SELECT ctid FROM %s WHERE tenant_id = $1 LIMIT $2))', part, part)
            USING tenant, most - done;
        GET DIAGNOSTICS n = ROW_COUNT;
        done := done + n;
    END LOOP;

    PERFORM set_config('svc.tenant_delete', 'off', true);

    RETURN done;
END
$$;

REVOKE ALL ON FUNCTION svc.tenant_slug_free, svc.tenant_delete_rows FROM PUBLIC;
