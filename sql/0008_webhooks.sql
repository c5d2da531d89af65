-- Webhooks: endpoints, and what became of their last deliveries.


CREATE TABLE svc.webhook_endpoint (
    tenant_id   uuid            NOT NULL
                    DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid
                    REFERENCES svc.tenant ON DELETE CASCADE,
    id          uuid            NOT NULL,
    url         text            NOT NULL,
    events      text[]          NOT NULL,
    enabled     boolean         NOT NULL DEFAULT true,
    secret      bytea           NOT NULL,   -- sealed for this id
    created_at  timestamptz(3)  NOT NULL DEFAULT now(),
    updated_at  timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT webhook_endpoint_url_check CHECK (url ~ '^https://' AND length(url) <= 2048),
    CONSTRAINT webhook_endpoint_events_check CHECK (cardinality(events) > 0)
);

ALTER TABLE svc.webhook_endpoint ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.webhook_endpoint
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.webhook_endpoint TO svc_app;
GRANT UPDATE (url, events, enabled, updated_at) ON svc.webhook_endpoint TO svc_app;


-- Attempts to deliver: of an endpoint the last ones that were acknowledged and
-- the last ones that were not, for a week.  Who writes them trims them.

CREATE TABLE svc.webhook_attempt (
    tenant_id    uuid            NOT NULL
                     DEFAULT nullif(current_setting('svc.tenant', true), '')::uuid,
    endpoint_id  uuid            NOT NULL,
    created_at   timestamptz(3)  NOT NULL,  -- when the attempt began
    delivery_id  text            NOT NULL,
    attempt      smallint        NOT NULL,
    event_id     text            NOT NULL,
    event        text            NOT NULL,
    outcome      text            NOT NULL,
    status       smallint,                  -- of the answer; NULL: none came
    duration_ms  integer         NOT NULL,
    error        text,
    CONSTRAINT webhook_attempt_pkey
        PRIMARY KEY (tenant_id, endpoint_id, created_at, delivery_id, attempt),
    CONSTRAINT webhook_attempt_endpoint_fkey FOREIGN KEY (tenant_id, endpoint_id)
        REFERENCES svc.webhook_endpoint (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT webhook_attempt_outcome_check
        CHECK (outcome IN ('acknowledged', 'retried', 'abandoned', 'refused'))
);

CREATE INDEX webhook_attempt_created_idx ON svc.webhook_attempt (created_at);

ALTER TABLE svc.webhook_attempt ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.webhook_attempt
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON svc.webhook_attempt TO svc_app;


-- Deletes some attempts that are older than a week, of all tenants.  Returns how
-- many.  Two that run at once do not wait for each other.

CREATE FUNCTION svc.webhook_attempt_expire() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH old AS (
        SELECT tenant_id, endpoint_id, created_at, delivery_id, attempt
          FROM svc.webhook_attempt WHERE created_at < now() - interval '7 days'
         ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM svc.webhook_attempt a USING old
         WHERE a.tenant_id = old.tenant_id AND a.endpoint_id = old.endpoint_id
           AND a.created_at = old.created_at AND a.delivery_id = old.delivery_id
           AND a.attempt = old.attempt
        RETURNING 1
    )
    SELECT count(*) FROM gone
$$;

REVOKE ALL ON FUNCTION svc.webhook_attempt_expire() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.webhook_attempt_expire() TO svc_app;
