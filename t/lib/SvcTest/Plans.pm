package SvcTest::Plans;

# A tenant with so many rows in every table that a bad plan is slow; the
# statements of the modules, and values for each of them.

use strict;
use warnings;

use parent qw(SvcTest::Planned);

use Digest::SHA qw(sha256_hex);


our $N = 2_500;                 # rows of a tenant in each table
my $HALF = $N / 2;
my $ROLES = 1000;
my $HOOKS = 50;
my $NEWEST = $HALF + 2;         # has no password yet
my $WHO = 100;                  # has most of the sign-ins

# --- a tenant ----------------------------------------------------------------

# Returns a known id of a kind, by its number.

sub id {
    my ($self, $kind, $n) = @_;

    return sprintf '%s-%04x-7000-8000-%012d', $self->{prefix}, $kind, $n;
}


my ($USER, $GROUP, $HOOK, $TOKEN, $SESSION, $VERSION, $STREAM, $NEW, $FACTOR,
    $INVITATION, $CHALLENGE, $GRANT, $OAUTH, $TARGET, $CONNECTION, $FLOW) = (1 .. 16);

sub id_sql {
    my ($self, $kind) = @_;

    return sprintf "('%s-%04x-7000-8000-' || lpad(i::text, 12, '0'))::uuid",
                   $self->{prefix}, $kind;
}


# Lets the current partition of each table begin a month earlier, so that the
# rows of the last week lie in one partition on every day: a few of them in a
# partition that has just begun have plans of their own.

sub widen {
    my ($s) = @_;

    $s->connect_as('postgres')->query(<<'SQL');
DO $$
DECLARE
    part   record;
    limits text[];
BEGIN
    FOR part IN
        SELECT i.inhparent::regclass AS parent, c.oid::regclass AS name,
               pg_get_expr(c.relpartbound, c.oid) AS bound
          FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE c.relkind = 'r' AND c.relnamespace = 'svc'::regnamespace
           AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
    LOOP
        limits := regexp_match(part.bound, $re$FROM \('(.*)'\) TO \('(.*)'\)$re$);
        CONTINUE WHEN NOT now() >= limits[1]::timestamptz
                   OR NOT now() < limits[2]::timestamptz;

        EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', part.parent, part.name);
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%L)',
                       part.parent, part.name,
                       limits[1]::timestamptz - interval '1 month', limits[2]);
    END LOOP;
END
$$
SQL
}


# slug: the new tenant's; number: a different one for each tenant; text: the
# statements to plan before there is a row, for the kind "early", or nothing.
#  Rows are inserted without triggers, which would take longer than all the
# rest; what these count is counted at the end.

sub new {
    my ($class, $s, $slug, $number, $text) = @_;

    my $self = bless { s => $s, slug => $slug,
                       prefix => sprintf '01a0%04x', $number }, $class;

    $self->{id} = $s->sql('INSERT INTO svc.tenant (slug, name) VALUES'
                          . " ('$slug', '$slug') RETURNING id");

    $self->{issued} = time;
    $self->{apps} = [ map { sprintf 'app_%032x', $_ } 500, 600, 1 .. 1000 ];
    $self->plan_early($text) if $text;

    my $db = $s->connect_as('postgres');
    $db->query('SET session_replication_role = replica');
    $db->query($_) for $self->rows;
    $db->query('SELECT svc.user_recount()');

    return $self;
}


sub rows {
    my ($self) = @_;

    my ($user, $group, $hook, $token, $session, $version, $stream, $factor,
        $invitation, $challenge, $grant, $oauth, $target, $connection, $flow)
        = map { $self->id_sql($_) }
          ($USER, $GROUP, $HOOK, $TOKEN, $SESSION, $VERSION, $STREAM, $FACTOR,
           $INVITATION, $CHALLENGE, $GRANT, $OAUTH, $TARGET, $CONNECTION, $FLOW);
    my $t = "'$self->{id}'";
    my $slug = $self->{slug};
    my $app = "'app_' || lpad(to_hex(i), 32, '0')";
    my $all = "generate_series(1, $N) i";
    my $week = sprintf "now() - i * interval '%d seconds'", 600_000 / $N;

    return (<<"EOT" =~ /\S[^;]*/g);
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, created_at,
                              display_name, role, status, locked_until, source)
SELECT $t, $user, 'user' || i || '\@$slug.test', 'ext-' || i, $week, 'User ' || i,
       CASE WHEN i <= 10 THEN 'owner' WHEN i <= 20 THEN 'admin'
            WHEN i <= 20 + $ROLES / 2 THEN 'role' || i ELSE 'member' END,
       CASE WHEN i % 10 = 9 THEN 'suspended' ELSE 'active' END, now(),
       CASE WHEN i BETWEEN 1001 AND 1100 THEN 'ldap' ELSE 'local' END
FROM $all;
INSERT INTO svc.session (tenant_id, id, user_id, token_hash, root_id, created_at,
                         last_seen_at, expires_at, ended_at, connection_id, upstream_sid,
                         upstream_subject)
SELECT $t, $session, @{[ $self->id_sql($USER) =~ s/\bi\b/((i - 1) % 100 + 1)/r ]},
       sha256(('$slug' || i)::bytea), $session, now() - i * interval '1 second',
       now() - interval '2 minutes',
       now() + CASE WHEN i > $N * 0.8 THEN -2 ELSE 24 END * interval '1 hour',
       CASE WHEN i % 10 = 9 THEN now() END, '@{[ $self->id($CONNECTION, 1) ]}',
       sha256(('$slug-sid' || i)::bytea), sha256(('$slug-sub' || i)::bytea) FROM $all;
INSERT INTO svc.password (tenant_id, user_id, hash) SELECT $t, $user, '\\x00' FROM $all
 WHERE i <> $NEWEST;
INSERT INTO svc.password_history (tenant_id, user_id, version, hash)
SELECT $t, $user, 0, '\\x00' FROM $all;
INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)
SELECT $t, sha256(('$slug' || i)::bytea), $user,
       now() + (i % 5 - 3) * interval '1 hour' FROM $all;
INSERT INTO svc.login_phantom (tenant_id, email_mac, failed, failed_since)
SELECT $t, sha256(('mac' || i)::bytea), 1, now() - i * interval '40 seconds' FROM $all;
INSERT INTO svc.user_device (tenant_id, user_id, hash, last_at)
SELECT $t, $user, sha256(('device' || i)::bytea), now() FROM $all;
INSERT INTO svc.user_seen (tenant_id, user_id, kind, value, last_at)
SELECT $t, $user, kind, value, now() FROM $all,
       (VALUES ('agent', 'firefox linux'), ('network', '10.0.0.0/24'), ('country', 'FR'))
       v (kind, value);
INSERT INTO svc.factor (tenant_id, user_id, id, type, name, secret, created_at,
                        confirmed_at)
SELECT $t, $user, $factor, 'totp', 'Phone', '\\x00', $week,
       CASE WHEN i % 5 > 0 THEN now() END FROM $all;
INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)
SELECT $t, $user, $session, 'passkey', 'Laptop', now() FROM $all;
INSERT INTO svc.passkey (tenant_id, credential_hash, user_id, factor_id, credential_id,
                         public_key, alg, rp_id, sign_count, be, bs, transports, aaguid)
SELECT $t, sha256(('$slug' || i)::bytea), $user, $session, '\\x00', '\\x00', -7,
       'x.test', 0, true, true, 0, '\\x00' FROM $all;
INSERT INTO svc.recovery_code (tenant_id, user_id, mac)
SELECT $t, $user, sha256(('code' || n)::bytea) FROM $all, generate_series(1, 10) n
 WHERE i % 10 = 0;
INSERT INTO svc.challenge (tenant_id, root_id, id, user_id, expires_at)
SELECT tenant_id, root_id, root_id, user_id,
       now() + CASE WHEN ended_at IS NULL THEN 5 ELSE -120 END * interval '1 minute'
FROM svc.session WHERE tenant_id = $t;
INSERT INTO svc.challenge_used (tenant_id, hash, expires_at)
SELECT $t, sha256(('used' || i)::bytea), now() + (i - $N / 2) * interval '1 second'
FROM $all;
INSERT INTO svc.user_group (tenant_id, id, name, member_count)
SELECT $t, $group, 'group' || i, CASE i WHEN 1 THEN $N ELSE 0 END FROM $all;
INSERT INTO svc.group_member (tenant_id, group_id, user_id, added_at)
SELECT $t, '@{[ $self->id($GROUP, 1) ]}', $user, $week FROM $all;
INSERT INTO svc.group_password_policy (tenant_id, group_id, min_length, created_at)
SELECT $t, $group, 16, $week FROM $all WHERE i > 10;
INSERT INTO svc.role (tenant_id, key, name, permissions)
SELECT $t, 'role' || i, 'Role', '{}' FROM generate_series(1, $ROLES) i;
INSERT INTO svc.credential (token_hash, tenant_id, id, kind, name, prefix,
                            permissions, created_at, revoked_at)
SELECT sha256(('$slug-token' || i)::bytea), $t, $token, 'api', 'token' || i, 'svc_',
       '{users:view,roles:manage}', $week, CASE WHEN i > 900 THEN now() END
FROM $all;
INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, created_at)
SELECT $t, CASE WHEN i % 4 = 0 THEN 'user.created' ELSE 'user.updated' END, 'user', i,
       $week FROM $all;
INSERT INTO svc.audit_stream (tenant_id, id, expires_at)
SELECT $t, $stream, now() + (i - 5) * interval '1 hour' FROM generate_series(1, 9) i;
INSERT INTO svc.idempotency (tenant_id, credential_id, path, key, body_hash, created_at)
SELECT $t, '@{[ $self->id($USER, 1) ]}', '/x', 'key' || i, '\\x00',
       now() - i * interval '80 seconds' FROM $all;
