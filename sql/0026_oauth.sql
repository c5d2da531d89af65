-- OAuth: what tenants sign with, what users have granted, the tokens that were issued,
-- and what is kept of agents.


-- --- agents: an application's owner, end, ceilings and reviews ---------------------------

ALTER TABLE svc.application
    ADD COLUMN tokens_valid_after     timestamptz,            -- older ones are dead
    ADD COLUMN owner_lost_at          timestamptz(3),         -- while it has no owner
    ADD COLUMN expires_at             timestamptz(3),
    ADD COLUMN max_token_ttl          integer,                -- seconds; NULL: no ceiling
    ADD COLUMN allowed_scopes         text[] COLLATE "C",     -- likewise, sorted
    ADD COLUMN allowed_audiences      text[] COLLATE "C",     -- as they were given
    ADD COLUMN allowed_audience_keys  text[] COLLATE "C",     -- the same of all spellings
    ADD COLUMN policy_set_at          timestamptz(3),         -- NULL: it is the default
    ADD COLUMN reviewed_at            timestamptz(3),
    ADD COLUMN reviewed_by            uuid,                   -- NULL: a token, or erased
    ADD CONSTRAINT application_reviewer_fkey FOREIGN KEY (tenant_id, reviewed_by)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE SET NULL (reviewed_by),
    ADD CONSTRAINT application_ceiling_check CHECK (max_token_ttl BETWEEN 60 AND 86400),
    ADD CONSTRAINT application_audience_check CHECK (
        (allowed_audiences IS NULL) = (allowed_audience_keys IS NULL));

CREATE INDEX application_reviewer_idx ON svc.application (tenant_id, reviewed_by)
    WHERE reviewed_by IS NOT NULL;

UPDATE svc.application SET owner_lost_at = created_at
 WHERE type = 'agent' AND owner_id IS NULL;

GRANT UPDATE (tokens_valid_after, owner_id, expires_at, max_token_ttl, allowed_scopes,
              allowed_audiences, allowed_audience_keys, policy_set_at, reviewed_at,
              reviewed_by, last_used_at)
    ON svc.application TO svc_app;


-- An owner that is erased leaves by the foreign key.

CREATE FUNCTION svc.application_owner() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.owner_lost_at := CASE WHEN NEW.owner_id IS NULL AND NEW.type = 'agent'
                              THEN coalesce(NEW.owner_lost_at, now()) END;
    RETURN NEW;
END
$$;

CREATE TRIGGER application_owner BEFORE INSERT OR UPDATE OF owner_id ON svc.application
    FOR EACH ROW EXECUTE FUNCTION svc.application_owner();


-- One that is not active stays: since when is in valid_after.  It is set with the status
-- that ends being active, and whoever ends the sessions of such a user leaves it as it
-- is, as there are none.

CREATE FUNCTION svc.user_inactive_since() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status <> 'active' AND OLD.valid_after IS NOT NULL THEN
        NEW.valid_after := OLD.valid_after;

    ELSIF OLD.status = 'active' AND NEW.valid_after IS NOT DISTINCT FROM OLD.valid_after
    THEN
        NEW.valid_after := clock_timestamp();
    END IF;

    RETURN NEW;
END
$$;

CREATE TRIGGER user_inactive_since BEFORE UPDATE OF status, valid_after ON svc.user_account
    FOR EACH ROW WHEN (NEW.status <> 'active')
    EXECUTE FUNCTION svc.user_inactive_since();


-- --- of each tenant: the key that signs, and how it governs agents ------------------------

CREATE TABLE svc.oauth_tenant (
    tenant_id             uuid     NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    active_kid            text COLLATE "C",                   -- NULL: it has none yet
    tokens_valid_after    timestamptz,
    orphan_action         text COLLATE "C" NOT NULL DEFAULT 'none',
    orphan_grace_hours    integer  NOT NULL DEFAULT 72,
    max_delegation_depth  integer  NOT NULL DEFAULT 3,
    review_interval_days  integer  NOT NULL DEFAULT 90,
    CONSTRAINT oauth_tenant_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT oauth_tenant_orphan_check CHECK (orphan_action IN ('none', 'disable')),
    CONSTRAINT oauth_tenant_range_check CHECK (
        orphan_grace_hours BETWEEN 0 AND 8760 AND max_delegation_depth BETWEEN 1 AND 5
        AND review_interval_days BETWEEN 1 AND 730)
) WITH (fillfactor = 70);

