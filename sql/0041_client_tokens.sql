-- serves: 1
--
-- A client's own tokens say all of themselves: whoever is asked about one looks at the
-- client and at what was revoked, and the row in svc.oauth_token comes behind the answer.


-- --- what an application's row has of its tenant -----------------------------------------

-- Each trigger sets what has changed, from the new row: two changes at a time never undo
-- one another.

ALTER TABLE svc.application
    ADD COLUMN tenant_slug          text,
    ADD COLUMN tenant_suspended_at  timestamptz(3),
    ADD COLUMN tenant_valid_after   timestamptz,              -- older tokens are dead
    ADD COLUMN orphan_action        text COLLATE "C",
    ADD COLUMN orphan_grace_hours   integer,
    ADD COLUMN active_kid           text COLLATE "C";         -- NULL: none, or it is revoked

UPDATE svc.application client
   SET tenant_slug = tenant.slug,
       tenant_suspended_at = tenant.suspended_at,
       tenant_valid_after = settings.tokens_valid_after,
       orphan_action = settings.orphan_action,
       orphan_grace_hours = settings.orphan_grace_hours,
       active_kid = (SELECT signing.kid FROM svc.oauth_key signing
                      WHERE signing.tenant_id = settings.tenant_id
                        AND signing.kid = settings.active_kid
                        AND signing.revoked_at IS NULL)
  FROM svc.tenant tenant, svc.oauth_tenant settings
 WHERE tenant.id = client.tenant_id AND settings.tenant_id = client.tenant_id;

ALTER TABLE svc.application
    ALTER COLUMN tenant_slug SET NOT NULL,
    ALTER COLUMN orphan_action SET NOT NULL,
    ALTER COLUMN orphan_grace_hours SET NOT NULL;


-- A new application waits for a change of its tenant that is under way, and the change for
-- the application: the one that comes second sees the other.

CREATE FUNCTION svc.application_tenant() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT tenant.slug, tenant.suspended_at
      INTO NEW.tenant_slug, NEW.tenant_suspended_at
      FROM svc.tenant tenant WHERE tenant.id = NEW.tenant_id FOR SHARE;

    SELECT settings.tokens_valid_after, settings.orphan_action, settings.orphan_grace_hours,
           settings.active_kid
      INTO NEW.tenant_valid_after, NEW.orphan_action, NEW.orphan_grace_hours, NEW.active_kid
      FROM svc.oauth_tenant settings WHERE settings.tenant_id = NEW.tenant_id FOR SHARE;

    NEW.active_kid := svc.oauth_key_good(NEW.tenant_id, NEW.active_kid);

    RETURN NEW;
END
$$;


-- The key, if it is not revoked, and is not until this transaction has ended.

CREATE FUNCTION svc.oauth_key_good(tenant uuid, id text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    good  text;
BEGIN
    SELECT signing.kid INTO good FROM svc.oauth_key signing
     WHERE signing.tenant_id = tenant AND signing.kid = id AND signing.revoked_at IS NULL
       FOR SHARE;

    RETURN good;
END
$$;


CREATE FUNCTION svc.tenant_to_applications() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE svc.application client
       SET tenant_slug = NEW.slug, tenant_suspended_at = NEW.suspended_at
     WHERE client.tenant_id = NEW.id;

    RETURN NULL;
END
$$;

CREATE FUNCTION svc.oauth_tenant_to_applications() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    good  text := svc.oauth_key_good(NEW.tenant_id, NEW.active_kid);
BEGIN
    UPDATE svc.application client
       SET tenant_valid_after = NEW.tokens_valid_after,
           orphan_action = NEW.orphan_action,
           orphan_grace_hours = NEW.orphan_grace_hours,
           active_kid = good
     WHERE client.tenant_id = NEW.tenant_id;

    RETURN NULL;
END
$$;

CREATE FUNCTION svc.oauth_key_to_applications() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE svc.application client SET active_kid = NULL
     WHERE client.tenant_id = NEW.tenant_id AND client.active_kid = NEW.kid;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.application_tenant, svc.oauth_key_good,
    svc.tenant_to_applications, svc.oauth_tenant_to_applications,
    svc.oauth_key_to_applications FROM PUBLIC;

CREATE TRIGGER application_tenant BEFORE INSERT ON svc.application
    FOR EACH ROW EXECUTE FUNCTION svc.application_tenant();
CREATE TRIGGER tenant_to_applications AFTER UPDATE OF slug, suspended_at ON svc.tenant
    FOR EACH ROW EXECUTE FUNCTION svc.tenant_to_applications();
CREATE TRIGGER oauth_tenant_to_applications
    AFTER UPDATE OF tokens_valid_after, orphan_action, orphan_grace_hours, active_kid
    ON svc.oauth_tenant
    FOR EACH ROW EXECUTE FUNCTION svc.oauth_tenant_to_applications();
CREATE TRIGGER oauth_key_to_applications AFTER UPDATE OF revoked_at ON svc.oauth_key
    FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL)
    EXECUTE FUNCTION svc.oauth_key_to_applications();


-- --- what was revoked ----------------------------------------------------------------------

-- Few rows, however many tokens there are: a token is in it until it would have ended.

