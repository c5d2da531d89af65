-- serves: 1
--
-- People come in by their own identity provider, or their own directory.  A connection is a
-- row of svc.social (OpenID Connect), svc.saml_sp or svc.ldap, and what all of them have
-- are columns of the same names.  Rows that there were vouch for nobody with a permission.


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['social', 'saml_sp', 'ldap']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I'

            -- the links of users hang on it: another issuer is another connection

            ' ADD COLUMN connection_id uuid NOT NULL DEFAULT gen_random_uuid(),'

            -- who comes from it, and what for; no domains: any

            ' ADD COLUMN domains        text[],'
            ' ADD COLUMN link_by_email  text COLLATE "C" NOT NULL DEFAULT ''owned'','
            ' ADD COLUMN trust_mfa      boolean NOT NULL DEFAULT false,'
            ' ADD COLUMN mfa_contexts   text[],'
            ' ADD COLUMN show_on_page   boolean NOT NULL DEFAULT %L,'
            ' ADD COLUMN label          text,'
            ' ADD COLUMN group_mapping  jsonb NOT NULL DEFAULT ''[]'','

            -- what whoever configured it may do: it brings in nobody who may do more

            ' ADD COLUMN vouched        text[] NOT NULL DEFAULT ''{}'','
            ' ADD COLUMN vouched_owner  boolean NOT NULL DEFAULT false,'
            ' ADD CONSTRAINT %I UNIQUE (tenant_id, connection_id),'
            ' ADD CONSTRAINT %I CHECK (cardinality(domains) BETWEEN 1 AND 50),'
            ' ADD CONSTRAINT %I CHECK (link_by_email IN (''never'', ''verified'', ''owned'')),'
            ' ADD CONSTRAINT %I CHECK (char_length(label) BETWEEN 1 AND 64),'
            ' ADD CONSTRAINT %I CHECK (jsonb_array_length(group_mapping) <= 200)',
            t, t = 'social', t || '_connection_key', t || '_domains_check', t || '_link_check',
            t || '_label_check', t || '_groups_check');
    END LOOP;
END
$$;


-- Without a secret the tenant is a public client of its provider.

ALTER TABLE svc.social
    ALTER COLUMN client_secret DROP NOT NULL,
    ADD COLUMN issuer             text COLLATE "C",         -- NULL: the provider's
    ADD COLUMN directory          text COLLATE "C",         -- Microsoft's "tenantId"
    ADD COLUMN allowed_tenants    text[],                   -- Microsoft's
    ADD COLUMN trust_email        boolean NOT NULL DEFAULT false,
    ADD COLUMN jit_provisioning   boolean NOT NULL DEFAULT false,
    ADD COLUMN attribute_mapping  jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN updated_at         timestamptz(3) NOT NULL DEFAULT now(),
    DROP CONSTRAINT social_provider_check,
    ADD CONSTRAINT social_provider_check
        CHECK (provider IN ('google', 'github', 'microsoft', 'apple', 'gitlab', 'linkedin',
                            'facebook', 'oidc')
               OR provider ~ '^oidc-[a-z0-9]{1,30}$'),
    ADD CONSTRAINT social_issuer_check
        CHECK (octet_length(issuer) <= 2048
               AND (issuer IS NOT NULL OR NOT starts_with(provider, 'oidc'))),
    ADD CONSTRAINT social_allowed_check CHECK (cardinality(allowed_tenants) BETWEEN 1 AND 100);


ALTER TABLE svc.ldap
    ADD COLUMN jit_provisioning       boolean NOT NULL DEFAULT false,
    ADD COLUMN unique_id_attribute    text,                 -- NULL: the directory's own
    ADD COLUMN ca_certificates        text,                 -- PEM; NULL: svc_ldap_ca_file
    ADD COLUMN sync_enabled           boolean NOT NULL DEFAULT false,
    ADD COLUMN sync_filter            text,
    ADD COLUMN sync_interval_minutes  integer NOT NULL DEFAULT 60,
    ADD COLUMN sync_deactivate        boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT ldap_filter_check,
    ADD CONSTRAINT ldap_filter_check
        CHECK ((user_filter LIKE '(%{email}%)') <> (user_filter LIKE '(%{local}%)')
               AND char_length(user_filter) <= 1024),
    ADD CONSTRAINT ldap_sync_check CHECK (sync_interval_minutes BETWEEN 15 AND 1440
                                          AND char_length(sync_filter) <= 1024);


