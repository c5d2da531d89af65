#!/usr/bin/perl

# Shows migrations from each version of the schema to the newest, with rows in all
# tables of that version and tenants that today's svcctl makes: no row is lost or
# changed, and the modules serve them.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(run slurp wait_for);

# A worker has few connections, since each of them prepares all statements.

my $s = SvcTest->new(redis => 0, workers => 1,
    svc => { svc_postgres_pool => [ 'read connections=1', 'write connections=1',
                                    'slow connections=1' ] });
$s->pg->create;

my %file = map { (m{/0*(\d+)_\w+\.sql\z})[0] => $_ } glob $s->root . '/sql/[0-9]*.sql';
my @versions = sort { $a <=> $b } keys %file;
my $newest = $versions[-1];
my %applied = map { $_ => 'applied ' . $file{$_} =~ s{.*/0*(\d+)_(.*)\.sql\z}{$1 $2}r
                          . "\n" } @versions;

# The rows that are stored at a version, for tenants with these ids.

my %rows = (1 => <<'SQL', 2 => <<'SQL', 3 => <<'SQL', 4 => <<'SQL', 5 => <<'SQL',
INSERT INTO svc.tenant (id, slug, name)
SELECT md5('t' || i)::uuid, 't' || i, 'Tenant ' || i FROM generate_series(1, 2) i;
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, status, role,
                              email_verified, source, first_name, last_name,
                              display_name, title, department, locale)
SELECT t.id, md5(t.slug || i)::uuid, 'User' || i || '@Example.test', 'e' || i,
       (ARRAY['active', 'suspended', 'deactivated'])[i % 3 + 1],
       (ARRAY['owner', 'admin', 'member', 'auditor'])[i % 4 + 1], i % 2 = 0, 'scim',
       'Zoë', 'O''Hara', 'Zoë_%' || i, 'Title', 'Sales', 'fr-FR'
  FROM svc.tenant t, generate_series(1, 300) i;
INSERT INTO svc.credential (token_hash, tenant_id, kind, name, prefix, permissions,
                            expires_at, revoked_at, last_used_at)
SELECT sha256((slug || k || i)::bytea), id, k, k || i, 'svc_abcd',
       CASE k WHEN 'scim' THEN ARRAY['scim'] ELSE ARRAY['users:view'] END,
       CASE i WHEN 2 THEN now() END, CASE i WHEN 3 THEN now() END, now()
  FROM svc.tenant, unnest(ARRAY['api', 'scim']) k, generate_series(1, 3) i;
INSERT INTO svc.session (tenant_id, user_id, token_hash, expires_at, ended_at)
SELECT tenant_id, id, sha256(id::text::bytea), now() + interval '1 day',
       CASE status WHEN 'active' THEN NULL ELSE now() END
  FROM svc.user_account;
INSERT INTO svc.audit_event (tenant_id, created_at, action, outcome, actor_type,
                             actor_id, actor_name, target_type, target_id,
                             target_name, ip, country, user_agent, request_id,
                             details)
SELECT t.id, now() - i * interval '3 days', 'user.created', 'failure', 'scim',
       'a' || i, 'actor', 'user', i::text, 'target', '2001:db8::1', 'FR', 'agent',
       md5(i::text), '{"a": [1, null]}'
  FROM svc.tenant t, generate_series(1, 100) i;
SQL
UPDATE svc.tenant SET branding = '{"primary": "#0A66C2", "custom": {"a": [1]}}';
UPDATE svc.credential SET created_by_type = 'user', created_by_id = '1',
       created_by_name = 'Ada';
UPDATE svc.credential c SET created_by_id = (
        SELECT min(u.id::text) FROM svc.user_account u WHERE u.tenant_id = c.tenant_id
           AND u.role = CASE c.name WHEN 'api1' THEN 'owner' ELSE 'admin' END)
 WHERE name IN ('api1', 'api3');
UPDATE svc.credential c SET created_by_type = 'apiToken', created_by_id = (
        SELECT p.id::text FROM svc.credential p
         WHERE p.tenant_id = c.tenant_id AND p.name = 'api1')
 WHERE name = 'api2';
SQL
INSERT INTO svc.domain (tenant_id, domain, verified_at)
SELECT id, 'login.' || slug || '.test', now() FROM svc.tenant;
INSERT INTO svc.logo (tenant_id, content_type, data)
SELECT id, 'image/png', '\x89504e47' FROM svc.tenant;
UPDATE svc.tenant SET logo_etag = 'etag', logo_uploads = 3;
SQL
INSERT INTO svc.user_group (tenant_id, id, name, description)
SELECT id, md5(slug || 'g' || i)::uuid, 'Group ' || i, 'of ' || i
  FROM svc.tenant, generate_series(1, 5) i;
