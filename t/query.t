#!/usr/bin/perl

# A query parameter that a route knows and that comes twice is refused, and
# nothing is done.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(slurp);
use SvcTest::Routes;
use SvcTest::Scim;


my $NONE = '00000000-0000-4000-8000-000000000000';

my $s = SvcTest->new(svc => { svc_webhooks => 'on', svc_scim_targets => 'on',
                              svc_sign_in => 'on' },
                     locations => 'location /oauth { svc_oauth on; }')->start;
my $acme = $s->tenant('acme');
my $openapi = JSON::PP->new->utf8->decode(slurp($s->root
                                                . '/conf/openapi.json'));
my %permissions = map { $_->{permission} => 1 } admin_routes($s->root);
my $token = $acme->token(kind => 'api',
                         permissions => join ',', grep { length }
                                        sort keys %permissions)->{token};


$s->secret($PASSWORD);
with_password($s, $acme, userName => 'eve@acme.test');

my $browser = SvcTest::Browser->new($s);

$browser->login('eve@acme.test');


# With a token, or, where none will do, with a session.

sub ask {
    my ($method, $path, $body) = @_;

    return $browser->ask($method, $path, $body) if $path =~ m{^/v1/(?:auth|mfa|oauth)/};

    return $s->http($method, $path, { Authorization => "Bearer $token" },
                    $body);
}


# --- all that the contract lists ----------------------------------------------

my $n = 0;

sub resolve {
    my ($parameter) = @_;

    my $ref = $parameter->{'$ref'} // return $parameter;
    my $node = $openapi;

    $node = $node->{$_} for grep { $_ ne '#' } split '/', $ref;

    return $node;
}

for my $path (sort keys %{ $openapi->{paths} }) {
    for my $method (qw(get put post patch delete)) {
        my $operation = $openapi->{paths}{$path}{$method} // next;
        my @query = grep { $_->{in} eq 'query' } map { resolve($_) }
                    @{ $operation->{parameters} // [] },
                    @{ $openapi->{paths}{$path}{parameters} // [] };

        (my $real = $path) =~ s/\{\w+\}/$NONE/g;

        for my $name (map { $_->{name} } @query) {
            my $error = admin_error(
                ask(uc $method, "$real?$name=1&$name=1",
                    $method =~ /^p/ ? { version => 1, userIds => [ $NONE ] }
                                    : undef),
                400, 'invalid_request', uc($method) . " $path: $name");

            like($error->{message} // '', qr/"\Q$name\E"/, 'it is named');
            $n++;
        }
    }
}

cmp_ok($n, '>=', 25, "$n parameters");


# --- how they may be written --------------------------------------------------

for my $query ('q=a&q=a', 'q=a&limit=5&q=b', 'q&q=', '%71=a&q=b',
               'q=a&%71', '&q=&&q=')
{
    my $error = admin_error(ask(GET => "/v1/admin/users?$query"), 400,
                            'invalid_request', $query);

    like($error->{message} // '', qr/"q"/, 'it is named');
}

for my $query ('x=1&x=2', 'Q=a&q=b&Q=c', 'q=q&limit=5', 'q=a%26q=b',
               'qq=1&q=2')
{
    is(ask(GET => "/v1/admin/users?$query")->status, 200, $query);
}

my $logo = '/v1/tenants/acme/logo';

admin_error($s->http(GET => "$logo?v=1&v=2"), 400, 'invalid_request',
            'of a public route');
is($s->http(GET => "$logo?v=1")->status, 404, 'once is well');
admin_error($s->http(GET => '/v1/admin/users?q=a&q=b'), 401, 'unauthorized',
            'who has no token hears of that first');
admin_error($s->http(GET => '/v1/admin/audit/stream?lastEventId=1'
                            . '&lastEventId=2',
                     { Authorization => "Bearer $token",
                       'Last-Event-ID' => '5' }),
            400, 'invalid_request', 'also where a header goes before it');


# --- SCIM ---------------------------------------------------------------------

my $user = $acme->create(userName => 'ada@acme.test');
my $stored = $acme->stored;
my $one = "/Users/$user->{id}";

for my $row ([ GET => '/Users', 'count', 'invalidValue' ],
             [ GET => '/Users', 'filter', 'invalidFilter' ],
             [ GET => '/Users', 'attributes', 'invalidValue' ],
             [ GET => '/Users', 'excludedAttributes', 'invalidValue' ],
             [ GET => $one, 'attributes', 'invalidValue' ],
             [ GET => $one, 'excludedAttributes', 'invalidValue' ],
             [ POST => '/Users', 'attributes', 'invalidValue',
               { userName => 'new@acme.test' } ],
             [ PUT => $one, 'excludedAttributes', 'invalidValue',
               { userName => 'ada@acme.test', title => 'T' } ],
             [ PATCH => $one, 'attributes', 'invalidValue',
               patch_op({ op => 'replace', path => 'title',
                          value => 'T' }) ])
{
    my ($method, $path, $name, $type, $body) = @$row;
    my $r = $acme->scim($method, "$path?$name=id&$name=id", $body);

    scim_error($r, 400, $type, "$method $name twice");
    like($r->json->{detail} // '', qr/"\Q$name\E"/, 'it is named');
}

is($acme->stored, $stored, 'nothing is stored');
scim_ok($acme->scim(GET => '/Users?sortBy=a&sortBy=b'), 200,
        'one that is not known');

$s->done;
done_testing();
