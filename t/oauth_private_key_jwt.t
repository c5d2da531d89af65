#!/usr/bin/perl

# Shows private_key_jwt (RFC 7523; OpenID Connect Core 1.0, 9): clients authenticate
# with assertions that they have signed, at each endpoint.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Grants qw(code redeem $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server oauth_node application form oauth_error basic claims escape
                      user_token consent $EXCHANGE $ACCESS_TOKEN);
use SvcTest::Process qw(wait_for slurp);
use SvcTest::Skip;

needs(python => 'cryptography');

my $TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
my $REFUSED = 'The client is unknown, or its assertion is not good.';
my %CC = (grant_type => 'client_credentials');

# One worker here, and one on another node: each has a cache of its own.

my $s = oauth_server(workers => 1)->start;
my $node = oauth_node($s);
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port . '/oauth';
my $issuer = "$base/t/acme";
my $lines = SvcTest::Lines->new($s->root . '/t/lib/assertion');
my @NODES = ([], [ port => $node->{port} ]);
my $ada = $acme->create(userName => 'ada@acme.test');


# --- making and sending assertions -----------------------------------------------------

# Returns a public key for an alg.

sub key {
    my ($name, $alg, %settings) = @_;

    return $lines->ask({ key => $name, alg => $alg, settings => \%settings })->{jwk};
}

sub with_keys {
    my ($tenant, $keys, %body) = @_;

    return application($tenant, tokenEndpointAuthMethod => 'private_key_jwt',
                       jwks => { keys => $keys }, %body);
}

# Makes an assertion of an application. Options: key, alg, aud, claims, header,
# settings.

sub assertion {
    my ($app, %opt) = @_;

    my $text = $lines->ask({ key => 'es', client => $app->{clientId}, aud => $issuer,
                             %opt })->{assertion};
    $s->secret($text);

    return $text;
}

sub proved {
    my ($assertion, %more) = @_;

    return (client_assertion => $assertion, client_assertion_type => $TYPE, %more);
}

# Returns what an endpoint of one of the nodes answers to an assertion.

