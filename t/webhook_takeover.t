#!/usr/bin/perl

# The helper dies in each attempt of a delivery: its successors know how many
# attempts there were, and the last one gives the delivery up.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_concurrency => '24 tenant=12 endpoint=1',
    svc_webhook_timeout => slow(60) . 's',
);

$s->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $hang = $receiver->hook($acme, '/hang');
my $gone = 'the process that delivers ended in each attempt';
my $helper = 0;


# Returns the numbers of the started attempts in Redis.

sub started {
    return map { my %has = $s->redis->lines(HGETALL => $_);
                 map { $has{$_} } grep { !/#$/ } keys %has }
           $s->redis->lines(KEYS => 'svc.webhook2.own.*.begun');
}


$acme->create(userName => 'hang@acme.test');

for my $n (1 .. 3) {
    is(scalar($receiver->wait($hang, $n)), $n, "attempt $n");

    $helper = $s->nginx->wait_helper($helper) or die "no helper\n";
    is_deeply([ started() ], [ $n ], 'Redis knows of it');

    signal_pid('KILL', $helper);
}

my ($row) = $receiver->deliveries($hang, 1);

is($row->{outcome}, 'abandoned', 'is abandoned then');
is($row->{error}, $gone, 'which says why');
is($row->{attempt}, 3, 'and how often');
is($receiver->at($hang), 3, 'nothing more was sent');
ok((wait_for { $receiver->pending == 0 }), 'nothing of it is left');
is_deeply([ $s->redis->lines(KEYS => 'svc.webhook2.own.*') ], [],
          'nor of its attempts');

like(join('', $s->nginx->log_lines),
     qr/\[error\] .*to endpoint $hang->{id} is abandoned, attempts: 3, .*$gone/,
     'a line in the error log');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE details->>'error'"
           . " = '$gone'"), 1, 'an audit event');
is(SvcTest::Metrics->get($s)->value('svc_webhook_deliveries_total',
                                    outcome => 'abandoned'), 1, 'a metric');

# a delivery that only waited was not attempted

my $second = $receiver->hook($globex, '/until/go');

$globex->create(userName => "wait$_\@globex.test") for 1 .. 2;
$receiver->wait($second, 1);
$helper = $s->nginx->wait_helper($helper) or die "no helper\n";
is_deeply([ started() ], [ 1 ], 'one of two has started');
signal_pid('KILL', $helper);
$receiver->write(go => '');

my @log = $receiver->deliveries($second, 2);
is_deeply([ sort map { "$_->{outcome} $_->{attempt}" } @log ],
          [ 'acknowledged 1', 'acknowledged 2' ], 'both are delivered');

$s->done(allow => [ qr/exited on signal 9/ ]);

done_testing();