INSERT INTO svc.access_policy_version (tenant_id, id, number, source, snapshot)
SELECT $t, $version, i, 'api', '{}' FROM generate_series(1, 50) i;
UPDATE svc.governance SET access_number = 50 WHERE tenant_id = $t;
INSERT INTO svc.sign_in (tenant_id, at, user_id, ip)
SELECT $t, $week, $user, '10.0.0.0'::inet + (i % ($N / 5)) FROM $all;
INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, outcome, email_mac)
SELECT $t, now() - i * interval '4 seconds', $user, '10.0.0.0'::inet + (i % 20),
       'failure', sha256(('mac' || i % 100)::bytea) FROM $all;
INSERT INTO svc.sign_in (tenant_id, at, user_id, ip)
SELECT $t, $week, '@{[ $self->id($USER, $WHO) ]}', '10.0.0.0'::inet + (i % ($N / 5)) FROM $all;
INSERT INTO svc.sign_in_address (tenant_id, ip, last_at)
SELECT $t, ip, max(at) FROM svc.sign_in
WHERE tenant_id = $t AND outcome = 'success' GROUP BY ip;
INSERT INTO svc.stat_day (tenant_id, day, shard, success, new_users)
SELECT $t, current_date - i / 6, i % 6, 1, 1 FROM $all;
INSERT INTO svc.active_day (tenant_id, day, users)
SELECT $t, current_date - i, 1 FROM generate_series(0, 400) i;
INSERT INTO svc.incident (tenant_id, id, type, subject, severity, title, details, count,
                          created_at, last_seen_at, acknowledged_at)
SELECT $t, $session, 'risk_denied', i, 'high', 'title', '{}', 1, $week, now(),
       CASE WHEN i % 10 > 0 THEN now() END FROM $all;
INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason, user_id, ip, network, country,
                               locked, active, last_active_day)
SELECT $t, now(), CASE i % 3 WHEN 0 THEN 'failure' ELSE 'success' END, 'wrong', $user,
       '10.0.0.0'::inet + (i % 20), '10.0.0.0/24', 'FR', i % 300 = 0, i % 2 = 0,
       current_date - i % 90 FROM generate_series(1, 1000) i;
INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events, secret)
SELECT $t, $hook, 'https://x.test/', '{user.created,user.deleted}', '\\x00'
FROM generate_series(1, $HOOKS) i;
INSERT INTO svc.webhook_outbox (tenant_id, xid) VALUES ($t, '0');
INSERT INTO svc.webhook_done (tenant_id, delivery_id)
SELECT $t, md5('$slug' || i)::uuid FROM $all;
INSERT INTO svc.webhook_attempt (tenant_id, endpoint_id, created_at, delivery_id,
                                 attempt, event_id, event, outcome, duration_ms)
SELECT $t, @{[ $hook =~ s/\bi\b/(i % $HOOKS + 1)/r ]},
       now() - CASE WHEN i > 2 * $N THEN 8 ELSE 0 END * interval '1 day'
       - i * interval '1 second', 'd' || i, 1, 'e', 'user.created',
       CASE WHEN i % 3 = 0 THEN 'retried' ELSE 'acknowledged' END, 1
FROM generate_series(1, 3 * $N) i;
INSERT INTO svc.ip_block (tenant_id, ip, created_by_type, created_at, expires_at)
SELECT $t, '10.0.0.0'::inet + i, 'system', $week,
       now() + (i % 3 - 1) * interval '1 day' FROM $all;
INSERT INTO svc.invitation (tenant_id, id, email, email_key, role, group_ids, days,
                            token_hash, created_at, expires_at, accepted_at)
SELECT $t, $invitation, 'in' || i || '\@$slug.test', 'in' || i || '\@$slug.test',
       'role' || i % $ROLES, ARRAY[$group], 7, sha256(('$slug-in' || i)::bytea), $week,
       now() + interval '7 days', CASE WHEN i > 1000 THEN now() END FROM $all;
INSERT INTO svc.email_challenge (tenant_id, id, kind, user_id, email_mac, code_mac,
                                 token_hash, binding_hash, void, created_at, expires_at)
SELECT $t, $challenge, 'sign_in', CASE WHEN i % 2 = 0 THEN $user END,
       substr(sha256(('mac' || i % 1000)::bytea), 1, 16), substr(sha256('x'), 1, 16),
       sha256(('$slug-mail' || i)::bytea), sha256('x'), false, $week,
       now() + i * interval '1 second' FROM $all;
INSERT INTO svc.oauth_key (tenant_id, kid, alg, public, sealed)
SELECT $t, '$slug-key' || i, CASE i WHEN 2 THEN 'RS256' ELSE 'ES256' END, '{}', 'x'
  FROM generate_series(1, 100) i;
UPDATE svc.oauth_tenant SET active_kid = '$slug-key1', active_rsa_kid = '$slug-key2'
 WHERE tenant_id = $t;
INSERT INTO svc.application (tenant_id, client_id, name, type, enabled, assignment,
                             redirect_uris, scopes, grant_types, auth_method,
                             resource_uri, resource_key, access_token_format,
                             access_token_ttl, require_consent, require_dpop, owner_id,
                             created_at, tenant_slug, orphan_action, orphan_grace_hours)
SELECT $t, $app, 'app' || i, CASE WHEN i % 10 = 0 THEN 'agent' ELSE 'web' END, true,
       'everyone', '{https://x.test/}', '{openid}', '{authorization_code}',
       'client_secret_basic', 'urn:' || i, 'urn:' || i, 'jwt', 3600, true, false,
       CASE WHEN i % 10 = 0 THEN $user END, $week, '$slug', 'none', 72 FROM $all;
INSERT INTO svc.agent_anomaly (tenant_id, id, client_id, type, key, severity, details,
                               created_at, acknowledged_at)
SELECT $t, $session, 'app_' || lpad(to_hex(i % 500 * 10 + 10), 32, '0'), 'new_ip', i, 'low',
       '{"ip": "10.0.0.1"}', $week, CASE WHEN i % 10 > 0 THEN now() END FROM $all;
INSERT INTO svc.delegation (tenant_id, id, created_at, client_id, client_name, subject_type,
                            subject_id, chain, grant_type, scopes, outcome, token_jti,
                            root_jti)
SELECT $t, $session, $week, 'app_' || lpad(to_hex(i % 500), 32, '0'), 'x', 'user', $user,
       ARRAY['app_' || lpad(to_hex(i % 500), 32, '0')], 'x', '{a}', 'granted', $session,
       $session FROM $all;
INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals, grant_type,
                             scopes, ttl)
SELECT $t, $session, $week,
       'app_' || lpad(to_hex(i % 500 + 1), 32, '0'),
       ARRAY['app_' || lpad(to_hex(i % 500 + 1), 32, '0')], 'x', '{a}', 3600 FROM $all;
INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)
SELECT sha256(('$slug' || kind || i)::bytea), $t, $app, kind
FROM $all, unnest(ARRAY['id', 'secret']) kind;
INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind, created_at, retired_at)
SELECT sha256(('$slug-old' || i)::bytea), $t, '$self->{apps}[0]', 'secret', $week, $week
FROM generate_series(1, 150) i;
INSERT INTO svc.group_app (tenant_id, client_id, group_id, added_at)
SELECT $t, $app, '@{[ $self->id($GROUP, 1) ]}', $week FROM $all;
INSERT INTO svc.group_app (tenant_id, client_id, group_id)
SELECT $t, '$self->{apps}[1]', $group FROM $all WHERE i > 1;
UPDATE svc.user_group g SET app_count = 1 WHERE tenant_id = $t;
INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,
                             resource_keys, session_id, auth_time, methods, consented,
                             created_at, expires_at)
SELECT $t, $grant, $app, $user, '{openid}', '{}', '{}', $user, $week, '{pwd}', true, $week,
       now() + interval '90 days' FROM $all;
INSERT INTO svc.oauth_code (tenant_id, digest, grant_id, client_id, redirect_uri,
                            challenge, expires_at)
SELECT $t, sha256(('$slug-code' || i)::bytea), $grant, $app, 'https://x.test/', 'x',
       now() + interval '1 day' FROM $all;
INSERT INTO svc.oauth_par (tenant_id, digest, client_id, params, browser, expires_at)
SELECT $t, sha256(('$slug-par' || i)::bytea), $app, 'a=b',
       CASE WHEN i % 2 = 0 THEN sha256('x') END, now() + interval '1 day' FROM $all;
UPDATE svc.application SET assignment = 'groups', scopes = '{openid}', auth_method = 'none',
       grant_types = '{authorization_code,refresh_token}', grant_days = 100
 WHERE tenant_id = $t AND client_id = '@{[ sprintf 'app_%032x', 510 ]}';
INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, allowed)
SELECT $t, $user, $app, '{openid}', '{}', '{" "," openid"}' FROM $all;
INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, expires_at)
SELECT $t, sha256(('$slug-refresh' || i)::bytea), $grant, now() + interval '30 days'
FROM $all;
INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, user_id, grant_id,
                             root_jti, parent_jti, principals, grant_type, scopes,
                             secret_hash, ttl)
SELECT $t, $oauth, to_timestamp($self->{issued}) + i * interval '1 ms', $app, $user, $grant,
       CASE WHEN i BETWEEN 2 AND 500 THEN '@{[ $self->id($OAUTH, 1) ]}'::uuid END,
       CASE WHEN i % 10 = 2 THEN '@{[ $self->id($OAUTH, 1) ]}'::uuid END, ARRAY[$app],
       'authorization_code', '{openid}', sha256('x'), 86400 FROM $all;
