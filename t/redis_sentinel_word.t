#!/usr/bin/perl

# Answers of sentinels: another master, an epoch of the past, a name, nonsense,
# nothing.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::FakeSentinel;
use SvcTest::Metrics;
use SvcTest::Nginx;
use SvcTest::Process qw(wait_for run_user);


my $s = SvcTest->new(workers => 1, redis => 0,
                     locations => $SvcTest::Metrics::LOCATION);
my @sentinels = map { SvcTest::FakeSentinel->new($s->dir) } 0, 1;
my @port = map { redis() } 0, 1;

$_->says(1, '127.0.0.1', $port[0]) for @sentinels;

$s->nginx->{svc}{svc_redis} = join ' ', 'sentinel=mymaster',
                              map { '127.0.0.1:' . $_->port } @sentinels;
$s->start;


# Starts a Redis on a port; returns the port.

sub redis {
    my $at = SvcTest::Nginx::free_port();

    SvcTest::Process::spawn([ 'redis-server', '--port', $at, '--bind',
                              '127.0.0.1', '--save', '', '--dir', '/tmp' ],
                            user => run_user());
    command($at, 'PING');

    return $at;
}


sub command {
    my ($at, $text) = @_;

    my $sock = wait_for { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$at") };

    syswrite $sock, "$text\r\n";
    sysread $sock, my $answer, 4096;

    return $answer;
}


sub state_is {
    my ($state, $name) = @_;

    ok((wait_for { $s->health->json->{redis} eq $state }), "$name: $state");
}


sub moves {
    return SvcTest::Metrics->get($s)->value('svc_redis_moves_total');
}


# Waits until the log says it.

sub told {
    my ($pattern, $name) = @_;

    ok((wait_for { $s->nginx->said($pattern) }), $name);
}


state_is('up', 'both name the same');
is(moves(), 0, 'nobody has moved');


# --- another master -----------------------------------------------------------

$s->nginx->mark_log;
$_->says(2, '127.0.0.1', $port[1]) for @sentinels;
told(qr/Redis mymaster is at 127\.0\.0\.1:$port[1]/,
     'another one is found out, although the first one lives');
state_is('up', 'another master');
is(moves(), 1, 'it has moved');


# --- a sentinel that has missed it ------------------------------------------------

$s->nginx->mark_log;
$sentinels[0]->says(1, '127.0.0.1', $port[0]);
told(qr/has missed a promotion/, 'an epoch of the past');
is(moves(), 1, 'does not count');
is($s->health->json->{redis}, 'up', 'and breaks nothing');

# unless all sentinels say the same

$sentinels[1]->says(1, '127.0.0.1', $port[0]);
told(qr/is at 127\.0\.0\.1:$port[0]/, 'unless it is that of all');
state_is('up', 'epochs that began anew');


# --- words that cannot be followed ------------------------------------------------

$s->nginx->{svc}{svc_redis} = 'sentinel=mymaster 127.0.0.1:'
                              . $sentinels[0]->port;
$sentinels[0]->says(3, '127.0.0.1', $port[0]);
$s->reload;
state_is('up', 'one sentinel');

for my $row (
    [ 'a name', sub { $_[0]->says(3, 'redis.example', 6379) },
      qr/announce-hostnames no/ ],
    [ 'a port that is none', sub { $_[0]->says(3, '127.0.0.1', 65536) },
      qr/port that is none/ ],
    [ 'no master', sub { $_[0]->answers("-ERR No such master\r\n*-1\r\n") },
      qr/it knows no master/ ],
    [ 'an error', sub { $_[0]->answers("-NOAUTH x\r\n-NOAUTH needed\r\n") },
      qr/NOAUTH needed/ ],
    [ 'another answer', sub { $_[0]->answers("+OK\r\n*1\r\n:1\r\n") },
      qr/not that of a sentinel/ ],
    [ 'no Redis', sub { $_[0]->answers("HTTP/1.1 400 Bad Request\r\n\r\n") },
      qr/sentinel \S+: Protocol error/ ],
    [ 'nothing', sub { $_[0]->answers('') }, qr/sentinel \S+: timed out/ ])
{
    my ($name, $say, $pattern) = @$row;

    $s->nginx->mark_log;
    $say->($sentinels[0]);
    command($port[0], 'CLIENT KILL TYPE normal');
    told($pattern, "$name: the log tells");
    is($s->health->json->{redis}, 'down', "$name: nobody is followed");
    $sentinels[0]->says(3, '127.0.0.1', $port[0]);
    state_is('up', "$name: then a good word");
}

is(moves(), 2, 'none of it moves anybody');


# --- a master that is not one ---------------------------------------------------------

$s->nginx->mark_log;
command($port[1], 'REPLICAOF 127.0.0.1 1');
$sentinels[0]->says(4, '127.0.0.1', $port[1]);
command($port[0], 'CLIENT KILL TYPE normal');
told(qr/Redis mymaster is down: READONLY/, 'a replica is not used');
state_is('down', 'a replica');
command($port[1], 'REPLICAOF NO ONE');
state_is('up', 'promoted');

$s->nginx->{svc}{svc_redis} = "127.0.0.1:$port[0]";
$s->reload;
state_is('up', 'without sentinels');
command($port[0], 'REPLICAOF 127.0.0.1 1');
state_is('down', 'without sentinels: a replica');
command($port[0], 'REPLICAOF NO ONE');
state_is('up', 'without sentinels: a master');

$s->done;

done_testing();
