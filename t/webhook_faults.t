#!/usr/bin/perl

# Deliveries counted under faults: none is lost when the helper is killed, and
# what else is lost or comes twice has a reason.

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;


my $EVENTS = $ENV{SVC_TEST_EVENTS} // 20_000;
my $SENDERS = 4;

my $s = SvcTest->new(workers => 2, connections => 2048);

$s->redis->{persistent} = 1;
$s->nginx->{svc} = { svc_webhook_queue => '50000 tenant=50000' };

my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');
my $run = 0;
my @pids;


# Creates users over connections that are kept; a line for each that is there:
# its id, and when it was.

sub emit {
    my ($file, $name, $n) = @_;

    open my $out, '>', $file or POSIX::_exit(1);
    $out->autoflush;

    my ($c, $done) = (undef, 0);

    for my $i (1 .. $n) {
        $c = undef if $c && $c->error;
        $c //= eval { $s->connection } // next;

        my $r = eval {
            $c->request(POST => '/scim/v2/Users', [
                @{ $acme->headers },
                'Content-Type', 'application/scim+json'
            ], SvcTest::encode({ userName => "$name-$i\@load.test" }));
        };

        if (!$r) {
            $c = undef;
            next;
        }

        print $out $r->json->{id} . ' ' . 1000 * time . "\n"
            if $r->status == 201;

        $c = undef if ($r->header('connection') // '') eq 'close';
    }
}


sub start {
    my ($n) = @_;

    $run++;

    for my $i (1 .. $SENDERS) {
        my $pid = fork // die "fork: $!\n";

        if ($pid == 0) {
            emit("$s->{dir}/sent$run.$i", "u$run-$i", $n / $SENDERS);
            POSIX::_exit(0);
        }

        push @pids, $pid;
    }
}


# The users that were created; all of their events have had the time to come.

sub finish {
    waitpid $_, 0 for splice @pids;

    my %sent;

    for my $file (glob "$s->{dir}/sent$run.*") {
        open my $fh, '<', $file or die "$file: $!\n";
        /^(\S+) (\S+)$/ and $sent{$1} = $2 while <$fh>;
    }

    wait_for { $receiver->pending == 0 } 40;

    return \%sent;
}


# What is lost of them: the user ids; and how many deliveries came twice.

sub compare {
    my ($sent, $hook) = (@_, $hook);

    my (%user, %delivery);

    for my $got ($receiver->at($hook)) {
        my $id = JSON::PP::decode_json($got->{body})->{data}{userId};

        next if !exists $sent->{$id};
        $user{$id}++;
        $delivery{ $got->{header}{'x-svc-delivery'} }++;
    }

    my @lost = grep { !$user{$_} } sort keys %$sent;

    return (\@lost, scalar grep { $_ > 1 } values %delivery);
}


# --- without faults ----------------------------------------------------------

start(2000);
my $sent = finish();
my ($lost, $doubled) = compare($sent);

is(keys %$sent, 2000, 'events without faults');
is(@$lost, 0, 'none is lost');
is($doubled, 0, 'none comes twice');

# --- a helper that is killed -------------------------------------------------

start(3000);

my ($helper, $seen) = (0);

for (1 .. 4) {
    $seen = $receiver->at($hook);

    $helper = $s->nginx->wait_helper($helper) or die "no helper\n";
    wait_for { $receiver->at($hook) > $seen } 5;
    signal_pid('KILL', $helper);
}

$sent = finish();
($lost, $doubled) = compare($sent);

is(@$lost, 0, 'none is lost when the helper is killed');
note("$doubled of " . keys(%$sent) . ' came twice');
cmp_ok($doubled, '<=', 4 * 64, 'twice come those in flight, at most');

# --- the same while Redis hangs, and is killed too ----------------------------

# what is acknowledged without Redis hearing of it has a limit

my $slow = $receiver->hook($acme, '/slow/100');

$helper = $s->nginx->wait_helper($helper) or die "no helper\n";
start(1600);
wait_for { $receiver->at($slow) > 100 };
signal_pid('STOP', $s->redis->pid);
$seen = 0;
wait_for {
    my $before = $seen;

    select undef, undef, undef, slow(0.5);
    ($seen = $receiver->at($slow)) == $before;
};
signal_pid('KILL', $_) for $helper, $s->redis->pid;
$s->redis->stop;
$s->redis->launch;
$s->wait_healthy;

$sent = finish();
($lost, $doubled) = compare($sent, $slow);

note("$doubled of " . (keys(%$sent) - @$lost) . ' came twice');
cmp_ok($doubled, '<=', 2 * 64, 'nor do many come twice when Redis hangs');
cmp_ok($doubled, '>', 0, 'but some do');
$acme->admin(DELETE => "/webhooks/$slow->{id}");

# --- PostgreSQL goes and comes back ------------------------------------------

start(400);
waitpid $_, 0 for splice @pids;
$s->pg->stop('QUIT');

# what is not read yet waits, and is no attempt

$s->redis->command('PUBLISH svc.webhook.changed *');
$s->pg->launch;
$s->wait_healthy;
$sent = finish();
($lost, $doubled) = compare($sent);
is(@$lost + $doubled, 0, 'nor is one without PostgreSQL');

# --- all at once -------------------------------------------------------------

start($EVENTS);

my @down;
my ($kills, $reloads) = (0, 0);

for my $i (1 .. 10) {
    $helper = $s->nginx->wait_helper($helper) or die "no helper\n";
    signal_pid('KILL', $helper);
    $kills++;

    select undef, undef, undef, rand 0.3;
    $s->reload(linger => 1);
    $reloads++;

    if ($i == 5) {
        push @down, 1000 * time;
        $s->redis->stop;
        $s->redis->launch;
        push @down, 1000 * time;
    }
}

$sent = finish();
($lost, $doubled) = compare($sent);

diag(sprintf '%d events, %d kills, %d reloads, Redis restarted: %d lost, %d'
     . ' doubled', scalar keys %$sent, $kills, $reloads, scalar @$lost,
     $doubled);

# what a worker could not push while Redis was down is dropped, and said to be

my @outside = grep { $sent->{$_} < $down[0] - slow(2000)
                     || $sent->{$_} > $down[1] + slow(3000) } @$lost;

is(@outside, 0, 'nothing is lost but while Redis is down')
    or diag('ms after Redis went, which was down for ',
            int($down[1] - $down[0]), ":\n",
            (map { int($sent->{$_} - $down[0]) . " $_\n" }
             splice @outside, 0, 10),
            grep { /dropped|Redis|reconfiguring/ } $s->nginx->log_lines);
cmp_ok($doubled, '<=', $kills * 64 + 256, 'and few come twice');

$s->done(allow => [ qr/exited on signal 9/ ]);

done_testing();
