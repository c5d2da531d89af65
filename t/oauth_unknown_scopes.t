#!/usr/bin/perl

# Shows scopes that an application does not have: the request is refused, or they are
# left out ("unknownScopes"); address and phone refuse no request (OpenID Connect
# Core, 3.1.2.1).

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(code redeem refresh $REDIRECT $VERIFIER);
use SvcTest::OAuth qw(oauth_server application form oauth_error escape unescape);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ], requireConsent => JSON::PP::false);
my @SCOPES = qw(openid email read);

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my %app = map { $_ => application($acme, %WEB, scopes => \@SCOPES, unknownScopes => $_) }
          qw(refuse ignore);
my $phone = application($acme, %WEB, scopes => [ qw(openid phone) ]);

my $b = SvcTest::Browser->new($s, tenant => 'acme');

$b->login('ada@acme.test')->status == 200 or die "no session\n";


sub query {
    my ($app, $scope) = @_;

    my %all = (client_id => $app->{clientId}, redirect_uri => $REDIRECT, response_type => 'code',
               state => 'x', code_challenge => encode_base64url(sha256($VERIFIER)),
               code_challenge_method => 'S256', scope => $scope);

    return join '&', map { "$_=" . escape($all{$_}) } grep { defined $all{$_} } sort keys %all;
}


# Returns the scopes of the token, or the error.

sub granted {
    my ($app, $scope) = @_;

    my $to = $b->get('/oauth/authorize?' . query($app, $scope))->header('Location') // '';
    my %got = map { unescape($_) } map { split /=/, $_, 2 } split /&/, $to =~ s/.*?\?//sr;

    return "$got{error}: $got{error_description}" if $got{error};

    $s->secret($got{code});

    my $r = redeem($s, $app, { code => $got{code} });

    return $r->status == 200 ? $r->json->{scope} : $r->body;
}

sub unknown { return "invalid_scope: The scope '$_[0]' is not among those that the client may have." }

my $NONE = 'invalid_scope: There is no scope that the client may have.';


# --- at authorize ---------------------------------------------------------------------

for my $case (
    # the scope, and the results of the application that refuses and of the one that
    # ignores
    [ 'openid read', 'openid read', 'openid read' ],
    [ undef, 'email openid read', 'email openid read' ],
    [ 'openid other', unknown('other'), 'openid' ],
    [ 'openid profile other', unknown('other'), 'openid' ],
    [ 'other', unknown('other'), $NONE ],
    [ 'other address', unknown('other'), $NONE ],
    [ 'openid address phone', 'openid', 'openid' ],
    [ 'openid address phone other', unknown('other'), 'openid' ],
    [ 'address', '', '' ],
    [ 'phone address', '', '' ],
    [ 'Address', unknown('Address'), $NONE ],
    [ 'openid addresses', unknown('addresses'), 'openid' ],
    [ 'openid offline_access', 'offline_access openid', 'offline_access openid' ],
    [ 'openid offline_access x', unknown('x'), 'offline_access openid' ],
) {
    my ($scope, @want) = @$case;
    my $name = $scope // 'none';

    is(granted($app{refuse}, $scope), $want[0], "refuses: $name");
    is(granted($app{ignore}, $scope), $want[1], "ignores: $name");
}

like(granted($_, 'openid a"b'), qr/\Ainvalid_scope: /, 'what is no scope is an error')
    for values %app;

is(granted($phone, 'openid phone address'), 'openid phone', 'who has it may have it');

# A scope that is left out is not shown to the user, and is not stored.

my $asks = application($acme, %WEB, scopes => \@SCOPES, requireConsent => JSON::PP::true,
                       unknownScopes => 'ignore');
my $asked = $b->get('/v1/oauth/authorization?' . query($asks, 'openid other phone'))->json;

is_deeply([ map { $_->{name} } @{ $asked->{scopes} } ], [ 'openid' ], 'what the page shows');
is($b->post('/v1/oauth/authorization', { request => query($asks, 'openid other phone'),
       decision => 'approve', userId => $ada->{id}, scopes => [ 'openid' ],
       resources => [] })->status, 200, 'and is approved');
is($s->sql("SELECT scopes FROM svc.oauth_grant WHERE client_id = '$asks->{clientId}'"),
   '{openid}', 'is granted');


# --- at refresh -----------------------------------------------------------------------

