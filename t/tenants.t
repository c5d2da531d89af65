#!/usr/bin/perl

# Tenants are kept apart: by the routes, and by the database without the routes.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Scim;
use SvcTest::Session qw(add_addresses);


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

my $ours = $acme->create(userName => 'same@x.test', externalId => 'same',
                         title => 'acme');
my $theirs = $globex->create(userName => 'same@x.test', externalId => 'same',
                             title => 'globex');


# --- the routes -------------------------------------------------------------

my $before = $globex->stored;
my $path = "/Users/$theirs->{id}";

scim_error($acme->scim(GET => $path), 404, undef, 'GET');
scim_error($acme->scim(PUT => $path, { title => 'x' }), 404, undef, 'PUT');
scim_error($acme->scim(PATCH => $path,
                       patch_op({ op => 'replace', path => 'active',
                                  value => false })),
           404, undef, 'PATCH');
scim_error($acme->scim(PATCH => $path,
                       patch_op({ op => 'add', path => 'nickName',
                                  value => 'N' })),
           404, undef, 'PATCH with nothing that is mapped');
scim_error($acme->scim(DELETE => $path), 404, undef, 'DELETE');
is($globex->stored, $before, 'the other tenant is as before');

my $r = $acme->scim(GET => '/Users');
scim_list($r, $s->base_url, 1, 'a list');
is($r->json->{Resources}[0]{title}, 'acme', 'shows our own');

for my $attribute (qw(userName externalId)) {
    my $value = $attribute eq 'userName' ? 'same@x.test' : 'same';

    $r = $globex->scim(GET => "/Users?filter=$attribute+eq+%22$value%22");
    scim_list($r, $s->base_url, 1, "a filter on $attribute");
    is($r->json->{Resources}[0]{title}, 'globex', 'finds our own');
}


# --- the role of the modules ------------------------------------------------

my ($role) = $s->sql(<<'EOT');
SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication,
       (SELECT count(*) FROM pg_shdepend
        WHERE refobjid = r.oid AND deptype = 'o'),
       (SELECT count(*) FROM pg_auth_members WHERE member = r.oid)
FROM pg_roles r WHERE rolname = 'svc_app'
EOT

is_deeply($role, [ 'f', 'f', 'f', 'f', 'f', 0, 0 ],
          'svc_app has no powers, owns nothing and is in no other role');

is($s->sql("SELECT has_schema_privilege('svc_app', 'svc', 'CREATE')"
           . " OR has_schema_privilege('svc_app', 'public', 'CREATE')"), 'f',
   'and creates nothing');

my $app = $s->connect_as('svc_app');

# runs a statement as svc_app; returns undef, or the error

sub error_of {
    my ($query) = @_;

    return eval { $app->query($query); 1 } ? undef : $@;
}

