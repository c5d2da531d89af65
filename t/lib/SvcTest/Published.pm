package SvcTest::Published;

# Clients that publish their keys: a server, another node, a server with keys, and
# token requests.

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server oauth_node application form escape);
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;
use SvcTest::Skip;

our @EXPORT = qw(key publish url asked published admin read_app patched becomes fields tokens
                 begun ago minute logins hold let_go is_asked
                 $s $receiver $acme $globex @NODES $lines $JSON);

needs(python => 'cryptography');

our $JSON = JSON::PP->new->utf8->canonical;
my %SVC = (svc_federation => 'on', svc_federation_allow => '127.0.0.1/32',
           svc_webhooks => 'off', svc_webhook_allow => undef);

# One worker here, and one on another node: each has a cache of its own.

our $s = oauth_server(workers => 1, connections => 1024);
our $receiver = SvcTest::Receiver->new($s, %SVC);

$s->start;

my $node = oauth_node($s, %{ $s->{nginx}{svc} }, svc_base_url => 'http://127.0.0.1:' . $s->port);
our @NODES = ([], [ port => $node->{port} ]);
our $acme = $s->tenant('acme');
our $globex = $s->tenant('globex');
my $issuer = 'http://127.0.0.1:' . $s->port . '/oauth/t/acme';
our $lines = SvcTest::Lines->new($s->root . '/t/lib/assertion');

ok((wait_for { grep { length } $s->redis->lines(KEYS => 'svc.fetch.helpers') }),
   'a helper is there');


sub key {
    my ($name, $alg, %settings) = @_;

    return $lines->ask({ key => $name, alg => $alg // 'ES256', settings => \%settings })->{jwk};
}

# Publishes keys, or a text, at a name.

sub publish {
    my ($name, @keys) = @_;

    $receiver->write($name, ref $keys[0] ? $JSON->encode({ keys => \@keys }) : $keys[0]);
}

sub url { return $receiver->url("/file/$_[0]") }

sub asked { return scalar $receiver->at("/file/$_[0]") }

sub published {
    my ($tenant, $name, %body) = @_;

    return application($tenant, tokenEndpointAuthMethod => 'private_key_jwt',
                       jwksUri => url($name), %body);
}

sub admin {
    my ($tenant, $method, $path, $body) = @_;

    return $tenant->{system}->http($method => "/v1/applications$path",
                                   [ Authorization => "Bearer $tenant->{apps_token}" ], $body);
}

sub read_app { return admin($acme, GET => "/$_[0]{clientId}")->json }

sub patched {
    my ($app, %body) = @_;
    my $r = admin($acme, PATCH => "/$app->{clientId}", \%body);

    is($r->status, 200, 'PATCH ' . join ' ', sort keys %body) or diag($r->body);

    return $r->json;
}

# Waits until the keys of an application are in a state.

sub becomes {
    my ($app, $state, $name) = @_;
    my $now;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok((wait_for { ($now = read_app($app)->{jwksStatus})->{state} eq $state } slow(20)),
       "$name: $state") or diag($JSON->encode($now));

    return $now;
}

sub fields {
    my ($app, %opt) = @_;
    my $text = $lines->ask({ client => $app->{clientId}, aud => $issuer, %opt })->{assertion};

    $s->secret($text);

    return { grant_type => 'client_credentials', client_assertion => $text,
             client_assertion_type =>
                 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' };
}

# Returns the status of a token request by a key, at each node.

sub tokens {
    my ($app, $key, %opt) = @_;

    return join ' ', map {
        my $r = form($s, token => fields($app, key => $key, %opt), http => { @$_ });
        $s->secret($r->json->{access_token}) if $r->status == 200;
        $r->status;
    } @NODES;
}

# Begins a token request, and returns its connection.

sub begun {
    my ($app, $key, %http) = @_;
    my $fields = fields($app, key => $key);

    return $s->begin(POST => '/oauth/token',
                     [ 'Content-Type' => 'application/x-www-form-urlencoded' ],
                     join('&', map { "$_=" . escape($fields->{$_}) } sort keys %$fields), %http);
}

# Moves the times of an application's keys into the past.

sub ago {
    my ($app, %column) = @_;

    $s->sql('UPDATE svc.application SET '
            . join(', ', map { "jwks_${_}_at = now() - interval '$column{$_}'" }
                         sort keys %column)
            . " WHERE client_id = '$app->{clientId}'");
}

# A minute passes for it.

sub minute { ago($_[0], asked => '61 s') }

sub logins {
    my ($app) = @_;

    return join ' ', map { $_->[0] } $s->sql(
        "SELECT l.digest = sha256('\\x03' || convert_to(a.client_id, 'UTF8') || '\\x00'"
        . " || sha256(convert_to(a.jwks::text || ' ' || coalesce(a.security_profile, ''),"
        . " 'UTF8'))), 1 FROM svc.oauth_login l JOIN svc.application a USING (client_id)"
        . " WHERE client_id = '$app->{clientId}' AND kind = 'keys'");
}

sub hold { $receiver->write("$_[0].hold", '') }

sub let_go { unlink "$receiver->{dir}/$_[0].hold" }

sub is_asked {
    my ($name, $n) = @_;

    ok((wait_for { asked($name) == $n } slow(10)), "$name is asked for");
}


1;
