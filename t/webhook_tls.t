#!/usr/bin/perl

# What a receiver can do by means of TLS, and by closing kept connections.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for spawn slurp);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_timeout => slow(4) . 's',
);

$receiver->openssl(qw(req -newkey rsa:2048 -nodes -keyout rsa.key -out rsa.csr
                      -subj /CN=rsa));
$receiver->openssl(qw(x509 -req -in rsa.csr -CA ca.pem -CAkey ca.key
                      -CAcreateserial -days 10 -extfile good.ext -out rsa.pem));
$receiver->openssl(qw(req -newkey rsa:1024 -nodes -keyout small.key
                      -out small.csr -subj /CN=small));
$receiver->openssl(qw(x509 -req -in small.csr -CA ca.pem -CAkey ca.key
                      -CAcreateserial -days 10 -extfile good.ext
                      -out small.pem));

$s->start;

my $acme = $s->tenant('acme');
my $n = 0;


# Makes an endpoint at an openssl s_server of its own, which only does the
# handshake, and never answers.

sub server {
    my ($name, $cert, @arg) = @_;

    my $port = $receiver->{port}{$name} = SvcTest::Nginx::free_port();
    my $out = "$s->{dir}/$name.out";

    spawn([ 'openssl', 's_server', '-accept', "127.0.0.1:$port", '-cert',
            "$receiver->{dir}/$cert.pem", '-key', "$receiver->{dir}/$cert.key",
            '-quiet', @arg ], out => $out);

    wait_for { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") }
        or die "no openssl s_server for $name: " . slurp($out) . "\n";

    return $receiver->hook($acme, "/$name", server => $name);
}


# --- what a handshake may cost -----------------------------------------------

my %fine = (
    x25519 => [ 'good', '-groups', 'X25519' ],
    'p-256' => [ 'good', '-groups', 'P-256' ],
    rsa => [ 'rsa', '-tls1_2', '-cipher', 'ECDHE-RSA-AES128-GCM-SHA256' ],
);

my %costly = (
    ffdhe => [ 'good', '-groups', 'ffdhe8192' ],
    dhe => [ 'rsa', '-tls1_2', '-cipher', 'DHE-RSA-AES128-GCM-SHA256' ],
);

my %poor = (
    small => [ 'small', '-cipher', 'ALL@SECLEVEL=0' ],
    old => [ 'rsa', '-tls1_1', '-cipher', 'ALL@SECLEVEL=0' ],

    # no forward secrecy

    krsa => [ 'rsa', '-tls1_2', '-cipher', 'kRSA' ],
);

my %hook = map { $_->[0] => server(@$_) }
           map { my $table = $_; map { [ $_, @{ $table->{$_} } ] } keys %$table }
           \%fine, \%costly, \%poor;

$acme->create(userName => 'tls@acme.test');

for my $name (sort keys %fine) {
    my ($row) = $receiver->deliveries($hook{$name}, 1);
    like($row->{error}, qr/without an answer|^no answer/, "$name: accepted");
}

for my $name (sort keys %costly, keys %poor) {
    my ($row) = $receiver->deliveries($hook{$name}, 1);
    like($row->{error}, qr/^the TLS handshake failed$|^the certificate is not/,
         "$name: not accepted");
}

$acme->admin(DELETE => "/webhooks/$hook{$_}{id}") for keys %hook;

# --- connections that are closed unexpectedly --------------------------------

my %closes = map { $_ => $receiver->hook($acme, $_) } qw(/once /once/idle);

@{ $s->nginx->{svc} }{qw(svc_webhook_connect_timeout svc_webhook_timeout)}
    = (slow(60) . 's') x 2;
$s->reload;

# all at once, so that some connections are closed while a request is on its way

$acme->create(userName => "close$_\@acme.test") for 1 .. 150;
wait_for { $receiver->pending == 0 };

for my $path (sort keys %closes) {
    my %n;

    $n{"$_->{outcome} " . ($_->{error} // '')}++
        for $receiver->deliveries($closes{$path}, 100);

    is(join(', ', sort keys %n), 'acknowledged ',
       "$path: one attempt is enough when a kept connection is closed");
}

$s->done;

done_testing();