my @denied = (
    'UPDATE svc.audit_event SET action = action',
    'DELETE FROM svc.audit_event', 'TRUNCATE svc.audit_event',
    'TRUNCATE svc.user_account', 'DELETE FROM svc.user_count',
    'UPDATE svc.user_inactive SET status = status', 'TRUNCATE svc.user_inactive',
    'UPDATE svc.user_count SET shard = shard', 'SELECT svc.user_recount()',
    'UPDATE svc.user_group SET member_count = 0',
    'UPDATE svc.user_group SET app_count = 0',
    'UPDATE svc.application SET type = type', 'TRUNCATE svc.application CASCADE',
    'UPDATE svc.oauth_login SET digest = digest', 'TRUNCATE svc.oauth_login',
    'UPDATE svc.group_app SET added_at = added_at', 'TRUNCATE svc.group_app',
    'UPDATE svc.oauth_token SET scopes = scopes', 'DELETE FROM svc.oauth_token',
    'UPDATE svc.oauth_token SET ttl = ttl', 'DELETE FROM svc.oauth_code',
    'UPDATE svc.application SET tenant_suspended_at = NULL', 'DELETE FROM svc.oauth_revoked',
    'UPDATE svc.session SET tenant_suspended_at = NULL',
    'DELETE FROM svc.oauth_refresh', 'UPDATE svc.oauth_refresh SET digest = digest',
    'UPDATE svc.oauth_grant SET user_id = user_id', 'DELETE FROM svc.oauth_grant',
    'UPDATE svc.oauth_key SET sealed = sealed', 'DELETE FROM svc.oauth_key',
    'DELETE FROM svc.oauth_tenant', 'UPDATE svc.oauth_once SET digest = digest',
    'UPDATE svc.delegation SET outcome = outcome', 'DELETE FROM svc.delegation',
    'TRUNCATE svc.delegation', 'DELETE FROM svc.agent_anomaly',
    'UPDATE svc.agent_anomaly SET type = type', 'DELETE FROM svc.agent_seen',
    "SELECT svc.user_search_rest(NULL, '', NULL, NULL, NULL, 1)",
    'DELETE FROM svc.tenant', 'UPDATE svc.tenant SET slug = slug',
    'UPDATE svc.domain SET domain = domain',
    'UPDATE svc.domain SET token = token', 'TRUNCATE svc.domain',
    'DELETE FROM svc.governance', 'TRUNCATE svc.governance',
    'INSERT INTO svc.governance (tenant_id) SELECT id FROM svc.tenant',
    'UPDATE svc.access_policy_version SET number = number',
    'TRUNCATE svc.access_policy_version',
    'UPDATE svc.role SET member_count = 0', 'UPDATE svc.role SET key = key',
    'UPDATE svc.role SET tenant_id = tenant_id',
    'UPDATE svc.role SET created_at = now()',
    'UPDATE svc.sign_in SET outcome = outcome', 'DELETE FROM svc.sign_in',
    'DELETE FROM svc.sign_in_address',
    'SELECT * FROM svc.sign_in_event', 'DELETE FROM svc.sign_in_event',
    'UPDATE svc.stat_day SET success = 0', 'DELETE FROM svc.stat_day',
    'UPDATE svc.active_day SET users = 0',
    'UPDATE svc.incident SET count = 0', 'DELETE FROM svc.incident',
    "SELECT svc.incident_raise('{}')",
    'DELETE FROM svc.session', 'TRUNCATE svc.session', 'TRUNCATE svc.password',
    'UPDATE svc.sign_in_address SET ip = ip',
    'DELETE FROM svc.credential',
    'UPDATE svc.credential SET expires_at = NULL',
    "UPDATE svc.credential SET permissions = '{scim}'",
    'UPDATE svc.invitation SET role = role', 'TRUNCATE svc.invitation',
    'UPDATE svc.email_challenge SET code_mac = code_mac',
    'SELECT FROM svc.organization_signup', 'DELETE FROM svc.organization_signup',
    'DELETE FROM svc.email_challenge',
    'UPDATE svc.ip_block SET ip = ip', 'TRUNCATE svc.ip_block',
    "UPDATE svc.webhook_endpoint SET secret = ''",
    'UPDATE svc.webhook_endpoint SET tenant_id = tenant_id',
    'UPDATE svc.webhook_endpoint SET id = id',
    'UPDATE svc.webhook_endpoint SET created_at = now()',
    'TRUNCATE svc.webhook_endpoint CASCADE',
    'UPDATE svc.webhook_attempt SET outcome = outcome',
    'UPDATE svc.webhook_done SET done_at = now()', 'DELETE FROM svc.webhook_outbox',
    'UPDATE svc.webhook_outbox SET tenant_id = tenant_id',
    'SELECT * FROM svc.scim_helper', "UPDATE svc.scim_helper SET id = ''",
    'DELETE FROM svc.scim_helper', 'TRUNCATE svc.scim_target CASCADE',
    'SELECT * FROM svc.agent_sweep', 'UPDATE svc.agent_sweep SET swept_to = now()',
    'SELECT * FROM svc.agent_use', 'SELECT * FROM svc.agent_hour',
    'UPDATE svc.agent_minute SET tokens = 0',
    "SELECT svc.agent_raise('{}')", "SELECT svc.agent_count('{}', '{}', now())",
    'UPDATE svc.schema_migration SET version = version',
    'ALTER TABLE svc.user_account DISABLE ROW LEVEL SECURITY',
    'SET ROLE postgres', 'SET SESSION AUTHORIZATION postgres',
    'SET row_security = off; SELECT count(*) FROM svc.user_account',
);

for my $tenant ('', $acme->{id}) {
    $app->query("SET svc.tenant = '$tenant'");

    for my $query (@denied) {
        like(error_of($query) // '',
             qr/permission denied|must be owner|row-level security/,
             "denied" . ($tenant ? ' with a tenant' : '') . ": $query");
    }

    $app->query('RESET row_security');
}

$app = $s->connect_as('svc_app');


# --- every table ------------------------------------------------------------

# tenant, credential and oauth_login do not belong to a tenant: the first is the
# tenant itself, and in the others a token's or a client's tenant is looked up;
# agent_sweep has one row, scim_helper one for each node, and tenant_gone has
# deleted tenants

my %allowed = map { $_ => 1 } qw(tenant credential oauth_login schema_migration
                                 organization_signup agent_sweep
                                 scim_helper tenant_gone);

my @tables = map { $_->[0] } $s->sql(<<'EOT');
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'svc' AND c.relkind IN ('r', 'p')
  AND NOT c.relispartition ORDER BY 1
EOT

# with a partitioned table svc_app may do something only through the whole table

is($s->sql(<<'EOT'), 0, 'partitions cannot be reached directly');
SELECT count(*) FROM pg_class c
WHERE c.relispartition AND c.relkind IN ('r', 'p')
  AND (NOT c.relrowsecurity
       OR has_table_privilege('svc_app', c.oid, 'SELECT, INSERT, UPDATE, DELETE,'
                                                || ' TRUNCATE, REFERENCES')
       OR has_any_column_privilege('svc_app', c.oid, 'SELECT, INSERT, UPDATE'))
