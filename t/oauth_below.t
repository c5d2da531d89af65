#!/usr/bin/perl

# Shows the endpoints below a tenant's issuer, /oauth/t/{slug}/..., which the metadata
# announces: they do the same as those of all tenants, for one tenant's clients and
# tokens.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(code redeem $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server application form oauth_error escape unescape);
use SvcTest::Skip;

needs(python => 'cryptography');

my $s = oauth_server(svc => { svc_login_url => '/signin' })->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $base = 'http://127.0.0.1:' . $s->port;
my $CHALLENGE = encode_base64url(sha256($VERIFIER));
my %CC = (grant_type => 'client_credentials');

$s->secret($PASSWORD);

my $app = application($acme, scopes => [ 'read' ]);
my $opaque = application($acme, accessTokenFormat => 'opaque');
my $web = application($acme, type => 'web', redirectUris => [ $REDIRECT ],
                      requireConsent => JSON::PP::false, scopes => [ qw(openid email) ]);
my $foreign = application($globex);
my $ada = with_password($s, $acme, userName => 'ada@acme.test');

my @NOT = ('globex', 'nobody', 'ACME', 'acme.', 'acme%20', '%C3%A9', 'a' x 300, '-', '*', "acme'",
           '[acme]', '%2A');


sub userinfo {
    my ($token, $slug, @more) = @_;

    return $s->http(GET => $slug ? "/oauth/t/$slug/userinfo" : '/oauth/userinfo',
                    [ Authorization => "Bearer $token", @more ]);
}


# --- metadata -----------------------------------------------------------------------

my $meta = $s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')->json;

is($meta->{"$_->[0]_endpoint"}, "$meta->{issuer}/$_->[1]", "$_->[0]_endpoint")
    for [ authorization => 'authorize' ], [ token => 'token' ], [ userinfo => 'userinfo' ],
        [ introspection => 'introspect' ], [ revocation => 'revoke' ];


# --- clients ------------------------------------------------------------------------

my $r = form($s, 't/acme/token' => { %CC }, client => $app);

is($r->status, 200, 'a token') or diag($r->body);
is($r->header('access-control-allow-origin'), '*', 'which any page may read');
is($r->header('cache-control'), 'no-store', 'and nobody keeps');

my $t = $r->json->{access_token};

$s->secret($t);

for my $path ('token', 't/acme/token', 't/acme/token/') {
    is(form($s, $path => { %CC }, client => $_)->status, 200, "$path, $_->{accessTokenFormat}")
        for $app, $opaque;
}

for my $slug (@NOT) {
    for my $what ([ token => %CC ], [ introspect => token => $t ], [ revoke => token => $t ]) {
        my ($path, %fields) = @$what;

        oauth_error(form($s, "t/$slug/$path" => { %fields }, client => $app), 401,
                    'invalid_client', "$path of " . substr($slug, 0, 10));
        oauth_error(form($s, "t/$slug/$path" => { client_id => $app->{clientId},
            client_secret => $app->{clientSecret}, %fields }), 400, 'invalid_client',
            "$path of " . substr($slug, 0, 10) . ', by the body');
    }
}

is(form($s, 't/acme/token' => { %CC }, client => $foreign)->body,
   form($s, 't/acme/token' => { %CC }, client => { %$app, clientSecret => 'x' x 43 })->body,
   'it is told as a wrong secret is');
is(form($s, 't/globex/token' => { %CC }, client => $foreign)->status, 200, 'and is known at home');

ok(form($s, 't/acme/introspect' => { token => $t }, client => $app)->json->{active}, 'it lives');
is(form($s, 't/acme/revoke' => { token => $t }, client => $app)->status, 200, 'it is revoked');
ok(!form($s, 'introspect' => { token => $t }, client => $app)->json->{active}, 'and is dead');

