#!/usr/bin/perl

# Shows what is public of a tenant's authorization server: its metadata, by each path
# to it, its keys, and what browsers ask before they send a request.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server application form oauth_error claims $EXCHANGE);
use SvcTest::Process qw(wait_for);

my $DOCUMENTS = <<'EOT';
        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }
        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }
        location /.well-known/ {
            return 404;
        }
EOT

my $s = oauth_server(locations => $DOCUMENTS)->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;
my $issuer = "$base/oauth/t/acme";

my @PATHS = ('/oauth/t/acme/.well-known/openid-configuration',
             '/.well-known/openid-configuration/oauth/t/acme',
             '/.well-known/oauth-authorization-server/oauth/t/acme');
my $JWKS = '/oauth/t/acme/jwks';


# --- the document ----------------------------------------------------------------

my $first = $s->http(GET => $PATHS[0]);
my $document = $first->json;

my @METHODS = qw(client_secret_basic client_secret_post private_key_jwt);
my @ALGS = map { $_ . '_endpoint_auth_signing_alg_values_supported'
                     => [ qw(ES256 EdDSA Ed25519 PS256 RS256) ] }
               qw(token introspection revocation);

is_deeply($document, {
    issuer => $issuer,
    (map { $_->[0] . '_endpoint' => "$issuer/$_->[1]" }
         [ authorization => 'authorize' ], [ pushed_authorization_request => 'par' ],
         [ token => 'token' ], [ userinfo => 'userinfo' ],
         [ introspection => 'introspect' ], [ revocation => 'revoke' ],
         [ end_session => 'logout' ]),
    jwks_uri => "$issuer/jwks",
    scopes_supported => [ qw(openid profile email groups roles offline_access) ],
    response_types_supported => [ 'code' ],
    response_modes_supported => [ qw(query fragment form_post) ],
    grant_types_supported => [ qw(authorization_code refresh_token client_credentials),
                               $EXCHANGE ],
    code_challenge_methods_supported => [ 'S256' ],
    token_endpoint_auth_methods_supported => [ @METHODS, 'none' ],
    introspection_endpoint_auth_methods_supported => [ @METHODS ],
    revocation_endpoint_auth_methods_supported => [ @METHODS, 'none' ],
    @ALGS,
    dpop_signing_alg_values_supported => [ qw(ES256 EdDSA Ed25519) ],
    subject_types_supported => [ 'public' ],
    id_token_signing_alg_values_supported => [ qw(ES256 RS256) ],
    acr_values_supported => [ qw(urn:svc:1 urn:svc:2 phr) ],
    prompt_values_supported => [ qw(none login consent select_account) ],
    claims_supported => [ qw(sub iss aud exp iat auth_time nonce at_hash acr amr sid act
                             name given_name family_name locale updated_at email
                             email_verified groups roles) ],
    require_pushed_authorization_requests => JSON::PP::false,
    authorization_response_iss_parameter_supported => JSON::PP::true,
    claims_parameter_supported => JSON::PP::true,
    request_parameter_supported => JSON::PP::false,
    request_uri_parameter_supported => JSON::PP::false,
}, 'the metadata');

for my $path (@PATHS) {
    my $r = $s->http(GET => $path);

    is($r->status, 200, $path);
    is($r->body, $first->body, "$path: the same document");
    is($r->header('content-type'), 'application/json', "$path: JSON");
    is($r->header('cache-control'), 'public, max-age=300', "$path: for five minutes");
    is($r->header('access-control-allow-origin'), '*', "$path: to any page");

    my $etag = $r->header('etag');
    my $again = $s->http(GET => $path, [ 'If-None-Match' => $etag ]);

    is($again->status, 304, "$path: it is known");
    is($again->body, '', "$path: without a body");
    is($s->http(GET => $path, [ 'If-None-Match' => '"x"' ])->status, 200, "$path: or is not");

    my $head = $s->http(HEAD => $path);

    is_deeply([ $head->status, $head->body, $head->header('content-length') ],
              [ 200, '', length $first->body ], "HEAD $path");

    oauth_error($s->http(POST => $path, [], ''), 405, 'invalid_request', "POST $path");

    (my $other = $path) =~ s/acme/globex/;
    is($s->http(GET => $other)->json->{issuer}, "$base/oauth/t/globex",
       "$other: another issuer");
}

