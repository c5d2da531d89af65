package SvcBench::Explain;

# The plan of each statement of the modules, executed as svc_app with the tenant
# set: the generic plan, which a connection uses in the end, and the custom one
# for the values of an execution, which it uses for the first five.

use strict;
use warnings;


# A plan that reads more pages than this reads a whole tenant or table.

my $PAGES = 1000;

# Values in the order of a statement's parameters; they find a user of tenant
# bench0.  A statement that is not listed gets NULLs.

my $CONNECTION = '"domains":["x.test"],"link_by_email":"owned","trust_mfa":false,'
                 . '"show_on_page":false,"jit_provisioning":false,"group_mapping":[],'
                 . '"enabled":false,"attribute_mapping":{}';
my $LDAP = "{$CONNECTION," . '"url":"ldaps://x","bind_dn":"cn=x","base_dn":"dc=x",'
           . '"user_filter":"(mail={email})","start_tls":false,"sync_enabled":false,'
           . '"sync_interval_minutes":60,"sync_deactivate":false}';
my $SAML = "{$CONNECTION," . '"idp_entity_id":"urn:x","idp_certificates":[],'
           . '"name_id_format":"persistent"}';
my $SOCIAL = "{$CONNECTION," . '"client_id":"x","issuer":"https://x","trust_email":false}';