EOT

my @of_tenants = grep { !$allowed{$_} } @tables;

cmp_ok(scalar @of_tenants, '>=', 3, 'tables: ' . join ' ', @of_tenants);

is($s->sql(<<'EOT'), 0, 'no view or function goes round row-level security');
SELECT (SELECT count(*) FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'svc' AND c.relkind IN ('v', 'm')
          AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false)
          AND has_table_privilege('svc_app', c.oid, 'SELECT'))
EOT

$s->sql(<<"EOT");
INSERT INTO svc.user_inactive (tenant_id, status, created_at, id)
SELECT tenant_id, 'suspended', created_at, id FROM svc.user_account
EOT
$s->sql(<<"EOT");
INSERT INTO svc.session (tenant_id, user_id, token_hash, expires_at)
SELECT tenant_id, id, sha256(id::text::bytea), now() + interval '1 h'
FROM svc.user_account
EOT
$s->sql(<<"EOT");
INSERT INTO svc.user_group (tenant_id, id, name)
SELECT id, gen_random_uuid(), 'Staff' FROM svc.tenant
EOT
$s->sql(<<"EOT");
INSERT INTO svc.group_member (tenant_id, group_id, user_id)
SELECT u.tenant_id, g.id, u.id
FROM svc.user_account u JOIN svc.user_group g USING (tenant_id)
EOT

is(join(' ', map { $_->[0] } $s->sql(<<"EOT")), 'agent_sweep application_jwks_take audit_stream_close delegation_chain directory_ambiguous domain_slug domain_taken email_challenge_tenant federation_due federation_tenant invitation_tenant ldap_sync_due ldap_sync_hold member_page oauth_expire oauth_jwks oauth_key_tenant oauth_key_turn oauth_key_turns oauth_logout_take oauth_token_keep organization_create organization_open organization_taken organization_try public_logo public_tenant scim_claim scim_hold scim_release sealed_keys sign_in_expire sign_in_place sign_in_sweep sign_in_tenant user_find user_index user_page webhook_attempt_expire webhook_done_expire webhook_note webhook_outbox_rest webhook_outbox_take',
SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = 'svc' AND p.prosecdef AND p.prorettype <> 'trigger'::regtype
  AND has_function_privilege('svc_app', p.oid, 'EXECUTE') ORDER BY 1
EOT
          'few functions see all tenants');
$app->query("SET svc.tenant = '$acme->{id}'");
is($app->query('SELECT p.total, p.ids FROM svc.user_page(NULL, NULL, 9, 0) p')
   ->[0][1], "{$ours->{id}}", 'and shows one');
is($app->query("SELECT p.total, p.ids FROM svc.member_page(NULL, NULL, 'member',"
               . ' 9, 0) p')->[0][1], "{$ours->{id}}", 'with a role, too');

my $found = 'SELECT p.total, p.ids FROM svc.user_find(NULL, NULL, NULL, NULL, false, false, NULL,'
            . ' 9, 0) p';

is($app->query($found)->[0][1], "{$ours->{id}}", 'with filters, too');
is_deeply($app->query($found =~ s/NULL, NULL/'$theirs->{id}', '$theirs->{id}'/r)->[0],
          [ 0, '{}' ], 'and nobody of another one by the id');
$app->query('RESET svc.tenant');
is_deeply($app->query($found)->[0], [ 0, '{}' ], 'or none');
is_deeply($app->query('SELECT p.total, p.ids FROM svc.user_page(NULL, NULL, 9,'
                      . ' 0) p')->[0], [ 0, '{}' ], 'or none');
is_deeply($app->query('SELECT p.total, p.ids FROM svc.member_page(NULL, NULL,'
                      . " 'member', 9, 0) p")->[0], [ 0, '{}' ], 'with a role');

$s->sql($_) for
    "INSERT INTO svc.domain (tenant_id, domain) SELECT id, 'x.test' FROM svc.tenant",
    "INSERT INTO svc.logo SELECT id, 'image/png', '\\x00' FROM svc.tenant",
    'INSERT INTO svc.idempotency (tenant_id, credential_id, path, key, body_hash)'
    . " SELECT id, id, '/', 'k', '\\x00' FROM svc.tenant";

$s->sql('INSERT INTO svc.audit_stream (tenant_id, id, expires_at)'
        . " SELECT id, gen_random_uuid(), now() + interval '1 h'"
        . ' FROM svc.tenant');