-- What an issuer publishes, as it was fetched last; and when to look again.

CREATE TABLE svc.federation_meta (
    tenant_id      uuid            NOT NULL,
    connection_id  uuid            NOT NULL,
    document       jsonb,                                   -- what is used of its metadata
    jwks           jsonb,
    fetched_at     timestamptz(3),                          -- both are as old as this
    due_at         timestamptz(3)  NOT NULL DEFAULT now(),
    asked_at       timestamptz(3),                          -- when the last fetch began
    failed_at      timestamptz(3),                          -- NULL: the last try was good
    error          text,
    CONSTRAINT federation_meta_pkey PRIMARY KEY (tenant_id, connection_id),
    CONSTRAINT federation_meta_fkey FOREIGN KEY (tenant_id, connection_id)
        REFERENCES svc.social (tenant_id, connection_id) ON UPDATE CASCADE ON DELETE CASCADE
);

CREATE INDEX federation_meta_due_idx ON svc.federation_meta (due_at);

-- GitHub has nothing of the kind.

INSERT INTO svc.federation_meta (tenant_id, connection_id)
SELECT tenant_id, connection_id FROM svc.social WHERE provider <> 'github';


-- Whom an identity of a connection is.  Its subject is sealed: a hash finds it, of the
-- connection and the subject.

CREATE TABLE svc.federated_identity (
    tenant_id      uuid            NOT NULL
                       DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    connection_id  uuid            NOT NULL,
    subject_hash   bytea           NOT NULL,
    id             uuid            NOT NULL,
    user_id        uuid            NOT NULL,
    subject        bytea           NOT NULL,                -- sealed, for the id
    email_seen     text,                                    -- what its issuer said last
    linked_at      timestamptz(3)  NOT NULL DEFAULT now(),
    last_at        timestamptz(3),                          -- the last sign-in by it

    -- what the connection vouched for when the link was made

    vouched        text[]          NOT NULL DEFAULT '{}',
    vouched_owner  boolean         NOT NULL DEFAULT false,
    CONSTRAINT federated_identity_pkey PRIMARY KEY (tenant_id, connection_id, subject_hash),
    CONSTRAINT federated_identity_user_key UNIQUE (tenant_id, user_id, connection_id),
    CONSTRAINT federated_identity_id_key UNIQUE (tenant_id, id),
    CONSTRAINT federated_identity_hash_check CHECK (octet_length(subject_hash) = 32),
    CONSTRAINT federated_identity_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);


-- One journey of one browser.  "sealed" has what its return needs, and then what has come of
-- it; of a test, what was found.  A flow that was taken stays, and is good for nothing.

CREATE TABLE svc.federation_flow (
    tenant_id           uuid            NOT NULL
                            DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                            REFERENCES svc.tenant ON DELETE CASCADE,
    id                  uuid            NOT NULL,
    token_hash          bytea           NOT NULL,           -- SHA-256, of the state
    connection_id       uuid            NOT NULL,
    connection_version  timestamptz(3)  NOT NULL,           -- its updated_at
    purpose             text COLLATE "C" NOT NULL,
    binding_hash        bytea           NOT NULL,           -- of the cookie and the id
    nonce               text COLLATE "C",
    return_to           text,
    address             inet,                               -- of IPv6 its /64
    email_mac           bytea,                              -- the address that was named
    host                text COLLATE "C" NOT NULL,          -- where the browser is
    user_id             uuid,                               -- of purposes with a session
    root_id             uuid,
    invitation_id       uuid,
    min_auth_time       timestamptz(3),                     -- NULL: any
    subject_hash        bytea,                              -- once there is a proof
    sealed              bytea,                              -- the verifier, then the proof
    created_at          timestamptz(3)  NOT NULL DEFAULT now(),
    expires_at          timestamptz(3)  NOT NULL,
    used_at             timestamptz(3),
    CONSTRAINT federation_flow_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT federation_flow_token_key UNIQUE (token_hash),
    CONSTRAINT federation_flow_purpose_check
        CHECK (purpose IN ('sign_in', 'link', 'step_up', 'invite', 'test')),
    CONSTRAINT federation_flow_hash_check
        CHECK (octet_length(token_hash) = 32 AND octet_length(binding_hash) = 32
               AND octet_length(subject_hash) = 32),
    CONSTRAINT federation_flow_return_check CHECK (octet_length(return_to) <= 2048),
    CONSTRAINT federation_flow_sealed_check CHECK (octet_length(sealed) <= 17408)
) WITH (fillfactor = 70);

