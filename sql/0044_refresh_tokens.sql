-- serves: 1
--
-- A refresh token is stored where its grant has just been looked at: to look again for the
-- foreign key is to lock that row, and to log the lock, at each use of a token.  Those of a
-- grant go with it all the same.  One that is stored while its grant is deleted is good for
-- nothing, and goes when it would have expired.


ALTER TABLE svc.oauth_refresh DROP CONSTRAINT oauth_refresh_grant_fkey;

CREATE FUNCTION svc.oauth_grant_gone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM svc.oauth_refresh token
     WHERE token.tenant_id = OLD.tenant_id AND token.grant_id = OLD.id;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.oauth_grant_gone FROM PUBLIC;

CREATE TRIGGER oauth_grant_gone AFTER DELETE ON svc.oauth_grant
    FOR EACH ROW EXECUTE FUNCTION svc.oauth_grant_gone();