for my $slug ('nobody', 'ACME', 'acme.test', '%ff', 'a' x 64, "acme'", '-', '*') {
    is($s->http(GET => s/acme/$slug/r)->status, 404, s/acme/$slug/r) for @PATHS, $JWKS;
}

is($s->http(GET => $_)->status, 404, $_)
    for '/.well-known/openid-configuration', '/.well-known/oauth-authorization-server',
        '/.well-known/openid-configuration/oauth', '/.well-known/openid-configuration/oauth/t/',
        '/.well-known/openid-configuration/acme', '/oauth/t/acme', '/oauth/t/acme/',
        '/oauth/jwks';

unlike($s->http(GET => '/.well-known/x')->body, qr/"error"/,
       'what is not ours below /.well-known is left alone');


# --- a tenant's setting ----------------------------------------------------------

sub prompts { return $s->http(GET => $PATHS[0])->json->{prompt_values_supported} }

for my $on (1, 0) {
    my @want = (qw(none login consent select_account), $on ? 'create' : ());

    is($acme->admin(PATCH => '/tenant', { branding => {
            allowSelfSignup => $on ? JSON::PP::true : JSON::PP::false } }, [],
        $acme->token_for('tenant:manage'))->status, 200, "people sign up: $on");
    wait_for { "@{ prompts() }" eq "@want" };
    is_deeply(prompts(), \@want, '... which is told');
    is_deeply($s->http(GET => $PATHS[0] =~ s/acme/globex/r)->json->{prompt_values_supported},
              [ qw(none login consent select_account) ], '... of that tenant alone');
}


# --- keys ------------------------------------------------------------------------

sub jwks {
    my ($slug) = @_;

    return $s->http(GET => "/oauth/t/$slug/jwks");
}

my $r = jwks('acme');

is($r->body, '{"keys":[]}', 'there is no key yet');
is($r->header('cache-control'), 'public, max-age=60', 'for a minute');
is($r->header('access-control-allow-origin'), '*', 'for any page');
is($s->http(HEAD => $JWKS)->status, 200, 'HEAD');
is($s->http(GET => $JWKS, [ 'If-None-Match' => $r->header('etag') ])->status, 304,
   'it is known');

sub token {
    my ($app) = @_;

    my $t = form($s, token => { grant_type => 'client_credentials' }, client => $app);

    return (claims($t->json->{access_token}))[0]{kid};
}

my $app = application($acme);
my $kid = token($app);
my $other = token(application($globex));

$r = jwks('acme');

my ($key, @more) = @{ $r->json->{keys} };

is(@more, 0, 'one key, as soon as there is a token');
is_deeply([ map { $key->{$_} } qw(kid kty crv alg use) ], [ $kid, qw(EC P-256 ES256 sig) ],
          'P-256, to verify signatures');
is_deeply([ sort keys %$key ], [ qw(alg crv kid kty use x y) ], 'the public part');
is_deeply([ map { $_->{kid} } @{ jwks('globex')->json->{keys} } ], [ $other ],
          'the key of another tenant is another one');

# Shows which keys are published: times are moved, and cached answers expire.

sub published {
    my ($set, $name, @kids) = @_;

    $s->sql("UPDATE svc.oauth_key SET $set WHERE kid = '$kid'") if $set;

    my @seen;

    wait_for {
        @seen = map { $_->{kid} } @{ jwks('acme')->json->{keys} };
        return "@seen" eq "@kids";
    };

    is_deeply(\@seen, \@kids, $name);
}

