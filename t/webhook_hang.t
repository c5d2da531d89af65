#!/usr/bin/perl

# A helper process that hangs is replaced, and what it had in hand is delivered.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $nginx = $s->nginx;
my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');


sub user {
    my ($name) = @_;

    return $acme->create(userName => "$name\@acme.test");
}


my $helper = $nginx->wait_helper;

user('before');
$receiver->wait($hook, 1);

signal_pid('STOP', $helper);
user("hand$_") for 1 .. 5;

ok((wait_for { my @now = $nginx->helper_pids;
               @now == 1 && $now[0] != $helper } 25), 'another one is there');
is(scalar($receiver->wait($hook, 6, 25)), 6, 'which delivers');
ok((grep { /\[warn\] .* helper process $helper hangs, it is killed/ }
    $nginx->log_lines), 'the log says why');

$s->done(allow => [ qr/exited on signal 9/ ]);

done_testing();
