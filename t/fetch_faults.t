#!/usr/bin/perl

# Fetches when helpers die, Redis goes, nginx reloads, and the queue is full: who waits
# is answered in time, and no server is asked twice.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Fetch;
use SvcTest::Idp;
use SvcTest::Process qw(slow wait_for spawn wait_exit signal_pid subreaper
    slurp);
use SvcTest::Receiver;


subreaper();

my $OTHER = '00000000-0000-7000-8000-000000000002';

my $s = SvcTest->new(workers => 1, connections => 4096);
my $receiver = SvcTest::Receiver->new($s, svc_webhooks => 'off',
                                      svc_webhook_allow => undef);
my $fetch = SvcTest::Fetch->new($s);
my $n = 0;

$s->start;

my $helper = $fetch->helper;


sub get { return $fetch->get($receiver->url($_[0]), @_[1 .. $#_]) }


# Begins a fetch that hangs until "$name" is written, and waits until it does.

sub hanging {
    my ($name, %arg) = @_;
    my $c = $fetch->begin($receiver->url("/until/$name"), post => 'code', %arg);

    ok((wait_for { $receiver->at("/until/$name") }), "$name is under way");

    return $c;
}


sub asked { return scalar $receiver->at("/until/$_[0]") }


sub answers {
    my ($name) = @_;

    ok((wait_for { get('/ok')->{outcome} eq 'answered' } slow(20)), $name);
}


# --- the helper is killed ------------------------------------------------------------

my $c = hanging('killed', timeout => 3000);

signal_pid('KILL', $helper);

my $new = $fetch->helper($helper);

answers('another helper goes on');
$receiver->write(killed => '');
is($fetch->read($c)->{outcome}, 'late', 'what the dead one had is late');
is(asked('killed'), 1, 'and was asked once');

# with an entry in the queue that it had not taken

signal_pid('STOP', $new);
$c = $fetch->begin($receiver->url('/until/queued'), post => 'code');
ok((wait_for { $fetch->keys('svc.fetch.queue') }), 'an entry waits');
signal_pid('KILL', $new);
ok((wait_for { asked('queued') }), 'it is for the next helper');
$receiver->write(queued => '');
is($fetch->read($c)->{answer}, 'ok', 'which answers');
is(asked('queued'), 1, 'asked once');

# before it can leave the answer

$helper = $fetch->helper($new);
$c = hanging('unanswered', timeout => 2000);
signal_pid('STOP', $helper);
$receiver->write(unanswered => '');
signal_pid('KILL', $helper);
is($fetch->read($c)->{outcome}, 'late', 'an answer that died with it');
is(asked('unanswered'), 1, 'is not asked for again');
$helper = $fetch->helper($helper);


# --- no helper for long ----------------------------------------------------------------

answers('fetches go on');

my $acme = $s->tenant('acme');
my $b = SvcTest::Browser->new($s, tenant => 'acme');

is($acme->admin(POST => '/social/connections',
                { provider => 'github', clientId => 'x', clientSecret => 'y' })->status, 201,
   'a connection');


sub start {
    return $b->post('/v1/auth/federation/start', { connection => 'github', tenant => 'acme' });
}


my ($state) = start()->json->{redirectTo} =~ /state=([\w-]{43})/;
my $back = sub { return $b->get(SvcTest::Idp::callback('github') . "?code=x&state=$state") };

signal_pid('STOP', $helper);

my $since = time;

ok((wait_for { get('/ok', timeout => 1000)->{outcome} eq 'unavailable' } slow(20)),
   'after a silence nothing is queued');
cmp_ok(time - $since, '>', 3, 'not before');
ok((wait_for { $fetch->ready eq '0' }), 'the worker knows without asking');

# nobody is sent away to a provider, and who comes back from one is told

admin_error(start(), 503, 'unavailable', 'no sign-in begins');
is(SvcTest::Idp::refusal($back->()), 'unavailable', 'and none ends');
signal_pid('CONT', $helper);
ok((wait_for { $fetch->ready eq '1' }), 'until the helper is heard of again');
answers('it answers');
is(SvcTest::Idp::refusal($back->()), 'flow_expired', 'the flow was spent');
is($b->get('/v1/auth/session')->status, 401, 'without a session');


# --- reload ----------------------------------------------------------------------------

$c = hanging('reloaded');
$s->reload(linger => 1);
is($fetch->ready, 1, 'a new worker begins with good hope');
answers('new workers have answers');
$receiver->write(reloaded => '');
is($fetch->read($c)->{answer}, 'ok', 'and the old one has its own');
is(asked('reloaded'), 1, 'asked once');

{
    my %outcomes;

    for my $i (1 .. 3) {
        signal_pid('HUP', $s->nginx->pid);
        $outcomes{ get("/ok/reload$i")->{outcome} }++ for 1 .. 100;
    }

    is_deeply([ keys %outcomes ], [ 'answered' ], 'no gap between two helpers');
}

wait_for { !$s->nginx->old_worker_pids };
$helper = $fetch->helper;


# --- Redis is away ------------------------------------------------------------------------

# before: nothing is asked

$s->redis->stop;
ok((wait_for { get('/ok/away')->{outcome} eq 'unavailable' }), 'Redis is down');
is(scalar($receiver->at('/ok/away')), 0, 'and nothing is asked');
$s->redis->launch;
answers('it is back');

# while the server is asked: the answer comes when Redis is back, though its queue is gone

$c = hanging('outlived');
$s->redis->stop;
$receiver->write(outlived => '');
$s->redis->launch;
is($fetch->read($c)->{answer}, 'ok', 'an answer outlives Redis');
is(asked('outlived'), 1, 'asked once');

# Redis hangs

answers('all is well');
$c = hanging('hung');
signal_pid('STOP', $s->redis->pid);
$receiver->write(hung => '');
SvcTest::Process::wait_for { 0 } 0.5;
signal_pid('CONT', $s->redis->pid);
is($fetch->read($c)->{answer}, 'ok', 'an answer outlives a hung Redis');

# it stays away

answers('all is well');
$c = hanging('lost', timeout => 2000);
$s->redis->stop;
$receiver->write(lost => '');
is($fetch->read($c)->{outcome}, 'late', 'who waits is told in time');
$s->redis->launch;
answers('it is back');


# --- shares ---------------------------------------------------------------------------------

my @hung = map { $fetch->begin($receiver->url("/hang/$_"), timeout => 8000) } 1 .. 250;

ok((wait_for { $fetch->pending == 250 }), 'a tenant has a quarter of the queue');
is(get('/ok')->{why}, "the tenant's share of fetches is full, of 250", 'and no more');
is(get('/ok', tenant => $OTHER)->{answer}, 'ok', 'another one goes on');

sub there { return scalar grep { $_->{url} =~ m{^/hang/} } $receiver->received }

ok((wait_for { there() >= 64 }), 'a quarter of what may be under way is');
get('/ok', tenant => $OTHER) for 1 .. 3;
is(there(), 64, 'and no more of it');

# those of three other tenants: no machine has to begin as many within their time

my @rest = map { "x$_" } 1 .. 750;

$s->redis->command(join ' ', 'ZADD svc.fetch.pending',
                   map { ((time + 60) * 1000) . " $_" } @rest);
is(get('/ok', tenant => $OTHER)->{why}, 'the queue of fetches is full, of 1000',
   'which others are told');

$s->redis->command("ZREM svc.fetch.pending @rest");
$_->close for @hung;
ok((wait_for { get('/ok', tenant => $OTHER)->{outcome} eq 'answered' } slow(20)),
   'until these end');
ok((wait_for { $fetch->pending == 0 } slow(20)), 'which they do');
ok((wait_for { SvcTest::Metrics->get($s)->value('svc_fetches_in_flight') == 0 } slow(20)),
   'also in the helper');
ok((grep { /a fetch of tenant \Q$OTHER\E is not made: the queue of fetches is full/ }
    $s->nginx->log_lines), 'the log says so');


# --- another binary ---------------------------------------------------------------------------

my $nginx = $s->nginx;

sub master { return (slurp("$s->{dir}/nginx.pid") // '') =~ /^(\d+)\n/ && $1 }

is($nginx->quit, 0, 'nginx ends');
$nginx->write_configuration($nginx->configuration =~ s/^daemon off;/daemon on;/mr);

# a daemon ignores USR2 while the process that has started it is there

my $starter = spawn($nginx->command, out => $nginx->{err}, env => $nginx->environment);

$nginx->take_pid(wait_for { master() });
wait_exit($starter);
ok($s->wait_healthy, 'a daemon');
answers('has fetches');

my $old = $nginx->pid;

$c = hanging('upgraded');
signal_pid('USR2', $old);
ok((wait_for { master() && master() != $old }), 'a new binary');
signal_pid('WINCH', $old);
$receiver->write(upgraded => '');
is($fetch->read($c)->{answer}, 'ok', 'the old one ends what it had');
is(asked('upgraded'), 1, 'asked once');
answers('the new one goes on');
signal_pid('QUIT', $old);
is(wait_exit($old), 0, 'the old one ends');
$nginx->take_pid(master());

$s->done(allow => [ qr/exited on signal 9/ ]);

done_testing();
