#!/usr/bin/perl

# How many deliveries may wait for one endpoint: those for a receiver that hangs
# take no places from other endpoints of the tenant.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_queue => '1000 tenant=400 endpoint=150',
    svc_webhook_concurrency => '24 tenant=12 endpoint=4',
    svc_webhook_connect_timeout => slow(10) . 's',
    svc_webhook_timeout => slow(15) . 's',
);

$s->start;

my $acme = $s->tenant('acme');
my $hang = $receiver->hook($acme, '/hang');
my $fine = $receiver->hook($acme, '/ok');

sub dropped {
    return SvcTest::Metrics->get($s)->value('svc_webhook_dropped_total',
                                            reason => 'endpoint_full');
}

# --- a share of its own ------------------------------------------------------

# long before an attempt times out; the other endpoint stays far below its
# share, however slow the machine is

for my $n (1 .. 170) {
    $acme->new_user;
    $receiver->wait($fine, $n - 50);
}

is(scalar($receiver->wait($fine, 170)), 170, 'the other endpoint gets all');
ok((wait_for { dropped() == 20 }), 'what is over the share is dropped')
    or diag(dropped());

my $line = qr/to endpoint $hang->{id} is dropped: too many wait/;
is(scalar(grep { /$line/ } $s->nginx->log_lines), 10,
   'the error log says so, ten times a minute');

# --- a small one while it does not answer ------------------------------------

ok((wait_for { dropped() >= 70 } 60),
   'after three timeouts a hundred may wait') or diag(dropped());

my @said = grep { ($_->{error} // '') =~ /^too many wait/ }
           $receiver->deliveries($hang, 10);
is(scalar(@said), 10, 'the delivery log has as many of those');
is($said[0]{outcome}, 'abandoned', 'which were abandoned');

is($s->sql("SELECT count(*) FROM svc.audit_event WHERE details->>'error'"
           . " LIKE 'too many wait%'"), 10, 'and so has the audit log');

$acme->new_user for 1 .. 10;

is(scalar($receiver->wait($fine, 180)), 180, 'the other one still gets all');

$s->done;

done_testing();