INSERT INTO svc.oauth_tenant (tenant_id) SELECT id FROM svc.tenant;

CREATE FUNCTION svc.oauth_tenant_create() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO svc.oauth_tenant (tenant_id) VALUES (NEW.id);
    RETURN NULL;
END
$$;

CREATE TRIGGER oauth_tenant_create AFTER INSERT ON svc.tenant
    FOR EACH ROW EXECUTE FUNCTION svc.oauth_tenant_create();


-- A key that has been retired is published for as long as its tokens may live.

CREATE TABLE svc.oauth_key (
    tenant_id    uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    kid          text COLLATE "C" NOT NULL,                   -- RFC 7638
    public       json            NOT NULL,                    -- RFC 7517
    sealed       bytea           NOT NULL,
    created_at   timestamptz(3)  NOT NULL DEFAULT now(),
    active_from  timestamptz(3)  NOT NULL DEFAULT now(),
    retired_at   timestamptz(3),
    revoked_at   timestamptz(3),
    CONSTRAINT oauth_key_pkey PRIMARY KEY (tenant_id, kid),
    CONSTRAINT oauth_key_kid_key UNIQUE (kid)
);


-- --- what users have granted ---------------------------------------------------------------

CREATE TABLE svc.oauth_consent (
    tenant_id   uuid            NOT NULL,
    user_id     uuid            NOT NULL,
    client_id   text COLLATE "C" NOT NULL,
    scopes      text[] COLLATE "C" NOT NULL,
    resources   text[] COLLATE "C" NOT NULL,                  -- keys
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at  timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT oauth_consent_pkey PRIMARY KEY (tenant_id, user_id, client_id),
    CONSTRAINT oauth_consent_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT oauth_consent_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE
);

CREATE INDEX oauth_consent_client_idx ON svc.oauth_consent (tenant_id, client_id);

