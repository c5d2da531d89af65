-- serves: 1
--
-- A directory's people are imported, a connection is tried out, and who signs out at a provider
-- ends sign-ins that are under way.


-- --- who signs out there while a sign-in is under way ----------------------------------------

-- A logout token is kept as what it ends, too, until no flow can be under way any more that
-- was before it: a "sid", a subject, or a subject's sessions that have no "sid".

GRANT UPDATE (expires_at) ON svc.federation_seen TO svc_app;


-- Whether one has come since the provider was asked, or for the "sid" since the flow began. What a
-- flow has kept may be older. One that is just being written for the "sid" is waited for: the
-- snapshot is taken behind the lock.

CREATE FUNCTION svc.signed_out_there(tenant uuid, flow uuid, sid bytea, subject bytea)
    RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF sid IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock_shared(hashtext('svc.upstream_sid'),
                                             hashtext(encode(sid, 'hex')));
    END IF;

    RETURN EXISTS (
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
                  >= CASE
                         WHEN f.subject_hash IS NULL
                              AND s.digest IS DISTINCT FROM sha256('\x00'::bytea || sid)
                              THEN f.used_at
                         ELSE f.created_at
                     END);
END
$$;

REVOKE ALL ON FUNCTION svc.signed_out_there FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.signed_out_there TO svc_app;


-- --- the test of a connection ----------------------------------------------------------------

-- A flow that tests its connection ends with what was found, sealed in place of the verifier.
-- Where it has found that the caller would come in, which forcing a domain asks for, it lives
-- on for a day.

ALTER TABLE svc.federation_flow ADD COLUMN tested_at timestamptz(3);    -- NULL: not yet

GRANT UPDATE (expires_at, tested_at) ON svc.federation_flow TO svc_app;


-- Such a test counts while the caller would come in still: not when the link has gone, nor when
-- the connection lets in others.

CREATE OR REPLACE FUNCTION svc.link_lost() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE svc.session s SET ended_at = now()
     WHERE s.tenant_id = OLD.tenant_id AND s.user_id = OLD.user_id
       AND s.connection_id = OLD.connection_id AND s.upstream_subject = OLD.subject_hash
       AND s.ended_at IS NULL;

    DELETE FROM svc.group_member m
     WHERE m.tenant_id = OLD.tenant_id AND m.user_id = OLD.user_id
       AND m.origin = OLD.connection_id;

    UPDATE svc.federation_flow f SET subject_hash = NULL
     WHERE f.tenant_id = OLD.tenant_id AND f.connection_id = OLD.connection_id
       AND f.purpose = 'test' AND f.subject_hash = OLD.subject_hash;

    RETURN NULL;
END
$$;

CREATE FUNCTION svc.tests_over() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE svc.federation_flow f SET subject_hash = NULL
     WHERE f.tenant_id = OLD.tenant_id AND f.connection_id = OLD.connection_id
       AND f.purpose = 'test' AND f.subject_hash IS NOT NULL;

    RETURN NULL;
END
$$;

CREATE INDEX federation_flow_tested_idx ON svc.federation_flow (tenant_id, connection_id)
    WHERE purpose = 'test' AND subject_hash IS NOT NULL;

CREATE TRIGGER tests_over AFTER UPDATE ON svc.social
    FOR EACH ROW
    WHEN ((OLD.connection_id, OLD.issuer, OLD.client_id, OLD.directory, OLD.domains,
           OLD.link_by_email, OLD.trust_email, OLD.vouched, OLD.vouched_owner)
          IS DISTINCT FROM (NEW.connection_id, NEW.issuer, NEW.client_id, NEW.directory,
                            NEW.domains, NEW.link_by_email, NEW.trust_email, NEW.vouched,
                            NEW.vouched_owner))
    EXECUTE FUNCTION svc.tests_over();


-- --- the import from the directory -----------------------------------------------------------

-- The import of a tenant's directory: what has become of the last one, and when the next one is
-- due.  Who runs it has the lease, which ends unless each page renews it.

CREATE TABLE svc.ldap_sync (
    tenant_id     uuid            NOT NULL
                      DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    status        text COLLATE "C" NOT NULL DEFAULT 'never',
    run           bigint          NOT NULL DEFAULT 0,       -- the number of the last one
    due_at        timestamptz(3),                           -- NULL: it is off
    lease_until   timestamptz(3),                           -- NULL: none is under way
    started_at    timestamptz(3),
    finished_at   timestamptz(3),
    forced        boolean         NOT NULL DEFAULT false,   -- the next one is not held
    was           text COLLATE "C",                         -- how the one before has ended
    seen          integer         NOT NULL DEFAULT 0,
    created       integer         NOT NULL DEFAULT 0,
    updated       integer         NOT NULL DEFAULT 0,
    deactivated   integer         NOT NULL DEFAULT 0,
    reactivated   integer         NOT NULL DEFAULT 0,
    conflicting   integer         NOT NULL DEFAULT 0,
    conflicts     jsonb           NOT NULL DEFAULT '[]',    -- the first 100
    error         text,
    CONSTRAINT ldap_sync_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT ldap_sync_fkey FOREIGN KEY (tenant_id) REFERENCES svc.ldap ON DELETE CASCADE,
    CONSTRAINT ldap_sync_status_check
        CHECK (status IN ('never', 'waiting', 'running', 'ok', 'failed', 'held'))
) WITH (fillfactor = 50);

