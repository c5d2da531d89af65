-- serves: 1
--
-- What an application proves itself with when it is no secret: public keys; and requests
-- for codes that it sends by itself before the browser brings them.


ALTER TABLE svc.application
    ADD COLUMN jwks              jsonb,                         -- RFC 7517, 5
    ADD COLUMN require_par       boolean NOT NULL DEFAULT false,
    ADD COLUMN security_profile  text COLLATE "C",              -- NULL: none
    DROP CONSTRAINT application_method_check,
    ADD CONSTRAINT application_method_check
        CHECK (auth_method IN ('client_secret_basic', 'private_key_jwt', 'none')),
    ADD CONSTRAINT application_keys_check
        CHECK ((auth_method = 'private_key_jwt') = (jwks IS NOT NULL)),
    ADD CONSTRAINT application_profile_check CHECK (security_profile = 'fapi2'),
    ADD CONSTRAINT application_fapi2_check
        CHECK (security_profile IS NULL
               OR (auth_method = 'private_key_jwt' AND require_par AND require_dpop
                   AND require_pkce AND signing_alg = 'ES256'));

GRANT UPDATE (auth_method, jwks, require_par, security_profile) ON svc.application TO svc_app;


-- By its keys a client is found as by a secret: SHA-256 of a byte that is 3, of the
-- clientId, of a NUL, and of the SHA-256 of the keys and the profile.

ALTER TABLE svc.oauth_login
    DROP CONSTRAINT oauth_login_kind_check,
    ADD CONSTRAINT oauth_login_kind_check CHECK (kind IN ('id', 'secret', 'keys'));


-- Requests that are pushed (RFC 9126), by SHA-256 of what follows the URN.  A foreign key
-- would lock the application's row, and log that, at each.  Those of an application go with
-- it all the same.

CREATE TABLE svc.oauth_par (
    tenant_id   uuid            NOT NULL,
    digest      bytea           NOT NULL,
    client_id   text COLLATE "C" NOT NULL,
    params      text            NOT NULL,                       -- a query
    jkt         bytea,                                          -- of a DPoP proof
    browser     bytea,                                          -- whose it is, once one came
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    expires_at  timestamptz(3)  NOT NULL,
    used_at     timestamptz(3),                                 -- a code or an error has left
    CONSTRAINT oauth_par_pkey PRIMARY KEY (tenant_id, digest),
    CONSTRAINT oauth_par_digest_check CHECK (octet_length(digest) = 32),
    CONSTRAINT oauth_par_jkt_check CHECK (octet_length(jkt) = 32),
    CONSTRAINT oauth_par_browser_check CHECK (octet_length(browser) = 32),
    CONSTRAINT oauth_par_params_check CHECK (octet_length(params) <= 16384)
) WITH (fillfactor = 80);

CREATE INDEX oauth_par_client_idx ON svc.oauth_par (tenant_id, client_id);
CREATE INDEX oauth_par_expires_idx ON svc.oauth_par (expires_at);

ALTER TABLE svc.oauth_par ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE svc.oauth_par ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.oauth_par
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE (browser, expires_at, used_at) ON svc.oauth_par TO svc_app;

CREATE FUNCTION svc.application_gone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM svc.oauth_par p
     WHERE p.tenant_id = OLD.tenant_id AND p.client_id = OLD.client_id;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.application_gone FROM PUBLIC;

CREATE TRIGGER application_gone AFTER DELETE ON svc.application
    FOR EACH ROW EXECUTE FUNCTION svc.application_gone();


-- A refresh token of FAPI 2.0 stays what it is when it is used, and is idle from then on.

GRANT UPDATE (expires_at) ON svc.oauth_refresh TO svc_app;


-- What was pushed goes when it is over.

CREATE OR REPLACE FUNCTION svc.oauth_expire(most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC'
SET enable_seqscan = off SET jit = off AS $$
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
            ('oauth_par', 'expires_at', now()),
            ('oauth_revoked', 'expires_at', now() - interval '1 day'),
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
