#!/usr/bin/perl

# Redis at an IPv6 address, alone and behind sentinels, for the workers and the helper.

use strict;
use warnings;

use IO::Socket::IP;
use Test::More;

use SvcTest;
use SvcTest::FakeSentinel;
use SvcTest::Metrics;
use SvcTest::Nginx;
use SvcTest::Process qw(wait_for run_user signal_pid wait_exit);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 2, redis => 0,
                     locations => $SvcTest::Metrics::LOCATION);
my @port = map { SvcTest::Nginx::free_port() } 0, 1;
my $receiver = SvcTest::Receiver->new($s, svc_redis => "[::1]:$port[0]");
my @pid = map { redis($_) } @port;

$s->start;

my $nginx = $s->nginx;
my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');
my $n = 0;


# Starts a Redis that listens on ::1 only; returns its process.

sub redis {
    my ($port) = @_;

    my $pid = SvcTest::Process::spawn(
        [ 'redis-server', '--port', $port, '--bind', '::1', '--save', '', '--dir', '/tmp' ],
        user => run_user());

    wait_for { (command($port, 'PING') // '') =~ /^\+PONG/ } or die "no Redis\n";

    return $pid;
}


# Returns the first bytes of the answer, if any.

sub command {
    my ($port, $text) = @_;

    my $sock = IO::Socket::IP->new(PeerHost => '::1', PeerPort => $port) or return;

    syswrite $sock, "$text\r\n" or return;
    sysread $sock, my $answer, 4096;

    return $answer;
}


# Tests that commands, messages and events of all processes arrive at the port.

sub works {
    my ($port, $name) = @_;

    ok((wait_for {
        my $metrics = SvcTest::Metrics->get($s);

        $s->health->json->{redis} eq 'up'
        && $metrics->value('svc_redis_processes', process => 'worker', state => 'up') == 2
        && $metrics->value('svc_redis_processes', process => 'helper', state => 'up') == 1
    }), "$name: the workers and the helper are connected");

    ok((wait_for {
        my ($channels) = command($port, 'PUBSUB CHANNELS svc.beat.*') =~ /^\*(\d+)/;
        ($channels // 0) == 3
    }), "$name: and hear messages");

    my $before = $receiver->at($hook);

    $acme->create(userName => 'u' . ++$n . '@ipv6.test');
    is(scalar($receiver->wait($hook, $before + 1)), $before + 1, "$name: an event comes");
}


works($port[0], 'an address');

$nginx->mark_log;
signal_pid('KILL', $pid[0]);
wait_exit($pid[0]);
ok((wait_for { $nginx->said(qr/Redis \[::1\]:$port[0] is down/) }),
   'the log names it');
redis($port[0]);
works($port[0], 'again');

# sentinels of both families, which announce a master

my @sentinels = map { SvcTest::FakeSentinel->new($s->dir, $_) } '127.0.0.1', '::1';

$_->says(1, '::1', $port[0]) for @sentinels;
$nginx->{svc}{svc_redis} = 'sentinel=mymaster 127.0.0.1:' . $sentinels[0]->port
                           . ' [::1]:' . $sentinels[1]->port;
$s->reload;
works($port[0], 'an announced master');

# only the sentinel at the IPv6 address

$_->says(2, '::1', $port[1]) for @sentinels;
$nginx->{svc}{svc_redis} = 'sentinel=mymaster [::1]:' . $sentinels[1]->port;
$nginx->mark_log;
$s->reload;
works($port[1], 'a sentinel at ::1');
ok($nginx->said(qr/Redis mymaster is at \[::1\]:$port[1]/), 'the log names the master');

$_->says(3, '::1', $port[0]) for @sentinels;
works($port[0], 'another master');

$s->done;

done_testing();