my %VALUES = (
    auth_read => [ '{hash}', 'scim', 'scim' ],
    auth_write => [ '{hash}', 'scim', 'scim', 'scim', '127.0.0.1', 'bench',
                    'request' ],
    auth_caller => [ '{hash}', 'scim', 'scim', 'scim', '127.0.0.1', 'bench',
                     'request' ],
    auth_token => [ '{hash}', 'scim', 'scim' ],
    auth_touch => [ '{hash}' ],
    push_claim => [ '0' x 32, 0, 0 ],
    logout_take => [ 0, '{}', '{}' ],
    scim_get => [ '{id}' ],
    scim_list => [ 200 ],
    scim_by_user_name => [ 'user0@bench0.test' ],
    scim_by_external_id => [ 'ext-0' ],
    scim_page => [ 100, 200 ],
    scim_page_active => [ 100, 200 ],
    scim_page_inactive => [ 100, 200 ],
    scim_key_user_name => [ 'user0@bench0.test' ],
    scim_key_external_id => [ 'ext-0' ],
    scim_key_id => [ '{id}' ],
    ( map { $_ => [ '01a00000-0000-7100-8000-000000000000', 'new@bench0.test',
                    'new', 'active', ('text') x 6, '127.0.0.1', 'bench',
                    'request' ] } qw(scim_create scim_create_alone) ),
    admin_audit_list => [ (undef) x 8, 100, 0 ],
    admin_audit_export_count => [ (undef) x 8, 10000 ],
    admin_audit_export_page => [ (undef) x 8, 'now', 0, 1000 ],
    admin_audit_follow => [ (undef) x 6, 0, 0, 'now', '1:1:', 0, 0 ],
    admin_audit_stream_resume => [ (undef) x 6, 1, 1000, 100000 ],
    admin_audit_stream_open => [ '01a00000-0000-7100-8000-000000000000', 10,
                                 60 ],
    scim_change => [ '{id}', ('true', 'text') x 7, 'deactivated', '127.0.0.1',
                     'bench', 'request' ],
    scim_rfc_get => [ '{id}' ],
    scim_rfc_yield => [ 'new@bench0.test', 'new' ],
    scim_rfc_create => [ '01a00000-0000-7100-8000-000000000000', 'new@bench0.test',
                         'new', 'active', ('text') x 6 ],
    scim_rfc_change => [ '{id}', ('true', 'text') x 7, 'deactivated', 'true',
                         'new@bench0.test', undef, undef ],
    scim_rfc_delete => [ '{id}', undef ],
    admin_tenant => [ 'https://x' ],
    admin_tenant_patch => [ 'https://x', '{"branding":{"bg":"red"}}', 'Name',
                            undef, 16384 ],
    admin_logo_put => [ 'https://x', '\x00', 'image/png', undef ],
    admin_logo_delete => [ 'https://x', undef ],
    public_branding => [ 'https://x', 'bench0' ],
    public_logo => [ 'bench0' ],
    admin_tokens_list => [ undef, 100, 0 ],
    admin_scim_tokens_list => [ undef, 100, 0 ],
    admin_saml => [ 'https://x' ],
    admin_saml_put => [ $SAML, '{"idp_entity_id":"idpEntityId"}', 'false', 'true', undef ],
    admin_saml_idp => [ 'https://x' ],
    admin_saml_idp_key => [ '01a00000-0000-7100-8000-000000000000', '\x00', 'x' ],
    admin_saml_apps_create => [ '01a00000-0000-7100-8000-000000000000', 'x',
                                'https://new.test', 'https://x', 100 ],
    admin_saml_apps_get => [ '01a00000-0000-7100-8000-000000000000' ],
    admin_saml_apps_patch => [ '01a00000-0000-7100-8000-000000000000', 'x',
                               'https://new.test', 'https://x', undef ],
    admin_saml_apps_delete => [ '01a00000-0000-7100-8000-000000000000' ],
    admin_applications_list => [ undef, undef, undef, 100, 0 ],
    admin_applications_create => [ 'app_x', 'new', 'web', undef, undef,
        '{"https://x.test/"}', undef, undef, 'urn:new', 'urn:new',
        (undef) x 5, '{web}', '\x' . '00' x 32, '\x' . '01' x 32, '{web}', 1000,
        '{"signingAlg": "RS256"}', 'urn:x', 'urn:x' ],
    admin_applications_patch => [ 'app_x', 'new', undef, 'false', undef, undef,
        '{"b","a"}', undef, 'urn:new', 'urn:new', 'opaque', 60, 'false',
        'true', '{web}', '{web}', undef, '{"signingAlg": "RS256", "resourceUri": "urn:new",'
        . ' "defaultResourceUri": "urn:x"}', 'urn:x', 'urn:x' ],
    admin_application_consents_total => [ 'app_x', 10000 ],
    admin_application_consents => [ 'app_x', 100, 0 ],
    admin_application_usage => [ 'app_x', 90, 10000 ],
    admin_application_groups_list => [ 'app_x', 100, 0 ],
    admin_secrets_expire => [ 'app_x', 90, 100 ],
    oauth_own => [ 'app_x' ],
    oauth_own_opaque => [ 'app_x', 'false', 'app_x',
                          '01a00000-0000-7100-8000-000000000000', 1e12 ],
    oauth_introspect_opaque => [ 'app_x', '01a00000-0000-7100-8000-000000000000', 1e12,
                                 '\x00', undef ],
    oauth_granted_client => [ 'app_x' ],
    oauth_code_read => [ 'app_x', '\x00', undef, '\x00', undef ],
    oauth_refresh_read => [ 'app_x', '\x00', undef ],
    ( map { $_ => [ '\x00', 'app_x', ('01a00000-0000-7100-8000-000000000000') x 2, 1, 1,
                    '2100-01-01', 1e12, '01a00000-0000-7100-8000-000000000000', 'a', undef,
                    undef, '\x00', undef, undef, 60, '192.0.2.1', undef, ('(0,1)') x 3, '\x01',
                    undef, '2100-01-01', 30 ] }
          qw(oauth_code oauth_code_told oauth_refresh oauth_refresh_told) ),
    oauth_refresh_kept => [ '\x00', 'app_x', ('01a00000-0000-7100-8000-000000000000') x 2, 1, 1,
                            '2100-01-01', 1e12, '01a00000-0000-7100-8000-000000000000', 'a',
                            undef, undef, '\x00', undef, undef, 60, '192.0.2.1', undef, 30,
                            ('(0,1)') x 2, '2100-01-01' ],
    oauth_userinfo => [ undef, '01a00000-0000-7100-8000-000000000000', 1e12, undef, 'x',
                        'true', undef ],
    oauth_revoke_children => [ 'app_x', '01a00000-0000-7100-8000-000000000000', 1e12,
                               undef, 'x', undef ],
    admin_secrets_rotate => [ 'app_x', '\x' . '00' x 32, 60 ],
    admin_secrets_rotate => [ 'app_x', '\x' . '00' x 32, 60, 'true', undef ],
    admin_secrets_cut => [ 'app_x' ],
    admin_applications_cut => [ 'app_x' ],
    admin_agents_list => [ undef, undef, undef, 100, 0 ],
    admin_agent_get => [ 'app_x' ],
    admin_agent_policy_put => [ 'app_x', 'false', 'true', 60, 'true', '{"a"}', 'true',
                                '{"urn:x"}', '{"urn:x"}', undef ],
    admin_agent_policy_reset => [ 'app_x', undef ],
    admin_agent_simulate => [ 'app_x', undef, 'true', 60, 'true', '{"a"}', 'false', undef,
                              'http://x/oauth/t/', 30, 10000, 100 ],
    admin_agent_identity_put => [ 'app_x', 'true', undef, 'true', '4102444800000', undef ],
    admin_agent_review => [ 'app_x', 'note' ],
    admin_agent_settings_put => [ 'disable', 1, 2, 3, undef ],
    admin_oauth_settings_put => [ 'true', 60, 'true', undef, 'false', undef, undef ],
    admin_anomalies_list => [ undef, undef, undef, 100, 0 ],
    ( map { $_ => [ (undef) x 8, 100, 0 ] } qw(admin_delegations_all
        admin_delegations_client admin_delegations_user admin_delegations_chain
        admin_delegations_token admin_delegations_root) ),
    admin_group_apps_change => [ '{group}', '{}', 'true' ],
    admin_group_apps_remove => [ '{group}', 'app_x' ],
    admin_group_apps_list => [ '{group}', 100, 0 ],
    admin_connection_judge => [ '{"domains":["x.test"],"group_mapping":[]}', 'false' ],
    admin_social_list => [ 100, 0, 'https://x' ],
    admin_social_get => [ 'google', 'https://x' ],
    admin_social_judge => [ 'oidc', 'true', $SOCIAL, 'true', 20, undef ],
    admin_social_put => [ 'oidc', 'true', $SOCIAL, '{"client_id":"clientId"}', 'false', 'false',
                          '01a00000-0000-7100-8000-000000000000', '\x00', 'true' ],
    admin_social_delete => [ 'google' ],
    admin_ldap_put => [ $LDAP, '{"url":"url"}', 'false', '01a00000-0000-7100-8000-000000000000',
                        '\x00', 'true', undef ],
    idempotency_claim => [ '/x', 'key', '\x00' ],
    idempotency_keep => [ '/x', 'key', '\x00', 200, 'text' ],
    admin_users_list => [ undef, undef, 100, 0 ],
    admin_users_find => [ undef, undef, undef, undef, 'true', 'true', undef, 100, 0 ],
    admin_users_get => [ '{id}' ],
    admin_user_put => [ '{id}', 'true', 'new@bench0.test',
                        ('true', 'text') x 6, 'https://x', undef ],
    admin_user_put_profile => [ '{id}', '127.0.0.1', 'bench',
                                ('true', 'text') x 6, 'request', undef ],
    ( map { $_ => [ '{id}' ] } qw(admin_user_suspend admin_user_reactivate
                                  admin_user_logout admin_user_delete
                                  admin_user_groups_lock admin_user_lock
                                  admin_user_put_lock admin_user_put_get
                                  admin_user_owners_lock admin_user_groups_total
                                  admin_user_factors_total) ),
    ( map { $_ => [ '{id}', 100, 0 ] } qw(admin_user_groups_list admin_user_factors_list) ),
    password_link_address => [ '{id}' ],
    password_link => [ '{id}', 'user0@bench0.test', '\x' . '00' x 32, 5, 'https://x' ],
    admin_user_sessions_total => [ '{id}', 1800 ],
    admin_user_sessions_list => [ '{id}', 1800, 100, 0 ],
    admin_user_session_end => [ '{id}', '{id}' ],
    admin_user_unlock => [ undef, 'user0@bench0.test', 900 ],
    admin_tenant_members_list => [ undef, undef, 'owner', 100, 0 ],
    admin_tenant_members_put => [ '{id}', 'owner', undef ],
    ( map { $_ => [ '{id}' ] } qw(admin_tenant_members_get
                                  admin_tenant_members_remove) ),
    admin_names_users => [ 'user12345', '{}', 20 ],
    ( map { $_ => [ 'x', '{}', 20 ] } qw(admin_names_groups admin_names_roles
                                         admin_names_applications) ),
    admin_invitations_list => [ undef, undef, 100, 0 ],
    admin_invitations_create => [ '01a00000-0000-7100-8000-000000000000',
        '\x' . '00' x 32, 'new@bench0.test', 'member', '{}', 7,
        'https://x' ],
    admin_invitations_resend => [ '{id}', '\x' . '00' x 32, 'https://x' ],
    invitation_read => [ '127.0.0.1', '\x' . '00' x 32, 'Name' ],
    invitation_user => [ '01a00000-0000-7100-8000-000000000000', 'Name', 'full',
        '\x' . '00' x 32 ],
    account_password => [ '{new}', '\x01' ],
    signup_read => [ '127.0.0.1', 'new@bench0.test', 'Name' ],
    signup_user => [ '01a00000-0000-7100-8000-000000000000', 'Name', 'full',
        'new@bench0.test', 'true' ],
    organization_open => [ '01a00000-0000-7100-8000-000000000001', 'new',
                           ('\x' . '00' x 16) x 2, ('\x' . '01' x 32) x 2, '\x00', 600,
                           1000, 'new' ],
    organization_user => [ '01a00000-0000-7100-8000-000000000000', 'Name', 'full',
                           'new@bench0.test' ],
    admin_identities_list => [ undef, undef, 100, 0, undef ],
    admin_groups_list => [ undef, 100, 0 ],
    admin_groups_create => [ '01a00000-0000-7100-8000-000000000000', 'new',
                             undef, 10000 ],
    admin_members_find => [ '{id}', '{}', ('{user1@bench0.test,nobody@bench0.test}') x 2,
                            'false' ],
    admin_members_change => [ '{id}', '{}', 'true' ],
    admin_members_remove => [ '{id}', '{id}' ],
    admin_members_list => [ '{id}', 100, 0 ],
    admin_access_store => [ '{"rules":[],"defaultAction":"mfa"}', 0, 50 ],
    admin_access_versions => [ 100, 0, undef, 262144 ],
    admin_access_version => [ '{id}', undef ],
    admin_simulate_policy => [ 30 ],
    admin_simulate_sign_ins => [ 30, 1000 ],
    admin_groups_delete => [ '{group}' ],
    admin_roles_list => [ 100, 0 ],
    admin_roles_create => [ 'new', 'New', '{users:view}', 'false', 1001 ],
    admin_roles_put => [ 'role500', 'New', '{users:view}', undef ],
    admin_roles_delete => [ 'role500' ],
    admin_domains_list => [ undef, undef, 100, 0 ],
    admin_domains_create => [ 'new.example', 'a' x 43, 101 ],
    admin_domains_delete => [ 'd1.example' ],
    admin_domain_read => [ 'd1.example' ],
    admin_domain_verify => [ 'd1.example', 'a' x 43 ],
    admin_risk_policy_put => [ 'true', 50, 90, '{1}' ],
    admin_password_policy_put => [ 20, ('true') x 6, 9, 90, '{1}' ],
    admin_overrides_list => [ 100, 0 ],
    admin_overrides_create => [ 20, ('true') x 6, 9, 90, '{group}' ],
    admin_overrides_get => [ '{group}' ],
    admin_overrides_put => [ 20, ('true') x 6, 9, 90, '{group}', undef ],
    admin_overrides_delete => [ '{group}' ],
    admin_bundle => [ '{{group}}' ],
    admin_config_apply => [ 2, '{}', '{group}', '{1,40,80}',
        '{12,1,1,0,0,0,0,5,0}',
        '[{"id":"{group}","fields":[12,1,null,0,0,0,0,5,0]}]', '{{group}}',
        '[{"key":"role1","name":"New","permissions":["users:view"]}]',
        '{"role500"}', '[{"action":"config.applied","type":"config",'
                       . '"details":{}}]', 50 ],
    webhook_list => [ undef, 100, 0 ],
    webhook_get => [ '{webhook}' ],
    webhook_create => [ '01a00000-0000-7100-8000-000000000000',
                        'https://x.test/', '{user.created}', 'true', '\x00',
                        101 ],
    webhook_patch => [ '{webhook}', undef, '{user.deleted}', 'false', undef ],
    webhook_delete => [ '{webhook}' ],
    webhook_attempts => [ '{webhook}', 100, 0 ],
    webhook_attempts_total => [ '{webhook}' ],
    webhook_redeliver => [ '{webhook}', 'id', 20000 ],
    webhook_test => [ '{webhook}', 'id' ],
    webhook_record => [ '[{"endpoint":"{webhook}","audit":true,"began":1e12,'
        . '"delivery":"d","attempt":3,"event_id":"e","event":"user.created",'
        . '"outcome":"abandoned","duration":5,"error":"no"}]' ],
    webhook_note => [ '{01a00000-0000-7100-8000-000000000000}',
                      '{01a00000-0000-7100-8000-000000000000}' ],
    webhook_outbox_take => [ 8 ],
    webhook_outbox_look => [ 5000 ],
    mail_failed => [ 'a@b', '1', 'reset', 'failed', 0, 4 ],
    webhook_trim => [ '{{webhook}}' ],
    push_claim => [ '0' x 32, 0, 0 ],
    signin_tenant => [ 'x.test', 'bench0', undef, 'user0@bench0.test' ],
    signin_way => [ 'x.test', 'bench0', undef, 'user0@bench0.test', 'false' ],
    signin_tenant_write => [ 'x.test', 'bench0', '127.0.0.1', 'bench',
                             'request' ],
    signin_user => [ '127.0.0.1', 'user0@bench0.test', '\x00' ],
    signin_risk => [ '\x00', 'firefox linux', '127.0.0.0/24', 'FR', '127.0.0.1',
                     '48.9', '2.3', 'user0@bench0.test', '\x00' ],
    ( map { $_ => [ '{id}', '\x00', '127.0.0.1', 'FR', 'wrong', 10, 900, 900,
                    'https://x' ] }
          qw(signin_failure directory_failure) ),
    mfa_failure => [ '{id}', '\x00', '127.0.0.1', 'FR', 'totp', 10, 900, 900,
                     'https://x' ],
    passkey_check => [ '{id}', '\x00', 1, '\x' . '00' x 32, '1800000000000' ],
    stepup_passkey => [ '{id}', '\x00', 1, 'true', '\x' . '00' x 32,
                        '1800000000000' ],
    passkeys_create => [ '{id}', '01a00000-0000-7100-8000-000000000000',
                         'Laptop', '\x' . '00' x 32, 20, '\x' . '00' x 32,
                         '1800000000000', '\x01', '\x01', -7, 'x.test', 0,
                         'false', 'false', 0, '\x00' ],
    signin_denied => [ '{id}', 'risk', 90, '{new_device}', '127.0.0.1',
                       'FR' ],
    signin_tenant_again => [ '01a00000-0000-7100-8000-000000000000', '127.0.0.1',
                             'bench', 'request' ],
    ( map { $_ => [ '{id}' ] } qw(signin_lock signin_lock_user) ),
    signin_check => [ '{id}', 1 ],
    ( map { $_ => [ '01a00000-0000-7100-8000-000000000000', '{id}',
                              '\x00', 'full', 43200, 600, '127.0.0.1', 'FR',
                              'bench', 0, '{new_device}', '{password}', 'false' ] }
          qw(signin_session_new signin_session_first) ),
    federation_session => [ '01a00000-0000-7100-8000-000000000000', '{id}', '\x00', 'full', 43200,
                            600, '127.0.0.1', 'FR', 'bench', 0, '{new_device}', '{federation}',
                            'false', undef, undef, undef, undef, undef ],
    federation_account => [ '01a00000-0000-7100-8000-000000000000', 'new@bench0.test', undef,
                            undef, 'Name', 'oidc', (undef) x 7 ],
    signin_session_old => [ '\x00' ],
    signin_sessions => [ '{id}', '01a00000-0000-7100-8000-000000000000' ],
    signin_rehash => [ '{id}', 1, '\x01' ],
    signin_user_done => [ '{id}', '127.0.0.1' ],
    signin_seen => [ '{id}', '127.0.0.1', 'FR', '127.0.0.0/24', '48.9', '2.3',
                     '{new_device}' ],
    signin_notice => [ '{id}', 'FR', 'firefox linux', '\x00', 'https://x' ],
    signin_device => [ '{id}', 'firefox linux', '\x00', 'true' ],
    signin_devices => [ '{id}', '\x00' ],
    signin_done_first => [ '{id}', 0, '{new_device}', '{password}' ],
    signin_done => [ '{id}', 0, '{new_device}', '\x00' ],
    stepup_passkey_wrong => [ '{id}', 'wrong', '127.0.0.1', 'FR' ],
    ( map { $_ => [ '01a00000-0000-7100-8000-000000000000', 'sign_in',
                    ('\x' . '01' x 16) x 2, ('\x' . '02' x 32) x 2, undef, 600,
                    'user0@bench0.test' ] } qw(passwordless_open signup_open) ),
    ( map { $_ => [ '01a00000-0000-7100-8000-000000000000', 'verify',
                    ('\x' . '01' x 16) x 2, ('\x' . '02' x 32) x 2, undef, 600,
                    '{id}', 'new@bench0.test', '\x' . '00' x 32 ] }
          qw(own_email_open email_change_open) ),
    password_forgot => [ 'user0@bench0.test', '\x' . '01' x 32, 'https://x' ],
    signin_expire => [ 900 ],
    oauth_sweep => [ 11000 ],
    oauth_anomaly => [ 'app_x', 'scope_denied', '{}' ],
    admin_incidents_list => [ undef, undef, 100, 0 ],
    admin_security_stats => [ 90 ],
    admin_growth_stats => [ 90 ],
    signin_limited => [ 'x.test', 'bench0', '127.0.0.1', 'login', 'ip', 10,
                        60 ],
);

