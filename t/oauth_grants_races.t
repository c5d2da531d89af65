#!/usr/bin/perl

# Shows codes and refresh tokens with many requests at once, with clients that leave,
# and with a PostgreSQL that is killed before it has answered.

use strict;
use warnings;

use IO::Select;
use Test::More;

use SvcTest;
use SvcTest::Grants qw(code redeem refresh redeeming refreshing $REDIRECT digest);
use SvcTest::OAuth qw(oauth_server application form oauth_error claims);
use SvcTest::Process qw(wait_for);

my $N = 50;

# A request that waits for a lock waits until the last one before it is done.

my %SVC = (svc_postgres_timeout => '60s', svc_postgres_queue_timeout => '60s');

my $s = oauth_server(workers => 2, svc => { %SVC },
                     pg_conf => "synchronous_commit = local\nsynchronous_standby_names = 'nobody'\n")->start;
my $acme = $s->tenant('acme');
my @ALL = qw(openid offline_access);
my $web = application($acme, type => 'web', redirectUris => [ $REDIRECT ],
                      scopes => [ 'openid' ]);
my $agent = application($acme, type => 'agent', redirectUris => [ $REDIRECT ],
                        scopes => [ 'openid' ],
                        grantTypes => [ qw(authorization_code refresh_token) ]);
my $ada = $acme->create(userName => 'ada@acme.test');
my @workers = $s->workers;

# These codes do not expire while a slow machine restarts PostgreSQL.

sub fresh {
    return code($acme, $_[0] // $web, $ada, scopes => \@ALL,
                expires => "now() + interval '1 h'");
}

sub count { return scalar $s->sql("SELECT count(*) FROM svc.$_[0]") }

sub tokens { return count("oauth_token WHERE grant_id = '$_[0]{grant}'") }
sub refreshes { return count("oauth_refresh WHERE grant_id = '$_[0]{grant}'") }
sub used { return count("oauth_code WHERE grant_id = '$_[0]{grant}' AND used_at IS NOT NULL") }

sub reason {
    return $s->sql("SELECT reason FROM svc.oauth_grant WHERE id = '$_[0]{grant}'");
}

