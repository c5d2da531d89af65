-- Branding: custom domains, logos, and what of it the public may see.

CREATE TABLE svc.domain (
    tenant_id    uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    domain       text COLLATE "C" NOT NULL,         -- lower case, A-labels
    created_at   timestamptz(3)  NOT NULL DEFAULT now(),
    verified_at  timestamptz(3),
    CONSTRAINT domain_pkey PRIMARY KEY (tenant_id, domain),
    CONSTRAINT domain_check CHECK (char_length(domain) <= 253
        AND domain ~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$')
);

CREATE UNIQUE INDEX domain_verified_key ON svc.domain (domain) WHERE verified_at IS NOT NULL;

ALTER TABLE svc.domain ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.domain
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT ON svc.domain TO svc_app;


-- The version that a logo's URL and ETag carry.  The counter outlives the logo:
-- the same bytes sent again are another version.

ALTER TABLE svc.tenant
    ADD COLUMN logo_etag     text,
    ADD COLUMN logo_uploads  bigint NOT NULL DEFAULT 0;

GRANT UPDATE (name, branding, logo_etag, logo_uploads, updated_at) ON svc.tenant TO svc_app;

CREATE TABLE svc.logo (
    tenant_id     uuid   NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    content_type  text   NOT NULL,
    data          bytea  NOT NULL,
    CONSTRAINT logo_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT logo_data_check CHECK (octet_length(data) BETWEEN 1 AND 524288)
);

ALTER TABLE svc.logo ALTER COLUMN data SET STORAGE EXTERNAL;    -- compressed already

ALTER TABLE svc.logo ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON svc.logo
    USING (tenant_id = nullif(current_setting('svc.tenant', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON svc.logo TO svc_app;


-- RFC 7396.

CREATE FUNCTION svc.json_merge(target jsonb, patch jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF jsonb_typeof(patch) IS DISTINCT FROM 'object' THEN
        RETURN patch;
    END IF;

    IF jsonb_typeof(target) IS DISTINCT FROM 'object' THEN
        target := '{}';
    END IF;

    RETURN (
        SELECT coalesce(jsonb_object_agg(m.key, m.value), '{}') FROM (
            SELECT t.key, t.value FROM jsonb_each(target) t WHERE NOT patch ? t.key
            UNION ALL
            SELECT p.key, svc.json_merge(target -> p.key, p.value)
              FROM jsonb_each(patch) p WHERE p.value <> 'null'
        ) m
    );
END
$$;


-- What anybody may read, by slug or verified domain.  They run as the schema's
-- owner, past row-level security: what they return is all that there is to see.

CREATE FUNCTION svc.public_tenant(name_or_domain text)
    RETURNS TABLE (id uuid, slug text, name text, branding jsonb, allow_signup boolean,
                   allow_passwordless boolean, logo_etag text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.id, t.slug, t.name,
           (SELECT coalesce(jsonb_object_agg(b.key, b.value), '{}')
              FROM jsonb_each(t.branding) b
             WHERE b.key IN ('primary', 'primaryHover', 'primaryFg', 'bg', 'surface', 'fg',
                             'muted', 'border', 'danger', 'radius')),
           t.branding -> 'allowSelfSignup' IS NOT DISTINCT FROM 'true',
           t.branding -> 'allowPasswordless' IS NOT DISTINCT FROM 'true', t.logo_etag
      FROM svc.tenant t
     WHERE t.id = CASE WHEN strpos(name_or_domain, '.') > 0
                       THEN (SELECT d.tenant_id FROM svc.domain d
                              WHERE d.domain = name_or_domain AND d.verified_at IS NOT NULL)
                       ELSE (SELECT s.id FROM svc.tenant s WHERE s.slug = name_or_domain) END
$$;

CREATE FUNCTION svc.public_logo(name_or_domain text)
    RETURNS TABLE (id uuid, logo_etag text, content_type text, data bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.id, t.logo_etag, l.content_type, l.data
      FROM svc.public_tenant(name_or_domain) t LEFT JOIN svc.logo l ON l.tenant_id = t.id
$$;

REVOKE ALL ON FUNCTION svc.json_merge, svc.public_tenant, svc.public_logo FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.json_merge, svc.public_tenant, svc.public_logo TO svc_app;