INSERT INTO svc.group_member (tenant_id, group_id, user_id)
SELECT g.tenant_id, g.id, u.id
  FROM svc.user_group g JOIN svc.user_account u ON u.tenant_id = g.tenant_id
 WHERE u.external_id IN ('e1', 'e2', 'e3');
UPDATE svc.user_account SET locked_until = now(), failed_logins = 4
 WHERE external_id = 'e7';
SQL
INSERT INTO svc.audit_event (tenant_id, action, created_at)
SELECT t.id, 'group.created', now() + i * interval '1 month'
  FROM svc.tenant t, generate_series(-30, 30) i;
INSERT INTO svc.audit_stream (tenant_id, id, expires_at)
SELECT id, gen_random_uuid(), now() + interval '1 minute' FROM svc.tenant;
SQL
            6 => <<'SQL', 7 => <<'SQL', 8 => <<'SQL',
INSERT INTO svc.idempotency (tenant_id, credential_id, path, key, body_hash, status,
                             reply)
SELECT tenant_id, id, '/v1/admin/groups', 'key', sha256('x'), 201, '{"id":1}'
  FROM svc.credential;
SQL
UPDATE svc.governance
   SET revision = 7, access_number = 1, access_version_id = md5('v')::uuid,
       access_policy = '{"rules":[{"action":"deny","countries":["FR"]}],"defaultAction":"allow"}',
       access_updated_at = now(), risk_enabled = true, min_length = 14;
INSERT INTO svc.access_policy_version (tenant_id, id, number, source, snapshot)
SELECT tenant_id, access_version_id, 1, 'api', access_policy FROM svc.governance;
INSERT INTO svc.group_password_policy (tenant_id, group_id, min_length)
SELECT tenant_id, id, 20 FROM svc.user_group WHERE name = 'Group 1';
INSERT INTO svc.role (tenant_id, key, name, permissions)
SELECT id, 'helpdesk', 'Help desk', ARRAY['users:view'] FROM svc.tenant;
UPDATE svc.user_account SET role = 'helpdesk' WHERE external_id = 'e9';
INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, country, outcome)
SELECT tenant_id, now() - interval '1 hour', id, '203.0.113.7', 'FR', 'success'
  FROM svc.user_account;
SQL
INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events, secret)
SELECT id, md5(slug || 'w')::uuid, 'https://example.test/', ARRAY['user.created'],
       '\x00' FROM svc.tenant;
INSERT INTO svc.webhook_attempt (tenant_id, endpoint_id, created_at, delivery_id,
                                 attempt, event_id, event, outcome, status,
                                 duration_ms, error)
SELECT tenant_id, id, now() - i * interval '1 hour', 'd' || i, 1, 'e' || i,
       'user.created', 'retried', 500, 12, 'the answer was 500'
  FROM svc.webhook_endpoint, generate_series(1, 50) i;
SQL
            11 => <<'SQL', 14 => <<'SQL', 15 => <<'SQL');
INSERT INTO svc.ip_block (tenant_id, ip, reason, expires_at)
SELECT id, '2001:db8::9', 'stuffing', now() + interval '1 hour' FROM svc.tenant;
SQL
INSERT INTO svc.password (tenant_id, user_id, hash)
SELECT tenant_id, id, '\x24' FROM svc.user_account;
INSERT INTO svc.password_history (tenant_id, user_id, version, hash)
SELECT tenant_id, id, 1, '\x24' FROM svc.user_account;
INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)
SELECT tenant_id, sha256(id::text::bytea), id, now() + interval '1 hour'
  FROM svc.user_account;
INSERT INTO svc.login_phantom (tenant_id, email_mac, failed, failed_since)
SELECT id, '\x00', 3, now() FROM svc.tenant;
INSERT INTO svc.user_device (tenant_id, user_id, hash, last_at)
SELECT tenant_id, id, '\x00', now() FROM svc.user_account;
INSERT INTO svc.user_seen (tenant_id, user_id, kind, value, last_at)
SELECT tenant_id, id, 'agent', 'firefox linux', now() FROM svc.user_account;
SQL
INSERT INTO svc.factor (tenant_id, user_id, id, type, name, secret, confirmed_at)
SELECT u.tenant_id, u.id, md5(u.id || t)::uuid, t, t, CASE t WHEN 'totp' THEN '\x00'::bytea END,
       now() FROM svc.user_account u, unnest(ARRAY['totp', 'passkey']) t;
