#!/usr/bin/perl

# A Redis that may lose queued deliveries: the helper warns of it.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 2);
my $receiver = SvcTest::Receiver->new($s);
my $redis = $s->redis;
my $n = 0;


my $EVICTS = qr/\[warn\]\ .*\ may\ throw\ away\ what\ is\ queued\ in\ it,
                .*"maxmemory-policy"\ is\ to\ be\ "noeviction",
                \ and\ is\ "allkeys-lru"/x;
my $LOSES = qr/\[warn\] .* loses what is queued in it .*"appendonly yes"/;

$s->start;
$s->nginx->wait_helper;

my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');


# Waits for a delivery: whatever was asked on the connection before has been
# answered then.

sub delivered {
    $acme->new_user;
    $n++;
    is(scalar($receiver->wait($hook, $n)), $n, 'a delivery');
}


# Makes the helper connect again, with other settings of Redis.

sub reconnect {
    my ($commands) = @_;

    $s->nginx->mark_log;
    $redis->command($_) for @$commands;
    $redis->command('CLIENT KILL TYPE normal');
    wait_for { $s->nginx->said(qr/Redis is back/) == 3 };
    delivered();
}


ok((wait_for { $s->nginx->said($LOSES) }), 'nothing is stored: at the start');
is(scalar($s->nginx->said($LOSES)), 1, 'by one process');
is(scalar($s->nginx->said($EVICTS)), 0, 'and nothing else');

reconnect([ 'CONFIG SET maxmemory-policy allkeys-lru',
            'CONFIG SET appendonly yes' ]);
is(scalar($s->nginx->said($EVICTS)), 0,
   'a policy without a limit does no harm');
is(scalar($s->nginx->said($LOSES)), 0, 'and all is stored');

reconnect([ 'CONFIG SET maxmemory 100mb' ]);
is(scalar($s->nginx->said($EVICTS)), 1,
   'it evicts: when it is connected to again');
is(scalar($s->nginx->said($LOSES)), 0, 'and nothing else');

reconnect([ 'CONFIG SET maxmemory-policy noeviction',
            'CONFIG SET appendonly no', 'CONFIG SET save "3600 1"' ]);
is(scalar($s->nginx->said(qr/\[warn\]/)), 0,
   'noeviction, and snapshots: nothing is said');

# --- where CONFIG is not for everybody ------------------------------------------

reconnect([ 'CONFIG SET save ""', 'ACL LOG RESET',
            'ACL SETUSER default -config' ]);
ok((wait_for { $redis->lines('ACL', 'LOG') }), 'CONFIG is forbidden');
delivered();
is(scalar($s->nginx->said(qr/\[warn\]|refuses|NOPERM/)), 0, 'nothing is said');

$s->nginx->mark_log;
$redis->stop;
$redis->{options} = [ '--rename-command', 'CONFIG', '' ];
$redis->launch;
wait_for { $s->nginx->said(qr/Redis is back/) == 3 };
delivered();
is(scalar($s->nginx->said(
       qr/loses what|throw away|refuses|unknown command/)), 0,
   'nor when it has no such name');

$s->done;

done_testing();