sub secret_of {
    my ($r) = @_;
    my $t = $r->json;

    $s->secret($_) for map { $t->{$_} // () } qw(access_token refresh_token id_token);

    return $t;
}

sub active {
    my ($token) = @_;

    return form($s, introspect => { token => $token }, client => $web)->json->{active};
}

redeem($s, $web, fresh());              # the tenant has a key from now on


# --- many at once ----------------------------------------------------------------

for my $app ($web, $agent) {
    my $code = fresh($app);
    my (%status, $t);

    for my $r (map { $_->read } map { redeeming($s, $app, $code) } 1 .. $N) {
        $status{ $r->status . ' ' . ($r->json->{error} // '') }++;
        $t = secret_of($r) if $r->status == 200;
    }

    is_deeply(\%status, { '200 ' => 1, '400 invalid_grant' => $N - 1 }, 'one of them');
    is(tokens($code), 1, 'one token');
    is(refreshes($code), 1, 'one that refreshes');
    is(reason($code), 'code_replayed', 'the others have ended the grant');
    is(count("audit_event WHERE action = 'oauth.grant_revoked' AND target_id ="
             . " '$code->{grant}'"), 1, 'once');
    ok(!active($t->{access_token}), 'the token is dead');
    oauth_error(refresh($s, $app, $t->{refresh_token}), 400, 'invalid_grant',
                'and what refreshes');
}

for my $app ($web, $agent) {
    my $t = redeem($s, $app, fresh($app))->json;
    my (%status, %next, %access);

    for my $r (map { $_->read } map { refreshing($s, $app, $t->{refresh_token}) } 1 .. $N) {
        $status{$r->status}++;
        my $new = secret_of($r);
        $next{ $new->{refresh_token} }++;
        $access{ $new->{access_token} }++;
    }

    is_deeply(\%status, { 200 => $N }, 'all of them');
    is_deeply([ values %next ], [ $N ], 'the same successor');
    is(keys %access, $N, 'and different tokens');
    ok(active($_), 'that live') for (keys %access)[0, -1];
    is(refresh($s, $app, (keys %next)[0])->status, 200, 'the chain goes on');
}

is(count('delegation'), 1 + 1 + $N + 1, 'each of an agent is in the journal');

# Two tokens of one chain are presented: the second one ends it.

my $code = fresh();
my $t = redeem($s, $web, $code)->json;
my $next = refresh($s, $web, $t->{refresh_token})->json;
my %status;

$status{ $_->read->status }++
    for map { (refreshing($s, $web, $t->{refresh_token}),
               refreshing($s, $web, $next->{refresh_token})) } 1 .. 10;

cmp_ok($status{200} // 0, '>=', 1, 'both ends of a chain at once');
is(keys %{{ map { $_ => 1 } grep { !/^(?:200|400)\z/ } keys %status }}, 0, 'nothing breaks');
oauth_error(refresh($s, $web, $t->{refresh_token}), 400, 'invalid_grant', 'it is over');
is(reason($code), 'refresh_reused', 'as a reuse');


# --- a request that waits ----------------------------------------------------------

# Another transaction locks the row of the code, or of the refresh token.

sub held {
    my ($table, $code) = @_;

    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query("SELECT FROM svc.$table WHERE grant_id = '$code->{grant}' FOR UPDATE");

    return $holder;
}

# Another transaction locks a table or a row that a request only reads before it
# writes.

sub locked {
    my ($sql) = @_;

    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query($sql);

    return $holder;
}

sub waits {
    return wait_for { $s->waiting == 1 };
}

# The client leaves: what was sent is done.

for my $how (qw(close abort)) {
    my $code = fresh();
    my $holder = held(oauth_code => $code);
    my $c = redeeming($s, $web, $code);

    ok(waits(), "$how: it waits");
    $c->$how;
    $holder->query('COMMIT');
    ok((wait_for { tokens($code) == 1 }), "$how: there is a token");
    is(used($code), 1, "$how: the code is spent");
    oauth_error(redeem($s, $web, $code), 400, 'invalid_grant', "$how: and again");
    is(reason($code), 'code_replayed', "$how: is a replay");

    # A client that presents a code again, and leaves, does not keep the tokens alive.

    for my $at (qw(read write)) {
        $code = fresh();
        redeem($s, $web, $code);
        $holder = locked($at eq 'read'
                         ? 'LOCK TABLE svc.oauth_code IN ACCESS EXCLUSIVE MODE'
                         : "SELECT FROM svc.oauth_grant WHERE id = '$code->{grant}' FOR UPDATE");
        $c = redeeming($s, $web, $code);
        ok(waits(), "$how: a replay waits to $at");
        $c->$how;
        $holder->query('COMMIT');
        ok((wait_for { (reason($code) // '') eq 'code_replayed' }),
           "$how: and ends the grant");
    }

    $code = fresh();
    my $t = redeem($s, $web, $code)->json;
    $holder = held(oauth_refresh => $code);
    $c = refreshing($s, $web, $t->{refresh_token});
    ok(waits(), "$how: a refresh waits");
    $c->$how;
    $holder->query('COMMIT');
    ok((wait_for { refreshes($code) == 2 }), "$how: there is a successor");
    is(refresh($s, $web, $t->{refresh_token})->status, 200, "$how: which is answered later");
    is(refreshes($code), 2, "$how: the same");
}

ok($s->unharmed(\@workers, 'clients that leave'), 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

# The backend is killed: nothing is stored, and the code and the token are still good.

my $gone = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
           . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'";

$code = fresh();

my $holder = held(oauth_code => $code);
my $c = redeeming($s, $web, $code);

ok(waits(), 'a redemption waits');
$s->sql($gone);

my $r = $c->read;

oauth_error($r, 503, 'temporarily_unavailable', 'its connection is gone');
ok($r->header('retry-after'), 'with Retry-After');
$holder->query('ROLLBACK');
is(tokens($code) + refreshes($code) + used($code), 0, 'nothing is stored');
$s->wait_healthy;

$t = redeem($s, $web, $code)->json;
ok($t->{refresh_token}, 'the code is good');

$holder = held(oauth_refresh => $code);
$c = refreshing($s, $web, $t->{refresh_token});
ok(waits(), 'a refresh waits');
$s->sql($gone);
oauth_error($c->read, 503, 'temporarily_unavailable', 'its connection is gone');
$holder->query('ROLLBACK');
$s->wait_healthy;
is(refresh($s, $web, $t->{refresh_token})->status, 200, 'the token is good');


# The connection breaks when all is stored and before the answer: the commit waits for
# a standby that is not there.

sub standby {
    my ($set) = @_;

    $s->sql("ALTER SYSTEM $set");
    $s->sql('SELECT pg_reload_conf()');
}

# $prepare makes what the request needs, $begin sends it. A backend that does not know
# of the change yet answers at once: then both are done again.

sub stored_and_gone {
    my ($prepare, $begin) = @_;

    my $waits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    my ($c, $waiting);

    for (1 .. 10) {
        $prepare->();
        standby("SET synchronous_commit = 'on'");
        wait_for { $s->sql('SHOW synchronous_commit') eq 'on' };

        $c = $begin->();
        wait_for { ($waiting = $s->sql("SELECT count(*) $waits")) > 0
                   || IO::Select->new($c->sock)->can_read(0) };

        last if $waiting;

        $c->read;
        standby("SET synchronous_commit = 'local'");
        wait_for { $s->sql('SHOW synchronous_commit') eq 'local' };
    }

    ok($waiting, 'it is stored');
    $s->sql("SELECT pg_terminate_backend(pid) $waits");
    oauth_error($c->read, 503, 'temporarily_unavailable', 'and nobody knows');
    standby("SET synchronous_commit = 'local'");
    wait_for { $s->sql('SHOW synchronous_commit') eq 'local' };
    $s->wait_healthy;
}

stored_and_gone(sub { $code = fresh() }, sub { redeeming($s, $web, $code) });
is(tokens($code) . used($code), '11', 'a code is spent');
oauth_error(redeem($s, $web, $code), 400, 'invalid_grant', 'and no good again');
is(tokens($code), 1, 'there is one set of tokens');

stored_and_gone(sub { $code = fresh(); $t = redeem($s, $web, $code)->json },
                sub { refreshing($s, $web, $t->{refresh_token}) });
is(refreshes($code), 2, 'a token has a successor');
is(refresh($s, $web, refresh($s, $web, $t->{refresh_token})->json->{refresh_token})->status,
   200, 'which is told to who asks again');


# --- PostgreSQL is killed at any time ----------------------------------------------

# Answered or not, no code has two sets of tokens, and a spent code has no other
# answer than that.

my @codes = map { fresh() } 1 .. 20;

$holder = $s->connect_as('postgres');
$holder->query('BEGIN');
$holder->query("SELECT FROM svc.oauth_code WHERE grant_id = '$_->{grant}' FOR UPDATE")
    for @codes[1, 3];

my @c;

$c[$_] = redeeming($s, $web, $codes[$_]) for 1, 3;
ok((wait_for { $s->waiting >= 1 }), 'one waits, or both do');
$c[$_] //= redeeming($s, $web, $codes[$_]) for 0 .. $#codes;

$s->pg->stop('QUIT');
$s->pg->launch;
$s->wait_healthy;

my @r = map { $_->read } @c;

for my $i (0 .. $#codes) {
    my $code = $codes[$i];
    my $status = $r[$i]->status;
    my $stored = tokens($code);

    secret_of($r[$i]) if $status == 200;
    ok($status == 503 || $status == 200 && $stored, "code $i: $status");
    is($stored . used($code) . refreshes($code), $stored ? '111' : '000', 'all or nothing');
    is(redeem($s, $web, $code)->status, $stored ? 400 : 200, 'which is told after it');
    is(tokens($code), 1, 'one set of tokens');
}

like(join(' ', map { $_->status } @r[1, 3]), qr/503/, 'it was under way');

$s->done;
done_testing();
