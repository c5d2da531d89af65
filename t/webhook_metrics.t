#!/usr/bin/perl

# What svc_metrics shows of webhooks: outcomes and drops, what is under way, and
# a helper process that is killed.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(wait_for signal_pid);
use SvcTest::Receiver;


my $s = SvcTest->new(svc => { svc_webhook_timeout => '3s' },
                     locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $ENDED = 'svc_webhook_deliveries_total';
my $DROPPED = 'svc_webhook_dropped_total';
my %helper = (process => 'helper');
my $m;


sub metrics { return $m = SvcTest::Metrics->get($s) }

sub becomes {
    my ($name, $labels, $value, $what) = @_;

    wait_for { metrics()->value($name, %$labels) == $value };
    is($m->value($name, %$labels), $value, $what);
}

# --- a helper -----------------------------------------------------------------

becomes('svc_processes', { %helper }, 1, 'a helper process');
is($m->value('svc_processes', process => 'worker'), 2, 'is no worker');
becomes('svc_webhook_helper_starts_total', {}, 1, 'one was started');
wait_for { metrics()->sum('svc_postgres_connections', %helper,
                          state => 'ready') == 2 };
is($m->sum('svc_postgres_connections', %helper, state => 'ready'), 2,
   'has connections of its own');
is($m->sum('svc_postgres_connections', %helper), 2, 'and no more');
is($m->sum('svc_postgres_connections', process => 'worker'), 14,
   'the workers have theirs');
becomes('svc_redis_processes', { %helper, state => 'up' }, 1, 'Redis too');


# --- outcomes -----------------------------------------------------------------

# three attempts take six seconds

my $lost = $s->tenant('lost');
$receiver->hook($lost, '/status/500');
$lost->new_user;

my $acme = $s->tenant('acme');
$acme->new_user;
is(metrics()->value('svc_webhook_events_total'), 1, 'nobody takes this one');

$receiver->hook($acme, '/ok');
$receiver->hook($acme, '/ok2');
$acme->new_user for 1 .. 3;

becomes($ENDED, { outcome => 'acknowledged' }, 6, 'acknowledged');
is($m->value('svc_webhook_events_total'), 4, 'events');
is($m->value('svc_webhook_queued_total'), 7, 'a delivery for each endpoint');

my $refused = $s->tenant('refused');
my $hook = $receiver->hook($refused, '/ok');
$s->sql("UPDATE svc.webhook_endpoint SET url = 'https://10.0.0.1/'"
        . " WHERE id = '$hook->{id}'");
$refused->new_user;
becomes($ENDED, { outcome => 'refused' }, 1, 'refused');

my $gone = $s->tenant('gone');
$hook = $receiver->hook($gone, '/fail/9');
$gone->new_user;
$receiver->wait($hook, 1);
is($gone->admin(DELETE => "/webhooks/$hook->{id}")->status, 204, 'deleted');
becomes($ENDED, { outcome => 'cancelled' }, 1, 'cancelled');

becomes($ENDED, { outcome => 'abandoned' }, 1, 'abandoned');
is($m->value('svc_webhook_retries_total'), 3, 'retries');
is($m->sum($ENDED), $m->value('svc_webhook_queued_total'),
   'all that were queued have ended');
is($m->sum($DROPPED), 0, 'none was dropped');
becomes("svc_webhook_$_", {}, 0, "$_: none") for qw(pending in_flight);
is_deeply($m->{errors}, [], 'the format');


# --- on its way, and a helper that is killed ----------------------------------

my $slow = $s->tenant('slow');
$hook = $receiver->hook($slow, '/slow/1500');
$slow->new_user;
$receiver->wait($hook, 1);
becomes('svc_webhook_in_flight', {}, 1, 'in flight');
is($m->value('svc_webhook_pending'), 1, 'and pending');

signal_pid('KILL', $s->nginx->helper_pids);

becomes('svc_webhook_helper_starts_total', {}, 2, 'killed: another one starts');
becomes('svc_processes', { %helper }, 1, 'there is one');
becomes('svc_webhook_taken_over_total', {}, 1, 'it takes over');
becomes($ENDED, { outcome => 'acknowledged' }, 7, 'and delivers');
becomes("svc_webhook_$_", {}, 0, "$_: none") for qw(pending in_flight);
is($m->sum('svc_postgres_connections', %helper), 2,
   'connections are those of the new one');


# --- drops --------------------------------------------------------------------

# with an outbox no event is dropped, and Redis is back before the outbox looks

$s->redis->stop('KILL');
wait_for { ($s->health->json // {})->{redis} eq 'down' };
$acme->new_user;
is(metrics()->value($DROPPED, reason => 'redis'), 0,
   'Redis is down: an event waits in the outbox');
$s->nginx->{svc}{svc_webhook_outbox} = 'off';   # dropped events stay dropped
$s->reload;
wait_for { $acme->new_user; metrics()->value($DROPPED, reason => 'redis') };
is($m->value($DROPPED, reason => 'redis'), 2, 'without one it is dropped');
$s->redis->launch;
$s->wait_healthy;
becomes('svc_redis_processes', { process => 'worker', state => 'up' }, 2,
        'it is back');
becomes('svc_redis_processes', { %helper, state => 'up' }, 1, 'for the helper');
wait_for { metrics()->sum($ENDED) == $m->value('svc_webhook_queued_total')
           && !$m->value('svc_webhook_pending') };

my $before = metrics()->sum($ENDED);
my ($one, $two) = map { $s->tenant($_) } qw(one two);
$receiver->hook($_, '/hang') for $one, $two;

$s->nginx->{svc}{svc_webhook_queue} = '2 tenant=1';
$s->reload;
becomes('svc_processes', { %helper }, 1, 'reloaded: one helper');
is($m->sum($ENDED), $before, 'counters stay');

$one->new_user;
becomes('svc_webhook_in_flight', {}, 1, 'one hangs');
$one->new_user;
becomes($DROPPED, { reason => 'tenant_full' }, 1, 'the tenant has its share');
$two->new_user;
becomes('svc_webhook_in_flight', {}, 2, 'another tenant has one too');
$acme->new_user;
becomes($DROPPED, { reason => 'queue_full' }, 2, 'then the queue is full');
is($m->value($DROPPED, reason => 'redis'), 2, 'and no other reason');
is_deeply($m->{errors}, [], 'the format, at last');
unlike($m->{text}, qr/127\.0\.0\.1|\bhang\b|acme/, 'no endpoint or tenant is told');

$s->done(allow => [ qr/unknown process \d+ exited on signal 9/ ]);
done_testing();
