#!/usr/bin/perl

# Does what the conformance suite of the OpenID Foundation asks of an authorization
# server with the FAPI 2.0 Security Profile: each of its modules for plain_fapi,
# private_key_jwt, DPoP and openid_connect, by its name there.
# ngx_svc_admin/oauth/certification.md lists them.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Certification;
use SvcTest::Fapi qw($CB);
use SvcTest::OAuth qw(oauth_server claims);

my $s = oauth_server(svc => { svc_login_url => '/signin/' })->start;
my $acme = $s->tenant('acme');
my $base = 'http://127.0.0.1:' . $s->port;
my $issuer = "$base/oauth/t/acme";
my $EMAIL = 'ada@acme.test';

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => $EMAIL, displayName => 'Ada Lovelace',
                        name => { givenName => 'Ada', familyName => 'Lovelace' });
my $metadata = $s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')->json;

# The suite has two clients, with keys of their own.

my ($one, $two) = map { SvcTest::Fapi->new($acme, name => "Suite $_") } 1, 2;
my ($b, @TRIED);


# --- the suite's own functions ----------------------------------------------------

sub somebody {
    $b = SvcTest::Browser->new($s, tenant => 'acme');
    $b->login($EMAIL)->status == 200 or die "no session\n";
}

# Pushes a request, and returns the parameters that the client gets.

