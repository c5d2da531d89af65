#!/usr/bin/perl

# Shows DPoP (RFC 9449) at /oauth/userinfo: tokens that are bound to a key, and the
# answers where a good proof is missing.

use strict;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Grants qw(code $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server oauth_node application form);
use SvcTest::Process qw(wait_for);
use SvcTest::Skip;

needs(python => 'cryptography');

my $s = oauth_server()->start;
my $node = oauth_node($s);
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;
my $PATH = '/oauth/userinfo';
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ],
           scopes => [ qw(openid email invoices:read) ]);

my $web = application($acme, %WEB);
my $opaque = application($acme, %WEB, accessTokenFormat => 'opaque');
my $robot = application($acme, name => 'Robot');
my $foreign = application($globex, %WEB);
my $ada = $acme->create(userName => 'ada@acme.test');
my $eve = $globex->create(userName => 'eve@globex.test');
my $client = SvcTest::Lines->new($s->root . '/t/lib/dpop');
my $ALGS = 'algs="ES256 EdDSA"';
my $TOKEN = "Bearer error=\"invalid_token\", DPoP error=\"invalid_token\", $ALGS";
my $PROOF = "DPoP error=\"invalid_dpop_proof\", $ALGS";


# Makes a proof. Options: key, claims, header, settings.