published("active_from = now() + interval '1 day'", 'one that does not sign yet', $kid);
published("active_from = now() - interval '1 year', retired_at = now()",
          'one that is told to retire', $kid);

$s->sql("UPDATE svc.oauth_tenant SET active_kid = NULL WHERE active_kid = '$kid'");
my $second = token($app);
isnt($second, $kid, 'a new one');

published('', 'one that has retired', $second, $kid);
published("retired_at = now() - interval '24 h 59 min'", 'a day later', $second, $kid);
published("retired_at = now() - interval '25 h'", 'two hours later', $second);
published("retired_at = NULL, revoked_at = now()", 'one that is revoked', $second);


# --- browsers ---------------------------------------------------------------------

for my $path ((map { ("/oauth/$_", "/oauth/t/acme/$_") } qw(token revoke userinfo)), $JWKS,
              @PATHS)
{
    $r = $s->http(OPTIONS => $path, [ Origin => 'https://a.test',
                                      'Access-Control-Request-Method' => 'POST' ]);

    is($r->status, 204, "OPTIONS $path");
    is_deeply([ map { $r->header("access-control-$_") }
                    qw(allow-origin allow-methods allow-headers max-age allow-credentials) ],
              [ '*', 'GET, POST', 'Authorization, DPoP, Content-Type', 600, undef ],
              "OPTIONS $path: any page may");
}

for my $path (map { ("/oauth/$_", "/oauth/t/acme/$_") } qw(authorize introspect x)) {
    $r = $s->http(OPTIONS => $path, [ Origin => 'https://a.test' ]);

    ok($r->status == 404 || $r->status == 405, "OPTIONS $path");
    is($r->header('access-control-allow-origin'), undef, "OPTIONS $path: no page may");
}


# A page that sends cookies along may read an answer that names its origin: no cookie
# is looked at.

for my $path (map { ("/oauth/$_", "/oauth/t/acme/$_") } qw(token revoke userinfo introspect)) {
    $r = $s->http(POST => $path, [ Origin => 'https://a.test' ]);
    is_deeply([ map { $r->header("access-control-$_") } qw(allow-origin allow-credentials) ],
              $path =~ /(?:token|revoke)\z/ ? [ 'https://a.test', 'true' ]
              : $path =~ /userinfo\z/ ? [ '*', undef ] : [ undef, undef ],
              "POST $path: which pages may read");
}


# --- a node where no user signs in ------------------------------------------------

# The metadata has nothing about users, neither when sign-in is off nor without the
# API.

my $off = $s->node(locations => $s->{nginx}{locations});
my $alone = $s->node(locations => $s->{nginx}{locations}, svc => { svc_sign_in => 'on' });