CREATE INDEX federation_flow_expires_idx ON svc.federation_flow (expires_at);
CREATE INDEX federation_flow_open_idx ON svc.federation_flow (tenant_id, expires_at)
    WHERE used_at IS NULL;
CREATE INDEX federation_flow_address_idx
    ON svc.federation_flow (tenant_id, address, created_at);


-- What may come once: logout tokens, assertions.

CREATE TABLE svc.federation_seen (
    tenant_id      uuid            NOT NULL
                       DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                       REFERENCES svc.tenant ON DELETE CASCADE,
    connection_id  uuid            NOT NULL,
    digest         bytea           NOT NULL,
    expires_at     timestamptz(3)  NOT NULL,
    CONSTRAINT federation_seen_pkey PRIMARY KEY (tenant_id, connection_id, digest),
    CONSTRAINT federation_seen_digest_check CHECK (octet_length(digest) = 32)
);

CREATE INDEX federation_seen_expires_idx ON svc.federation_seen (expires_at);


-- A session that began elsewhere ends when its issuer says so, and no later than that says.

ALTER TABLE svc.session
    ADD COLUMN connection_id     uuid,
    ADD COLUMN upstream_sid      bytea,                     -- SHA-256
    ADD COLUMN upstream_subject  bytea,                     -- as in svc.federated_identity
    ADD COLUMN upstream_acr      text;

CREATE INDEX session_upstream_idx ON svc.session (tenant_id, connection_id, upstream_subject)
    WHERE connection_id IS NOT NULL AND ended_at IS NULL;


-- Whoever may do more than before proves again who it is: the connection that a session
-- began by may not vouch for that.

CREATE FUNCTION svc.role_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE svc.session s SET ended_at = now()
     WHERE s.tenant_id = NEW.tenant_id AND s.user_id = NEW.id AND s.ended_at IS NULL
       AND s.connection_id IS NOT NULL;

    RETURN NULL;
END
$$;

CREATE FUNCTION svc.permissions_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE svc.session s SET ended_at = now()
      FROM svc.user_account u
     WHERE u.tenant_id = NEW.tenant_id AND u.role = NEW.key
       AND s.tenant_id = u.tenant_id AND s.user_id = u.id AND s.ended_at IS NULL
       AND s.connection_id IS NOT NULL;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.role_changed, svc.permissions_changed FROM PUBLIC;

CREATE TRIGGER role_changed AFTER UPDATE OF role ON svc.user_account
    FOR EACH ROW WHEN (NEW.role IS DISTINCT FROM OLD.role AND NEW.role <> 'member')
    EXECUTE FUNCTION svc.role_changed();
CREATE TRIGGER permissions_changed AFTER UPDATE OF permissions ON svc.role
    FOR EACH ROW WHEN (NOT NEW.permissions <@ OLD.permissions)
    EXECUTE FUNCTION svc.permissions_changed();


-- A membership that a connection's groups have made goes when they do; NULL: by hand.

ALTER TABLE svc.group_member ADD COLUMN origin uuid;


-- A code by mail can prove whose an identity's address is: "data" has its subject's hash.

ALTER TABLE svc.email_challenge
    DROP CONSTRAINT email_challenge_kind_check,
    ADD CONSTRAINT email_challenge_kind_check
        CHECK (kind IN ('sign_in', 'signup', 'verify', 'change', 'mfa', 'link'));


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['federation_meta', 'federated_identity', 'federation_flow',
                             'federation_seen']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
    END LOOP;
END
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON svc.federation_meta TO svc_app;
GRANT SELECT, INSERT, DELETE, UPDATE (email_seen, last_at, subject) ON svc.federated_identity
    TO svc_app;
GRANT SELECT, INSERT, UPDATE (token_hash, subject_hash, sealed, used_at) ON svc.federation_flow
    TO svc_app;
