-- Second factors: one-time passwords by time, passkeys and recovery codes; and what
-- is asked for when one is needed.


-- A factor counts when it is confirmed.  The secret is that of one-time passwords,
-- sealed by the modules; last_step is that of the last one that was accepted.

CREATE TABLE svc.factor (
    tenant_id     uuid            NOT NULL,
    user_id       uuid            NOT NULL,
    id            uuid            NOT NULL,
    type          text            NOT NULL,
    name          text            NOT NULL,
    secret        bytea,
    last_step     bigint          NOT NULL DEFAULT 0,
    created_at    timestamptz(3)  NOT NULL DEFAULT now(),
    confirmed_at  timestamptz(3),
    last_used_at  timestamptz(3),
    CONSTRAINT factor_pkey PRIMARY KEY (tenant_id, user_id, id),
    CONSTRAINT factor_type_check CHECK (type IN ('totp', 'passkey')),
    CONSTRAINT factor_secret_check CHECK ((type = 'totp') = (secret IS NOT NULL)),
    CONSTRAINT factor_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE INDEX factor_unconfirmed_idx ON svc.factor (created_at)
    WHERE confirmed_at IS NULL;


-- What a factor that is a passkey is verified with.

CREATE TABLE svc.passkey (
    tenant_id        uuid      NOT NULL,
    credential_hash  bytea     NOT NULL,                -- SHA-256 of its id
    user_id          uuid      NOT NULL,
    factor_id        uuid      NOT NULL,
    credential_id    bytea     NOT NULL,
    public_key       bytea     NOT NULL,
    alg              integer   NOT NULL,                -- COSE's number
    rp_id            text      NOT NULL,
    sign_count       bigint    NOT NULL,
    be               boolean   NOT NULL,                -- may be backed up
    bs               boolean   NOT NULL,                -- is backed up
    transports       smallint  NOT NULL,                -- a bit for each
    aaguid           bytea     NOT NULL,
    CONSTRAINT passkey_pkey PRIMARY KEY (tenant_id, credential_hash),
    CONSTRAINT passkey_hash_check CHECK (octet_length(credential_hash) = 32),
    CONSTRAINT passkey_factor_fkey FOREIGN KEY (tenant_id, user_id, factor_id)
        REFERENCES svc.factor (tenant_id, user_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX passkey_factor_idx ON svc.passkey (tenant_id, user_id, factor_id);


-- A code that has been used is not there any more.

CREATE TABLE svc.recovery_code (
    tenant_id  uuid   NOT NULL,
    user_id    uuid   NOT NULL,
    mac        bytea  NOT NULL,                         -- of the code
    CONSTRAINT recovery_code_pkey PRIMARY KEY (tenant_id, user_id, mac),
    CONSTRAINT recovery_code_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
);


-- What a session is asked for: one at a time, with so many attempts, which stay the
-- session's when it goes on under another id.

CREATE TABLE svc.challenge (
    tenant_id   uuid            NOT NULL,
    root_id     uuid            NOT NULL,               -- of the session
    id          uuid            NOT NULL,
    user_id     uuid            NOT NULL,
    attempts    integer         NOT NULL DEFAULT 0,
    expires_at  timestamptz(3)  NOT NULL,
    CONSTRAINT challenge_pkey PRIMARY KEY (tenant_id, root_id),
    CONSTRAINT challenge_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE INDEX challenge_user_idx ON svc.challenge (tenant_id, user_id);
CREATE INDEX challenge_expiry_idx ON svc.challenge (expires_at);


-- Challenges of passkeys say themselves what they are for: that one was used is
-- known until it is too old.

CREATE TABLE svc.challenge_used (
    tenant_id   uuid         NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    hash        bytea        NOT NULL,
    expires_at  timestamptz  NOT NULL,
    CONSTRAINT challenge_used_pkey PRIMARY KEY (tenant_id, hash),
    CONSTRAINT challenge_used_hash_check CHECK (octet_length(hash) = 32)
);

CREATE INDEX challenge_used_expiry_idx ON svc.challenge_used (expires_at);


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['factor', 'passkey', 'recovery_code', 'challenge',
                             'challenge_used']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON svc.%I TO svc_app', t);
    END LOOP;
END
$$;


-- Whether a user has a factor that counts; without one there is nothing to recover.
-- Whoever changes factors holds the user's lock.

CREATE FUNCTION svc.factor_enrolled() RETURNS trigger
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    tenant    uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
    who       uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.user_id ELSE NEW.user_id END;
    enrolled  boolean;
BEGIN
    enrolled := EXISTS (SELECT FROM svc.factor f
                         WHERE f.tenant_id = tenant AND f.user_id = who
                           AND f.confirmed_at IS NOT NULL);

    UPDATE svc.user_account u SET mfa_enrolled = enrolled
     WHERE u.tenant_id = tenant AND u.id = who AND u.mfa_enrolled <> enrolled;

    IF NOT enrolled THEN
        DELETE FROM svc.recovery_code c WHERE c.tenant_id = tenant AND c.user_id = who;
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER factor_added AFTER INSERT ON svc.factor
    FOR EACH ROW WHEN (NEW.confirmed_at IS NOT NULL)
    EXECUTE FUNCTION svc.factor_enrolled();
CREATE TRIGGER factor_confirmed AFTER UPDATE OF confirmed_at ON svc.factor
    FOR EACH ROW WHEN (NEW.confirmed_at IS DISTINCT FROM OLD.confirmed_at)
    EXECUTE FUNCTION svc.factor_enrolled();
CREATE TRIGGER factor_removed AFTER DELETE ON svc.factor
    FOR EACH ROW WHEN (OLD.confirmed_at IS NOT NULL)
    EXECUTE FUNCTION svc.factor_enrolled();


-- As before, and factors that were not confirmed within 15 minutes, and challenges.

CREATE OR REPLACE FUNCTION svc.sign_in_expire(most integer, login_window integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
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

    RETURN done + n;
END
$$;