sub refreshed {
    my ($app, $granted, $scope) = @_;

    my $t = redeem($s, $app, code($acme, $app, $ada, scopes => $granted))->json->{refresh_token};
    my $r = refresh($s, $app, $t, scope => $scope);

    return $r->status == 200 ? $r->json->{scope}
           : "$r->{status} " . $r->json->{error} . ': ' . $r->json->{error_description};
}

my @OFFLINE = qw(openid email offline_access);

for my $app (@app{qw(refuse ignore)}) {
    my $name = $app->{unknownScopes};

    is(refreshed($app, \@OFFLINE, 'openid'), 'openid', "$name: fewer");
    is(refreshed($app, \@OFFLINE, 'openid address phone'), 'openid', "$name: address and phone");
    is(refreshed($app, \@OFFLINE, 'phone'), '', "$name: phone alone");
    is(refreshed($app, \@OFFLINE, 'openid read'), "400 invalid_scope: The scope 'read' is not among"
       . ' those that the user has granted.', "$name: what the user has not granted");
    is(refreshed($app, \@OFFLINE, 'openid phone read'), "400 invalid_scope: The scope 'read' is not"
       . ' among those that the user has granted.', "$name: beside phone");
}

is(refreshed($app{refuse}, \@OFFLINE, 'openid other'), "400 invalid_scope: The scope 'other' is not"
   . ' among those that the user has granted.', 'refuses: an unknown one');
is(refreshed($app{ignore}, \@OFFLINE, 'openid other'), 'openid', 'ignores: an unknown one');
is(refreshed($app{ignore}, \@OFFLINE, 'other'), "400 invalid_scope: The scope 'other' is not among"
   . ' those of the client.', 'ignores: nothing is left');
is(refreshed($phone, [ qw(openid phone offline_access) ], 'openid phone'), 'openid phone',
   'who was granted it');
is(refreshed($phone, [ qw(openid offline_access) ], 'openid phone'), 'openid',
   'who has it, and was not');


# --- a service ------------------------------------------------------------------------

sub own {
    my ($app, $scope) = @_;

    my $r = form($s, token => { grant_type => 'client_credentials', scope => $scope },
                 client => $app);

    return $r->status == 200 ? $r->json->{scope}
           : "$r->{status} " . $r->json->{error} . ': ' . $r->json->{error_description};
}

my %m2m = map { $_ => application($acme, scopes => [ qw(read write) ], unknownScopes => $_) }
          qw(refuse ignore);

sub lacks { return "400 invalid_scope: The scope '$_[0]' is not among those of the client." }

for my $case ([ undef, ('read write') x 2 ], [ 'read', ('read') x 2 ],
              [ 'read other', lacks('other'), 'read' ], [ 'other', (lacks('other')) x 2 ],
              [ 'read phone', ('read') x 2 ], [ 'read openid', lacks('openid'), 'read' ])
{
    my ($scope, @want) = @$case;

    is(own($m2m{refuse}, $scope), $want[0], 'a service, refuses: ' . ($scope // 'none'));
    is(own($m2m{ignore}, $scope), $want[1], 'a service, ignores: ' . ($scope // 'none'));
}


# --- a ceiling ------------------------------------------------------------------------

# A scope that an administrator has taken from an agent is not unknown.

my $agent = application($acme, %WEB, type => 'agent', scopes => [ qw(openid read write) ],
                        grantTypes => [ qw(authorization_code client_credentials refresh_token) ],
                        unknownScopes => 'ignore');

is($s->http(PUT => "/v1/admin/agents/$agent->{clientId}/policy",
            [ Authorization => "Bearer $acme->{apps_token}" ],
            { allowedScopes => [ qw(openid read) ] })->status, 200, 'a ceiling');

is(granted($agent, 'openid read other'), 'openid read', 'what it does not have is left out');
is(granted($agent, 'openid write'), unknown('write'), 'what is above the ceiling is refused');
like(own($agent, 'read write'), qr/\A400 invalid_scope: .*may have now: 'write'/,
     'by itself, too');
is(own($agent, 'read other'), 'read', 'and not what it does not have');
is($s->sql("SELECT type FROM svc.agent_anomaly WHERE client_id = '$agent->{clientId}'"),
   'scope_denied', 'which is on record');

$s->done;
done_testing;
