#!/usr/bin/perl

# Webhooks with a Redis that is full, that is read-only, or that was damaged by
# hand.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $redis = $s->redis;
my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/fail/2');
my $fine = $receiver->hook($acme, '/ok');


# --- full --------------------------------------------------------------------

my $helper = $s->nginx->wait_helper;

$acme->new_user for 1 .. 5;
$receiver->wait($fine, 5);
$redis->command('CONFIG SET maxmemory 1');

# what is queued is delivered, and for longer than a helper without heartbeats
# counts as alive

$acme->new_user;
ok((wait_for { $s->nginx->said(qr/\[error\] .* Redis refuses "push": .*OOM/) }),
   'it takes no more');
is(scalar($receiver->wait($hook, 15)), 15, 'what it has is delivered');
ok((wait_for { $redis->command('EXISTS svc.webhook2.pending') eq ':0' }),
   'and makes room');

is(scalar(grep { /acknowledge|heartbeat|take/ }
          $s->nginx->said(qr/Redis refuses/)), 0,
   'Redis refuses nothing that the helper needs');

$redis->command('CONFIG SET maxmemory 0');
$acme->new_user;
is(scalar($receiver->wait($fine, 7)), 7,
   'with room it takes deliveries again, those too that were kept');

# --- damaged -----------------------------------------------------------------

$s->nginx->mark_log;
$redis->lines('EVAL', "for i = 1, 5000 do
                           redis.call('RPUSH', KEYS[1], '0 garbage ' .. i)
                       end", 1, 'svc.webhook2.queue');
$acme->new_user;
is(scalar($receiver->wait($fine, 8)), 8, 'what is damaged is passed by');

$acme->new_user;
$receiver->wait($fine, 9);
cmp_ok(scalar($s->nginx->said(qr/\[error\].* damaged/)), '<=', 20,
       'with few lines in the log');

# --- a replica ---------------------------------------------------------------

$s->nginx->mark_log;
$redis->command('REPLICAOF 127.0.0.1 1');
$acme->new_user;
ok((wait_for { $s->nginx->said(qr/Redis .*READONLY/) }),
   'a replica is named as what it is');

$redis->command('REPLICAOF NO ONE');
wait_for { $redis->command('HEXISTS svc.webhook2.pending total') eq ':0' };
$acme->new_user;
is(scalar($receiver->wait($fine, 11)), 11, 'and what it did not take is kept');

is($s->nginx->wait_helper, $helper, 'all by the same helper');

# --- a worker that has just begun --------------------------------------------

# the worker is connected, and Redis has not answered yet

$s->nginx->{svc}{svc_redis_timeout} = '10s';
$s->reload;
signal_pid('STOP', $redis->pid);
$s->reload(linger => 1);
$acme->new_user;
signal_pid('CONT', $redis->pid);
is(scalar($receiver->wait($fine, 12)), 12, 'its webhook is delivered');

$s->done;

done_testing();
