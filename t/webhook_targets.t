#!/usr/bin/perl

# Which addresses webhooks may be sent to, once their names are resolved: no
# connection is made to an address that is refused, whatever the name resolved
# to before.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;
use SvcTest::Resolver;


my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_allow => '127.0.0.1/32',
    svc_webhook_connect_timeout => slow(2) . 's',
);
my $resolver = SvcTest::Resolver->new($s);
my $nginx = $s->nginx;

# proxies from the environment, which the operator has not configured

$nginx->{env}{$_} = "http://127.0.0.1:$receiver->{port}{proxy}"
    for qw(https_proxy HTTPS_PROXY all_proxy ALL_PROXY);
$nginx->{main} = join '', map { "env $_;\n" }
                 qw(https_proxy HTTPS_PROXY all_proxy ALL_PROXY);

$s->start;


# Makes an endpoint at a name of its own that resolves to the addresses.

sub leading {
    my ($tenant, $name, $addresses, $path) = @_;

    $resolver->set("$name.hooks.example.com", $addresses);

    return $receiver->hook($tenant, $path // "/ok/$name",
                           host => "$name.hooks.example.com");
}


# --- addresses that are refused ----------------------------------------------

my %refused = (
    '0.0.0.0' => 'unspecified', '0.255.1.2' => 'unspecified',
    '10.0.0.1' => 'private', '100.64.0.1' => 'shared',
    '100.127.255.255' => 'shared', '127.0.0.2' => 'loopback',
    '169.254.169.254' => 'link-local', '172.16.0.1' => 'private',
    '172.31.255.255' => 'private', '192.0.0.1' => 'reserved',
    '192.0.2.1' => 'documentation', '192.88.99.1' => 'reserved',
    '192.168.1.1' => 'private', '198.18.0.1' => 'reserved',
    '198.19.255.255' => 'reserved', '198.51.100.1' => 'documentation',
    '203.0.113.1' => 'documentation', '224.0.0.1' => 'multicast',
    '240.0.0.1' => 'reserved', '255.255.255.255' => 'reserved',
    '::' => 'unspecified', '::1' => 'loopback', 'fc00::1' => 'unique-local',
    'fd12:3456::1' => 'unique-local', 'fe80::1' => 'link-local',
    'ff02::1' => 'multicast', '64:ff9b::7f00:1' => 'translated',
    '2001::1' => 'reserved', '2001:db8::1' => 'documentation',
    '2002:7f00:1::' => 'translated', '3fff::1' => 'documentation',
    '4000::1' => 'reserved',
);

my $private = 'the name leads to no public address';
my $acme = $s->tenant('acme');
my $i = 0;
my %hook = map { $_ => leading($acme, 'r' . ++$i, $_) } sort keys %refused;

# an IPv4 address mapped into IPv6 is treated as that IPv4 address

$hook{'::ffff:10.0.0.7'} = leading($acme, 'mapped', '::ffff:10.0.0.7');
$refused{'::ffff:10.0.0.7'} = 'private';

my $several = leading($acme, 'several', '10.0.0.1,192.168.0.1,fe80::1');
my $second = leading($acme, 'second', '10.0.0.1,127.0.0.1');
my $missing = $receiver->hook($acme, '/ok/missing',
                              host => 'missing.hooks.example.com');

$acme->new_user;

for my $address (sort keys %refused) {
    my @log = $receiver->deliveries($hook{$address}, 1);
    my $plain = $address =~ s/^::ffff://r;

    is($log[0]{error}, $private, "$address is refused");
    is($resolver->calls(connect => $plain), 0, "$address was not connected to");
}

is(($receiver->deliveries($several, 1))[0]{error}, $private,
   'none of several');

is(scalar($receiver->wait($second, 1)), 1, 'the good one of two');

# the tenant sees the same as for a name that does not exist; the operator's log
# names the address

