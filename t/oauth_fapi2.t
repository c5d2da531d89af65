#!/usr/bin/perl

# Shows applications with the profile fapi2: a whole flow, what each clause of 5.3.2
# of the FAPI 2.0 Security Profile asks of an authorization server, and what becomes
# of tokens from before the profile.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Fapi qw($CB $VERIFIER $TYPE);
use SvcTest::OAuth qw(oauth_server application form oauth_error claims escape exchange
                      $EXCHANGE $ACCESS_TOKEN);

my $s = oauth_server(svc => { svc_login_url => '/signin/' })->start;
my $acme = $s->tenant('acme');
my $EMAIL = 'ada@acme.test';
my ($TRUE, $FALSE) = (JSON::PP::true, JSON::PP::false);

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => $EMAIL);
my $bank = SvcTest::Fapi->new($acme, name => 'Bank', scopes => [ qw(openid email accounts) ]);
my $other = SvcTest::Fapi->new($acme, name => 'Other bank');
my $robot = SvcTest::Fapi->new($acme, name => 'Robot', type => 'm2m', redirectUris => [],
                               scopes => [ 'accounts' ],
                               grantTypes => [ 'client_credentials', $EXCHANGE ]);
my $iss = $bank->{issuer};
my $b = SvcTest::Browser->new($s, tenant => 'acme');

$b->login($EMAIL)->status == 200 or die "no session\n";

sub code {
    my ($app, %more) = @_;

    return $app->comes($b, $app->pushed(%more), $EMAIL)->{code} // die "no code\n";
}

sub tokens {
    my ($app, %more) = @_;

    my $r = $app->redeem(code($app, %more));

    $r->status == 200 or die $r->body . "\n";

    return $r->json;
}

# Expects an error of RFC 6749, 5.2, with the status 400.

