#!/usr/bin/perl

# Deliveries in Redis: how many fit, which helper has them, and where they go
# when a helper, a node or Redis goes away.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Entry qw(signed);
use SvcTest::Process qw(wait_for signal_pid descendants);
use SvcTest::Receiver;
use SvcTest::Scim;


my $s = SvcTest->new;
$s->redis->{persistent} = 1;

my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_queue => '60 tenant=40 endpoint=40',
    svc_webhook_timeout => '60s',
    svc_webhook_shutdown_timeout => '1s');
$s->start;

my $n = $s->nginx;
my ($acme, $globex, $hooli) = map { $s->tenant($_) } qw(acme globex hooli);
my $ID = 'a' x 32;
my $UUID = '00000000-0000-4000-8000-000000000000';


sub pending {
    my ($field) = @_;

    return ($s->redis->lines('HGET', 'svc.webhook2.pending',
                             $field // 'total'))[0] || 0;
}


# Returns the live helpers, and how many deliveries each of them has.

sub helpers {
    return map { my ($have) = $s->redis->lines('HLEN', "svc.webhook2.own.$_");
                 [ $_ => $have ] }
           $s->redis->lines('ZRANGE', 'svc.webhook2.helpers', '1', '+inf',
                            'BYSCORE');
}


sub in_hand {
    my $sum = 0;

    $sum += $_->[1] for helpers();

    return $sum;
}


sub entries {
    return map { $s->redis->lines('HVALS', "svc.webhook2.own.$_->[0]") }
           helpers();
}


# Tests that no delivery is anywhere, and that none is counted.

sub empty {
    my ($name) = @_;

    ok((wait_for { !pending() && !in_hand()
                   && ($s->redis->lines('LLEN', 'svc.webhook2.queue'))[0] eq '0'
                 }), "$name: nothing is left in Redis")
        or diag(join "\n", $s->redis->lines('HGETALL', 'svc.webhook2.pending'),
                map { "@$_" } helpers());
}


sub logged {
    my ($node, $text) = @_;

    return wait_for { grep { /$text/ } $node->log_lines };
}


# Kills the helper.  Redis expects its next heartbeat only in an hour, so that a
# delivery that moves does so because its successor takes over at once.

sub kill_helper {
    my ($pid) = $n->helper_pids;
    my ($id) = (helpers())[0][0];

    signal_pid('STOP', $pid);
    $s->redis->command('ZADD svc.webhook2.helpers XX '
                       . 1000 * (3600 + int time) . " $id");
    signal_pid('KILL', $pid);

    ok($n->wait_helper($pid), 'the helper is killed, there is another one');
}


ok($n->wait_helper, 'there is a helper');
ok((wait_for { helpers() == 1 }), 'Redis knows it');


# --- through ----------------------------------------------------------------

my $ok = $receiver->hook($acme, '/ok');
$acme->new_user;
is(scalar $receiver->wait($ok, 1), 1, 'a delivery');
empty('delivered');
$acme->admin(DELETE => "/webhooks/$ok->{id}");


# --- how many fit -----------------------------------------------------------

my $hang = $receiver->hook($acme, '/hang?1');
my $theirs = $receiver->hook($globex, '/hang?2');

$acme->new_user for 1 .. 45;
ok((wait_for { in_hand() == 40 }), "a tenant's share of deliveries")
    or diag(pending());
is(pending($acme->{id}), 40, 'is counted');
ok(logged($n, qr/\[error\] .* webhook\ deliveries\ dropped .* \Q$acme->{id}\E:
                 \ the\ tenant's\ share\ of\ the\ queue\ is\ full/x),
   'more are dropped, which the log says');

$globex->new_user for 1 .. 19;
ok((wait_for { in_hand() == 59 }), 'the queue has one place left') or diag(pending());
$receiver->hook($globex, '/hang?3');
$globex->new_user;
ok(logged($n, qr/\[error\] .* \Q$globex->{id}\E: the queue is full/),
   'the log says that the queue is full');
is(in_hand(), 59, 'of an event that needs two places none is there') or diag(pending());


# --- taken over -------------------------------------------------------------

my $before = (helpers())[0][0];

kill_helper();
ok((wait_for { my @now = helpers(); @now == 1 && $now[0][0] ne $before
               && $now[0][1] == 59 }), 'which has all of them');
is(pending(), 59, 'the count is as before');

$acme->admin(DELETE => "/webhooks/$hang->{id}");
$globex->admin(DELETE => "/webhooks/$_->{id}")
    for @{ $globex->admin(GET => '/webhooks')->json->{webhooks} };

# a delivery in flight to a deleted endpoint waits for its answer

kill_helper();
empty('endpoints deleted');

# the successor knows of attempts that have ended

my $bad = $receiver->hook($acme, '/status/500?4');
$acme->new_user;
ok((wait_for { grep { /^\S+ 1 / } entries() }), 'an attempt has failed');
kill_helper();
is(scalar $receiver->wait($bad, 3), 3, 'two more follow');
empty('abandoned');
is(scalar $receiver->at($bad), 3, 'and no more');
$acme->admin(DELETE => "/webhooks/$bad->{id}");


# --- what is damaged ----------------------------------------------------------

my $good = $receiver->hook($acme, '/ok?5');

$s->redis->lines('EVAL', <<'EOT', 0, $ID, $UUID);
local head = '0 ' .. ARGV[1] .. ' ' .. ARGV[1] .. ' ' .. ARGV[2]
local damaged = { '', 'x', '0 ', head, head .. ' nowhere event\n{}',
                  '7' .. string.sub(head, 2) .. ' ' .. ARGV[2] .. ' e\n{}',
                  '\0\255', string.rep('x', 100000) }
for _, entry in ipairs(damaged) do
    redis.call('RPUSH', 'svc.webhook2.queue', entry)
    redis.call('HINCRBY', 'svc.webhook2.pending', 'total', 1)
end
redis.call('HSET', 'svc.webhook2.own.dead', 'x', 'y', 'z', head)
redis.call('ZADD', 'svc.webhook2.helpers', 1, 'dead')
return 1
EOT
$acme->new_user;
is(scalar $receiver->wait($good, 1), 1, 'a delivery behind damaged ones');
ok((wait_for { 8 <= grep { /\[error\] .* damaged webhook delivery/ }
                    $n->log_lines }), 'of which the log speaks');
empty('damaged');

$s->redis->lines('HSET', 'svc.webhook2.pending', 'total', 60, $UUID, 7);
ok((wait_for { !pending() }), 'a count of nothing goes away');


# as if the answer to a call on a broken connection had been late

$s->redis->lines('EVAL', <<'EOT', 0, (helpers())[0][0], $ID, $acme->{id},
redis.call('HSET', 'svc.webhook2.own.' .. ARGV[1], ARGV[2], ARGV[4])
redis.call('HINCRBY', 'svc.webhook2.pending', 'total', 1)
redis.call('HINCRBY', 'svc.webhook2.pending', ARGV[3], 1)
return 1
EOT
                 signed($s->{key_file}, "0 $ID $ID $acme->{id} $good->{id}"
                                        . " user.created\n{}"));
is(scalar $receiver->wait($good, 2), 2, 'what a helper has unawares');
empty('unawares');


# --- Redis restarts ---------------------------------------------------------

my $slow = $receiver->hook($acme, '/slow/1500?6');
$acme->new_user for 1 .. 10;
is(scalar $receiver->wait($slow, 10), 10, 'ten are in flight');
$s->redis->stop;
wait_for { !grep { $_->{time} > (time() - 2) * 1000 } $receiver->at($slow) } 5;
$s->redis->launch;
empty('Redis was away when they were answered');
is(scalar $receiver->at($slow), 10, 'none came twice');

ok((wait_for { $s->health->json->{redis} eq 'up' }), 'the worker knows it');

$s->redis->command('SCRIPT FLUSH');
$acme->new_user;
is(scalar $receiver->wait($slow, 11), 11, 'scripts that Redis has forgotten');
empty('SCRIPT FLUSH');
$acme->admin(DELETE => "/webhooks/$_->{id}") for $slow, $good;


# --- a fast stop ------------------------------------------------------------

my $hanging = $receiver->hook($acme, '/hang?6');
$acme->new_user for 1 .. 20;
ok((wait_for { in_hand() == 20 }), 'in hand');
$n->stop;
is(scalar helpers(), 0, 'a fast stop: the helper has left Redis');
$n->launch;
ok((wait_for { in_hand() == 20 }), 'after a start they are in hand again');
$acme->admin(DELETE => "/webhooks/$hanging->{id}");
$n->stop;
$n->launch;
empty('deleted');


# --- several nodes ----------------------------------------------------------

my $node = $s->node(svc => { %{ $n->{svc} } }, workers => 1);
my $all = $receiver->hook($hooli, '/hang?7');

ok($node->wait_helper, 'a second node has a helper');
ok((wait_for { helpers() == 2 }), 'Redis knows both');
wait_for { $hooli->new_user if pending() < 40;
           2 == grep { $_->[1] } helpers() };
is(scalar(grep { $_->[1] } helpers()), 2, 'both take deliveries');

my $sum = pending();

# a helper that is cut off for longer than Redis waits for its heartbeat

my @cut = descendants($node->pid);
signal_pid('STOP', @cut);
ok((wait_for { my @now = helpers();
               @now == 1 && $now[0][1] == $sum }),
   'of one that is silent the other one takes over')
    or diag("$sum: ", map { "@$_\n" } helpers());
signal_pid('CONT', @cut);
ok(logged($node, qr/\[warn\] .* was taken for dead/), 'it finds that out');
ok((wait_for { helpers() == 2 }), 'and goes on');
is(in_hand(), $sum, 'nothing is lost, nothing doubled');

$node->quit;
ok((wait_for { my @now = helpers(); @now == 1 }), 'a node that quits');

$s->done(allow => [ qr/\[alert\] .* unknown process \d+ exited on signal 9/ ]);
done_testing();
