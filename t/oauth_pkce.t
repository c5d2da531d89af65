#!/usr/bin/perl

# Shows PKCE (RFC 7636), and the web applications that may do without it
# ("requirePkce"): what they need in its place, and that a challenge counts once it
# was sent (RFC 9700, 4.8).

use strict;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(redeem $REDIRECT $VERIFIER);
use SvcTest::OAuth qw(oauth_server application form oauth_error escape unescape claims);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $CHALLENGE = encode_base64url(sha256($VERIFIER));
my %WEB = (redirectUris => [ $REDIRECT ], requireConsent => JSON::PP::false,
           scopes => [ qw(openid email) ], grantTypes => [ 'authorization_code' ]);

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my $strict = application($acme, %WEB, type => 'web');
my $lax = application($acme, %WEB, type => 'web', requirePkce => JSON::PP::false);
my @always = ($strict, map { application($acme, %WEB, type => $_) } qw(spa native agent));

my $b = SvcTest::Browser->new($s, tenant => 'acme');

$b->login('ada@acme.test')->status == 200 or die "no session\n";


sub query {
    my ($app, %more) = @_;

    my %all = (client_id => $app->{clientId}, redirect_uri => $REDIRECT, response_type => 'code',
               state => 'x', scope => 'openid', %more);

    return join '&', map { "$_=" . escape($all{$_}) } grep { defined $all{$_} } sort keys %all;
}


# Returns the parameters that a request comes back with.

sub authorize {
    my ($app, %more) = @_;

    my $to = $b->get('/oauth/authorize?' . query($app, %more))->header('Location') // '';
    my %got = map { unescape($_) } map { split /=/, $_, 2 } split /&/, $to =~ s/.*?\?//sr;

    $s->secret($got{code}) if $got{code};

    return \%got;
}


