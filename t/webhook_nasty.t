#!/usr/bin/perl

# Receivers of webhooks that misbehave: each costs its own deliveries only, and
# an attempt ends in time whatever they do.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for resident);
use SvcTest::Receiver;


# Receivers that never answer have a short timeout, with a helper of its own;
# all others have a longer one than a busy machine needs.

my $TIMEOUT = slow(2);
my @LATE = ('hang', 'head-drip', 'server stall');

my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_connect_timeout => slow(30) . 's',
    svc_webhook_timeout => slow(30) . 's',
);

$s->start;

my $acme = $s->tenant('acme');

# The number of attempts, and the error of the last one.

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

    # acknowledged by the head of the answer

    'body-forever' => [ 1, undef ],
    'body-drip' => [ 1, undef ],
    'close-body' => [ 1, undef ],
);

my %servers = (
    other => 'the certificate is for another name',
    expired => 'the certificate has expired',
    self => 'the certificate is self-signed',
    plain => 'the TLS handshake failed',
    stall => "no TLS connection within $TIMEOUT s",
    reset => qr/^the TLS handshake failed|^the connection (?:broke|was closed)/,
    none => 'the connection was refused',
);

$receiver->{port}{none} = SvcTest::Nginx::free_port();

$want{"server $_"} = [ 3, $servers{$_} ] for keys %servers;


sub hook {
    my ($tenant, $name) = @_;

    return $name =~ /^server (\w+)$/
           ? $receiver->hook($tenant, "/ok/$1", server => $1)
           : $receiver->hook($tenant, "/$name");
}


# Tests the outcome of a webhook for each kind of receiver.

sub becomes {
    my ($tenant, @names) = @_;

    my %hook = map { $_ => hook($tenant, $_) } @names;
    my $fine = $receiver->hook($tenant, "/ok/fine/$tenant->{slug}");
    my $helper = $s->nginx->wait_helper;

    $tenant->create(userName => 'warm@nasty.test');
    $receiver->wait($fine, 1);

    my $rss = resident($helper);

    is_said($_, $hook{$_}) for @names;
    is($s->nginx->wait_helper, $helper, 'the helper is the same');
    cmp_ok(resident($helper) - $rss, '<', slow(20_000), 'and not much larger');

    # a receiver that behaves has not been disturbed meanwhile

    $tenant->create(userName => 'again@nasty.test');
    is(scalar($receiver->wait($fine, 2)), 2, 'others go on');
}


sub is_said {
    my ($name, $hook) = @_;

    my ($n, $error) = @{ $want{$name} };
    my @log = $receiver->deliveries($hook, $n);
    my ($last) = reverse @log;

    is(@log, $n, "$name: attempts");

    if (!defined $error) {
        is($last->{outcome}, 'acknowledged', "$name: acknowledged");

    } elsif (ref $error) {
        like($last->{error}, $error, "$name: what is said of it");

    } else {
        is($last->{error}, $error, "$name: what is said of it");
    }
}


my %late = map { $_ => 1 } @LATE;

becomes($acme, grep { !$late{$_} } sort keys %want);

$acme->admin(DELETE => "/webhooks/$_->{id}")
    for @{ $acme->admin(GET => '/webhooks')->json->{webhooks} };

@{ $s->nginx->{svc} }{qw(svc_webhook_connect_timeout svc_webhook_timeout)}
    = ("${TIMEOUT}s") x 2;
$s->reload;
becomes($s->tenant('late'), @LATE);

is($receiver->at("/ok/$_"), 0, "$_: nothing was sent")
    for sort keys %servers;

$s->done;

done_testing();
