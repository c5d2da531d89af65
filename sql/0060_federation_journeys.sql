-- serves: 1
--
-- Journeys to other servers, and what comes of them.


-- A proof that comes from another site, without the browser's cookie: whom it is of, which
-- is sealed beside, too.

ALTER TABLE svc.federation_flow ADD COLUMN found_id uuid;       -- NULL: nobody yet

GRANT UPDATE (found_id) ON svc.federation_flow TO svc_app;


-- Links: a user's identities elsewhere.

-- What the API calls a connection, and whether it is on.

CREATE FUNCTION svc.connection_named(tenant uuid, connection uuid)
    RETURNS TABLE (key text, kind text, label text, enabled boolean)
LANGUAGE sql STABLE STRICT AS $$
    SELECT c.provider, 'social', coalesce(c.label, c.provider), c.enabled FROM svc.social c
     WHERE c.tenant_id = tenant AND c.connection_id = connection
    UNION ALL
    SELECT 'saml', 'saml', coalesce(c.label, 'saml'), c.enabled FROM svc.saml_sp c
     WHERE c.tenant_id = tenant AND c.connection_id = connection
    UNION ALL
    SELECT 'ldap', 'ldap', coalesce(c.label, 'ldap'), c.enabled AND c.vouched_owner
      FROM svc.ldap c
     WHERE c.tenant_id = tenant AND c.connection_id = connection
$$;


-- Whether a passkey's factor, or a link, is the last way in that its user has.  Codes by
-- mail are one where the tenant allows them and there are mails; a link for a forgotten
-- password is none: it makes one.  Who must come in by a connection has its link alone, and
-- an owner passkeys, too: the last one of them all is kept by svc.break_glass_keep(), which
-- says so.

CREATE FUNCTION svc.way_in_last(tenant uuid, owner uuid, gone uuid, mails boolean)
    RETURNS boolean
LANGUAGE sql STABLE STRICT AS $$
    WITH person AS (
        SELECT u.role, svc.sign_in_by(t.id, t.sign_in_forced, u.user_name) AS forced,
               mails AND t.branding -> 'allowPasswordless' IS NOT DISTINCT FROM 'true' AS codes
          FROM svc.user_account u
          JOIN svc.tenant t ON t.id = u.tenant_id
         WHERE u.tenant_id = tenant AND u.id = owner
    ), way AS (
        SELECT p.factor_id AS id
          FROM svc.passkey p, person
         WHERE p.tenant_id = tenant AND p.user_id = owner
           AND (person.forced IS NULL OR person.role = 'owner')
        UNION ALL
        SELECT i.id
          FROM person, svc.federated_identity i
          CROSS JOIN LATERAL svc.connection_named(i.tenant_id, i.connection_id) c
         WHERE i.tenant_id = tenant AND i.user_id = owner AND c.enabled
           AND coalesce(i.connection_id = person.forced, true)
        UNION ALL
        SELECT NULL
          FROM person
         WHERE person.forced IS NULL
           AND (person.codes
                OR EXISTS (SELECT FROM svc.password p
                            WHERE p.tenant_id = tenant AND p.user_id = owner))
    )
    SELECT coalesce(bool_or(way.id = gone), false)
           AND NOT coalesce(bool_or(way.id IS DISTINCT FROM gone), false)
           AND NOT EXISTS (SELECT
                             FROM person
                            WHERE person.forced IS NOT NULL AND person.role = 'owner'
                              AND NOT EXISTS (SELECT
                                                FROM svc.passkey p
                                                JOIN svc.user_account u
                                                     ON u.tenant_id = p.tenant_id
                                                    AND u.id = p.user_id
                                               WHERE p.tenant_id = tenant AND p.factor_id <> gone
                                                 AND u.role = 'owner' AND u.status = 'active'))
      FROM way
$$;


-- Whether a connection may bring in who has that role: nobody may do more than whoever has
-- configured it.  A role that there is not grants nothing.

CREATE FUNCTION svc.covers(tenant uuid, held text, vouched text[], owner boolean)
    RETURNS boolean
LANGUAGE sql STABLE STRICT AS $$
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
           END
$$;


-- The sessions that began by a link end with it, and so do memberships of groups that its
-- connection has mapped.

CREATE FUNCTION svc.link_lost() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE svc.session s SET ended_at = now()
     WHERE s.tenant_id = OLD.tenant_id AND s.user_id = OLD.user_id
       AND s.connection_id = OLD.connection_id AND s.upstream_subject = OLD.subject_hash
       AND s.ended_at IS NULL;

    DELETE FROM svc.group_member m
     WHERE m.tenant_id = OLD.tenant_id AND m.user_id = OLD.user_id
       AND m.origin = OLD.connection_id;

    RETURN NULL;
END
$$;

