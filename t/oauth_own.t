#!/usr/bin/perl

# Shows clients' own tokens, which contain all that is needed of them: opaque ones,
# and rows that are stored after the answer, or are lost.

use strict;
use warnings;

use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::OAuth qw(oauth_server application form oauth_error claims exchange basic
                      $EXCHANGE $ACCESS_TOKEN);
use SvcTest::Process qw(alive signal_pid slurp wait_for write_file);


my $s = oauth_server(workers => 1, server => $SvcTest::Metrics::LOCATION)->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;

my %GRANTS = (grantTypes => [ 'client_credentials', $EXCHANGE ]);

my $opaque = application($acme, name => 'Opaque', scopes => [ qw(a b) ],
                         accessTokenFormat => 'opaque', resourceUri => 'https://opaque.test/',
                         %GRANTS);
my $jwt = application($acme, name => 'JWT', scopes => [ qw(a b) ],
                      resourceUri => 'https://jwt.test/', %GRANTS);
my $agent = application($acme, name => 'Agent', type => 'agent', scopes => [ qw(a b) ],
                        accessTokenFormat => 'opaque', resourceUri => 'https://agent.test/');
my $theirs = application($globex, name => 'Theirs', scopes => [ 'a' ],
                         accessTokenFormat => 'opaque');

sub token {
    my ($client, %fields) = @_;
    my $r = form($s, token => { grant_type => 'client_credentials', %fields },
                 client => $client);

    $r->status == 200 or die $r->body;
    $s->secret($r->json->{access_token}) if $r->json->{access_token} =~ /^sat_/;

    return $r->json->{access_token};
}

