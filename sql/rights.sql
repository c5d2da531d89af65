-- All that svc_app may do, and what everybody may not, in one place.  A migration grants
-- what it brings, and adds it here: a database that is restored may have lost its rights
-- on the way.  "svcctl migrate" runs this when all migrations are there: it changes what
-- lacks alone, and says how many changes that were.

WITH may (name, privileges, columns) AS (VALUES

    -- tables and sequences

    ('access_policy_version',  'SELECT, INSERT, DELETE', NULL::text),
    ('active_day',             'SELECT', NULL),
    ('agent_anomaly',          'SELECT, INSERT', NULL),
    ('agent_minute',           'SELECT', NULL),
    ('agent_seen',             'SELECT', NULL),
    ('application',            'SELECT, INSERT, DELETE', NULL),
    ('audit_event',            'SELECT, INSERT', NULL),
    ('audit_event_seq',        'USAGE', NULL),
    ('audit_stream',           'SELECT, INSERT, DELETE', NULL),
    ('challenge',              'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('challenge_used',         'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('credential',             'SELECT, INSERT', NULL),
    ('delegation',             'SELECT, INSERT', NULL),
    ('domain',                 'SELECT, INSERT, DELETE', NULL),
    ('email_challenge',        'SELECT, INSERT', NULL),
    ('factor',                 'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('federated_identity',     'SELECT, INSERT, DELETE', NULL),
    ('federation_flow',        'SELECT, INSERT', NULL),
    ('federation_meta',        'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('federation_seen',        'SELECT, INSERT', NULL),
    ('governance',             'SELECT, UPDATE', NULL),
    ('group_app',              'SELECT, INSERT, DELETE', NULL),
    ('group_member',           'SELECT, INSERT, DELETE', NULL),
    ('group_password_policy',  'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('idempotency',            'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('incident',               'SELECT', NULL),
    ('invitation',             'SELECT, INSERT, DELETE', NULL),
    ('ip_block',               'SELECT, INSERT, DELETE', NULL),
    ('ldap',                   'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('ldap_sync',              'SELECT, INSERT, UPDATE', NULL),
    ('login_phantom',          'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('logo',                   'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('oauth_code',             'SELECT, INSERT', NULL),
    ('oauth_consent',          'SELECT, INSERT, DELETE', NULL),
    ('oauth_grant',            'SELECT, INSERT', NULL),
    ('oauth_key',              'SELECT, INSERT', NULL),
    ('oauth_login',            'SELECT, INSERT, DELETE', NULL),
    ('oauth_logout',           'SELECT, DELETE', NULL),
    ('oauth_once',             'SELECT, INSERT', NULL),
    ('oauth_par',              'SELECT, INSERT', NULL),
    ('oauth_refresh',          'SELECT, INSERT', NULL),
    ('oauth_revoked',          'SELECT', NULL),
    ('oauth_tenant',           'SELECT', NULL),
    ('oauth_token',            'SELECT, INSERT', NULL),
    ('passkey',                'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('password',               'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('password_history',       'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('password_reset',         'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('recovery_code',          'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('role',                   'SELECT, INSERT, DELETE', NULL),
    ('saml_app',               'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('saml_idp',               'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('saml_sp',                'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('schema_migration',       'SELECT', NULL),
    ('scim_item',              'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('scim_target',            'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('session',                'SELECT, INSERT', NULL),
    ('sign_in',                'SELECT, INSERT', NULL),
    ('sign_in_address',        'SELECT, INSERT', NULL),
    ('sign_in_event',          'INSERT', NULL),
    ('social',                 'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('stat_day',               'SELECT, INSERT', NULL),
    ('tenant',                 'SELECT', NULL),
    ('user_account',           'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('user_count',             'SELECT, INSERT', NULL),
    ('user_device',            'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('user_group',             'SELECT, INSERT, DELETE', NULL),
    ('user_inactive',          'SELECT, INSERT, DELETE', NULL),
    ('user_seen',              'SELECT, INSERT, UPDATE, DELETE', NULL),
    ('webhook_attempt',        'SELECT, INSERT, DELETE', NULL),
    ('webhook_done',           'SELECT, DELETE', NULL),
    ('webhook_endpoint',       'SELECT, INSERT, DELETE', NULL),
    ('webhook_outbox',         'SELECT, INSERT', NULL),

    -- columns that may be updated

    ('agent_anomaly',     'UPDATE', 'severity, details, occurrences, last_seen_at, '
                                    'acknowledged_at, acknowledged_by'),
    ('application',       'UPDATE', 'name, enabled, assignment, redirect_uris, scopes, '
                                    'grant_types, resource_uri, resource_key, '
                                    'access_token_format, access_token_ttl, require_consent, '
                                    'require_dpop, signing_alg, require_pkce, require_acr, '
                                    'unknown_scopes, refresh_tokens, id_token_claims, '
                                    'groups_claim, id_token_ttl, refresh_idle_days, '
                                    'grant_days, default_resource_uri, '
                                    'default_resource_key, post_logout_redirect_uris, '
                                    'backchannel_logout_uri, backchannel_session, '
                                    'auth_method, jwks, require_par, security_profile, '
                                    'jwks_uri, jwks_fetched_at, jwks_due_at, '
                                    'jwks_asked_at, jwks_failed_at, jwks_error, '
                                    'owner_id, secret_rotated_at, '
                                    'previous_secret_until, last_used_at, updated_at, '
                                    'tokens_valid_after, expires_at, max_token_ttl, '
                                    'allowed_scopes, allowed_audiences, allowed_audience_keys, '
                                    'policy_set_at, reviewed_at, reviewed_by'),
    ('audit_stream',      'UPDATE', 'expires_at'),
    ('credential',        'UPDATE', 'revoked_at, last_used_at, created_by_name'),
    ('domain',            'UPDATE', 'verified_at, sign_in, rp_id, include_subdomains'),
    ('email_challenge',   'UPDATE', 'attempts, expires_at, used_at'),
    ('federated_identity','UPDATE', 'email_seen, last_at, subject, import_run, import_disabled, '
                                    'import_ended_at'),
    ('federation_flow',   'UPDATE', 'token_hash, subject_hash, found_id, sealed, used_at, '
                                    'expires_at, tested_at'),
    ('federation_seen',   'UPDATE', 'expires_at'),
    ('incident',          'UPDATE', 'acknowledged_at, acknowledged_by_type, acknowledged_by_id, '
                                    'acknowledged_by_name'),
    ('invitation',        'UPDATE', 'token_hash, expires_at, accepted_at, accepted_by, revoked_at'),
    ('oauth_code',        'UPDATE', 'used_at'),
    ('oauth_consent',     'UPDATE', 'scopes, resources, allowed, updated_at'),
    ('oauth_logout',      'UPDATE', 'due_at, attempts'),
    ('oauth_grant',       'UPDATE', 'revoked_at, reason'),
    ('oauth_key',         'UPDATE', 'active_from, retired_at, revoked_at'),
    ('oauth_login',       'UPDATE', 'retired_at'),
    ('oauth_par',         'UPDATE', 'browser, expires_at, used_at'),
    ('oauth_refresh',     'UPDATE', 'used_at, successor, expires_at'),
    ('oauth_tenant',      'UPDATE', 'active_kid, active_rsa_kid, tokens_valid_after, '
                                    'orphan_action, orphan_grace_hours, max_delegation_depth, '
                                    'review_interval_days, max_id_token_ttl, '
                                    'max_refresh_idle_days, max_grant_days'),
    ('oauth_token',       'UPDATE', 'revoked_at'),
    ('role',              'UPDATE', 'name, permissions, updated_at'),
    ('session',           'UPDATE', 'stage, methods, expires_at, ended_at, last_seen_at, mfa_at, '
                                    'reauth_at, proved_at'),
    ('sign_in_address',   'UPDATE', 'last_at'),
    ('stat_day',          'UPDATE', 'new_users'),
    ('tenant',            'UPDATE', 'name, updated_at, branding, logo_etag, logo_uploads, '
                                    'sign_in_forced, directory'),
    ('user_count',        'UPDATE', 'active, suspended, deactivated, mfa, day, added, '
                                    'scim_deleted'),
    ('user_group',        'UPDATE', 'name, description, updated_at'),
    ('user_inactive',     'UPDATE', 'scim_deleted'),
    ('webhook_endpoint',  'UPDATE', 'url, events, enabled, updated_at, since'),
    ('webhook_outbox',    'UPDATE', 'xid, event_id, next_xid, next_id, due_at')

), may_call (name) AS (SELECT unnest('{

    address_key, address_key_double, address_key_unicode, agent_sweep,
    application_jwks_take, audit_stream_close, break_glass, break_glass_keep,
    connection_key, connection_named, connection_of, covers, delegation_chain, directory_account,
    directory_ambiguous, domain_path, domain_slug, domain_taken, email_challenge_tenant,
    federation_due, federation_tenant, invitation_tenant, json_merge, ldap_sync_due,
    ldap_sync_forget, ldap_sync_hold, member_page, oauth_expire, oauth_jwks,
    oauth_key_tenant, oauth_key_turn, oauth_key_turns, oauth_logout_take, oauth_token_keep, oauth_user_lets, organization_create,
    organization_open, organization_taken, organization_try, public_logo, public_tenant,
    punycode, role_grants, scim_claim, scim_hold, scim_release, sealed_by, sealed_keys,
    search_text, sign_in_by, sign_in_directory, sign_in_expire, sign_in_locked,
    sign_in_place, sign_in_realm, sign_in_sweep, sign_in_tenant, sign_in_way, signed_out_there,
    token_acts, user_added, user_conflict, user_find, user_index, user_page, user_search,
    way_in_last,
    webhook_attempt_delete, webhook_attempt_expire, webhook_done_expire, webhook_note,
    webhook_outbox_rest, webhook_outbox_take

}'::text[])

), lacks (statement) AS (

    -- what lacks of that, and what everybody has got

    SELECT 'GRANT USAGE ON SCHEMA svc TO svc_app'
     WHERE NOT has_schema_privilege('svc_app', 'svc', 'USAGE')

    UNION ALL
    SELECT format('GRANT %s ON %s svc.%I TO svc_app', privilege,
                  CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, name)
      FROM may
     CROSS JOIN string_to_table(privileges, ', ') AS privilege
      JOIN pg_class c ON c.oid = format('svc.%I', name)::regclass
     WHERE columns IS NULL
       AND NOT EXISTS (SELECT FROM aclexplode(c.relacl) acl
                        WHERE acl.grantee = 'svc_app'::regrole
                          AND acl.privilege_type = privilege)

    UNION ALL
    SELECT format('GRANT %s (%I) ON svc.%I TO svc_app', privileges, col, name)
      FROM may
     CROSS JOIN string_to_table(columns, ', ') AS col
     WHERE NOT has_column_privilege('svc_app', format('svc.%I', name), col, privileges)

    UNION ALL
    SELECT format('GRANT EXECUTE ON FUNCTION svc.%I TO svc_app', name)
      FROM may_call
     WHERE NOT EXISTS (SELECT FROM pg_proc p, aclexplode(p.proacl) acl
                        WHERE p.oid = format('svc.%I', name)::regproc
                          AND acl.grantee = 'svc_app'::regrole)

    UNION ALL
    SELECT format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure)
      FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl
     WHERE p.pronamespace = 'svc'::regnamespace AND acl.grantee = 0

    UNION ALL
    SELECT 'ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC'
     WHERE NOT EXISTS (SELECT FROM pg_default_acl d JOIN pg_roles r ON r.oid = d.defaclrole
                        WHERE r.rolname = current_user AND d.defaclnamespace = 0
                          AND d.defaclobjtype = 'f'
                          AND NOT EXISTS (SELECT FROM aclexplode(d.defaclacl) acl
                                           WHERE acl.grantee = 0))

    -- of the database, and of "public", whose owner alone may

    UNION ALL
    SELECT format('REVOKE %s ON DATABASE %I FROM PUBLIC', acl.privilege_type, d.datname)
      FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) acl
     WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'MEMBER')
       AND acl.grantee = 0 AND acl.privilege_type IN ('TEMPORARY', 'CREATE')

    UNION ALL
    SELECT 'REVOKE CREATE ON SCHEMA public FROM PUBLIC'
      FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) acl
     WHERE n.nspname = 'public' AND pg_has_role(n.nspowner, 'MEMBER')
       AND acl.grantee = 0 AND acl.privilege_type = 'CREATE'
)
SELECT count(*) AS lacking, string_agg(statement, '; ') AS changes FROM lacks \gset

\if :{?changes}
    :changes;
\endif
\echo :lacking
