#!/usr/bin/perl

# Receivers of webhooks that misbehave: each costs its own deliveries, and an
# attempt ends in time whatever they do.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(slow wait_for resident);
use SvcTest::Receiver;


my $TIMEOUT = slow(2);

my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_connect_timeout => slow(1) . 's',
    svc_webhook_timeout => "${TIMEOUT}s",
);

$s->start;

my $acme = $s->tenant('acme');
my $connect = slow(1);


# What is said of the last attempt, and how many there are.

my $heads = 'the headers of the answer are longer than 64 KiB';
my %want = (
    'hang' => [ 3, "no answer within $TIMEOUT s" ],
    'head-drip' => [ 3, "no answer within $TIMEOUT s" ],
    'head-forever' => [ 3, $heads ],
    'line-forever' => [ 3, 'a header of the answer is too long' ],
    'hints-forever' => [ 3, $heads ],
    'bad-body-drip' => [ 3, 'the answer was 500' ],
    'old-http' => [ 3, 'the answer is not HTTP' ],
    'garbage' => [ 3, 'the answer is not HTTP' ],
    'close' => [ 3, 'the connection was closed without an answer' ],
    'close-head' => [ 3, 'the connection was closed without an answer' ],
    'reset' => [ 3, qr/^the connection (?:broke|was closed)/ ],

    # the head has been there

    'body-forever' => [ 1, undef ],
    'body-drip' => [ 1, undef ],
    'close-body' => [ 1, undef ],
);

my %servers = (
    other => 'the certificate is for another name',
    expired => 'the certificate has expired',
    self => 'the certificate is self-signed',
    plain => 'the TLS handshake failed',
    stall => "no TLS connection within $connect s",
    reset => qr/^the TLS handshake failed|^the connection (?:broke|was closed)/,
    none => 'the connection was refused',
);

$receiver->{port}{none} = SvcTest::Nginx::free_port();

my %hook = map { $_ => $receiver->hook($acme, "/$_") } sort keys %want;

$hook{"server $_"} = $receiver->hook($acme, "/ok/$_", server => $_)
    for sort keys %servers;
$want{"server $_"} = [ 3, $servers{$_} ] for keys %servers;

my $fine = $receiver->hook($acme, '/ok');
my $helper = $s->nginx->wait_helper;


$acme->create(userName => 'warm@acme.test');
$receiver->wait($fine, 1);

my $rss = resident($helper);

for my $name (sort keys %want) {
    my ($n, $error) = @{ $want{$name} };
    my @log = $receiver->deliveries($hook{$name}, $n);
    my ($last) = reverse @log;

    is(@log, $n, "$name: attempts");

    if (!defined $error) {
        is($last->{outcome}, 'acknowledged', "$name: acknowledged");

    } elsif (ref $error) {
        like($last->{error}, $error, "$name: what is said of it");

    } else {
        is($last->{error}, $error, "$name: what is said of it");
    }

    my ($longest) = sort { $b <=> $a } map { $_->{durationMs} } @log;

    cmp_ok($longest, '<', 1000 * $TIMEOUT + slow(1000), "$name: ends in time");
}

is($receiver->at("/ok/$_"), 0, "$_: nothing was sent")
    for sort keys %servers;

is($s->nginx->wait_helper, $helper, 'the helper is the same');
cmp_ok(resident($helper) - $rss, '<', slow(20_000), 'and not much larger');

# a receiver that behaves has had no trouble meanwhile

my $before = time;
$acme->create(userName => 'again@acme.test');
my ($first, $second) = $receiver->wait($fine, 2);
cmp_ok($second->{time} - 1000 * $before, '<', slow(1000), 'others do not wait');

$s->done;

done_testing();