sub introspect {
    my ($token, $client) = @_;

    return form($s, introspect => { token => $token }, client => $client // $opaque)->json;
}

sub lives {
    my ($token, $name, $client) = @_;

    return ok(introspect($token, $client)->{active}, $name);
}

sub dead {
    my ($token, $name, $client) = @_;

    return is_deeply(introspect($token, $client), { active => JSON::PP::false }, $name);
}

sub set {
    my ($app, $set) = @_;

    $s->sql("UPDATE svc.application SET $set WHERE client_id = '$app->{clientId}'");
}

sub stored { return scalar $s->sql('SELECT count(*) FROM svc.oauth_token') }

sub worker { return ($s->workers)[0] }


# --- what is sealed in a token ----------------------------------------------------------

my $o = token($opaque);

like($o, qr/\Asat_[\w-]{87,396}\z/, 'an opaque one is of one line');
is(introspect($o)->{scope}, 'a b', 'and says its scopes');
isnt(token($opaque), $o, 'each is another one');

my $bytes = decode_base64url(substr $o, 4);
my @wrong = grep {
    my $altered = $bytes;

    vec($altered, $_, 1) ^= 1;
    introspect('sat_' . encode_base64url($altered))->{active};
} 0 .. 8 * length($bytes) - 1;

is_deeply(\@wrong, [], 'no bit of it can be another');
dead(substr($o, 0, -1), 'one character less');
dead($o . 'A', 'one more');
dead($o . '=', 'or padding');
dead('sat_' . 'A' x 396, 'what is as long as can be');
dead('sat_' . 'A' x 397, 'and longer');

my $t = token($theirs);

dead($t, 'of another tenant');
lives($t, 'to its own client', $theirs);

# Another tenant, or another client, does not take what is sealed.

my ($mine, $other) = map { decode_base64url(substr $_, 4) } $o, $t;

dead('sat_' . encode_base64url(substr($mine, 0, 17) . substr $other, 17),
     'a tenant that was put in front of it');
dead('sat_' . encode_base64url(substr($other, 0, 34) . substr $mine, 34), 'or all in front');


# Tokens for a resource, and of an agent; oauth_dpop.t has those with a key.

$t = token($opaque, resource => 'HTTPS://jwt.test');
is(introspect($t, $jwt)->{aud}, 'https://jwt.test/', 'for a resource');
dead($t, 'which another one does not see', $agent);

$t = token($agent);
is(introspect($t)->{client_id}, $agent->{clientId}, 'of an agent');
is(introspect($t)->{sub}, $agent->{clientId}, 'for itself');

set($agent, "allowed_audiences = '{https://agent.test/}',"
            . " allowed_audience_keys = '{https://agent.test/}'");
dead($t, 'its ceiling has no issuer');
is(introspect(token($agent), $agent)->{aud}, 'https://agent.test/', 'the only one there is');
set($agent, 'allowed_audiences = NULL, allowed_audience_keys = NULL');


# A token that would be too long has a row, which is stored before the answer.

my @many = map { sprintf 'scope%03d:abcdefghij', $_ } 1 .. 20;
my $long = application($acme, name => 'Long', scopes => \@many, accessTokenFormat => 'opaque');

$t = token($long);
like($t, qr/\Asat_[\w-]{86}\z/, 'one that is too long is looked up');
is($s->sql("SELECT count(*) FROM svc.oauth_token WHERE client_id = '$long->{clientId}'"), 1,
   'in its row');
is(introspect($t, $long)->{scope}, "@many", 'with all of its scopes');
is(form($s, revoke => { token => $t }, client => $long)->status, 200, 'it can be revoked');
dead($t, 'and is', $long);


# --- userinfo ---------------------------------------------------------------------------

for my $client ($opaque, $jwt) {
    my $r = $s->http(GET => '/oauth/userinfo', [ Authorization => 'Bearer ' . token($client) ]);

    is($r->status, 403, "$client->{name}: no user is in it");
    like($r->header('www-authenticate'), qr/insufficient_scope/, 'which is said');

    $r = $s->http(GET => '/oauth/userinfo', [
        Authorization => 'Bearer ' . token($client, resource => 'https://agent.test/') ]);
    is($r->status, 401, 'one for a resource is refused');

    my $dead = token_of_before($client);
    $r = $s->http(GET => '/oauth/userinfo', [ Authorization => "Bearer $dead" ]);
    is($r->status, 401, 'and one that is dead');
}

sub token_of_before {
    my ($client) = @_;

    my $token = token($client);

    set($client, 'tokens_valid_after = now()');

    return $token;
}


# --- rows that are lost -----------------------------------------------------------------

# Locks the table, so that nothing gets into it. What waits for it ends with the
# worker: the rows are lost.

my $holder;

sub hold {
    $holder = $s->pg->connect('postgres', 'svc');
    $holder->query('BEGIN');
    $holder->query('LOCK TABLE svc.oauth_token IN EXCLUSIVE MODE');

    return;
}

sub lost {
    my $old = worker();

    wait_for { $s->sql('SELECT count(*) FROM pg_locks WHERE NOT granted') > 0 };
    signal_pid(KILL => $old);
    wait_for { !alive($old) && worker() && worker() != $old };
    wait_for {
        $s->sql('SELECT count(pg_terminate_backend(l.pid)) FROM pg_locks l WHERE NOT granted');
        $s->sql('SELECT count(*) FROM pg_locks WHERE NOT granted') == 0;
    };
    $holder->query('ROLLBACK');

    return;
}

wait_for { stored() == SvcTest::Metrics->get($s)->value('svc_oauth_tokens_total',
               grant => 'client_credentials', outcome => 'issued') };

my $before = stored();

hold();

my %lost = (map({ ("opaque $_" => token($opaque)) } qw(kept revoked chained)),
            map({ ("jwt $_" => token($jwt)) } qw(kept revoked chained)),
            agent => token($agent));

is(stored(), $before, 'they are answered before they are stored');
lost();
is(stored(), $before, 'a worker that is killed loses their rows');

lives($lost{$_}, "$_: lives", /jwt/ ? $jwt : $opaque) for sort keys %lost;

for my $kind (qw(opaque jwt)) {
    my $client = $kind eq 'jwt' ? $jwt : $opaque;

    is(form($s, revoke => { token => $lost{"$kind revoked"} }, client => $client)->status, 200,
       "$kind: revoked");
    dead($lost{"$kind revoked"}, "$kind: and dead", $client);
    is(exchange($s, $client, $lost{"$kind revoked"})->status, 400, 'it is not exchanged');

    # The token is for an agent, which exchanges it.

    my $root = token($client, resource => 'https://agent.test/');
    my $r = exchange($s, $agent, $root, resource => 'https://opaque.test/');

    is($r->status, 200, "$kind: exchanged") or diag($r->body);
    my $child = $r->json->{access_token};
    lives($child, 'that one lives', $agent);
    is(form($s, revoke => { token => $root }, client => $client)->status, 200, 'the first one');
    dead($child, 'is revoked with what came of it', $agent);
}

set($agent, "allowed_scopes = '{a}'");
is(introspect($lost{agent})->{scope}, 'a', 'a ceiling counts');
set($agent, "allowed_scopes = NULL, expires_at = now() - interval '1 ms'");
dead($lost{agent}, 'so does the end of a client');
set($agent, 'expires_at = NULL');
lives($lost{agent}, 'which is put off');
set($agent, 'enabled = false');
dead($lost{agent}, 'and a kill');
set($agent, 'enabled = true, tokens_valid_after = now()');
dead($lost{agent}, 'for good');

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE slug = 'acme'");
oauth_error(form($s, introspect => { token => $lost{'opaque kept'} }, client => $opaque), 401,
            'invalid_client', 'a suspended tenant asks nothing');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE slug = 'acme'");
lives($lost{'opaque kept'}, 'until it goes on');
$s->sql("UPDATE svc.oauth_tenant SET tokens_valid_after = now()"
        . " WHERE tenant_id = '$acme->{id}'");
dead($lost{'opaque kept'}, 'a cut-off of the tenant');
dead($lost{'jwt kept'}, 'of JWTs, too', $jwt);


# PostgreSQL crashes and forgets rows; the worker stores them again.

hold();
$t = token($opaque);
wait_for { $s->sql('SELECT count(*) FROM pg_locks WHERE NOT granted') > 0 };
$s->pg->stop('QUIT');
undef $holder;
is($s->http(GET => '/oauth/userinfo', [ Authorization => 'Bearer sat_' . 'A' x 200 ])->status, 401,
   'without PostgreSQL what was altered is refused');
$s->pg->launch;
ok((wait_for { introspect($t)->{active} }), 'PostgreSQL has crashed: the token lives');
ok((wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token WHERE secret_hash = sha256('$t')")
               == 1 }), 'its row comes later, once');


