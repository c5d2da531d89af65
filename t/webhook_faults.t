#!/usr/bin/perl

# Counts deliveries under faults: none is lost when the helper is killed, and
# every other one that is lost or comes twice has a reason.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(repeated slow wait_for signal_pid);
use SvcTest::Receiver;
use SvcTest::Senders;


my $EVENTS = repeated(SVC_TEST_EVENTS => 4_000, 6_000);

my $s = SvcTest->new(workers => 2, connections => 2048);

$s->redis->{persistent} = 1;
$s->nginx->{svc} = { svc_webhook_queue => '50000 tenant=50000' };

my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');
my $senders = SvcTest::Senders->new($s, $acme, $receiver);


# --- without faults ----------------------------------------------------------

$senders->start(1000);
my $sent = $senders->finish($hook);
my ($lost, $doubled) = $senders->compare($sent, $hook);

is(keys %$sent, 1000, 'events without faults');
is(@$lost, 0, 'none is lost');
is($doubled, 0, 'none comes twice');

# --- a helper that is killed -------------------------------------------------

$senders->start(2000, rate => 400);

my ($helper, $seen) = (0);

for (1 .. 4) {
    $seen = $receiver->at($hook);

    $helper = $s->nginx->wait_helper($helper) or die "no helper\n";
    wait_for { $receiver->at($hook) > $seen };
    signal_pid('KILL', $helper);
}

$sent = $senders->finish($hook);
($lost, $doubled) = $senders->compare($sent, $hook);

is(@$lost, 0, 'none is lost when the helper is killed');
note("$doubled of " . keys(%$sent) . ' came twice');
cmp_ok($doubled, '<=', 4 * 64, 'twice come those in flight, at most');

# --- the same while Redis hangs, and is killed too ----------------------------

# the number of outcomes that Redis has not been told of is limited

my $slow = $receiver->hook($acme, '/slow/100');

$helper = $s->nginx->wait_helper($helper) or die "no helper\n";
$senders->start(1600);
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

$sent = $senders->finish($slow);
($lost, $doubled) = $senders->compare($sent, $slow);

note("$doubled of " . (keys(%$sent) - @$lost) . ' came twice');
cmp_ok($doubled, '<=', 2 * 64, 'nor do many come twice when Redis hangs');
cmp_ok($seen, '>', 100, 'of those that had come');
$acme->admin(DELETE => "/webhooks/$slow->{id}");

# --- PostgreSQL goes and comes back ------------------------------------------

$senders->start(400);
$senders->join;
$s->pg->stop('QUIT');

# a delivery whose endpoint is not read yet waits, and no attempt is counted

$s->redis->command('PUBLISH svc.webhook.changed *');
$s->pg->launch;
$s->wait_healthy;
$sent = $senders->finish($hook);
($lost, $doubled) = $senders->compare($sent, $hook);
is(@$lost + $doubled, 0, 'nor is one without PostgreSQL');

# --- all at once -------------------------------------------------------------

$senders->start($EVENTS, rate => 400);

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

$senders->stop;
$sent = $senders->finish($hook);
($lost, $doubled) = $senders->compare($sent, $hook);

diag(sprintf '%d events, %d kills, %d reloads, Redis restarted: %d lost, %d'
     . ' doubled', scalar keys %$sent, $kills, $reloads, scalar @$lost,
     $doubled);

is(@$lost, 0, 'nothing is lost')
    or diag('ms after Redis went, which was down for ',
            int($down[1] - $down[0]), ":\n",
            (map { int($sent->{$_} - $down[0]) . " $_\n" }
             splice @$lost, 0, 10),
            grep { /dropped|Redis|reconfiguring/ } $s->nginx->log_lines);
cmp_ok($doubled, '<=', $kills * 64 + 256, 'and few come twice');

$s->done(allow => [ qr/exited on signal 9/ ]);

done_testing();