$s->sql($_) for
    'INSERT INTO svc.access_policy_version (tenant_id, number, source, snapshot)'
    . " SELECT id, 1, 'api', '{}' FROM svc.tenant",
    'INSERT INTO svc.group_password_policy (tenant_id, group_id, min_length)'
    . ' SELECT tenant_id, id, 9 FROM svc.user_group',
    'INSERT INTO svc.role (tenant_id, key, name, permissions)'
    . " SELECT id, 'auditor', slug, '{}' FROM svc.tenant",
    'INSERT INTO svc.sign_in (tenant_id, at, user_id, ip)'
    . " SELECT tenant_id, now(), id, '192.0.2.1' FROM svc.user_account",
    'INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events, secret)'
    . " SELECT id, gen_random_uuid(), 'https://x.test/', '{user.login}', '\\x00'"
    . ' FROM svc.tenant',
    'INSERT INTO svc.webhook_outbox (tenant_id) SELECT id FROM svc.tenant',
    'INSERT INTO svc.webhook_done (tenant_id, delivery_id) SELECT id, id FROM svc.tenant',
    "INSERT INTO svc.ip_block (tenant_id, ip) SELECT id, '192.0.2.1'"
    . ' FROM svc.tenant',
    'INSERT INTO svc.saml_sp (tenant_id, enabled, idp_certificates, name_id_format,'
    . " attribute_mapping, jit_provisioning) SELECT id, false, '[]', 'transient',"
    . " '{}', false FROM svc.tenant",
    'INSERT INTO svc.saml_idp (tenant_id, key_id, private_key, certificate)'
    . " SELECT id, id, '\\x00', 'x' FROM svc.tenant",
    'INSERT INTO svc.saml_app (tenant_id, id, name, sp_entity_id, acs_url)'
    . " SELECT id, id, 'x', 'https://x.test', 'https://x.test' FROM svc.tenant",
    'INSERT INTO svc.application (tenant_id, client_id, name, type, enabled,'
    . ' assignment, redirect_uris, scopes, grant_types, auth_method,'
    . ' access_token_format, access_token_ttl, require_consent, require_dpop)'
    . " SELECT id, 'app_' || md5(slug), 'x', 'm2m', true, 'groups', '{}', '{}', '{}',"
    . " 'none', 'jwt', 60, false, false FROM svc.tenant",
    'INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)'
    . " SELECT sha256(client_id::bytea), tenant_id, client_id, 'id'"
    . ' FROM svc.application',
    'INSERT INTO svc.group_app (tenant_id, client_id, group_id)'
    . ' SELECT tenant_id, client_id, g.id FROM svc.application'
    . ' JOIN svc.user_group g USING (tenant_id)',
    'INSERT INTO svc.scim_target (tenant_id, id, client_id, name, base_url, token)'
    . " SELECT tenant_id, md5(client_id)::uuid, client_id, 'x', 'https://x.test', '\\x00'"
    . ' FROM svc.application',
    'INSERT INTO svc.scim_item (tenant_id, target_id, user_id)'
    . ' SELECT u.tenant_id, t.id, u.id FROM svc.scim_target t'
    . ' JOIN svc.user_account u USING (tenant_id)',
    'INSERT INTO svc.oauth_key (tenant_id, kid, public, sealed)'
    . " SELECT id, slug, '{}', '\\x00' FROM svc.tenant",
    'INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources)'
    . " SELECT tenant_id, u.id, client_id, '{}', '{}' FROM svc.application"
    . ' JOIN svc.user_account u USING (tenant_id)',
    'INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,'
    . ' resource_keys, session_id, auth_time, methods, expires_at)'
    . " SELECT tenant_id, user_id, client_id, user_id, '{}', '{}', '{}', user_id, now(),"
    . " '{pwd}', now() FROM svc.oauth_consent",
    'INSERT INTO svc.oauth_logout (tenant_id, client_id, root_id, user_id)'
    . ' SELECT tenant_id, client_id, user_id, user_id FROM svc.oauth_consent',
    'INSERT INTO svc.oauth_par (tenant_id, digest, client_id, params, expires_at)'
    . " SELECT tenant_id, sha256(client_id::bytea), client_id, '', now() + interval '1 h'"
    . ' FROM svc.application',
    'INSERT INTO svc.oauth_code (tenant_id, digest, grant_id, client_id, redirect_uri,'
    . " challenge, expires_at) SELECT tenant_id, sha256(id::text::bytea), id, client_id,"
    . " 'https://x.test/', '\\x00', now() FROM svc.oauth_grant",
    'INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, expires_at)'
    . ' SELECT tenant_id, sha256(id::text::bytea), id, now() FROM svc.oauth_grant',
    'INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals,'
    . ' grant_type, scopes, ttl) SELECT tenant_id, gen_random_uuid(), now(), client_id,'
    . " ARRAY[client_id], 'client_credentials', '{}', 60 FROM svc.application",
    'INSERT INTO svc.oauth_revoked (tenant_id, jti, expires_at)'
    . " SELECT id, id, now() + interval '1 h' FROM svc.tenant",
    'INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)'
    . " SELECT id, '\\x00', now() + interval '1 h' FROM svc.tenant",
    'INSERT INTO svc.delegation (tenant_id, id, client_id, client_name, chain, grant_type,'
    . " scopes, outcome) SELECT tenant_id, gen_random_uuid(), client_id, name, '{}', 'x',"
    . " '{}', 'granted' FROM svc.application",
    'INSERT INTO svc.agent_minute (tenant_id, client_id, minute, tokens)'
    . ' SELECT tenant_id, client_id, now(), 1 FROM svc.application',
    'INSERT INTO svc.agent_seen (tenant_id, client_id, kind, value, first_at, last_at)'
    . " SELECT tenant_id, client_id, 'country', 'FR', now(), now() FROM svc.application",
    'INSERT INTO svc.agent_hour (tenant_id, client_id, hour, tokens, minutes, subjects,'
    . ' unusual) SELECT tenant_id, client_id, now(), 1, 1, 0, false FROM svc.application',
    'INSERT INTO svc.agent_use (tenant_id, client_id, tokens, first_at, delegations)'
    . ' SELECT tenant_id, client_id, 1, now(), 0 FROM svc.application',
    'INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key, severity, details)'
    . " SELECT tenant_id, client_id, 'new_ip', 'x', 'low', '{}' FROM svc.application",
    'INSERT INTO svc.social (tenant_id, provider, client_id, client_secret,'
    . " client_secret_id, enabled) SELECT id, 'google', 'x', '\\x00', id, true"
    . ' FROM svc.tenant',
    'INSERT INTO svc.federated_identity (tenant_id, connection_id, subject_hash, id, user_id,'
    . " subject) SELECT tenant_id, id, sha256('x'), id, id, '\\x00' FROM svc.user_account",
    'INSERT INTO svc.federation_flow (tenant_id, id, token_hash, connection_id,'
    . ' connection_version, purpose, binding_hash, host, expires_at) SELECT id, id,'
    . " sha256(slug::bytea), id, now(), 'sign_in', sha256('x'), 'x', now() FROM svc.tenant",
    'INSERT INTO svc.federation_meta (tenant_id, connection_id) SELECT tenant_id,'
    . ' connection_id FROM svc.social',
    'INSERT INTO svc.federation_seen (tenant_id, connection_id, digest, expires_at)'
    . " SELECT id, id, sha256('x'), now() FROM svc.tenant",
    'INSERT INTO svc.ldap (tenant_id, enabled, url, base_dn, user_filter,'
    . " attribute_mapping, start_tls) SELECT id, true, 'ldaps://x', 'dc=x',"
    . " '(mail={email})', '{}', false FROM svc.tenant",
    'INSERT INTO svc.ldap_sync (tenant_id) SELECT tenant_id FROM svc.ldap'
    . ' ON CONFLICT DO NOTHING',
    'INSERT INTO svc.webhook_attempt (tenant_id, endpoint_id, created_at,'
    . ' delivery_id, attempt, event_id, event, outcome, duration_ms)'
    . " SELECT tenant_id, id, now(), 'd', 1, 'e', 'user.login', 'acknowledged', 1"
    . ' FROM svc.webhook_endpoint';