CREATE TABLE svc.oauth_grant (
    tenant_id      uuid            NOT NULL,
    id             uuid            NOT NULL,
    client_id      text COLLATE "C" NOT NULL,
    user_id        uuid            NOT NULL,
    scopes         text[] COLLATE "C" NOT NULL,
    resources      text[] COLLATE "C" NOT NULL,               -- as they were given
    resource_keys  text[] COLLATE "C" NOT NULL,               -- in the same order
    session_id     uuid            NOT NULL,                  -- its root_id
    session_at     timestamptz     NOT NULL DEFAULT now(),    -- when it began
    auth_time      timestamptz(3)  NOT NULL,
    methods        text[] COLLATE "C" NOT NULL,               -- "amr"
    created_at     timestamptz(3)  NOT NULL DEFAULT now(),
    expires_at     timestamptz(3)  NOT NULL,
    revoked_at     timestamptz(3),
    reason         text COLLATE "C",
    CONSTRAINT oauth_grant_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT oauth_grant_user_fkey FOREIGN KEY (tenant_id, user_id)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT oauth_grant_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE INDEX oauth_grant_user_idx ON svc.oauth_grant (tenant_id, user_id);
CREATE INDEX oauth_grant_client_idx ON svc.oauth_grant (tenant_id, client_id);
CREATE INDEX oauth_grant_expires_idx ON svc.oauth_grant (expires_at);

-- Of a code that has been used the row stays for a day: to know it again.

CREATE TABLE svc.oauth_code (
    tenant_id     uuid            NOT NULL,
    digest        bytea           NOT NULL,
    grant_id      uuid            NOT NULL,
    client_id     text COLLATE "C" NOT NULL,
    redirect_uri  text            NOT NULL,
    challenge     bytea           NOT NULL,                   -- of S256, decoded
    nonce         text,
    jkt           bytea,
    expires_at    timestamptz(3)  NOT NULL,
    used_at       timestamptz(3),
    CONSTRAINT oauth_code_pkey PRIMARY KEY (tenant_id, digest),
    CONSTRAINT oauth_code_grant_fkey FOREIGN KEY (tenant_id, grant_id)
        REFERENCES svc.oauth_grant (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE INDEX oauth_code_grant_idx ON svc.oauth_code (tenant_id, grant_id);
CREATE INDEX oauth_code_expires_idx ON svc.oauth_code (expires_at);

CREATE TABLE svc.oauth_refresh (
    tenant_id   uuid            NOT NULL,
    digest      bytea           NOT NULL,
    grant_id    uuid            NOT NULL,
    jkt         bytea,
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    expires_at  timestamptz(3)  NOT NULL,
    used_at     timestamptz(3),
    successor   bytea,                                        -- its digest
    CONSTRAINT oauth_refresh_pkey PRIMARY KEY (tenant_id, digest),
    CONSTRAINT oauth_refresh_grant_fkey FOREIGN KEY (tenant_id, grant_id)
        REFERENCES svc.oauth_grant (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE INDEX oauth_refresh_grant_idx ON svc.oauth_refresh (tenant_id, grant_id);
CREATE INDEX oauth_refresh_expires_idx ON svc.oauth_refresh (expires_at);


-- --- the access tokens ---------------------------------------------------------------------

-- No foreign keys: what a deleted application had is dead because that is gone, and its
-- rows go with their day.  issued_at is the time within the jti, a UUID of version 7.

CREATE TABLE svc.oauth_token (
    tenant_id     uuid            NOT NULL,
    jti           uuid            NOT NULL,
    issued_at     timestamptz(3)  NOT NULL,
    client_id     text COLLATE "C" NOT NULL,
    user_id       uuid,                                       -- NULL: a client's own
    grant_id      uuid,
    root_jti      uuid,                                       -- what it was exchanged from,
    parent_jti    uuid,                                       --     at first and at last
    chain         text[] COLLATE "C",                         -- actors, the current one first
    principals    text[] COLLATE "C" NOT NULL,                -- all clients that it lives by
    grant_type    text COLLATE "C" NOT NULL,
    scopes        text[] COLLATE "C" NOT NULL,
    audience      text,                                       -- NULL: the issuer
    audience_key  text COLLATE "C",
    secret_hash   bytea,                                      -- of an opaque one
    kid           text COLLATE "C",                           -- of a JWT
    jkt           bytea,                                      -- of the key it is bound to
    ttl           integer         NOT NULL,                   -- seconds
    revoked_at    timestamptz(3),
    ip            inet,
    country       text COLLATE "C",
    CONSTRAINT oauth_token_pkey PRIMARY KEY (tenant_id, jti, issued_at)
) PARTITION BY RANGE (issued_at);

CREATE INDEX oauth_token_client_idx ON svc.oauth_token (tenant_id, client_id, issued_at);
CREATE INDEX oauth_token_sweep_idx ON svc.oauth_token (issued_at);
CREATE INDEX oauth_token_grant_idx ON svc.oauth_token (tenant_id, grant_id)
    WHERE grant_id IS NOT NULL;
CREATE INDEX oauth_token_root_idx ON svc.oauth_token (tenant_id, root_jti)
    WHERE root_jti IS NOT NULL;

CREATE TABLE svc.oauth_token_default PARTITION OF svc.oauth_token DEFAULT;


-- Whose key it is: of a token that nobody is asked about on behalf of a tenant.

CREATE FUNCTION svc.oauth_key_tenant(key text) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.tenant_id FROM svc.oauth_key k WHERE k.kid = key AND k.revoked_at IS NULL
$$;

REVOKE ALL ON FUNCTION svc.oauth_key_tenant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.oauth_key_tenant TO svc_app;


-- What may be shown once only: proofs of possession.  A crash forgets them.

CREATE UNLOGGED TABLE svc.oauth_once (
    tenant_id   uuid            NOT NULL,
    digest      bytea           NOT NULL,
    expires_at  timestamptz(3)  NOT NULL,
    CONSTRAINT oauth_once_pkey PRIMARY KEY (tenant_id, digest)
);

CREATE INDEX oauth_once_expires_idx ON svc.oauth_once (expires_at);


-- --- who acted for whom --------------------------------------------------------------------

CREATE TABLE svc.delegation (
    tenant_id     uuid            NOT NULL DEFAULT
        nullif(current_setting('svc.tenant', true), '')::uuid,
    id            uuid            NOT NULL,
    created_at    timestamptz(3)  NOT NULL DEFAULT now(),
    client_id     text COLLATE "C" NOT NULL,                  -- the current actor
    client_name   text            NOT NULL,                   -- as it was then
    subject_type  text COLLATE "C",                           -- NULL: it is not known
    subject_id    text COLLATE "C",
    chain         text[] COLLATE "C" NOT NULL,
    grant_type    text COLLATE "C" NOT NULL,
    audience      text,
    scopes        text[] COLLATE "C" NOT NULL,                -- or what was asked for
    outcome       text COLLATE "C" NOT NULL,
    reason        text COLLATE "C",
    token_jti     uuid,
    parent_jti    uuid,
    root_jti      uuid,
    expires_at    timestamptz(3),
    bound         boolean         NOT NULL DEFAULT false,     -- to a key
    ip            text,
    country       text COLLATE "C",
    request_id    text,
    CONSTRAINT delegation_pkey PRIMARY KEY (tenant_id, created_at, id),
    CONSTRAINT delegation_outcome_check CHECK (outcome IN ('granted', 'refused')),
    CONSTRAINT delegation_reason_check CHECK ((outcome = 'refused') = (reason IS NOT NULL))
) PARTITION BY RANGE (created_at);

CREATE INDEX delegation_client_idx ON svc.delegation (tenant_id, client_id, created_at, id);
CREATE INDEX delegation_subject_idx
    ON svc.delegation (tenant_id, subject_id, created_at, id) WHERE subject_id IS NOT NULL;
CREATE INDEX delegation_token_idx ON svc.delegation (tenant_id, token_jti)
    WHERE token_jti IS NOT NULL;
CREATE INDEX delegation_root_idx ON svc.delegation (tenant_id, root_jti, created_at, id)
    WHERE root_jti IS NOT NULL;
CREATE INDEX delegation_chain_idx ON svc.delegation USING gin (chain);

CREATE TABLE svc.delegation_default PARTITION OF svc.delegation DEFAULT;


-- It is added to, and goes by whole months.  A partition that is detached is dropped.

CREATE FUNCTION svc.delegation_keep() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the journal of delegations is not changed'
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Old months are dropped: svcctl delegations retain.';
END
$$;

CREATE TRIGGER delegation_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON svc.delegation
    FOR EACH STATEMENT EXECUTE FUNCTION svc.delegation_keep();
CREATE TRIGGER delegation_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON svc.delegation_default
    FOR EACH STATEMENT EXECUTE FUNCTION svc.delegation_keep();


-- --- what agents usually do, and what is unusual ---------------------------------------------

CREATE TABLE svc.agent_minute (
    tenant_id  uuid            NOT NULL,
    client_id  text COLLATE "C" NOT NULL,
    minute     timestamptz(0)  NOT NULL,
    tokens     integer         NOT NULL,
    CONSTRAINT agent_minute_pkey PRIMARY KEY (tenant_id, client_id, minute),
    CONSTRAINT agent_minute_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE
);

CREATE INDEX agent_minute_expires_idx ON svc.agent_minute (minute);

CREATE TABLE svc.agent_seen (
    tenant_id   uuid            NOT NULL,
    client_id   text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    value       text COLLATE "C" NOT NULL,
    first_at    timestamptz(3)  NOT NULL,
    last_at     timestamptz(3)  NOT NULL,
    CONSTRAINT agent_seen_pkey PRIMARY KEY (tenant_id, client_id, kind, value),
    CONSTRAINT agent_seen_kind_check CHECK (kind IN ('network', 'country', 'subject')),
    CONSTRAINT agent_seen_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE
);

CREATE INDEX agent_seen_expires_idx ON svc.agent_seen (last_at);

CREATE TABLE svc.agent_anomaly (
    tenant_id        uuid            NOT NULL DEFAULT
        nullif(current_setting('svc.tenant', true), '')::uuid,
    id               uuid            NOT NULL DEFAULT gen_random_uuid(),
    client_id        text COLLATE "C" NOT NULL,
    type             text COLLATE "C" NOT NULL,
    key              text COLLATE "C" NOT NULL,               -- one row for each
    severity         text COLLATE "C" NOT NULL,
    details          jsonb           NOT NULL,
    occurrences      integer         NOT NULL DEFAULT 1,
    created_at       timestamptz(3)  NOT NULL DEFAULT now(),
    last_seen_at     timestamptz(3)  NOT NULL DEFAULT now(),
    acknowledged_at  timestamptz(3),
    acknowledged_by  uuid,                                    -- NULL: a token, or erased
    CONSTRAINT agent_anomaly_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT agent_anomaly_key UNIQUE (tenant_id, client_id, type, key),
    CONSTRAINT agent_anomaly_type_check CHECK (type IN (
        'token_burst', 'new_ip', 'new_country', 'scope_denied', 'audience_denied',
        'off_hours', 'disabled_use', 'expired_use', 'new_subject', 'secret_reuse')),
    CONSTRAINT agent_anomaly_severity_check CHECK (severity IN ('low', 'medium', 'high')),
    CONSTRAINT agent_anomaly_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE,
    CONSTRAINT agent_anomaly_user_fkey FOREIGN KEY (tenant_id, acknowledged_by)
        REFERENCES svc.user_account (tenant_id, id) ON DELETE SET NULL (acknowledged_by)
) WITH (fillfactor = 80);

CREATE INDEX agent_anomaly_list_idx ON svc.agent_anomaly (tenant_id, created_at, id);
CREATE INDEX agent_anomaly_open_idx ON svc.agent_anomaly (tenant_id, created_at, id)
    WHERE acknowledged_at IS NULL;
CREATE INDEX agent_anomaly_user_idx ON svc.agent_anomaly (tenant_id, acknowledged_by)
    WHERE acknowledged_by IS NOT NULL;


-- --- partitions ----------------------------------------------------------------------------

-- How a table is cut: tokens by weeks, since each partition costs a look-up, delegations by
-- months.  A partition is named by its first day.

CREATE FUNCTION svc.oauth_cut(parent text, OUT period text, OUT step interval, OUT col text)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p, ('1 ' || p)::interval, c
      FROM (VALUES ('oauth_token', 'week', 'issued_at'),
                   ('delegation', 'month', 'created_at')) v (t, p, c)
     WHERE t = parent
$$;


-- Makes the partitions of this period and of those ahead, and of the rows in the default
-- one, which it moves.  Returns what it made.

CREATE FUNCTION svc.oauth_partitions(parent text, ahead integer)
    RETURNS TABLE (made text, moved bigint)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cut    record := svc.oauth_cut(parent);
    this   timestamp := date_trunc(cut.period, now() AT TIME ZONE 'UTC');
    start  timestamp;
    known  timestamp[];
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('svc.oauth_partitions'), hashtext(parent));

    EXECUTE format('SELECT array_agg(DISTINCT date_trunc(%L, %I AT TIME ZONE ''UTC''))'
                   ' FROM svc.%I', cut.period, cut.col, parent || '_default') INTO known;

    FOREACH start IN ARRAY ARRAY(
        SELECT s FROM (
            SELECT this + i * cut.step AS s FROM generate_series(0, greatest(ahead, 0)) i
            UNION
            SELECT unnest(known)
        ) p
         WHERE s <= this + greatest(ahead, 0) * cut.step
           AND to_regclass('svc.' || parent || '_' || to_char(s, 'YYYY_MM_DD')) IS NULL
         ORDER BY s)
    LOOP
        made := parent || '_' || to_char(start, 'YYYY_MM_DD');

        EXECUTE format('CREATE TABLE svc.%I (LIKE svc.%I INCLUDING DEFAULTS'
                       ' INCLUDING CONSTRAINTS)', made, parent);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY,'
                       ' ALTER COLUMN tenant_id SET STATISTICS 0', made);
        EXECUTE format('LOCK TABLE svc.%I IN ACCESS EXCLUSIVE MODE', parent || '_default');

        IF parent = 'delegation' THEN
            ALTER TABLE svc.delegation_default DISABLE TRIGGER delegation_keep;
        END IF;

        EXECUTE format('WITH d AS (DELETE FROM svc.%I WHERE %I >= $1 AND %2$I < $2 RETURNING *)'
                       ' INSERT INTO svc.%I SELECT * FROM d', parent || '_default', cut.col,
                       made)
            USING start AT TIME ZONE 'UTC', (start + cut.step) AT TIME ZONE 'UTC';
        GET DIAGNOSTICS moved = ROW_COUNT;

        IF parent = 'delegation' THEN
            ALTER TABLE svc.delegation_default ENABLE TRIGGER delegation_keep;
            EXECUTE format('CREATE TRIGGER delegation_keep BEFORE UPDATE OR DELETE OR TRUNCATE'
                           ' ON svc.%I FOR EACH STATEMENT'
                           ' EXECUTE FUNCTION svc.delegation_keep()', made);
        END IF;

        EXECUTE format('ALTER TABLE svc.%I ATTACH PARTITION svc.%I FOR VALUES FROM (%L) TO (%L)',
                       parent, made, to_char(start, 'YYYY-MM-DD') || ' 00:00:00+00',
                       to_char(start + cut.step, 'YYYY-MM-DD') || ' 00:00:00+00');
        RETURN NEXT;
    END LOOP;
END
$$;


-- Drops the partitions that end before a time, and deletes what is older in the default
-- one.  Returns what it dropped, and how many rows it has deleted.

CREATE FUNCTION svc.oauth_retain(parent text, since timestamptz)
    RETURNS TABLE (dropped text, deleted bigint)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cut  record := svc.oauth_cut(parent);
BEGIN
    IF since IS NULL OR since > now() - interval '1 day' THEN
        RAISE EXCEPTION 'at least one day is kept';
    END IF;

    PERFORM pg_advisory_xact_lock(hashtext('svc.oauth_partitions'), hashtext(parent));

    deleted := NULL;

    FOR dropped IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = ('svc.' || parent)::regclass
           AND c.relname ~ ('^' || parent || '_\d{4}_\d\d_\d\d$')
           AND (to_date(substr(c.relname, length(parent) + 2), 'YYYY_MM_DD') + cut.step)
               AT TIME ZONE 'UTC' <= since
         ORDER BY c.relname
    LOOP
        EXECUTE format('DROP TABLE svc.%I', dropped);
        RETURN NEXT;
    END LOOP;

    IF parent = 'delegation' THEN
        ALTER TABLE svc.delegation_default DISABLE TRIGGER delegation_keep;
    END IF;

    EXECUTE format('DELETE FROM svc.%I WHERE %I < $1', parent || '_default', cut.col)
        USING since;
    GET DIAGNOSTICS deleted = ROW_COUNT;

    IF parent = 'delegation' THEN
        ALTER TABLE svc.delegation_default ENABLE TRIGGER delegation_keep;
    END IF;

    IF deleted > 0 THEN
        dropped := parent || '_default';
        RETURN NEXT;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION svc.oauth_cut, svc.oauth_partitions, svc.oauth_retain,
    svc.oauth_tenant_create, svc.application_owner, svc.delegation_keep FROM PUBLIC;

DO $$
BEGIN
    PERFORM svc.oauth_partitions('oauth_token', 2);
    PERFORM svc.oauth_partitions('delegation', 12);
END
$$;


-- --- rights ----------------------------------------------------------------------------------

DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['oauth_tenant', 'oauth_key', 'oauth_consent', 'oauth_grant',
                             'oauth_code', 'oauth_refresh', 'oauth_token', 'oauth_once',
                             'delegation', 'agent_minute', 'agent_seen', 'agent_anomaly']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
        EXECUTE format('GRANT SELECT ON svc.%I TO svc_app', t);
    END LOOP;
END
$$;

ALTER TABLE svc.oauth_token_default ENABLE ROW LEVEL SECURITY,
    ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE svc.delegation_default ENABLE ROW LEVEL SECURITY,
    ALTER COLUMN tenant_id SET STATISTICS 0;

GRANT INSERT ON svc.oauth_key, svc.oauth_consent, svc.oauth_grant, svc.oauth_code,
    svc.oauth_refresh, svc.oauth_token, svc.oauth_once, svc.delegation,
    svc.agent_anomaly TO svc_app;
GRANT DELETE ON svc.oauth_consent TO svc_app;

GRANT UPDATE (active_kid, tokens_valid_after, orphan_action, orphan_grace_hours,
              max_delegation_depth, review_interval_days) ON svc.oauth_tenant TO svc_app;
GRANT UPDATE (active_from, retired_at, revoked_at) ON svc.oauth_key TO svc_app;
GRANT UPDATE (scopes, resources, updated_at) ON svc.oauth_consent TO svc_app;
GRANT UPDATE (revoked_at, reason) ON svc.oauth_grant TO svc_app;
GRANT UPDATE (used_at) ON svc.oauth_code TO svc_app;
GRANT UPDATE (used_at, successor) ON svc.oauth_refresh TO svc_app;
GRANT UPDATE (revoked_at) ON svc.oauth_token TO svc_app;
GRANT UPDATE (severity, details, occurrences, last_seen_at, acknowledged_at, acknowledged_by)
    ON svc.agent_anomaly TO svc_app;