INSERT INTO svc.passkey (tenant_id, credential_hash, user_id, factor_id, credential_id,
                         public_key, alg, rp_id, sign_count, be, bs, transports, aaguid)
SELECT tenant_id, sha256(id::text::bytea), user_id, id, '\x01', '\x02', -7, 'x.test', 1,
       true, false, 3, '\x03' FROM svc.factor WHERE type = 'passkey';
INSERT INTO svc.recovery_code (tenant_id, user_id, mac)
SELECT tenant_id, id, '\x00' FROM svc.user_account;
INSERT INTO svc.challenge (tenant_id, root_id, id, user_id, expires_at)
SELECT tenant_id, root_id, id, user_id, expires_at FROM svc.session;
INSERT INTO svc.challenge_used (tenant_id, hash, expires_at)
SELECT id, sha256('x'), now() + interval '5 minutes' FROM svc.tenant;
SQL

$rows{17} = <<'SQL';
INSERT INTO svc.sign_in_event (tenant_id, at, kind) SELECT id, now(), 'success' FROM svc.tenant;
INSERT INTO svc.active_day (tenant_id, day, users) SELECT id, current_date, 7 FROM svc.tenant;
INSERT INTO svc.incident (tenant_id, id, type, subject, severity, title, details, count,
                          last_seen_at)
SELECT id, id, 'account_lockouts', '', 'medium', 'Title', '{}', 1, now() FROM svc.tenant;
SQL

$rows{19} = <<'SQL';
INSERT INTO svc.saml_sp (tenant_id, enabled, idp_entity_id, idp_sso_url,
                         idp_certificates, name_id_format, attribute_mapping,
                         jit_provisioning)
SELECT id, true, 'urn:x', 'https://x.test', '["x"]', 'persistent', '{}', false
  FROM svc.tenant;
INSERT INTO svc.social (tenant_id, provider, client_id, client_secret,
                        client_secret_id, team_id, key_id, enabled)
SELECT id, 'apple', 'x', '\x00', gen_random_uuid(), 'ABCDE12345', '12345ABCDE', true
  FROM svc.tenant;
INSERT INTO svc.ldap (tenant_id, enabled, url, bind_dn, bind_password,
                      bind_password_id, base_dn, user_filter, attribute_mapping, start_tls)
SELECT id, true, 'ldap://x.test', 'cn=x', '\x00', gen_random_uuid(), 'dc=x',
       '(mail={email})', '{"email":"mail"}', true FROM svc.tenant;
SQL

$rows{20} = <<'SQL';
INSERT INTO svc.invitation (tenant_id, id, email, email_key, role, group_ids, days,
                            token_hash, expires_at)
SELECT id, id, 'x@x.test', 'x@x.test', 'member', '{}', 7, sha256(slug::bytea), now()
  FROM svc.tenant;
SQL

$rows{21} = <<'SQL';
INSERT INTO svc.saml_idp (tenant_id, key_id, private_key, certificate)
SELECT id, gen_random_uuid(), '\x00', 'x' FROM svc.tenant;
INSERT INTO svc.saml_app (tenant_id, id, name, sp_entity_id, acs_url)
SELECT id, id, 'x', 'https://x.test', 'https://x.test/acs' FROM svc.tenant;
SQL

$rows{23} = <<'SQL';
INSERT INTO svc.organization_signup (id, slug, email_mac, code_mac, token_hash,
                                     binding_hash, data, void, expires_at)
SELECT id, slug, substr(sha256('x'), 1, 16), substr(sha256('x'), 1, 16), sha256('x'),
       sha256('x'), 'x', false, now() FROM svc.tenant LIMIT 1;
SQL

$rows{22} = <<'SQL';
INSERT INTO svc.email_challenge (tenant_id, id, kind, email_mac, code_mac, void,
                                 expires_at)
SELECT id, id, 'sign_in', substr(sha256('x'), 1, 16), substr(sha256('x'), 1, 16), false,
       now() FROM svc.tenant;
SQL

$rows{24} = <<'SQL';
INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)
SELECT tenant_id, id, id, 'email', 'E-mail', now() FROM svc.user_account;
SQL

$rows{25} = <<'SQL';
INSERT INTO svc.application (tenant_id, client_id, name, type, enabled, assignment,
                             redirect_uris, scopes, grant_types, auth_method,
                             resource_uri, resource_key, access_token_format,
                             access_token_ttl, require_consent, require_dpop)
SELECT id, 'app_' || md5(slug), 'Billing', 'web', true, 'groups', '{https://x.test/}',
       '{openid}', '{authorization_code}', 'client_secret_basic', 'urn:X', 'urn:X', 'jwt',
       3600, true, false FROM svc.tenant;
INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)
SELECT sha256(client_id::bytea), tenant_id, client_id, 'id' FROM svc.application;
INSERT INTO svc.group_app (tenant_id, client_id, group_id)
SELECT tenant_id, client_id, g.id
  FROM svc.application JOIN svc.user_group g USING (tenant_id);
SQL

$rows{26} = <<'SQL';
INSERT INTO svc.oauth_key (tenant_id, kid, public, sealed)
SELECT id, slug, '{}', 'x' FROM svc.tenant;
INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources)
SELECT tenant_id, u.id, client_id, '{openid}', '{}'
  FROM svc.application JOIN svc.user_account u USING (tenant_id);
INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,
                             resource_keys, session_id, auth_time, methods, expires_at)
SELECT tenant_id, gen_random_uuid(), client_id, user_id, scopes, '{}', '{}',
       gen_random_uuid(), now(), '{pwd}', now() FROM svc.oauth_consent;
INSERT INTO svc.oauth_code (tenant_id, digest, grant_id, client_id, redirect_uri,
                            challenge, expires_at)
SELECT tenant_id, id::text::bytea, id, client_id, 'https://x.test/', 'x', now() FROM svc.oauth_grant;
INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, expires_at)
SELECT tenant_id, id::text::bytea, id, now() FROM svc.oauth_grant;
INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals, grant_type,
                             scopes, ttl)
SELECT tenant_id, gen_random_uuid(), t, client_id, ARRAY[client_id], 'client_credentials',
       '{}', 60
  FROM svc.application, (VALUES (now()), (now() - interval '60 days')) v (t);
INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)
SELECT id, 'x', now() FROM svc.tenant;
INSERT INTO svc.delegation (tenant_id, id, client_id, client_name, chain, grant_type,
                            scopes, outcome)
SELECT tenant_id, gen_random_uuid(), client_id, name, '{}', 'x', '{}', 'granted'
  FROM svc.application;
INSERT INTO svc.agent_minute (tenant_id, client_id, minute, tokens)
SELECT tenant_id, client_id, now(), 1 FROM svc.application;
INSERT INTO svc.agent_seen (tenant_id, client_id, kind, value, first_at, last_at)
SELECT tenant_id, client_id, 'country', 'FR', now(), now() FROM svc.application;
INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key, severity, details)
SELECT tenant_id, client_id, 'new_ip', 'x', 'low', '{}' FROM svc.application;
SQL


$rows{28} = <<'SQL';
INSERT INTO svc.agent_hour (tenant_id, client_id, hour, tokens, minutes, subjects, unusual)
SELECT tenant_id, client_id, date_trunc('hour', now()), 1, 1, 0, false FROM svc.application;
INSERT INTO svc.agent_use (tenant_id, client_id, tokens, first_at, delegations)
SELECT tenant_id, client_id, 1, now(), 0 FROM svc.application;
SQL

$rows{30} = <<'SQL';
INSERT INTO svc.scim_target (tenant_id, id, client_id, name, base_url, token)
SELECT tenant_id, md5(client_id)::uuid, client_id, 'Slack', 'https://x.test', '\x00'
  FROM svc.application;
INSERT INTO svc.scim_item (tenant_id, target_id, user_id, remote_id)
SELECT t.tenant_id, t.id, u.id, 'r' FROM svc.scim_target t
  JOIN svc.user_account u USING (tenant_id);
INSERT INTO svc.scim_helper (id, lease_until, targets) VALUES (md5('x'), now(), 1);
SQL

$rows{31} = <<'SQL';
UPDATE svc.user_account SET scim_deleted = true
 WHERE status = 'deactivated' AND user_name LIKE '%5@%';
SQL

$rows{32} = <<'SQL';
INSERT INTO svc.webhook_outbox (tenant_id, xid)
SELECT id, '7' FROM svc.tenant ON CONFLICT DO NOTHING;
INSERT INTO svc.webhook_done (tenant_id, delivery_id)
SELECT id, id FROM svc.tenant;
SQL

$rows{38} = <<'SQL';
INSERT INTO svc.tenant_gone (id, slug, gone_at)
SELECT md5(slug)::uuid, 'was-' || slug, now() FROM svc.tenant;
SQL

$rows{41} = <<'SQL';
INSERT INTO svc.oauth_revoked (tenant_id, jti, expires_at)
SELECT id, id, now() FROM svc.tenant;
SQL

$rows{55} = <<'SQL';
INSERT INTO svc.oauth_logout (tenant_id, client_id, root_id, user_id)
SELECT id, 'app_x', id, id FROM svc.tenant;
SQL

