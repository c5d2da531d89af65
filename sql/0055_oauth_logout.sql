-- serves: 1
--
-- Whoever is to be told that a session has ended (OpenID Connect Back-Channel Logout 1.0).
--
-- A grant from which something follows when its session ends marks that session, and its
-- user, so that triggers on what ends one cost nothing where there is none, and no way to
-- end one can be forgotten.  What follows is of the transaction that has ended it.  A
-- session that expires is not ended.


ALTER TABLE svc.application ADD COLUMN watches boolean GENERATED ALWAYS AS
    (backchannel_logout_uri IS NOT NULL OR refresh_tokens = 'always') STORED;
ALTER TABLE svc.oauth_grant ADD COLUMN watches boolean NOT NULL DEFAULT false;
ALTER TABLE svc.session ADD COLUMN watched boolean NOT NULL DEFAULT false;
ALTER TABLE svc.user_account ADD COLUMN watched boolean NOT NULL DEFAULT false;

CREATE INDEX oauth_grant_watches_idx ON svc.oauth_grant (tenant_id, user_id, session_id)
    WHERE watches;


-- Those that wait to be told: an application, of a session.

CREATE TABLE svc.oauth_logout (
    tenant_id   uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    client_id   text COLLATE "C" NOT NULL,
    root_id     uuid            NOT NULL,                     -- the session's
    user_id     uuid            NOT NULL,                     -- who may be gone by now
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    due_at      timestamptz(3)  NOT NULL DEFAULT now(),
    attempts    smallint        NOT NULL DEFAULT 0,           -- that have begun
    CONSTRAINT oauth_logout_pkey PRIMARY KEY (tenant_id, client_id, root_id)
) WITH (fillfactor = 70);

CREATE INDEX oauth_logout_due_idx ON svc.oauth_logout (due_at);

ALTER TABLE svc.oauth_logout ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE svc.oauth_logout ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.oauth_logout
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, DELETE, UPDATE (due_at, attempts) ON svc.oauth_logout TO svc_app;


-- A session has ended.  A grant that has a refresh token without "offline_access" ends with
-- it.  What nobody has fetched for a day is of no use.

