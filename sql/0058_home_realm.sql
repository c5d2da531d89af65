-- serves: 1
--
-- By which connection people of a domain come in.


-- A domain whose people come in by one connection alone.

ALTER TABLE svc.domain
    ADD COLUMN sign_in             uuid,                    -- the connection's id
    ADD COLUMN rp_id               text COLLATE "C",        -- of owners' passkeys, with it
    ADD COLUMN include_subdomains  boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT domain_sign_in_check CHECK ((sign_in IS NULL) = (rp_id IS NULL));

GRANT UPDATE (sign_in, rp_id, include_subdomains) ON svc.domain TO svc_app;


-- Whether the tenant has one: svc.domain_sign_in() keeps it for those who read this row
-- anyway, so that they look for no domain of all the others.

ALTER TABLE svc.tenant ADD COLUMN sign_in_forced boolean;   -- NULL: it has none

GRANT UPDATE (sign_in_forced) ON svc.tenant TO svc_app;


-- The domain of an address, and all above it.

CREATE FUNCTION svc.domain_path(address text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT array_agg(array_to_string(labels[n:], '.') ORDER BY n)
      FROM string_to_array(split_part(svc.address_key(address), '@', 2), '.') AS labels,
           generate_series(1, cardinality(labels)) AS n
$$;


-- The connection that people of the address must come in by; NULL: they come in as they
-- like.  A domain comes before one above it.  Where the tenant forces nobody this is not
-- called.

CREATE FUNCTION svc.sign_in_by(tenant uuid, forced boolean, address text) RETURNS uuid
LANGUAGE sql STABLE STRICT AS $$
    SELECT d.sign_in
      FROM svc.domain_path(address) AS path
      JOIN svc.domain d ON d.tenant_id = tenant AND d.domain = ANY (path)
     WHERE d.sign_in IS NOT NULL AND d.verified_at IS NOT NULL
       AND (d.domain = path[1] OR d.include_subdomains)
     ORDER BY length(d.domain) DESC
     LIMIT 1
$$;


-- As svc.sign_in_tenant(), and whether the address, if there is one, must come in by a
-- connection.

CREATE FUNCTION svc.sign_in_realm(host text, named text, address text)
    RETURNS TABLE (id uuid, slug text, name text, suspended boolean, by_domain boolean,
                   forced boolean)
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
                        svc.sign_in_by(t.id, t.sign_in_forced, address) IS NOT NULL
                   FROM svc.tenant t WHERE t.id = tenant;
END
$$;


-- The slug of the tenant that has the domain of an address: what DNS has told everybody.

CREATE FUNCTION svc.domain_slug(address text) RETURNS text
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.slug
      FROM svc.domain_path(address) AS path
      JOIN svc.domain d ON d.domain = ANY (path) AND d.verified_at IS NOT NULL
      JOIN svc.tenant t ON t.id = d.tenant_id
     WHERE d.domain = path[1] OR d.include_subdomains
     ORDER BY length(d.domain) DESC
     LIMIT 1
$$;


-- Whether an active owner has a passkey for the rpId: the way in that no connection is
-- needed for.

CREATE FUNCTION svc.break_glass(tenant uuid, rp text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT
                     FROM svc.user_account u
                     JOIN svc.passkey p ON p.tenant_id = u.tenant_id AND p.user_id = u.id
                    WHERE u.tenant_id = tenant AND u.role = 'owner' AND u.status = 'active'
                      AND p.rp_id = rp)
$$;


-- Whoever changes what this depends on locks the tenant's row first: so each of them sees
-- what the one before has committed.

CREATE FUNCTION svc.domain_sign_in() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    tenant   uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
    name     text := CASE TG_OP WHEN 'DELETE' THEN OLD.domain ELSE NEW.domain END;
    was      uuid := CASE WHEN TG_OP <> 'INSERT' THEN OLD.sign_in END;
    becomes  uuid := CASE WHEN TG_OP <> 'DELETE' THEN NEW.sign_in END;
    above    boolean := CASE WHEN TG_OP <> 'DELETE' THEN NEW.include_subdomains END;
BEGIN
    IF was IS NOT DISTINCT FROM becomes AND (TG_OP <> 'UPDATE' OR above = OLD.include_subdomains)
    THEN
        RETURN NULL;
    END IF;

    PERFORM FROM svc.tenant t WHERE t.id = tenant FOR NO KEY UPDATE;

    -- a tenant that is being deleted takes its domains along

    IF NOT FOUND THEN
        RETURN NULL;
    END IF;

    UPDATE svc.tenant t
       SET sign_in_forced = nullif(EXISTS (SELECT FROM svc.domain d
                                            WHERE d.tenant_id = tenant
                                              AND d.sign_in IS NOT NULL), false)
     WHERE t.id = tenant;

    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, target_name,
                                 details)
    SELECT tenant,
           CASE
               WHEN becomes IS NOT NULL THEN 'domain.sign_in_required'
               WHEN was IS NOT NULL THEN 'domain.sign_in_released'
               ELSE 'domain.updated'
           END,
           'domain', name, NULL,
           jsonb_strip_nulls(jsonb_build_object(
               'connection', svc.connection_key(tenant, coalesce(becomes, was)),
               'includeSubdomains', above));

    RETURN NULL;