# Statements that read everything of a kind in a tenant, and their bounds in
# pages.

my %MORE = (admin_bundle => 2000);

# Functions whose first execution on a connection reads the catalogs of
# everything that they name, and of each partition of it: the second execution
# counts.

my %AGAIN = map { $_ => 1 } qw(signin_expire oauth_sweep oauth_expire oauth_exchange
                                admin_delegations_client admin_delegations_root
                                admin_delegations_user);

# As much governance as tenants may have, and more tenants with it; "{group}" is
# one of the groups.  And as many webhooks; "{webhook}" is one of them.

my $GROUP = '01a00000-0000-7200-8000-';
my $WEBHOOK = '01a00000-0000-7300-8000-';

# Without the tenants that have only a client.
my $TENANT = "(SELECT id FROM svc.tenant WHERE slug !~ '^oauth') t";

my $NEW = 10;                           # a user of the first tenant, without a password

# Returns SQL that makes them, divided by $part: for instance 9999 / $part
# groups.

sub governance {
    my ($part) = @_;

    my ($groups, $roles, $webhooks, $attempts, $tenants)
        = map { int $_ / $part } 9_999, 1_000, 100, 200, 10_000;

    return (
        'INSERT INTO svc.user_group (tenant_id, id, name)'
        . " SELECT id, ('$GROUP' || lpad(i::text, 12, '0'))::uuid, 'group' || i"
        . " FROM $TENANT, generate_series(1, $groups) i",
        'INSERT INTO svc.group_password_policy (tenant_id, group_id, min_length)'
        . ' SELECT tenant_id, id, 16 FROM svc.user_group',
        'INSERT INTO svc.role (tenant_id, key, name, permissions)'
        . " SELECT id, 'role' || i, 'Role', '{}'"
        . " FROM $TENANT, generate_series(1, $roles) i",
        'INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events, secret)'
        . " SELECT id, ('$WEBHOOK' || lpad(i::text, 12, '0'))::uuid,"
        . " 'https://x.test/', '{user.created,user.deleted}', '\\x00'"
        . " FROM $TENANT, generate_series(1, $webhooks) i",
        'INSERT INTO svc.webhook_attempt (tenant_id, endpoint_id, created_at,'
        . ' delivery_id, attempt, event_id, event, outcome, duration_ms)'
        . " SELECT tenant_id, id, now() - i * interval '1 minute', 'd' || i, 1,"
        . " 'e', 'user.created', 'acknowledged', 1"
        . " FROM svc.webhook_endpoint, generate_series(1, $attempts) i",
        'DELETE FROM svc.password WHERE right(user_id::text, 12)::bigint = ' . $NEW,
        'SET session_replication_role = replica',
        'INSERT INTO svc.governance (tenant_id) SELECT gen_random_uuid()'
        . " FROM generate_series(1, $tenants)",
        'VACUUM ANALYZE svc.user_group, svc.group_password_policy, svc.role,'
        . ' svc.governance, svc.webhook_endpoint, svc.webhook_attempt',
    );
}


