-- serves: 1
--
-- Under which keys secrets are sealed: so that a key that is still needed is missed
-- before anybody wants to sign in.


-- The id of the key, which is in clear in front of what is sealed.  A password that was
-- imported, and begins with "$", has none.  Without STRICT, which would have it called
-- for each row: it is put into the expression instead.

CREATE FUNCTION svc.sealed_by(sealed bytea) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(sealed) > 0 AND get_byte(sealed, 0) BETWEEN 1 AND 32
                THEN encode(substr(sealed, 2, get_byte(sealed, 0)), 'escape') END;

REVOKE ALL ON FUNCTION svc.sealed_by(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.sealed_by(bytea) TO svc_app;


-- Of a million rows there are a few keys: an index finds each at one look.

CREATE INDEX password_sealed_idx
    ON svc.password ((svc.sealed_by(hash) COLLATE "C"));
CREATE INDEX password_history_sealed_idx
    ON svc.password_history ((svc.sealed_by(hash) COLLATE "C"));
CREATE INDEX factor_sealed_idx
    ON svc.factor ((svc.sealed_by(secret) COLLATE "C"));
CREATE INDEX email_challenge_sealed_idx
    ON svc.email_challenge ((svc.sealed_by(data) COLLATE "C"))
    WHERE kind IN ('signup', 'change');
CREATE INDEX organization_signup_sealed_idx
    ON svc.organization_signup ((svc.sealed_by(data) COLLATE "C"));
CREATE INDEX ldap_sealed_idx
    ON svc.ldap ((svc.sealed_by(bind_password) COLLATE "C"));
CREATE INDEX social_sealed_idx
    ON svc.social ((svc.sealed_by(client_secret) COLLATE "C"));
CREATE INDEX saml_idp_sealed_idx
    ON svc.saml_idp ((svc.sealed_by(private_key) COLLATE "C"));
CREATE INDEX webhook_endpoint_sealed_idx
    ON svc.webhook_endpoint ((svc.sealed_by(secret) COLLATE "C"));
CREATE INDEX oauth_key_sealed_idx
    ON svc.oauth_key ((svc.sealed_by(sealed) COLLATE "C"));
CREATE INDEX scim_target_sealed_idx
    ON svc.scim_target ((svc.sealed_by(token) COLLATE "C"));


-- A recovery code's MAC is under a key, too.  Where there is but one key, those that are
-- there already are under it; otherwise nobody knows: NULL.

DO $$
DECLARE
    ids  text[];
BEGIN
    SELECT array_agg(DISTINCT k.id) INTO ids
      FROM (SELECT svc.sealed_by(hash) FROM svc.password
            UNION SELECT svc.sealed_by(secret) FROM svc.factor
            UNION SELECT svc.sealed_by(secret) FROM svc.webhook_endpoint
            UNION SELECT svc.sealed_by(sealed) FROM svc.oauth_key) k (id)
     WHERE k.id IS NOT NULL;

    EXECUTE 'ALTER TABLE svc.recovery_code ADD COLUMN key_id text COLLATE "C"'
        || CASE WHEN cardinality(ids) = 1 THEN format(' DEFAULT %L', ids[1]) ELSE '' END;
END
$$;

ALTER TABLE svc.recovery_code
    ALTER COLUMN key_id DROP DEFAULT,
    ADD CONSTRAINT recovery_code_key_check CHECK (length(key_id) BETWEEN 1 AND 32);

CREATE INDEX recovery_code_key_idx ON svc.recovery_code (key_id);


-- The keys that rows of all tenants need, each once: from one id to the next in each of
-- the indexes, which takes a millisecond however many rows there are.

CREATE FUNCTION svc.sealed_keys() RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    place  record;
    id     text;
    ids    text[] := '{}';
BEGIN
    FOR place IN
        SELECT * FROM (VALUES
            ('password', 'svc.sealed_by(hash) COLLATE "C"', 'true'),
            ('password_history', 'svc.sealed_by(hash) COLLATE "C"', 'true'),
            ('factor', 'svc.sealed_by(secret) COLLATE "C"', 'true'),
            ('email_challenge', 'svc.sealed_by(data) COLLATE "C"',
             'kind IN (''signup'', ''change'')'),
            ('organization_signup', 'svc.sealed_by(data) COLLATE "C"', 'true'),
            ('ldap', 'svc.sealed_by(bind_password) COLLATE "C"', 'true'),
            ('social', 'svc.sealed_by(client_secret) COLLATE "C"', 'true'),
            ('saml_idp', 'svc.sealed_by(private_key) COLLATE "C"', 'true'),
            ('webhook_endpoint', 'svc.sealed_by(secret) COLLATE "C"', 'true'),
            ('oauth_key', 'svc.sealed_by(sealed) COLLATE "C"', 'true'),
            ('scim_target', 'svc.sealed_by(token) COLLATE "C"', 'true'),
            ('recovery_code', 'key_id', 'true')) p (name, key, condition)
    LOOP
        id := '';

        LOOP
            EXECUTE format('SELECT %s FROM svc.%I WHERE %s > $1 AND %s'
                           ' ORDER BY 1 LIMIT 1',
                           place.key, place.name, place.key, place.condition)
               INTO id USING id;
            EXIT WHEN id IS NULL;
            ids := ids || id;
        END LOOP;
    END LOOP;

    RETURN QUERY SELECT DISTINCT k FROM unnest(ids) k ORDER BY 1;
END
$$;

REVOKE ALL ON FUNCTION svc.sealed_keys() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.sealed_keys() TO svc_app;
