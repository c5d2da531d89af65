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
    SELECT 'ldap', 'ldap', coalesce(c.label, 'ldap'), c.enabled FROM svc.ldap c
     WHERE c.tenant_id = tenant AND c.connection_id = connection
$$;


-- Whether a passkey's factor, or a link, is the last way in that its user has.  Codes by
-- mail are one where the tenant allows them and there are mails; a link for a forgotten
-- password is none: it makes one.  Who must come in by a connection has its link alone, and
-- an owner passkeys, too.

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
      FROM way
$$;


-- The sessions that began by a link end with it.

CREATE FUNCTION svc.link_lost() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE svc.session s SET ended_at = now()
     WHERE s.tenant_id = OLD.tenant_id AND s.connection_id = OLD.connection_id
       AND s.upstream_subject = OLD.subject_hash AND s.ended_at IS NULL;

    RETURN NULL;
END
$$;

CREATE TRIGGER link_lost AFTER DELETE ON svc.federated_identity
    FOR EACH ROW EXECUTE FUNCTION svc.link_lost();


REVOKE ALL ON FUNCTION svc.connection_named, svc.way_in_last FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.connection_named, svc.way_in_last TO svc_app;