sub bad {
    my ($r, $code, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    return oauth_error($r, 400, $code, $name);
}

sub patch {
    my ($app, $body) = @_;

    my $r = $s->http(PATCH => '/v1/applications/' . $app->id,
                     [ Authorization => "Bearer $acme->{apps_token}" ], $body);

    $r->status == 200 or die $r->body . "\n";
}


# --- a whole flow -------------------------------------------------------------------

{
    my $r = $bank->push_request(-proof => {}, scope => 'openid email offline_access');

    is($r->status, 201, 'a request is pushed') or diag($r->body);

    my $to = $bank->comes($b, $r->json->{request_uri}, $EMAIL);

    is_deeply([ sort keys %$to ], [ qw(code iss state) ], 'what comes back');
    is_deeply([ @$to{qw(iss state)} ], [ $iss, 'St4te!~' ], 'with the issuer and the state');

    $r = $bank->redeem($to->{code});
    is($r->status, 200, 'tokens for it') or diag($r->body);

    my $t = $r->json;
    my ($head, $access) = claims($t->{access_token});
    my ($id_head, $id) = claims($t->{id_token});

    is($t->{token_type}, 'DPoP', 'bound to a key');
    is($access->{cnf}{jkt}, $bank->jkt, 'which is that of the proof');
    is_deeply([ $head->{alg}, $id_head->{alg} ], [ 'ES256', 'ES256' ], 'both of ES256');
    is_deeply([ @$id{qw(iss sub nonce)} ], [ $iss, $ada->{id}, 'n0nce' ], 'an ID token');
    is($bank->userinfo($t->{access_token})->json->{email}, $EMAIL, 'userinfo');

    for my $n (1 .. 3) {
        $r = $bank->refresh($t->{refresh_token});
        is($r->status, 200, "a refresh, $n") or diag($r->body);
        ok(!exists $r->json->{refresh_token}, 'has no other refresh token');
        is($r->json->{token_type}, 'DPoP', 'its token is bound');
        is($bank->userinfo($r->json->{access_token})->status, 200, 'and good');
    }

    # The refresh token is bound to the client's keys, not to the key of a proof.

    is($bank->refresh($t->{refresh_token}, -proof => { key => 'another' })->status, 200,
       'another proof of the same client');

    $r = $bank->form_to(introspect => { token => $t->{access_token} }, proof => undef);
    is($r->json->{active}, $TRUE, 'introspection by an assertion') or diag($r->body);
    is($r->json->{cnf}{jkt}, $bank->jkt, 'has the key');
    is($bank->form_to(revoke => { token => $t->{refresh_token} }, proof => undef)->status, 200,
       'and revocation');
    bad($bank->refresh($t->{refresh_token}), 'invalid_grant', 'which ends it');
    is($bank->userinfo($t->{access_token})->status, 401, 'with its tokens');
}


# --- the application's own rules ----------------------------------------------------

# Each endpoint where a client authenticates, with the other parameters.

my %AT = (par => { response_type => 'code', redirect_uri => $CB, scope => 'openid',
                   code_challenge => encode_base64url(sha256($VERIFIER)),
                   code_challenge_method => 'S256' },
          token => { grant_type => 'refresh_token', refresh_token => 'srt_x' },
          introspect => { token => 'x' }, revoke => { token => 'x' });

sub nowhere {
    my ($name, %opt) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $app = delete $opt{of} // $bank;

    bad($app->form_to($_, $AT{$_}, assertion => { %opt }), 'invalid_client', "$name at $_")
        for sort keys %AT;
}

# A request that was not pushed.

{
    my $r = $b->get('/oauth/authorize?' . join '&', map { "$_=" . escape($AT{par}{$_}) }
                    sort keys %{ $AT{par} });

    is($r->status, 400, 'no client, no request');
    $r = $b->get('/oauth/authorize?state=x&client_id=' . $bank->id . '&'
                 . join '&', map { "$_=" . escape($AT{par}{$_}) } sort keys %{ $AT{par} });
    like($r->header('Location'), qr/\A\Q$CB\E\?error=invalid_request&.*\bstate=x\b/,
         'a request that was not pushed');
    unlike($r->header('Location'), qr/code=/, 'has no code');

    # The page cannot approve it either.

    $r = $b->post('/v1/oauth/authorization', {
        request => join('&', map { "$_=" . escape($AT{par}{$_}) } sort keys %{ $AT{par} })
                   . '&client_id=' . $bank->id,
        decision => 'approve', userId => $ada->{id}, scopes => [ 'openid' ], resources => [] });
    is($r->status, 400, 'which the page cannot approve') or diag($r->body);
    is($s->sql("SELECT count(*) FROM svc.oauth_code WHERE client_id = '" . $bank->id
               . "' AND used_at IS NULL"), 0, 'nobody has a code for it');
}

# The client has no secret.

for my $endpoint (sort keys %AT) {
    oauth_error(form($s, $endpoint, $AT{$endpoint}, client => { clientId => $bank->id,
                                                                clientSecret => 'x' }),
                401, 'invalid_client', "Basic at $endpoint");
    bad(form($s, $endpoint, { %{ $AT{$endpoint} }, client_id => $bank->id,
                              client_secret => 'x' }),
        'invalid_client', "a secret in the form at $endpoint");
    bad(form($s, $endpoint, { %{ $AT{$endpoint} }, client_id => $bank->id }), 'invalid_client',
        "its id alone at $endpoint");
}


# --- 5.3.2.1, one clause after the other --------------------------------------------

my $metadata = $s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')->json;

sub lists {
    my ($name, @values) = @_;

    my %there = map { $_ => 1 } @{ $metadata->{$name} // [] };

    is_deeply([ grep { !$there{$_} } @values ], [], "$name has @values");
}

subtest '5.3.2.1-1: metadata' => sub {
    is($metadata->{pushed_authorization_request_endpoint}, "$iss/par", 'where to push');
    is($metadata->{authorization_response_iss_parameter_supported}, $TRUE, 'iss');
    lists(code_challenge_methods_supported => 'S256');
    lists(response_types_supported => 'code');
    lists($_ . '_endpoint_auth_methods_supported' => 'private_key_jwt')
        for qw(token introspection revocation);
    lists(token_endpoint_auth_signing_alg_values_supported => qw(PS256 ES256 EdDSA));
    lists(dpop_signing_alg_values_supported => qw(ES256 EdDSA));
    lists(id_token_signing_alg_values_supported => 'ES256');
};

subtest '5.3.2.1-2: no password grant' => sub {
    bad($bank->form_to(token => { grant_type => 'password', username => $EMAIL,
                                  password => 'x' }), 'unsupported_grant_type', 'none');
};

subtest '5.3.2.1-3: confidential clients only' => sub {
    for my $type (qw(spa native)) {
        is($s->http(POST => '/v1/applications',
                    [ Authorization => "Bearer $acme->{apps_token}" ],
                    { name => 'x', type => $type, redirectUris => [ $CB ],
                      securityProfile => 'fapi2', jwks => $bank->{app}{jwks} })->status, 400,
           "no $type");
    }
};

subtest '5.3.2.1-4, -5: only bound tokens' => sub {
    my $t = tokens($bank, scope => 'openid offline_access accounts');

    bad($bank->redeem(code($bank), -proof => undef), 'invalid_dpop_proof', 'a code');
    bad($bank->refresh($t->{refresh_token}, -proof => undef), 'invalid_dpop_proof',
        'a refresh');
    is($bank->refresh($t->{refresh_token})->status, 200, 'which has spent nothing');

    my %cc = (grant_type => 'client_credentials');
    my %given = (grant_type => $EXCHANGE, subject_token_type => $ACCESS_TOKEN,
                 subject_token => $t->{access_token});

    bad($robot->form_to(token => \%cc, proof => undef), 'invalid_dpop_proof', 'its own');
    is($robot->form_to(token => \%cc)->json->{token_type}, 'DPoP', 'with a proof it is bound');
    bad($robot->form_to(token => \%given, proof => undef), 'invalid_dpop_proof', 'an exchange');

    my $r = $bank->userinfo($t->{access_token}, scheme => 'Bearer', headers => []);

    is($r->status, 401, 'it is no bearer token');
    is($bank->userinfo($t->{access_token}, headers => [])->status, 401, 'nor without a proof');
    is($bank->userinfo($t->{access_token}, key => 'another')->status, 401,
       'nor with one of another key');
    is($bank->userinfo($t->{access_token})->status, 200, 'it is good with its own');
};

subtest '5.3.2.1-6, 5.4.1: private_key_jwt, of good algorithms' => sub {
    for my $alg (qw(PS256 EdDSA)) {
        my $app = SvcTest::Fapi->new($acme, name => $alg, alg => $alg);

        is($app->redeem(code($app))->status, 200, "$alg is good");
    }

    my $rsa = SvcTest::Fapi->new($acme, name => 'RSA', alg => 'PS256');

    nowhere('RS256', of => $rsa, alg => 'RS256');
    is($rsa->push_request->status, 201, 'the same key is good for PS256');
    nowhere('another key', settings => { other => 'mallory' });
    nowhere('no signature', settings => { flip => 1 });
    nowhere('none', header => { alg => 'none' });
    nowhere('no sub', claims => { sub => undef });
    nowhere("another client's id", claims => { sub => $other->id, iss => $other->id });

    my $short = { kty => 'RSA', kid => 'a', e => 'AQAB',
                  n => encode_base64url("\x81" . "\x55" x 126 . "\x55") };

    is($s->http(PATCH => '/v1/applications/' . $bank->id,
                [ Authorization => "Bearer $acme->{apps_token}" ],
                { jwks => { keys => [ $short ] } })->status, 400, 'RSA of 1024 bits is no key');
};

subtest '5.3.2.1-7: no open redirector' => sub {
    bad($bank->push_request(redirect_uri => $_), 'invalid_request', $_)
        for 'https://evil.test/cb', "$CB/x", "$CB?x=y", 'http://bank.test/cb';
};

subtest '5.3.2.1-8: the issuer alone as aud, a string' => sub {
    nowhere('the token endpoint', aud => "$iss/token");
    nowhere('the other one', aud => "$bank->{base}/oauth/token");
    nowhere('where it pushes', aud => "$iss/par");
    nowhere('a list', aud => undef, claims => { aud => [ $iss ] });
    nowhere('two', aud => undef, claims => { aud => [ $iss, 'https://a.test' ] });
    nowhere('another tenant', aud => "$bank->{base}/oauth/t/globex");
    nowhere('none', aud => undef);
};

subtest '5.3.2.1-9: refresh tokens do not rotate' => sub {
    my $t = tokens($bank, scope => 'openid offline_access');

    for (1, 2) {
        my $r = $bank->refresh($t->{refresh_token});

        is($r->status, 200, 'the same one') or diag($r->body);
        ok(!exists $r->json->{refresh_token}, 'and no other');
    }

    bad($other->refresh($t->{refresh_token}), 'invalid_grant', 'it is its client\'s');
    is($bank->refresh($t->{refresh_token})->status, 200, 'whom that does no harm');
};

subtest '5.3.2.1-11: codes live for 60 seconds' => sub {
    my $code = code($bank);

    is($s->sql('SELECT max(expires_at) <= now() + interval \'60 s\' FROM svc.oauth_code'
               . ' WHERE used_at IS NULL'), 't', 'at most');
    $s->sql("UPDATE svc.oauth_code SET expires_at = now() - interval '1 s'"
            . ' WHERE used_at IS NULL');
    bad($bank->redeem($code), 'invalid_grant', 'not longer');
};

subtest '5.3.2.1-12: codes are bound to a DPoP key (RFC 9449, 10.1)' => sub {
    my $jkt = $bank->jkt;
    my $another = { key => 'another' };

    bad($bank->redeem(code($bank, -proof => {}), -proof => $another), 'invalid_grant',
        'that of the proof');
    bad($bank->redeem(code($bank, dpop_jkt => $jkt), -proof => $another), 'invalid_grant',
        'dpop_jkt');
    is($bank->redeem(code($bank, dpop_jkt => $jkt, -proof => {}))->status, 200, 'both');
    is($bank->push_request(dpop_jkt => $bank->jkt($another), -proof => {})->status, 400,
       'that are not the same');
};

subtest '5.3.2.1-13: clocks' => sub {
    for my $claim (qw(iat nbf)) {
        is($bank->push_request(-assertion => { claims => { $claim => 10 } })->status, 201,
           "an assertion, $claim 10 s ahead");
        nowhere("$claim 65 s ahead", claims => { $claim => 65, exp => 120 });
    }

    my $t = tokens($bank);

    for my $iat (-10, 10) {
        is($bank->push_request(-proof => { claims => { iat => $iat } })->status, 201,
           "a proof, $iat s, where it pushes");
        is($bank->userinfo($t->{access_token}, claims => { iat => $iat })->status, 200,
           'and at userinfo');
    }

    bad($bank->redeem(code($bank), -proof => { claims => { iat => 65 } }), 'use_dpop_nonce',
        'a proof of the future: 5.3.2.1-10, its nonce is wanted');
};

subtest '5.3.2.1-14: no more than what was asked for' => sub {
    is(tokens($bank, scope => 'openid')->{scope}, 'openid', 'the scope');
    is($bank->push_request(scope => 'openid admin')->status, 400, 'another one');
};


# --- 5.3.2.2 ------------------------------------------------------------------------

subtest '5.3.2.2-1: codes alone' => sub {
    bad($bank->push_request(response_type => $_), 'unsupported_response_type', $_)
        for 'token', 'code id_token', 'id_token';
    bad($bank->push_request(response_type => undef), 'invalid_request', 'none');
};

subtest '5.3.2.2-2 to -4: PAR, of clients that prove themselves' => sub {
    bad($bank->push_request(-assertion => undef, client_id => $bank->id), 'invalid_client',
        'who says only who it is');
    is($bank->push_request(-assertion => undef)->status, 400, 'who does not say it');
};

subtest '5.3.2.2-5: PKCE, by S256' => sub {
    bad($bank->push_request(code_challenge => undef, code_challenge_method => undef),
        'invalid_request', 'no challenge');
    bad($bank->push_request(code_challenge_method => $_), 'invalid_request', $_ // 'no method')
        for 'plain', undef;
    bad($bank->redeem(code($bank), code_verifier => undef), 'invalid_grant', 'no verifier');
    bad($bank->redeem(code($bank), code_verifier => 'w' x 43), 'invalid_grant', 'another one');
};

subtest '5.3.2.2-6: redirect_uri is pushed' => sub {
    bad($bank->push_request(redirect_uri => undef), 'invalid_request', 'it must be');
    bad($bank->push_request(request_uri => 'urn:x'), 'invalid_request',
        'a request that was pushed is none');

    my $uri = $bank->pushed;
    my $to = $bank->comes($b, $uri, $EMAIL, more => {
        redirect_uri => 'https://evil.test/cb', state => 'other', scope => 'openid email' });

    is($to->{state}, 'St4te!~', 'what the browser brings besides is nothing');
    is($bank->redeem($to->{code})->json->{scope}, 'openid', 'also of scopes');
};

subtest '5.3.2.2-7: iss' => sub {
    is($bank->comes($b, $bank->pushed, $EMAIL)->{iss}, $iss, 'with a code');
    is($bank->comes($b, $bank->pushed(prompt => 'consent'), $EMAIL, decision => 'deny')->{iss},
       $iss, 'and with an error');
};

subtest '5.3.2.2-9: a code is good once' => sub {
    my $code = code($bank);
    my $t = $bank->redeem($code)->json;

    is($bank->userinfo($t->{access_token})->status, 200, 'the first time');
    bad($bank->redeem($code), 'invalid_grant', 'the second one');
    is($bank->userinfo($t->{access_token})->status, 401, 'ends what it was for');
};

subtest '5.3.2.2-10, -11: 303' => sub {
    is($b->get($bank->path($bank->pushed))->status, 303, 'and not 307');
};

subtest '5.3.2.2-12: a request_uri is short-lived, and good once' => sub {
    my $r = $bank->push_request;
    my $uri = $r->json->{request_uri};

    cmp_ok($r->json->{expires_in}, '<', 600, 'less than 600 seconds');
    like($uri, qr/\Aurn:ietf:params:oauth:request_uri:[\w-]{43}\z/, 'of 256 bits');
    is($b->get($other->path($uri))->status, 400, 'it is its client\'s');
    is($bank->comes($b, $uri, $EMAIL)->{iss}, $iss, 'good');
    is($b->get($bank->path($uri))->status, 400, 'once');

    $uri = $bank->pushed;
    $s->sql("UPDATE svc.oauth_par SET expires_at = now() - interval '1 s'"
            . ' WHERE used_at IS NULL');
    is($b->get($bank->path($uri))->status, 400, 'and not when it is over');
};

subtest '5.3.2.2-14: a nonce of 64 characters' => sub {
    is((claims(tokens($bank, nonce => 'n' x 64)->{id_token}))[1]{nonce}, 'n' x 64,
       'comes back');
};


# --- the profile is set, and removed ------------------------------------------------

{
    my $app = SvcTest::Fapi->new($acme, name => 'Later', securityProfile => undef,
                                 tokenEndpointAuthMethod => 'private_key_jwt',
                                 accessTokenFormat => 'opaque');
    my %old = (scope => 'openid offline_access');
    my $bearer = sub {
        return $s->http(GET => '/oauth/userinfo',
                        [ Authorization => "Bearer $_[0]{access_token}" ])->status;
    };
    my $t = $app->redeem(code($app, %old), -proof => undef)->json;
    my $code = code($app, %old);

    is($t->{token_type}, 'Bearer', 'without a profile there are bearer tokens');
    is($bearer->($t), 200, 'which are good');
    is($app->push_request(-assertion => { aud => "$iss/token" })->status, 201,
       'and assertions for the token endpoint');

    patch($app, { securityProfile => 'fapi2' });
    is($bearer->($t), 401, 'with the profile they have ended');
    bad($app->push_request(-assertion => { aud => "$iss/token" }), 'invalid_client',
        'such assertions, too');
    bad($app->refresh($t->{refresh_token}, -proof => undef), 'invalid_dpop_proof',
        'a refresh without a proof');
    bad($app->refresh($t->{refresh_token}), 'invalid_grant', 'with one: it has ended as well');
    bad($app->redeem($code), 'invalid_grant', 'and so has a code');

    my $bound = $app->redeem(code($app, %old))->json;

    is($app->userinfo($bound->{access_token})->status, 200, 'what is given since is good');
    ok(!exists $app->refresh($bound->{refresh_token})->json->{refresh_token}, 'and stays');

    patch($app, { securityProfile => undef });

    my $next = $app->refresh($bound->{refresh_token})->json->{refresh_token};

    like($next, qr/\Asrt_/, 'without the profile it has a successor');
    bad($app->refresh($bound->{refresh_token}, -proof => undef), 'invalid_dpop_proof',
        'what the profile has filled stays');
    is($app->push_request(-assertion => { aud => "$iss/token" })->status, 201,
       'the rules for assertions are those of others');
    is($app->refresh($next)->status, 200, 'the successor is good');
    bad($app->refresh($bound->{refresh_token}), 'invalid_grant', 'and what it came of is not');
}

$s->done;
done_testing;
