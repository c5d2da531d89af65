-- Members by their role, and invitations of new ones.


CREATE INDEX user_account_role_idx
    ON svc.user_account (tenant_id, role, created_at, id) WHERE role <> 'member';


-- As svc.user_page(), of those who hold a role: over 10,000 of them are neither
-- counted nor listed.  What is searched among those who hold none of their own is
-- searched among all.

CREATE FUNCTION svc.member_page(q text, wanted text, held text, page integer,
    skip integer, OUT total bigint, OUT ids uuid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET jit = off AS $$
DECLARE
    tenant   uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
    most     integer := 10000;
    pattern  text := coalesce(svc.search_text(btrim(q)), '');
BEGIN
    IF held IS NULL THEN
        SELECT p.total, p.ids INTO total, ids
          FROM svc.user_page(q, wanted, page, skip) p;
        RETURN;
    END IF;

    IF held = 'member' AND pattern <> '' THEN
        SELECT p.ids INTO ids FROM svc.user_page(q, wanted, most, 0) p;

        ids := ARRAY(SELECT i.id FROM unnest(ids) WITH ORDINALITY i (id, n)
                      WHERE (SELECT u.role FROM svc.user_account u
                              WHERE u.tenant_id = tenant AND u.id = i.id) = held
                      ORDER BY i.n);

    ELSE
        IF char_length(pattern) IN (1, 2) THEN
            pattern := ' ' || pattern;
        END IF;

        EXECUTE 'SELECT ARRAY(SELECT u.id FROM '
                || CASE WHEN held = 'member' AND wanted <> 'active'
                        THEN 'svc.user_inactive u WHERE u.tenant_id = $1'
                             ' AND (SELECT a.role FROM svc.user_account a'
                             ' WHERE a.tenant_id = u.tenant_id AND a.id = u.id)'
                        ELSE 'svc.user_account u WHERE u.tenant_id = $1 AND u.role' END
                || ' = ' || quote_literal(held)
                || coalesce(' AND u.status = ' || quote_literal(wanted), '')
                || CASE WHEN pattern <> '' THEN ' AND u.search LIKE $2' ELSE '' END
                || ' ORDER BY u.created_at DESC, u.id DESC LIMIT $3)'
           INTO ids USING tenant, '%' || pattern || '%', most;
    END IF;

    total := cardinality(ids);
    ids := ids[least(skip, most) + 1 : least(skip, most) + page];
END
$$;

REVOKE ALL ON FUNCTION svc.member_page(text, text, text, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.member_page(text, text, text, integer, integer) TO svc_app;


-- Who is to come into a tenant, with which role and groups; of the link the digest.
-- It is pending until it is accepted, revoked or expires.  An accepted one goes
-- with its user.

CREATE TABLE svc.invitation (
    tenant_id        uuid            NOT NULL
                         DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                         REFERENCES svc.tenant ON DELETE CASCADE,
    id               uuid            NOT NULL,
    email            text            NOT NULL,
    email_key        text COLLATE "C" NOT NULL,             -- in lower case
    role             text COLLATE "C" NOT NULL,
    group_ids        uuid[]          NOT NULL,
    days             smallint        NOT NULL,              -- that a link is good for
    token_hash       bytea           NOT NULL,              -- SHA-256 of the token
    invited_by_type  text            NOT NULL
                         DEFAULT coalesce(nullif(current_setting('svc.actor_type', true), ''), 'system'),
    invited_by_id    text            DEFAULT nullif(current_setting('svc.actor_id', true), ''),
    invited_by_name  text            DEFAULT nullif(current_setting('svc.actor_name', true), ''),
    created_at       timestamptz(3)  NOT NULL DEFAULT now(),
    expires_at       timestamptz(3)  NOT NULL,
    accepted_at      timestamptz(3),
    accepted_by      uuid,
    revoked_at       timestamptz(3),
    CONSTRAINT invitation_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT invitation_token_key UNIQUE (tenant_id, token_hash),
    CONSTRAINT invitation_hash_check CHECK (octet_length(token_hash) = 32),
    CONSTRAINT invitation_user_fkey FOREIGN KEY (tenant_id, accepted_by)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX invitation_pending_key ON svc.invitation (tenant_id, email_key)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX invitation_list_idx ON svc.invitation (tenant_id, created_at, id);
CREATE INDEX invitation_user_idx ON svc.invitation (tenant_id, accepted_by)
    WHERE accepted_by IS NOT NULL;
CREATE INDEX invitation_token_idx ON svc.invitation (token_hash);

ALTER TABLE svc.invitation ALTER COLUMN tenant_id SET STATISTICS 0;

ALTER TABLE svc.invitation ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.invitation
    USING (tenant_id = greatest(current_setting('svc.tenant', true),
                                '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.invitation TO svc_app;
GRANT UPDATE (token_hash, expires_at, accepted_at, accepted_by, revoked_at)
    ON svc.invitation TO svc_app;


-- The tenant of an invitation: it is the token that tells it, to whoever has one.
-- Where a domain or a name says otherwise there is none.

CREATE FUNCTION svc.invitation_tenant(host text, named text, hash bytea)
    RETURNS TABLE (id uuid, slug text, suspended boolean, by_domain boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT t.id, t.slug, t.suspended_at IS NOT NULL, d.tenant_id IS NOT NULL
      FROM svc.invitation i
      JOIN svc.tenant t ON t.id = i.tenant_id
      LEFT JOIN svc.domain d ON d.domain = host AND d.verified_at IS NOT NULL
     WHERE i.token_hash = hash AND t.id = coalesce(d.tenant_id, t.id)
       AND t.slug = coalesce(named, t.slug);
END
$$;

REVOKE ALL ON FUNCTION svc.invitation_tenant(text, text, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.invitation_tenant(text, text, bytea) TO svc_app;