CREATE TRIGGER link_lost AFTER DELETE ON svc.federated_identity
    FOR EACH ROW EXECUTE FUNCTION svc.link_lost();


REVOKE ALL ON FUNCTION svc.connection_named, svc.covers, svc.way_in_last FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.connection_named, svc.covers, svc.way_in_last TO svc_app;


-- --- by the tenant's directory -------------------------------------------------------------

-- Whether passwords go to the tenant's directory: it is enabled, and an owner has said whose
-- people are in it.  svc.directory_changed() keeps it for those who read this row anyway.

ALTER TABLE svc.tenant ADD COLUMN directory boolean;        -- NULL: they do not

GRANT UPDATE (directory) ON svc.tenant TO svc_app;

UPDATE svc.tenant t SET directory = true
  FROM svc.ldap l
 WHERE l.tenant_id = t.id AND l.enabled AND l.vouched_owner;

CREATE FUNCTION svc.directory_changed() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    tenant  uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
    takes   boolean := CASE WHEN TG_OP <> 'DELETE' THEN NEW.enabled AND NEW.vouched_owner END;
BEGIN
    UPDATE svc.tenant t SET directory = nullif(takes, false)
     WHERE t.id = tenant AND t.directory IS DISTINCT FROM nullif(takes, false);

    RETURN NULL;
END
$$;

CREATE TRIGGER directory_changed
    AFTER INSERT OR DELETE OR UPDATE OF enabled, vouched_owner
    ON svc.ldap FOR EACH ROW EXECUTE FUNCTION svc.directory_changed();


-- The directory that a password of the address goes to; NULL: none.  Its domain decides, and
-- no user.  Where people of the domain must come in by a connection it is that one.  Where no
-- directory takes passwords this is not called.

CREATE FUNCTION svc.sign_in_directory(tenant uuid, takes boolean, address text) RETURNS uuid
LANGUAGE sql STABLE STRICT AS $$
    SELECT l.connection_id
      FROM svc.ldap l
     WHERE l.tenant_id = tenant AND l.enabled AND l.vouched_owner
       AND coalesce(svc.sign_in_by(tenant, true, address) = l.connection_id,
                    EXISTS (SELECT FROM svc.domain d
                             WHERE d.tenant_id = tenant
                               AND d.domain = (svc.domain_path(address))[1]
                               AND d.domain = ANY (l.domains)
                               AND d.verified_at IS NOT NULL))
$$;


-- As svc.sign_in_realm(), and the directory that the password goes to, unless it is one that
-- is stored here, which "stored" says: then nobody need come in otherwise, whatever "forced" is.

CREATE FUNCTION svc.sign_in_way(host text, named text, address text, stored boolean)
    RETURNS TABLE (id uuid, slug text, suspended boolean, by_domain boolean, forced boolean,
                   directory uuid)
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

    RETURN QUERY SELECT t.id, t.slug, t.suspended_at IS NOT NULL, by_domain,
                        svc.sign_in_by(t.id, t.sign_in_forced, address) IS NOT NULL,
                        svc.sign_in_directory(t.id, CASE WHEN NOT stored THEN t.directory END,
                                              address)
                   FROM svc.tenant t WHERE t.id = tenant;
END
$$;


-- A connection that a proof comes by, whatever its kind, and whether the domain is its own: one
-- that it has, and that the tenant has verified by now.  Passwords go to a directory while an
-- owner has said whose people it has.

CREATE FUNCTION svc.connection_of(tenant uuid, connection uuid, name text)
    RETURNS TABLE (connection_id uuid, directory boolean, enabled boolean, updated_at timestamptz,
                   domains text[], link_by_email text, jit_provisioning boolean,
                   mfa_contexts text[], vouched text[], vouched_owner boolean, owned boolean)
LANGUAGE sql STABLE AS $$
    SELECT c.*, coalesce(name = ANY (c.domains), false)
                AND EXISTS (SELECT FROM svc.domain d
                             WHERE d.tenant_id = tenant AND d.domain = name
                               AND d.verified_at IS NOT NULL)
      FROM (SELECT s.connection_id, false, s.enabled, s.updated_at, s.domains, s.link_by_email,
                   s.jit_provisioning, s.mfa_contexts, s.vouched, s.vouched_owner
              FROM svc.social s
             WHERE s.tenant_id = tenant AND s.connection_id = connection
            UNION ALL
            SELECT l.connection_id, true, l.enabled AND l.vouched_owner, l.updated_at, l.domains,
                   l.link_by_email, l.jit_provisioning, l.mfa_contexts, l.vouched,
                   l.vouched_owner
              FROM svc.ldap l
             WHERE l.tenant_id = tenant AND l.connection_id = connection) c
$$;


-- For how many seconds the account, or the address that is typed, is locked; NULL: neither is.