CREATE INDEX ldap_sync_due_idx ON svc.ldap_sync (due_at);

ALTER TABLE svc.ldap_sync ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE svc.ldap_sync ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.ldap_sync
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);

GRANT SELECT, INSERT, UPDATE ON svc.ldap_sync TO svc_app;

INSERT INTO svc.ldap_sync (tenant_id, due_at)
SELECT l.tenant_id,
       CASE WHEN l.sync_enabled AND l.enabled AND l.vouched_owner
            THEN now() + make_interval(mins => l.sync_interval_minutes) END
  FROM svc.ldap l;


-- What the last import has seen of an identity, and since when its user is deactivated by one:
-- that is the user's valid_after, while nobody else has said that the user is not to be active.

ALTER TABLE svc.federated_identity
    ADD COLUMN import_run       bigint,
    ADD COLUMN import_disabled  boolean,
    ADD COLUMN import_ended_at  timestamptz;

GRANT UPDATE (import_run, import_disabled, import_ended_at) ON svc.federated_identity TO svc_app;


-- Somebody else has said so, and has locked the user: no import brings the user back.

CREATE FUNCTION svc.ldap_sync_forget(tenant uuid, who uuid) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE svc.federated_identity i SET import_ended_at = NULL
     WHERE i.tenant_id = tenant AND i.user_id = who AND i.import_ended_at IS NOT NULL;

    RETURN true;
END
$$;


-- As of 0042. An import leaves the status of whom it does not bring back.

CREATE OR REPLACE FUNCTION svc.user_inactive_since() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'active' AND OLD.valid_after IS NOT NULL THEN
        NEW.valid_after := OLD.valid_after;

        IF NEW.status <> OLD.status OR NEW.scim_deleted <> OLD.scim_deleted THEN
            PERFORM svc.ldap_sync_forget(NEW.tenant_id, NEW.id);
        END IF;

    ELSIF NEW.valid_after IS NOT DISTINCT FROM OLD.valid_after THEN
        NEW.valid_after := clock_timestamp();
    END IF;

    RETURN NEW;
END
$$;


-- A directory that is configured is imported as it says, and at once when that begins; another
-- directory was never imported. An import that was forced was of the directory as it was before.

CREATE FUNCTION svc.ldap_sync_keep() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    pause  interval := make_interval(mins => NEW.sync_interval_minutes);
    takes  boolean := NEW.sync_enabled AND NEW.enabled AND NEW.vouched_owner;
BEGIN
    INSERT INTO svc.ldap_sync AS s (tenant_id, due_at)
    VALUES (NEW.tenant_id, CASE WHEN takes THEN now() END)
    ON CONFLICT (tenant_id) DO UPDATE
       SET due_at = CASE WHEN takes THEN coalesce(least(s.due_at, s.started_at + pause), now()) END,
           forced = false;

    IF TG_OP = 'UPDATE' AND NEW.connection_id <> OLD.connection_id THEN
        UPDATE svc.ldap_sync s
           SET status = 'never', run = s.run + 1, due_at = CASE WHEN takes THEN now() END,
               lease_until = NULL, started_at = NULL, finished_at = NULL, was = NULL, seen = 0,
               created = 0, updated = 0, deactivated = 0, reactivated = 0, conflicting = 0,
               conflicts = '[]', error = NULL
         WHERE s.tenant_id = NEW.tenant_id;
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER ldap_sync_keep
    AFTER INSERT OR UPDATE OF enabled, vouched_owner, connection_id, sync_enabled,
                              sync_interval_minutes
    ON svc.ldap FOR EACH ROW EXECUTE FUNCTION svc.ldap_sync_keep();


-- Takes imports that are due, of all tenants.  One whose lease has ended begins anew.

