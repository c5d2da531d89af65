#!/usr/bin/perl

# Counts what faults do to a constant load of creates and reads.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Load;
use SvcTest::Process qw(slow wait_for slurp signal_pid);
use SvcTest::Skip;

my ($READ, $WRITE, $SLOW) = (2, 4, 1);
my $POOLS = 2 * ($READ + $WRITE + $SLOW);

my $s = SvcTest->new(pg_conf => "fsync = on\nsynchronous_commit = on\n",
    svc => {
        svc_postgres_pool => [ "read connections=$READ depth=16",
                               "write connections=$WRITE depth=2",
                               "slow connections=$SLOW depth=1" ],
        svc_postgres_timeout => slow(20) . 's',
        svc_postgres_queue_timeout => slow(10) . 's',
    });
$s->start;

my $acme = $s->tenant('acme');


# Returns the number of open files of all workers, and the memory of the largest one
# in KB.

sub files {
    my $n = 0;

    $n += () = glob "/proc/$_/fd/*" for $s->workers;

    return $n;
}


sub memory {
    my ($most) = sort { $b <=> $a }
                 map { slurp("/proc/$_/statm") =~ /^\d+ (\d+)/ ? $1 * 4 : 0 }
                 $s->workers;

    return $most;
}


# Runs the load, with the fault in the middle of it. lost: answers may be missing, as
# those of a killed worker are. down: 503 is allowed.

sub fault {
    my ($name, $fault, %opt) = @_;

    my $load = SvcTest::Load->start($s, $acme);

    $fault->($load);
    $load->wait_going;

    my $seen = $load->stop;
    my (%outcome, @bad);

    for (@{ $seen->{create} }, @{ $seen->{read} }) {
        my ($user, $outcome) = @$_;

        $outcome =~ s/^(lost|wrong answer|503 without).*/$1/s;
        $outcome{$outcome}++;

        next if $outcome eq '503' && $opt{down};
        next if $outcome eq 'lost' && $opt{lost};
        next if $outcome eq ($user =~ /^bad/ ? 400
                             : $user =~ /^known/ ? 200 : 201);

        push @bad, "$user: $_->[1]";
    }

    is_deeply(\@bad, [], "$name: every answer is right"
              . ($opt{down} ? ', or 503 with Retry-After' : ''))
        or diag(grep { /PostgreSQL|\[warn\]/ } $s->nginx->log_lines);

    note(join ', ', map { "$_: $outcome{$_}" } sort keys %outcome);

    stored($name, $seen->{create});
    settled($name);
}


# Checks that each 201 is stored once, with its event, that a refused create is not
# stored, and any other one at most once.

sub stored {
    my ($name, $creates) = @_;

    my %events = map { $_->[0] => $_->[1] }
        $s->sql("SELECT target_id, count(*) FROM svc.audit_event"
                . " WHERE action = 'user.created' GROUP BY target_id");
    my %rows;

    for ($s->sql("SELECT user_name, id FROM svc.user_account"
                 . " WHERE user_name LIKE '%\@load.test'"))
    {
        my ($user, $id) = @$_;

        $rows{$user}[0]++;
        $rows{$user}[1] += $events{$id} // 0;
    }

    $_ = join ':', @$_ for values %rows;

    my @missing = grep { $_->[1] eq '201' && ($rows{$_->[0]} // '') ne '1:1' }
                  @$creates;
    my @refused = grep { $_->[1] eq '400' && $rows{$_->[0]} } @$creates;
    my $refused = grep { $_->[1] eq '400' } @$creates;
    my @twice = grep { ($rows{$_->[0]} // '1:1') ne '1:1' } @$creates;
    my $n = grep { $_->[1] eq '201' } @$creates;

    is(scalar @missing, 0, "$name: each of $n answers 201 is stored once")
        or diag(map { "$_->[0] $_->[1] " . ($rows{$_->[0]} // 'none') . "\n" }
                @missing);
    is(scalar @refused, 0, "$name: none of $refused that were refused is");
    cmp_ok($refused, '>', 0, "$name: and there were some");
    is(scalar @twice, 0, "$name: none is twice, or without its event");
}


sub settled {
    my ($name) = @_;

    ok((wait_for { $s->sessions('true') == $POOLS }),
       "$name: as many connections to PostgreSQL as before")
        or diag($s->sessions('true') . " instead of $POOLS");
}


# Waits until a create succeeds, once PostgreSQL accepts connections.

my $n = 0;

sub back {
    my ($name) = @_;

    ok((wait_for {
        my $r = eval { $acme->scim(POST => '/Users',
            { userName => 'back' . $n++ . '@back.test' }) };
        $r && $r->status == 201;
    }), "$name: it is back");
}


# --- faults that let nobody be refused, however busy the machine is ----------------

fault('nothing', sub { });
fault('Redis stopped', sub { $s->redis->stop });
$s->redis->launch;

fault('reload again and again', sub {
    my ($load) = @_;

    for (1 .. 20) {
        $s->reload(linger => 1);
        $load->wait_going(1);
    }
});

ok((wait_for { !$s->nginx->old_worker_pids }), 'all old workers end');

fault('a worker killed', sub { $s->nginx->kill_worker('KILL') }, lost => 1);


# --- where PostgreSQL is down, or seems to be -----------------------------------------

my $svc = $s->nginx->{svc};

@$svc{qw(svc_postgres_timeout svc_postgres_connect_timeout
         svc_postgres_queue_timeout)} = ('1s', '1s', '500ms');
$s->reload;

# A first load makes the workers allocate all memory that they ever need.

fault('nothing, with little time', sub { }, down => 1);

my @pids = $s->workers;
my $files = files();
my $memory = memory();

for my $signal (qw(KILL QUIT)) {
    my $name = $signal eq 'KILL' ? 'PostgreSQL killed'
                                 : 'PostgreSQL stopped at once';

    fault($name, sub {
        $s->pg->stop($signal);
        $s->pg->launch;
        back($name);
    }, down => 1);
}

fault('backends cut one by one', sub {
    for (1 .. 40) {
        $s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                . " WHERE usename = 'svc_app' ORDER BY random() LIMIT 1");
        select undef, undef, undef, 0.02;
    }
}, down => 1);

fault('PostgreSQL that never answers', sub {
    $s->nginx->mark_log;
    $s->pg->freeze;

    # Waits until silent connections are given up, and the new ones after them.

    my ($alive, $given_up) = (0, 0);

    ok((wait_for {
        $alive++ if $s->http(GET => '/alive')->status == 200;
        $given_up = $s->nginx->said(qr/connecting failed: timed out/);
        $alive > 10 && $given_up && $s->health->status == 503;
    }), 'the workers answer other requests meanwhile')
        or diag("$alive answers, $given_up given up");

    $s->pg->thaw;
    back('PostgreSQL that never answers');
}, down => 1);

is_deeply([ sort $s->workers ], [ sort @pids ], 'the workers are the same');

ok((wait_for { files() <= $files }), 'no open file is left over')
    or diag(files() . " instead of $files");

SKIP: {
    skip_part('a sanitizer keeps freed memory, and looks for leaks itself', 1)
        if $ENV{SVC_TEST_SLOW};

    cmp_ok(memory(), '<', $memory * 1.5 + 2048, 'nor memory');
}

$s->done(allow => [ qr/worker process \d+ exited on signal 9/ ]);
done_testing();
