#!/usr/bin/perl

# Redis behind sentinels: a master is killed, another one is promoted, and all
# processes follow; every event is delivered.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(wait_for signal_pid slurp);
use SvcTest::Receiver;
use SvcTest::Senders;
use SvcTest::Sentinel;


my $s = SvcTest->new(workers => 2, redis => 0,
                     locations => $SvcTest::Metrics::LOCATION);
my $redis = SvcTest::Sentinel->new($s->dir);
my $nginx = $s->nginx;
my $receiver = SvcTest::Receiver->new($s,
    svc_redis => $redis->directive,
    svc_webhook_queue => '50000 tenant=50000');

$redis->launch;
$s->start;

my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');
my $senders = SvcTest::Senders->new($s, $acme, $receiver);
my @port = map { $redis->server($_)->{port} } 0, 1;


sub metric {
    my ($name, %labels) = @_;

    return SvcTest::Metrics->get($s)->value("svc_$name", %labels);
}


# Tests that the workers and the helper each have a connection, and listen on
# another.

sub all_at {
    my ($n, $name) = @_;

    ok((wait_for {
        metric('redis_processes', process => 'worker', state => 'up') == 2
        && metric('redis_processes', process => 'helper', state => 'up') == 1
    }), "$name: the workers and the helper are connected");

    ok((wait_for {
        3 == grep { length } $redis->lines($port[$n], 'PUBSUB', 'CHANNELS',
                                           'svc.beat.*')
    }), "$name: and hear messages");
}


# Causes a fault of Redis while users are created, and tests that no event is
# lost.

sub through {
    my ($name, $fault) = @_;

    my $dropped = metric('webhook_dropped_total', reason => 'redis');

    $nginx->mark_log;
    $senders->start(300, rate => 60);
    $senders->wait(50);
    $fault->();

    my $sent = $senders->join;
    my ($lost, $doubled);

    wait_for { ($lost, $doubled) = $senders->compare($sent, $hook);
               !@$lost } 60;

    is(keys %$sent, 300, "$name: created");
    is(@$lost, 0, "$name: no event is lost")
        or diag($nginx->said(qr/dropped|Redis/));
    is(metric('webhook_dropped_total', reason => 'redis'), $dropped,
       "$name: none is dropped");
    diag("$doubled deliveries came twice") if $doubled;
}


ok($nginx->wait_helper, 'a helper');
all_at(0, 'the master');
is(scalar($nginx->said(qr/\[notice\].* Redis mymaster is at 127\.0\.0\.1:$port[0]/)),
   3, 'each process says where it is');


# --- the master is killed -----------------------------------------------------

through('killed', sub {
    $redis->end($redis->server(0), 'KILL');
    ok($redis->wait_promoted(1), 'killed: the replica is promoted');
});

all_at(1, 'promoted');
is(scalar($nginx->said(qr/Redis mymaster is at 127\.0\.0\.1:$port[1]/)), 3,
   'each process follows, and says so');
is(metric('redis_moves_total'), 3, 'which is counted');
is($s->health->json->{redis}, 'up', 'health: up');
ok((grep { /^cmdstat_eval:calls=/ }
    $redis->lines($port[1], 'INFO', 'commandstats')),
   'scripts, which it did not know, are there again');


# --- it comes back, and is a replica -------------------------------------------

through('back', sub {
    $redis->spawn_server(0);
    ok((wait_for { $redis->in_sync } 60), 'back: it is made a replica');
});

is(metric('redis_moves_total'), 3, 'back: nobody moves');


# --- a planned failover -------------------------------------------------------

# waits until the sentinels know a replica: before, they refuse a failover

sub switchover {
    my ($to) = @_;

    ok((wait_for { (($redis->lines($redis->sentinel(0)->{port}, 'SENTINEL',
                                   'failover', 'mymaster'))[0] // '') eq 'OK'
                 } 60),
       'planned: begun');
    ok($redis->wait_promoted($to), 'planned: promoted');
    ok((wait_for { $redis->in_sync } 60), 'planned: the other one follows');
}

through('planned', sub { switchover(0) });
all_at(0, 'planned');
is(metric('redis_moves_total'), 6, 'planned: each process moves once');


# --- sentinels that are down ---------------------------------------------------

# of three sentinels one hangs and one is gone

signal_pid('STOP', $redis->sentinel(0)->{pid});
$redis->end($redis->sentinel(1));
$nginx->mark_log;
$s->reload;
ok($nginx->wait_helper, 'one sentinel is left: a reload, a helper');
all_at(0, 'one sentinel is left');

# without sentinels, connected processes stay connected, and new ones wait

$redis->end($redis->sentinel(2));
ok((wait_for { $nginx->said(qr/sentinel \S+: Connection refused/) }),
   'no sentinel: the log tells');
is($s->health->json->{redis}, 'up', 'no sentinel: Redis is up all the same');

my $have = $receiver->at($hook);
my $before = metric('webhook_dropped_total', reason => 'redis');

$s->reload;
is($s->health->json->{redis}, 'down', 'no sentinel: new workers have no Redis');
$acme->new_user for 1 .. 30;
$redis->spawn_sentinel(2);
is(scalar($receiver->wait($hook, $have + 30)), $have + 30,
   'a sentinel is back: all is delivered');
is(metric('webhook_dropped_total', reason => 'redis'), $before,
   'a sentinel is back: none was dropped');

$s->done;

done_testing();
