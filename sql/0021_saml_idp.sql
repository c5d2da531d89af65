-- What a tenant is to applications that speak SAML: the key with which it signs, and
-- the applications.  The key is sealed by the modules, for the id beside it.


CREATE TABLE svc.saml_idp (
    tenant_id    uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    key_id       uuid            NOT NULL,
    private_key  bytea           NOT NULL,                  -- DER, sealed
    certificate  text            NOT NULL,                  -- PEM
    created_at   timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT saml_idp_pkey PRIMARY KEY (tenant_id)
);


CREATE TABLE svc.saml_app (
    tenant_id       uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    id              uuid            NOT NULL,
    name            text            NOT NULL,
    sp_entity_id    text COLLATE "C" NOT NULL,
    acs_url         text            NOT NULL,
    name_id_format  text            NOT NULL DEFAULT 'emailAddress',
    enabled         boolean         NOT NULL DEFAULT true,
    created_at      timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT saml_app_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT saml_app_entity_key UNIQUE (tenant_id, sp_entity_id),
    CONSTRAINT saml_app_name_check CHECK (char_length(name) BETWEEN 1 AND 100),
    CONSTRAINT saml_app_url_check CHECK (octet_length(sp_entity_id) <= 2048
                                         AND octet_length(acs_url) <= 2048),
    CONSTRAINT saml_app_format_check
        CHECK (name_id_format IN ('emailAddress', 'persistent', 'transient',
                                  'unspecified'))
);


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['saml_idp', 'saml_app']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON svc.%I TO svc_app', t);
    END LOOP;
END
$$;
