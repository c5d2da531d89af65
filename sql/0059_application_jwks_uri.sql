-- serves: 1
--
-- An application may name where it publishes its keys, in place of the keys: "jwks" is then
-- what was fetched there last.


ALTER TABLE svc.application
    ADD COLUMN jwks_uri         text COLLATE "C",
    ADD COLUMN jwks_fetched_at  timestamptz(3),             -- the keys are as old as this
    ADD COLUMN jwks_due_at      timestamptz(3),             -- when to look again
    ADD COLUMN jwks_asked_at    timestamptz(3),             -- when the last fetch began
    ADD COLUMN jwks_failed_at   timestamptz(3),             -- NULL: the last one was good
    ADD COLUMN jwks_error       text,
    DROP CONSTRAINT application_keys_check,
    ADD CONSTRAINT application_keys_check
        CHECK ((auth_method = 'private_key_jwt') = (jwks IS NOT NULL OR jwks_uri IS NOT NULL)),
    ADD CONSTRAINT application_jwks_uri_check
        CHECK (octet_length(jwks_uri) <= 2048
               AND (jwks_due_at IS NULL) = (jwks_uri IS NULL)
               AND (jwks_fetched_at IS NULL) = (jwks_uri IS NULL OR jwks IS NULL));

CREATE INDEX application_jwks_due_idx ON svc.application (jwks_due_at)
    WHERE jwks_due_at IS NOT NULL;

GRANT UPDATE (jwks_uri, jwks_fetched_at, jwks_due_at, jwks_asked_at, jwks_failed_at, jwks_error)
    ON svc.application TO svc_app;


-- Takes applications whose keys are to be fetched.  One that was asked for in the last
-- minute is passed over: its fetch may be under way.  What fails is tried again in five
-- minutes, and once in an hour where there are no keys that are good.

CREATE FUNCTION svc.application_jwks_take(most integer)
    RETURNS TABLE (tenant_id uuid, client_id text, jwks_uri text, jwks_asked_at timestamptz)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
    WITH due AS MATERIALIZED (
        SELECT a.tenant_id, a.client_id FROM svc.application a
         WHERE a.jwks_due_at <= now()
           AND coalesce(a.jwks_asked_at < now() - interval '1 minute', true)
         ORDER BY a.jwks_due_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE svc.application a
       SET jwks_asked_at = now(),
           jwks_due_at = now() + CASE WHEN a.jwks_fetched_at > now() - interval '7 days'
                                      THEN interval '5 minutes' ELSE interval '1 hour' END
      FROM due
     WHERE a.tenant_id = due.tenant_id AND a.client_id = due.client_id
    RETURNING a.tenant_id, a.client_id, a.jwks_uri, a.jwks_asked_at
$$;

REVOKE ALL ON FUNCTION svc.application_jwks_take FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.application_jwks_take TO svc_app;
