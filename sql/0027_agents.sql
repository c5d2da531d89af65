-- What administrators of agents look up.


-- How many anomalies of an agent are open.

CREATE INDEX agent_anomaly_client_idx ON svc.agent_anomaly (tenant_id, client_id)
    WHERE acknowledged_at IS NULL;


-- Delegations with an actor anywhere in the chain, the newest first, of a time, and with an
-- outcome unless that is NULL.  Operators of arrays are not leakproof: below a policy all
-- rows of a tenant would be read.  It goes back by months, since an actor may be in all of
-- them; and looks for the actor alone, since what else there is of a tenant no statistics
-- say.

CREATE FUNCTION svc.delegation_chain(actor text, wanted text, since timestamptz,
    until timestamptz, most integer)
    RETURNS TABLE (created_at timestamptz, id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
DECLARE
    tenant  uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    first   timestamptz;
    ends    timestamptz;
    starts  timestamptz;
    n       integer;
BEGIN
    SELECT d.created_at INTO first FROM svc.delegation d
     WHERE d.tenant_id = tenant ORDER BY d.created_at LIMIT 1;
    SELECT d.created_at INTO ends FROM svc.delegation d
     WHERE d.tenant_id = tenant ORDER BY d.created_at DESC LIMIT 1;

    IF first IS NULL THEN
        RETURN;
    END IF;

    first := greatest(first, since);
    ends := least(ends + interval '1 millisecond', until);

    WHILE ends > first AND most > 0 LOOP
        starts := greatest(date_trunc('month', ends - interval '1 microsecond', 'UTC'),
                           first);

        RETURN QUERY EXECUTE
            'WITH m AS MATERIALIZED ('
                'SELECT d.tenant_id, d.created_at, d.id, d.outcome FROM svc.delegation d'
                ' WHERE d.chain @> ARRAY[$1] AND d.created_at >= $2 AND d.created_at < $3)'
            ' SELECT m.created_at, m.id FROM m'
            ' WHERE m.tenant_id = $4 AND ($5 IS NULL OR m.outcome = $5)'
            ' ORDER BY m.created_at DESC, m.id DESC LIMIT $6'
            USING actor, starts, ends, tenant, wanted, most;
        GET DIAGNOSTICS n = ROW_COUNT;

        most := most - n;
        ends := starts;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION svc.delegation_chain(text, text, timestamptz, timestamptz, integer)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.delegation_chain(text, text, timestamptz, timestamptz, integer)
    TO svc_app;