oauth_error($s->http(GET => '/oauth/t/acme/token'), 405, 'invalid_request', 'GET');
is($s->http(GET => '/oauth/t/acme/token')->header('allow'), 'POST', 'what is allowed');
is($s->http(POST => $_)->status, 404, $_)
    for '/oauth/t/token', '/oauth/t//token', '/oauth/t/acme/x/token', '/oauth/t/acme/t/acme/token',
        '/oauth/x/acme/token', '/oauth/t/acme/tokens', '/oauth/[/t/acme]/token', '/oauth/]/token';


# --- tokens of users ----------------------------------------------------------------

my %user = map {
    my $code = code($acme, $_, $ada, scopes => [ qw(openid email) ]);
    my $got = form($s, 't/acme/token' => { grant_type => 'authorization_code',
        code => $code->{code}, code_verifier => $VERIFIER, redirect_uri => $REDIRECT },
        client => $_);

    is($got->status, 200, 'a code is redeemed') or diag($got->body);
    $s->secret($got->json->{access_token});
    $_->{accessTokenFormat} => $got->json->{access_token};
} $web, application($acme, type => 'web', redirectUris => [ $REDIRECT ],
                    accessTokenFormat => 'opaque', scopes => [ qw(openid email) ]);

for my $kind (qw(jwt opaque)) {
    my $token = $user{$kind};

    is(userinfo($token, $_)->json->{email}, 'ada@acme.test', "$kind: who, " . ($_ // 'global'))
        for 'acme', undef;
    is($s->http(POST => '/oauth/t/acme/userinfo', [ Authorization => "Bearer $token" ])->status,
       200, "$kind: by POST");

    for my $slug (@NOT) {
        my $r = userinfo($token, $slug);

        is($r->status, 401, "$kind: not at " . substr($slug, 0, 10));
        is($r->header('www-authenticate'), 'Bearer error="invalid_token"', '... and why');
        is($r->body, userinfo("${token}x", 'acme')->body, '... as if it were none');
    }
}

my $own = form($s, token => { %CC }, client => $opaque)->json->{access_token};

is(userinfo($own, 'acme')->status, 403, "a client's own: it is nobody's");
is(userinfo($own, 'globex')->status, 401, "a client's own: not at another tenant's");


# --- authorization requests -----------------------------------------------------------

my $b = SvcTest::Browser->new($s, tenant => 'acme');
my $query = join '&', map { join '=', map { escape($_) } @$_ }
    [ client_id => $web->{clientId} ], [ redirect_uri => $REDIRECT ], [ response_type => 'code' ],
    [ code_challenge => $CHALLENGE ], [ code_challenge_method => 'S256' ], [ state => 'x' ];

sub parts {
    my ($path, $query) = split /\?/, $_[0], 2;

    return ($path, sort split /&/, $query);
}

# Pages know only one return_to.

$r = $b->get("/oauth/t/acme/authorize?$query");
is($r->status, 303, 'nobody: to the page');

my ($return) = $r->header('Location') =~ m{\A/signin\?return_to=(.*)\z};

is_deeply([ parts(unescape($return)) ], [ parts("/oauth/authorize?$query") ],
          'from which it goes on, by the path of all');
is($s->http(GET => "/v1/oauth/authorization?$query")->json->{login}, 'required',
   'what the page asks');

is($b->login('ada@acme.test')->status, 200, 'signed in');

for my $path ('/oauth/t/acme/authorize', '/oauth/authorize') {
    like($b->get("$path?$query")->header('Location'),
         qr{\A\Q$REDIRECT\E\?code=[\w-]{43}&state=x&iss=[^&]+%2Foauth%2Ft%2Facme\z}, "$path: a code");

    $r = $s->http(POST => $path, [ 'Content-Type' => 'application/x-www-form-urlencoded' ],
                  $query);
    is($r->status, 303, "$path: POST");
    is_deeply([ parts($r->header('Location')) ], [ parts("$path?$query") ],
              "$path: the same by GET");
}

for my $slug (@NOT) {
    $r = $b->get("/oauth/t/$slug/authorize?$query");
    oauth_error($r, 400, 'invalid_client', 'at ' . substr($slug, 0, 10));
    is($r->header('Location'), undef, '... nobody is sent anywhere');

    $r = $s->http(POST => "/oauth/t/$slug/authorize",
                  [ 'Content-Type' => 'application/x-www-form-urlencoded' ], $query);

    if (defined(my $to = $r->header('Location'))) {
        oauth_error($b->get($to), 400, 'invalid_client', '... by POST, at ' . substr($to, 0, 20));
    }
}


# --- proofs -------------------------------------------------------------------------

# A proof for either path is good at the other one.

my $client = SvcTest::Lines->new($s->root . '/t/lib/dpop');

sub proof {
    my ($path, %opt) = @_;

    return $client->ask({ key => 'one', header => {}, settings => {}, claims => {
        htu => "$base/oauth/$path", %opt } })->{proof};
}

for my $case ([ 'token', 'token', 1 ], [ 'token', 't/acme/token', 1 ],
              [ 't/acme/token', 'token', 1 ], [ 't/acme/token', 't/acme/token', 1 ],
              [ 't/acme/token', 't/globex/token', 0 ], [ 't/acme/token', 't/acme/userinfo', 0 ],
              [ 'token', 't/acme/userinfo', 0 ], [ 'token', 't/token', 0 ],
              [ 'token', 't/a/b/token', 0 ], [ 't/acme/token', 't/acme/t/acme/token', 0 ])
{
    my ($path, $htu, $good) = @$case;
    my $got = form($s, $path => { %CC }, client => $app, headers => [ DPoP => proof($htu) ]);

    if ($good) {
        is($got->json->{token_type}, 'DPoP', "$path, of $htu");

    } else {
        oauth_error($got, 400, 'invalid_dpop_proof', "$path, of $htu");
    }
}

my $code = code($acme, $web, $ada, scopes => [ 'openid' ]);
my $bound = form($s, 't/acme/token' => { grant_type => 'authorization_code',
    code => $code->{code}, code_verifier => $VERIFIER }, client => $web,
    headers => [ DPoP => proof('t/acme/token') ])->json->{access_token};
my $ath = encode_base64url(sha256($bound));

$s->secret($bound);

for my $case ([ 'userinfo', 'userinfo', 200 ], [ 'userinfo', 't/acme/userinfo', 200 ],
              [ 't/acme/userinfo', 'userinfo', 200 ], [ 't/acme/userinfo', 't/acme/userinfo', 200 ],
              [ 't/acme/userinfo', 't/globex/userinfo', 401 ],
              [ 't/globex/userinfo', 't/globex/userinfo', 401 ])
{
    my ($path, $htu, $status) = @$case;

    is($s->http(GET => "/oauth/$path", [ Authorization => "DPoP $bound",
                                         DPoP => proof($htu, htm => 'GET', ath => $ath) ])->status,
       $status, "$path, of $htu");
}

my $once = proof('t/acme/token');

is(form($s, $_->[0] => { %CC }, client => $app, headers => [ DPoP => $once ])->status, $_->[1],
   "$_->[0]: once for both") for [ 't/acme/token', 200 ], [ 'token', 400 ];


# --- a location of one tenant ---------------------------------------------------------

$s->{nginx}{svc}{svc_tenant} = 'globex';
$s->reload;

is(form($s, $_->[0] => { %CC }, client => $_->[1])->status, $_->[2], "pinned: $_->[0]")
    for [ 'token', $foreign, 200 ], [ 't/globex/token', $foreign, 200 ],
        [ 't/acme/token', $foreign, 401 ], [ 't/acme/token', $app, 401 ], [ 'token', $app, 401 ],
        [ 't/globex/token', $app, 401 ];

oauth_error($b->get("/oauth/t/acme/authorize?$query"), 400, 'invalid_client', 'pinned: authorize');
is(userinfo($user{$_->[0]}, $_->[1])->status, 401, "pinned: userinfo, $_->[0]")
    for map { my $kind = $_; map { [ $kind, $_ ] } 'acme', 'globex', undef } qw(jwt opaque);

$s->done;
done_testing;