END
$$;

CREATE TRIGGER domain_sign_in
    AFTER INSERT OR DELETE OR UPDATE OF sign_in, include_subdomains
    ON svc.domain FOR EACH ROW EXECUTE FUNCTION svc.domain_sign_in();


-- What the API calls a connection.

CREATE FUNCTION svc.connection_key(tenant uuid, connection uuid) RETURNS text
LANGUAGE sql STABLE STRICT AS $$
    SELECT c.provider FROM svc.social c
     WHERE c.tenant_id = tenant AND c.connection_id = connection
    UNION ALL
    SELECT 'saml' FROM svc.saml_sp c
     WHERE c.tenant_id = tenant AND c.connection_id = connection
    UNION ALL
    SELECT 'ldap' FROM svc.ldap c
     WHERE c.tenant_id = tenant AND c.connection_id = connection
$$;


-- Nobody must come in by a connection that is gone, or is off, and sessions that began by it
-- end.  This runs before the row changes, so that the event can name it.

CREATE FUNCTION svc.connection_lost() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NOT NEW.enabled OR NEW.connection_id <> OLD.connection_id THEN
        UPDATE svc.session s SET ended_at = now()
         WHERE s.tenant_id = OLD.tenant_id AND s.connection_id = OLD.connection_id
           AND s.ended_at IS NULL;
    END IF;

    IF TG_OP = 'DELETE' OR NOT NEW.enabled OR NEW.connection_id <> OLD.connection_id
       OR NEW.link_by_email = 'never'
    THEN
        PERFORM FROM svc.tenant t WHERE t.id = OLD.tenant_id FOR NO KEY UPDATE;

        UPDATE svc.domain d SET sign_in = NULL, rp_id = NULL
         WHERE d.tenant_id = OLD.tenant_id AND d.sign_in = OLD.connection_id;
    END IF;

    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END
$$;


-- While people of a domain must come in by a connection, an active owner keeps a passkey.

CREATE FUNCTION svc.break_glass_keep(tenant uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM svc.tenant t WHERE t.id = tenant FOR NO KEY UPDATE;

    IF FOUND AND EXISTS (SELECT FROM svc.domain d
                          WHERE d.tenant_id = tenant AND d.sign_in IS NOT NULL
                            AND NOT svc.break_glass(tenant, d.rp_id))
    THEN
        RAISE EXCEPTION 'an active owner must keep a passkey'
            USING ERRCODE = 'check_violation', SCHEMA = 'svc', TABLE = 'domain',
                  CONSTRAINT = 'domain_break_glass_check';
    END IF;
END
$$;

CREATE FUNCTION svc.owner_lost() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM svc.break_glass_keep(OLD.tenant_id);

    RETURN NULL;
END
$$;

CREATE FUNCTION svc.passkey_lost() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM svc.user_account u
                WHERE u.tenant_id = OLD.tenant_id AND u.id = OLD.user_id
                  AND u.role = 'owner' AND u.status = 'active')
    THEN
        PERFORM svc.break_glass_keep(OLD.tenant_id);
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER owner_changed AFTER UPDATE OF role, status ON svc.user_account
    FOR EACH ROW WHEN (OLD.role = 'owner' AND OLD.status = 'active'
                       AND (NEW.role <> 'owner' OR NEW.status <> 'active'))
    EXECUTE FUNCTION svc.owner_lost();
CREATE TRIGGER owner_deleted AFTER DELETE ON svc.user_account
    FOR EACH ROW WHEN (OLD.role = 'owner' AND OLD.status = 'active')
    EXECUTE FUNCTION svc.owner_lost();
CREATE TRIGGER passkey_lost AFTER DELETE ON svc.passkey
    FOR EACH ROW EXECUTE FUNCTION svc.passkey_lost();


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['social', 'saml_sp', 'ldap']
    LOOP
        EXECUTE format('CREATE TRIGGER connection_lost BEFORE DELETE OR UPDATE OF enabled,'
                       ' connection_id, link_by_email ON svc.%I FOR EACH ROW'
                       ' EXECUTE FUNCTION svc.connection_lost()', t);
    END LOOP;
END
$$;


REVOKE ALL ON FUNCTION svc.sign_in_by, svc.sign_in_realm, svc.domain_path, svc.domain_slug,
    svc.break_glass, svc.break_glass_keep, svc.connection_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.sign_in_by, svc.sign_in_realm, svc.domain_path, svc.domain_slug,
    svc.break_glass, svc.break_glass_keep, svc.connection_key TO svc_app;
