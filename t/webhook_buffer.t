#!/usr/bin/perl

# Events while Redis is away, hangs, or takes nothing: a worker buffers them, so
# that as many are delivered as were created.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Monitor;
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;
use SvcTest::Senders;


my $s = SvcTest->new(workers => 2,
                     locations => $SvcTest::Metrics::LOCATION);
my $redis = $s->redis;

# a Redis that starts says LOADING for a while

$redis->{persistent} = 1;
$redis->{options} = [ '--key-load-delay', '100' ];

my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_queue => '50000 tenant=50000', svc_webhook_outbox => 'off');

$s->start;

my $nginx = $s->nginx;
my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');
my $senders = SvcTest::Senders->new($s, $acme, $receiver);


sub metric {
    my ($name, %labels) = @_;

    return SvcTest::Metrics->get($s)->value("svc_webhook_$name", %labels);
}


sub dropped {
    return metric('dropped_total', reason => 'redis');
}


sub up {
    return wait_for { ($s->health->json // {})->{redis} eq 'up' };
}


# While users are created 200 times a second something happens to Redis: as many
# events are delivered as were created, and each once.

sub through {
    my ($name, $fault) = @_;

    $nginx->mark_log;
    $senders->start(400, rate => 200);
    $senders->wait(100);
    $fault->();

    my $sent = $senders->finish($hook);
    my ($lost, $doubled) = $senders->compare($sent, $hook);

    is(keys %$sent, 400, "$name: created");
    is(@$lost, 0, "$name: none is lost")
        or diag($nginx->said(qr/dropped|Redis/));
    is($doubled, 0, "$name: none comes twice");
    is(scalar($nginx->said(qr/webhook deliveries dropped/)), 0,
       "$name: none dropped");
}


ok($nginx->wait_helper, 'a helper');
ok(up(), 'Redis');


# --- a connection that breaks -------------------------------------------------

through('connections are cut', sub {
    $redis->command('CLIENT KILL TYPE normal');
    $redis->command('CLIENT KILL TYPE pubsub');
});

through('connections are cut again and again', sub {
    for (1 .. 20) {
        $redis->command('CLIENT KILL TYPE normal');
        select undef, undef, undef, 0.06;
    }
});


# --- Redis goes and comes back ------------------------------------------------

$redis->lines('EVAL', "for i = 1, 10000 do redis.call('SET', 'some' .. i, i) end",
              0);

through('Redis restarts', sub {
    $redis->stop;
    $redis->spawn;

    ok((wait_for { ($redis->command('PING') // '') =~ /LOADING/ }),
       'which takes its time to load');
    ok(up(), 'and is up again');
});

$redis->{options} = [];
$redis->command('FLUSHALL');
up();

through('Redis is killed', sub {
    $redis->stop('KILL');
    $redis->launch;
});

through('Redis hangs', sub {
    signal_pid('STOP', $redis->pid);
    wait_for { $nginx->said(qr/Redis .* is down: timed out/) };
    wait_for { keys %{ $senders->sent } == 400 };
    signal_pid('CONT', $redis->pid);
});


# --- Redis takes nothing --------------------------------------------------------

sub refused {
    my ($code, $begin, $end) = @_;

    through($code, sub {
        $begin->();
        ok((wait_for { $nginx->said(qr/Redis\ refuses\ "push":\ .*$code\ 
                                      |Redis\ .*\ is\ down:\ $code/x) }),
           "$code");
        $end->();
    });
}


refused('READONLY', sub { $redis->command('REPLICAOF 127.0.0.1 1') },
        sub { $redis->command('REPLICAOF NO ONE') });

refused('OOM', sub { $redis->command('CONFIG SET maxmemory 1') },
        sub { $redis->command('CONFIG SET maxmemory 0') });

# A folder that nothing can be stored in: that a dump fails may take longer than
# the events last, and what follows from it is switched on in their midst.

$redis->command('CONFIG SET stop-writes-on-bgsave-error no');
$redis->command('CONFIG SET save "3600 1"');
chmod 0500, $redis->{data};

ok((wait_for {
        $redis->command('BGSAVE');
        grep { /rdb_last_bgsave_status:err/ }
             $redis->lines('INFO', 'persistence');
    }), 'a dump that fails');

refused('MISCONF',
        sub { $redis->command('CONFIG SET stop-writes-on-bgsave-error yes') },
        sub { $redis->command('CONFIG SET stop-writes-on-bgsave-error no') });

chmod 0700, $redis->{data};
$redis->command('CONFIG SET save ""');

# what would be refused again is dropped, and holds nobody up; a helper that finds
# nothing anywhere would put the key right, so another one has something in flight

$redis->command('ZADD svc.webhook2.helpers inf another');
$redis->command('HSET svc.webhook2.own.another some entry');
$nginx->mark_log;
my $before = dropped();
my $have = $receiver->at($hook);

$redis->command('SET svc.webhook2.pending damaged');
$acme->new_user for 1 .. 3;
ok((wait_for { dropped() == $before + 3 }), 'WRONGTYPE: dropped, and counted');
ok($nginx->said(qr/webhook\ deliveries\ dropped,\ the\ last\ ones\ of\ tenant
           \ \Q$acme->{id}\E:\ Redis\ refuses/x), 'and logged');
$redis->command('DEL svc.webhook2.pending svc.webhook2.own.another');
$redis->command('ZREM svc.webhook2.helpers another');
$acme->new_user for 1 .. 2;
is(scalar($receiver->wait($hook, $have + 2)), $have + 2, 'then it goes on');


# --- bounds ---------------------------------------------------------------------

sub configure {
    my (%svc) = @_;

    $nginx->{svc} = { %{ $nginx->{svc} }, %svc };
    $nginx->{workers} = 1;
    $s->reload;
    up();
}

# What is dropped of 30 events while Redis is away; all else is delivered.

sub overflow {
    my ($name, $drops, $why, $wait) = @_;

    $nginx->mark_log;
    $before = dropped();
    $have = $receiver->at($hook);
    $redis->stop;
    wait_for { $s->health->json->{redis} eq 'down' };
    $acme->new_user for 1 .. 30;
    ok((wait_for { $drops->(dropped() - $before) }), "$name: dropped")
        or diag(dropped() - $before);
    my $gone = dropped() - $before;
    is(metric('kept'), 30 - $gone, "$name: the others are buffered");
    ok($nginx->said(qr/\[error\].* webhook deliveries dropped.*: $why/),
       "$name: why");
    $redis->launch;
    is(scalar($receiver->wait($hook, $have + 30 - $gone)),
       $have + 30 - $gone, "$name: what was buffered is delivered");
    ok((wait_for { metric('kept') == 0 }), "$name: the buffer is empty");
    is(dropped() - $before, $gone, "$name: and no more are dropped");
}

# a tenant that is alone has half of it

configure(svc_webhook_keep => 40);
overflow('number', sub { $_[0] == 10 }, qr/.*share.*"svc_webhook_keep"/);

configure(svc_webhook_keep => undef, svc_webhook_keep_size => '16k');
overflow('bytes', sub { $_[0] > 5 && $_[0] < 25 },
         qr/.*share.*"svc_webhook_keep_size"/);

configure(svc_webhook_keep_size => undef,
          svc_webhook_keep_time => slow(1) . 's');
overflow('age', sub { $_[0] == 30 }, qr/.*"svc_webhook_keep_time"/);


# --- tenants share them -----------------------------------------------------------

sub shared {
    my ($name, $globex, $other, %svc) = @_;

    my $behind = $receiver->at($other);

    configure(%svc);
    $nginx->mark_log;
    $before = dropped();
    $have = $receiver->at($hook);
    $redis->stop;
    wait_for { $s->health->json->{redis} eq 'down' };
    $acme->new_user for 1 .. 60;

    my $gone = dropped() - $before;
    my @theirs = map { $globex->create(
                           userName => "$name$_\@globex.test")->{id} } 1 .. 5;

    cmp_ok($gone, '>=', 20, "$name: what is too much of a burst is dropped");
    is(dropped() - $before, $gone, "$name: and nothing of another tenant");
    ok($nginx->said(qr/\[error\].* of\ tenant\ \Q$acme->{id}\E:
                       \ .*the\ tenant's\ share
               /x), "$name: the log says whose");
    $redis->launch;
    is(scalar($receiver->wait($hook, $have + 60 - $gone)), $have + 60 - $gone,
       "$name: the rest is delivered");

    my @got = $receiver->wait($other, $behind + 5);

    is_deeply([ sort map { JSON::PP::decode_json($_->{body})->{data}{userId} }
                @got[$behind .. $#got] ], [ sort @theirs ],
              "$name: and all of the other tenant");
    ok((wait_for { metric('kept') == 0 }), "$name: the buffer is empty");
}

my $globex = $s->tenant('globex');
my $other = $receiver->hook($globex, '/globex');

shared('number', $globex, $other, svc_webhook_keep => 40,
       svc_webhook_keep_time => undef);
shared('bytes', $globex, $other, svc_webhook_keep => undef,
       svc_webhook_keep_size => '16k');
$have = $receiver->at($hook);


# --- in order -------------------------------------------------------------------

configure(svc_webhook_keep_size => undef,
          svc_webhook_shutdown_timeout => slow(2) . 's');

my $monitor = SvcTest::Monitor->new($redis);

signal_pid('STOP', $redis->pid);
wait_for { $s->health->json->{redis} eq 'down' };

my @ids = map { $acme->new_user->{id} } 1 .. 50;

signal_pid('CONT', $redis->pid);
is_deeply([ map { "@$_" =~ /"userId":"([^"]+)"/ }
            $monitor->wait(50, 'RPUSH', 'svc.webhook2.queue') ], \@ids,
          'buffered events are queued in their order');
$receiver->wait($hook, $have + 50);


# --- a worker that ends ---------------------------------------------------------

# it hands over what it has as soon as Redis hears it

$have = $receiver->at($hook);
$before = dropped();
signal_pid('STOP', $redis->pid);
$acme->new_user for 1 .. 20;
$s->reload(linger => 1);
is(scalar($nginx->old_worker_pids), 1, 'a reload: the old worker stays');
signal_pid('CONT', $redis->pid);

# the old helper could not say goodbye: it is missed after ten seconds

is(scalar($receiver->wait($hook, $have + 20)), $have + 20,
   'what it had buffered is delivered');
ok((wait_for { !$nginx->old_worker_pids }), 'then it ends');
is(dropped(), $before, 'none is dropped');

# and has so long, and no longer

$nginx->mark_log;
$redis->stop;
wait_for { $s->health->json->{redis} eq 'down' };
$acme->new_user for 1 .. 20;
my $start = time;
$s->reload(linger => 1);
ok((wait_for { !$nginx->old_worker_pids }), 'without Redis it ends too');
cmp_ok(time - $start, '>', slow(1), 'after a while');
is(dropped(), $before + 20, 'what it had is counted');
ok($nginx->said(qr/\[error\] .* 20\ webhook\ deliveries\ dropped, .*
           :\ the\ worker\ ends/x), 'and logged');

# at once, when it must

$s->wait_healthy;
$acme->new_user for 1 .. 4;
$nginx->stop;
ok($nginx->said(qr/\[error\] .* \b4\ webhook\ deliveries\ dropped, .*
           :\ the\ worker\ ends/x), 'a fast stop: logged');
$redis->launch;
$nginx->launch;
$s->wait_healthy;
is(scalar($receiver->at($hook)), $have + 20, 'nothing comes twice');

$s->done;

done_testing();