CREATE TABLE svc.oauth_revoked (
    tenant_id   uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    jti         uuid            NOT NULL,
    expires_at  timestamptz(3)  NOT NULL,
    CONSTRAINT oauth_revoked_pkey PRIMARY KEY (tenant_id, jti)
);

CREATE INDEX oauth_revoked_expires_idx ON svc.oauth_revoked (expires_at);

ALTER TABLE svc.oauth_revoked ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE svc.oauth_revoked ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON svc.oauth_revoked
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);

GRANT SELECT ON svc.oauth_revoked TO svc_app;

INSERT INTO svc.oauth_revoked (tenant_id, jti, expires_at)
SELECT token.tenant_id, token.jti, token.issued_at + make_interval(secs => token.ttl)
  FROM svc.oauth_token token
 WHERE token.issued_at > now() - interval '1 day' AND token.revoked_at IS NOT NULL
   AND token.issued_at + make_interval(secs => token.ttl) > now();


-- Whoever revokes a token marks its row.

CREATE FUNCTION svc.oauth_token_revoked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO svc.oauth_revoked (tenant_id, jti, expires_at)
    VALUES (NEW.tenant_id, NEW.jti, NEW.issued_at + make_interval(secs => NEW.ttl))
    ON CONFLICT DO NOTHING;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.oauth_token_revoked FROM PUBLIC;

CREATE TRIGGER oauth_token_revoked AFTER UPDATE OF revoked_at ON svc.oauth_token
    FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL)
    EXECUTE FUNCTION svc.oauth_token_revoked();


-- --- rows that come behind the answer ------------------------------------------------------

-- Of clients' own tokens, of any tenants: one place in each array for a token.  What an
-- exchange or a revocation has stored in the meantime lacks where it was issued to.

CREATE FUNCTION svc.oauth_token_keep(tenants uuid[], jtis uuid[], ms bigint[], clients text[],
    scopes text[], audiences text[], audience_keys text[], secret_hashes bytea[], kids text[],
    jkts bytea[], ttls integer[], ips inet[], countries text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals, grant_type,
                                 scopes, audience, audience_key, secret_hash, kid, jkt, ttl,
                                 ip, country)
    SELECT issued.tenant, issued.jti,
           to_timestamp(issued.ms::float8 / 1000)::timestamptz(3),
           issued.client, ARRAY[issued.client], 'client_credentials',
           string_to_array(issued.scope, ' '), issued.audience, issued.audience_key,
           issued.secret_hash, issued.kid, issued.jkt, issued.ttl, issued.ip, issued.country
      FROM unnest(tenants, jtis, ms, clients, scopes, audiences, audience_keys, secret_hashes,
                  kids, jkts, ttls, ips, countries)
           AS issued (tenant, jti, ms, client, scope, audience, audience_key, secret_hash, kid,
                      jkt, ttl, ip, country)
     ORDER BY issued.jti
    ON CONFLICT (tenant_id, jti, issued_at)
    DO UPDATE SET ip = excluded.ip, country = excluded.country;
END
$$;

REVOKE ALL ON FUNCTION svc.oauth_token_keep FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.oauth_token_keep TO svc_app;


-- What ends with what was revoked goes with the rest.

CREATE OR REPLACE FUNCTION svc.oauth_expire(most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC'
SET enable_seqscan = off AS $$
DECLARE
    swept  timestamptz := (SELECT date_trunc('hour', s.swept_to) FROM svc.agent_sweep s);
    rule   record;
    n      bigint;
    done   bigint := 0;
BEGIN
    -- of a code that nobody has used the grant goes, and with it the code

    DELETE FROM svc.oauth_grant g USING (
        SELECT k.tenant_id, k.grant_id FROM svc.oauth_code k
         WHERE k.expires_at < now() - interval '1 day' AND k.used_at IS NULL
         ORDER BY k.expires_at LIMIT most FOR UPDATE SKIP LOCKED) c
     WHERE g.tenant_id = c.tenant_id AND g.id = c.grant_id;
    GET DIAGNOSTICS done = ROW_COUNT;

    FOR rule IN
        SELECT * FROM (VALUES
            ('oauth_once', 'expires_at', now()),
            ('oauth_revoked', 'expires_at', now()),
            ('oauth_code', 'expires_at', now() - interval '1 day'),
            ('oauth_refresh', 'expires_at', now() - interval '1 day'),
            ('oauth_grant', 'expires_at', now() - interval '1 day'),
            ('agent_minute', 'minute', swept - interval '28 days'),
            ('agent_hour', 'hour', swept - interval '28 days'),
            ('agent_seen', 'last_at', swept - interval '180 days')) v (tbl, col, until)
    LOOP
        EXECUTE format('DELETE FROM svc.%I WHERE ctid = ANY (ARRAY('
                       'SELECT k.ctid FROM svc.%1$I k WHERE k.%I < $1'
                       ' ORDER BY k.%2$I LIMIT $2 FOR UPDATE SKIP LOCKED))',
                       rule.tbl, rule.col) USING rule.until, most;
        GET DIAGNOSTICS n = ROW_COUNT;
        done := done + n;
    END LOOP;

    RETURN done;
END
$$;
