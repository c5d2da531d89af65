-- Codes and links by mail.


-- What a code or a link is for: to sign in or up, to verify an address, to change
-- it, as a second factor.  Of both there is only what they are held against; of
-- nobody's there is a row as well.  "data": what is to be, if the code comes back,
-- sealed; of a sign-in, from which address it was asked for.  A row that is void has
-- no mail: there have been too many of them.

CREATE TABLE svc.email_challenge (
    tenant_id     uuid            NOT NULL
                      DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                      REFERENCES svc.tenant ON DELETE CASCADE,
    id            uuid            NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    user_id       uuid,
    root_id       uuid,                                 -- of the session that asked
    email_mac     bytea           NOT NULL,             -- where the mail goes
    code_mac      bytea           NOT NULL,             -- of the id and the code
    token_hash    bytea,                                -- SHA-256, of the link
    binding_hash  bytea,                                -- SHA-256, of the cookie
    attempts      integer         NOT NULL DEFAULT 0,
    data          bytea,
    void          boolean         NOT NULL,
    created_at    timestamptz     NOT NULL DEFAULT clock_timestamp(),
    expires_at    timestamptz(3)  NOT NULL,
    used_at       timestamptz,
    CONSTRAINT email_challenge_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT email_challenge_id_key UNIQUE (id),
    CONSTRAINT email_challenge_token_key UNIQUE (token_hash),
    CONSTRAINT email_challenge_kind_check
        CHECK (kind IN ('sign_in', 'signup', 'verify', 'change', 'mfa')),
    CONSTRAINT email_challenge_mac_check
        CHECK (octet_length(email_mac) = 16 AND octet_length(code_mac) = 16),
    CONSTRAINT email_challenge_hash_check
        CHECK (octet_length(token_hash) = 32 AND octet_length(binding_hash) = 32),
    CONSTRAINT email_challenge_data_check CHECK (octet_length(data) <= 8192),
    CONSTRAINT email_challenge_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE INDEX email_challenge_mac_idx
    ON svc.email_challenge (tenant_id, email_mac, created_at);
CREATE INDEX email_challenge_user_idx
    ON svc.email_challenge (tenant_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX email_challenge_expiry_idx ON svc.email_challenge (expires_at);

ALTER TABLE svc.email_challenge ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE svc.email_challenge ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.email_challenge
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT ON svc.email_challenge TO svc_app;
GRANT UPDATE (attempts, expires_at, used_at) ON svc.email_challenge TO svc_app;


-- The tenant of such a row: its id or the link's token tells it, to whoever has one.
-- Where a domain or a name says otherwise there is none.

CREATE FUNCTION svc.email_challenge_tenant(host text, named text, which uuid,
                                           hash bytea)
    RETURNS TABLE (id uuid, slug text, suspended boolean, by_domain boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    tenant  uuid;
BEGIN
    IF which IS NOT NULL THEN
        SELECT c.tenant_id INTO tenant
          FROM svc.email_challenge c WHERE c.id = which;
    ELSE
        SELECT c.tenant_id INTO tenant
          FROM svc.email_challenge c WHERE c.token_hash = hash;
    END IF;

    RETURN QUERY
    SELECT t.id, t.slug, t.suspended_at IS NOT NULL, d.tenant_id IS NOT NULL
      FROM svc.tenant t
      LEFT JOIN svc.domain d ON d.domain = host AND d.verified_at IS NOT NULL
     WHERE t.id = tenant AND t.id = coalesce(d.tenant_id, t.id)
       AND t.slug = coalesce(named, t.slug);
END
$$;

REVOKE ALL ON FUNCTION svc.email_challenge_tenant(text, text, uuid, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.email_challenge_tenant(text, text, uuid, bytea)
    TO svc_app;
