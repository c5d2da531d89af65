#!/usr/bin/perl

# Shows DPoP (RFC 9449): proofs at the token endpoint, and tokens that are bound to
# their keys.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server application form oauth_error claims);
use SvcTest::Process qw(wait_for);
use SvcTest::Skip;

needs(python => 'cryptography');

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $htu = 'http://127.0.0.1:' . $s->port . '/oauth/token';
my %CC = (grant_type => 'client_credentials');

my $app = application($acme, scopes => [ 'read' ]);
my $other = application($globex);
my $strict = application($acme, requireDpop => JSON::PP::true);
my $opaque = application($acme, accessTokenFormat => 'opaque');

my $client = SvcTest::Lines->new($s->root . '/t/lib/dpop');


# Makes a proof. Options: claims, header, settings, key.

sub proof {
    my (%opt) = @_;

    return $client->ask({ key => $opt{key} // 'one',
                          claims => { htu => $htu, %{ $opt{claims} // {} } },
                          header => $opt{header} // {},
                          settings => $opt{settings} // {} });
}

sub token {
    my ($proof, $app_of, %fields) = @_;

    return form($s, token => { %CC, %fields }, client => $app_of // $app,
                headers => [ map { (DPoP => $_) } ref $proof ? @$proof : $proof ]);
}

sub refused {
    my ($name, %opt) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $r = token(proof(%opt)->{proof});

    oauth_error($r, 400, 'invalid_dpop_proof', $name);
    like($r->header('dpop-nonce'), qr/\A[\w-]{32}\z/, "$name: with a nonce");
}


# --- a bound token ------------------------------------------------------------------

my $proof = proof();
my $r = token($proof->{proof});

is($r->status, 200, 'the first token of a tenant, whose key is made') or diag($r->body);
is($r->json->{token_type}, 'DPoP', 'is not a bearer\'s');
like($r->header('dpop-nonce'), qr/\A[\w-]{32}\z/, 'a nonce for the next proof');
like($r->header('access-control-expose-headers'), qr/\bDPoP-Nonce\b/, 'also for pages');

my $nonce = $r->header('dpop-nonce');
my $jwt = $r->json->{access_token};

is_deeply((claims($jwt))[1]{cnf}, { jkt => $proof->{jkt} }, 'it is bound to the key');
ok((wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token WHERE encode(jkt, 'base64') = '"
           . ($proof->{jkt} =~ tr{_-}{/+}r) . "='") == 1 }), 'in the database, too');

oauth_error(token($proof->{proof}), 400, 'invalid_dpop_proof', 'the same proof again');

$r = form($s, token => { %CC }, client => $app);
is($r->json->{token_type}, 'Bearer', 'without a proof a bearer token');
is($r->header('dpop-nonce'), undef, 'and no nonce');
is((claims($r->json->{access_token}))[1]{cnf}, undef, 'that is bound to nothing');

$r = token(proof()->{proof}, $opaque);
like($r->json->{access_token}, qr/\Asat_/, 'an opaque one');
is($r->json->{token_type}, 'DPoP', 'is bound as well');

my $seen = $s->http(POST => '/oauth/introspect',
    [ 'Content-Type' => 'application/x-www-form-urlencoded',
      Authorization => SvcTest::OAuth::basic($app) ], "token=$jwt")->json;

is($seen->{token_type}, 'DPoP', 'introspection says that a proof is needed');
is_deeply($seen->{cnf}, { jkt => $proof->{jkt} }, 'and by which key');

oauth_error(form($s, token => { %CC }, client => $strict), 400, 'invalid_dpop_proof',
            'a client that must show one');
is(token(proof()->{proof}, $strict)->status, 200, 'shows one');

for my $alg (qw(EdDSA Ed25519)) {
    $proof = proof(key => $alg, settings => { alg => $alg });
    $r = token($proof->{proof});
    is($r->status, 200, $alg) or diag($r->body);
    is((claims($r->json->{access_token}))[1]{cnf}{jkt}, $proof->{jkt}, "$alg: its key");
}


# --- what is no proof ------------------------------------------------------------------

my $bad = $htu =~ s/127\.0\.0\.1/127.0.0.2/r;

refused('htu of another host', claims => { htu => $bad });
refused('htu of another port', claims => { htu => $htu =~ s/:\d+/:1/r });
refused('htu of another path', claims => { htu => "${htu}s" });
refused('htu of another scheme', claims => { htu => $htu =~ s/http/https/r });
refused('no htu', claims => { htu => undef });
refused('htm GET', claims => { htm => 'GET' });
refused('htm in small letters', claims => { htm => 'post' });
refused('no htm', claims => { htm => undef });
refused('no jti', claims => { jti => undef });
refused('an empty jti', claims => { jti => '' });
refused('a long jti', claims => { jti => 'x' x 129 });
refused('no iat', claims => { iat => undef });
refused('iat as text', claims => { iat => 'x' });
refused('a jwk with d', settings => { private => 1 });
refused('HS256', settings => { alg => 'HS256' });
refused('RSA', key => 'rsa', settings => { alg => 'RS256' });
refused('none', header => { alg => 'none' });
refused('another typ', header => { typ => 'JWT' });
refused('no typ', header => { typ => undef });
refused('no jwk', header => { jwk => undef });
refused('the signature of another key', settings => { other => 'two' });
refused('another signature', settings => { flip => 1 });

for my $text ('x', 'a.b.c', '..', 'x' x 4000, proof()->{proof} . '.x') {
    my $name = 'no JWS: ' . substr $text, 0, 20;
    oauth_error(token($text), 400, 'invalid_dpop_proof', $name);
}

$r = token([ map { proof()->{proof} } 1, 2 ]);
oauth_error($r, 400, 'invalid_dpop_proof', 'two headers');
isnt($r->header('dpop-nonce'), undef, 'two headers: with a nonce');

is(token(proof(claims => { htu => "$htu?x=y#z" })->{proof})->status, 200,
   'the query of htu is not looked at');
is(token(proof(claims => { htu => $htu =~ s/http/HTTP/r })->{proof})->status, 200,
   'nor how it is written');


# --- time ---------------------------------------------------------------------------------

for my $iat (-120, 120) {
    $r = token(proof(claims => { iat => $iat })->{proof});
    oauth_error($r, 400, 'use_dpop_nonce', "iat $iat");
    $nonce = $r->header('dpop-nonce');

    $r = token(proof(claims => { iat => $iat, nonce => $nonce })->{proof});
    is($r->status, 200, "iat $iat with a nonce") or diag($r->body);

    oauth_error(token(proof(claims => { iat => $iat, nonce => $_ })->{proof}), 400,
                'use_dpop_nonce', "iat $iat with another nonce")
        for 'x', 'A' x 32, $nonce . 'x', ($nonce =~ s/.\z//r);
}

is(token(proof(claims => { iat => $_ })->{proof})->status, 200, "iat $_")
    for -50, 50, 0.5, -0.001, 0.123456789;
is(token(proof(claims => { nonce => 'of somebody else' })->{proof})->status, 200,
   'a nonce is not asked for');

# The proof may have been spent under an earlier nonce of ours, with a clock that was
# fast.

oauth_error(token(proof(claims => { nonce => 'A' x length $nonce })->{proof}), 400,
            'use_dpop_nonce', 'a nonce of ours that has ended');

$proof = proof(claims => { iat => -3600, nonce => $nonce });
is(token($proof->{proof})->status, 200, 'a clock that is an hour late');
oauth_error(token($proof->{proof}), 400, 'invalid_dpop_proof', 'once');

is($s->sql("SELECT count(*) FROM svc.oauth_once WHERE expires_at > now() + interval '10 min'"),
   3, 'such a proof is remembered as long as its nonce is good');
is($s->sql("SELECT count(*) FROM svc.oauth_once WHERE expires_at < now() + interval '2 min'"),
   0, 'each for two minutes at least');


# --- what spends a proof ------------------------------------------------------------------

$proof = proof()->{proof};
oauth_error(token($proof, { %$app, clientSecret => 'x' x 43 }), 401, 'invalid_client',
            'whoever is not the client');
is(token($proof)->status, 200, 'does not spend a proof');

$proof = proof()->{proof};
oauth_error(token($proof, $app, scope => 'other'), 400, 'invalid_scope', 'a refusal');
oauth_error(token($proof), 400, 'invalid_dpop_proof', 'spends it');

$proof = proof()->{proof};
is_deeply([ map { token($proof, $_)->status } $app, $other ], [ 200, 200 ],
          'of each tenant\'s: nobody learns what is shown to others');

$r = form($s, token => { %CC, grant_type => 'x' }, client => $app,
          headers => [ DPoP => 'x' ]);
oauth_error($r, 400, 'unsupported_grant_type', 'the form is looked at first');
isnt($r->header('dpop-nonce'), undef, 'with a nonce all the same');

# Of many at once with one proof one gets a token.

$proof = proof()->{proof};

my @sent = map {
    $s->begin(POST => '/oauth/token',
              [ 'Content-Type' => 'application/x-www-form-urlencoded',
                Authorization => SvcTest::OAuth::basic($app), DPoP => $proof ],
              'grant_type=client_credentials')
} 1 .. 20;
my @status = sort map { $_->read->status } @sent;

is_deeply(\@status, [ 200, (400) x 19 ], 'of twenty at once one');

$client->end;
$s->done;
done_testing;
