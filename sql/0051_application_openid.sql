-- serves: 1
--
-- What clients of OpenID Connect need that not all of them do alike.  The defaults are what
-- was true of all before.


ALTER TABLE svc.application
    ADD COLUMN signing_alg           text COLLATE "C" NOT NULL DEFAULT 'ES256',
    ADD COLUMN require_pkce          boolean NOT NULL DEFAULT true,
    ADD COLUMN require_acr           boolean NOT NULL DEFAULT false,
    ADD COLUMN unknown_scopes        text COLLATE "C" NOT NULL DEFAULT 'refuse',
    ADD COLUMN refresh_tokens        text COLLATE "C" NOT NULL DEFAULT 'offline_access',
    ADD COLUMN id_token_claims       text[] COLLATE "C" NOT NULL DEFAULT '{}',
    ADD COLUMN groups_claim          text COLLATE "C" NOT NULL DEFAULT 'all',
    ADD COLUMN id_token_ttl          integer NOT NULL DEFAULT 3600,      -- seconds
    ADD COLUMN refresh_idle_days     integer NOT NULL DEFAULT 30,
    ADD COLUMN grant_days            integer NOT NULL DEFAULT 90,
    ADD COLUMN default_resource_uri  text,                               -- as it was given
    ADD COLUMN default_resource_key  text COLLATE "C",
    ADD CONSTRAINT application_alg_check CHECK (signing_alg IN ('ES256', 'RS256')),
    ADD CONSTRAINT application_pkce_check CHECK (require_pkce OR type = 'web'),
    ADD CONSTRAINT application_unknown_check CHECK (unknown_scopes IN ('refuse', 'ignore')),
    ADD CONSTRAINT application_refresh_check
        CHECK (refresh_tokens IN ('offline_access', 'always')),
    ADD CONSTRAINT application_claims_check
        CHECK (id_token_claims <@ '{email,groups,profile,roles}'),
    ADD CONSTRAINT application_groups_check CHECK (groups_claim IN ('all', 'assigned')),
    ADD CONSTRAINT application_id_token_check CHECK (id_token_ttl BETWEEN 60 AND 86400),
    ADD CONSTRAINT application_idle_check CHECK (refresh_idle_days BETWEEN 1 AND 365),
    ADD CONSTRAINT application_grant_check CHECK (grant_days BETWEEN 1 AND 3650),
    ADD CONSTRAINT application_default_check
        CHECK ((default_resource_uri IS NULL) = (default_resource_key IS NULL));

GRANT UPDATE (signing_alg, require_pkce, require_acr, unknown_scopes, refresh_tokens,
              id_token_claims, groups_claim, id_token_ttl, refresh_idle_days, grant_days,
              default_resource_uri, default_resource_key) ON svc.application TO svc_app;


-- What a tenant's applications may have at most.

ALTER TABLE svc.oauth_tenant
    ADD COLUMN max_id_token_ttl       integer,
    ADD COLUMN max_refresh_idle_days  integer,
    ADD COLUMN max_grant_days         integer;

GRANT UPDATE (max_id_token_ttl, max_refresh_idle_days, max_grant_days) ON svc.oauth_tenant
    TO svc_app;


-- Of a request without a challenge, which some web applications may send.

ALTER TABLE svc.oauth_code ALTER COLUMN challenge DROP NOT NULL;
