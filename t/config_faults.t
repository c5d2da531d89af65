#!/usr/bin/perl

# Shows that after faults while config bundles are applied one bundle is there as a
# whole, and that the audit log tells how it came to be.

use strict;
use warnings;

use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Bundle;
use SvcTest::Process qw(slow wait_for);

my $SEED = $ENV{SVC_TEST_SEED} // int rand 2**31;
my $CLIENTS = 4;

my $s = SvcTest->new(pg_conf => "fsync = on\nsynchronous_commit = on\n",
    svc => { svc_postgres_timeout => '2s', svc_postgres_connect_timeout => '1s',
             svc_postgres_queue_timeout => '1s' })->start;
my $acme = $s->tenant('acme');
my ($all, @groups) = SvcTest::Bundle::tenant($s, $acme, 5);
my $run = 0;

srand $SEED;
note("seed $SEED");


# --- clients that apply without end -------------------------------------------------

# Applies bundles until it is ended. Writes a line before each request and one after
# it: the name of the bundle's role, the outcome, and the bundle.

sub client {
    my ($name, $file) = @_;

    my $go_on = 1;
    local $SIG{TERM} = sub { $go_on = 0 };

    open my $out, '>', $file or POSIX::_exit(1);
    $out->autoflush;

    for (my $i = 1; $go_on; $i++) {
        my $bundle = SvcTest::Bundle::random(groups => \@groups);
        push @{ $bundle->{roles} }, SvcTest::Bundle::role("$name-$i");
        my $text = SvcTest::Bundle::canonical($bundle);

        print $out "$name-$i\tsent\t$text\n";

        my $r = eval {
            $acme->admin(POST => '/config/apply?prune=true', $text, [], $all)
        };
        my $status = !$r ? 'lost'
                   : $r->status == 503 && !$r->header('retry-after')
                   ? '503 without Retry-After' : $r->status;

        print $out "$name-$i\t$status\t$text\n";
    }

    POSIX::_exit(0);
}


sub start {
    my $load = { files => [], pids => [] };

    $run++;

    for my $n (1 .. $CLIENTS) {
        my $file = $s->dir . "/client$run-$n";
        my $seed = int rand 2**31;
        my $pid = fork // die "fork: $!\n";

        if ($pid == 0) {
            srand $seed;
            client("c$run-$n", $file);
        }

        push @{ $load->{files} }, $file;
        push @{ $load->{pids} }, $pid;
    }

    going($load, 3);

    return $load;
}


sub lines {
    my ($file) = @_;

    open my $f, '<:raw', $file or return;

    return map { chomp; [ split /\t/, $_, 3 ] } grep { /\n\z/ } <$f>;
}


# Waits until each client has had $n more answers of 200.

sub going {
    my ($load, $n) = @_;

    for my $file (@{ $load->{files} }) {
        my $good = sub { scalar grep { $_->[1] eq '200' } lines($file) };
        my $want = $good->() + $n;

        wait_for { $good->() >= $want }
            or die "$file: no good answers any more\n";
    }
}


# Waits until all clients together have written $n more lines, whatever they say.

sub busy {
    my ($load, $n) = @_;

    my $count = sub {
        my $sum = 0;
        $sum += () = lines($_) for @{ $load->{files} };
        return $sum;
    };
    my $want = $count->() + $n;

    wait_for { $count->() >= $want };
}


sub stop {
    my ($load) = @_;

    kill 'TERM', @{ $load->{pids} };
    waitpid $_, 0 for @{ $load->{pids} };

    return map { lines($_) } @{ $load->{files} };
}


# --- what must be true after a fault -------------------------------------------------

sub fault {
    my ($name, $fault, %opt) = @_;

    my $load = start();

    $fault->($load);
    $s->wait_healthy or die "$name: not healthy\n";
    going($load, 3);

    my @lines = stop($load);
    my %text = map { $_->[0] => $_->[2] } @lines;
    my %status = map { $_->[0] => $_->[1] } @lines;
    my %n;

    $n{$_}++ for values %status;
    note(join ', ', map { "$_: $n{$_}" } sort keys %n);

    my @bad = grep { $_ ne '200' && !($_ eq '503' && $opt{down})
                     && !($_ =~ /^(?:lost|sent)$/ && $opt{lost}) } keys %n;
    is("@bad", '', "$name: every answer is 200"
       . ($opt{down} ? ', or 503 with Retry-After' : ''));

    # A request that its client gave up may still be under way.

    wait_for { $s->sessions("state <> 'idle'") == 0 };

    check($name, \%text, \%status);
}


