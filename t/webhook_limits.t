#!/usr/bin/perl

# Webhooks with few connections and few files: a shortage on this side does not
# count as a failure of a receiver, and is logged once.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for run run_user slurp);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1, connections => 64);

$s->nginx->{svc}{svc_webhook_concurrency} = '512 tenant=512 endpoint=512';

my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/once/idle');


# Returns how many deliveries have come.

sub got {
    my ($path) = @_;

    my %id = map { $_->{header}{'x-svc-delivery'} => 1 } $receiver->at($path);

    return scalar keys %id;
}


# Returns the time until which Redis expects the helper's next heartbeat.

sub heartbeat {
    return ($s->redis->lines('ZRANGE', 'svc.webhook2.helpers', 0, -1,
                             'WITHSCORES'))[1];
}


sub attempts {
    my %n;

    my $all = $s->sql('SELECT count(*) FROM svc.user_account');

    $n{ $_->{outcome} }++ for $receiver->deliveries($hook, $all);

    return join ', ', map { "$_ $n{$_}" } sort keys %n;
}


# --- files -------------------------------------------------------------------

my $helper = $s->nginx->wait_helper;
my $limits = slurp("/proc/$helper/limits");
my ($hard) = $limits =~ /^Max open files\s+\d+\s+(\d+)/m;

# open files stay open, except the receiver's connection

$acme->new_user;
$receiver->deliveries($hook, 1);

run([ 'prlimit', '--pid', $helper, "--nofile=4:$hard" ],
    user => run_user());
$acme->new_user for 1 .. 19;
ok((wait_for { grep { /\[alert\].* raise worker_rlimit_nofile/ }
               $s->nginx->log_lines }), 'no files are left');

# deliveries that wait are looked at twice, once a second, as often as
# heartbeats are sent

for my $n (1 .. 3) {
    my $last = heartbeat();

    ok((wait_for { heartbeat() > $last }), "heartbeat $n");
}

cmp_ok(got($hook), '<', 20, 'deliveries wait');
is(scalar(grep { /\[alert\]/ } $s->nginx->log_lines), 1, 'with a line for all');

run([ 'prlimit', '--pid', $helper, "--nofile=$hard:$hard" ],
    user => run_user());
ok((wait_for { got($hook) == 20 }), 'until there are files again');
is(attempts(), 'acknowledged 20', 'each acknowledged at the first attempt');

# --- connections -------------------------------------------------------------

$acme->admin(PATCH => "/webhooks/$hook->{id}",
             { url => $receiver->url('/slow/100') });

$acme->new_user for 1 .. 80;
is(attempts(), 'acknowledged 100',
   'few connections: each at the first attempt');

is($s->nginx->wait_helper, $helper, 'by the same helper');

$s->done(allow => [ qr/raise worker_rlimit_nofile/ ]);

done_testing();
