-- serves: 1
--
-- What was revoked is kept for a day behind its end, as what is spent is.  Whether a token
-- has ended is told by the time of whoever is asked, which may be before that of the sweep:
-- a transaction has begun a while ago, and the clock of a standby that takes over is its
-- own.  Until both say so, nothing but this row says that the token is dead.


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
