-- serves: 1
--
-- A directory's people are imported, a connection is tried out, and a code by mail proves
-- whose an address is.


-- --- a code by mail for an identity that is not linked ---------------------------------------


-- --- who signs out there while a sign-in is under way ----------------------------------------

-- A logout token is kept as what it ends, too, until no flow can be under way any more that
-- was before it: a "sid", a subject, or a subject's sessions that have no "sid".

GRANT UPDATE (expires_at) ON svc.federation_seen TO svc_app;


-- Whether one has come since the provider was asked. What a flow has kept may be older.

CREATE FUNCTION svc.signed_out_there(tenant uuid, flow uuid, sid bytea, subject bytea)
    RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
           SELECT
             FROM svc.federation_flow f
             JOIN svc.federation_seen s
                  ON s.tenant_id = f.tenant_id
                 AND s.connection_id = f.connection_id
                 AND s.digest = ANY (ARRAY[sha256('\x00'::bytea || sid),
                                           sha256('\x01'::bytea || subject),
                                           CASE
                                               WHEN sid IS NULL
                                                    THEN sha256('\x02'::bytea || subject)
                                           END])
            WHERE f.tenant_id = tenant
              AND f.id = flow
              AND s.expires_at - interval '15 minutes'
                  >= CASE WHEN f.subject_hash IS NULL THEN f.used_at ELSE f.created_at END)
$$;

REVOKE ALL ON FUNCTION svc.signed_out_there FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.signed_out_there TO svc_app;


-- --- the test of a connection ----------------------------------------------------------------


-- --- the import from the directory -----------------------------------------------------------


-- --- a directory's accounts ------------------------------------------------------------------


-- --- what was written twice ------------------------------------------------------------------
