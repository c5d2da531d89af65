#!/usr/bin/perl

# Events while Redis is away, hangs, or takes nothing: the outbox has them, and
# every event is delivered.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Metrics;
use SvcTest::Process qw(wait_for signal_pid);
use SvcTest::Receiver;
use SvcTest::Senders;


my $s = SvcTest->new(workers => 2,
                     locations => $SvcTest::Metrics::LOCATION);
my $redis = $s->redis;

# this Redis answers LOADING for a while when it starts

$redis->{persistent} = 1;
$redis->{options} = [ '--key-load-delay', '100' ];

my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_queue => '50000 tenant=50000', svc_webhook_outbox => '300ms');

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


# Waits until each worker has Redis.

sub up {
    return wait_for {
        SvcTest::Metrics->get($s)->value('svc_redis_processes', process => 'worker',
                                         state => 'up') >= 2
    };
}


# Causes a fault of Redis while 200 users a second are created, and tests that
# each event is delivered once.

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

# Nothing can be stored in the folder.  A failing dump may take longer than the
# events, so Redis is told in their midst to refuse writes after one.

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



# --- without an outbox ------------------------------------------------------------

sub configure {
    my (%svc) = @_;

    $nginx->{svc} = { %{ $nginx->{svc} }, %svc };
    $s->reload;
    up();
}


# a refused event delays nothing else; a helper without any deliveries would
# repair the key, so another helper has one in flight

configure(svc_webhook_outbox => 'off');
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

$redis->stop;
wait_for { $s->health->json->{redis} eq 'down' };
$acme->new_user for 1 .. 3;
is(dropped(), $before + 6, 'Redis is down: dropped, and counted');
ok((wait_for { $nginx->said(qr/\[error\] .* webhook\ deliveries\ dropped, .*
                               :\ Redis\ does\ not\ take\ them/x) }), 'and logged');
$redis->launch;
up();

is(scalar($receiver->at($hook)), $have + 2, 'and nobody sends it');

configure(svc_webhook_outbox => '300ms');
is(scalar($receiver->wait($hook, $have + 8)), $have + 8,
   'with an outbox all of it comes');


# --- a tenant in which little happens ----------------------------------------------

# the tenant is due in an hour, and the worker makes it due earlier

my $turn = "svc.webhook_outbox WHERE tenant_id = '$acme->{id}'";

ok((wait_for { $s->sql('SELECT count(*) FROM svc.webhook_done') == 0 }),
   'the log has been followed');
$redis->stop;
wait_for { $s->health->json->{redis} eq 'down' };
$s->sql("UPDATE svc.webhook_outbox SET due_at = now() + interval '1 hour'");
$have = $receiver->at($hook);
$before = dropped();
$acme->new_user;
ok((wait_for { $s->sql("SELECT due_at < now() + interval '1 minute' FROM $turn") eq 't' }),
   'an event that Redis misses: the tenant is due');
$redis->launch;
is(scalar($receiver->wait($hook, $have + 1)), $have + 1, 'it is delivered');
is(dropped(), $before, 'none is dropped');
ok(up(), 'Redis is up again');


# --- a test, which is not in the outbox -----------------------------------------------

$redis->command('DEL svc.webhook2.known');
$nginx->mark_log;
signal_pid('STOP', $redis->pid);

my $left = $s->begin(POST => "/v1/admin/webhooks/$hook->{id}/test",
                     $acme->headers);
my $error = admin_error($acme->admin(POST => "/webhooks/$hook->{id}/test"), 503,
                        'unavailable', 'a test that Redis does not confirm');

like($error->{message}, qr/^Redis, .* may not be sent/, 'is not told to be on its way');
$left->close;
signal_pid('CONT', $redis->pid);
up();
$have = $receiver->at($hook);
is($acme->admin(POST => "/webhooks/$hook->{id}/test")->status, 202, 'one that it does');
ok((wait_for { $receiver->at($hook) > $have }), 'comes');
ok((wait_for { $receiver->pending == 0 }), 'all have come');


# --- a worker that ends ---------------------------------------------------------

# before Redis has answered

$have = $receiver->at($hook);
$before = dropped();
signal_pid('STOP', $redis->pid);
$acme->new_user for 1 .. 20;
$s->reload(linger => 1);
signal_pid('CONT', $redis->pid);

# the old helper could not sign off: it is missed after ten seconds

is(scalar($receiver->wait($hook, $have + 20)), $have + 20,
   'a reload: what Redis had not confirmed is delivered');
ok((wait_for { !$nginx->old_worker_pids }), 'the old workers end');
is(dropped(), $before, 'none is dropped');

# without Redis a worker ends at once

$redis->stop;
wait_for { $s->health->json->{redis} eq 'down' };
$acme->new_user for 1 .. 20;
$s->reload(linger => 1);
ok((wait_for { !$nginx->old_worker_pids }), 'without Redis they end too');
$s->wait_healthy;
$acme->new_user for 1 .. 4;
$nginx->stop;
$redis->launch;
$nginx->launch;
$s->wait_healthy;
is(scalar($receiver->wait($hook, $have + 44)), $have + 44,
   'what they could not hand over is delivered');
ok((wait_for { $receiver->pending == 0 }), 'all of it');
is(scalar($receiver->at($hook)), $have + 44, 'nothing comes twice');

$s->done;

done_testing();