GRANT SELECT, INSERT ON svc.federation_seen TO svc_app;


-- The tenant of a flow: its state tells it, to a browser at the host where it began, unless
-- that is another tenant's domain by now.

CREATE FUNCTION svc.federation_tenant(hash bytea, host text)
    RETURNS TABLE (id uuid, slug text, suspended boolean, by_domain boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY
    SELECT t.id, t.slug, t.suspended_at IS NOT NULL, d.tenant_id IS NOT NULL
      FROM svc.federation_flow f
      JOIN svc.tenant t ON t.id = f.tenant_id
      LEFT JOIN svc.domain d ON d.domain = federation_tenant.host AND d.verified_at IS NOT NULL
     WHERE f.token_hash = hash
       AND f.host = federation_tenant.host
       AND t.id = coalesce(d.tenant_id, t.id);
END
$$;

REVOKE ALL ON FUNCTION svc.federation_tenant(bytea, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.federation_tenant(bytea, text) TO svc_app;


-- Takes those that are due, of all tenants.  One that was asked in the last minute is passed
-- over: its fetch may be under way.  What fails is tried again in five minutes, and once in
-- an hour where there is nothing that is good.

CREATE FUNCTION svc.federation_due(most integer)
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
    SELECT s.tenant_id, s.connection_id, s.provider, s.issuer, s.directory, due.asked_at
      FROM due
      JOIN svc.social s USING (tenant_id, connection_id)
     WHERE s.enabled;
END
$$;

REVOKE ALL ON FUNCTION svc.federation_due(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.federation_due(integer) TO svc_app;


-- Flows and replays go the way of other rows of sign-in.

CREATE OR REPLACE FUNCTION svc.sign_in_expire(most integer, login_window integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    n     integer;
    done  bigint := 0;
BEGIN
    DELETE FROM svc.session WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM svc.session s
         WHERE s.expires_at < now() - interval '1 hour'
         ORDER BY s.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.password_reset WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM svc.password_reset r
         WHERE r.expires_at < now() - interval '1 hour'
         ORDER BY r.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.login_phantom WHERE ctid = ANY (ARRAY(
        SELECT f.ctid FROM svc.login_phantom f
         WHERE f.failed_since < now() - make_interval(secs => login_window)
           AND coalesce(f.locked_until < now(), true)
         ORDER BY f.failed_since LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.sign_in WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM svc.sign_in s
         WHERE s.at < now() - interval '90 days'
         ORDER BY s.at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.factor WHERE ctid = ANY (ARRAY(
        SELECT f.ctid FROM svc.factor f
         WHERE f.confirmed_at IS NULL AND f.created_at < now() - interval '15 minutes'
         ORDER BY f.created_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.challenge WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM svc.challenge c
         WHERE c.expires_at < now() - interval '1 hour'
         ORDER BY c.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.challenge_used WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM svc.challenge_used c
         WHERE c.expires_at < now() - interval '1 minute'
         ORDER BY c.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.email_challenge WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM svc.email_challenge c
         WHERE c.expires_at < now() - interval '1 hour'
         ORDER BY c.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.organization_signup WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM svc.organization_signup o
         WHERE o.expires_at < now() - interval '1 hour'
         ORDER BY o.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.federation_flow WHERE ctid = ANY (ARRAY(
        SELECT f.ctid FROM svc.federation_flow f
         WHERE f.expires_at < now() - interval '1 hour'
         ORDER BY f.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    done := done + n;

    DELETE FROM svc.federation_seen WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM svc.federation_seen s
         WHERE s.expires_at < now() - interval '1 minute'
         ORDER BY s.expires_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;

    RETURN done + n;
END
$$;


-- Which keys they are sealed under.

CREATE INDEX federated_identity_sealed_idx
    ON svc.federated_identity ((svc.sealed_by(subject) COLLATE "C"));
CREATE INDEX federation_flow_sealed_idx
    ON svc.federation_flow ((svc.sealed_by(sealed) COLLATE "C"));

CREATE OR REPLACE FUNCTION svc.sealed_keys() RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
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
            ('federated_identity', 'svc.sealed_by(subject) COLLATE "C"', 'true'),
            ('federation_flow', 'svc.sealed_by(sealed) COLLATE "C"', 'true'),
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