# A worker that quits stores the rows that it has.

$before = stored();
token($opaque);
$s->reload;
ok((wait_for { stored() == $before + 1 }), 'a reload loses nothing');


# --- too many rows -----------------------------------------------------------------------

my $lost = sub { SvcTest::Metrics->get($s)->value('svc_oauth_token_rows_lost_total') // 0 };
my $MOST = 8192;

$before = stored();
hold();
is($lost->(), 0, 'none is lost yet');

my $c;

for my $n (1 .. $MOST + 8) {
    $c = $s->connection if $n % 500 == 1;

    my $r = $c->request(POST => '/oauth/token', [
        Authorization => basic($opaque),
        'Content-Type' => 'application/x-www-form-urlencoded' ],
        'grant_type=client_credentials') or die "no answer to request $n\n";

    die $r->status if $r->status != 200;
}

is($lost->(), 8, 'what does not fit is counted');
like(join('', $s->nginx->log_lines), qr/rows of 1 tokens are lost: too many wait/, 'and logged');
$holder->query('ROLLBACK');
ok((wait_for { stored() == $before + $MOST }), 'the others are stored');
ok((wait_for { join('', $s->nginx->log_lines) =~ /rows of 7 tokens are lost: they did not fit/ }),
   'and how many more were lost is told when they can be');


# Rows that PostgreSQL refuses do not hold up those behind them.

my $already = $lost->();

$s->sql("ALTER TABLE svc.oauth_token ADD CONSTRAINT token_no"
        . " CHECK (client_id <> '$jwt->{clientId}') NOT VALID");
$t = token($jwt);
ok((wait_for { $lost->() == $already + 1 }), 'a row that is refused is counted');
lives($t, 'its token lives', $jwt);
$before = stored();
token($opaque);
ok((wait_for { stored() == $before + 1 }), 'and the next one is stored');
$s->sql('ALTER TABLE svc.oauth_token DROP CONSTRAINT token_no');


# --- copies of the tenant's columns in applications ----------------------------------------

sub copies {
    return [ map { join ' ', map { $_ // '-' } @$_ } $s->sql(<<'EOT') ];
SELECT DISTINCT client.tenant_slug = tenant.slug
       AND client.tenant_suspended_at IS NOT DISTINCT FROM tenant.suspended_at
       AND client.tenant_valid_after IS NOT DISTINCT FROM settings.tokens_valid_after
       AND client.orphan_action = settings.orphan_action
       AND client.orphan_grace_hours = settings.orphan_grace_hours
       AND client.active_kid IS NOT DISTINCT FROM (
           SELECT signing.kid FROM svc.oauth_key signing
            WHERE signing.tenant_id = tenant.id AND signing.kid = settings.active_kid
              AND signing.revoked_at IS NULL)
       AND client.active_rsa_kid IS NOT DISTINCT FROM (
           SELECT signing.kid FROM svc.oauth_key signing
            WHERE signing.tenant_id = tenant.id AND signing.kid = settings.active_rsa_kid
              AND signing.revoked_at IS NULL)
  FROM svc.application client
  JOIN svc.tenant tenant ON tenant.id = client.tenant_id
  JOIN svc.oauth_tenant settings ON settings.tenant_id = client.tenant_id
EOT
}

my $of_acme = "WHERE tenant_id = '$acme->{id}'";
my $rsa = application($acme, name => 'RSA', signingAlg => 'RS256');

token($rsa);
is_deeply(copies(), ['t'], 'a key of RSA');

for my $change (
    "UPDATE svc.tenant SET slug = 'acme2' WHERE id = '$acme->{id}'",
    "UPDATE svc.tenant SET slug = 'acme' WHERE id = '$acme->{id}'",
    "UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'",
    "UPDATE svc.tenant SET suspended_at = NULL WHERE id = '$acme->{id}'",
    "UPDATE svc.oauth_tenant SET orphan_action = 'disable', orphan_grace_hours = 1 $of_acme",
    "UPDATE svc.oauth_tenant SET tokens_valid_after = now() $of_acme",
    "UPDATE svc.oauth_key SET revoked_at = now() $of_acme")
{
    $s->sql($change);
    is_deeply(copies(), ['t'], $change =~ s/ (?:WHERE|= '[0-9a-f-]{36}').*//sr);
}

application($acme, name => 'New');
is_deeply(copies(), ['t'], 'a new one');
token($jwt);
token($rsa);
is_deeply(copies(), ['t'], 'new keys');

# All columns but generated ones.

my $columns = $s->sql("SELECT string_agg(attname, ', ') FROM pg_attribute WHERE attrelid ="
                      . " 'svc.application'::regclass AND attnum > 0 AND NOT attisdropped"
                      . " AND attgenerated = ''");

# An application is made while its tenant is suspended: either waits for the other.

for my $first (qw(tenant application)) {
    my $one = $s->pg->connect('postgres', 'svc');
    my $two = $s->pg->connect('postgres', 'svc');
    my %statement = (
        tenant => "UPDATE svc.tenant SET suspended_at = now() WHERE slug = 'globex'",
        application => "INSERT INTO svc.application ($columns) SELECT $columns"
            . " FROM (SELECT (jsonb_populate_record(k, jsonb_build_object('client_id',"
            . " 'app_' || md5('$first')))).* FROM svc.application k"
            . " WHERE client_id = '$theirs->{clientId}') r");
    my ($second) = grep { $_ ne $first } sort keys %statement;

    $one->query('BEGIN');
    $one->query($statement{$first});
    $two->begin($statement{$second});
    wait_for { $s->sql('SELECT count(*) FROM pg_locks WHERE NOT granted') > 0 };
    $one->query('COMMIT');
    $two->until_ready;
    is_deeply(copies(), ['t'], "the $first comes first");
    $s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE slug = 'globex'");
}


# --- cut-offs before their commit ----------------------------------------------------------

# The commit waits for an advisory lock.

$s->sql(<<'EOT');
CREATE FUNCTION svc.test_wait() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(4242);
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER test_wait AFTER UPDATE OF tokens_valid_after ON svc.application
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION svc.test_wait();
EOT

sub changing {
    my ($method, $path, $body) = @_;
    my $c = $s->connection(timeout => 60);
    my $waiting = $s->waiting;

    $c->send($c->format($method => "/v1/applications/$path",
        [ Authorization => "Bearer $acme->{apps_token}",
          'Content-Type' => 'application/json' ], $body));
    ok((wait_for { $s->waiting > $waiting }), "$body: waits");

    return $c;
}

for my $format (qw(jwt opaque)) {
    my $app = application($acme, name => 'Cut', scopes => [ 'a' ], accessTokenFormat => $format);
    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query('SELECT pg_advisory_xact_lock(4242)');

    my $off = changing(PATCH => $app->{clientId}, '{"enabled":false}');
    my $on = changing(PATCH => $app->{clientId}, '{"enabled":true}');

    $t = token($app);
    lives($t, "$format: a kill is not committed", $app);
    $holder->query('COMMIT');
    is($_->read->status, 200, "$format: it is") for $off, $on;
    dead($t, "$format: the next one, which waited for it, raises nobody", $app);
    lives(token($app), "$format: it gets new ones", $app);

    $holder->query('BEGIN');
    $holder->query('SELECT pg_advisory_xact_lock(4242)');

    my $rotating = changing(POST => "$app->{clientId}/secret", '{"revokeTokens":true}');

    $t = token($app);
    $holder->query('COMMIT');

    my $r = $rotating->read;

    is($r->status, 200, "$format: a new secret");
    is_deeply([ sort keys %{ $r->json } ],
              [ qw(clientId clientSecret previousValidUntil rotatedAt) ], 'is told');
    $s->secret($r->json->{clientSecret});
    $app->{clientSecret} = $r->json->{clientSecret};
    dead($t, "$format: what the old one got before it was gone is dead", $app);
    lives(token($app), "$format: the new one is good", $app);

    # The client that rotates the secret does not wait for the answer.

    $holder->query('BEGIN');
    $holder->query('SELECT pg_advisory_xact_lock(4242)');

    my $left = changing(POST => "$app->{clientId}/secret",
                        '{"revokeTokens":true,"graceSeconds":60}');

    $t = token($app);
    $left->close;
    $holder->query('COMMIT');
    wait_for { return !introspect($t, $app)->{active} };
    dead($t, "$format: nor is it good when nobody hears of the new one", $app);
}

$s->sql('DROP TRIGGER test_wait ON svc.application');


# --- what older modules revoke ----------------------------------------------------------

$t = token($opaque);
wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token WHERE secret_hash = sha256('$t')") };
$s->sql("UPDATE svc.oauth_token SET revoked_at = now() WHERE secret_hash = sha256('$t')");
dead($t, 'a row that was marked');


# --- another key ------------------------------------------------------------------------

my $keys = $s->{key_file};

$t = token($opaque);
lives($t, 'sealed under the first key');

my $line = slurp($keys);

write_file($keys, 'k2:' . 'ab' x 32 . "\n$line");
$s->reload;
lives($t, 'under the second one');

my $new = token($opaque);
lives($new, 'the next one');

write_file($keys, 'k2:' . 'ab' x 32 . "\n");
$s->reload;
dead($t, 'whose key has gone');
lives($new, 'that one lives');

$s->done(allow => [ qr/worker process \d+ exited on signal 9/ ]);
done_testing();