CREATE FUNCTION svc.sign_in_locked(tenant uuid, account uuid, mac bytea) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT ceil(extract(epoch FROM max(l.until) - now()))::bigint
      FROM (SELECT u.locked_until AS until
              FROM svc.user_account u
             WHERE u.tenant_id = tenant AND u.id = account
            UNION ALL
            SELECT p.locked_until
              FROM svc.login_phantom p
             WHERE p.tenant_id = tenant AND p.email_mac = mac) l
     WHERE l.until > now()
$$;


-- Whether the directory has the user's password, and nobody sets one here.  An owner who has
-- one keeps it: it is the way in while the directory is away.

CREATE FUNCTION svc.directory_account(tenant uuid, takes boolean, account uuid) RETURNS boolean
LANGUAGE sql STABLE STRICT AS $$
    SELECT EXISTS (SELECT
                     FROM svc.user_account u
                     JOIN svc.ldap l ON l.tenant_id = u.tenant_id
                    WHERE u.tenant_id = tenant AND u.id = account
                      AND (u.source = 'ldap'
                           OR (svc.domain_path(u.user_name))[1] = ANY (l.domains)
                              AND EXISTS (SELECT FROM svc.federated_identity i
                                           WHERE i.tenant_id = tenant
                                             AND i.user_id = u.id
                                             AND i.connection_id = l.connection_id))
                      AND NOT (u.role = 'owner'
                               AND EXISTS (SELECT FROM svc.password p
                                            WHERE p.tenant_id = tenant AND p.user_id = u.id)))
$$;


-- More than one entry of the directory fits an address: somebody should look at its filter.

CREATE FUNCTION svc.directory_ambiguous() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant  uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    made    uuid := gen_random_uuid();
    told    uuid;
BEGIN
    IF tenant IS NULL THEN
        RETURN;
    END IF;

    INSERT INTO svc.incident AS i (tenant_id, id, type, subject, severity, title, details,
                                   count, last_seen_at)
    VALUES (tenant, made, 'ldap_ambiguous', 'ldap', 'medium',
            'More than one entry of the directory fits an address: nobody signs in by it.',
            '{"connection": "ldap"}', 1, now())
    ON CONFLICT (tenant_id, type, subject) WHERE acknowledged_at IS NULL
    DO UPDATE SET count = i.count + 1, last_seen_at = now()
    RETURNING i.id INTO told;

    IF told = made THEN
        INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
        VALUES (tenant, 'incident.created', 'incident', told::text,
                '{"type": "ldap_ambiguous", "severity": "medium", "connection": "ldap"}');
    END IF;
END
$$;


REVOKE ALL ON FUNCTION svc.sign_in_directory, svc.sign_in_way, svc.sign_in_locked,
    svc.connection_of, svc.directory_account, svc.directory_ambiguous FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.sign_in_directory, svc.sign_in_way, svc.sign_in_locked,
    svc.connection_of, svc.directory_account, svc.directory_ambiguous TO svc_app;


-- Back-channel logout finds sessions by the "sid".  Those of a subject are its user's, whom the
-- link names: they need no index of their own, which each session would pay for.

DROP INDEX svc.session_upstream_idx;

CREATE INDEX session_upstream_idx ON svc.session (tenant_id, connection_id, upstream_sid)
    WHERE connection_id IS NOT NULL AND ended_at IS NULL;


-- What issuers publish: nothing is fetched for a tenant that is suspended.  All that are
-- claimed are returned, so that a round that is full is known as one; those that are not to
-- be fetched have no name.

CREATE OR REPLACE FUNCTION svc.federation_due(most integer)
    RETURNS TABLE (tenant uuid, connection uuid, name text, issuer text, directory text,
                   asked timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY
    WITH due AS (
        UPDATE svc.federation_meta m
           SET asked_at = now(),
               due_at = now() + CASE
                                    WHEN m.fetched_at > now() - interval '7 days'
                                         THEN interval '5 minutes'
                                    ELSE interval '1 hour'
                                END
         WHERE m.ctid = ANY (ARRAY(
                   SELECT f.ctid
                     FROM svc.federation_meta f
                    WHERE f.due_at <= now()
                      AND coalesce(f.asked_at < now() - interval '1 minute', true)
                    ORDER BY f.due_at
                    LIMIT most
                    FOR UPDATE SKIP LOCKED))
        RETURNING m.tenant_id, m.connection_id, m.asked_at
    )
    SELECT due.tenant_id, due.connection_id, s.provider, s.issuer, s.directory, due.asked_at
      FROM due
      LEFT JOIN (svc.social s
                 JOIN svc.tenant t ON t.id = s.tenant_id AND t.suspended_at IS NULL)
           ON s.tenant_id = due.tenant_id
          AND s.connection_id = due.connection_id
          AND s.enabled;
END
$$;
