#!/usr/bin/perl

# Shows RS256 beside ES256: which key signs for which client, that another library
# verifies the tokens, and that a key of one algorithm verifies nothing of the other,
# wherever a token is presented.

use strict;
use warnings;

use IPC::Open2;
use JSON::PP ();
use MIME::Base64 qw(decode_base64url encode_base64);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(code redeem refresh $REDIRECT $VERIFIER);
use SvcTest::OAuth qw(oauth_server application form oauth_error claims exchange $EXCHANGE);
use SvcTest::Process qw(slurp wait_for write_file);
use SvcTest::Skip;

needs(perl => 'Crypt::AuthEnc::GCM', python => 'jwt cryptography');

require Crypt::AuthEnc::GCM;

my $s = oauth_server(workers => 2, svc => { svc_login_url => '/signin/' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;
my $issuer = "$base/oauth/t/acme";
my @ALL = qw(openid offline_access);

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my $web = application($acme, type => 'web', redirectUris => [ $REDIRECT ],
                      scopes => [ 'openid' ]);
my $service = application($acme, signingAlg => 'RS256');
my $fast = application($acme);
my $agent = application($acme, type => 'agent', redirectUris => [ $REDIRECT ],
                        scopes => [ 'openid', 'a' ], signingAlg => 'RS256',
                        requireConsent => JSON::PP::false,
                        grantTypes => [ qw(authorization_code refresh_token
                                           client_credentials), $EXCHANGE ]);


sub token {
    my ($client, %http) = @_;

    my $r = form($s, token => { grant_type => 'client_credentials' }, client => $client,
                 http => \%http);

    return $r->json->{access_token} // die $r->body;
}

sub alg { return (claims($_[0]))[0]{alg} }

sub kid { return (claims($_[0]))[0]{kid} }

sub jwks { return $s->http(GET => '/oauth/t/' . ($_[0] // 'acme') . '/jwks')->json->{keys} }

sub keys_of {
    my ($tenant, $alg) = @_;

    return $s->sql("SELECT count(*) FROM svc.oauth_key WHERE tenant_id = '$tenant->{id}'"
                   . " AND alg = '$alg'");
}

sub key_of {
    my ($kid, $what) = @_;

    return scalar $s->sql("SELECT $what FROM svc.oauth_key WHERE kid = '$kid'");
}

sub active {
    my ($token, $client) = @_;

    return form($s, introspect => { token => $token },
                client => $client // $agent)->json->{active};
}

sub patch {
    my ($app, %body) = @_;

    return $s->http(PATCH => "/v1/applications/$app->{clientId}",
                    [ Authorization => "Bearer $acme->{apps_token}" ], \%body)->status;
}


# --- which algorithm signs -----------------------------------------------------------

is(alg(token($fast)), 'ES256', 'ES256');
is(keys_of($acme, 'RS256'), 0, 'takes no RSA key');
is(alg(token($service)), 'RS256', 'RS256');
is(keys_of($acme, $_), 1, "one key of $_") for qw(ES256 RS256);
is(alg(token($fast)), 'ES256', 'and ES256 still');

is_deeply([ sort map { join ' ', @$_{qw(kty alg use)}, join ',', sort keys %$_ } @{ jwks() } ],
          [ 'EC ES256 sig alg,crv,kid,kty,use,x,y', 'RSA RS256 sig alg,e,kid,kty,n,use' ],
          'both are published, and no private part');

# A process that fetches the keys once has those of both algorithms.

{
    my $initech = $s->tenant('initech');
    my ($rsa, $ec) = map { application($initech, signingAlg => $_) } qw(RS256 ES256);

    is(alg(token($rsa)), 'RS256', 'the first token of a tenant is of RS256');

    my @keys = @{ jwks('initech') };

    is_deeply([ sort map { $_->{alg} } @keys ], [ qw(ES256 RS256) ], 'with a key for ES256');

    my ($kid) = map { $_->{kid} } grep { $_->{alg} eq 'ES256' } @keys;

    is(kid(token($ec)), $kid, 'which signs the first one of that');
    is(keys_of($initech, $_), 1, "one key of $_") for qw(ES256 RS256);
}

my $t = redeem($s, $agent, code($acme, $agent, $ada, scopes => [ @ALL, 'a' ], nonce => 'n1'))
        ->json;

my $exchanged = exchange($s, $agent, $t->{access_token}, scope => 'a')->json;
my $refreshed = refresh($s, $agent, $t->{refresh_token})->json;

is(alg($_->[1]), 'RS256', $_->[0]) for (
    [ 'client_credentials' => token($agent) ],
    [ 'a code' => $t->{access_token} ], [ 'its ID token' => $t->{id_token} ],
    [ 'a refresh token' => $refreshed->{access_token} ],
    [ 'its ID token' => $refreshed->{id_token} ],
    [ 'an exchange' => $exchanged->{access_token} ]);
is(keys_of($acme, 'RS256'), 1, 'by one key');
is(alg(redeem($s, $web, code($acme, $web, $ada, scopes => \@ALL))->json->{id_token}), 'RS256',
   'a new web application has it');

patch($web, accessTokenFormat => 'opaque');
my $o = redeem($s, $web, code($acme, $web, $ada, scopes => \@ALL))->json;
like($o->{access_token}, qr/\Asat_/, 'beside an opaque token');
is(alg($o->{id_token}), 'RS256', 'an ID token');
patch($web, accessTokenFormat => 'jwt');

is(patch($service, signingAlg => 'ES256'), 200, 'changed');
is(alg(token($service)), 'ES256', 'from the next token on');
patch($service, signingAlg => 'RS256');
is(alg(token($service)), 'RS256', 'and back');


# --- another library -----------------------------------------------------------------

my $python = <<'EOT';
import base64, hashlib, json, jwt, sys
jwks, issuer, client, access, id, nonce = sys.argv[1:]
keys = jwt.PyJWKSet.from_dict({"keys": json.loads(jwks)})
def read(token, audience):
    kid = jwt.get_unverified_header(token)["kid"]
    key = [k.key for k in keys.keys if k.key_id == kid][0]
    return jwt.decode(token, key, ["RS256"], audience=audience, issuer=issuer)
a = read(access, issuer)
i = read(id, client)
h = base64.urlsafe_b64encode(hashlib.sha256(access.encode()).digest()[:16])
print(a["sub"] == i["sub"], i["at_hash"] == h.rstrip(b"=").decode(), i.get("nonce", ""))
EOT

sub read_by_another {
    my ($answer, $client) = @_;

    open my $pipe, '-|', '/usr/bin/python3', '-c', $python, JSON::PP->new->encode(jwks()),
         $issuer, $client->{clientId}, @$answer{qw(access_token id_token)}, ''
        or die "python3: $!\n";

    return join '', <$pipe>;
}

is(read_by_another($t, $agent), "True True n1\n", 'another library verifies them');
is(read_by_another($refreshed, $agent), "True True \n", 'and those of a refresh token');


# --- forged tokens -------------------------------------------------------------------

# Returns the private key of a kid, unsealed as the modules do it, as base64 of DER.

my ($file_key) = slurp($s->{key_file}) =~ /^1:(\w+)$/m;

sub private {
    my ($kid) = @_;

    my ($id, $rest) = unpack 'C/a a*', pack 'H*', key_of($kid, "encode(sealed, 'hex')");
    my $for = "oauth_key\0" . pack('H*', $acme->{id} =~ tr/-//dr) . $kid;

    utf8::downgrade($for);

    my ($nonce, $text, $tag) = unpack 'a12 a' . (length($rest) - 28) . ' a16', $rest;
    my $der = Crypt::AuthEnc::GCM::gcm_decrypt_verify('AES', pack('H*', $file_key), $nonce,
                                                      $for, $text, $tag);

    return encode_base64($der // die("a key cannot be opened\n"), '');
}

sub forgeries {
    my ($token) = @_;

    my $pid = open2(my $out, my $in, '/usr/bin/python3', $s->root . '/t/lib/forge');
    print $in JSON::PP->new->encode({ token => $token, jwks => jwks(),
        private => { map { $_->{kid} => private($_->{kid}) } @{ jwks() } } });
    close $in;
    my $text = join '', <$out>;
    waitpid $pid, 0;

    return JSON::PP->new->decode($text);
}

my $browser = SvcTest::Browser->new($s, tenant => 'acme');
$browser->login('ada@acme.test');

sub hinted {
    my ($hint) = @_;

    my %query = (client_id => $agent->{clientId}, redirect_uri => $REDIRECT,
                 response_type => 'code', code_challenge => 'c' x 43,
                 code_challenge_method => 'S256', scope => 'openid', state => 'x', nonce => 'y',
                 id_token_hint => $hint);

    my $to = $browser->get('/oauth/authorize?' . join '&', map { "$_=" .
             SvcTest::OAuth::escape($query{$_}) } sort keys %query)->header('Location') // '';

    $s->secret($1) if $to =~ /[?&]code=([\w-]+)/;

    return $to =~ /[?&]error=(\w+)/ ? $1 : $to =~ /[?&]code=/ ? 'code' : $to;
}

for my $alg (qw(RS256 ES256)) {
    patch($agent, signingAlg => $alg);

    my $good = redeem($s, $agent, code($acme, $agent, $ada, scopes => [ 'openid', 'a' ]))->json;

    is(alg($good->{access_token}), $alg, "shown: $alg");

    # Each place takes the good token and none of the forged ones.

    my %place = (
        introspect => sub { active($_[0]) ? 1 : 0 },
        userinfo => sub { $s->http(GET => '/oauth/userinfo',
                                   [ Authorization => "Bearer $_[0]" ])->status },
        exchange => sub { my $r = exchange($s, $agent, $_[0], scope => 'a');
                          $r->status . ($r->json->{error} // '') },
    );
    my %takes = (introspect => 1, userinfo => 200, exchange => '200');
    my %refuses = (introspect => 0, userinfo => 401, exchange => '400invalid_request');

    my $forged = forgeries($good->{access_token});
    my $n = keys %$forged;

    cmp_ok($n, '>', 35, "$alg: $n forgeries");

    for my $place (sort keys %place) {
        my @taken = grep { $place{$place}->($forged->{$_}) ne $refuses{$place} }
                    sort keys %$forged;

        is_deeply(\@taken, [], "$alg, $place: none is taken");
        is($place{$place}->($good->{access_token}), $takes{$place}, "$alg, $place: but it");
    }

    is_deeply([ map { form($s, revoke => { token => $forged->{$_} }, client => $agent)->status }
                sort keys %$forged ], [ (200) x $n ], "$alg, revoke: says nothing");
    is(active($good->{access_token}), 1, "$alg, revoke: by none of them it dies");

    my $ids = forgeries($good->{id_token});

    is_deeply([ grep { hinted($ids->{$_}) ne 'invalid_request' } sort keys %$ids ], [],
              "$alg, id_token_hint: none is taken");
    is(hinted($good->{id_token}), 'code', "$alg, id_token_hint: but it");

    form($s, revoke => { token => $good->{access_token} }, client => $agent);
    ok(!active($good->{access_token}), "$alg, revoke: but by itself");
}

patch($agent, signingAlg => 'RS256');


# --- keys that replace each other ----------------------------------------------------

sub move {
    my ($kid, $set) = @_;

    $s->sql("UPDATE svc.oauth_key SET $set WHERE kid = '$kid'");
}

sub next_of {
    my ($kid) = @_;
    my $next;

    wait_for {
        $next = $s->sql("SELECT k.kid FROM svc.oauth_key k, svc.oauth_key o"
                        . " WHERE o.kid = '$kid' AND k.tenant_id = o.tenant_id"
                        . ' AND k.alg = o.alg AND k.kid <> o.kid'
                        . ' AND k.retired_at IS NULL AND k.revoked_at IS NULL');
    };

    return $next;
}

token(application($globex));

my ($rsa, $ec) = map { kid(token($_)) } $service, $fast;
my ($globex_kid) = map { $_->{kid} } @{ jwks('globex') };

for my $kid ($rsa, $ec, $globex_kid) {
    move($kid, "active_from = now() - interval '89 days 1 min'");
}

my ($next_rsa, $next_ec) = map { next_of($_) } $rsa, $ec;

is(key_of($next_rsa, 'alg'), 'RS256', 'the next one is of RSA, too');
is(key_of($next_ec, 'alg'), 'ES256', 'and of P-256');
next_of($globex_kid);
is(keys_of($globex, 'RS256'), 0, 'who has no RSA key gets none');
ok(wait_for(sub { @{ jwks() } == 4 }), 'all are published');
is(kid(token($service)), $rsa, 'the old one signs');

move($_, "active_from = now() - interval '1 s'") for $next_rsa, $next_ec;
ok(wait_for(sub { kid(token($service)) eq $next_rsa }), 'the next one takes over');
ok(wait_for(sub { kid(token($fast)) eq $next_ec }), 'and that of P-256');
is(active($t->{access_token}), 1, 'what the old one has signed is good');
is(key_of($rsa, 'retired_at <= now()'), 't', 'it has retired');
move($rsa, "retired_at = now() - interval '31 days'");
ok(wait_for(sub { !key_of($rsa, 'count(*)') }), 'and is forgotten after a month');

my ($out) = $s->svcctl(qw(oauth key rotate --tenant acme));
is($out, join('', map { "$_ signs for a day more, and is replaced then\n" } $next_ec, $next_rsa),
   'rotate: both');
next_of($next_rsa);
my $third = next_of($next_rsa);
like($s->svcctl(qw(oauth key list --tenant acme)), qr/^$third  RS256  next  /m, 'list');

($out) = $s->svcctl(qw(oauth key revoke --tenant acme --kid), $next_rsa);
is($out, "revoked $next_rsa; $third signs from now on\n", 'revoke: one');
is(kid(token($service)), $third, 'the next one signs');
is(kid(token($fast)), $next_ec, 'P-256 has nothing to do with it');
ok(!active($refreshed->{access_token}), 'what was signed by it is dead');

($out) = $s->svcctl(qw(oauth key revoke --tenant acme));
like($out, qr/\Arevoked .*\nrevoked $third\n\z/s, 'revoke: those that sign');
my $fourth = kid(token($service));
isnt($fourth, $third, 'the next token makes one');
is_deeply([ grep { $_ eq $fourth } map { $_->{kid} } @{ jwks() } ], [ $fourth ],
          'which is published at once');


# --- another key in svc_key_file -----------------------------------------------------

my $new = 'cd' x 32;

$s->secret($new);
write_file($s->{key_file}, "k2:$new\n1:$file_key\n");
$s->reload;
is(kid(token($service)), $fourth, 'two keys in the file');

my ($text, $rc, $err) = $s->svcctl({}, qw(secrets reseal --keys), $s->{key_file});
is("$rc$err", '0', 'reseal');
like($text, qr/^signing keys: \d+ sealed under k2$/m, 'the keys');
write_file($s->{key_file}, "k2:$new\n");
$s->reload;
is(kid(token($service)), $fourth, 'the old one is gone, and the key opens');
is(alg(token($fast)), 'ES256', 'and the other one');

$s->done;
done_testing;