sub proof {
    my ($path, %opt) = @_;

    return $client->ask({ key => $opt{key} // 'one',
                          claims => { htu => "$base$path", %{ $opt{claims} // {} } },
                          header => $opt{header} // {}, settings => $opt{settings} // {} });
}


# Returns the token of a form at the token endpoint, with a proof unless the key is
# undef.

sub issued {
    my ($app, $fields, $key, %opt) = @_;

    my $r = form($s, token => $fields, client => $app, headers => [
        defined $key ? (DPoP => proof('/oauth/token', key => $key, %opt)->{proof}) : () ]);

    $r->status == 200 or die 'no token: ' . $r->body . "\n";
    $s->secret($r->json->{access_token});

    return $r->json->{access_token};
}


# Returns a user's token, bound to the key "one" unless another one is given.

sub token {
    my ($app, $user, %opt) = @_;

    my $code = code($app == $foreign ? $globex : $acme, $app, $user, %opt)->{code};

    return issued($app, { grant_type => 'authorization_code', code => $code,
                          code_verifier => $VERIFIER, redirect_uri => $REDIRECT },
                  exists $opt{key} ? $opt{key} : 'one', settings => $opt{settings} // {});
}


# Makes a proof for a token at userinfo, for GET.

sub shown {
    my ($token, %opt) = @_;

    my $claims = { htm => 'GET', ath => encode_base64url(sha256($token)),
                   %{ $opt{claims} // {} } };

    return proof($PATH, %opt, claims => $claims)->{proof};
}


# Sends a token with any number of proofs. Options: scheme ("DPoP" if not given),
# method, http.

sub show {
    my ($token, $proofs, %opt) = @_;

    return $s->http($opt{method} // 'GET', $PATH,
                    [ Authorization => ($opt{scheme} // 'DPoP') . " $token",
                      map { (DPoP => $_) } ref $proofs ? @$proofs : $proofs // () ],
                    undef, %{ $opt{http} // {} });
}


sub userinfo {
    my ($token, %opt) = @_;

    return show($token, shown($token, %opt), %opt);
}


sub refused {
    my ($r, $challenge, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->status, 401, "$name: 401") or diag($r->body);
    is($r->json->{error}{code}, 'unauthorized', "$name: as the JSON API says it");
    is($r->header('www-authenticate'), $challenge, "$name: a challenge");
    is($r->header('cache-control'), 'no-store', "$name: is not stored");
    is($r->header('access-control-allow-origin'), '*', "$name: any page may read it");

    return $r->json->{error}{message};
}


sub spent { return $s->sql('SELECT count(*) FROM svc.oauth_once') }


# --- a token with its proof ---------------------------------------------------------

my $t = token($web, $ada, scopes => [ qw(openid email) ]);
my $n = spent();
my $r = userinfo($t);

is($r->status, 200, 'a bound token with a proof') or diag($r->body);
is_deeply([ sort keys %{ $r->json } ], [ qw(email email_verified sub) ], 'its claims');
like($r->header('dpop-nonce'), qr/\A[\w-]{32}\z/, 'a nonce for the next proof');
like($r->header('access-control-expose-headers'), qr/\bDPoP-Nonce\b/, 'also for pages');
is($r->header('www-authenticate'), undef, 'no challenge');
is(spent() - $n, 1, 'the proof is spent');

is(userinfo($t, scheme => 'dPOP ')->status, 200, 'the scheme in other letters');
is(userinfo($t, method => $_, claims => { htm => $_ })->status, 200, $_) for qw(POST HEAD);
is(userinfo($t, claims => { htu => "$base$PATH?x=y#z" })->status, 200,
   'the query of htu is not looked at');
is(userinfo($t, http => { port => $node->{port} })->status, 200, 'on another node');

my $o = token($opaque, $ada);

like($o, qr/\Asat_/, 'an opaque one');
is_deeply(userinfo($o)->json, { sub => $ada->{id} }, 'is as good');
is_deeply(userinfo(token($foreign, $eve))->json, { sub => $eve->{id} }, 'of another tenant');

my %ED = (key => 'ed', settings => { alg => 'EdDSA' });

is(userinfo(token($web, $ada, %ED), %ED)->status, 200, 'Ed25519');


# --- without its proof, and proofs without a token ----------------------------------

$n = spent();

my $plain = token($web, $ada, key => undef);

refused(show($t, [], scheme => 'Bearer'), 'Bearer error="invalid_token"', 'as Bearer');
is($n, spent() , 'as Bearer: nothing is spent');
$r = show($t, shown($t), scheme => 'Bearer');
refused($r, $TOKEN, 'as Bearer, with its proof');
isnt($r->header('dpop-nonce'), undef, 'as Bearer, with its proof: with a nonce');
refused(show($t, []), $PROOF, 'without a proof');
refused(userinfo($t, key => 'two'), $TOKEN, 'with a proof of another key');
refused(userinfo($plain), $TOKEN, 'an unbound token');
refused(show($plain, []), $PROOF, 'an unbound token without a proof');
refused(userinfo($o . 'x'), $TOKEN, 'no token');
refused(userinfo(''), $TOKEN, 'nothing');
refused(userinfo(substr($t, 0, -86) . 'A' x 86), $TOKEN, 'another signature')
    if $t =~ /\.[^.]{86}\z/;
refused(userinfo('sat_' . encode_base64url(substr(decode_base64url(substr $o, 4), 0, 32)
                                           . 'x' x 32)), $TOKEN, 'another secret');
refused(userinfo(token($web, $ada, resources => [ 'urn:a' ])), $TOKEN, 'one for an API');
refused($s->http(GET => $PATH, [ DPoP => shown($t) ]), $TOKEN, 'a proof alone');

is(show($plain, shown($plain), scheme => 'Bearer')->status, 200,
   'a bearer\'s with a proof that nobody asked for');

my $own = issued($robot, { grant_type => 'client_credentials' }, 'one');

$r = userinfo($own);
is($r->status, 403, 'a client\'s own');
is($r->json->{error}{code}, 'forbidden', 'as the JSON API says it');
is($r->header('www-authenticate'), 'Bearer error="insufficient_scope", scope="openid", '
   . "DPoP error=\"insufficient_scope\", scope=\"openid\", $ALGS", 'with what it needs');


# --- what is no proof ------------------------------------------------------------------

my %BAD = (
    'htu of another host' => [ claims => { htu => "http://127.0.0.2:80$PATH" } ],
    'htu of another path' => [ claims => { htu => "$base/oauth/token" } ],
    'htm POST' => [ claims => { htm => 'POST' } ],
    'no ath' => [ claims => { ath => undef } ],
    'ath of another token' => [ claims => { ath => encode_base64url(sha256($o)) } ],
    'ath of no digest' => [ claims => { ath => $t } ],
    'no jti' => [ claims => { jti => undef } ],
    'no iat' => [ claims => { iat => undef } ],
    'a jwk with d' => [ settings => { private => 1 } ],
    'HS256' => [ settings => { alg => 'HS256' } ],
    'RSA' => [ key => 'rsa', settings => { alg => 'RS256' } ],
    'none' => [ header => { alg => 'none' } ],
    'another typ' => [ header => { typ => 'JWT' } ],
    'the signature of another key' => [ settings => { other => 'two' } ],
    'another signature' => [ settings => { flip => 1 } ],
);

$n = spent();

for my $name (sort keys %BAD) {
    $r = userinfo($t, @{ $BAD{$name} });
    refused($r, $PROOF, $name);
    like($r->header('dpop-nonce'), qr/\A[\w-]{32}\z/, "$name: with a nonce");
}

refused(show($t, $_), $PROOF, 'no JWS: ' . substr $_, 0, 20)
    for 'x', 'a.b.c', '..', 'x' x 4000, $t;
refused(show($t, [ map { shown($t) } 1, 2 ]), $PROOF, 'two headers');
refused($s->http(GET => $PATH, [ DPoP => shown($t), map { (Authorization => "DPoP $t") } 1, 2 ]),
        $TOKEN, 'two tokens');
is(spent(), $n, 'none of them is spent');

like(refused(userinfo($t, claims => { htm => 'PUT' }), $PROOF, 'htm PUT'), qr/'htm'/, 'says why');


# --- time ---------------------------------------------------------------------------------

for my $iat (-120, 120) {
    $r = userinfo($t, claims => { iat => $iat });
    refused($r, "DPoP error=\"use_dpop_nonce\", $ALGS", "iat $iat");

    my $nonce = $r->header('dpop-nonce');

    is(userinfo($t, claims => { iat => $iat, nonce => $nonce })->status, 200,
       "iat $iat with a nonce");
    is(userinfo($t, claims => { iat => $iat, nonce => $nonce },
                http => { port => $node->{port} })->status, 200, "iat $iat on another node");
    refused(userinfo($t, claims => { iat => $iat, nonce => 'A' x 32 }),
            "DPoP error=\"use_dpop_nonce\", $ALGS", "iat $iat with another nonce");
}


# --- a proof is good once -------------------------------------------------------------------

my $proof = shown($t);

is(show($t, $proof)->status, 200, 'a proof');

for my $port ($s->port, $node->{port}) {
    like(refused(show($t, $proof, http => { port => $port }), $PROOF, 'again'), qr/used/,
         'says why');
}

# A jti counts for one key only, and counts at all endpoints.

is(userinfo($_, claims => { jti => 'x' })->status, 200, 'a jti') for $t;
refused(userinfo($t, claims => { jti => 'x' }), $PROOF, 'the same jti in a new proof');

my $two = token($web, $ada, key => 'two');

is(userinfo($two, key => 'two', claims => { jti => 'x' })->status, 200, 'of another key');

# Of many at once, on two nodes, one is answered.

$proof = shown($t);

my @sent = map {
    my $port = $_ % 2 ? $s->port : $node->{port};
    $s->begin(GET => $PATH, [ Authorization => "DPoP $t", DPoP => $proof ], undef,
              port => $port)
} 1 .. 20;

is_deeply([ sort map { $_->read->status } @sent ], [ 200, (401) x 19 ], 'of twenty at once one');


# --- what ends a token ------------------------------------------------------------------------

$n = spent();

my $gone = token($web, $ada);
my $after = spent();

form($s, revoke => { token => $gone }, client => $web);
refused(userinfo($gone), $TOKEN, 'revoked');
is(spent(), $after, 'a dead token spends nothing');

$s->{nginx}{svc}{svc_tenant} = 'acme';
$s->reload;
refused(userinfo(token($web, $ada), key => 'two'), $TOKEN, 'in a location of its tenant');
is(userinfo($t)->status, 200, 'with its key');

my $theirs = do {
    local $s->{nginx}{port} = $node->{port};
    token($foreign, $eve);
};

refused(userinfo($theirs), $TOKEN, 'in a location of another tenant');
$s->{nginx}{svc}{svc_tenant} = undef;
$s->reload;
is(userinfo($theirs)->status, 200, 'elsewhere it is good');


# --- clients that leave, and PostgreSQL that stops ----------------------------------------------

my @workers = $s->workers;
my $holder = $s->connect_as('postgres');


# Begins a request that waits until the holder's transaction ends, which has presented
# the same proof.

sub held {
    my ($jti) = @_;

    my $made = proof($PATH, claims => { htm => 'GET', jti => $jti,
                                        ath => encode_base64url(sha256($t)) });
    my $digest = sha256_hex(decode_base64url($made->{jkt}) . $jti);

    $holder->query($_)
        for 'BEGIN', 'INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)'
                     . " VALUES ('$acme->{id}', '\\x$digest', now() + interval '1 hour')";

    my $c = $s->begin(GET => $PATH, [ Authorization => "DPoP $t", DPoP => $made->{proof} ]);

    ok((wait_for { $s->waiting == 1 }), "$jti: it waits");

    return ($c, $made->{proof}, $digest);
}


my ($c, $again, $digest) = held('committed');

$holder->query('COMMIT');
refused($c->read, $PROOF, 'who comes second');

($c) = held('rolled back');
$holder->query('ROLLBACK');
is($c->read->status, 200, 'who is the only one after all');

for my $how (qw(close abort)) {
    ($c, $again, $digest) = held($how);
    $c->$how;
    $holder->query('ROLLBACK');

    ok((wait_for { $s->sql('SELECT count(*) FROM svc.oauth_once'
                           . " WHERE digest = '\\x$digest'") }),
       "$how: the proof is spent");
    refused(show($t, $again), $PROOF, "$how: again");
}

($c) = held('lost');
$s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'");
is($c->read->status, 503, 'what is lost is 503');
$holder->query('ROLLBACK');

my @left = map {
    $s->begin(GET => $PATH, [ Authorization => "DPoP $t", DPoP => shown($t) ])
} 1 .. 20;

$_->abort for @left;

is(userinfo($t)->status, 200, 'others go on');
ok($s->unharmed(\@workers, 'clients that leave'), 'the worker is the same');

$s->pg->stop('QUIT');
$r = userinfo($t);
is($r->status, 503, 'nobody knows');
ok($r->header('retry-after'), 'with Retry-After');
$s->pg->launch;
$s->wait_healthy;
is(userinfo($t)->status, 200, 'and again');

$client->end;
$s->done(shown => [ qr{ \[info\] .* client sent duplicate header line: } ]);
done_testing();