sub authorized {
    my ($client, %more) = @_;

    my $r = $client->push_request(%more);

    is($r->status, 201, 'a request is taken') or diag($r->body);
    like($r->header('content-type'), qr{\Aapplication/json\b}, 'JSON');
    like($r->json->{expires_in}, qr/\A[1-9]\d*\z/, 'that says how long it is good');
    cmp_ok(length $r->json->{request_uri}, '>=', 22, '128 bits at least');

    my $to = $client->comes($b, $r->json->{request_uri}, $EMAIL);

    is($to->{error}, undef, 'no error');
    is($to->{state}, exists $more{state} ? $more{state} : 'St4te!~', 'its state');
    is($to->{iss}, $issuer, 'the issuer');
    cmp_ok(length($to->{code} // ''), '>=', 22, 'a code of 128 bits at least');

    return $to;
}

# Does a whole sign-in; returns the tokens.

sub flow {
    my ($client, %more) = @_;

    my $to = authorized($client, map { $_ => $more{$_} } grep { !/^-at-token$/ } keys %more);

    return given($client, $client->redeem($to->{code}, %{ $more{'-at-token'} // {} }), %more);
}

sub given {
    my ($client, $r, %more) = @_;

    is($r->status, 200, 'tokens') or diag($r->body);
    is($r->header('cache-control'), 'no-store', 'that nobody keeps');

    my $t = $r->json;
    my ($header, $id) = claims($t->{id_token});

    is($t->{token_type}, 'DPoP', 'a bound token');
    cmp_ok($t->{expires_in}, '>', 0, 'that says how long it is good');
    is($header->{alg}, 'ES256', 'the ID token is of ES256');
    like($header->{kid}, qr/\S/, 'by a key that is named');
    is($id->{iss}, $issuer, 'of the issuer');
    is("@{ $id->{aud} }", $client->id, 'for the client');
    is($id->{nonce}, exists $more{nonce} ? $more{nonce} : 'n0nce', 'its nonce');
    is($id->{sub}, $ada->{id}, 'of the user');
    is($id->{at_hash}, encode_base64url(substr sha256($t->{access_token}), 0, 16),
       'that goes with the access token');
    told($client, $t) unless $more{-untold};

    return { %$t, id => $id };
}

# The suite's resource is userinfo.

sub told {
    my ($client, $t, %opt) = @_;

    my $r = $client->userinfo($t->{access_token}, %opt);

    is($r->status, 200, 'userinfo') or diag($r->body);
    like($r->header('date'), qr/GMT\z/, 'with a date');

    return $r->json;
}

sub refused {
    my ($r, $error, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $json = eval { $r->json } // {};

    is($r->status, 400, "$name: 400");
    like($r->header('content-type'), qr{\Aapplication/json\b}, "$name: JSON");
    is($json->{error}, $error, "$name: $error") or diag($r->body);
    like($json->{error_description} // '', qr/\A[\x20-\x21\x23-\x5b\x5d-\x7e]+\z/,
         "$name: and why, as RFC 6749 has it");
}

# Expects that the browser is shown a page, and that the client is told nothing.

sub page {
    my ($path, $name) = @_;

    my $r = $b->ask(GET => $path, undef, Accept => 'text/html');

    is($r->status, 400, "$name: an error");
    is($r->header('Location'), undef, "$name: nobody is sent anywhere");
    like($r->header('content-type'), qr{\Atext/html\b}, "$name: a page");
}

sub code { return authorized($one, @_)->{code} }

my %ANOTHER = (key => 'another key');


# --- the modules ------------------------------------------------------------------

sub has {
    my ($name, @values) = @_;

    my %there = map { $_ => 1 } @{ $metadata->{$name} // [] };

    is_deeply([ grep { !$there{$_} } @values ], [], "$name has @values");
}

my @MODULES = (
    'discovery-end-point-verification' => sub {
        is($metadata->{issuer}, $issuer, 'the issuer is where the document is');
        has(dpop_signing_alg_values_supported => 'ES256');
        has(id_token_signing_alg_values_supported => 'ES256');
        has(token_endpoint_auth_methods_supported => 'private_key_jwt');
        has(token_endpoint_auth_signing_alg_values_supported => qw(PS256 ES256 EdDSA));
        has(code_challenge_methods_supported => 'S256');
        has(response_types_supported => 'code');
        has(scopes_supported => 'openid');
        has(subject_types_supported => 'public');
        ok($metadata->{authorization_response_iss_parameter_supported}, 'iss');
        is($metadata->{pushed_authorization_request_endpoint}, "$issuer/par", 'PAR');
        ok(!exists $metadata->{require_pushed_authorization_requests}
           || JSON::PP::is_bool($metadata->{require_pushed_authorization_requests}),
           'which not all clients need');
    },

    'happy-flow' => sub {
        flow($one, -proof => {});

        my $t = flow($two, -proof => {});

        is($one->userinfo($t->{access_token})->status, 401, 'it is of no use to the first one');
        is($two->userinfo($t->{access_token}, scheme => 'Bearer', headers => [])->status, 401,
           'and no bearer token');
    },

    'user-rejects-authentication' => sub {
        my $to = $one->comes($b, $one->pushed(prompt => 'consent'), $EMAIL, decision => 'deny');

        is_deeply([ @$to{qw(error state iss code)} ],
                  [ 'access_denied', 'St4te!~', $issuer, undef ], 'the user says no');
    },

    'ensure-authorization-request-without-state-success' => sub { flow($one, state => undef) },
    'ensure-authorization-request-without-nonce-success' => sub { flow($one, nonce => undef) },

    'ensure-authorization-request-with-64-char-nonce-success' => sub {
        flow($one, nonce => 'n' x 64);
    },

    'ensure-other-scope-order-succeeds' => sub {
        is(flow($one, scope => 'email openid')->{scope}, 'email openid', 'in any order');
    },

    'test-claims-parameter-identity-claims' => sub {
        my $t = flow($one, scope => 'openid profile email', claims =>
            '{"id_token":{"name":null,"email":{"essential":true},"x":null},'
            . '"userinfo":{"given_name":{"essential":false},"family_name":null,"y":null}}');

        is_deeply([ @{ $t->{id} }{qw(name email)} ], [ 'Ada Lovelace', $EMAIL ],
                  'in the ID token');
        is_deeply([ @{ told($one, $t) }{qw(given_name family_name)} ], [ qw(Ada Lovelace) ],
                  'and at userinfo');
    },

    'access-token-type-header-case-sensitivity' => sub {
        my $t = flow($one);

        told($one, $t, scheme => $_) for qw(dPOp dpop DPOP);
    },

    'check-dpop-proof-nbf-exp' => sub {
        my $now = time;
        my %lives = (claims => { nbf => $now, exp => $now + 300 });

        told($one, flow($one, '-at-token' => { -proof => \%lives }), %lives);
    },

    map({
        my ($when, $iat) = @$_;
        my %proof = (claims => { iat => $iat });

        "ensure-dpopproof-with-iat-10seconds-$when-succeeds" => sub {
            told($one, flow($one, -proof => \%proof, '-at-token' => { -proof => \%proof }),
                 %proof);
        };
    } [ before => -10 ], [ after => 10 ]),

    'ensure-mismatched-dpop-jkt-fails' => sub {
        refused($one->push_request(-proof => {}, dpop_jkt => $one->jkt(\%ANOTHER)),
                'invalid_dpop_proof', 'another key');
    },

    'ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt' => sub {
        refused($one->redeem(code(-proof => {}), -proof => \%ANOTHER), 'invalid_grant',
                'another key');
    },

    'ensure-token-endpoint-fails-with-mismatched-dpop-jkt' => sub {
        refused($one->redeem(code(dpop_jkt => $one->jkt), -proof => \%ANOTHER), 'invalid_grant',
                'another key');
    },

    'ensure-dpopproof-at-par-endpoint-binding-success' => sub { flow($one, -proof => {}) },

    'ensure-dpop-auth-code-binding-success' => sub {
        flow($one, -proof => {}, dpop_jkt => $one->jkt);
    },

    'ensure-different-nonce-inside-and-outside-request-object' => sub {
        my $to = $one->comes($b, $one->pushed, $EMAIL, more => { nonce => 'other' });

        given($one, $one->redeem($to->{code}));
    },

    'ensure-different-state-inside-and-outside-request-object' => sub {
        is($one->comes($b, $one->pushed, $EMAIL, more => { state => 'other' })->{state},
           'St4te!~', 'what was pushed');
    },

    'ensure-authorization-request-with-long-nonce' => sub {
        refused($one->push_request(nonce => 'n' x 384), 'invalid_request', 'over 255 bytes');
    },

    'ensure-authorization-request-with-long-state' => sub {
        flow($one, state => 's' x 1024);
    },

    'state-only-outside-request-object-not-used' => sub {
        my $to = $one->comes($b, $one->pushed(state => undef), $EMAIL,
                             more => { state => 'other' });

        is($to->{state}, undef, 'no state');
        is($one->redeem($to->{code})->status, 200, 'and all else');
    },

    'ensure-request-object-without-redirect-uri-fails' => sub {
        refused($one->push_request(redirect_uri => undef), 'invalid_request', 'none');
    },

    'plain-fapi-tolerate-unregistered-redirect-uri' => sub {
        refused($one->push_request(redirect_uri => "$CB/x"), 'invalid_request', 'another one');
    },

    'ensure-unsigned-authorization-request-without-using-par-fails' => sub {
        my $r = $b->get('/oauth/authorize?response_type=code&scope=openid&state=x&client_id='
                        . $one->id . "&redirect_uri=$CB&code_challenge=" . 'c' x 43
                        . '&code_challenge_method=S256');

        like($r->header('Location'), qr/\A\Q$CB\E\?error=invalid_request&.*state=x/,
             'an error, with the state');
    },

    'ensure-redirect-uri-in-authorization-request' => sub {
        refused($one->push_request(redirect_uri => undef), 'invalid_request', 'none');
    },

    'ensure-response-type-code-idtoken-fails' => sub {
        refused($one->push_request(response_type => 'code id_token'),
                'unsupported_response_type', 'two of them');
    },

    'ensure-response-type-token-fails' => sub {
        refused($one->push_request(response_type => 'token'), 'unsupported_response_type',
                'a token');
    },

    # The assertion names the second client, and the first one's key has signed it.

    'ensure-client-id-in-token-endpoint' => sub {
        refused($one->redeem(code(), client_id => $two->id,
                             -assertion => { client => $two->id }), 'invalid_client',
                "another client's");
    },

    'ensure-holder-of-key-required' => sub {
        refused($one->redeem(code(), -proof => undef), 'invalid_dpop_proof', 'no proof');
    },

    'ensure-authorization-code-is-bound-to-client' => sub {
        refused($two->redeem(code()), 'invalid_grant', "another client's");
    },

    'attempt-reuse-authorization-code-after-one-second' => sub {
        my $code = code();
        my $t = given($one, $one->redeem($code));

        $s->sql("UPDATE svc.oauth_code SET used_at = used_at - interval '1 s'"
                . ' WHERE used_at IS NOT NULL');
        refused($one->redeem($code), 'invalid_grant', 'once more');
        is($one->userinfo($t->{access_token})->status, 401, 'and its token has ended');
    },

    'ensure-token-endpoint-fails-with-expired-auth-code' => sub {
        my $code = code();

        $s->sql("UPDATE svc.oauth_code SET expires_at = expires_at - interval '62 s'"
                . ' WHERE used_at IS NULL');
        refused($one->redeem($code), 'invalid_grant', '62 seconds later');
    },

    'ensure-signed-client-assertion-with-RS256-fails' => sub {
        my $rsa = SvcTest::Fapi->new($acme, name => 'RSA', alg => 'PS256');
        my $code = authorized($rsa)->{code};

        refused($rsa->redeem($code, -assertion => { alg => 'RS256' }), 'invalid_client',
                'RS256');
        given($rsa, $rsa->redeem($code));
    },

    'ensure-client-assertion-in-token-endpoint' => sub {
        refused($one->redeem(code(), client_id => $one->id, -assertion => undef),
                'invalid_client', 'none');
    },

    'ensure-client-assertion-with-exp-is-5-minutes-in-past-fails' => sub {
        refused($one->redeem(code(), -assertion => { claims => { exp => -300 } }),
                'invalid_client', 'one that is over');
    },

    'ensure-client-assertion-with-wrong-aud-fails' => sub {
        refused($one->redeem(code(), -assertion => { aud => 'https://other.test/' }),
                'invalid_client', 'for another server');
    },

    'ensure-client-assertion-with-no-sub-fails' => sub {
        refused($one->redeem(code(), -assertion => { claims => { sub => undef } }),
                'invalid_client', 'without sub');
    },

    'dpop-negative-tests' => \&proofs,

    'refresh-token' => sub {
        my $t = flow($one, scope => 'openid offline_access', prompt => 'consent');
        my $theirs = flow($two, scope => 'openid offline_access', prompt => 'consent');

        has(grant_types_supported => 'refresh_token');
        given($one, $one->refresh($t->{refresh_token}, scope => 'openid offline_access',
                                  -proof => \%ANOTHER), nonce => undef, -untold => 1);
        refused($one->refresh($t->{refresh_token}, -assertion => undef), 'invalid_client',
                'without the client');
        refused($one->refresh($t->{refresh_token}, -proof => undef), 'invalid_dpop_proof',
                'without a proof');
        refused($one->refresh($theirs->{refresh_token}), 'invalid_grant',
                "another client's");
        given($one, $one->refresh($t->{refresh_token}), nonce => undef);
        given($two, $two->refresh($theirs->{refresh_token}), nonce => undef);
    },

    'par-ensure-reused-request-uri-prior-to-auth-completion-succeeds' => sub {
        my $uri = $one->pushed;

        $b = SvcTest::Browser->new($s, tenant => 'acme');
        like($b->get($one->path($uri))->header('Location'), qr{\A/signin/}, 'the page, twice');
        like($one->comes($b, $uri, $EMAIL)->{code}, qr/\A[\w-]{43}\z/, 'then a code');
    },

    'par-attempt-reuse-request_uri' => sub {
        my $uri = $one->pushed;

        $one->comes($b, $uri, $EMAIL);
        page($one->path($uri), 'once more');
    },

    'par-attempt-to-use-expired-request_uri' => sub {
        my $uri = $one->pushed;

        $s->sql("UPDATE svc.oauth_par SET expires_at = expires_at - interval '91 s'"
                . ' WHERE used_at IS NULL');
        page($one->path($uri), 'when it is over');
    },

    'par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted' => sub {
        is($one->push_request(-assertion => { claims => { iat => 8, nbf => 8 } })->status, 201,
           'it is');
    },

    'par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails' => sub {
        refused($one->push_request(-assertion => { claims => { iat => 62, nbf => 62,
                                                               exp => 122 } }),
                'invalid_client', 'more than 60');
    },

    'par-attempt-to-use-request_uri-for-different-client' => sub {
        page($two->path($one->pushed), "another client's");
    },

    'par-authorization-request-containing-request_uri-form-param' => sub {
        refused($one->push_request(request_uri => 'urn:ietf:params:oauth:request_uri:x'),
                'invalid_request', 'one that was pushed');
    },

    'par-attempt-invalid-http-method' => sub {
        is($s->http(PUT => '/oauth/t/acme/par')->status, 405, 'PUT');
    },

    'par-ensure-pkce-required' => sub {
        refused($one->push_request(code_challenge => undef, code_challenge_method => undef),
                'invalid_request', 'no challenge');
    },

    'ensure-pkce-code-verifier-required' => sub {
        refused($one->redeem(code(), code_verifier => undef), 'invalid_grant', 'no verifier');
    },

    'incorrect-pkce-code-verifier-rejected' => sub {
        refused($one->redeem(code(), code_verifier => 'w' x 43), 'invalid_grant',
                'another one');
    },

    'par-plain-pkce-rejected' => sub {
        refused($one->push_request(code_challenge_method => 'plain'), 'invalid_request',
                'plain');
    },

    'par-without-duplicate-parameters' => sub { flow($one) },

    'par-test-array-as-audience-fails' => sub {
        refused($one->push_request(-assertion => { claims => { aud => [ $issuer ] } }),
                'invalid_client', 'a list');
    },

    'par-test-par-endpoint-url-as-audience-fails' => sub {
        refused($one->push_request(-assertion => { aud => "$issuer/par" }), 'invalid_client',
                'its URL');
    },

    'par-test-token-endpoint-url-as-audience-fails' => sub {
        refused($one->push_request(-assertion => { aud => "$issuer/token" }), 'invalid_client',
                'its URL');
    },
);


# Sends good and bad proofs to userinfo.

sub proofs {
    my $t = flow($one);
    my $token = $t->{access_token};
    my $url = "$issuer/userinfo";
    my $proof = sub { $one->proof('GET', 'userinfo', token => $token, @_)->{proof} };
    my $good = sub {
        my ($name, %opt) = @_;

        is($one->userinfo($token, %opt)->status, 200, $name);
    };
    my $bad = sub {
        my ($name, %opt) = @_;

        my $status = $one->userinfo($token, %opt)->status;

        ok($status == 400 || $status == 401, "$name: refused") or diag($status);
    };

    $good->('a header in capitals', name => 'DPOP', headers => [ $proof->() ]);
    $bad->('two proofs', headers => [ $proof->(), $proof->() ]);
    $bad->('no JWT', headers => [ 'x.' . $proof->() ]);
    $bad->("no $_", header => { $_ => undef }) for qw(typ alg jwk);
    $bad->("no $_", claims => { $_ => undef }) for qw(jti htm htu iat ath);
    $bad->('another typ', header => { typ => 'jwt' });
    $bad->('RS256', key => 'rsa', settings => { alg => 'RS256' });
    $bad->('none', header => { alg => 'none' });
    $bad->('another signature', settings => { flip => 1 });
    $bad->('a private key', settings => { private => 1 });
    $bad->('another method', claims => { htm => 'PUT' });
    $good->('a query and a fragment', claims => { htu => "$url?a=b#c" });
    $bad->('another URL', claims => { htu => "$url/x" });
    $bad->("$_ seconds", claims => { iat => $_ }) for 3600, -3600;

    my $twice = $proof->();

    $good->('a jti', headers => [ $twice ]);
    $bad->('the same one', headers => [ $twice ]);
    $bad->('another ath', claims => { ath => encode_base64url(sha256('x')) });
    $bad->('another key', %ANOTHER);
    $good->('members of others', header => { x => 'y' }, claims => { z => 1 });
    $good->('a scheme and a host in capitals',
            claims => { htu => $url =~ s/\Ahttp/HTTP/r });
    $bad->('no proof', headers => []);
    $bad->('no proof, as a bearer token', scheme => 'Bearer', headers => []);
    $good->('a good one');
}


while (my ($module, $test) = splice @MODULES, 0, 2) {
    my $name = "fapi2-security-profile-final-$module";

    subtest $name => sub {
        somebody();
        $test->();
    };
    push @TRIED, "fapi2 $name";
}

tried($s, qr/\Afapi2-/, @TRIED);

$s->done;
done_testing;
