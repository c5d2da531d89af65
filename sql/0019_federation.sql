-- Directories and identity providers of tenants.  Secrets are sealed by the modules,
-- each for the id beside it, which is new with it.


CREATE TABLE svc.ldap (
    tenant_id          uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    enabled            boolean         NOT NULL,
    url                text            NOT NULL,
    bind_dn            text,
    bind_password      bytea,
    bind_password_id   uuid,
    base_dn            text            NOT NULL,
    user_filter        text            NOT NULL,
    attribute_mapping  jsonb           NOT NULL,
    start_tls          boolean         NOT NULL,
    updated_at         timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT ldap_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT ldap_url_check CHECK (octet_length(url) <= 2048
                                     AND (url LIKE 'ldaps://%'
                                          OR (url LIKE 'ldap://%' AND start_tls))),
    CONSTRAINT ldap_bind_check CHECK ((bind_dn IS NULL) = (bind_password IS NULL)
                                      AND (bind_dn IS NULL) = (bind_password_id IS NULL)),
    CONSTRAINT ldap_filter_check CHECK (user_filter LIKE '(%{email}%)'
                                        AND char_length(user_filter) <= 1024)
);


-- What a tenant has with a social provider.

CREATE TABLE svc.social (
    tenant_id         uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    provider          text COLLATE "C" NOT NULL,
    client_id         text            NOT NULL,
    client_secret     bytea           NOT NULL,
    client_secret_id  uuid            NOT NULL,
    team_id           text,                                 -- Apple's, as is the next
    key_id            text,
    enabled           boolean         NOT NULL,
    created_at        timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT social_pkey PRIMARY KEY (tenant_id, provider),
    CONSTRAINT social_provider_check
        CHECK (provider IN ('google', 'github', 'microsoft', 'apple', 'gitlab',
                            'linkedin', 'facebook')),
    CONSTRAINT social_client_check CHECK (char_length(client_id) BETWEEN 1 AND 255),
    CONSTRAINT social_apple_check CHECK ((provider = 'apple') = (team_id IS NOT NULL)
                                         AND (provider = 'apple') = (key_id IS NOT NULL))
);


-- The identity provider of a tenant's own.

CREATE TABLE svc.saml_sp (
    tenant_id          uuid            NOT NULL REFERENCES svc.tenant ON DELETE CASCADE,
    enabled            boolean         NOT NULL,
    idp_entity_id      text,
    idp_sso_url        text,
    idp_certificates   jsonb           NOT NULL,
    name_id_format     text            NOT NULL,
    attribute_mapping  jsonb           NOT NULL,
    jit_provisioning   boolean         NOT NULL,
    updated_at         timestamptz(3)  NOT NULL DEFAULT now(),
    CONSTRAINT saml_sp_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT saml_sp_enabled_check
        CHECK (NOT enabled OR (idp_entity_id IS NOT NULL AND idp_sso_url IS NOT NULL
                               AND idp_certificates <> '[]')),
    CONSTRAINT saml_sp_url_check CHECK (octet_length(idp_sso_url) <= 2048),
    CONSTRAINT saml_sp_certificates_check
        CHECK (jsonb_array_length(idp_certificates) <= 5),
    CONSTRAINT saml_sp_format_check
        CHECK (name_id_format IN ('emailAddress', 'persistent', 'transient',
                                  'unspecified'))
);


DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['ldap', 'social', 'saml_sp']
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
