#!/usr/bin/perl

# All nodes are reloaded at once, under load: in new workers requests wait until
# there are connections, and none is answered with 503.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Load;
use SvcTest::Process qw(wait_for signal_pid);


use constant RELOADS => 4;

# three nodes of three workers: old and new workers together would have more
# connections than PostgreSQL allows

my $s = SvcTest->new(workers => 3, pg_conf => "max_connections = 80\n",
                     svc => { svc_postgres_pool => undef })->start;
my $acme = $s->tenant('acme');
my @nodes = ($s->nginx,
             map { $s->node(workers => 3, svc => $s->nginx->{svc}) } 1 .. 2);
my @loads;

# each node has clients of its own

for my $node (@nodes) {
    local $s->{nginx}{port} = $node->{port};

    push @loads, SvcTest::Load->start($s, $acme, creates => 2, reads => 2);
}

for (1 .. RELOADS) {
    my %old = map { $_ => 1 } map { $_->worker_pids } @nodes;

    signal_pid('HUP', map { $_->pid } @nodes);

    for my $node (@nodes) {
        wait_for { my @now = $node->worker_pids;
                   @now == 3 && !grep { $old{$_} } @now }
            or die "a node does not reload\n";
    }

    $_->wait_going for @loads;
}

my %status;

for (map { $_->stop } @loads) {
    $status{ $_->[1] }++ for @{ $_->{create} }, @{ $_->{read} };
}

note(join ', ', map { "$_: $status{$_}" } sort keys %status);
is_deeply([ grep { !/^(?:20[01]|400)$/ } sort keys %status ], [],
          'no request fails')
    or diag(grep { /\[(?:warn|error)\]/ } map { $_->log_lines } @nodes);

$s->done;

done_testing();
