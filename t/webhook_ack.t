#!/usr/bin/perl

# What a helper acknowledges to Redis, and the attempts that it starts: both
# stay right whatever goes wrong, so that a successor counts each attempt once.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for signal_pid run spawn slurp);
use SvcTest::Receiver;
use SvcTest::Skip;

needs(program => 'cc redis-cli');


my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_timeout => slow(3) . 's',
    svc_webhook_shutdown_timeout => slow(10) . 's');
my $redis = $s->redis;
my $nginx = $s->nginx;

my $no_mac = "$s->{dir}/no-mac";
my $so = "$s->{dir}/mac.so";
my ($status, $text) = run([ $ENV{CC} || 'cc', qw(-shared -fPIC -O1 -Wall -Wextra
                            -Werror -o), $so, "$s->{root}/t/lib/mac.c",
                            qw(-ldl -lcrypto) ]);

die "mac.c: $text\n" if $status != 0;

$nginx->{env} = { LD_PRELOAD => $so, SVC_TEST_NO_MAC => $no_mac };
$nginx->{main} = "env SVC_TEST_NO_MAC;\n";

$s->start;


# Makes an endpoint of a tenant and an event, and waits for its first attempt.

sub hang {
    my ($slug) = @_;

    my $tenant = $s->tenant($slug);
    my $hook = $receiver->hook($tenant, "/hang/$slug");

    $tenant->create(userName => "user\@$slug.test");
    is(scalar($receiver->wait($hook, 1)), 1, "$slug: an attempt");

    return $hook;
}


# Returns the numbers of the started attempts in Redis.

sub started {
    return map { my %has = $redis->lines(HGETALL => $_);
                 map { $has{$_} } grep { !/#$/ } keys %has }
           $redis->lines(KEYS => 'svc.webhook2.own.*.begun');
}


# Returns how many attempts of each entry in flight have ended.

sub ended {
    return map { /^\S+ (\d) [0-9a-f]{32} / ? $1 : () }
           map { $redis->lines(HVALS => $_) }
           grep { !/begun$/ } $redis->lines(KEYS => 'svc.webhook2.own.*');
}


sub no_mac {
    open my $fh, '>', $no_mac or die "$no_mac: $!\n";
}


sub said {
    return scalar grep { /\[alert\] .* could not be signed/ } $nginx->log_lines;
}


sub unsigned {
    return SvcTest::Metrics->get($s)->value('svc_webhook_unsigned_total');
}


sub ends_after {
    my ($hook, $n, $name) = @_;

    my @log = $receiver->deliveries($hook, 1, slow(40));

    wait_for { @log = $receiver->deliveries($hook, 1);
               $log[-1]{outcome} eq 'abandoned' } 40;

    is($log[-1]{outcome}, 'abandoned', "$name: is abandoned");
    is($log[-1]{attempt}, 3, "$name: after its third attempt");
    is(scalar($receiver->at($hook)), $n, "$name: which nothing follows");
    ok((wait_for { $receiver->pending == 0 }), "$name: nothing of it is left");
}


my $helper = $nginx->wait_helper or die "no helper\n";


# --- an outcome that cannot be signed ---------------------------------------------

my $hang = hang('unsigned');
no_mac();

ok((wait_for { said() }), 'whose outcome cannot be signed: the log says so');

# the outcome is known until the next attempt, which does not begin

signal_pid('STOP', $helper);
is(unsigned(), 1, 'it is counted');
is_deeply([ ended() ], [ 0 ], 'Redis has the entry as it was');
is_deeply([ started() ], [ 1 ], 'and knows of the attempt');

unlink $no_mac;
signal_pid('KILL', $helper);
$helper = $nginx->wait_helper($helper) or die "no helper\n";
ends_after($hang, 3, 'taken over');
is(SvcTest::Metrics->get($s)->value('svc_webhook_dropped_total',
                                    reason => 'not_authentic'), 0,
   'nothing was dropped');

# the same when the entry returns to the queue, as nginx ends

$hang = hang('returned');
my $before = said();
$s->reload(linger => 1);
no_mac();
ok((wait_for { !$nginx->old_worker_pids }), 'a helper ends');
is(said(), $before + 1, 'which cannot sign what goes back to the queue');
unlink $no_mac;
$helper = $nginx->wait_helper($helper) or die "no helper\n";
ends_after($hang, 3, 'a reload');


# --- an outcome that comes late ------------------------------------------------------

# from a connection that broke, after the next attempt has started

my $monitor = "$s->{dir}/monitor";

spawn([ 'redis-cli', '-s', $redis->{socket}, 'MONITOR' ], out => $monitor);
wait_for { (slurp($monitor) // '') =~ /OK/ } or die "no monitor\n";

$hang = hang('late');
is(scalar($receiver->wait($hang, 2)), 2, 'a second attempt');
is_deeply([ started() ], [ 2 ], 'Redis knows of it');

my ($ack) = grep { /"EVALSHA" .* "=1:/ } split /\n/, slurp($monitor);

$redis->lines($ack =~ /"([^"]*)"/g);
is_deeply([ started() ], [ 2 ], 'how the first one ended changes nothing');
is_deeply([ ended() ], [ 1 ], 'when it comes once more');

signal_pid('KILL', $helper);
$helper = $nginx->wait_helper($helper) or die "no helper\n";
is(scalar($receiver->wait($hang, 3)), 3, 'a third one');

$redis->lines($ack =~ /"([^"]*)"/g);
is_deeply([ started() ], [ 3 ], 'of the successor, which has its own');
ends_after($hang, 3, 'late');

$s->done(allow => [ qr/exited on signal 9/, qr/could not be signed/ ]);

done_testing();
