-- serves: 1
--
-- A directory's people are imported, a connection is tried out, and a code by mail proves
-- whose an address is.


-- --- a code by mail for an identity that is not linked ---------------------------------------


-- --- who signs out there while a sign-in is under way ----------------------------------------

-- A logout token is kept as what it ends, too, until no flow can be under way any more that
-- was before it: a "sid", a subject, or a subject's sessions that have no "sid".

GRANT UPDATE (expires_at) ON svc.federation_seen TO svc_app;


-- Whether one has come since the provider was asked. What a flow has kept may be older.

CREATE FUNCTION svc.signed_out_there(tenant uuid, flow uuid, sid bytea, subject bytea)
    RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
           SELECT
             FROM svc.federation_flow f
             JOIN svc.federation_seen s
                  ON s.tenant_id = f.tenant_id
                 AND s.connection_id = f.connection_id
                 AND s.digest = ANY (ARRAY[sha256('\x00'::bytea || sid),
                                           sha256('\x01'::bytea || subject),
                                           CASE
                                               WHEN sid IS NULL
                                                    THEN sha256('\x02'::bytea || subject)
                                           END])
            WHERE f.tenant_id = tenant
              AND f.id = flow
              AND s.expires_at - interval '15 minutes'
                  >= CASE WHEN f.subject_hash IS NULL THEN f.used_at ELSE f.created_at END)
$$;

REVOKE ALL ON FUNCTION svc.signed_out_there FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.signed_out_there TO svc_app;


-- --- the test of a connection ----------------------------------------------------------------

-- A flow that tests its connection ends with what was found, sealed in place of the verifier.
-- Where it has found that the caller would come in, which forcing a domain asks for, it lives
-- on for a day.

ALTER TABLE svc.federation_flow ADD COLUMN tested_at timestamptz(3);    -- NULL: not yet

GRANT UPDATE (expires_at, tested_at) ON svc.federation_flow TO svc_app;


-- --- the import from the directory -----------------------------------------------------------


-- --- a directory's accounts ------------------------------------------------------------------

-- Whether a connection has ever mapped groups: what an earlier mapping has given goes with the
-- next sign-in. All others look for no memberships.

ALTER TABLE svc.social ADD COLUMN grouped boolean NOT NULL DEFAULT false;
ALTER TABLE svc.ldap ADD COLUMN grouped boolean NOT NULL DEFAULT false;

UPDATE svc.social s SET grouped = true
 WHERE s.group_mapping <> '[]'
    OR s.connection_id IN (SELECT m.origin FROM svc.group_member m WHERE m.origin IS NOT NULL);
UPDATE svc.ldap l SET grouped = true WHERE l.group_mapping <> '[]';

CREATE FUNCTION svc.groups_mapped() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.grouped := NEW.grouped OR NEW.group_mapping <> '[]';

    RETURN NEW;
END
$$;

CREATE TRIGGER groups_mapped BEFORE INSERT OR UPDATE OF group_mapping
    ON svc.social FOR EACH ROW EXECUTE FUNCTION svc.groups_mapped();
CREATE TRIGGER groups_mapped BEFORE INSERT OR UPDATE OF group_mapping
    ON svc.ldap FOR EACH ROW EXECUTE FUNCTION svc.groups_mapped();


-- --- what was written twice ------------------------------------------------------------------

-- The tenant of a sign-in, and how it goes there: whether the address, if there is one, must come
-- in by a connection, and which directory the password goes to, unless it is one that is stored
-- here, which "stored" says.

CREATE FUNCTION svc.sign_in_place(host text, named text, address text, stored boolean)
    RETURNS TABLE (id uuid, slug text, name text, suspended boolean, by_domain boolean,
                   forced boolean, directory uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant     uuid;
    by_domain  boolean;
BEGIN
    SELECT d.tenant_id INTO tenant FROM svc.domain d
     WHERE d.domain = host AND d.verified_at IS NOT NULL;

    by_domain := FOUND;

    IF NOT by_domain THEN
        IF named IS NOT NULL THEN
            SELECT t.id INTO tenant FROM svc.tenant t WHERE t.slug = named;

        ELSE
            SELECT t.id INTO tenant FROM svc.tenant t ORDER BY t.id LIMIT 1;

            IF EXISTS (SELECT FROM svc.tenant t WHERE t.id > tenant) THEN
                tenant := NULL;
            END IF;
        END IF;
    END IF;

    RETURN QUERY SELECT t.id, t.slug, t.name, t.suspended_at IS NOT NULL, by_domain,
                        svc.sign_in_by(t.id, t.sign_in_forced, address) IS NOT NULL,
                        svc.sign_in_directory(t.id, CASE WHEN NOT stored THEN t.directory END,
                                              address)
                   FROM svc.tenant t WHERE t.id = tenant;
END
$$;

-- These are written into the statements that call them: one function is called.

CREATE OR REPLACE FUNCTION svc.sign_in_realm(host text, named text, address text)
    RETURNS TABLE (id uuid, slug text, name text, suspended boolean, by_domain boolean,
                   forced boolean)
LANGUAGE sql STABLE AS $$
    SELECT p.id, p.slug, p.name, p.suspended, p.by_domain, p.forced
      FROM svc.sign_in_place(host, named, address, true) p
$$;

CREATE OR REPLACE FUNCTION svc.sign_in_way(host text, named text, address text, stored boolean)
    RETURNS TABLE (id uuid, slug text, suspended boolean, by_domain boolean, forced boolean,
                   directory uuid)
LANGUAGE sql STABLE AS $$
    SELECT p.id, p.slug, p.suspended, p.by_domain, p.forced, p.directory
      FROM svc.sign_in_place(host, named, address, stored) p
$$;

REVOKE ALL ON FUNCTION svc.sign_in_place FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.sign_in_place TO svc_app;
