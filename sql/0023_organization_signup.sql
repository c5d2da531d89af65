-- Organizations that their first owners sign up.


-- Such a sign-up waits for its code, as those of svc.email_challenge do, but for a
-- tenant: there is none yet.  So nobody reads or writes it but by what follows.

CREATE TABLE svc.organization_signup (
    id            uuid            NOT NULL,
    slug          text COLLATE "C" NOT NULL,            -- of the tenant that is to be
    email_mac     bytea           NOT NULL,
    code_mac      bytea           NOT NULL,
    token_hash    bytea           NOT NULL,
    binding_hash  bytea           NOT NULL,
    attempts      integer         NOT NULL DEFAULT 0,
    data          bytea           NOT NULL,
    void          boolean         NOT NULL,
    created_at    timestamptz     NOT NULL DEFAULT clock_timestamp(),
    expires_at    timestamptz(3)  NOT NULL,
    used_at       timestamptz,
    CONSTRAINT organization_signup_pkey PRIMARY KEY (id),
    CONSTRAINT organization_signup_token_key UNIQUE (token_hash),
    CONSTRAINT organization_signup_mac_check
        CHECK (octet_length(email_mac) = 16 AND octet_length(code_mac) = 16),
    CONSTRAINT organization_signup_hash_check
        CHECK (octet_length(token_hash) = 32 AND octet_length(binding_hash) = 32),
    CONSTRAINT organization_signup_data_check CHECK (octet_length(data) <= 8192)
) WITH (fillfactor = 80);

CREATE INDEX organization_signup_mac_idx
    ON svc.organization_signup (email_mac, created_at);
CREATE INDEX organization_signup_expiry_idx ON svc.organization_signup (expires_at);

ALTER TABLE svc.organization_signup ENABLE ROW LEVEL SECURITY;
CREATE POLICY nobody ON svc.organization_signup USING (false);


CREATE FUNCTION svc.organization_taken(wanted text) RETURNS boolean
    LANGUAGE sql STABLE STRICT SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS
$$
    SELECT EXISTS (SELECT FROM svc.tenant t WHERE t.slug = wanted)
$$;


-- A new one: no row when there are as many as "most" of them.  A mail in 30 seconds
-- and ten in an hour are enough for an address: beyond that it is void, and ends
-- nothing; otherwise there are three that are good.

CREATE FUNCTION svc.organization_open(new uuid, wanted text, mac bytea, code bytea,
    token bytea, binding bytea, sealed bytea, life integer, most integer)
    RETURNS TABLE (id uuid, expires_at timestamptz, void boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    enough  boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('svc.organization_signup'), 0);

    IF (SELECT count(*) >= most FROM (
            SELECT FROM svc.organization_signup o
             WHERE o.expires_at > now() AND o.used_at IS NULL AND NOT o.void
             LIMIT most) o)
    THEN
        RETURN;
    END IF;

    SELECT count(*) >= 10
           OR coalesce(max(o.created_at) > now() - interval '30 seconds', false)
      INTO enough
      FROM svc.organization_signup o
     WHERE o.email_mac = mac AND o.created_at > now() - interval '1 hour'
       AND NOT o.void;

    IF NOT enough THEN
        UPDATE svc.organization_signup o SET expires_at = now()
         WHERE o.id IN (
            SELECT k.id FROM svc.organization_signup k
             WHERE k.email_mac = mac AND k.created_at > now() - interval '1 day'
               AND k.used_at IS NULL AND k.expires_at > now()
             ORDER BY k.email_mac, k.created_at DESC OFFSET 2);
    END IF;

    RETURN QUERY
    INSERT INTO svc.organization_signup AS o (id, slug, email_mac, code_mac, token_hash,
                                              binding_hash, data, void, expires_at)
    VALUES (new, wanted, mac, code, token, binding, sealed, enough,
            now() + make_interval(secs => life))
    RETURNING o.id, o.expires_at::timestamptz, o.void;
END
$$;


-- An attempt at one, by its id or the digest of its link, which takes none; no row
-- when it is over.

CREATE FUNCTION svc.organization_try(which uuid, token bytea, most integer,
    binding bytea)
    RETURNS TABLE (id uuid, code_mac bytea, data bytea, void boolean, bound boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    UPDATE svc.organization_signup o
       SET attempts = o.attempts + CASE WHEN token IS NULL THEN 1 ELSE 0 END
     WHERE o.id = coalesce(which, (SELECT k.id FROM svc.organization_signup k
                                    WHERE k.token_hash = token))
       AND o.used_at IS NULL AND o.expires_at > now() AND o.attempts < most
    RETURNING o.id, o.code_mac, o.data, o.void,
              coalesce(o.binding_hash = binding, false);
END
$$;


-- Makes the tenant of one that has been shown, once: "made", "taken" when there is
-- a tenant with its slug, and then it stays as it is, or "over".

CREATE FUNCTION svc.organization_create(which uuid, tenant uuid, title text)
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

    INSERT INTO svc.tenant (id, slug, name) VALUES (tenant, wanted, title)
        ON CONFLICT DO NOTHING;

    IF NOT FOUND THEN
        RETURN 'taken';
    END IF;

    UPDATE svc.organization_signup o SET used_at = now() WHERE o.id = which;
    RETURN 'made';
END
$$;

REVOKE ALL ON FUNCTION svc.organization_taken, svc.organization_open,
    svc.organization_try, svc.organization_create FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.organization_taken, svc.organization_open,
    svc.organization_try, svc.organization_create TO svc_app;


-- As before, and what was mailed: an hour after it is over, for which it counts.

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

    RETURN done + n;
END
$$;