# Returns the names whose number of values is not that of the statement's
# parameters.

sub strays {
    my ($statements) = @_;

    return grep { !$statements->{$_}
                  || $statements->{$_}{nparams} != @{ $VALUES{$_} } }
           sort keys %VALUES;
}


# Returns an array of { name, kind, text, nodes, pages, bad }, by statement and
# kind, measured beside that part of what tenants may have.

sub all {
    my ($system, $statements, $part) = @_;

    my (@plans, @failed, $client);

    $system->psql('postgres', map { ('-c', $_) } governance($part));

    for my $s (map { $statements->{$_} } sort keys %$statements) {
        my $values = $VALUES{$s->{name}};
        my @values = $values ? map { quoted($system, $_) } @$values
                             : ('NULL') x $s->{nparams};

        push @plans, map {
            my $kind = $_;

            $client //= $system->{s}->connect_as('svc_app');

            eval { plan($system, $client, $s, $kind, @values) }
                // do {
                    push @failed, "$s->{name}, $kind plan: $@";
                    undef $client;
                    ();
                };
        } qw(generic custom);
    }

    die @failed if @failed;

    return \@plans;
}


sub quoted {
    my ($system, $value) = @_;

    return 'NULL' if !defined $value;

    $value = $system->hash(0) if $value eq '{hash}';
    $value =~ s/\{group\}/${GROUP}000000000001/;
    $value =~ s/\{webhook\}/${WEBHOOK}000000000001/;
    $value = SvcBench::System::user_id(0) if $value eq '{id}';
    $value = SvcBench::System::user_id($NEW) if $value eq '{new}';

    return "'$value'";
}