$rows{56} = <<'SQL';
INSERT INTO svc.oauth_par (tenant_id, digest, client_id, params, expires_at)
SELECT tenant_id, sha256(client_id::bytea), client_id, 'scope=openid', now()
  FROM svc.application;
SQL

$rows{57} = <<'SQL';
INSERT INTO svc.federated_identity (connection_id, tenant_id, subject_hash, id, user_id, subject)
SELECT id, tenant_id, sha256('x'), id, id, '\x00' FROM svc.user_account;
INSERT INTO svc.federation_flow (tenant_id, id, token_hash, connection_id, connection_version,
                                 purpose, binding_hash, host, expires_at)
SELECT id, id, sha256(slug::bytea), id, now(), 'sign_in', sha256('x'), 'x.test', now()
  FROM svc.tenant;
INSERT INTO svc.federation_seen (tenant_id, connection_id, digest, expires_at)
SELECT id, id, sha256('x'), now() FROM svc.tenant;
SQL

# Each migration says which modules the schema serves from then on: those whose newest
# migration is this one or a later one.

for my $version (grep { $_ >= 38 } @versions) {
    my ($serves) = (slurp($file{$version}) =~ /\A-- serves: (\d+)\n/);

    ok($serves && $serves >= 1 && $serves <= $version,
       "migration $version begins with \"-- serves: N\", the oldest modules");
}

# Statistics are made of each tenant's rows only: to analyze all tables takes as long
# as a dozen migrations.

my $analyze = <<'SQL';
DO $$
DECLARE
    t  regclass;
BEGIN
    FOR t IN SELECT c.oid FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
              WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
                AND a.attname = 'tenant_id' AND a.attstattarget <> 0
    LOOP
        EXECUTE format('ANALYZE %s (tenant_id)', t);
    END LOOP;
END
$$
SQL


# Runs a query on a connection that stays: one that is new reads all catalogs, which
# takes longer than most queries.

my %client;

sub query {
    my ($pg, $text) = @_;
    my ($name) = $pg =~ /dbname=(\S+)/;

    $client{$name} //= $s->pg->connect('postgres', $name);

    return $client{$name}->query($text);
}


# Returns its answer as psql prints it.