UPDATE svc.application
SET grant_types = '{urn:ietf:params:oauth:grant-type:token-exchange}', scopes = '{openid,read}',
    assignment = 'groups' WHERE tenant_id = $t AND client_id = '$self->{apps}[1]';
INSERT INTO svc.group_app (tenant_id, client_id, group_id)
VALUES ($t, '$self->{apps}[1]', '@{[ $self->id($GROUP, 1) ]}') ON CONFLICT DO NOTHING;
INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, allowed)
SELECT $t, $user, '$self->{apps}[1]', '{read}', '{}', '{" "," read"}' FROM $all
ON CONFLICT DO NOTHING;
INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, user_id, chain,
                             principals, grant_type, scopes, secret_hash, ttl)
SELECT $t, jti::uuid, to_timestamp(@{[ $self->exchanged ]} / 1000.0), '$self->{apps}[1]',
       CASE WHEN own THEN NULL ELSE '@{[ $self->id($USER, $WHO) ]}'::uuid END,
       CASE WHEN own THEN NULL ELSE ARRAY['$self->{apps}[1]'] END, ARRAY['$self->{apps}[1]'],
       'authorization_code', '{read}', sha256('x'), 86400
FROM (VALUES ('@{[ $self->exchanged(1) ]}', false), ('@{[ $self->exchanged(2) ]}', true))
     v (jti, own);
INSERT INTO svc.scim_target (tenant_id, id, client_id, name, base_url, token, lease_by,
                             xid, event_id, event_at, sync_next)
SELECT $t, $target, 'app_' || lpad(to_hex(i + 100), 32, '0'), 'x', 'https://x.test', '\\x00',
       'h', '0', 0, now(), '00000000-0000-0000-0000-000000000000'
FROM generate_series(1, 50) i;
INSERT INTO svc.scim_item (tenant_id, target_id, user_id, state, done_rev, remote_id)
SELECT $t, '@{[ $self->id($TARGET, 1) ]}', $user,
       (ARRAY['error', 'pending', 'synced'])[i % 3 + 1], i % 3 / 2, 'r' || i FROM $all;
INSERT INTO svc.domain (tenant_id, domain, verified_at)
SELECT $t, 'd' || i || '.$slug.test', now() FROM generate_series(1, 100) i;
INSERT INTO svc.social (tenant_id, provider, client_id, client_secret_id, enabled, issuer,
                        connection_id, domains)
SELECT $t, 'oidc-' || i, 'x', gen_random_uuid(), true, 'https://x.test', $connection,
       ARRAY(SELECT 'd' || n || '.$slug.test' FROM generate_series(1, 50) n)
  FROM generate_series(1, 20) i;
INSERT INTO svc.federation_meta (tenant_id, connection_id, document, jwks, fetched_at, due_at)
SELECT $t, $connection, '{}', '{}', now(), now() + interval '1 day'
  FROM generate_series(1, 20) i;
INSERT INTO svc.federated_identity (tenant_id, connection_id, subject_hash, id, user_id, subject)
SELECT $t, '@{[ $self->id($CONNECTION, 1) ]}', sha256(('$slug-sub' || i)::bytea), $user, $user,
       'x' FROM $all;
INSERT INTO svc.ldap_sync (tenant_id, status, run, due_at, lease_until, started_at)
VALUES ($t, 'running', 7, now() + interval '1 day', now() + interval '1 day', now());
UPDATE svc.social SET jit_provisioning = true WHERE tenant_id = $t;
INSERT INTO svc.federation_flow (tenant_id, id, token_hash, connection_id, connection_version,
                                 purpose, binding_hash, address, host, created_at, expires_at,
                                 used_at)
SELECT $t, $flow, sha256(('$slug-flow' || i)::bytea), '@{[ $self->id($CONNECTION, 1) ]}', now(),
       'sign_in', sha256('x'), '10.0.0.1', 'x.test', $week, $week + interval '10 minutes',
       CASE WHEN i % 2 = 0 THEN now() END FROM $all
EOT
}


# Returns when the tokens to exchange were issued, in ms; with $n the id of one.

sub exchanged {
    my ($self, $n) = @_;

    my $ms = $self->{issued} * 1000 + 2 * $N;

    return defined $n ? sprintf('%08x-%04x-7000-8000-%012d', $ms >> 16, $ms & 0xffff, $n) : $ms;
}


# --- values ------------------------------------------------------------------

sub json {
    return SvcTest::encode($_[0]);
}


sub array {
    my ($self, $kind, $from, $to) = @_;

    return '{' . join(',', map { $self->id($kind, $_) } $from .. $to) . '}';
}


sub sha {
    my ($self, $n) = @_;

    return '\\x' . sha256_hex("$self->{slug}-token$n");
}


# Returns the digest of a session.

sub session_sha {
    my ($self, $n) = @_;

    return '\\x' . sha256_hex("$self->{slug}$n");
}


# Returns as many changes as a large bundle has: groups and roles that exist,
# that are new, or that go.

sub changes {
    my ($self) = @_;

    my $fields = [ 12, 1, undef, 0, 0, 0, 0, 5, 0 ];

    return (
        json([ map { { id => $self->id($GROUP, $_), fields => $fields } }
               1 .. $HALF * 0.6 ]),
        $self->array($GROUP, $HALF * 0.6 + 1, $HALF),
        json([ map { { key => "role$_", name => 'New',
                       permissions => [ 'users:view' ] } }
               501 .. 600, 1001 .. 1100 ]),
        '{' . join(',', map { "role$_" } 601 .. 1000) . '}',
        json([ map { { action => 'group_password_policy.updated',
                       type => 'groupPasswordPolicy', details => {},
                       id => $self->id($GROUP, $_) } } 1 .. $HALF ]),
    );
}


sub attempts {
    my ($self) = @_;

    return json([ map { { endpoint => $self->id($HOOK, 1 + $_ % $HOOKS),
                          audit => $_ % 2 ? \1 : \0, began => 1e12 + $_,
                          delivery => "new$_", attempt => 3, event_id => 'e',
                          event => 'user.created', outcome => 'abandoned',
                          duration => 5, error => 'no' } } 1 .. 256 ]);
}


# Returns the version of a row of the tenant, found by a column's value.

sub version {
    my ($self, $table, $column, $value) = @_;

    return scalar $self->{s}->sql("SELECT xmin FROM svc.$table"
                                  . " WHERE tenant_id = '$self->{id}' AND $column = '$value'");
}

sub place {
    my ($self, $table, $column, $value) = @_;

    return scalar $self->{s}->sql("SELECT ctid FROM svc.$table"
                                  . " WHERE tenant_id = '$self->{id}' AND $column = '$value'");
}

# Returns for each statement the values of its parameters, in their order.