sub asked {
    my ($endpoint, $assertion, %opt) = @_;

    return form($s, $endpoint, { %{ $opt{fields} // {} }, proved($assertion),
                                 %{ $opt{more} // {} } },
                headers => $opt{headers}, http => { @{ $NODES[$opt{node} // 0] } });
}

my %FIELDS = (token => \%CC, introspect => { token => 'x' }, revoke => { token => 'x' });

# Sends new assertions to all endpoints: each is good at any of them until it has been
# presented.

sub at_all {
    my ($name, $app, $expected, %opt) = @_;

    for my $endpoint (sort keys %FIELDS) {
        my %more = $opt{more} ? (more => delete $opt{more}) : ();
        my $r = asked($endpoint, assertion($app, %opt), fields => $FIELDS{$endpoint}, %more);

        $opt{more} = $more{more} if %more;
        is($r->status, $expected, "$name: $endpoint") or diag($r->body);
    }
}

sub logged {
    my ($why) = @_;

    return wait_for { slurp($s->dir . '/error.log') =~ /\[info\].* is refused: it \Q$why\E/ };
}

# Expects one answer from all endpoints to what is not good, with and without
# client_id.

sub refused {
    my ($name, $app, $why, %opt) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $text = delete $opt{text};
    my $more = delete $opt{more} // {};
    my @wrong;

    for my $endpoint (sort keys %FIELDS) {
        for my $id ({}, { client_id => $app->{clientId} }) {
            my $r = asked($endpoint, $text // assertion($app, %opt),
                          fields => $FIELDS{$endpoint}, more => { %$id, %$more });

            push @wrong, "$endpoint: " . $r->status . ' ' . $r->body
                if $r->status != 400 || $r->header('www-authenticate')
                   || $r->json->{error} ne 'invalid_client'
                   || $r->json->{error_description} ne $REFUSED;
        }
    }

    is_deeply(\@wrong, [], $name);
    ok(logged($why), "$name: the log says that it $why");
}


# --- each algorithm ---------------------------------------------------------------------

my %APP = (
    es => with_keys($acme, [ key('es', 'ES256') ]),
    ed => with_keys($acme, [ key('ed', 'EdDSA') ]),
    rsa => with_keys($acme, [ key('rsa', 'RS256') ]),
    big => with_keys($acme, [ key('big', 'PS256', bits => 4096) ]),
    only => with_keys($acme, [ { %{ key('only', 'PS256') }, alg => 'PS256' } ]),
    five => with_keys($acme, [ map { key("k$_", 'ES256') } 1 .. 5 ]),
);
my $app = $APP{es};

is($app->{clientSecret}, undef, 'a client with keys has no secret');

for ([ es => 'ES256' ], [ ed => 'EdDSA' ], [ ed => 'Ed25519' ], [ rsa => 'RS256' ],
     [ rsa => 'PS256' ], [ big => 'PS256' ], [ big => 'RS256' ], [ only => 'PS256' ]) {
    my ($key, $alg) = @$_;

    at_all("$alg of $key", $APP{$key}, 200, key => $key, alg => $alg);
    at_all("$alg of $key without kid", $APP{$key}, 200, key => $key, alg => $alg,
           header => { kid => undef });
}

at_all("k$_ of five", $APP{five}, 200, key => "k$_") for 1 .. 5;


# --- the claims of an assertion ---------------------------------------------------------

for my $aud ($issuer, "$issuer/token", "$base/token", [ $issuer ], [ "$base/token" ]) {
    at_all('aud ' . (ref $aud ? "[ @$aud ]" : $aud), $app, 200, claims => { aud => $aud });
}

at_all('client_id beside', $app, 200, more => { client_id => $app->{clientId} });
at_all('exp in 300 s', $app, 200, claims => { exp => 299 });
at_all('no iat', $app, 200, claims => { iat => undef });
at_all('iat of yesterday', $app, 200, claims => { iat => -86400 });
at_all('iat and nbf in 50 s', $app, 200, claims => { iat => 50, nbf => 50 });
at_all('times with fractions', $app, 200, claims => { iat => 0.5, exp => 60.25 });
at_all('a typ', $app, 200, header => { typ => 'client-authentication+jwt' });
at_all('claims that nobody knows', $app, 200, claims => { x => [ 1 ] });

for my $endpoint (sort keys %FIELDS) {
    is(asked("t/acme/$endpoint", assertion($app), fields => $FIELDS{$endpoint})->status, 200,
       "below the issuer: $endpoint");
    is(asked("t/globex/$endpoint", assertion($app), fields => $FIELDS{$endpoint})->json->{error},
       'invalid_client', "below another issuer: $endpoint");
}

is(asked(token => assertion($app, claims => { jti => $_ }), fields => \%CC)->status, 200,
   'a jti of ' . length) for '1', 'x' x 128;
is((claims(asked(token => assertion($app), fields => \%CC)->json->{access_token}))[1]{sub},
   $app->{clientId}, 'the token is the client\'s');


# --- what is refused --------------------------------------------------------------------

my $AUD = "has an 'aud' that is neither the issuer nor the token endpoint";
my $KEY = "names none of the client's keys by 'kid'";
my $ALG = "has an 'alg' that is not one of its key";
my $SIGNATURE = 'has a signature that is not of its key';
my $TIMES = "has an 'iat' or an 'nbf' that is more than 60 seconds ahead, or no number";
my $NONE = "has an 'alg' that is none of ES256, EdDSA, Ed25519, PS256 and RS256";

refused("aud $_", $app, $AUD, claims => { aud => $_ })
    for "$base/t/globex/tokens", "$issuer/", "$issuer/introspect", "$base/introspect", $base,
        "$base/t/", "$base/t", 'https://as.test/oauth/t/acme', $app->{clientId}, "$issuer ",
        "$base/token/", uc $issuer, '';
refused("aud of another tenant: $_", $app, 'is for the issuer of another tenant',
        claims => { aud => $_ })
    for "$base/t/globex", "$base/t/globex/token", "$base/t/nobody", "$base/t/acme'";
refused("aud: $_->[0]", $app, "has no 'aud' that is one string", claims => { aud => $_->[1] })
    for [ 'an array of two' => [ $issuer, "$base/token" ] ], [ 'of none' => [] ],
        [ 'twice' => [ $issuer, $issuer ] ], [ 'missing' => undef ], [ 'a number' => 1 ],
        [ 'a number in an array' => [ 1 ] ], [ 'of arrays' => [ [ $issuer ] ] ],
        [ 'an object' => { a => $issuer } ];

refused('exp in an hour', $app, "has no 'exp' that is at most 300 seconds ahead",
        claims => { exp => 3600 });
refused('exp in 310 s', $app, "has no 'exp' that is at most 300 seconds ahead",
        claims => { exp => 310 });
refused("exp: $_->[0]", $app, "has no 'exp' that is at most 300 seconds ahead",
        claims => { exp => $_->[1] })
    for [ missing => undef ], [ text => 'x' ], [ huge => 1e300 ], [ null => [] ];
refused("exp $_", $app, "is over by its 'exp'", claims => { exp => $_ }) for -1, -3600;
refused("$_ in 70 s", $app, $TIMES, claims => { $_ => 70 }) for qw(iat nbf);
refused("$_: text", $app, $TIMES, claims => { $_ => 'x' }) for qw(iat nbf);

refused("jti: $_->[0]", $app, "has no 'jti' of 1 to 128 bytes", claims => { jti => $_->[1] })
    for [ missing => undef ], [ empty => '' ], [ long => 'x' x 129 ], [ number => 1 ];

refused('iss is not sub', $app, "has an 'iss' that is not its 'sub'",
        claims => { iss => $APP{ed}{clientId} });
refused('no iss', $app, "has an 'iss' that is not its 'sub'", claims => { iss => undef });
refused('iss is the issuer', $app, "has an 'iss' that is not its 'sub'",
        claims => { iss => $issuer });
refused("sub: $_->[0]", { clientId => $_->[0] }, "has no 'sub' that is a clientId",
        claims => { sub => $_->[1], iss => $_->[1] })
    for map { [ $_ => $_ ] } 'app_x', "app_" . 'G' x 32;
refused('no sub', $app, "has no 'sub' that is a clientId", claims => { sub => undef });

my $unknown = { clientId => 'app_' . '0' x 32 };
refused('a client that is unknown', $unknown, 'is of a client that is unknown, or of another');
refused('a client with a secret', application($acme), $KEY);
refused('a public client', application($acme, type => 'spa', redirectUris => [ $REDIRECT ]),
        $KEY);

my $foreign = with_keys($globex, [ key('es', 'ES256') ]);
refused('a client of another tenant, with the same key', $foreign,
        'is of a client that is unknown, or of another');
is(asked(token => assertion($foreign, aud => "$base/t/globex"), fields => \%CC)->status, 200,
   'at its own issuer');

refused('none', $app, $NONE, header => { alg => 'none' });
refused('HS256 with the public key', $app, $NONE, alg => 'HS256');
refused('HS256 with the public key of RSA', $APP{rsa}, $NONE, key => 'rsa', alg => 'HS256');
refused("alg $_", $app, $NONE, header => { alg => $_ }) for qw(RS512 es256 ES384), '';
refused('no alg', $app, $NONE, header => { alg => undef });
refused('a kid that is unknown', $app, $KEY, header => { kid => 'other' });
refused('a kid of another client', $app, $KEY, header => { kid => 'ed' }, settings =>
        { other => 'ed' });
refused('no kid, of five', $APP{five}, $KEY, key => 'k1', header => { kid => undef });
refused('the signature of another key', $app, $SIGNATURE, settings => { other => 'two' });
refused('the signature of another key of the client', $APP{five}, $SIGNATURE, key => 'k1',
        settings => { other => 'k2' });
refused('another signature', $app, $SIGNATURE, settings => { flip => 1 });
refused('RS256 of a key for PS256', $APP{only}, $ALG, key => 'only', alg => 'RS256');
refused('a crit', $app, "has a 'crit' in its header", header => { crit => [ 'exp' ] });

# The signature is of another algorithm than its header says.

refused("$_->[1] of a key of $_->[0]", $APP{ $_->[0] }, $ALG, key => $_->[0],
        alg => $_->[1], settings => { other => "other $_->[1]" })
    for [ es => 'EdDSA' ], [ es => 'RS256' ], [ es => 'PS256' ], [ ed => 'ES256' ],
        [ rsa => 'ES256' ], [ rsa => 'EdDSA' ];
refused('PKCS #1 as PSS', $APP{rsa}, $SIGNATURE, key => 'rsa', alg => 'RS256',
        header => { alg => 'PS256' });
refused('PSS as PKCS #1', $APP{rsa}, $SIGNATURE, key => 'rsa', alg => 'PS256',
        header => { alg => 'RS256' });
refused('ES256 as EdDSA', $app, $ALG, header => { alg => 'EdDSA' });

refused("no JWS: $_", $app, 'is not a JWS of three parts', text => $_) for 'x', 'a.b', 'a.b.c.d';
refused('no JSON', $app, 'has a payload that is not a JSON object',
        settings => { payload => '{"iss":"x","iss":"y"}' });
refused('dots', $app, 'is longer than 8192 bytes', text => '.' x 10_000);

{
    my $text = assertion($app);

    refused('no type', $app, "comes with another 'client_assertion_type', or without one",
            text => $text, more => { client_assertion_type => undef });
    refused('another type', $app, "comes with another 'client_assertion_type', or without one",
            text => $text, more => { client_assertion_type => "$TYPE " });
    is(asked(token => $text, fields => \%CC)->status, 200, 'which spends it not');
}

{
    my $log = slurp($s->dir . '/error.log');

    like($log, qr/the client "$app->{clientId}" is refused: it is over by its 'exp'/,
         'the log says whose it is');
    like($log, qr/the client "-" is refused: it has no 'sub' that is a clientId/,
         '... unless it says so of nobody that may be');
    unlike($log, qr/is refused: it has been used/, 'who is unknown has used none');
    unlike($log, qr/eyJ[\w-]+\.eyJ/, 'no assertion is in the log');
}


# --- several ways to authenticate at once -----------------------------------------------

my $with_secret = application($acme);
my $ed = $APP{ed};

for my $endpoint (sort keys %FIELDS) {
    my @f = %{ $FIELDS{$endpoint} };

    oauth_error(form($s, $endpoint, { @f, proved(assertion($app)) }, client => $with_secret), 400,
                'invalid_request', "$endpoint: with Basic");
    oauth_error(form($s, $endpoint, { @f, proved(assertion($app)), client_secret => 'x' x 43 }),
                400, 'invalid_request', "$endpoint: with a secret");
    oauth_error(form($s, $endpoint, { @f, proved(assertion($app)),
                                      client_id => $ed->{clientId} }), 400, 'invalid_request',
                "$endpoint: another client_id");
    oauth_error(form($s, $endpoint, [ @f, proved(assertion($app)),
                                      client_assertion => assertion($app) ]), 400,
                'invalid_request', "$endpoint: two of them");
    oauth_error(form($s, $endpoint, { @f, client_id => $app->{clientId} }), 400, 'invalid_client',
                "$endpoint: by its id alone");
    oauth_error(form($s, $endpoint, { @f, client_id => $app->{clientId},
                                      client_secret => 'x' x 43 }), 400, 'invalid_client',
                "$endpoint: by a secret");
    oauth_error(form($s, $endpoint, { @f }, client => { clientId => $app->{clientId},
                                                        clientSecret => 'x' x 43 }),
                401, 'invalid_client', "$endpoint: by a secret, by Basic");
    oauth_error(form($s, $endpoint, { @f }, client => { clientId => $app->{clientId},
                                                        clientSecret => '' }),
                401, 'invalid_client', "$endpoint: by no secret, by Basic");
}

oauth_error(form($s, token => { proved(assertion($app)) }), 400, 'invalid_request',
            'what is wrong with the form is told first');
oauth_error(form($s, token => { grant_type => 'x', proved('x') }), 400,
            'unsupported_grant_type', 'and the grant type');
oauth_error(form($s, token => { grant_type => 'authorization_code', proved('x') }), 400,
            'invalid_request', 'and its parameters');


# --- an assertion is good once ----------------------------------------------------------

for my $endpoint (sort keys %FIELDS) {
    my $text = assertion($app);

    is(asked($endpoint, $text, fields => $FIELDS{$endpoint})->status, 200, "$endpoint: once");

    for my $again (sort keys %FIELDS) {
        for my $node (0, 1) {
            my $r = asked($again, $text, fields => $FIELDS{$again}, node => $node);

            is(oauth_error($r, 400, 'invalid_client', "$endpoint, and then $again of $node"),
               $REFUSED, 'with the same text');
        }
    }
}

ok(logged('has been used'), 'the log says that it has been used');
ok(!$s->sql("SELECT count(*) FROM svc.oauth_once WHERE expires_at NOT BETWEEN now() + interval"
            . " '200 s' AND now() + interval '361 s'"), 'it is known for six minutes');

{
    my $jti = sub { return assertion($_[0], claims => { jti => 'one' }, @_[1 .. $#_]) };

    is(asked(token => $jti->($app), fields => \%CC)->status, 200, 'a jti');
    is(asked(token => $jti->($ed, key => 'ed', alg => 'EdDSA'), fields => \%CC)->status, 200,
       'is another client\'s as well');
    oauth_error(asked(token => $jti->($app), fields => \%CC), 400, 'invalid_client',
                'in another assertion it is the same');
}

# A refused request spends the assertion, and a request of a wrong client does not.

{
    my $text = assertion($app);

    oauth_error(asked(token => $text, fields => { %CC, scope => 'other' }), 400, 'invalid_scope',
                'a refusal');
    oauth_error(asked(token => $text, fields => \%CC), 400, 'invalid_client', 'spends it');
}

# An assertion that was presented before does not revoke a token.

{
    my $token = asked(token => assertion($app), fields => \%CC)->json->{access_token};
    my $text = assertion($app);
    my $active = sub {
        asked(introspect => assertion($app), fields => { token => $token })->json->{active}
    };

    is(asked(introspect => $text, fields => { token => $token })->json->{active}, JSON::PP::true,
       'a token');
    oauth_error(asked(revoke => $text, fields => { token => $token }), 400, 'invalid_client',
                'is not revoked by an assertion that was shown before');
    ok($active->(), 'and lives');
    oauth_error(asked(introspect => $text, fields => { token => $token }), 400, 'invalid_client',
                'nor told of');
    is(asked(revoke => assertion($app), fields => { token => $token })->status, 200, 'it is');
    ok(!$active->(), 'by a new one');
}

# Of two requests at once exactly one is answered, each time.

sub race {
    my ($endpoint, $n, $expected) = @_;

    my (%won, $body);

    for (1 .. $n) {
        my %f = (%{ $FIELDS{$endpoint} }, proved(assertion($app)));

        $body = join '&', map { "$_=" . escape($f{$_}) } sort keys %f;

        my @both = map {
            $s->begin(POST => "/oauth/$endpoint",
                      [ 'Content-Type' => 'application/x-www-form-urlencoded' ], $body, @$_)
        } @NODES;

        $won{ join ' ', sort map { $_->read->status } @both }++;
    }

    is_deeply(\%won, { '200 400' => $n }, "$endpoint: of two at once exactly one, $n times");
}

# Many requests at once are answered, though no worker knows the client's keys.

for (1 .. 5) {
    my $new = with_keys($acme, [ key('es', 'ES256') ]);
    my $made = $lines->ask({ key => 'es', client => $new->{clientId}, aud => $issuer,
                             more => 60 });
    my @form = ([ 'Content-Type' => 'application/x-www-form-urlencoded' ]);

    $s->secret($_) for @{ $made->{more} };

    my @sent = map {
        my %f = (%CC, proved($_));

        $s->begin(POST => '/oauth/token', @form, join '&', map { "$_=" . escape($f{$_}) } keys %f)
    } @{ $made->{more} };
    my %status;

    $status{ $_->read->status }++ for @sent;
    is_deeply(\%status, { 200 => 60 }, 'sixty at once, of keys that are new');
}

race(token => 1000);
race($_ => $ENV{SVC_TEST_FULL} ? 1000 : 100) for qw(introspect revoke);


# --- with a DPoP proof --------------------------------------------------------------------

my $dpop = SvcTest::Lines->new($s->root . '/t/lib/dpop');

sub proof {
    my ($endpoint) = @_;

    return $dpop->ask({ key => 'one', claims => { htu => "$base/" . ($endpoint // 'token') } });
}

{
    my ($proof, $text) = (proof()->{proof}, assertion($app));
    my $r = asked(token => $text, fields => \%CC, headers => [ DPoP => $proof ]);

    is($r->status, 200, 'both') or diag($r->body);
    is($r->json->{token_type}, 'DPoP', 'a token that is bound');
    oauth_error(asked(token => $text, fields => \%CC, headers => [ DPoP => $proof ]), 400,
                'invalid_client', 'both again: it is not the client');
    oauth_error(asked(token => $text, fields => \%CC, headers => [ DPoP => proof()->{proof} ]),
                400, 'invalid_client', 'the assertion again');
    oauth_error(asked(token => assertion($app), fields => \%CC, headers => [ DPoP => $proof ]),
                400, 'invalid_dpop_proof', 'the proof again');

    $text = assertion($app);
    $proof = proof()->{proof};
    oauth_error(asked(token => $text, fields => { %CC, scope => 'x' },
                      headers => [ DPoP => $proof ]), 400, 'invalid_scope', 'a refusal');
    oauth_error(asked(token => assertion($app), fields => \%CC, headers => [ DPoP => $proof ]),
                400, 'invalid_dpop_proof', 'spends the proof');
    oauth_error(asked(token => $text, fields => \%CC), 400, 'invalid_client',
                'and the assertion');

    $proof = proof()->{proof};
    oauth_error(asked(token => assertion($app, settings => { flip => 1 }), fields => \%CC,
                      headers => [ DPoP => $proof ]), 400, 'invalid_client',
                'whoever is not the client');
    is(asked(token => assertion($app), fields => \%CC, headers => [ DPoP => $proof ])->status, 200,
       'does not spend the proof');
    oauth_error(asked(token => assertion($app), fields => \%CC, headers => [ DPoP => 'x' ]), 400,
                'invalid_dpop_proof', 'what is no proof');
}


# --- keys are replaced ------------------------------------------------------------------

sub patch {
    my ($client, %body) = @_;

    my $r = $s->http(PATCH => "/v1/applications/$client->{clientId}",
                     [ Authorization => "Bearer $acme->{apps_token}" ], \%body);

    is($r->status, 200, 'PATCH') or diag($r->body);
}

sub by {
    my ($key, $endpoint, $node) = @_;

    return asked($endpoint, assertion($APP{moves}, key => $key), fields => $FIELDS{$endpoint},
                 node => $node)->status;
}

sub by_all {
    my ($key) = @_;

    return join ' ', map { my $e = $_; map { by($key, $e, $_) } 0, 1 } sort keys %FIELDS;
}

$APP{moves} = with_keys($acme, [ key('old', 'ES256') ]);
my ($good, $bad) = (join(' ', (200) x 6), join(' ', (400) x 6));

is(by_all('old'), $good, 'a key, of which both workers know');
is(by_all('new'), $bad, 'another one');

my $held = assertion($APP{moves}, key => 'old');
my $active = asked(token => assertion($APP{moves}, key => 'old'), fields => \%CC)
             ->json->{access_token};

patch($APP{moves}, jwks => { keys => [ key('new', 'ES256') ] });
is(by_all('old'), $bad, 'a key that is replaced is dead at once, on both');
is(by_all('new'), $good, 'its successor is good at once');
oauth_error(asked(token => $held, fields => \%CC), 400, 'invalid_client',
            'what it has signed before, too');
ok(asked(introspect => assertion($APP{moves}, key => 'new'),
         fields => { token => $active })->json->{active}, 'a token that was given lives');

patch($APP{moves}, jwks => { keys => [ map { key($_, 'ES256') } qw(old new) ] });
is(by_all($_), $good, "with both: $_") for qw(old new);

# The keys change and change back between two requests of the other worker.

for (1 .. 3) {
    is(by('new', 'token', 1), 200, 'a worker knows them');
    patch($APP{moves}, jwks => { keys => [ key('old', 'ES256') ] });
    is(by('new', 'token', 0), 400, 'then they are others');
    patch($APP{moves}, jwks => { keys => [ map { key($_, 'ES256') } qw(old new) ] });
    is(by('new', 'token', 1), 200, 'and these again');
}

# A new key has an old kid.

my $twin = { %{ key('twin', 'ES256') }, kid => 'new' };
patch($APP{moves}, jwks => { keys => [ $twin ] });
is(by_all('new'), $bad, 'a kid that is another key\'s now');
is(asked(token => assertion($APP{moves}, key => 'twin', header => { kid => 'new' }),
         fields => \%CC, node => $_)->status, 200, 'that one is good') for 0, 1;

# A secret takes the place of the keys, and then the application is deleted.

patch($APP{moves}, tokenEndpointAuthMethod => 'client_secret_basic', jwks => undef);
is(asked(token => assertion($APP{moves}, key => 'twin', header => { kid => 'new' }),
         fields => \%CC, node => $_)->status, 400, 'a key that a worker has kept') for 0, 1;
is(by_all('twin'), $bad, 'a client with a secret has no keys');
patch($APP{moves}, tokenEndpointAuthMethod => 'private_key_jwt',
      jwks => { keys => [ key('new', 'ES256') ] });
is(by_all('new'), $good, 'and has them again');

$s->http(DELETE => "/v1/applications/$APP{moves}{clientId}",
         [ Authorization => "Bearer $acme->{apps_token}" ]);
is(by_all('new'), $bad, 'a client that is deleted');


# --- other grants, agents, and the state of the client ----------------------------------

my $agent = with_keys($acme, [ key('es', 'ES256') ], type => 'agent', name => 'Bot',
                      redirectUris => [ $REDIRECT ], scopes => [ qw(openid read) ],
                      resourceUri => 'https://bot.test/', requireConsent => JSON::PP::false,
                      grantTypes => [ qw(authorization_code refresh_token client_credentials),
                                      $EXCHANGE ]);
my $web = application($acme, type => 'web', redirectUris => [ $REDIRECT ],
                      scopes => [ qw(openid read) ]);

sub granted {
    my ($name, %fields) = @_;

    my @r = map { asked(token => assertion($agent), fields => { %fields }, node => $_) } 0;

    is($r[0]->status, 200, $name) or diag($r[0]->body);

    return $r[0]->json;
}

my $code = code($acme, $agent, $ada, scopes => [ qw(openid offline_access read) ]);
my $t = granted('a code', grant_type => 'authorization_code', code => $code->{code},
                code_verifier => $VERIFIER, redirect_uri => $REDIRECT);
$s->secret($t->{refresh_token}) if $t->{refresh_token};
my $u = granted('what refreshes', grant_type => 'refresh_token',
                refresh_token => $t->{refresh_token});
$s->secret($u->{refresh_token});

my $subject = user_token($acme, client => $web, user => $ada->{id}, scopes => [ 'read' ],
                         audience => 'https://bot.test/');
granted('an exchange', grant_type => $EXCHANGE, subject_token => $subject,
        subject_token_type => $ACCESS_TOKEN);
granted('client_credentials', %CC);

ok(asked(introspect => assertion($agent),
         fields => { token => $u->{access_token} })->json->{active}, 'a user\'s token is told of');
is(asked(revoke => assertion($agent), fields => { token => $u->{refresh_token} })->status, 200,
   'what refreshes is revoked');
oauth_error(asked(token => assertion($agent), fields => { grant_type => 'refresh_token',
                  refresh_token => $u->{refresh_token} }), 400, 'invalid_grant', 'and is dead');

# The order of checks (RFC 6749, 5.2): the key, the state of the client, and then
# whether the assertion was presented before.

my $spent = assertion($agent);
is(asked(token => $spent, fields => \%CC)->status, 200, 'once');

$s->sql("UPDATE svc.application SET enabled = false WHERE client_id = '$agent->{clientId}'");
oauth_error(asked(token => $spent, fields => \%CC), 400, 'invalid_grant', 'a kill comes first');
oauth_error(asked(token => assertion($agent, settings => { flip => 1 }), fields => \%CC), 400,
            'invalid_client', 'who is not the client does not learn of it');
oauth_error(asked(introspect => assertion($agent), fields => { token => 'x' }), 400,
            'invalid_client', 'it asks of nothing');
is(asked(revoke => assertion($agent), fields => { token => 'x' })->status, 200, 'but revokes');
$s->sql("UPDATE svc.application SET enabled = true, grant_types = '{}'"
        . " WHERE client_id = '$agent->{clientId}'");
oauth_error(asked(token => $spent, fields => \%CC), 400, 'unauthorized_client',
            'a grant that it does not have comes first');
$s->sql("UPDATE svc.application SET grant_types = '{client_credentials}', require_dpop = true"
        . " WHERE client_id = '$agent->{clientId}'");
oauth_error(asked(token => $spent, fields => \%CC), 400, 'invalid_client',
            'a proof that is missing comes behind it');
oauth_error(asked(token => assertion($agent), fields => \%CC), 400, 'invalid_dpop_proof',
            'it is missing');
$s->sql("UPDATE svc.application SET require_dpop = false, owner_lost_at = now() - interval '9 d',"
        . " owner_id = NULL WHERE client_id = '$agent->{clientId}'");
$s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'disable', orphan_grace_hours = 1"
        . " WHERE tenant_id = '$acme->{id}'");
oauth_error(asked(token => assertion($agent), fields => \%CC, node => $_), 400, 'invalid_grant',
            'an orphan gets nothing') for 0, 1;


# --- the security profile -----------------------------------------------------------------

# SQL sets the profile and the login: the digest covers the keys and the profile.

sub fapi2 {
    my ($client) = @_;

    my $where = "client_id = '$client->{clientId}'";

    $s->sql("UPDATE svc.application SET security_profile = 'fapi2', require_par = true,"
            . " require_dpop = true, require_pkce = true, signing_alg = 'ES256' WHERE $where");
    $s->sql("UPDATE svc.oauth_login l SET digest = sha256('\\x03' || convert_to(a.client_id,"
            . " 'UTF8') || '\\x00' || sha256(convert_to(a.jwks::text || ' fapi2', 'UTF8')))"
            . " FROM svc.application a WHERE a.$where AND l.$where AND l.kind = 'keys'");
}

my $bank = with_keys($acme, [ key('bank', 'PS256') ]);

sub bank {
    my ($node, %opt) = @_;

    return asked(token => assertion($bank, key => 'bank', alg => 'PS256', %opt), fields => \%CC,
                 headers => [ DPoP => proof()->{proof} ], node => $node);
}

for my $node (0, 1) {
    is(bank($node, alg => 'RS256', aud => "$base/token")->status, 200, 'without a profile');
}

fapi2($bank);

for my $node (0, 1) {
    oauth_error(bank($node, alg => 'RS256'), 400, 'invalid_client', 'FAPI 2.0: RS256');
    is(bank($node)->status, 200, 'PS256');
    oauth_error(bank($node, claims => { aud => $_->[1] }), 400, 'invalid_client', "aud: $_->[0]")
        for [ 'the token endpoint' => "$issuer/token" ], [ 'that of all' => "$base/token" ],
            [ 'the issuer in an array' => [ $issuer ] ];
}


# --- pushed requests ------------------------------------------------------------------------

my $site = with_keys($acme, [ key('es', 'ES256') ], type => 'web', scopes => [ 'openid' ],
                     redirectUris => [ $REDIRECT ]);
my %PUSH = (response_type => 'code', redirect_uri => $REDIRECT, scope => 'openid',
            code_challenge => encode_base64url(sha256($VERIFIER)),
            code_challenge_method => 'S256');

sub pushed {
    my ($text, %opt) = @_;

    return asked(par => $text, fields => \%PUSH, %opt);
}

{
    my $rows = 'SELECT count(*) FROM svc.oauth_par';
    my ($text, $proof) = (assertion($site), proof('par')->{proof});
    my $r = pushed($text, headers => [ DPoP => $proof ]);

    is($r->status, 201, 'a request is pushed') or diag($r->body);
    is(pushed(assertion($site), node => 1)->status, 201, 'by the other worker');
    is(pushed(assertion($site), more => { client_id => $site->{clientId} })->status, 201,
       'with client_id');

    my $n = $s->sql($rows);

    for my $node (0, 1) {
        oauth_error(pushed($text, node => $node), 400, 'invalid_client', 'an assertion again');
        oauth_error(pushed(assertion($site, settings => { flip => 1 }), node => $node), 400,
                    'invalid_client', 'one that is not good');
    }

    oauth_error(asked(revoke => $text, fields => { token => 'x' }), 400, 'invalid_client',
                'elsewhere, too');
    oauth_error(form($s, 'par', { %PUSH, client_id => $site->{clientId} }), 400, 'invalid_client',
                'by its id alone');
    is($s->sql($rows), $n, 'nothing of it is stored');
    is($s->sql("$rows WHERE params LIKE '%assertion%'"), 0, 'nor an assertion');

    oauth_error(pushed(assertion($site), headers => [ DPoP => $proof ]), 400,
                'invalid_dpop_proof', 'a proof again');
}

patch($site, jwks => { keys => [ key('next', 'ES256') ] });

for my $node (0, 1) {
    oauth_error(pushed(assertion($site), node => $node), 400, 'invalid_client',
                'a key that was replaced');
    is(pushed(assertion($site, key => 'next'), node => $node)->status, 201, 'its successor');
}


# --- metadata -----------------------------------------------------------------------------

my $found = $s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')->json;

for my $endpoint (qw(token introspection revocation)) {
    ok(scalar(grep { $_ eq 'private_key_jwt' }
              @{ $found->{"${endpoint}_endpoint_auth_methods_supported"} }),
       "metadata: $endpoint");
    is_deeply($found->{"${endpoint}_endpoint_auth_signing_alg_values_supported"},
              [ qw(ES256 EdDSA Ed25519 PS256 RS256) ], "metadata: $endpoint: algorithms");
}


# --- PostgreSQL is gone ---------------------------------------------------------------------

{
    my @texts = map { assertion($app) } 1 .. 8;
    my $stranger = assertion($APP{five}, key => 'k1');

    $s->pg->stop;
    is(asked($_, shift @texts, fields => $FIELDS{$_})->status, 503, "$_: PostgreSQL is gone")
        for sort keys %FIELDS;
    is(asked(token => $stranger, fields => \%CC)->status, 503, 'keys cannot be read');
    $s->pg->launch;

    ok((wait_for { asked(token => assertion($app), fields => \%CC)->status == 200 }),
       'it is back');
    is(asked(token => $texts[0], fields => \%CC)->status, 200,
       'what was not shown to it is good');
}

$_->end for $lines, $dpop;
$s->done;
done_testing;
