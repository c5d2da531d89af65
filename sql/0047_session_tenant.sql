-- serves: 1
--
-- A session says whether its tenant is suspended: each request by a session looks at it,
-- and looked at the tenant's row besides, a fifth of what finding a session costs.


ALTER TABLE svc.session ADD COLUMN tenant_suspended_at timestamptz(3);

REVOKE UPDATE ON svc.session FROM svc_app;
GRANT UPDATE (stage, methods, expires_at, ended_at, last_seen_at, mfa_at, reauth_at, proved_at)
    ON svc.session TO svc_app;


-- A change of a tenant waits for its sessions that are being made, and sees them.  While it
-- is under way none is made: a session that waited could hold another one's row, which the
-- change comes to.  Whoever signs in is told to come again.  A lock of the tenant's row would
-- do the same, but each sign-in would write it, and many at a time would keep the change out.

CREATE FUNCTION svc.session_tenant() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(hashtext('svc.session_tenant'),
                                            hashtext(NEW.tenant_id::text)) THEN
        RAISE EXCEPTION 'the tenant is being suspended, or goes on'
            USING ERRCODE = 'lock_not_available';
    END IF;

    SELECT tenant.suspended_at INTO NEW.tenant_suspended_at
      FROM svc.tenant tenant WHERE tenant.id = NEW.tenant_id;

    RETURN NEW;
END
$$;

CREATE FUNCTION svc.tenant_to_sessions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('svc.session_tenant'), hashtext(NEW.id::text));

    UPDATE svc.session session SET tenant_suspended_at = NEW.suspended_at
     WHERE session.tenant_id = NEW.id AND session.ended_at IS NULL;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.session_tenant, svc.tenant_to_sessions FROM PUBLIC;

CREATE TRIGGER session_tenant BEFORE INSERT ON svc.session
    FOR EACH ROW EXECUTE FUNCTION svc.session_tenant();
CREATE TRIGGER tenant_to_sessions AFTER UPDATE OF suspended_at ON svc.tenant
    FOR EACH ROW EXECUTE FUNCTION svc.tenant_to_sessions();


-- The triggers' locks are held: nobody changes either table until this is committed.

UPDATE svc.session session SET tenant_suspended_at = tenant.suspended_at
  FROM svc.tenant tenant
 WHERE tenant.suspended_at IS NOT NULL AND session.tenant_id = tenant.id
   AND session.ended_at IS NULL;
