#!/usr/bin/perl

# Shows that the modules never have more connections than they are configured with,
# even while the synchronous standby is gone: commits wait for it, and no
# statement_timeout ends that.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Load;
use SvcTest::Process qw(slow wait_for);


my ($READ, $WRITE, $SLOW, $WORKERS, $NODES) = (2, 4, 1, 2, 2);
my $ALL = $NODES * $WORKERS * ($READ + $WRITE + $SLOW);

my $s = SvcTest->new(workers => $WORKERS, svc => {
    svc_postgres_timeout => '500ms',
    svc_postgres_pool => [ "read connections=$READ depth=16",
                           "write connections=$WRITE depth=2",
                           "slow connections=$SLOW depth=1" ],
})->start;

my $acme = $s->tenant('acme');
my $standby = $s->pg->standby('standby');
my $node = $s->node(workers => $WORKERS, svc => $s->nginx->{svc});

$s->pg->synchronous('standby');

# Counts backends that serve a connection, at any time.

my $watch = $s->connect_as('postgres');

sub sessions {
    return $watch->query("SELECT count(*),"
        . " count(*) FILTER (WHERE wait_event = 'SyncRep') FROM pg_stat_activity"
        . " WHERE usename = 'svc_app'")->[0];
}


ok((wait_for { sessions()->[0] == $ALL }), "$ALL sessions");

my $load = SvcTest::Load->start($s, $acme, creates => 12, reads => 2);

$standby->stop;

my ($most, $waited, $ended) = (0, 0, 0);
my $before = 0;
my $end = time + slow(60);

# Runs for as long as some connections take to be given up one after the other.

while ($ended < 20 && time < $end) {
    my ($all, $waiting) = @{ sessions() };

    $most = $all if $all > $most;
    $waited = $waiting if $waiting > $waited;
    $ended++ if $waiting < $before;
    $before = $waiting;
    select undef, undef, undef, 0.01;
}

cmp_ok($waited, '>', 0, 'commits wait for the standby');
cmp_ok($ended, '>', 1, 'and those of connections that were given up are ended');
cmp_ok($most, '<=', $ALL, 'never more sessions than are configured');
note("at most $most sessions, $waited of them waited, $ended times fewer");
ok((wait_for { $acme->scim(GET => '/Users')->status == 200 }), 'reads are served');
is($acme->scim(POST => '/Users', { userName => 'x@acme.test' })->status, 503,
   'of a write nobody knows');

# A worker that quits leaves no connection behind.

$s->reload;
ok((wait_for { sessions()->[0] <= $ALL }), 'nor after a reload');

$standby->launch;
$load->wait_going;

my $seen = $load->stop;
my %rows = map { $_->[0] => 1 } $s->sql('SELECT user_name FROM svc.user_account');
my %status;

$status{ $_->[1] }++ for @{ $seen->{create} };
note(join ', ', map { "$_: $status{$_}" } sort keys %status);
is(scalar(grep { $_->[1] eq '201' && !$rows{$_->[0]} } @{ $seen->{create} }), 0,
   'each create that was acknowledged is stored');
is_deeply([ grep { !/^(?:201|400|503)$/ } keys %status ], [],
          'the others were told that nobody knows');
ok((wait_for { sessions()->[0] == $ALL }), 'as many sessions as before');

$s->done;

done_testing();