sub values {
    my ($self) = @_;

    my $new = $self->id($NEW, 1);
    my ($user, $owner) = map { $self->id($USER, $_) } $HALF, 1;
    my $member = $self->id($GROUP, 1);
    my $clients = '{' . join(',', @{ $self->{apps} }[2 .. 1001]) . '}';
    my ($plain, $with) = map { $self->id($GROUP, $_) } 5, $HALF;
    my $hook = $self->id($HOOK, 50);
    my $target = $self->id($TARGET, 1);
    my $hash = $self->sha(1);
    my @page = (100, 0);
    my ($agent, $row) = ($self->{apps}[0], $self->id($SESSION, $WHO));
    my $policy = '{"rules":[],"defaultAction":"mfa"}';
    my @policy = (20, ('true') x 6, 9, 90);
    my @no_filter = (undef) x 8;
    my $connection = qq("domains":["d1.$self->{slug}.test"],"link_by_email":"owned",)
                     . qq("trust_mfa":false,"show_on_page":false,"jit_provisioning":false,)
                     . qq("group_mapping":[{"external":"x","groupId":"$with"}],"enabled":false,)
                     . '"attribute_mapping":{}';
    my $import = $self->id($CONNECTION, 1);
    my $entries = '[' . join(',', map {
        my $at = $_ <= 20 ? "d1.$self->{slug}.test" : 'elsewhere.test';
        my $hash = sha256_hex("$self->{slug}-sub" . ($_ % 2 ? 1000 + $_ : 9000 + $_));

        qq({"place":$_,"id":"@{[ $self->id($NEW, 100 + $_) ]}","link":"@{[ $self->id($NEW, $_) ]}",)
        . qq("hash":"\\\\x$hash","subject":"\\\\x00","email":"new$_\@$at","key":"new$_\@$at",)
        . qq("disabled":false,"first_name":"New"}) } 1 .. 25) . ']';
    my $ldap = qq({$connection,"url":"ldaps://x","bind_dn":"cn=x","base_dn":"dc=x",)
               . '"user_filter":"(mail={email})","start_tls":false,"sync_enabled":false,'
               . '"sync_interval_minutes":60,"sync_deactivate":false}';
    my $saml = qq({$connection,"idp_entity_id":"urn:x","idp_certificates":[],)
               . '"name_id_format":"persistent"}';
    my $social = qq({$connection,"client_id":"x","issuer":"https://x","trust_email":false});
    my @text = ('text') x 6;
    my $session = $self->session_sha($WHO);
    my $who = $self->id($USER, $WHO);
    my $factor = $self->id($FACTOR, $WHO);
    my $new_hash = '\x' . '00' x 32;
    my @session = ($session, $self->{id}, 1800, '{full}', 'users:view', 'false',
                   900);
    my ($mac, $device) = map { '\x' . sha256_hex($_) }
                         'mac1', "device$WHO";
    my $passkey = '\x' . sha256_hex("$self->{slug}$WHO");
    my @risk = ($device, 'firefox linux', '10.0.0.0/24', 'FR', '10.0.0.1',
                '48.9', '2.3');
    my $host = "d1.$self->{slug}.test";
    my @client = qw(127.0.0.1 agent request);
    my $email = "user$WHO\@$self->{slug}.test";
    my $in = '\x' . sha256_hex("$self->{slug}-in500");
    my $invitation = $self->id($INVITATION, 500);
    my $x_hash = '\x' . sha256_hex('x');
    my ($flow, $subject) = map { '\x' . sha256_hex("$self->{slug}-$_$WHO") } qw(flow sub);
    my $first_app = $self->{apps}[2];
    my $par = '\x' . sha256_hex("$self->{slug}-par500");
    my $asking = sprintf 'app_%032x', 500;
    my @asked = ($self->{apps}[0], 'https://x.test/', undef, undef, undef, '{}', '{}', '{openid}',
                 4096, '\x' . '01' x 32, '{"openid userinfo acr"}');
    my @asks = ($session, 'false', 3600, 0, $self->id($USER, $WHO), '10.0.0.1', undef,
                '{urn:svc:2}', '{passkey}', '{password}', '{totp,email,recovery}', 'false', undef);
    my @request = (@asked, undef, @asks);
    my @pushed = ($asking, @asked[1 .. $#asked], $par, @asks);

    my $app_login = '\x' . sha256_hex("$self->{slug}secret500");
    my @shown = ($self->id($OAUTH, 1), $self->{issued} * 1000 + 1);
    my @exchanged = ($self->exchanged(1), $self->exchanged, undef, $x_hash);
    my @exchange = ($self->{apps}[1], @exchanged[0, 1, 3], undef, 'false');
    my @two = @{ $self->{apps} }[0, 1];
    my $refresh = '\x' . sha256_hex("$self->{slug}-refresh1");
    my $granted = sprintf 'app_%032x', 510;
    my ($code, $refreshed) = map { '\x' . sha256_hex("$self->{slug}-${_}510") } qw(code refresh);
    my @give = ($granted, $self->id($GRANT, 510), $self->id($USER, 510),
                $self->version(oauth_grant => id => $self->id($GRANT, 510)),
                $self->version(application => client_id => $granted),
                '2100-01-01', $shown[1], $new, 'openid', undef, undef, $x_hash, undef, undef, 60,
                '192.0.2.1', 'FR');
    my @places = ($self->place(oauth_grant => id => $self->id($GRANT, 510)),
                  $self->place(application => client_id => $granted));
    my @give_code = ($code, @give, $self->place(oauth_code => digest => $code), @places);
    my @give_refresh = ($refreshed, @give, $self->place(oauth_refresh => digest => $refreshed),
                        @places);
    my @next = ($new_hash, undef, '2100-01-01', 30);
    my @give_kept = ($refreshed, @give, 30, @places, '2100-01-01');
    my @journal = ('https://x/oauth/t/x', 'request', 'agent');
    my $mac16 = '\x' . substr sha256_hex('mac1'), 0, 32;
    my $base = 'https://x.test';
    my @domain = ('login.example.com', 'https://login.example.com');
    my $challenge = $self->id($CHALLENGE, $WHO);
    my @mailed = ($new, 'verify', $mac16, '\x' . '00' x 16,
                  $new_hash, undef, undef, 600);

    return {
        ( map { $_ => [] } qw(health_read health_write keys_needed pg_timeline) ),
        auth_read => [ $hash, 'api', 'users:view' ],
        ( map { $_ => [ $hash, 'api', 'users:view', 'apiToken', '127.0.0.1',
                        'agent', 'request' ] } qw(auth_write auth_caller) ),
        auth_token => [ $hash, 'scim', 'scim' ],
        auth_token_domain => [ $hash, 'scim', 'scim', @domain ],
        auth_read_domain => [ $hash, 'api', 'users:view', @domain ],
        ( map { $_ => [ $hash, 'api', 'users:view', 'apiToken', '127.0.0.1',
                        'agent', 'request', @domain ] }
              qw(auth_write_domain auth_caller_domain) ),
        auth_touch => [ $hash ],
        session_find => [ @session[0 .. 2] ],
        session_read => [ @session[0 .. 4] ],
        ( map { $_ => [ @session, @client ] } qw(session_write
                                                 session_caller) ),
        session_read_domain => [ @session[0 .. 4], @domain ],
        ( map { $_ => [ @session, @client, @domain ] } qw(session_write_domain
                                                          session_caller_domain) ),
        session_touch => [ $session ],
        idempotency_claim => [ '/x', 'new', '\x00' ],
        idempotency_keep => [ '/x', 'key1', '\x00', 200, 'text' ],
        idempotency_release => [ '/x', 'key1', '\x00' ],

        scim_get => [ $user ],
        scim_activate => [ $user, @client ],
        scim_deactivate => [ $user, @client ],
        scim_list => [ 200 ],
        scim_by_user_name => [ "USER$HALF\@$self->{slug}.test" ],
        scim_by_external_id => [ "ext-$HALF" ],
        scim_page => [ 100, 200 ],
        scim_page_active => [ 100, 200 ],
        scim_page_inactive => [ 100, 200 ],
        scim_key_user_name => [ "USER$HALF\@$self->{slug}.test" ],
        scim_key_external_id => [ "ext-$HALF" ],
        scim_key_id => [ $user ],
        ( map { $_ => [ $new, "new\@$self->{slug}.test", 'new', 'active',
                        @text, @client ] } qw(scim_create scim_create_alone) ),
        scim_change => [ $user, 'true', 'new', ('true', 'text') x 6,
                         'deactivated', @client ],
        scim_rfc_get => [ $user ],
        scim_rfc_yield => [ "new\@$self->{slug}.test", "ext-$HALF" ],
        scim_rfc_create => [ $new, "new\@$self->{slug}.test", 'new', 'active',
                             @text ],
        scim_rfc_change => [ $user, 'true', 'new', ('true', 'text') x 6, 'deactivated',
                             'true', "new\@$self->{slug}.test", '{1,2}', $base ],
        scim_rfc_delete => [ $user, undef ],

        signin_tenant => [ $host, undef, $base, $email ],
        signin_way => [ $host, undef, $base, $email, 'false' ],
        directory_ambiguous => [],
        signin_tenant_write => [ $host, $self->{slug}, @client ],
        signin_user => [ '10.0.0.1', $email, $mac ],
        signin_risk => [ @risk, $email, $mac ],
        ( map { $_ => [ $who, $mac, '10.0.0.1', 'FR', 'wrong', 10, 900, 900, $base ] }
              qw(signin_failure directory_failure) ),
        signin_denied => [ $who, 'risk', 90, '{new_device}', '10.0.0.1',
                           'FR' ],
        federation_begin => [ $new, 'oidc-1', ($new_hash) x 2, 'n', '\x00', '/account', $host,
                              $mac16, '10.0.0.1', 'invite', $session, $in, 5, 100, 10000, 'false',
                              '3600', '{phr}' ],
        federation_tenant => [ $flow, $host, undef ],
        federation_take => [ $flow, 'x' x 43, 'false', 'false', 'false' ],
        federation_keep => [ $self->id($FLOW, $WHO), $new_hash, $subject, '\x00', $who, 'true' ],
        federation_failed => [ 'true', 'google', 'why' ],
        federation_claim => [ $self->id($CONNECTION, 1) ],
        federation_due => [],
        directory_import_due => [],
        directory_lease => [ 7, undef ],
        directory_page_lock => [ $import, $entries ],
        directory_page_new => [ $import, 8, $entries ],
        directory_page_known => [ $import, 8, $entries ],
        directory_leave_count => [ $import, 7, '', 100 ],
        directory_leave => [ $import, 7, '', 20 ],
        directory_end => [ 7, 'ok', undef, -1, 0, 0 ],
        directory_sync => [],
        directory_sync_begin => [ 'true' ],
        federation_keys => [ $self->id($CONNECTION, 1) ],
        federation_meta_store => [ $self->id($CONNECTION, 1), '2026-01-01', '{}', '{}', 3600 ],
        federation_meta_failed => [ $self->id($CONNECTION, 1), '2026-01-01', 'x' ],
        federation_logout_sid => [ $subject ],
        federation_match => [ $self->id($FLOW, $WHO), $self->id($CONNECTION, 1), undef, $mac, $who,
                              $subject, $email, $host, 'true', undef, undef, '{phr}', $session,
                              $subject, 'false' ],
        federation_invited => [ $self->id($FLOW, $WHO), $self->id($CONNECTION, 1), $email, $host,
                                'true' ],
        federation_mail_open => [ $who, $new, 'link', $mac16, '\x' . '00' x 16, $subject, 600 ],
        federation_mail_lock => [],
        federation_test_asked => [ 'oidc-1' ],
        federation_test_found => [ $self->id($FLOW, $WHO), $self->id($CONNECTION, 1), $subject,
                                   $host, '["a"]' ],
        federation_tested => [ $self->id($FLOW, $WHO), '\x00', $subject, 'oidc-1', 'sign_in' ],
        federation_test_ended => [ $new, 'oidc-1', ($new_hash) x 2, $host, $session, '\x00',
                                   'federation_failed' ],
        federation_test_result => [ $self->id($FLOW, $WHO) ],
        federation_own_notice => [ $who, $base ],
        federation_step_up => [ $session, $new_hash, '{social}', 'true', '1800000000',
                                $self->id($CONNECTION, 1), undef, $subject, undef ],
        federation_user => [ '10.0.0.1' ],
        federation_risk => [ @risk ],
        federation_used => [ $self->id($CONNECTION, 1), $subject, $email ],
        federation_purge => [ $who ],
        federation_link => [ $self->id($CONNECTION, 2), $new_hash, $new, $who, '\x00', $email,
                             'google', 'false', 'false' ],
        federation_notice => [ $who, 'FR', $base ],
        federation_session => [ $new, $who, $new_hash, 'full', 43200, 600, '10.0.0.1', 'FR',
                                'agent', 0, '{}', '{social}', 'false', '1800000000',
                                $self->id($CONNECTION, 1), undef, $subject, undef ],
        ( map { $_ => [ $session ] } qw(federation_own_total federation_own_lock) ),
        federation_own_list => [ $session, 100, 0 ],
        federation_own_remove => [ $session, $who, $base ],
        federation_links_total => [ $who ],
        federation_links_list => [ $who, 100, 0 ],
        federation_links_remove => [ $who, $who, $base ],
        federation_named_tenant => [ $host, $self->{slug}, @client ],
        federation_named => [ 'oidc-1' ],
        federation_logout_lock => [ $self->id($CONNECTION, 1), $subject ],
        federation_logout => [ $self->id($CONNECTION, 1), $new_hash, $subject, $subject,
                               'oidc-1' ],
        federation_account_lock => [ $subject ],
        federation_account => [ $new, "new\@$self->{slug}.test", 'A', 'B', 'A B', 'google',
                                (undef) x 6, 'x1' ],
        federation_attributes => [ 'google', $who, 'A', 'B', undef, 'T', undef, 'fr', 'x1' ],
        federation_groups_lock => [ $self->id($CONNECTION, 1), $subject, $who, '["a"]' ],
        federation_groups => [ $self->id($CONNECTION, 1), $who ],
        signin_tenant_again => [ $self->{id}, @client ],
        ( map { $_ => [ $who ] } qw(signin_lock signin_lock_user) ),
        signin_check => [ $who, 1 ],
        ( map { $_ => [ $new, $who, $new_hash, 'full', 43200, 600,
                                      '10.0.0.1', 'FR', 'agent', 0,
                                      '{new_device}', '{password}', 'false' ] }
              qw(signin_session_new signin_session_first) ),
        signin_session_old => [ $session ],
        signin_sessions => [ $who, $new ],
        signin_rehash => [ $who, 1, '\x01' ],
        signin_user_done => [ $who, '10.0.0.1' ],
        signin_seen => [ $who, '10.0.0.1', 'FR', '10.0.0.0/24', '48.9', '2.3',
                         '{new_device}' ],
        signin_notice => [ $who, 'FR', 'firefox linux', $device, $base ],
        signin_unnoticed => [],
        signin_device => [ $who, 'firefox linux', $device, 'true' ],
        signin_devices => [ $who, $device ],
        signin_done => [ $who, 0, '{new_device}', $session ],
        signin_done_first => [ $who, 0, '{new_device}', '{password}' ],
        ( map { $_ => [ $session ] } qw(signin_session signin_session_made
                                        signin_logout) ),
        signin_rotate => [ $session, $new_hash ],
        change_read => [ $session, '10.0.0.1' ],
        change_check => [ $who, 1, $session ],
        change_store => [ $who, '\x01', 1, $base ],
        change_rotate => [ $session, $new_hash, 43200 ],
        reset_read => [ $new_hash, 900 ],
        reset_check => [ $new_hash ],
        reset_store => [ $who, '\x01', 1, $base ],
        password_forgot => [ $email, '\x' . '01' x 32, $base ],
        password_forgot_blocked => [ '10.0.0.1' ],
        own_email_open => [ @mailed, $who, $email, $session ],
        email_verify_store => [ $who, $email ],
        email_change_read => [ $session ],
        email_change_open => [ @mailed, $who, "new\@$self->{slug}.test", $session ],
        email_change_lock => [ $who ],
        email_change_store => [ $who, "new\@$self->{slug}.test", '10.0.0.1', 'FR',
                                $base ],
        own_email_try => [ undef, undef, 'sign_in', 5, $session ],
        profile_get => [ $session ],
        profile_patch => [ $session, ('true', 'text') x 4 ],
        factor_read => [ $session, '10.0.0.1' ],
        factor_check => [ $who, $session ],
        factor_added => [ $who, $factor, '{"\\\\x01","\\\\x02"}', $base, $session, "k1" ],
        factor_rotate => [ $session, $new_hash, 43200, 600, 'full', 'totp', undef,
                           'false' ],
        factors_list => [ $session ],
        factors_codes => [ $session ],
        factor_rename => [ $session, $factor, 'Other' ],
        factor_get => [ $session, $factor ],
        factor_remove => [ $who, $factor, 'true', $base ],
        factor_codes => [ $who, '{"\\\\x01","\\\\x02"}', $base, "k1" ],
        totp_create => [ $who, $new, 'Phone', '\x00', 20, 3 ],
        totp_pending => [ $session, $factor ],
        totp_confirm => [ $who, $factor, 1 ],
        challenge_open => [ $session, $new, 5, 300 ],
        challenge_try => [ $session, $new, 5, 300, $self->id($SESSION, $WHO) ],
        stepup_factors => [ $session ],
        stepup_codes => [ $session ],
        stepup_check => [ $who, $session, 'true' ],
        stepup_totp => [ $who, $factor, 1 ],
        stepup_email => [ $session ],
        stepup_email_mailed => [ $session, $self->id($SESSION, $WHO), $challenge ],
        stepup_email_use => [ $who, $factor, $challenge ],
        stepup_email_prove => [ $session, $who, $email ],
        mfa_email_create => [ $who, $challenge, 20, 3 ],
        mfa_email_pending => [ $session, $factor ],
        mfa_email_confirm => [ $who, $factor, $email ],
        stepup_unknown => [ $session ],
        stepup_recovery => [ $who, '\x' . sha256_hex('code1') ],
        stepup_first => [ $who, 1 ],
        mfa_failure => [ $who, $mac, '10.0.0.1', 'FR', 'totp', 10, 900, 900,
                         $base ],
        signin_failed_user => [ $self->{id}, $who ],
        signin_waits => [ $who, 'enroll' ],
        admin_limited => [ 'domain', 'tenant', 10, 60 ],
        signin_limited => [ $host, undef, '10.0.0.1', 'login', 'ip', 10, 60 ],
        signin_expire => [ 900 ],
        signin_sweep => [],
        oauth_sweep => [ 2_000_000_000 ],   # t/anomaly_sweep.t tests a full round
        oauth_expire => [],
        passkey_tenant => [ $host, undef, $self->{id} ],
        passkey_user => [ '10.0.0.1', $self->{id}, $who, $passkey ],
        passkey_risk => [ @risk, $who ],
        passkey_check => [ $who, $passkey, 1, $new_hash, '1800000000000' ],
        signin_user_kept => [ $who ],
        passkey_presented => [ $who, $passkey, 1, 'true' ],
        signin_options => [ $base, $host ],
        signin_options_connections => [],
        signin_discover_tenant => [ $host, undef, $email ],
        signin_discover => [ $host, $email ],
        passwordless_begin => [ '10.0.0.1', $email, $mac, $new, 600 ],
        passwordless_open => [ $new, 'sign_in', ($mac16) x 2, ($new_hash) x 2, undef,
                               600, $email ],
        passwordless_user => [ '10.0.0.1', $challenge, undef ],
        passwordless_risk => [ @risk, $challenge, undef ],
        passwordless_check => [ $who, $challenge ],
        ceremony_own => [ $session, $host ],
        stepup_passkey => [ $who, $passkey, 1, 'true', $new_hash,
                            '1800000000000' ],
        stepup_passkey_wrong => [ $who, 'wrong', '10.0.0.1', 'FR' ],
        passkeys_create => [ $who, $new, 'Laptop', $new_hash, 20, $new_hash,
                             '1800000000000', '\x01', '\x01', -7, 'x.test', 0,
                             'false', 'false', 0, '\x00' ],
        admin_sessions_total => [ $session, 1800 ],
        admin_sessions_list => [ $session, 1800, @page ],
        admin_session_end => [ $session, $self->id($SESSION, $WHO + 100) ],
        admin_sessions_lock => [ $session ],
        admin_sessions_revoke => [ $session, 1800 ],

        admin_tenant => [ 'https://x' ],
        admin_tenant_patch => [ 'https://x', '{"branding":{"bg":"red"}}',
                                'Name', undef, 16384 ],
        admin_logo_put => [ 'https://x', '\x00', 'image/png', undef ],
        admin_logo_delete => [ 'https://x', undef ],
        public_branding => [ 'https://x', "d1.$self->{slug}.test" ],
        public_logo => [ $self->{slug} ],

        admin_tokens_list => [ 'token7', @page ],
        admin_tokens_total => [ 'token7' ],
        admin_tokens_lock => [],
        admin_tokens_create => [ '\x' . '00' x 32, $new, 'new', 'svc_',
                                 '{users:view}', undef, undef, 1000 ],
        admin_tokens_revoke => [ $self->id($TOKEN, 500) ],
        admin_tokens_get => [ $self->id($TOKEN, 500) ],

        admin_ldap => [],
        admin_ldap_put => [ $ldap, '{"url":"url","bind_password":"bindPassword"}', undef, $new,
                            '\x00', 'true', undef ],
        admin_ldap_lock => [],
        admin_ldap_delete => [],
        ldap_directory => [],
        admin_saml => [ 'https://x' ],
        admin_saml_put => [ $saml, '{"idp_entity_id":"idpEntityId"}', 'false', 'true',
                            undef ],
        admin_connections_lock => [],
        admin_connection_judge => [ $ldap, 'true' ],
        admin_saml_idp => [ 'https://x' ],
        admin_saml_idp_key => [ $new, '\x00', 'x' ],
        admin_saml_apps_lock => [],
        admin_saml_apps_create => [ $new, 'x', 'https://new.test', 'https://x', 1000 ],
        admin_saml_apps_get => [ $new ],
        admin_saml_apps_patch => [ $new, 'x', 'https://new.test', 'https://x', undef ],
        admin_saml_apps_delete => [ $new ],
        admin_social_list => [ @page, 'https://x' ],
        admin_social_get => [ 'google', 'https://x' ],
        admin_social_total => [],
        admin_social_judge => [ 'oidc', 'true', $social, 'true', 20, undef ],
        admin_social_put => [ 'oidc', 'true', $social, '{"client_id":"clientId"}', 'false',
                              'false', $new, '\x00', 'true' ],
        admin_social_delete => [ 'google' ],
        admin_scim_tokens_list => [ 'token7', @page ],
        admin_scim_tokens_total => [ 'token7' ],
        admin_scim_tokens_lock => [],
        admin_scim_tokens_create => [ '\x' . '00' x 32, $new, 'new', 'scim_', 1000,
                                      'https://x' ],
        admin_scim_tokens_revoke => [ $self->id($TOKEN, 500) ],
        admin_scim_tokens_get => [ $self->id($TOKEN, 500) ],

        admin_users_list => [ 'user 77', 'active', @page ],
        admin_users_find => [ 'user 77', $user, 'active', 'role1', 'true', 'true',
                              $member, @page ],
        admin_users_get => [ $user ],
        admin_user_put => [ $user, 'true', "new\@$self->{slug}.test",
                            ('true', 'text') x 6, $base, undef ],
        admin_user_put_get => [ $user ],
        admin_user_put_profile => [ $user, '127.0.0.1', 'agent',
                                    ('true', 'text') x 6, 'request', undef ],
        ( map { $_ => [ $owner ] } qw(admin_user_suspend admin_user_delete
                                      admin_user_logout) ),
        admin_user_reactivate => [ $self->id($USER, 9) ],
        admin_user_unlock => [ undef, "user$HALF\@$self->{slug}.test", 900 ],
        ( map { $_ => [ $owner ] } qw(admin_user_lock admin_user_put_lock
                                      admin_user_owners_lock) ),
        ( map { $_ => [ $user ] } qw(admin_user_groups_lock admin_user_groups_total
                                     admin_user_factors_total) ),
        ( map { $_ => [ $user, @page ] } qw(admin_user_groups_list admin_user_factors_list) ),
        admin_user_sessions_total => [ $who, 1800 ],
        admin_user_sessions_list => [ $who, 1800, @page ],
        admin_user_session_end => [ $who, $self->id($SESSION, $WHO) ],
        admin_user_reset_mfa => [ $user, $base ],
        password_link_address => [ $user ],
        password_link => [ $user, 'ada@acme.test', $new_hash, 5, $base ],
        admin_tenant_members_list => [ 'user 7', 'active', 'member', @page ],
        admin_tenant_members_get => [ $user ],
        admin_tenant_members_put => [ $owner, 'role900', undef ],
        admin_tenant_members_remove => [ $owner ],
        admin_names_users => [ 'user 77', $self->array($USER, 1, 20), 20 ],
        admin_names_groups => [ 'group7', $self->array($GROUP, 1, 20), 20 ],
        admin_names_roles => [ 'role7', '{owner,role1}', 20 ],
        admin_names_applications => [ 'app', "{$first_app}", 20 ],
        admin_invitations_total => [ 'in7', 'expired' ],
        admin_invitations_list => [ 'in7', 'accepted', @page ],
        admin_invitations_expire => [ "in1\@$self->{slug}.test" ],
        admin_invitations_create => [ $new, $new_hash, "new\@$self->{slug}.test",
                                      'role900', $self->array($GROUP, 1, 100), 7,
                                      $base ],
        admin_invitations_resend => [ $invitation, $new_hash, $base ],
        admin_invitations_revoke => [ $invitation ],
        admin_invitations_get => [ $invitation ],
        invitation_tenant => [ $host, $self->{slug}, $in ],
        invitation_lookup => [ $in ],
        invitation_read => [ '127.0.0.1', $in, 'Name' ],
        ( map { $_ => [ $in ] } qw(invitation_lock invitation_groups) ),
        invitation_user => [ $new, 'Name', 'full', $in ],
        email_challenge_lock => [ $mac16 ],
        email_challenge_tenant => [ $host, $self->{slug}, $challenge, undef ],
        email_challenge_try => [ $challenge, undef, 'sign_in', 5, $new_hash ],
        email_challenge_use => [ $challenge ],
        account_password => [ $self->id($USER, $NEWEST), '\x01' ],
        account_proved => [ $new_hash ],
        signup_read => [ '127.0.0.1', $email, 'Name' ],
        signup_open => [ $new, 'signup', $mac16, $mac16, $new_hash, $new_hash, '\x00',
                         600, $email ],
        signup_allowed => [ '127.0.0.1' ],
        signup_user => [ $new, 'Name', 'full', "new\@$self->{slug}.test", 'true' ],
        organization_read => [ 'new', $email, undef, 'New' ],
        organization_open => [ $new, 'new', $mac16, $mac16, $new_hash, $new_hash, '\x00',
                               600, 10000, 'New' ],
        organization_try => [ $new, undef, 5, $new_hash ],
        organization_create => [ $new, $new, 'New', @client ],
        organization_user => [ $new, 'Name', 'full', "new\@$self->{slug}.test" ],
        admin_identities_list => [ undef, undef, @page, undef ],

        admin_groups_list => [ 'group7', @page ],
        admin_groups_total => [ 'group7' ],
        admin_groups_get => [ $plain ],
        admin_groups_lock => [],
        admin_groups_create => [ $new, 'new', undef, $N + 1 ],
        admin_groups_put => [ $plain, 'true', 'new', 'true', 'text', undef ],
        admin_groups_delete => [ $member ],
        admin_members_lock => [ $member ],
        admin_members_find => [ $member, $self->array($USER, 1, 10),
                                ('{' . join(',', map { "user$_\@$self->{slug}.test" } 1 .. 1000)
                                 . '}') x 2, 'false' ],
        admin_members_change => [ $member, $self->array($USER, 1, 1000),
                                  'true' ],
        admin_members_remove => [ $member, $user ],
        admin_members_total => [ $member ],
        admin_members_list => [ $member, @page ],

        admin_applications_total => [ 'pp77', 'web', 'true' ],
        admin_applications_list => [ 'pp77', 'web', 'true', @page ],
        ( map { $_ => [ $self->{apps}[0] ] } qw(admin_applications_get
                                                admin_applications_delete
                                                admin_application_lock) ),
        admin_application_groups => [ $self->{apps}[0] ],
        admin_application_consents_total => [ $self->{apps}[1], 10000 ],
        admin_application_consents => [ $self->{apps}[1], @page ],
        admin_application_usage => [ $self->{apps}[1], 90, 10000 ],
        admin_application_groups_total => [ $self->{apps}[1] ],
        admin_application_groups_list => [ $self->{apps}[1], @page ],
        admin_application_targets => [],
        admin_applications_lock => [],
        admin_applications_create => [ 'app_' . 'f' x 32, 'new', 'web', undef, undef,
                                       '{"https://x.test/"}', '{"b","a"}', undef,
                                       'urn:new', 'urn:new', undef, undef, undef, undef,
                                       undef, '{web}', $new_hash, '\x' . '01' x 32,
                                       '{web}', $N + 1, '{"signingAlg": "RS256"}',
                                       'urn:x', 'urn:x' ],
        admin_applications_patch => [ $self->{apps}[0], 'new', undef, 'false', undef,
                                      '{"https://x.test/"}', '{"b","a"}', undef, 'urn:new',
                                      'urn:new', 'opaque', 60, 'false', 'true', '{web}',
                                      '{web}', undef,
                                      '{"signingAlg": "RS256", "resourceUri": "urn:new",'
                                      . ' "defaultResourceUri": "urn:x"}',
                                      'urn:x', 'urn:x' ],
        admin_secrets_expire => [ $self->{apps}[0], 90, 100 ],
        ( map { $_ => [ $app_login ] } qw(oauth_login oauth_login_async) ),
        oauth_tenant => [ $self->{id} ],
        ( map { $_ => [ $app_login, $self->{slug} ] } qw(oauth_login_pinned
                                                         oauth_login_async_pinned) ),
        oauth_login_any => [ $app_login, $self->{slug}, 'agent', $self->{apps}[0],
                             '192.0.2.1', 'agent', 'x' ],
        oauth_own => [ $self->{apps}[0] ],
        oauth_own_wider => [ $self->{apps}[0], 'urn:x' ],
        oauth_own_opaque => [ $self->{apps}[0], 'false', $self->{apps}[1], @shown ],
        ( map { $_ => [ $self->{apps}[0], 'false', $self->{apps}[1], @shown,
                        "$self->{slug}-key1", 'true' ] } qw(oauth_own_jwt oauth_own_agent) ),
        oauth_kept => [ "{$self->{id}}", "{$new}", "{$shown[1]}", "{$self->{apps}[0]}",
                        '{read}', '{NULL}', '{NULL}', '{"\\\\x01"}', '{NULL}', '{NULL}',
                        '{60}', '{192.0.2.1}', '{FR}' ],
        oauth_kept_row => [ $self->{apps}[0], $new, $shown[1], 'read', undef, undef, '\x01',
                            undef, undef, 60, $self->{id}, '192.0.2.1', 'FR' ],
        oauth_key_sealed => [ "$self->{slug}-key1" ],
        oauth_key_first => [ 'new', '{}', '\x00' ],
        oauth_key_first_rsa => [ 'new', '{}', '\x00', 'new ec', '{}', '\x00' ],
        oauth_alg => [ $self->{apps}[0] ],
        oauth_rotate_keys => [ '[]' ],
        oauth_metadata => [ $self->{slug} ],
        oauth_jwks => [ $self->{slug} ],
        oauth_once => [ '\x00', '130', $self->{apps}[0], 'false' ],
        ( map { $_ => [ '\x00', '130', $self->{apps}[0], 'false', '\x01' ] }
              qw(oauth_once_assertion oauth_once_only) ),
        oauth_client_keys => [ $self->{apps}[0] ],
        published_tenant => [ $self->{id} ],
        oauth_jwks_claim => [ $self->{apps}[0] ],
        oauth_jwks_take => [],
        oauth_jwks_store => [ $self->{apps}[0], '2026-01-01', '{"keys": []}', 3600 ],
        oauth_jwks_failed => [ $self->{apps}[0], '2026-01-01', 'x' ],
        oauth_once_token => [ '\x00', '130', @shown, '\x00', $x_hash, undef ],
        oauth_key_public => [ "$self->{slug}-key1" ],
        oauth_logout => [ $self->{apps}[0], 'https://x.test/', $session ],
        oauth_introspect_opaque => [ $self->{apps}[0], @shown, $x_hash, undef ],
        ( map { $_ => [ $self->{apps}[0], @shown, $x_hash, undef, 'true' ] }
              qw(oauth_introspect_jwt oauth_introspect_owners) ),
        oauth_introspect_none => [ $self->{apps}[0], 'false' ],
        oauth_introspect_refresh => [ $self->{apps}[0], $refresh, 'false' ],
        oauth_granted_client => [ $granted ],
        oauth_code_read => [ $granted, $code, undef, '\x' . unpack('H*', 'x'), undef ],
        oauth_code_read_wider => [ $granted, $code, undef, '\x' . unpack('H*', 'x'), undef,
                                   'urn:x' ],
        ( map { $_ => [ @give_code, @next ] } qw(oauth_code oauth_code_told) ),
        oauth_code_agent => [ @give_code, @next, @journal ],
        oauth_code_spend => [ $code ],
        oauth_refresh_read => [ $granted, $refreshed, undef ],
        oauth_refresh_read_wider => [ $granted, $refreshed, undef, '{}', 'urn:x' ],
        ( map { $_ => [ @give_refresh, @next ] } qw(oauth_refresh oauth_refresh_told) ),
        oauth_refresh_agent => [ @give_refresh, @next, @journal ],
        oauth_refresh_again => [ @give_refresh, $new_hash ],
        oauth_refresh_again_agent => [ @give_refresh, $new_hash, @journal ],
        oauth_refresh_kept => [ @give_kept ],
        oauth_refresh_kept_agent => [ @give_kept, @journal ],
        oauth_granted_revoke => [ $self->id($GRANT, 510), $granted, 'code_replayed', @client ],
        oauth_claims => [ $self->id($USER, $WHO) ],
        oauth_claims_groups => [ $self->id($USER, $WHO), $self->{apps}[0] ],
        oauth_userinfo_tenant => [ undef, "$self->{slug}-key1" ],
        oauth_userinfo => [ undef, @shown, $x_hash, undef, 'false', undef ],
        oauth_revoke => [ $first_app, 'false', @shown, $x_hash, undef, undef ],
        oauth_revoke_children => [ $first_app, @shown, $x_hash, undef, undef ],
        oauth_revoke_grant => [ $first_app, 'false', $refresh ],
        oauth_exchange_token => [ @exchange[0 .. 4] ],
        oauth_exchange_token_jwt => [ @exchange ],
        oauth_exchange_read => [ @exchange[0, 2] ],
        oauth_exchange_read_wider => [ @exchange[0 .. 4], 'urn:x', $self->{apps}[2] ],
        oauth_exchange_acting => [ $self->{apps}[1], $self->exchanged(2), @exchanged[1, 3], undef,
                                   'false' ],
        oauth_exchange => [ $shown[1], $new, $self->{apps}[1], $self->id($USER, 510), undef,
            $self->exchanged(1), $self->exchanged(1), "@two", "@two", 'read', undef, undef,
            $x_hash, undef, undef, 60, '192.0.2.1', 'FR', 'agent', $self->id($USER, 510),
            'urn:x', 'request', '{' . join(',', @two) . '}',
            '{' . join(',', map { '"' . ($self->place(application => client_id => $_) // '(0,1)')
                                  . '"' } @two) . '}',
            '{' . join(',', map { $self->version(application => client_id => $_) // 1 } @two)
            . '}' ],
        oauth_delegation_refused => [ $new, $self->{apps}[1], $who, $who,
            "$self->{apps}[1] $self->{apps}[0]", 'x', 'urn:x', '{"read"}', 'agent_disabled',
            $self->exchanged(1), $self->exchanged(1), undef, '192.0.2.1', 'FR', 'request' ],
        oauth_authorize => [ @request, '\x' . '02' x 32, 'n', undef, 'false' ],
        oauth_authorize_pushed => [ @pushed, '\x' . '02' x 32, 'n', undef, 'false' ],
        oauth_authorize_create => [ @request ],
        oauth_par => [ @asked, $new_hash, 'false', 'a=b', undef, 'false', undef ],
        oauth_par_read => [ $par, $asking, $x_hash ],
        oauth_par_open => [ $par, $asking, $x_hash ],
        oauth_par_spend => [ $par ],
        admin_authorization => [ @request, 'false' ],
        admin_authorization_decide => [ @request, '\x' . '02' x 32, 'n', undef,
                                        'approve', $self->id($USER, $WHO), '{openid}', '{}' ],
        admin_authorization_decide_pushed => [ @pushed, '\x' . '02' x 32, 'n', undef, 'approve',
                                               $self->id($USER, $WHO), '{openid}', '{}' ],
        admin_consents_total => [ $session ],
        admin_consents_list => [ $session, @page ],
        admin_consent_delete => [ $session, $self->{apps}[0] ],
        admin_consent_grants => [ $session, $self->{apps}[0] ],
        oauth_anomaly => [ $self->{apps}[0], 'scope_denied', '{"ip":"192.0.2.1"}' ],
        admin_secrets_rotate => [ $self->{apps}[0], $new_hash, 60 ],
        admin_secrets_rotate => [ $self->{apps}[0], $new_hash, 60, 'true', undef ],
        admin_secrets_cut => [ $self->{apps}[0] ],
        admin_applications_cut => [ $self->{apps}[0] ],
        admin_agents_list => [ 'pp', 'active', undef, @page ],
        ( map { $_ => [ $agent ] } qw(admin_agent_get) ),
        admin_agent_policy_put => [ $agent, 'false', 'true', 60, 'true', '{"a"}', 'true',
                                    '{"urn:x"}', '{"urn:x"}', undef ],
        admin_agent_policy_reset => [ $agent, undef ],
        admin_agent_simulate => [ $agent, undef, 'true', 60, 'true', '{"a"}', 'false',
                                  undef, 'http://x/oauth/t/', 30, 10000, 100 ],
        admin_agent_identity_put => [ $agent, 'true', $user, 'true', '4102444800000',
                                      undef ],
        admin_agent_review => [ $agent, 'note' ],
        admin_agent_settings => [],
        admin_agent_settings_lock => [],
        admin_agent_settings_put => [ 'none', 72, 2, 3, undef ],
        admin_oauth_settings => [],
        admin_oauth_settings_lock => [],
        admin_oauth_settings_put => [ 'false', undef, 'false', undef, 'true', 99, undef ],
        admin_anomalies_total => [ 'app7', 'low', undef ],
        admin_anomalies_list => [ 'app7', 'low', undef, @page ],
        ( map { $_ => [ $row ] } qw(admin_anomaly_lock admin_anomaly_ack) ),
        ( map { $_->[0] => [ @$_[1 .. 5], (undef) x 3, @page ] }
              [ admin_delegations_all => (undef) x 5 ],
              [ admin_delegations_client => $agent, (undef) x 4 ],
              [ admin_delegations_user => undef, $user, (undef) x 3 ],
              [ admin_delegations_chain => (undef) x 2, $agent, (undef) x 2 ],
              [ admin_delegations_token => (undef) x 3, $row, undef ],
              [ admin_delegations_root => (undef) x 4, $row ] ),
        admin_group_apps_serialize => [],
        admin_group_apps_lock => [ $member ],
        admin_group_apps_lock_them => [ $clients ],
        admin_group_apps_change => [ $member, $clients, 'true' ],
        admin_group_apps_remove => [ $member, $self->{apps}[0] ],
        admin_group_apps_total => [ $member ],
        admin_group_apps_list => [ $member, @page ],

        admin_governance_lock => [],
        admin_ip_blocks_total => [ '10.0.7', undef ],
        admin_ip_blocks_list => [ '10.0.7.0/24', '10.0.7.0/24', @page ],
        admin_ip_blocks_lock => [],
        admin_ip_blocks_expire => [ '10.0.0.7' ],
        admin_ip_blocks_create => [ '192.0.2.1', 'text', undef, $N + 1 ],
        admin_ip_blocks_get => [ '10.0.0.8' ],
        admin_ip_blocks_delete => [ '10.0.0.8' ],
        admin_incidents_total => [ 'title', 'true' ],
        admin_incidents_list => [ 'title', undef, @page ],
        ( map { $_ => [ $self->id($SESSION, 500) ] } qw(admin_incident_get admin_incident_lock
                                                        admin_incident_ack) ),
        admin_security_stats => [ 90 ],
        admin_growth_stats => [ 90 ],
        admin_domains_total => [ 'd7', undef ],
        admin_domains_list => [ 'd7', 'd7.acme.test', @page ],
        admin_domains_lock => [],
        admin_domains_create => [ 'new.example', 'a' x 43, 101 ],
        admin_domains_delete => [ 'd2.acme.test' ],
        admin_domain_read => [ 'd3.acme.test' ],
        admin_domain_sign_in_lock => [],
        admin_domain_sign_in => [ 'd3.acme.test', 'saml', 'true', 'true', 'localhost', $session ],
        admin_domain_verify => [ 'd4.acme.test', 'a' x 43 ],
        admin_risk_policy => [],
        admin_risk_policy_put => [ 'true', 50, 90, '{1}' ],
        admin_password_policy => [],
        admin_password_policy_put => [ @policy, '{1}' ],
        admin_overrides_list => [ @page ],
        admin_overrides_total => [],
        admin_overrides_create => [ @policy, $plain ],
        admin_overrides_get => [ $with ],
        admin_overrides_put => [ @policy, $with, undef ],
        admin_overrides_delete => [ $with ],
        admin_roles_list => [ @page ],
        admin_roles_total => [],
        admin_roles_create => [ 'new', 'New', '{users:view}', 'false',
                                $ROLES + 1 ],
        admin_roles_get => [ 'role900' ],
        admin_roles_put => [ 'role900', 'New', '{users:view}', undef ],
        admin_roles_delete => [ 'role900' ],
        admin_bundle => [ $self->array($GROUP, 1, $HALF) ],
        admin_config_apply => [ 2, '{}', $new, '{1,40,80}',
                                '{12,1,1,0,0,0,0,5,0}', $self->changes, 50 ],

        admin_access_get => [],
        admin_access_read => [ '{50}' ],
        admin_access_store => [ $policy, 50, 50 ],
        admin_access_restore => [ $policy, 50, 50, $self->id($VERSION, 25) ],
        admin_access_version => [ $self->id($VERSION, 25), undef ],
        admin_access_versions => [ @page, undef, 262144 ],
        admin_access_version_get => [ $self->id($VERSION, 25) ],
        admin_access_versions_total => [],
        admin_simulate_policy => [ 30 ],
        admin_simulate_sign_ins => [ 30, 1000 ],

        admin_audit_list => [ @no_filter, @page ],
        admin_audit_get => [ $self->first_event ],
        admin_audit_export_count => [ @no_filter, $N ],
        admin_audit_export_audit => [ 'csv', 'false' ],
        admin_audit_export_page => [ @no_filter, 'now', 0, 1000 ],
        admin_audit_follow => [ (undef) x 6, 0, 0, '-infinity', '1:1:', 0, 0 ],
        admin_audit_follow_renew => [ $self->id($STREAM, 7), 60 ],
        admin_audit_stream_lock => [],
        admin_audit_stream_open => [ $new, 10, 60 ],
        admin_audit_stream_resume => [ (undef) x 6, $self->first_event,
                                       1000, 100_000 ],
        admin_audit_stream_close => [ $self->id($STREAM, 7) ],
        admin_audit_stream_end => [ $self->{id}, $self->id($STREAM, 7) ],

        push_list => [ 'x.test', @page ],
        push_total => [ 'x.test' ],
        push_get => [ $target ],
        push_lock => [],
        push_create => [ $new, $self->{apps}[1], 'new', 'https://new.test', '\x00', 'true',
                         51 ],
        push_put => [ $target, undef, 'new', 'https://new.test', '\x00', 'false',
                      undef ],
        push_delete => [ $target ],
        push_users_total => [ $target, 'error' ],
        push_users => [ $target, 'error', @page ],
        push_user => [ $target, $user ],
        push_user_sync => [ $target, $user ],
        push_sync => [ $target, $new, 'true' ],
        push_test => [ $target, $new, 15 ],
        push_test_look => [ $target, $new ],
        push_claim => [ '0' x 32, 0, 9 ],
        push_release => [ '0' x 32, "{$target}" ],
        push_poll => [ $target, 'h' ],
        push_log => [ $target, 'h', 0, $self->first_event, 'now' ],
        push_begin => [ $target, 'h' ],
        push_follow => [ $target, 'h', 0, $self->first_event, 'now' ],
        push_look => [ $target, 'h' ],
        push_plan => [],
        push_take => [ $target, 'h', 32, "{$new}", 'true' ],
        push_record => [ $target, 'h', qq([{"id":"$new","rev":1,"done":true,)
                         . '"failed":false,"gone":false,"active":true,"tries":1,'
                         . '"delay":0}]', 1 ],
        push_owner => [ $target, 'h', $new ],
        push_match => [ $target, 'h',
                        qq([{"number":0,"external":"$new","remote":"r"},)
                        . '{"number":1,"name":"nobody@x.test","remote":"s"}]' ],
        push_listed => [ $target, 'h', qq([{"id":"$new","rev":1,"remote":"r",)
                         . '"hash":"00","active":true}]', 1, 101 ],
        push_state => [ $target, 'h', 1000, 1, 'error', 1, 'true' ],
        push_config => [ $target, 'h', 'true', 'true', 1 ],
        push_tested => [ $target, 'h', $new, 200, 'true', undef, 1 ],
        push_hold => [ $target, 'h', 30, 40 ],
        push_keep => [ $target, 'h', 0, 1 ],
        push_count => [ $target, 'h', 'false' ],

        webhook_list => [ 'x.test', @page ],
        webhook_total => [ 'x.test' ],
        webhook_get => [ $hook ],
        webhook_lock => [],
        webhook_create => [ $new, 'https://x.test/', '{user.created}', 'true',
                            '\x00', $HOOKS + 1 ],
        webhook_patch => [ $hook, undef, '{user.deleted}', 'false', undef ],
        webhook_delete => [ $hook ],
        webhook_attempts => [ $hook, @page ],
        webhook_attempts_total => [ $hook ],
        webhook_redeliver => [ $hook, 'd49', 20000 ],
        webhook_test => [ $hook, 'id' ],
        helper_tenant => [ $self->{id}, 'true' ],
        webhook_endpoints => [],
        webhook_record => [ $self->attempts ],
        mail_failed => [ 'a@b', '1', 'reset', 'failed', 0, 4 ],
        webhook_trim => [ $self->array($HOOK, 1, $HOOKS) ],
        webhook_expire => [],
        webhook_done_expire => [],
        webhook_note => [ "{$self->{id},$self->{id}}", "{$new,$target}" ],
        webhook_outbox_take => [ 8 ],
        webhook_outbox_rest => [],
        webhook_outbox_due => [ 5000 ],
        webhook_outbox_look => [ 5000 ],
        admin_user_index => [],
        logout_take => [ 64, '{}', '{}' ],
        logout_done => [ $self->{apps}[0], $new ],
        logout_again => [ $self->{apps}[0], $new, 'true' ],
    };
}


sub first_event {
    my ($self) = @_;

    return scalar $self->{s}->sql('SELECT min(id) FROM svc.audit_event'
                                  . " WHERE tenant_id = '$self->{id}'");
}


# Returns statements after which the triggers of users, groups, roles and
# sign-ins have planned their own statements.

sub first_changes {
    my ($self) = @_;

    my ($user, $group) = ($self->id($USER, 1), $self->id($GROUP, 1));
    my $t = "'$self->{id}'";

    return (<<"EOT" =~ /\S[^;]*/g);
INSERT INTO svc.role (tenant_id, key, name, permissions)
VALUES ($t, 'role1', 'Role', '{}');
INSERT INTO svc.user_account (tenant_id, id, user_name, role)
VALUES ($t, '$user', 'user1', 'role1');
UPDATE svc.user_account SET status = 'suspended', role = 'member';
INSERT INTO svc.user_group (tenant_id, id, name) VALUES ($t, '$group', 'group1');
INSERT INTO svc.group_member (tenant_id, group_id, user_id)
VALUES ($t, '$group', '$user');
INSERT INTO svc.sign_in (tenant_id, at, user_id, ip)
VALUES ($t, now(), '$user', '10.0.0.1');
INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)
VALUES ($t, '$user', '$user', 'passkey', 'Laptop', now());
UPDATE svc.factor SET confirmed_at = NULL;
DELETE FROM svc.factor;
SELECT svc.sign_in_expire(1000, 900);
INSERT INTO svc.sign_in_event (tenant_id, at, kind, user_id, ip, network, locked, active)
VALUES ($t, now(), 'success', '$user', '10.0.0.1', '10.0.0.0/24', true, true);
SELECT svc.sign_in_sweep(1000);
INSERT INTO svc.application (tenant_id, client_id, name, type, enabled, assignment,
                             redirect_uris, scopes, grant_types, auth_method,
                             access_token_format, access_token_ttl, require_consent,
                             require_dpop, owner_id)
VALUES ($t, 'x', 'x', 'agent', true, 'everyone', '{}', '{}', '{}', 'none', 'jwt', 60,
        true, true, '$user');
INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)
VALUES (sha256('x'), $t, 'x', 'id');
INSERT INTO svc.group_app (tenant_id, client_id, group_id) VALUES ($t, 'x', '$group');
INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals, grant_type,
                             scopes, ttl)
VALUES ($t, '$user', now(), 'x', '{x}', 'x', '{}', 60);
DELETE FROM svc.user_account;
DELETE FROM svc.application;
DELETE FROM svc.user_group;
DELETE FROM svc.role
EOT
}


sub owner {
    my ($self) = @_;

    return $self->id($USER, 1);
}

1;
