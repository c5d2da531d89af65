#!/usr/bin/perl

# Measures how fast SCIM users are, compared with a peer that does the same
# work: fastify and pg on Node.js, on the same PostgreSQL (t/bench/peer).  And
# what PostgreSQL does for a write, compared with another build of the modules.
#
#     make bench-peer
#     make bench-peer BASE=v1.0
#
# Each round measures all sides one after the other; the table has medians.  A
# row that misses its bound says MISS, one with wrong answers says FAIL; what
# could not be measured is named at the end.  For FAIL and for these the exit
# status is 1.
#
# With --smoke everything is done for a moment, on few users, and no figure is
# judged; the other build is then this one, unless BENCH_BASE names one.
#
# Environment: ROUNDS (5), SECONDS of one measurement (4), USERS of the tenant
# (10000), READ_RATE (10000) reads a second beside writes, LONG (60) seconds of
# PATCH without VACUUM, BIG (1000000) users of the big tenant; ONLY, some of
# %measure by name, and patch_long, like "post post_peer" ("reads" and
# "reads_mixed" take "post", half of whose rate they write at); BENCH_BASE and
# BENCH_BASE_SQL, the modules and the migrations of another build.

use strict;
use warnings;

use Cwd ();
use File::Basename qw(dirname);

my $ROOT;

BEGIN {
    $ROOT = Cwd::realpath(dirname(__FILE__) . '/../..');
    unshift @INC, "$ROOT/t/bench", "$ROOT/t/lib";
}

use SvcBench::Course qw(smoke size);
use SvcBench::Load;
use SvcBench::Peer;
use SvcBench::Report qw(say_step number);
use SvcBench::Scim;
use SvcBench::System;
use SvcTest::Process qw(wait_for);


# the size of a benchmark, and of a smoke test

my $ROUNDS = size('ROUNDS', 5, 1);
my $SECONDS = size('SECONDS', 4, 0.3);
my $USERS = size('USERS', 10_000, 500);
my $READ_RATE = size('READ_RATE', 10_000, 500);
my $LONG = size('LONG', 60, 0.9);
my $BIG = size('BIG', 1_000_000, 2_000);
my $SMALL = 1_000;
my $TENANTS = 10;

my ($sys, $peer, $base, $course, $write_rate, %tokens);
my $hot_line = '';


# --- what is measured -------------------------------------------------------

my %measure = (
    post => sub { post($sys, @_) },
    post_peer => sub { post($peer, @_) },
    post_base => sub { post($base, @_) },
    post_ten => sub { post($sys, @_, tokens => $tokens{ten}) },
    post_small => sub { post($sys, @_, tokens => $tokens{small}) },
    post_big => sub { post($sys, @_, tokens => $tokens{big}) },

    patch => sub { patch($sys, @_) },
    patch_peer => sub { patch($peer, @_) },
    patch_base => sub { patch($base, @_) },

    put => sub { put($sys, @_) },
    put_peer => sub { put($peer, @_) },
    put_base => sub { put($base, @_) },

    get => sub { get($sys, 'get', @_) },
    get_peer => sub { get($peer, 'get', @_) },
    filter => sub { get($sys, 'filter', @_) },
    filter_peer => sub { get($peer, 'filter', @_) },

    reads => sub { SvcBench::Scim::reads($sys, @_, paced()) },
    reads_mixed => sub {
        SvcBench::Scim::reads_beside_writes($sys, @_, $write_rate, paced());
    },
);

my %only = map { $_ => 1 } split /[ ,]+/, $ENV{ONLY} // '';


sub post {
    my ($system, $seconds, @opt) = @_;

    my $n = SvcBench::Scim::create($system, $seconds, @opt);

    $system->reset;

    return $n;
}


sub patch {
    my ($system, $seconds) = @_;

    my $n = SvcBench::Scim::toggle($system, $seconds);

    $system->reset;

    return $n;
}


sub put {
    my ($system, $seconds) = @_;

    my $n = SvcBench::Scim::change($system, 'put', $seconds);

    $system->reset;

    return $n;
}


sub get {
    my ($system, $script, $seconds) = @_;

    return SvcBench::Load::wrk($system, $script, connections => 64,
                               seconds => $seconds,
                               size => $system->{size}{$script});
}


sub paced {
    return (connections => 32, rate => $READ_RATE, size => $sys->{size}{get});
}


# --- PATCH without VACUUM -----------------------------------------------------

# Measures the first seconds and the last ones of so many, all under load.

sub long_patch {
    my $window = $LONG >= 15 ? 5 : $LONG / 3;

    say_step("PATCH for $LONG s without VACUUM");

    my @before = tuples();
    my @n = map { SvcBench::Scim::toggle($sys, $_) }
            $window, $LONG - 2 * $window, $window;
    my ($requests) = 0;

    $requests += $_->{requests} for @n;

    # backends report their counts some time after the last transaction

    my ($all, $hot);
    wait_for {
        my @now = tuples();

        ($all, $hot) = map { $now[$_] - $before[$_] } 0, 1;
        $all >= $requests;
    } 30 or die "$all updates are counted, of $requests\n";

    $hot_line = sprintf "svc.user_account: n_tup_hot_upd / n_tup_upd ="
                        . " %s / %s = %.2f in %s s of PATCH\n",
                        number($hot), number($all), $hot / $all, $LONG;
    $sys->reset;

    return @n[0, 2];
}


sub tuples {
    my ($row) = $sys->{s}->sql('SELECT n_tup_upd, n_tup_hot_upd FROM'
        . " pg_stat_user_tables WHERE relid = 'svc.user_account'::regclass");

    return @$row;
}