add_addresses($s);

$s->sql($_) for
    'INSERT INTO svc.sign_in_event (tenant_id, at, kind)'
    . " SELECT id, now(), 'success' FROM svc.tenant",
    'INSERT INTO svc.stat_day (tenant_id, day, shard)'
    . ' SELECT id, current_date, 77 FROM svc.tenant',
    'INSERT INTO svc.active_day (tenant_id, day, users)'
    . ' SELECT id, current_date, 1 FROM svc.tenant',
    'INSERT INTO svc.incident (tenant_id, id, type, subject, severity, title,'
    . " details, count, last_seen_at) SELECT id, id, 'x', '', 'high', 'x', '{}',"
    . ' 1, now() FROM svc.tenant',
    'INSERT INTO svc.password (tenant_id, user_id, hash)'
    . " SELECT tenant_id, id, '\\x00' FROM svc.user_account",
    'INSERT INTO svc.password_history (tenant_id, user_id, version, hash)'
    . " SELECT tenant_id, id, 1, '\\x00' FROM svc.user_account",
    'INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)'
    . " SELECT tenant_id, sha256(id::text::bytea), id, now() FROM svc.user_account",
    'INSERT INTO svc.login_phantom (tenant_id, email_mac, failed, failed_since)'
    . " SELECT id, '\\x00', 1, now() FROM svc.tenant",
    'INSERT INTO svc.user_device (tenant_id, user_id, hash, last_at)'
    . " SELECT tenant_id, id, '\\x00', now() FROM svc.user_account",
    'INSERT INTO svc.user_seen (tenant_id, user_id, kind, value, last_at)'
    . " SELECT tenant_id, id, 'agent', 'x', now() FROM svc.user_account";

