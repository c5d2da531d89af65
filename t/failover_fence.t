#!/usr/bin/perl

# Shows that a split brain writes nothing: the primary stands still, its standby is
# promoted, and the former primary goes on. Nothing is written or read there once the
# nodes have seen the other one.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Load;
use SvcTest::Process qw(slow wait_for signal_pid);


use constant REQUESTS => 100;

my $HOSTS = 'dbname=svc user=svc_app target_session_attrs=read-write';


# Returns two nodes that name a primary and a standby, in this order.

sub system_of {
    my ($sync) = @_;

    my $s = SvcTest->new(workers => 2, svc => {
        svc_postgres_timeout => '1s',
        svc_postgres_connect_timeout => '1s',
    });
    my $dir = $s->pg->{dir};

    $s->nginx->{svc_default}{svc_postgres}
        = "\"host=$dir,$dir-standby $HOSTS\"";
    $s->start;
    $s->{standby} = $s->pg->standby('standby');
    $s->pg->synchronous('standby') if $sync;

    return $s;
}


# Returns how many users a server has.

sub users {
    my ($pg) = @_;

    return scalar @{ names($pg) };
}


sub names {
    my ($pg) = @_;

    return $pg->connect('postgres')->query('SELECT user_name FROM'
                                           . ' svc.user_account');
}


sub replicated {
    my ($s) = @_;

    return wait_for { users($s->{standby}) == users($s->pg) };
}


# Checks that no node is connected to the former primary. Commits that still wait
# there for the former standby have been given up, and are not counted.

sub left {
    my ($pg, $name) = @_;

    my $client = $pg->connect('postgres');
    my $sessions = sub {
        return $client->query('SELECT count(*) FROM pg_stat_activity'
            . " WHERE usename = 'svc_app' AND wait_event IS DISTINCT FROM"
            . " 'SyncRep'")->[0][0];
    };

    ok((wait_for { !$sessions->() }), "$name: no session is left there")
        or diag($sessions->() . ' are');
}


# Checks that under load the former primary gets not one row more.

sub untouched {
    my ($s, $load, $name, $code) = @_;

    my ($old, $new) = (users($s->pg), users($s->{standby}));

    $code->() if $code;
    $load->wait_going(20);

    is(users($s->pg) - $old, 0, "$name: nothing is written there");
    cmp_ok(users($s->{standby}) - $new, '>', 0, "$name: but here");
}


# Checks that no node accepts a request with the token.

sub refused {
    my ($s, $headers, $name, @nodes) = @_;

    my %status;

    for my $node (@nodes) {
        $status{ $s->http(GET => '/scim/v2/Users', $headers, undef,
                          port => $node->{port})->status }++
            for 1 .. REQUESTS;
    }

    is_deeply(\%status, { 401 => REQUESTS * @nodes },
              "$name: a token that was revoked is refused");
}


sub split_brain {
    my ($s, $sync) = @_;

    my $name = $sync ? 'synchronous' : 'asynchronous';
    my $acme = $s->tenant('acme');
    my $other = $s->tenant('other');
    my @nodes = ($s->nginx, $s->node(workers => 2));
    my $standby = $s->{standby};

    ok(replicated($s), "$name: the standby has all");

    my $load = SvcTest::Load->start($s, $acme, creates => 2, reads => 2);

    $s->pg->freeze;
    $standby->promote;
    $standby->connect('postgres')->query('DELETE FROM svc.credential WHERE'
                                         . " tenant_id = '$other->{id}'");
    $s->pg->thaw;

    left($s->pg, $name);
    refused($s, $other->headers, $name, @nodes);
    ok((wait_for { $s->health->json->{postgres} eq 'up' }),
       "$name: well again");
    $load->wait_going;
    untouched($s, $load, $name);
    untouched($s, $load, "$name, reload", sub { $_->reload for @nodes });
    refused($s, $other->headers, "$name, reload", @nodes);

    my $seen = $load->stop;
    my %stored = map { $_->[0] => 1 } @{ names($standby) };
    my @lost = grep { $_->[1] eq '201' && !$stored{$_->[0]} } @{ $seen->{create} };

    # Rows that only the former primary had acknowledged before it was left.

    is(scalar @lost, 0, "$name: no create that was acknowledged is lost")
        if $sync;
    note("$name: ", scalar(grep { $_->[1] eq '201' } @{ $seen->{create} }),
         ' creates, ', scalar(@lost), ' of them lost');
    ok((grep { /\[error\].*PostgreSQL: .*timeline 1.*on 2; stop it/ }
        map { $_->log_lines } @nodes), "$name: the log says what to do");

    return @nodes;
}