# --- the course of it -------------------------------------------------------

sub wanted {
    return grep { (!%only || $only{$_}) && ($base || !/_base$/) } @_;
}


sub rounds {
    my (@names) = @_;

    $course->rounds('', wanted(@names));
}


sub start {
    my (%opt) = @_;

    my $system = SvcBench::System->new(tenants => 1, quick => smoke(), %opt);

    $system->start;
    $system->seed($USERS);
    $system->{size} = $system->check_answers;

    return $system;
}


sub prepare {
    my $node = SvcBench::Peer::node_version();

    say_step('starting PostgreSQL, Redis and nginx');
    $sys = start();
    SvcBench::Report::machine($sys, $ROUNDS, $SECONDS);

    my %tenants = (ten => [ map { "ten$_" } 0 .. $TENANTS - 1 ],
                   small => [ 'small0' ], big => [ 'big0' ]);

    for my $name (keys %tenants) {
        my @tenants = map { $sys->{s}->tenant($_) } @{ $tenants{$name} };

        $tokens{$name} = $sys->token_file($name, @tenants);
    }

    say_step("starting the peer, on Node.js $node");
    $peer = SvcBench::Peer->new($sys);
    $peer->check;

    if (my $modules = $ENV{BENCH_BASE}) {
        say_step("starting the modules of $modules");
        $base = start(modules => $modules, quick => 0, sql => $ENV{BENCH_BASE_SQL}
            // die "BENCH_BASE_SQL is not set: the migrations of"
                   . " $modules\n");

    } elsif (smoke()) {
        say_step('starting the modules once more');
        $base = start();
    }

    delete @measure{ grep { /_base$/ } keys %measure } if !$base;
    $course = SvcBench::Course->new(
        measure => \%measure, rounds => $ROUNDS, seconds => $SECONDS,
        mend => sub { $_->reset for grep { $_ } $sys, $peer, $base },
        complaints => \&complaints);
}


sub measure {
    rounds(qw(post post_peer post_base post_ten patch patch_peer patch_base
              put put_peer put_base get get_peer filter filter_peer));

    my $results = $course->results;

    $course->once([ qw(patch_first patch_last) ], \&long_patch) if wanted('patch_long');

    if ($write_rate = $results->{post}
        && 0.5 * SvcBench::Report::of($results, 'post', 'rate'))
    {
        rounds(qw(reads reads_mixed));
    }

    if (wanted(qw(post_small post_big))) {
        say_step("seeding $BIG users");
        $sys->add_users('small', 1, 0, $SMALL - 1);
        $sys->add_users('big', 1, 0, $BIG - 1);
        $sys->{s}->sql('CHECKPOINT');
        rounds(qw(post_small post_big));
    }
}


# Returns the rows and their bounds: see SvcBench::Report::rows.

sub rows {
    my $beside = number($READ_RATE) . ' reads/s beside '
                 . number($write_rate || 0) . ' POST/s';

    return (
        [ 'POST user', 'post', 'the peer', 'post_peer', 'rate', 1.5 ],
        [ 'PATCH active', 'patch', 'the peer', 'patch_peer', 'rate', 1.5 ],
        [ 'PUT user', 'put', 'the peer', 'put_peer', 'rate', 1.5 ],
        [ 'GET user by id', 'get', 'the peer', 'get_peer', 'rate', 3 ],
        [ 'filter userName eq', 'filter', 'the peer', 'filter_peer', 'rate',
          3 ],
        [ "PATCH, last of $LONG s without VACUUM", 'patch_last',
          'the first of them', 'patch_first', 'rate', 0.8 ],
        [ "PostgreSQL's CPU of a POST, us", 'post', 'the other build',
          'post_base', 'cpu_postgres', -0.5 ],
        [ "PostgreSQL's CPU of a PATCH, us", 'patch', 'the other build',
          'patch_base', 'cpu_postgres', -0.4 ],
        [ "PostgreSQL's CPU of a PUT, us", 'put', 'the other build',
          'put_base', 'cpu_postgres', -1 ],
        [ 'POST, 64 writers in one tenant', 'post', "in $TENANTS tenants",
          'post_ten', 'rate', 0.9 ],
        [ 'POST in a tenant of ' . number($BIG), 'post_big',
          'in one of ' . number($SMALL), 'post_small', 'rate', 0.8 ],
        [ "p99 of $beside", 'reads_mixed', 'the reads alone', 'reads', 'p99',
          -2 ],
    );
}


sub report {
    SvcBench::Report::table($course->results, number($USERS) . ' users in a tenant.',
                            rows());
    print "\n$hot_line";
    print "\nAnother build's CPU is left out: name one, as with \"make bench-peer"
          . " BASE=commit\".\n" if !$base;
}


sub main {
    prepare();
    measure();

    $course->reported(\&report);
    $course->missing($base ? rows() : grep { $_->[3] !~ /_base$/ } rows())
        if !%only;
    $course->step('reading the logs', sub { $course->look });

    return $course->end('bench-peer');
}


# A request that the peer answers with 409 may cause an error in PostgreSQL.

sub complaints {
    return grep { !/^\d+ peer ERROR:  duplicate key/ }
           map { $_->complaints } grep { $_ } $sys, $peer, $base;
}


$| = 1;

my $status = eval { main() };

if (!defined $status) {
    my @lines = complaints();

    splice @lines, 20 if @lines > 20;
    print STDERR "bench-peer: $@", @lines;

    exit 1;
}

exit $status;