CREATE FUNCTION svc.oauth_session_over(tenant uuid, owner uuid, root uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM svc.oauth_logout l
     WHERE l.tenant_id = tenant AND l.created_at < now() - interval '1 day';

    WITH o AS (
        UPDATE svc.oauth_grant g
           SET watches = false,
               revoked_at = CASE WHEN e.ends THEN coalesce(g.revoked_at, now())
                            ELSE g.revoked_at END,
               reason = CASE WHEN e.ends AND g.revoked_at IS NULL THEN 'session_ended'
                        ELSE g.reason END
          FROM (SELECT k.id, NOT 'offline_access' = ANY (k.scopes)
                       AND (a.refresh_tokens = 'always'
                            OR EXISTS (SELECT FROM svc.oauth_refresh f
                                        WHERE f.tenant_id = tenant AND f.grant_id = k.id))
                       AS ends
                  FROM svc.oauth_grant k
                  JOIN svc.application a ON a.tenant_id = tenant
                                        AND a.client_id = k.client_id
                 WHERE k.tenant_id = tenant AND k.user_id = owner AND k.session_id = root
                   AND k.watches) e
         WHERE g.tenant_id = tenant AND g.id = e.id AND g.watches
        RETURNING g.client_id
    )
    INSERT INTO svc.oauth_logout (tenant_id, client_id, root_id, user_id)
    SELECT tenant, a.client_id, root, owner FROM svc.application a
     WHERE a.tenant_id = tenant AND a.backchannel_logout_uri IS NOT NULL
       AND a.client_id = ANY (ARRAY(SELECT o.client_id FROM o))
    ON CONFLICT DO NOTHING;
END
$$;


-- A new grant: the session is marked, or has ended in this moment.  Who gives a session
-- another secret ends a row and makes another one, which is marked in place of it.

CREATE FUNCTION svc.oauth_grant_watch() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    live  uuid;
BEGIN
    UPDATE svc.user_account u SET watched = true
     WHERE u.tenant_id = NEW.tenant_id AND u.id = NEW.user_id AND NOT u.watched;

    LOOP
        SELECT s.id INTO live FROM svc.session s
         WHERE s.tenant_id = NEW.tenant_id AND s.user_id = NEW.user_id
           AND s.ended_at IS NULL AND coalesce(s.root_id, s.id) = NEW.session_id
         LIMIT 1 FOR NO KEY UPDATE;

        EXIT WHEN FOUND;

        -- another one may have come while this waited for the lock of the one before

        PERFORM FROM svc.session s
          WHERE s.tenant_id = NEW.tenant_id AND s.user_id = NEW.user_id
            AND s.ended_at IS NULL AND coalesce(s.root_id, s.id) = NEW.session_id;

        IF NOT FOUND THEN
            PERFORM svc.oauth_session_over(NEW.tenant_id, NEW.user_id, NEW.session_id);
            RETURN NULL;
        END IF;
    END LOOP;

    UPDATE svc.session s SET watched = true
     WHERE s.tenant_id = NEW.tenant_id AND s.user_id = NEW.user_id AND s.id = live
       AND NOT s.watched;

    RETURN NULL;
END
$$;

CREATE TRIGGER oauth_grant_watch AFTER INSERT OR UPDATE OF watches ON svc.oauth_grant
    FOR EACH ROW WHEN (NEW.watches) EXECUTE FUNCTION svc.oauth_grant_watch();


-- The end of a row of a session, when its transaction is: maybe there is another one.

CREATE FUNCTION svc.session_over() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    root  uuid := coalesce(NEW.root_id, NEW.id);
BEGIN
    UPDATE svc.session s SET watched = true
     WHERE s.tenant_id = NEW.tenant_id AND s.user_id = NEW.user_id
       AND s.ended_at IS NULL AND coalesce(s.root_id, s.id) = root;

    IF NOT FOUND THEN
        PERFORM svc.oauth_session_over(NEW.tenant_id, NEW.user_id, root);
    END IF;

    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER session_over AFTER UPDATE OF ended_at ON svc.session
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.watched AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
    EXECUTE FUNCTION svc.session_over();


-- The end of all sessions of a user but the one that goes on.

CREATE FUNCTION svc.user_sessions_over() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    root  uuid;
BEGIN
    FOR root IN
        SELECT DISTINCT g.session_id FROM svc.oauth_grant g
         WHERE g.tenant_id = NEW.tenant_id AND g.user_id = NEW.id AND g.watches
           AND g.session_at < NEW.valid_after
           AND NOT (NEW.status = 'active' AND EXISTS (
                SELECT FROM svc.session s
                 WHERE s.tenant_id = NEW.tenant_id AND s.user_id = NEW.id
                   AND s.ended_at IS NULL AND coalesce(s.root_id, s.id) = g.session_id
                   AND s.created_at >= NEW.valid_after))
    LOOP
        PERFORM svc.oauth_session_over(NEW.tenant_id, NEW.id, root);
    END LOOP;

    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER user_sessions_over AFTER UPDATE OF status, valid_after
    ON svc.user_account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.watched AND NEW.valid_after IS DISTINCT FROM OLD.valid_after)
    EXECUTE FUNCTION svc.user_sessions_over();


-- A user who is deleted takes the grants along.  An application, and a tenant, are gone
-- by then.

CREATE FUNCTION svc.oauth_grant_over() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    INSERT INTO svc.oauth_logout (tenant_id, client_id, root_id, user_id)
    SELECT OLD.tenant_id, OLD.client_id, OLD.session_id, OLD.user_id
      FROM svc.application a JOIN svc.tenant t ON t.id = a.tenant_id
     WHERE a.tenant_id = OLD.tenant_id AND a.client_id = OLD.client_id
       AND a.backchannel_logout_uri IS NOT NULL AND OLD.expires_at > now()
       AND NOT EXISTS (SELECT FROM svc.user_account u
                        WHERE u.tenant_id = OLD.tenant_id AND u.id = OLD.user_id)
    ON CONFLICT DO NOTHING;

    RETURN NULL;