# --- asynchronous -----------------------------------------------------------------

my $s = system_of(0);
my @nodes = split_brain($s, 0);
my $acme = $s->tenant('acme');
my $old = users($s->pg);

sub creates {
    my ($node, $n, $name) = @_;
    my %status;

    for my $i (1 .. $n) {
        my $r = $s->http(POST => '/scim/v2/Users',
            [ @{ $acme->headers }, 'Content-Type' => 'application/scim+json' ],
            { userName => "$name$i\@acme.test" }, port => $node->{port});

        $status{ $r->status }++;
    }

    return \%status;
}


# A node starts, and sees the former primary first: Redis tells it which is current.
# From here on no step waits for a timeout.

@{ $s->nginx->{svc} }{qw(svc_postgres_timeout svc_postgres_connect_timeout)}
    = (slow(20) . 's') x 2;
$s->nginx->quit;
$s->nginx->launch;
is_deeply(creates($s->nginx, 20, 'start'), { 201 => 20 }, 'a start: creates');
is(users($s->pg), $old, 'a start: none of them there');

# A node sees only the former primary.

my ($system) = map { $_->[0] } @{ $s->{standby}->connect('postgres')->query(
                       'SELECT system_identifier FROM pg_control_system()') };

$s->nginx->{svc}{svc_postgres} = '"' . $s->pg->conninfo('svc_app') . '"';
$s->reload;

my $health;

ok((wait_for { ($health = $s->health)->json->{postgres} eq 'stale-primary' }),
   'the former primary alone: health tells');
is($health->status, 503, 'with 503');
like($health->json->{message}, qr/former primary/, 'and a message');
is_deeply(creates($s->nginx, 5, 'alone'), { 503 => 5 }, 'nothing is done');

$s->nginx->quit;
$s->nginx->launch;
ok((wait_for { $s->health->json->{postgres} eq 'stale-primary' }),
   'nor after a start');
is_deeply(creates($s->nginx, 5, 'start-alone'), { 503 => 5 }, 'nothing at all');
is(users($s->pg), $old, 'not there');

# After a restore an operator begins a new generation.

is_deeply([ $s->redis->lines('HGETALL', "svc.timeline.$system") ],
          [ generation => 1, timeline => 2 ], 'what Redis has');
$_->quit for $nodes[1];
$s->redis->lines('HSET', "svc.timeline.$system", 'generation', 2, 'timeline', 0);
ok((wait_for { $s->health->json->{postgres} eq 'up' }),
   'a new generation: the server is taken');
is_deeply(creates($s->nginx, 5, 'restored'), { 201 => 5 }, 'and used');
ok((wait_for { join(' ', $s->redis->lines('HGETALL', "svc.timeline.$system"))
               eq 'generation 2 timeline 1' }), 'Redis has that');

# Without Redis a node finds the other server by itself.

$old = users($s->pg);
$s->redis->stop;
$s->nginx->quit;
delete $s->nginx->{svc}{svc_postgres};
$s->nginx->launch;
left($s->pg, 'without Redis');
$old = users($s->pg);
ok($s->wait_healthy, 'without Redis: well');
is_deeply(creates($s->nginx, 20, 'no-redis'), { 201 => 20 },
          'without Redis: creates');
is(users($s->pg), $old, 'without Redis: none of them there');

# Without the fence a node uses the server that is named first.

$s->nginx->{svc}{svc_postgres_fence} = 'off';
$s->nginx->quit;
$s->nginx->launch;
ok((wait_for { creates($s->nginx, 1, 'off' . time)->{201} }),
   'svc_postgres_fence off: creates');
is(users($s->pg), $old + 1, 'on the server that is named first');

$s->done;

# --- synchronous --------------------------------------------------------------------

$s = system_of(1);
split_brain($s, 1);
$s->done;

done_testing();
