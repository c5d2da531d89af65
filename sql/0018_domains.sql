-- Domains of tenants that the API adds, has proved by a TXT record, and removes.

-- 244 random bits: of rows that are there, and of those that SQL makes.
ALTER TABLE svc.domain
    ALTER COLUMN tenant_id SET DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    ADD COLUMN token text NOT NULL DEFAULT translate(rtrim(encode(sha256(
        uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '='), '+/', '-_'),
    ADD CONSTRAINT domain_token_check CHECK (token ~ '^[A-Za-z0-9_-]{43}$');

GRANT INSERT, UPDATE (verified_at), DELETE ON svc.domain TO svc_app;


-- Whether another tenant than that of the transaction has it verified: a row that
-- the policy hides.

CREATE FUNCTION svc.domain_taken(name text) RETURNS boolean
    LANGUAGE sql STABLE STRICT SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS
$$
    SELECT EXISTS (
        SELECT FROM svc.domain d
         WHERE d.domain = name AND d.verified_at IS NOT NULL
           AND d.tenant_id IS DISTINCT FROM nullif(current_setting('svc.tenant', true), '')::uuid)
$$;

GRANT EXECUTE ON FUNCTION svc.domain_taken(text) TO svc_app;