$s->sql($_) for
    'INSERT INTO svc.factor (tenant_id, user_id, id, type, name)'
    . " SELECT tenant_id, id, id, 'passkey', 'x' FROM svc.user_account",
    'INSERT INTO svc.passkey (tenant_id, credential_hash, user_id, factor_id,'
    . ' credential_id, public_key, alg, rp_id, sign_count, be, bs, transports,'
    . ' aaguid) SELECT tenant_id, sha256(id::text::bytea), user_id, id,'
    . " '\\x00', '\\x00', -7, 'x.test', 0, false, false, 0, '\\x00'"
    . ' FROM svc.factor',
    'INSERT INTO svc.recovery_code (tenant_id, user_id, mac)'
    . " SELECT tenant_id, id, '\\x00' FROM svc.user_account",
    'INSERT INTO svc.challenge (tenant_id, root_id, id, user_id, expires_at)'
    . ' SELECT tenant_id, id, id, id, now() FROM svc.user_account',
    'INSERT INTO svc.email_challenge (tenant_id, id, kind, email_mac, code_mac, void,'
    . " expires_at) SELECT id, id, 'sign_in', decode(repeat('00', 16), 'hex'),"
    . " decode(repeat('00', 16), 'hex'), false, now() FROM svc.tenant",
    'INSERT INTO svc.challenge_used (tenant_id, hash, expires_at)'
    . " SELECT id, sha256('x'), now() FROM svc.tenant";

$s->sql('INSERT INTO svc.invitation (tenant_id, id, email, email_key, role,'
        . ' group_ids, days, token_hash, expires_at)'
        . " SELECT id, id, 'x', 'x', 'member', '{}', 7, sha256('x'), now()"
        . ' FROM svc.tenant');

for my $table (@tables) {
    my ($security, $policies, $key) = @{ ($s->sql(<<"EOT"))[0] };
SELECT c.relrowsecurity,
       (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid),
       (SELECT a.attname FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = c.oid AND i.indisprimary)
FROM pg_class c WHERE c.oid = 'svc.$table'::regclass
EOT

    next if $table eq 'schema_migration';

    is($security, 't', "$table: row-level security is on");
    cmp_ok($policies, '>', 0, "$table: has a policy");

    next if $allowed{$table};

    is($key, 'tenant_id', "$table: the primary key starts with tenant_id");
}

# also for partitions that are made later

$s->sql('SELECT svc.audit_partitions(14)');
is($s->sql(<<'EOT'), 0, 'the planner knows no tenant from another');
SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
  AND a.attname = 'tenant_id' AND a.attstattarget IS DISTINCT FROM 0
EOT

is($s->sql(<<'EOT'), 0, 'every foreign key between them carries tenant_id');
SELECT count(*) FROM pg_constraint f
JOIN pg_class a ON a.oid = f.conrelid JOIN pg_class b ON b.oid = f.confrelid
JOIN pg_namespace n ON n.oid = a.relnamespace
WHERE f.contype = 'f' AND n.nspname = 'svc' AND b.relname <> 'tenant'
  AND NOT EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = f.conrelid
                  AND t.attname = 'tenant_id' AND t.attnum = ANY (f.conkey))
EOT


# without a tenant no rows are visible, and none are accepted; with one only its
# own

my $nobody = '00000000-0000-0000-0000-000000000000';

ok(!eval { $s->sql('INSERT INTO svc.tenant (id, slug, name)'
                   . " VALUES ('$nobody', 'nobody', 'Nobody')"); 1 },
   'no tenant has the id that stands for none');
like($@, qr/"tenant_id_check"/, 'a constraint of the table forbids it');

sub count_of {
    my ($table) = @_;

    return $app->query("SELECT count(*) FROM svc.$table")->[0][0];
}

sub insert_copy {
    my ($table, $of) = @_;

    my ($columns) = $s->sql(<<"EOT");
SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
FROM pg_attribute WHERE attrelid = 'svc.$table'::regclass AND attnum > 0
  AND NOT attisdropped AND attgenerated = ''
EOT
    my ($row) = $s->sql("SELECT to_jsonb(t) FROM svc.$table t"
                        . " WHERE tenant_id = '$of->{id}' LIMIT 1");

    $row->[0] =~ s/'/''/g;

    return error_of("INSERT INTO svc.$table ($columns->[0])"
                    . " OVERRIDING SYSTEM VALUE SELECT $columns->[0]"
                    . " FROM jsonb_populate_record(null::svc.$table,"
                    . " '$row->[0]')");
}

for my $table (@of_tenants) {
    my %n = map { $_->{id} => scalar $s->sql("SELECT count(*) FROM svc.$table"
                                             . " WHERE tenant_id ="
                                             . " '$_->{id}'") }
            $acme, $globex;

    cmp_ok($_, '>', 0, "$table: there are rows to look for") for values %n;

    my $readable = $s->sql("SELECT has_table_privilege('svc_app',"
                           . " 'svc.$table', 'SELECT')") eq 't';

    for my $set ('RESET svc.tenant', "SET svc.tenant = ''",
                 "SET svc.tenant = '$nobody'")
    {
        $app->query($set);

        if ($readable) {
            is(count_of($table), 0, "$table: no row without a tenant ($set)");
        }

        like(insert_copy($table, $acme) // 'it was inserted',
             qr/row-level security|permission denied/,
             "$table: takes no row without a tenant ($set)");
    }

    $app->query("SET svc.tenant = '$acme->{id}'");

    if ($readable) {
        is(count_of($table), $n{$acme->{id}},
           "$table: with a tenant its own rows");
    }

    like(insert_copy($table, $globex) // 'it was inserted',
         qr/row-level security|permission denied/,
         "$table: takes no row of another tenant");

    $app->query('RESET svc.tenant');
}