CREATE FUNCTION svc.ldap_sync_due(most integer) RETURNS TABLE (tenant uuid, run bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY
    UPDATE svc.ldap_sync s
       SET status = 'running', run = s.run + 1, lease_until = now() + interval '1 minute',
           started_at = now(), finished_at = NULL,
           was = CASE WHEN s.status IN ('ok', 'failed', 'held') THEN s.status ELSE s.was END,
           seen = 0, created = 0, updated = 0, deactivated = 0, reactivated = 0,
           conflicting = 0, conflicts = '[]', error = NULL
     WHERE s.ctid = ANY (ARRAY(
               SELECT d.ctid
                 FROM svc.ldap_sync d
                 JOIN svc.tenant t ON t.id = d.tenant_id
                WHERE d.due_at <= now()
                  AND coalesce(d.lease_until < now(), true)
                  AND t.suspended_at IS NULL
                ORDER BY d.due_at
                LIMIT most
                FOR UPDATE OF d SKIP LOCKED))
    RETURNING s.tenant_id, s.run;
END
$$;


-- An import would deactivate more than 20 people, and more than half: nobody is, until an
-- administrator says so.

CREATE FUNCTION svc.ldap_sync_hold(ending integer, active integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant   uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    told_of  jsonb := jsonb_build_object('users', ending, 'activeUsers', active);
    made     uuid := gen_random_uuid();
    told     uuid;
BEGIN
    IF tenant IS NULL THEN
        RETURN;
    END IF;

    INSERT INTO svc.incident AS i (tenant_id, id, type, subject, severity, title, details,
                                   count, last_seen_at)
    VALUES (tenant, made, 'ldap_sync_held', 'ldap', 'high',
            'An import from the directory is held: more than half of its people would be'
            ' deactivated.', told_of, 1, now())
    ON CONFLICT (tenant_id, type, subject) WHERE acknowledged_at IS NULL
    DO UPDATE SET count = i.count + 1, details = excluded.details, last_seen_at = now()
    RETURNING i.id INTO told;

    IF told = made THEN
        INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
        VALUES (tenant, 'incident.created', 'incident', told::text,
                jsonb_build_object('type', 'ldap_sync_held', 'severity', 'high') || told_of);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION svc.ldap_sync_keep, svc.ldap_sync_due, svc.ldap_sync_forget,
                       svc.ldap_sync_hold FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.ldap_sync_due, svc.ldap_sync_forget, svc.ldap_sync_hold TO svc_app;


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


-- --- functions that a sign-in calls ----------------------------------------------------------

-- As they were, but planned once by a connection to PostgreSQL, and not at each call. The first
-- one needs no plan.

CREATE OR REPLACE FUNCTION svc.domain_path(address text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    name  text := split_part(svc.address_key(address), '@', 2);
    path  text[] := nullif(ARRAY[name], ARRAY['']);
BEGIN
    WHILE strpos(name, '.') > 0 LOOP
        name := substr(name, strpos(name, '.') + 1);
        path := path || name;
    END LOOP;

    RETURN path;
END
$$;

CREATE OR REPLACE FUNCTION svc.sign_in_by(tenant uuid, forced boolean, address text) RETURNS uuid
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN (
        SELECT d.sign_in
          FROM svc.domain_path(address) AS path
          JOIN svc.domain d ON d.tenant_id = tenant AND d.domain = ANY (path)
         WHERE d.sign_in IS NOT NULL AND d.verified_at IS NOT NULL
           AND (d.domain = path[1] OR d.include_subdomains)
         ORDER BY length(d.domain) DESC
         LIMIT 1);
END
$$;

CREATE OR REPLACE FUNCTION svc.connection_key(tenant uuid, connection uuid) RETURNS text
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN (
        SELECT c.provider FROM svc.social c
         WHERE c.tenant_id = tenant AND c.connection_id = connection
        UNION ALL
        SELECT 'saml' FROM svc.saml_sp c
         WHERE c.tenant_id = tenant AND c.connection_id = connection
        UNION ALL
        SELECT 'ldap' FROM svc.ldap c
         WHERE c.tenant_id = tenant AND c.connection_id = connection);
END
$$;

CREATE OR REPLACE FUNCTION svc.covers(tenant uuid, held text, vouched text[], owner boolean)
    RETURNS boolean
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN (
        SELECT CASE held
                   WHEN 'member' THEN true
                   WHEN 'owner' THEN owner
                   WHEN 'admin'
                        THEN vouched @> (ARRAY['', 'apps:manage', 'audit:view', 'groups:manage',
                                               'members:manage', 'roles:manage', 'tenant:manage',
                                               'users:view'])[2:]
                   ELSE vouched @> coalesce((SELECT r.permissions FROM svc.role r
                                              WHERE r.tenant_id = tenant AND r.key = held),
                                            '{}')
               END);
END
$$;

CREATE OR REPLACE FUNCTION svc.sign_in_directory(tenant uuid, takes boolean, address text)
    RETURNS uuid
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN (
        SELECT l.connection_id
          FROM svc.ldap l
         WHERE l.tenant_id = tenant AND l.enabled AND l.vouched_owner
           AND coalesce(svc.sign_in_by(tenant, true, address) = l.connection_id,
                        EXISTS (SELECT FROM svc.domain d
                                 WHERE d.tenant_id = tenant
                                   AND d.domain = (svc.domain_path(address))[1]
                                   AND d.domain = ANY (l.domains)
                                   AND d.verified_at IS NOT NULL)));
END
$$;

CREATE OR REPLACE FUNCTION svc.sign_in_locked(tenant uuid, account uuid, mac bytea) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT ceil(extract(epoch FROM max(l.until) - now()))::bigint
          FROM (SELECT u.locked_until AS until
                  FROM svc.user_account u
                 WHERE u.tenant_id = tenant AND u.id = account
                UNION ALL
                SELECT p.locked_until
                  FROM svc.login_phantom p
                 WHERE p.tenant_id = tenant AND p.email_mac = mac) l
         WHERE l.until > now());
END
$$;