$alone->write_configuration($alone->configuration =~ s/svc_admin on;//r);
$alone->reload(keep_configuration => 1);

# RFC 8414, 2: the metadata has that endpoint if and only if a grant type uses it.

sub needs_authorize {
    my ($told, $name) = @_;

    is(!!$told->{authorization_endpoint},
       !!(grep { /\A(?:authorization_code|implicit)\z/ } @{ $told->{grant_types_supported} }),
       "$name: as its grant types need it");
}

needs_authorize($s->http(GET => $_)->json, $_) for @PATHS[0 .. 2];

for my $node ($off, $alone) {
    my %at = (port => $node->{port});

    is_deeply($s->http(GET => $PATHS[2], undef, undef, %at)->json, {
        issuer => $issuer,
        (map { $_->[0] . '_endpoint' => "$issuer/$_->[1]" }
             [ token => 'token' ], [ introspection => 'introspect' ],
             [ revocation => 'revoke' ]),
        jwks_uri => "$issuer/jwks",
        response_types_supported => [ 'code' ],
        grant_types_supported => [ 'client_credentials', $EXCHANGE ],
        (map { $_ . '_endpoint_auth_methods_supported' => [ @METHODS ] }
             qw(token introspection revocation)),
        @ALGS,
        dpop_signing_alg_values_supported => [ qw(ES256 EdDSA Ed25519) ],
    }, 'the metadata of services alone');

    is($s->http(GET => '/oauth/authorize', undef, undef, %at)->status, 404, 'nobody is asked');
    needs_authorize($s->http(GET => $_, undef, undef, %at)->json, "$_ of $node->{port}")
        for @PATHS[0 .. 2];
    is(form($s, token => { grant_type => 'client_credentials' }, client => $app,
            http => { %at })->status, 200, 'a service has its token');
}


# --- another spelling of the base URL --------------------------------------------

# The issuer is the same everywhere, and audiences are compared to it.

my $agent = application($acme, type => 'agent');

for my $case ([ 'https://LOGIN.Acme.test:443/Id/', 'https://login.acme.test/Id' ],
              [ 'https://LOGIN.acme.test:443', 'https://login.acme.test' ],
              [ 'https://login.acme.test:4443', 'https://login.acme.test:4443' ],
              [ 'https://login.acme.test/x:443', 'https://login.acme.test/x:443' ],
              [ 'https://login.acme.test/%7Eid/a%2fb%3a', 'https://login.acme.test/~id/a%2Fb%3A' ],
              [ 'https://[2001:DB8::443]', 'https://[2001:db8::443]' ],
              [ 'https://[2001:DB8::1]:443', 'https://[2001:db8::1]' ],
              [ 'http://LOCALHOST:80', 'http://localhost' ])
{
    my ($url, $is) = @$case;

    $off->{svc}{svc_base_url} = $url;
    $off->reload;

    my %at = (port => $off->{port});
    my $told = $s->http(GET => $PATHS[2], undef, undef, %at)->json;

    is($told->{issuer}, "$is/oauth/t/acme", "$url: the issuer");
    is($told->{jwks_uri}, "$is/oauth/t/acme/jwks", "$url: its keys");
    is($told->{token_endpoint}, "$is/oauth/t/acme/token", "$url: an endpoint");

    is($s->http(PUT => "/v1/admin/agents/$agent->{clientId}/policy",
                [ Authorization => "Bearer $acme->{apps_token}" ],
                { allowedAudiences => [ "$url/oauth/t/acme" =~ s,//oauth,/oauth,r ] })->status,
       200, "$url: a ceiling");

    for my $resource (undef, "$url/oauth/t/acme" =~ s,//oauth,/oauth,r, "$is/oauth/t/acme") {
        my $t = form($s, token => { grant_type => 'client_credentials',
                                    resource => $resource },
                     client => $agent, http => { %at })->json->{access_token};
        my $got = (claims($t))[1];

        is_deeply([ @$got{qw(iss aud)} ], [ ("$is/oauth/t/acme") x 2 ], "$url: a token");
        is_deeply([ @{ form($s, introspect => { token => $t }, client => $agent,
                            http => { %at })->json }{qw(active iss aud)} ],
                  [ JSON::PP::true, ("$is/oauth/t/acme") x 2 ], "$url: which is good");
    }
}


# --- a location of one tenant ------------------------------------------------------

$s->{nginx}{svc}{svc_tenant} = 'globex';
$s->reload;

for my $path (map { "/.well-known/$_" } qw(openid-configuration oauth-authorization-server)) {
    is($s->http(GET => $path)->json->{issuer}, "$base/oauth/t/globex", "$path of one tenant");
    is($s->http(GET => "$path/oauth/t/globex")->json->{issuer}, "$base/oauth/t/globex",
       "$path with its path");
    is($s->http(GET => "$path/oauth/t/acme")->status, 404, "$path of another one");
}

is(jwks('globex')->status, 200, 'its keys');
is(jwks('acme')->status, 404, 'those of another one');

$s->done;
done_testing;