$app->query('RESET svc.tenant');
is(count_of('tenant'), 0, 'no tenant is seen without one');
$app->query("SET svc.tenant = '$acme->{id}'");
is(count_of('tenant'), 1, 'and with one, itself');

like(error_of("UPDATE svc.user_account SET tenant_id = '$globex->{id}'")
     // 'it was moved', qr/row-level security/,
     'no row moves to another tenant');
$app->query("UPDATE svc.user_account SET title = 'ours'");
is($s->sql("SELECT title FROM svc.user_account WHERE id = '$theirs->{id}'"),
   'globex', 'an UPDATE of everything leaves the other tenant alone');

is_deeply($app->query("WITH d AS (DELETE FROM svc.user_group RETURNING name)"
                      . ' SELECT count(*) FROM d')->[0], [ 1 ],
          'nor does a DELETE of everything reach it');

$app->query($_) for "UPDATE svc.role SET name = 'ours'",
                    'UPDATE svc.governance SET revision = 99',
                    'UPDATE svc.group_password_policy SET min_length = 99',
                    'DELETE FROM svc.access_policy_version',
                    'INSERT INTO svc.sign_in_address (tenant_id, ip, last_at)'
                    . " VALUES ('$acme->{id}', '192.0.2.2', now())";
is($s->sql("SELECT (SELECT name FROM svc.role WHERE $_) || ' '"
           . " || (SELECT revision FROM svc.governance WHERE $_) || ' '"
           . ' || (SELECT count(*) FROM svc.access_policy_version WHERE '
           . "$_) || ' ' || (SELECT string_agg(host(ip), ' ' ORDER BY ip)"
           . " FROM svc.sign_in_address WHERE $_)"),
   /$globex->{id}/ ? 'globex 1 1 192.0.2.1' : 'ours 99 0 192.0.2.1 192.0.2.2',
   "governance of $_")
    for "tenant_id = '$globex->{id}'", "tenant_id = '$acme->{id}'";


# --- what goes with what ----------------------------------------------------

my $third = $s->tenant('third');

is($s->sql('SELECT count(*) FROM svc.tenant t LEFT JOIN svc.governance g'
           . ' ON g.tenant_id = t.id WHERE g.tenant_id IS NULL'), 0,
   'a tenant has its governance from the first');

$s->sql($_) for
    'INSERT INTO svc.role (tenant_id, key, name, permissions) SELECT'
    . " '$third->{id}', 'role' || i, 'R', '{}' FROM generate_series(1, 3) i",
    'INSERT INTO svc.user_account (tenant_id, id, user_name, role) SELECT'
    . " '$third->{id}', gen_random_uuid(), 'user' || i, 'role' || i % 3 + 1"
    . ' FROM generate_series(1, 9) i',
    'INSERT INTO svc.user_group (tenant_id, id, name) SELECT'
    . " '$third->{id}', gen_random_uuid(), 'group' || i"
    . ' FROM generate_series(1, 3) i',
    'INSERT INTO svc.group_password_policy (tenant_id, group_id, min_length)'
    . " SELECT tenant_id, id, 9 FROM svc.user_group WHERE name ~ '^group'",
    'INSERT INTO svc.access_policy_version (tenant_id, number, source, snapshot)'
    . " VALUES ('$third->{id}', 1, 'api', '{}')",

    # each user from an address of his own, and from one that all share

    'INSERT INTO svc.sign_in (tenant_id, at, user_id, ip) SELECT tenant_id,'
    . " '2026-01-01'::timestamptz + interval '1 h' * substr(user_name, 5)::int,"
    . " id, a::inet FROM svc.user_account, unnest(ARRAY['192.0.2.99',"
    . " '192.0.2.' || substr(user_name, 5)]) a"
    . " WHERE tenant_id = '$third->{id}'";
add_addresses($s);

my $addresses = "SELECT count(*) || ' ' || (max(last_at) AT TIME ZONE 'UTC')"
                . " FROM svc.sign_in_address WHERE tenant_id = '$third->{id}'";
my $at_utc = $s->sql("SELECT ('2026-01-01'::timestamptz + interval '1 h' * 9)"
                     . " AT TIME ZONE 'UTC'");

is($s->sql($addresses), "10 $at_utc", 'where sign-ins came from');

my $ninth = $s->sql("SELECT id FROM svc.user_account WHERE user_name = 'user9'");
my $manager = $third->token(kind => 'api', permissions => 'members:manage');

