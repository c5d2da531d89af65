#!/usr/bin/perl

# Shows which keys an application may have in place of a secret, and that after a
# change it is no longer found by its old keys or secrets.

use strict;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use JSON::PP qw(decode_json);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Admin;

use Crypt::PK::ECC;
use Crypt::PK::Ed25519;
use Crypt::PK::RSA;

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for('apps:manage,audit:view');

my %WEB = (name => 'Bank', type => 'web', redirectUris => [ 'https://app.test/cb' ]);
my %KEYS = (tokenEndpointAuthMethod => 'private_key_jwt');


sub ask {
    my ($method, $path, $body) = @_;

    return $s->http($method, "/v1/applications$path", [ Authorization => "Bearer $token" ],
                    $body);
}


# Returns a key's private JWK and the public one. %more: more members.

sub jwk {
    my ($kind, $kid, %more) = @_;

    my $pk = $kind eq 'EC' ? Crypt::PK::ECC->new->generate_key('secp256r1')
           : $kind eq 'P-384' ? Crypt::PK::ECC->new->generate_key('secp384r1')
           : $kind eq 'OKP' ? Crypt::PK::Ed25519->new->generate_key
           : Crypt::PK::RSA->new->generate_key($kind / 8, $more{exponent} // 65537);
    delete $more{exponent};

    return map { { %{ $pk->export_key_jwk($_, 1) }, kid => $kid, %more } } qw(public private);
}


sub set { return { keys => [ @_ ] } }


# Checks the digest by which an application is found: it is over its stored keys
# alone.

sub found_by_keys {
    my ($id, $name) = @_;

    my ($text, $digest) = @{ ($s->sql("SELECT a.jwks::text || ' '"
        . " || coalesce(a.security_profile, ''), encode(l.digest, 'hex')"
        . ' FROM svc.application a LEFT JOIN svc.oauth_login l'
        . " ON l.client_id = a.client_id AND l.kind = 'keys'"
        . " WHERE a.client_id = '$id'"))[0] };

    is($digest, sha256_hex("\3$id\0" . sha256($text)), $name);
}


sub secrets {
    my ($id) = @_;

    return $s->sql("SELECT count(*) FROM svc.oauth_login WHERE client_id = '$id'"
                   . " AND kind = 'secret' AND (retired_at IS NULL OR retired_at > now())");
}


# --- a new application --------------------------------------------------------------

my ($ec, $ec_private) = jwk(EC => 'a');
my $r = ask(POST => '', { %WEB, %KEYS, jwks => set($ec) });
my $app = $r->json;
my $id = $app->{clientId};

is($r->status, 201, 'an application with a key') or diag($r->body);
is_deeply([ @$app{qw(tokenEndpointAuthMethod jwks clientSecret secretRotatedAt)} ],
          [ 'private_key_jwt', set($ec), undef, undef ], 'has that, and no secret');
is(secrets($id), 0, 'and is not found by one');
found_by_keys($id, 'but by its keys');
is_deeply(ask(PATCH => "/$id", $app)->json, $app, 'put back as it was read');
found_by_keys($id, 'it is found as before');
admin_error(ask(POST => "/$id/secret", {}), 400, 'invalid_request', 'a secret for it');


# --- which keys ---------------------------------------------------------------------

for my $good ([ 'Ed25519', jwk(OKP => 'a') ], [ 'RSA of 2048 bits', jwk(2048 => 'a') ],
              [ 'of 4096', jwk(4096 => 'a') ],
              [ 'of RSA for PS256', jwk(2048 => 'a', alg => 'PS256', use => 'sig') ],
              [ 'members of others', jwk(EC => 'a', x5t => 'x', key_ops => [ 'verify' ],
                                     x5c => [ 'x' x 3000 ], ext => JSON::PP::true,
                                     iat => 1) ])
{
    my ($name, $public, $private) = @$good;

    is_deeply(ask(PATCH => "/$id", { jwks => set($public) })->json->{jwks}, set($public),
              "$name is good");
    found_by_keys($id, 'and it is found by that alone');
    like(admin_error(ask(PATCH => "/$id", { jwks => set($private) }), 400, 'invalid_request',
                     "$name, with its private half")->{message},
         qr/^"jwks\.keys\[0\]" has a private member/, 'says so');
}

my @five = map { (jwk(EC => "k$_"))[0] } 1 .. 6;
my $rsa = (jwk(2048 => 'a'))[0];
my %ec = %$ec;

is(ask(PATCH => "/$id", { jwks => set(@five[0 .. 4]) })->status, 200, 'five keys');

my $KEYS = qr/^"jwks" must be a JWK Set with "keys", which has 1 to 5 public keys\.$/;
my $SIZE = qr/^"jwks" must have at most 16384 bytes, and no numbers but whole ones /;
my $KID = qr/^"jwks\.keys\[0\]\.kid" must be a string of 1 to 64 bytes\.$/;
my $KEY = qr/^"jwks\.keys\[0\]" must be a public key for signatures: /;

for my $bad (
    [ 'six', set(@five), $KEYS ],
    [ 'none', set(), $KEYS ],
    [ 'no array', { keys => $ec }, $KEYS ],
    [ 'a key alone', $ec, $KEYS ],
    [ 'an array', [ $ec ], qr/^"jwks" must be/ ],
    [ 'a text', '{}', qr/^"jwks" must be/ ],
    [ 'a key that is none', set('x'), $KID ],
    [ 'without a kid', set({ map { $_ => $ec{$_} } qw(kty crv x y) }), $KID ],
    [ 'an empty kid', set({ %ec, kid => '' }), $KID ],
    [ 'a long one', set({ %ec, kid => 'x' x 65 }), $KID ],
    [ 'a number', set({ %ec, kid => 7 }), $KID ],
    [ 'two of one name', set($ec, { %{ $five[0] }, kid => 'a' }),
      qr/^"jwks\.keys\[0\]\.kid" is that of another key as well\.$/ ],
    [ 'a bad one behind a good one', set($five[0], { %ec, crv => 'P-521' }),
      qr/^"jwks\.keys\[1\]" must be a public key/ ],
    [ 'P-384', set((jwk('P-384' => 'a'))[0]), $KEY ],
    [ 'RSA of 1024 bits', set((jwk(1024 => 'a'))[0]), $KEY ],
    [ 'RSA of 2040 bits', set((jwk(2040 => 'a'))[0]), $KEY ],
    [ 'RSA with the exponent 3', set((jwk(2048 => 'a', exponent => 3))[0]), $KEY ],
    [ 'RSA with a zero in front', set({ %$rsa,
        n => encode_base64url("\0" . MIME::Base64::decode_base64url($rsa->{n})) }), $KEY ],
    [ 'RSA of 4104 bits', set({ %$rsa, n => encode_base64url("\xc1" x 513) }), $KEY ],
    [ 'RSA for ES256', set({ %$rsa, alg => 'ES256' }), $KEY ],
    [ 'for encryption', set({ %ec, use => 'enc' }), $KEY ],
    [ 'P-256 for RS256', set({ %ec, alg => 'RS256' }), $KEY ],
    [ 'not on the curve', set({ %ec, y => $ec{x} }), $KEY ],
    [ 'members without end', set({ %ec, x5c => [ 'x' x 16_384 ] }), $SIZE ],
    [ 'of many', set({ %ec, map { $_ => 'x' x 24 } 'a' .. 'zz' }), $SIZE ],
    [ 'a name without end', set({ %ec, 'x' x 16_384 => 1 }), $SIZE ],
    [ 'a number that has as many digits', set({ %ec, iat => 1e300 }), $SIZE ],
    [ 'a zero, which may have them behind its point', set({ %ec, iat => 0 }), $SIZE ],
    [ 'the same beside the keys', { %{ set($ec) }, x => [ { y => 0.5 } ] }, $SIZE ],
    [ 'a shared secret', set({ kty => 'oct', kid => 'a', k => 'x' }),
      qr/^"jwks\.keys\[0\]" has a private member/ ],
) {
    my ($name, $jwks, $message) = @$bad;

    like(admin_error(ask(PATCH => "/$id", { jwks => $jwks }), 400, 'invalid_request',
                     $name)->{message}, $message, "$name: says so");
}

is_deeply(ask(GET => "/$id")->json->{jwks}, set(@five[0 .. 4]), 'nothing of that is kept');


# --- one method at a time -----------------------------------------------------------

my $BOTH = qr/^"jwks", or "jwksUri" in its place, must be there with the "tokenEndpointAuth/;

for my $bad ([ PATCH => "/$id", { jwks => undef } ],
             [ PATCH => "/$id", { tokenEndpointAuthMethod => 'client_secret_basic' } ],
             [ POST => '', { %WEB, %KEYS } ], [ POST => '', { %WEB, %KEYS, jwks => undef } ],
             [ POST => '', { %WEB, jwks => set($ec) } ],
             [ POST => '', { %WEB, type => 'spa', jwks => set($ec) } ])
{
    my ($method, $path, $body) = @$bad;

    like(admin_error(ask($method, $path, $body), 400, 'invalid_request',
                     "$method " . JSON::PP->new->canonical->encode($body))->{message}, $BOTH,
         'says so');
}

like(admin_error(ask(POST => '', { %WEB, %KEYS, type => $_, jwks => set($ec) }), 400,
                 'invalid_request', "a public one: $_")->{message},
     qr/^"tokenEndpointAuthMethod" is not one of this type/, 'says so') for qw(spa native);

for my $type (qw(m2m agent)) {
    is(ask(POST => '', { name => 'x', type => $type, %KEYS, jwks => set($ec) })->status, 201,
       "of type $type");
}

my $web = ask(POST => '', \%WEB)->json;

$s->secret($web->{clientSecret});
is(secrets($web->{clientId}), 1, 'another one has a secret');

$r = ask(PATCH => "/$web->{clientId}", { %KEYS, jwks => set($ec) })->json;
is_deeply([ @$r{qw(tokenEndpointAuthMethod secretRotatedAt previousSecretValidUntil)} ],
          [ 'private_key_jwt', undef, undef ], 'and then keys');
is(secrets($web->{clientId}), 0, 'which end the secret');
found_by_keys($web->{clientId}, 'and it is found by them');

my ($event) = grep { $_->{target}{id} eq $web->{clientId} }
    @{ $s->http(GET => '/v1/admin/audit?action=application.updated',
                [ Authorization => "Bearer $token" ])->json->{events} };

is_deeply([ sort @{ $event->{details}{changed} } ], [ qw(jwks tokenEndpointAuthMethod) ],
          'the audit log names the members');

$r = ask(PATCH => "/$web->{clientId}", { tokenEndpointAuthMethod => 'client_secret_basic',
                                         jwks => undef });
is($r->json->{jwks}, undef, 'back to a secret');
is($s->sql("SELECT count(*) FROM svc.oauth_login WHERE client_id = '$web->{clientId}'"
           . " AND kind = 'keys'"), 0, 'no key is good any more');
is(secrets($web->{clientId}), 0, 'and no secret, until a new one is made');
$r = ask(POST => "/$web->{clientId}/secret", {});
$s->secret($r->json->{clientSecret});
is(secrets($web->{clientId}), 1, 'which is this one');

$s->done;
done_testing();