sub answer {
    my ($pg, $text) = @_;

    return join '', map { join('|', map { $_ // '' } @$_) . "\n" } @{ query($pg, $text) };
}


# Returns the columns of each table, and its rows as text. The shard in which a
# tenant's users are counted is left out: a migration that counts them anew takes the
# first one.

sub content {
    my ($pg, $before) = @_;

    my %columns = $before ? map { $_ => $before->{$_}{columns} } keys %$before
                          : columns($pg);
    my $queries = join ';',
        map { "SELECT '$_', string_agg(r::text, E'\\n' ORDER BY r::text COLLATE \"C\")"
              . " FROM (SELECT $columns{$_} FROM svc.$_) r" } sort keys %columns;
    my %rows = map { @$_ } @{ query($pg, $queries) };

    return { map { $_ => { columns => $columns{$_}, rows => $rows{$_} // '' } }
             keys %columns };
}


sub columns {
    my ($pg) = @_;

    return map { @$_ } @{ query($pg, <<'SQL') };
SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
   AND NOT c.relispartition AND c.relname <> 'schema_migration'
   AND a.attnum > 0 AND NOT a.attisdropped
   AND (c.relname, a.attname) <> ('user_count', 'shard')
 GROUP BY 1
SQL
}


# Runs svcctl; returns its output, or a text that tells that it failed.

sub svcctl {
    my ($pg, @args) = @_;
    my ($status, $text) = run([ $s->root . '/conf/svcctl', '--pg', $pg, @args ]);

    $s->secret($text =~ /\b((?:svc|scim)_[\w-]{43})/g);

    return $status == 0 ? $text : "status $status: $text";
}


# A version with rows of its own begins a way, those without are looked at on their way
# to the next one with rows. A copy is made of each way's end, and goes to the newest at
# once.

my @ways;

for my $version (@versions) {
    push @ways, [] if $rows{$version};
    push @{ $ways[-1] }, $version;
}

my $growing = database('growing', 'template0');

# A copied database lacks its own rights, which migration 9 takes from everybody.

for my $way (@ways) {
    my ($version, $before);

    for my $next (@$way) {
        go_to($growing, $next);
        is_kept($growing, $version, $before) if $version;
        ($version, $before) = ($next, stored($growing, $next));
    }

    my $pg = database("from$way->[0]", 'growing');

    is(svcctl($pg, 'migrate'),
       join('', map { $applied{$_} } grep { $_ > $version } @versions)
       . ($version >= 9 ? "set 1 rights of svc_app, and of everybody\n" : ''),
       "from version $version to the newest");
    is_kept($pg, $version, $before);

    my ($first, @tenants) = split /\n/, svcctl($pg, 'status');

    is($first, "schema version $newest", 'the version');
    is(join(' ', sort map { /^(\S+)  [0-9a-f-]{36}  \w+(?: \d)?  \d+ users\z/ } @tenants),
       join(' ', sort 't1', 't2', map { "kept$_" } 1 .. $version), 'and all tenants');

    # What a migration derives is the same as if the rows had been stored after it.

    my $users = 600 + $version;
    my %is = (
        'users are counted' => [ $users,
            'SELECT sum(active + suspended + deactivated) FROM svc.user_count' ],
        'as new ones, too' => [ $users, 'SELECT sum(new_users) FROM (SELECT new_users FROM'
            . ' svc.stat_day UNION ALL SELECT added FROM svc.user_count) n' ],
        'and with a second factor' => [ 't', 'SELECT (SELECT sum(mfa) FROM'
            . ' svc.user_count) = (SELECT count(*) FROM svc.user_account'
            . ' WHERE mfa_enrolled)' ],
        'and found, who are not active' => [ '0 0', "SELECT concat_ws(' ',"
            . ' count(*) FILTER (WHERE i.id IS NULL),'
            . ' count(*) FILTER (WHERE u.id IS NULL)) FROM svc.user_inactive i'
            . ' FULL JOIN (SELECT * FROM svc.user_account'
            . " WHERE status <> 'active') u"
            . ' USING (tenant_id, status, created_at, id, scim_deleted)' ],
        'and, who are deleted' => [ 't', 'SELECT (SELECT sum(scim_deleted) FROM'
            . ' svc.user_count) = (SELECT count(*) FROM svc.user_account'
            . ' WHERE scim_deleted)' ],
        'sessions are complete ones, and go on' => [ 600, 'SELECT count(*) FROM'
            . ' svc.session s JOIN svc.user_account u'
            . ' ON u.tenant_id = s.tenant_id AND u.id = s.user_id'
            . " WHERE s.stage = 'full' AND (s.ended_at IS NULL) ="
            . " (u.status = 'active') AND u.valid_after IS NULL"
            . ($version < 14 ? ' AND s.root_id = s.id'
                               . ' AND s.auth_time = s.created_at' : '') ],
        'which tokens act on owners: those of owners, of theirs, and of operators' => [
            ($version < 2 ? 12 : 2) + 2 * $version,
            'SELECT count(*) FROM svc.credential WHERE owner' ],
        'and whose they are' => [ $version < 2 ? '' : 'api1 owner, api2 owner, api3 admin',
            "SELECT coalesce(string_agg(DISTINCT c.name || ' ' || u.role, ', '), '')"
            . ' FROM svc.credential c JOIN svc.user_account u ON u.tenant_id = c.tenant_id'
            . ' AND u.id = c.maker' ],
        'governance' => [ 2 + $version, 'SELECT count(*) FROM svc.governance' ],
        'the roles that users have' => [ 2, 'SELECT count(*) FROM svc.role'
            . " WHERE key = 'auditor' AND member_count >= 74" ],
        'the planner knows no tenant any more' => [ 0, 'SELECT count(*) FROM pg_stats'
            . " WHERE schemaname = 'svc' AND attname = 'tenant_id'" ]);
    my @names = sort keys %is;
    my @got = split /\|/, answer($pg, 'SELECT '
                                    . join ', ', map { "($is{$_}[1])" } @names);

    chomp @got;
    is($got[$_], $is{ $names[$_] }[0], $names[$_]) for 0 .. $#names;
}


# Migrates a database to a version.

sub go_to {
    my ($pg, $version) = @_;

    is(svcctl($pg, 'migrate', '--sql', folder($version)), $applied{$version},
       "to version $version, and no other");
}


# Returns a folder with the migrations up to a version.

sub folder {
    my ($version) = @_;
    my $dir = "$s->{dir}/sql$version";

    return $dir if -d $dir;

    mkdir $dir or die $!;
    symlink $_, "$dir/" . s{.*/}{}r or die $!
        for map { $file{$_} } grep { $_ <= $version } @versions;

    return $dir;
}


# Stores the rows of a version; returns the database's content.

sub stored {
    my ($pg, $version) = @_;

    answer($pg, $rows{$version}) if $rows{$version};
    like(svcctl($pg, qw(tenant create --name Kept --slug), "kept$version", '--owner',
                'ada@kept.test'),
         qr/\Atenant +kept$version  /, 'with a tenant');
    answer($pg, $analyze);

    my $content = content($pg);

    is_deeply([ grep { $content->{$_}{rows} eq '' } sort keys %$content ], [],
              'and rows in all tables');

    return $content;
}


sub is_kept {
    my ($pg, $version, $before) = @_;
    my $after = content($pg, $before);

    for my $table (sort keys %$before) {
        ok($after->{$table}{rows} eq $before->{$table}{rows},
           "$table of version $version is as it was")
            or diag(differs($before->{$table}{rows}, $after->{$table}{rows}));
    }
}


# Copies a database, for which nobody may be connected to it; returns its conninfo.

sub database {
    my ($name, $of) = @_;

    delete $client{$of};
    wait_for {
        !$s->sql("SELECT count(*) FROM pg_stat_activity WHERE datname = '$of'")
    } or die "somebody is connected to $of\n";
    $s->sql("CREATE DATABASE $name TEMPLATE $of");

    return $s->pg->conninfo('postgres') =~ s/dbname=\S+/dbname=$name/r;
}


# Returns the first line of each text that the other text does not have.

sub differs {
    my ($before, $after) = @_;
    my %after = map { $_ => 1 } split /\n/, $after;
    my %before = map { $_ => 1 } split /\n/, $before;
    my ($lost) = grep { !$after{$_} } sort keys %before;
    my ($new) = grep { !$before{$_} } sort keys %after;

    return 'was ' . ($lost // 'nothing') . "\nis " . ($new // 'nothing') . "\n";
}


# --- a tenant is deleted --------------------------------------------------------------

# One of two tenants with rows in all tables is deleted. All rows of the other one
# stay, and so do sign-ups, which belong to no tenant, though here they have the same
# ids.

{
    my $pg = database('gone', 'growing');
    my $id = answer($pg, "SELECT md5('t1')::uuid") =~ s/\n//r;
    my $before = content($pg);

    like(svcctl($pg, qw(tenant delete --tenant t1 --confirm t1 --now)),
         qr/^t1 is gone, and \d+ rows of it$/m, 'a tenant is deleted');

    my $after = content($pg, $before);

    for my $table (sort keys %$before) {
        my @others = grep { $table eq 'organization_signup' || !/\Q$id\E/ }
                     split /^/, $before->{$table}{rows};

        is($table eq 'tenant_gone' ? '' : differs(join('', @others), $after->{$table}{rows}),
           $table eq 'tenant_gone' ? '' : "was nothing\nis nothing\n",
           "$table has what is of others, and no more");
    }
}


# --- users with the same address ------------------------------------------------------

# Addresses that were different before there were keys may have the same key now: both
# users stay, and one of them has the key.

{
    my $pg = database('twice', 'template0');

    svcctl($pg, 'migrate', '--sql', folder(34));
    answer($pg, <<'SQL');
INSERT INTO svc.tenant (id, slug, name) VALUES (md5('t')::uuid, 't', 'T');
INSERT INTO svc.user_account (tenant_id, id, user_name, created_at)
SELECT md5('t')::uuid, md5(i::text)::uuid, name, now() + i * interval '1 s'
  FROM unnest(ARRAY['ann@xn--mnchen-3ya.test', 'ann@münchen.test',
                    U&'zoe\0308@x.test', U&'zo\00eb@x.test', 'Bob@x.test',
                    U&'vic@ma\0130l.test']) WITH ORDINALITY AS a (name, i);
INSERT INTO svc.invitation (tenant_id, id, email, email_key, role, group_ids, days,
                            token_hash, expires_at)
SELECT md5('t')::uuid, md5(i::text)::uuid, name, lower(name), 'member', '{}', 7,
       sha256(convert_to(name, 'UTF8')), now() + interval '7 days'
  FROM unnest(ARRAY['eve@xn--mnchen-3ya.test', 'eve@münchen.test'])
       WITH ORDINALITY AS a (name, i);
SQL

    my $told = svcctl($pg, 'migrate');

    like($told, qr/WARNING: +tenant t: the user \S+ \(\S+\) has the same e-mail address as/,
         'it is said');
    is(() = $told =~ /WARNING/g, 2, 'of each of them');

    my @keys = split /\n/, answer($pg, 'SELECT user_name_key FROM svc.user_account'
                                     . ' ORDER BY created_at');
    my @id = map { answer($pg, "SELECT md5('$_')::uuid") =~ s/\n//r } 1 .. 6;

    is_deeply(\@keys, [ 'ann@xn--mnchen-3ya.test', "ann\@xn--mnchen-3ya.test $id[1]",
                        "zoë\@x.test $id[2]", 'zoë@x.test', 'bob@x.test',
                        'vic@xn--mail-swc.test' ], 'nobody is lost');
    is(answer($pg, 'SELECT count(DISTINCT email_key) FROM svc.invitation'), "2\n",
       'nor an invitation');

    answer($pg, "UPDATE svc.user_account SET display_name = 'Ann' WHERE id = '$id[1]'");
    is(answer($pg, "SELECT user_name_key FROM svc.user_account WHERE id = '$id[1]'"),
       "ann\@xn--mnchen-3ya.test $id[1]\n", 'who changes stays there');
    answer($pg, "DELETE FROM svc.user_account WHERE id = '$id[0]'");
    answer($pg, "UPDATE svc.user_account SET display_name = 'Anna' WHERE id = '$id[1]'");
    is(answer($pg, "SELECT user_name_key FROM svc.user_account WHERE id = '$id[1]'"),
       "ann\@xn--mnchen-3ya.test\n", 'and has the key when the other one has gone');
}


# --- consents for resources -----------------------------------------------------------

# A consent of one page stays as it was shown. Where a consent was extended for
# several resources it is not known what was shown for which.

{
    my $pg = database('allowed', 'template0');

    svcctl($pg, 'migrate', '--sql', folder(37));
    answer($pg, <<'SQL');
INSERT INTO svc.tenant (id, slug, name) VALUES (md5('t')::uuid, 't', 'T');
INSERT INTO svc.user_account (tenant_id, id, user_name)
VALUES (md5('t')::uuid, md5('u')::uuid, 'u@t.test');
INSERT INTO svc.application (tenant_id, client_id, name, type, auth_method, redirect_uris,
                             scopes, grant_types, enabled, assignment, access_token_format,
                             access_token_ttl, require_consent, require_dpop)
SELECT md5('t')::uuid, 'app_' || md5(i::text), i, 'web', 'client_secret_basic',
       '{https://a.test/}', '{r,w}', '{authorization_code}', true, 'everyone', 'jwt', 3600,
       i <> 3, false
  FROM generate_series(1, 4) i;
INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, created_at,
                               updated_at)
SELECT md5('t')::uuid, md5('u')::uuid, 'app_' || md5(i::text), '{r,w}', at,
       now(), now() + later * interval '1 s'
  FROM (VALUES (1, '{}'::text[], 5), (2, '{urn:a,urn:b}', 0), (3, '{}', 0),
               (4, '{urn:a}', 5)) v (i, at, later);
INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,
                             resource_keys, session_id, auth_time, methods, expires_at)
SELECT tenant_id, gen_random_uuid(), client_id, user_id, scopes, '{}', '{}',
       gen_random_uuid(), now(), '{pwd}', now() + interval '1 day' FROM svc.oauth_consent;
SQL

    like(svcctl($pg, 'migrate'), qr/WARNING: +1 consents /, 'who is asked once more is counted');
    is(answer($pg, 'SELECT c.allowed FROM svc.oauth_consent c'
                 . ' JOIN svc.application USING (client_id) ORDER BY name'),
       join('', map { "$_\n" } '{" "," r"," w"}',
            '{"urn:a ","urn:a r","urn:a w","urn:b ","urn:b r","urn:b w"}', '{" "," r"," w"}',
            '{}'), 'what was shown is allowed');
    is(answer($pg, 'SELECT string_agg(name, \' \') FROM svc.oauth_grant'
                 . ' JOIN svc.application USING (client_id) WHERE NOT consented'), "3\n",
       'of a grant it is known whether its user was asked');
}


# --- the modules serve them ---------------------------------------------------------

for my $way (@ways) {
    my $name = "from$way->[0]";
    my $as = sub { $s->pg->conninfo($_[0]) =~ s/dbname=\S+/dbname=$name/r };

    $s->{nginx}{svc}{svc_postgres} = '"' . $as->('svc_app') . '"';
    $s->nginx->pid ? $s->reload : $s->nginx->launch;

    my ($token) = svcctl($as->('postgres'), qw(scim-token create --tenant t1 --name new))
                  =~ /\b(scim_[\w-]{43})\b/;

    $s->wait_healthy;

    my @as = ([ Authorization => "Bearer $token" ]);
    my $filter = 'filter=userName%20eq%20%22USER5%40example.test%22';

    is($s->http(GET => "/scim/v2/Users?$filter", @as)
       ->json->{Resources}[0]{externalId}, 'e5', "from version $way->[-1]: a user");
    is($s->http(POST => '/scim/v2/Users', @as, { userName => 'new@example.test' })
       ->status, 201, 'another one');
}

$s->done;
done_testing();