is($third->admin(DELETE => "/users/$ninth", undef, undef, $manager->{token})
   ->status, 204, 'a user is erased');
is($s->sql("SELECT count(*) FROM svc.sign_in WHERE user_id = '$ninth'"), 0,
   'and with the user the sign-ins');
is($s->sql($addresses), '9 ' . $s->sql("SELECT '$at_utc'::timestamp"
                                       . " - interval '1 h'"),
   'an address that others have is set back, another one is gone');
is($s->sql("SELECT string_agg(key || member_count, ' ' ORDER BY key)"
           . " FROM svc.role WHERE tenant_id = '$third->{id}'"),
   'role12 role23 role33', 'the role has one member less');

$s->sql("DELETE FROM svc.tenant WHERE id = '$third->{id}'");

for my $table (@tables) {
    next if $table =~ /^(?:schema_migration|audit_event|organization_signup
                         |agent_sweep|scim_helper|tenant_gone)$/x;

    my $column = $table eq 'tenant' ? 'id' : 'tenant_id';

    is($s->sql("SELECT count(*) FROM svc.$table"
               . " WHERE $column = '$third->{id}'"), 0,
       "$table: a tenant takes all along");
}

# the setting ends with the transaction: nothing stays on a connection

is($s->sql("SELECT count(*) FROM pg_db_role_setting"), 0,
   'no role has a tenant by default');


# --- many clients on the same database connections --------------------------

my @tenant = ($acme, $globex, map { $s->tenant("t$_") } 1 .. 6);
my (@user, @connection);

for my $t (@tenant) {
    push @user, [ map { $t->create(userName => "u$_\@x.test",
                                   title => "$t->{slug} $_") } 1 .. 4 ];
}

push @connection, $s->connection for 1 .. 24;

my ($own, $hidden, $lists, $changed, @wrong) = (0, 0, 0, 0);

for my $round (1 .. 8) {
    my @expect;

    for my $i (0 .. $#connection) {
        my $text = '';

        for my $k (0 .. 7) {
            my $t = ($i + $k) % @tenant;
            my $u = $user[$t][($i + $round) % 4];
            my $x = $user[($t + 1) % @tenant][$k % 4];
            my $headers = $tenant[$t]->headers;

            if ($k % 4 == 0) {
                $text .= $connection[$i]->format(
                    GET => "/scim/v2/Users/$u->{id}", $headers);
                push @{ $expect[$i] }, [ own => $tenant[$t]{slug} ];

            } elsif ($k % 4 == 1) {
                $text .= $connection[$i]->format(
                    GET => "/scim/v2/Users/$x->{id}", $headers);
                push @{ $expect[$i] }, [ 'hidden' ];

            } elsif ($k % 4 == 2) {
                $text .= $connection[$i]->format(
                    GET => '/scim/v2/Users', $headers);
                push @{ $expect[$i] }, [ list => $tenant[$t]{slug} ];

            } else {
                $text .= $connection[$i]->format(
                    PATCH => "/scim/v2/Users/$u->{id}", $headers,
                    SvcTest::encode(patch_op({ op => 'replace',
                        path => 'locale', value => "r$round-$i" })));
                push @{ $expect[$i] }, [ change => $tenant[$t]{slug} ];
            }
        }

        $connection[$i]->send($text);
    }

    for my $i (0 .. $#connection) {
        for my $want (@{ $expect[$i] }) {
            my ($what, $slug) = @$want;
            my $answer = $connection[$i]->read;

            if (!$answer) {
                push @wrong, 'no answer: ' . $connection[$i]->error;
                last;
            }

            my $json = $answer->json;

            if ($what eq 'hidden') {
                $hidden++ if $answer->status == 404;

            } elsif ($what eq 'list') {
                my $first = $slug eq 'acme' ? 'ours' : $slug;
                my @other = grep { $_->{title} ne $first
                                   && $_->{title} !~ /^\Q$slug\E \d$/ }
                            @{ $json->{Resources} // [ { title => '' } ] };

                push @wrong, "$slug sees $other[0]{title}" if @other;
                $lists++ if $answer->status == 200;

            } else {
                push @wrong, "$slug: $answer->{status} $answer->{body}"
                    if $answer->status != 200
                       || $json->{title} !~ /^\Q$slug\E \d$/;

                $what eq 'own' ? $own++ : $changed++;
            }
        }
    }
}

is_deeply(\@wrong, [], 'every answer is of the tenant that asked');
is($hidden, 24 * 8 * 2, '404 for every id of another tenant');
is($own, 24 * 8 * 2, 'own users');
is($lists, 24 * 8 * 2, 'lists');
is($changed, 24 * 8 * 2, 'changes');

is($s->sql("SELECT count(*) FROM svc.audit_event a JOIN svc.user_account u"
           . " ON u.id::text = a.target_id"
           . " WHERE a.tenant_id <> u.tenant_id"), 0,
   'every audit event is in the tenant of its user');

$s->done;
done_testing();