END
$$;

CREATE TRIGGER oauth_grant_over AFTER DELETE ON svc.oauth_grant
    FOR EACH ROW WHEN (OLD.watches) EXECUTE FUNCTION svc.oauth_grant_over();


-- An application that wants to hear of it from now on hears of the sessions that there are.

CREATE FUNCTION svc.application_watches() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    UPDATE svc.oauth_grant g SET watches = true
     WHERE g.tenant_id = NEW.tenant_id AND g.client_id = NEW.client_id
       AND NOT g.watches AND g.expires_at > now()
       AND EXISTS (SELECT FROM svc.session s
                    WHERE s.tenant_id = NEW.tenant_id AND s.user_id = g.user_id
                      AND s.ended_at IS NULL AND s.expires_at > now()
                      AND coalesce(s.root_id, s.id) = g.session_id);
    RETURN NULL;
END
$$;

CREATE TRIGGER application_watches AFTER UPDATE OF backchannel_logout_uri ON svc.application
    FOR EACH ROW WHEN (OLD.backchannel_logout_uri IS NULL
                       AND NEW.backchannel_logout_uri IS NOT NULL)
    EXECUTE FUNCTION svc.application_watches();


-- Those that are due, of applications and tenants that are not busy, a few of each: they
-- are the caller's for a minute.  What it needs to tell them goes along; without a URI, or
-- a key, there is nobody to be told.

CREATE FUNCTION svc.oauth_logout_take(most integer, busy text[], crowded uuid[])
    RETURNS TABLE (tenant_id uuid, client_id text, root_id uuid, user_id uuid,
                   attempts smallint, uri text, slug text, alg text, kid text,
                   sealed bytea)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
    WITH d AS MATERIALIZED (
        SELECT l.tenant_id, l.client_id, l.root_id, l.due_at FROM svc.oauth_logout l
         WHERE l.due_at <= now() AND l.client_id <> ALL (busy) AND l.tenant_id <> ALL (crowded)
         ORDER BY l.due_at LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED
    ), n AS (
        SELECT d.*, row_number() OVER (PARTITION BY d.client_id ORDER BY d.due_at) AS of_app,
               row_number() OVER (PARTITION BY d.tenant_id ORDER BY d.due_at) AS of_tenant
          FROM d
    ), t AS MATERIALIZED (
        SELECT n.tenant_id, n.client_id, n.root_id FROM n
         WHERE n.of_app <= 4 AND n.of_tenant <= 16
         ORDER BY n.due_at LIMIT least(greatest(most, 0), 1000)
    ), u AS (
        UPDATE svc.oauth_logout l SET due_at = clock_timestamp() + interval '1 minute',
               attempts = l.attempts + 1
          FROM t WHERE l.tenant_id = t.tenant_id AND l.client_id = t.client_id
           AND l.root_id = t.root_id
        RETURNING l.tenant_id, l.client_id, l.root_id, l.user_id, l.attempts
    )
    SELECT u.*, a.backchannel_logout_uri, e.slug, y.alg, y.kid, y.sealed
      FROM u JOIN svc.tenant e ON e.id = u.tenant_id
      LEFT JOIN svc.application a ON a.tenant_id = u.tenant_id AND a.client_id = u.client_id
      LEFT JOIN svc.oauth_key y ON y.tenant_id = u.tenant_id AND y.kid = coalesce(a.signing_kid,
                                                                          a.active_kid)
$$;

REVOKE ALL ON FUNCTION svc.oauth_session_over, svc.oauth_grant_watch, svc.session_over,
    svc.user_sessions_over, svc.oauth_grant_over, svc.application_watches,
    svc.oauth_logout_take FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.oauth_logout_take TO svc_app;
