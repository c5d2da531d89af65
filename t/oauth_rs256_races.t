#!/usr/bin/perl

# Shows RS256 signatures that threads make: by the first key, which many want at once,
# while keys are replaced, for clients that leave, and while a worker quits.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Grants qw(code redeeming $REDIRECT);
use SvcTest::OAuth qw(oauth_server application form claims basic);
use SvcTest::Process qw(slurp wait_for);

my $N = $ENV{SVC_TEST_FULL} ? 1000 : 200;
my $BESIDE = 16;

my $s = oauth_server(workers => 2,
                     svc => { svc_postgres_pool => [ 'read connections=4 depth=256',
                                                     'write connections=4 depth=256',
                                                     'slow connections=1 depth=1' ] })->start;
my $acme = $s->tenant('acme');
my @workers = $s->workers;


sub beginning {
    my ($client) = @_;

    return $s->begin(POST => '/oauth/token',
                     [ 'Content-Type' => 'application/x-www-form-urlencoded',
                       Authorization => basic($client) ], 'grant_type=client_credentials');
}

sub token_of {
    my ($r) = @_;

    return $r && $r->status == 200 ? $r->json->{access_token} : undef;
}

# Returns how many keys a tenant has: RS256, ES256.

sub keys_of {
    my ($tenant) = @_;

    return map {
        scalar $s->sql("SELECT count(*) FROM svc.oauth_key WHERE tenant_id = '$tenant->{id}'"
                       . " AND alg = '$_'")
    } qw(RS256 ES256);
}

sub active {
    my ($client, $token) = @_;

    return form($s, introspect => { token => $token }, client => $client)->json->{active};
}


# --- the first key -------------------------------------------------------------------

# Requests come to two workers at once. Some of each wait for one thread; some are for
# ES256, whose first key comes with that of RS256, or before it.

for my $tenant (map { $s->tenant("first$_") } 1 .. 8) {
    my ($client, $ec) = map { application($tenant, signingAlg => $_) } qw(RS256 ES256);
    my @begun = map { $_ % 4 ? beginning($client) : beginning($ec) } 1 .. $BESIDE;
    my @tokens = map { token_of($_->read) } @begun;
    my %kid = map { defined $_ ? ((claims($_))[0]{kid} => 1) : (none => 1) } @tokens;

    is_deeply([ keys_of($tenant), scalar keys %kid, exists $kid{none} ], [ 1, 1, 2, '' ],
              "$tenant->{slug}: $BESIDE tokens by one key of each");
    is(scalar(grep { active($client, $_) } @tokens), $BESIDE, "$tenant->{slug}: and they live");
}

# --- in threads ----------------------------------------------------------------------

# Returns the nanoseconds that the workers' threads have run, without their event
# loops.

sub used {
    my $used = 0;

    for my $task (map { glob "/proc/$_/task/*" } @workers) {
        $used += (split ' ', slurp("$task/schedstat") // next)[0]
            if $task !~ m{/(\d+)/task/\1\z};
    }

    return $used;
}

my $service = application($acme, signingAlg => 'RS256');
my $fast = application($acme);
my %threads;

for my $client ($fast, $service) {
    token_of(beginning($client)->read) for 1 .. 2;

    my $before = used();

    for (1 .. $N / $BESIDE) {
        $_->read for map { beginning($client) } 1 .. $BESIDE;
    }

    $threads{ $client->{clientId} } = (used() - $before) / $N / 1e6;
}

cmp_ok($threads{ $fast->{clientId} }, '<', 0.01, 'ms of threads, of ES256');
cmp_ok($threads{ $service->{clientId} }, '>', 0.05, 'and of RS256');


# --- clients that leave before there is a key ------------------------------------------

my $left = $s->tenant('left');
my $leaver = application($left, signingAlg => 'RS256');

$_->close for map { beginning($leaver) } 1 .. 4;
ok(defined token_of(beginning($leaver)->read), 'who asks next gets a token');
is((keys_of($left))[0], 1, 'by one key');


# --- keys are replaced ---------------------------------------------------------------

# In each round the key that signs is to retire, and the next one takes over.

my (%kids, @dead);
my ($tokens, $turns) = (0, 0);

while ($tokens < $N || $turns < 2) {
    my $kid = $s->sql('SELECT active_rsa_kid FROM svc.oauth_tenant'
                      . " WHERE tenant_id = '$acme->{id}'");
    my $next = $s->sql('SELECT kid FROM svc.oauth_key WHERE alg = \'RS256\' AND kid <> '
                       . "'$kid' AND tenant_id = '$acme->{id}' AND retired_at IS NULL");

    $s->sql("UPDATE svc.oauth_key SET retired_at = coalesce(retired_at, now() + interval '1 day')"
            . " WHERE kid = '$kid'");

    if ($next) {
        $s->sql("UPDATE svc.oauth_key SET active_from = now() - interval '1 s'"
                . " WHERE kid = '$next'");
    }

    for my $token (map { token_of($_->read) } map { beginning($service) } 1 .. $BESIDE) {
        push @dead, $token // 'none' if !defined $token || !active($service, $token);
        $kids{ (claims($token))[0]{kid} } = 1 if defined $token;
        $tokens++;
    }

    $turns = keys(%kids) - 1;
}

is_deeply(\@dead, [], "$tokens tokens beside $turns turns live");


# --- clients that leave --------------------------------------------------------------

# Clients leave at any time: before the thread has the token, while it signs, and when
# it is done.

my $web = application($acme, type => 'web', redirectUris => [ $REDIRECT ],
                      scopes => [ 'openid' ]);
my $ada = $acme->create(userName => 'ada@acme.test');

for my $round (1 .. $N / $BESIDE) {
    my @leave = (map { beginning($service) } 1 .. $BESIDE);

    push @leave, map { redeeming($s, $web, code($acme, $web, $ada)) } 1 .. 4;

    # The last one's answer shows how far the others are.

    my $last = beginning($service);

    $_->close for splice @leave, 0, $round % @leave;
    $last->read;
    $_->close for @leave;
}

ok(defined token_of(beginning($service)->read), 'after those who have left');

# A worker that quits answers the requests that it has begun.

my @held = map { beginning($service) } 1 .. $BESIDE;

$s->reload(linger => 1);

my @answers = map { token_of($_->read) } @held;

is(scalar(grep { defined } @answers), $BESIDE, 'a worker that quits answers');
is(scalar(grep { active($service, $_) } @answers), $BESIDE, 'with tokens that live');

$s->done;
done_testing;
