#!/usr/bin/perl

# Runs the examples of the document of /oauth that need more than a tenant.

use strict;
use warnings;

use MIME::Base64 qw(encode_base64);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Documents qw(examples section);
use SvcTest::OAuth qw(oauth_server application form claims);
use SvcTest::Process qw(run wait_for);
use SvcTest::Skip;

needs(program => 'curl');

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my %ENV_OF = (SVC_BASE_URL => $s->base_url);

my $agent = application($acme, name => 'Bot', type => 'agent',
                        scopes => [ qw(invoices:read invoices:write) ]);
my $service = application($acme, name => 'Service', scopes => [ 'invoices:read' ]);

$ENV_OF{SVC_ADMIN_TOKEN} = $acme->{apps_token};


# Runs all examples of a section, each on its own; returns what they printed, as JSON.

sub does {
    my ($heading, $client) = @_;

    my @examples = examples('bash', section('ngx_svc_admin/oauth/README.md', $heading));

    is(scalar @examples, 1, "$heading: an example") or return {};

    my ($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c',
                                $examples[0] =~ s/\bcurl /curl -sS -f /gr ],
                              env => { %ENV_OF, SVC_CLIENT_ID => $client->{clientId},
                                       SVC_CLIENT_SECRET => $client->{clientSecret} // '' });

    is($status, 0, "$heading: it runs") or diag($text);

    return eval { JSON::PP->new->utf8->decode($text) } // {};
}


sub own {
    my ($client, %fields) = @_;

    return form($s, token => { grant_type => 'client_credentials', %fields },
                client => $client);
}


# --- secrets -------------------------------------------------------------------------

my $new = does('Secrets', $service);

$s->secret($new->{clientSecret});
like($new->{clientSecret}, qr/\A[\w-]{43}\z/, 'a new secret');
isnt($new->{clientSecret}, $service->{clientSecret}, 'another one');
ok($s->http(GET => "/v1/applications/$service->{clientId}",
            [ Authorization => "Bearer $acme->{apps_token}" ])->json->{previousSecretValidUntil},
   'and until when the old one is good');
is($s->sql('SELECT retired_at - now() BETWEEN interval \'86300 s\' AND interval \'86400 s\''
           . " FROM svc.oauth_login WHERE client_id = '$service->{clientId}'"
           . " AND retired_at IS NOT NULL"), 't', 'which is a day');
is(own($_)->status, 200, 'it is good') for $service, { %$service, %$new };


# --- a service that checks tokens ------------------------------------------------------

my ($http) = examples('', section('ngx_svc_admin/oauth/README.md',
                                  'A service that needs a token'));
my ($head, $body) = split /\n\n/, $http, 2;
my ($line, @headers) = split /\n/, $head;
my $basic = encode_base64("$service->{clientId}:$new->{clientSecret}", '');

chomp $body;
is((grep { s/<clientId:clientSecret>/$basic/ } @headers), 1, 'by Basic');

my $r = $s->http(split(/ /, $line), [ map { split /: /, $_, 2 } @headers ], $body);

is($r->status, 200, 'the request as it is written') or diag($r->body);
is_deeply([ sort keys %{ $r->json } ], [ qw(access_token expires_in scope token_type) ],
          'has the members that are named');
is((claims($r->json->{access_token}))[1]{scope}, 'invoices:read', 'and the scope');


# --- before a ceiling is lowered ---------------------------------------------------------

own($agent, scope => 'invoices:read') for 1 .. 2;
own($agent, scope => 'invoices:write');

# The tokens' rows are stored after the answers.

ok((wait_for { $s->sql('SELECT count(*) FROM svc.oauth_token'
                       . " WHERE client_id = '$agent->{clientId}'") == 3 }), 'all are stored');

my $trial = does('Before a ceiling is lowered', $agent);

is($trial->{sample}{tokens}, 3, 'all tokens are in the sample');
is_deeply($trial->{summary}, { unchanged => 0, shortened => 2, refused => 1 },
          'those that it would shorten, and refuse');
is_deeply([ map { "$_->{reason} $_->{value} $_->{tokens}" } @{ $trial->{refused} } ],
          [ 'scope invoices:write 1' ], 'and for which scope');
is_deeply({ map { $_ => $trial->{live}{$_} } qw(tokens wouldDie) },
          { tokens => 3, wouldDie => 1 }, 'what of those that live');
is(own($agent, scope => 'invoices:write')->status, 200, 'it was a trial');



# --- pushed requests ------------------------------------------------------------------------

my $web = application($acme, name => 'Web', type => 'web', scopes => [ 'openid' ],
                      redirectUris => [ 'https://app.acme.test/cb' ]);
my $pushed = does('Requests that are pushed', $web);

like($pushed->{request_uri}, qr/\Aurn:ietf:params:oauth:request_uri:[\w-]{43}\z/,
     'what the browser takes along');
is($pushed->{expires_in}, 90, 'and for how long');
is($s->http(GET => "/oauth/authorize?client_id=$web->{clientId}"
            . "&request_uri=$pushed->{request_uri}")->status, 303, 'it is good');


# --- from a shell -----------------------------------------------------------------------------

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');

my $script = join "\n", examples('bash', section('ngx_svc_admin/oauth/README.md',
                                                 'From a shell'));

$script =~ s/\bcurl /curl -sS -f /g;

# Prints each answer on a line of its own.

my ($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c',
                            $script =~ s/^(?=curl )/echo; /mgr ],
                          env => { %ENV_OF, SVC_TENANT_SLUG => 'acme',
                                   SVC_OWNER_PASSWORD => $PASSWORD });

is($status, 0, 'all of it goes well') or diag($text);

my @told = grep { length } split /\n/, $text;
my ($first, $user, $refreshed) = map { JSON::PP->new->utf8->decode($_) } @told[0 .. 2];

is(scalar @told, 4, 'and is answered');
is($first->{scope}, 'invoices:read', 'a token of a service');
is($user->{email}, 'ada@acme.test', 'who has signed in');
is($refreshed->{token_type}, 'DPoP', 'another token that is bound');
ok(!exists $refreshed->{refresh_token}, 'by a refresh token that stays');
is($told[3], 'https://bank.example.com/bye?state=x', 'and where the browser goes');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