sub row {
    return join ' ', map { $_ // '-' }
                     @{ $_[0] }{qw(attempt outcome status durationMs error)};
}

my @missing = map { row($_) } $receiver->deliveries($missing, 3);

is_deeply(\@missing, [ "1 retried - 0 $private", "2 retried - 0 $private",
                       "3 abandoned - 0 $private" ], 'a name that is not');

for my $name ('10.0.0.1', '::1', '169.254.169.254') {
    is_deeply([ map { row($_) } $receiver->deliveries($hook{$name}, 3) ],
              \@missing, "$name looks like that");
}

for my $address (sort keys %refused) {
    my $plain = $address =~ s/^::ffff://r;
    my $line = "to endpoint $hook{$address}{id} is refused: the address is"
               . " $plain ($refused{$address})";

    ok((wait_for { grep { /\[error\] .*\Q$line\E/ } $nginx->log_lines }),
       "a line in the error log names $plain");
}

is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action ="
           . " 'webhook.delivery_failed' AND target_id ="
           . " '$hook{'10.0.0.1'}{id}'"), 1, 'and an audit event');

like(join('', $nginx->log_lines), 
     qr/$missing->{id} is abandoned, .*: the name could not be resolved/,
     'or that there is none');

# --- names that change -------------------------------------------------------

# the connection of the first request is closed; the name is cached for some
# seconds, and then resolves to another address

my $globex = $s->tenant('globex');
my $moving = leading($globex, 'moving', '127.0.0.1', '/close');

$globex->new_user;
$receiver->wait($moving, 1);
$resolver->set('moving.hooks.example.com', '10.9.9.9');

my @log = $receiver->deliveries($moving, 3);
is($log[-1]{error}, $private, 'a name that moves between attempts');
is($resolver->calls(connect => '10.9.9.9'), 0, 'is not connected to');

# the address that was checked is the one that is connected to

my $once = leading($globex, 'once', '127.0.0.1');
$globex->new_user;
$receiver->wait($once, 1);
is($resolver->calls(resolve => 'once.hooks.example.com'), 1,
   'a name is resolved once for an attempt');
is($resolver->calls(options => ''), 0,
   'a resolver does not wait for longer than an attempt lasts');
cmp_ok($resolver->calls(options => 'timeout:1 attempts:2'), '>', 0,
       'but asks the next server');

# a name whose resolution hangs

my $hang = leading($globex, 'hang', 'hang');

$globex->new_user;
my ($got) = ($receiver->wait($once, 2))[1];
@log = $receiver->deliveries($hang, 1);
cmp_ok($got->{time}, '<', $s->sql('SELECT 1000 * extract(epoch FROM created_at)'
           . " + duration_ms FROM svc.webhook_attempt WHERE endpoint_id ="
           . " '$hang->{id}' ORDER BY attempt LIMIT 1"),
       'a name that hangs keeps nobody else');
is($log[0]{error}, 'the name was not resolved within ' . slow(2) . ' s',
   'nor its own attempt for long');

is((grep { $_->{server} eq 'proxy' } $receiver->received), 0,
   "the environment's proxy is not used");

# --- an egress proxy ---------------------------------------------------------

$nginx->{svc}{svc_webhook_proxy}
    = "http://127.0.0.1:$receiver->{port}{proxy}";
$s->reload;

my $initech = $s->tenant('initech');
my $far = $receiver->hook($initech, '/ok/far', host => 'far.hooks.example.com');
my $denied = $receiver->hook($initech, '/ok/denied',
                             host => 'denied.hooks.example.com');

$initech->new_user;
($got) = $receiver->wait($far, 1);
ok($got, 'through a proxy');

my ($connect) = grep { $_->{server} eq 'proxy' && $_->{url} =~ /^far\./ }
                $receiver->received;
is($connect->{url}, "far.hooks.example.com:$receiver->{port}{good}",
   'which is told the name');
is((grep { /^X-Svc/i } @{ $connect->{headers} }), 0, 'and nothing else');
is($resolver->calls(resolve => 'far.hooks.example.com'), 0,
   'and resolves it itself');

@log = $receiver->deliveries($denied, 1);
is($log[0]{error}, 'the proxy did not connect', 'the proxy refuses');
$receiver->deliveries($denied, 3);
like(join('', $nginx->log_lines), 
     qr/$denied->{id} is abandoned, .*: the proxy's answer was 403/,
     'and the operator is told how');

# an address that was allowed once: the proxy does not know that it is refused
# now

my $literal = $receiver->hook($initech, '/ok/literal');
$initech->new_user;
$receiver->wait($literal, 1);
$nginx->{svc}{svc_webhook_allow} = '127.0.0.9/32';
$s->reload;
$initech->new_user;
@log = $receiver->deliveries($literal, 2);
is("$log[-1]{outcome}: $log[-1]{error}",
   'refused: refused: "url" must have a public host', 'is allowed no more');

$s->done;

done_testing();