sub plan {
    my ($system, $c, $s, $kind, @values) = @_;

    my $arguments = @values ? '(' . join(', ', @values) . ')' : '';

    $c->query('BEGIN');
    $c->query("SET LOCAL plan_cache_mode = force_${kind}_plan");
    $c->query("SELECT set_config('svc.tenant',"
              . " '$system->{tenants}[0]{id}', true),"
              . " set_config('svc.actor_id',"
              . " '$system->{tenants}[0]{api_id}', true),"
              . " set_config('svc.permissions', '{users:view}', true),"
              . " set_config('svc.verdict', '', true)");
    $c->query("PREPARE s AS $s->{text}");

    $c->query("EXECUTE s$arguments") if $AGAIN{$s->{name}};

    my $text = join "\n", map { $_->[0] }
               @{ $c->query("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF,"
                            . " TIMING OFF, SUMMARY OFF)"
                            . " EXECUTE s$arguments") };

    $c->query('ROLLBACK');
    $c->query('DEALLOCATE s');

    my @nodes = $text =~ /((?:Seq|Index|Index Only|Bitmap \w+) Scan[^(]*) \(/g;

    # the partitions of a table, each of which is a node, count as one

    s/_(?:\d{4}_\d\d|default)\b|_(?:\d{4}_\d\d|default)(?=_)| e_?\d*$//g
        for @nodes;

    my %seen;

    @nodes = grep { !$seen{$_}++ } @nodes;

    my ($first) = $text =~ /Buffers: shared([^\n]*)/;
    my $pages = 0;

    $pages += $_ for ($first // '') =~ /(?:hit|read)=(\d+)/g;

    my $bad = $pages > ($MORE{$s->{name}} // $PAGES)
              || $text =~ /Seq Scan on user_account/;

    return { name => $s->{name}, kind => $kind, text => $text,
             nodes => \@nodes, pages => $pages, bad => $bad };
}


1;