sub check {
    my ($name, $text, $status) = @_;

    my @events = $s->sql('SELECT action, target_id,'
        . " coalesce((details ->> 'created')::int + (details ->> 'updated')::int"
        . " + (details ->> 'deleted')::int, 0), details ->> 'revision'"
        . " FROM svc.audit_event WHERE tenant_id = '$acme->{id}' ORDER BY id");

    # Each apply writes its changes, and then itself, before the next one does.

    my ($n, $who, @applied, @wrong) = (0, '');

    for my $event (@events) {
        my ($action, $id, $changes, $revision) = @$event;

        if ($action ne 'config.applied') {
            $n++;
            $who = $id if $action eq 'role.created' && $id =~ /^c\d+-\d+-\d+\z/;
            next;
        }

        push @wrong, "$who: $n events of $changes" if $n != $changes;
        push @wrong, "$who: revision $revision" if $revision != @applied + 2;
        push @applied, $who;
        $n = 0;
    }

    push @wrong, "$n events of nobody" if $n;
    is_deeply(\@wrong, [], "$name: each apply is in the log with all its changes");

    my %times;
    $times{$_}++ for @applied;

    is_deeply([ grep { $status->{$_} eq '200' && !$times{$_} } keys %$status ],
              [], "$name: what was answered 200 is there");
    is_deeply([ grep { $times{$_} > 1 } keys %times ], [],
              "$name: nothing is there twice");

    my $export = $acme->admin(GET => '/config', undef, [], $all)->body;

    is($export, $text->{$applied[-1]} // "no text of $applied[-1]",
       "$name: the last one of the log is left, whole");
    is($s->sql('SELECT revision FROM svc.governance WHERE tenant_id ='
               . " '$acme->{id}'"), @applied + 1, "$name: the revision agrees");
    is($s->sql('SELECT g.access_policy::text = v.snapshot::text'
               . ' FROM svc.governance g JOIN svc.access_policy_version v'
               . ' ON v.tenant_id = g.tenant_id AND v.number = g.access_number'
               . " AND v.id = g.access_version_id"), 't',
       "$name: and the version of the access policy");
}


fault('nothing', sub { });

fault('backends cut', sub {
    my ($load) = @_;

    for (1 .. 40) {
        $s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                . " WHERE usename = 'svc_app' ORDER BY random() LIMIT 1");
        busy($load, 1 + int rand 3);
    }
}, down => 1);

fault('backends cut that wait for the lock', sub {
    my ($load) = @_;

    for (1 .. 15) {
        wait_for { $s->sql("SELECT count(pg_terminate_backend(pid)) FROM"
                           . " pg_stat_activity WHERE usename = 'svc_app'"
                           . " AND wait_event_type = 'Lock'") > 0 };
    }
}, down => 1);

for my $signal (qw(KILL QUIT INT)) {
    fault("PostgreSQL stopped by $signal", sub {
        my ($load) = @_;

        for (1 .. 2) {
            busy($load, 1 + int rand 10);
            $s->pg->stop($signal);
            $s->pg->launch;
            $s->wait_healthy;
        }
    }, down => 1);
}

fault('a worker killed', sub {
    my ($load) = @_;

    for (1 .. 4) {
        busy($load, 1 + int rand 10);
        $s->nginx->kill_worker('KILL');
        $s->wait_healthy;
    }
}, lost => 1, down => 1);

fault('reloads', sub {
    my ($load) = @_;

    for (1 .. 4) {
        busy($load, 1 + int rand 10);
        $s->reload(linger => 1);
    }
});

ok((wait_for { !$s->nginx->old_worker_pids }), 'all old workers end');

$s->done(allow => [ qr/worker process \d+ exited on signal 9/ ]);
done_testing();
