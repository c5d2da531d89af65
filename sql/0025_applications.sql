-- Applications, what they prove themselves with, and the groups whose users may use
-- them.  An agent is an application of the type "agent".


CREATE TABLE svc.application (
    tenant_id              uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    client_id              text COLLATE "C" NOT NULL,
    name                   text            NOT NULL,
    type                   text COLLATE "C" NOT NULL,
    enabled                boolean         NOT NULL,
    assignment             text COLLATE "C" NOT NULL,
    redirect_uris          text[] COLLATE "C" NOT NULL,
    scopes                 text[] COLLATE "C" NOT NULL,
    grant_types            text[] COLLATE "C" NOT NULL,
    auth_method            text COLLATE "C" NOT NULL,
    resource_uri           text,                            -- as it was given
    resource_key           text COLLATE "C",                -- the same of all spellings
    access_token_format    text COLLATE "C" NOT NULL,
    access_token_ttl       integer         NOT NULL,        -- seconds
    require_consent        boolean         NOT NULL,
    require_dpop           boolean         NOT NULL,
    owner_id               uuid,                            -- of an agent
    secret_rotated_at      timestamptz(3),                  -- NULL: it has no secret
    previous_secret_until  timestamptz(3),
    last_used_at           timestamptz(3),
    created_at             timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at             timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT application_pkey PRIMARY KEY (tenant_id, client_id),
    CONSTRAINT application_resource_key UNIQUE (tenant_id, resource_key),
    CONSTRAINT application_owner_fkey FOREIGN KEY (tenant_id, owner_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE SET NULL (owner_id),
    CONSTRAINT application_name_check CHECK (char_length(name) BETWEEN 1 AND 100),
    CONSTRAINT application_type_check
        CHECK (type IN ('web', 'spa', 'native', 'm2m', 'agent')),
    CONSTRAINT application_assignment_check CHECK (assignment IN ('everyone', 'groups')),
    CONSTRAINT application_method_check
        CHECK (auth_method IN ('client_secret_basic', 'none')),
    CONSTRAINT application_format_check CHECK (access_token_format IN ('jwt', 'opaque')),
    CONSTRAINT application_ttl_check CHECK (access_token_ttl BETWEEN 60 AND 86400),
    CONSTRAINT application_resource_check
        CHECK ((resource_uri IS NULL) = (resource_key IS NULL))
) WITH (fillfactor = 70);

CREATE INDEX application_list_idx ON svc.application (tenant_id, created_at, client_id);
CREATE INDEX application_owner_idx ON svc.application (tenant_id, owner_id)
    WHERE owner_id IS NOT NULL;


-- Digests by which a client is found, and with it its tenant: SHA-256 of a byte, 1 for
-- an id and 2 for a secret, of the clientId, of a NUL, and of the secret.  As with
-- svc.credential everybody may look for one, and only a tenant changes its own.

CREATE TABLE svc.oauth_login (
    digest      bytea           NOT NULL,
    tenant_id   uuid            NOT NULL,
    client_id   text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    retired_at  timestamptz(3),                             -- from then on it is not good
    CONSTRAINT oauth_login_pkey PRIMARY KEY (digest),
    CONSTRAINT oauth_login_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE,
    CONSTRAINT oauth_login_digest_check CHECK (octet_length(digest) = 32),
    CONSTRAINT oauth_login_kind_check CHECK (kind IN ('id', 'secret'))
);

CREATE INDEX oauth_login_client_idx
    ON svc.oauth_login (tenant_id, client_id, kind, created_at);


CREATE TABLE svc.group_app (
    tenant_id  uuid            NOT NULL,
    client_id  text COLLATE "C" NOT NULL,
    group_id   uuid            NOT NULL,
    added_at   timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT group_app_pkey PRIMARY KEY (tenant_id, client_id, group_id),
    CONSTRAINT group_app_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE,
    CONSTRAINT group_app_group_fkey FOREIGN KEY (tenant_id, group_id)
        REFERENCES svc.user_group (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX group_app_added_idx
    ON svc.group_app (tenant_id, group_id, added_at, client_id);

ALTER TABLE svc.user_group ADD COLUMN app_count integer NOT NULL DEFAULT 0;


-- As members are counted: groups are locked in one order.

CREATE FUNCTION svc.app_count_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sign  integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    PERFORM FROM svc.user_group g
      WHERE (g.tenant_id, g.id) IN (SELECT c.tenant_id, c.group_id FROM changed c)
      ORDER BY g.tenant_id, g.id FOR NO KEY UPDATE;

    UPDATE svc.user_group g SET app_count = g.app_count + sign * c.n
      FROM (SELECT tenant_id, group_id, count(*)::integer AS n
              FROM changed GROUP BY tenant_id, group_id) c
     WHERE g.tenant_id = c.tenant_id AND g.id = c.group_id;

    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION svc.app_count_change() FROM PUBLIC;

CREATE TRIGGER app_count_insert AFTER INSERT ON svc.group_app
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION svc.app_count_change();
CREATE TRIGGER app_count_delete AFTER DELETE ON svc.group_app
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION svc.app_count_change();


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['application', 'group_app', 'oauth_login']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
        EXECUTE format('GRANT SELECT, INSERT, DELETE ON svc.%I TO svc_app', t);
    END LOOP;
END
$$;

CREATE POLICY oauth_login_lookup ON svc.oauth_login FOR SELECT USING (true);

GRANT UPDATE (retired_at) ON svc.oauth_login TO svc_app;
GRANT UPDATE (name, enabled, assignment, redirect_uris, scopes, grant_types, resource_uri,
              resource_key, access_token_format, access_token_ttl,
              require_consent, require_dpop, secret_rotated_at, previous_secret_until,
              updated_at)
    ON svc.application TO svc_app;
