#!/usr/bin/perl

# Receivers that keep the helper busy within one call, by TLS messages or an
# answer without an end: they cost their own deliveries, and no time of others.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;


# The timeouts are so long that an attempt ends by what was sent, on a busy
# machine, too.

my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_connect_timeout => slow(60) . 's',
    svc_webhook_timeout => slow(60) . 's',
);

$s->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $fine = $receiver->hook($globex, '/ok');


# Returns the median and the longest delay, in ms, of $count webhooks of another
# tenant.

sub delays {
    my ($count) = @_;

    return ($receiver->delays($fine, $count, sub { $globex->new_user }))
           [$count / 2, -1];
}


# The error of the last attempt (undef: it was acknowledged), and its number.

my $messages = 'the receiver sends TLS messages without an end';
my $heads = 'the headers of the answer are longer than 64 KiB';
my %want = (
    'key-updates' => [ $messages, 3 ],
    tickets => [ $messages, 3 ],
    renegotiations => [ $messages, 3, 'ECDHE' ],
    'hello-requests' => [ 'the TLS handshake is longer than 128 KiB', 3 ],
    hints => [ $heads, 3 ],
    continue => [ $heads, 3 ],
    folding => [ qr/^(?:\Q$heads\E|a header of the answer is too long)$/, 3 ],
    status => [ 'a header of the answer is too long', 3 ],
    blank => [ 'the answer is not HTTP', 3 ],

    # acknowledged by the head of the answer

    extension => [ undef, 1 ],
    trailers => [ undef, 1 ],
);

$globex->new_user;
$receiver->wait($fine, 1);

my $helper = $s->nginx->wait_helper;
my ($quiet) = delays(40);

my %hook = map {
    my (undef, undef, @cipher) = @{ $want{$_} };

    $_ => $receiver->hook($acme, "/$_",
                          server => $receiver->hostile($_, @cipher))
} sort keys %want;

$acme->new_user;

my ($beside, $longest) = delays(40);

cmp_ok($beside, '<', 4 * $quiet + slow(2000), 'others do not wait');
cmp_ok($longest, '<', slow(30_000), 'not one of them');
note(sprintf 'median alone %.1f ms, beside %.1f ms; the longest %.1f ms', $quiet,
     $beside, $longest);

for my $mode (sort keys %want) {
    my ($error, $attempts) = @{ $want{$mode} };
    my @log = $receiver->deliveries($hook{$mode}, $attempts, slow(50));

    is(@log, $attempts, "$mode: attempts");
    note("$mode: ms: @{[ map { $_->{durationMs} } @log ]}");

    if (!defined $error) {
        is($log[-1]{outcome}, 'acknowledged', "$mode: acknowledged");

    } else {
        like($log[-1]{error}, ref $error ? $error : qr/^\Q$error\E$/,
             "$mode: what is said of it");
        is($log[-1]{outcome}, 'abandoned', "$mode: abandoned");
    }
}

is($s->nginx->wait_helper, $helper, 'the helper is the same');

$s->done;

done_testing();