sub wrong {
    my ($got, $why, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is_deeply([ @$got{qw(error error_description code)} ], [ 'invalid_request', $why, undef ],
              $name);
}

my $MISSING = "The parameter 'code_challenge' is missing.";
my $NOTHING = "The parameter 'code_challenge' is missing: 'nonce' or 'state' will do only"
              . " where 'requirePkce' is false.";
my $METHOD = "'code_challenge_method' must be 'S256'.";
my %PKCE = (code_challenge => $CHALLENGE, code_challenge_method => 'S256');


# --- clients that need a challenge ----------------------------------------------------

is_deeply([ map { $_->{requirePkce} } $lax, @always ],
          [ JSON::PP::false, (JSON::PP::true) x @always ], 'all but who says so');

for my $app (@always) {
    my $type = $app->{type};

    wrong(authorize($app), $MISSING, "$type: no challenge");
    wrong(authorize($app, nonce => 'n'), $MISSING, "$type: a nonce is none");
    wrong(authorize($app, state => undef), $NOTHING, "$type: nothing at all");
    like(authorize($app, %PKCE)->{code} // '', qr/\A[\w-]{43}\z/, "$type: with one")
        if $type eq 'web';
}

for my $type (qw(spa native agent)) {
    my $r = $s->http(POST => '/v1/applications',
                     [ Authorization => "Bearer $acme->{apps_token}" ],
                     { %WEB, name => 'x', type => $type, requirePkce => JSON::PP::false });

    is($r->status, 400, "$type: it cannot be without");
}


# --- clients that need none ------------------------------------------------------------

for my $case ([ 'a state', {} ], [ 'a nonce', { state => undef, nonce => 'n' } ],
              [ 'both', { nonce => 'n' } ])
{
    my ($name, $more) = @$case;
    my $got = authorize($lax, %$more);

    like($got->{code} // '', qr/\A[\w-]{43}\z/, "$name: a code") or diag explain $got;
    ok(!defined $s->sql('SELECT challenge FROM svc.oauth_code WHERE digest = '
                        . "'\\x" . sha256_hex($got->{code}) . "'"), "$name: without a challenge");

    my $r = redeem($s, $lax, $got, code_verifier => undef);

    is($r->status, 200, "$name: a token") or diag $r->body;
    is((claims($r->json->{id_token}))[1]{nonce}, $more->{nonce}, "$name: with the nonce");
}

wrong(authorize($lax, state => undef), $NOTHING, 'neither');
wrong(authorize($lax, state => '', nonce => ''), $NOTHING, 'both empty');
wrong(authorize($lax, state => undef, code_challenge => ''), $NOTHING, 'an empty challenge');

# A challenge or a method alone is refused.

wrong(authorize($lax, code_challenge_method => $_), $MISSING, "a method alone, $_")
    for qw(S256 plain x);
wrong(authorize($lax, code_challenge => $CHALLENGE), $METHOD, 'a challenge alone');
wrong(authorize($lax, code_challenge => $CHALLENGE, code_challenge_method => 'plain'), $METHOD,
      'plain');
wrong(authorize($lax, code_challenge => 'x', code_challenge_method => 'S256'),
      "'code_challenge' is not 43 characters of base64url.", 'no challenge');

# The errors have an order.

$s->sql("UPDATE svc.application SET enabled = false WHERE client_id = '$strict->{clientId}'");
wrong(authorize($strict), $MISSING, 'before the client is off');
$s->sql("UPDATE svc.application SET enabled = true WHERE client_id = '$strict->{clientId}'");
wrong(authorize($strict, resource => 'x'), $MISSING, 'before the target');
wrong(authorize($strict, scope => 'x'), $MISSING, 'before the scope');
is(authorize($lax, resource => 'x')->{error}, 'invalid_target', 'the target of who needs none');
is(authorize($lax, scope => 'x')->{error}, 'invalid_scope', 'the scope of who needs none');
is(authorize($strict, response_type => 'token')->{error}, 'unsupported_response_type',
   'behind the response type');

# Another address than the application's own does not learn what the application
# needs.

is($b->get('/oauth/authorize?' . query($lax, redirect_uri => 'https://evil.test/'))->body,
   $b->get('/oauth/authorize?' . query($strict, redirect_uri => 'https://evil.test/'))->body,
   'another address');

# The page of sign-in is told the same.

is($b->get('/v1/oauth/authorization?' . query($lax))->status, 200, 'the page');
is($b->get('/v1/oauth/authorization?' . query($strict))->status, 400, 'of who needs one');

for my $app ($lax, $strict) {
    my $r = $b->post('/v1/oauth/authorization', { request => query($app), decision => 'approve',
        userId => $ada->{id}, scopes => [ 'openid' ], resources => [] });

    is($r->status, $app == $lax ? 200 : 400, 'approved');
    $s->secret($1) if $r->body =~ /code=([\w-]+)/;
}


# --- what was sent counts -------------------------------------------------------------

sub spent {
    my ($got) = @_;

    return defined $s->sql('SELECT used_at FROM svc.oauth_code WHERE digest = '
                           . "'\\x" . sha256_hex($got->{code}) . "'");
}

for my $app ($lax, $strict) {
    my $name = $app == $lax ? 'needs none' : 'needs one';
    my $got = authorize($app, %PKCE);

    oauth_error(redeem($s, $app, $got, code_verifier => undef), 400, 'invalid_grant',
                "$name: no verifier");
    ok(spent($got), "$name: it is spent");
    oauth_error(redeem($s, $app, $got), 400, 'invalid_grant', "$name: then the right one");

    $got = authorize($app, %PKCE);
    oauth_error(redeem($s, $app, $got, code_verifier => ''), 400, 'invalid_grant',
                "$name: an empty verifier");

    $got = authorize($app, %PKCE);
    oauth_error(redeem($s, $app, $got, code_verifier => 'w' x 43), 400, 'invalid_grant',
                "$name: a wrong verifier");

    $got = authorize($app, %PKCE);
    is(redeem($s, $app, $got)->status, 200, "$name: the right one");
}

# Somebody has removed the challenge from a request: the client sends its verifier.

my $got = authorize($lax);

oauth_error(redeem($s, $lax, $got), 400, 'invalid_grant', 'a verifier of no challenge');
ok(spent($got), 'it is spent');
oauth_error(redeem($s, $lax, $got, code_verifier => undef), 400, 'invalid_grant',
            'then without it');

# A client that is known by its id alone is refused before anything is looked up.

my $spa = $always[1];

$got = authorize($spa, %PKCE);
oauth_error(form($s, token => { grant_type => 'authorization_code', code => $got->{code},
                                client_id => $spa->{clientId} }), 400, 'invalid_request',
            'public: no verifier');
ok(!spent($got), 'nothing is spent');
is(form($s, token => { grant_type => 'authorization_code', code => $got->{code},
                       client_id => $spa->{clientId}, code_verifier => $VERIFIER })->status, 200,
   'and it is good');

# The same goes for a code of such a client without a challenge.

$got = authorize($spa, %PKCE);
$s->sql("UPDATE svc.oauth_code SET challenge = NULL WHERE digest = '\\x"
        . sha256_hex($got->{code}) . "'");
oauth_error(form($s, token => { grant_type => 'authorization_code', code => $got->{code},
                                client_id => $spa->{clientId}, code_verifier => $VERIFIER }), 400,
            'invalid_grant', 'public: a code without one');

$s->done;
done_testing;
