#!/usr/bin/perl

# What must not pass for a passkey in a sign-in, a registration and a step-up.
#  Each case gets exactly its answer, and none a 500.

use strict;
use warnings;

use FindBin;
use JSON::PP ();
use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Authenticator;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Passkey qw(register sign_in options challenge);

my $ROOT = "$FindBin::Bin/..";
my $ORIGIN = 'https://login.acme.test';
my $TRUE = JSON::PP::true();

my $s = SvcTest->new(svc => {
    svc_sign_in => 'on', svc_base_url => $ORIGIN,
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                 'MFA_CHALLENGE_ATTEMPTS 10' ] })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my $bob = with_password($s, $acme, userName => 'bob@acme.test');
my $eve = with_password($s, $globex, userName => 'eve@globex.test');


sub browser { return SvcTest::Browser->new($s, @_) }


sub handle {
    my ($tenant, $user) = @_;

    return encode_base64url(pack 'H*', "$tenant->{id}$user->{id}" =~ tr/-//dr);
}


# Returns a credential with one member changed.

sub changed {
    my ($credential, $member, $change) = @_;

    my %response = %{ $credential->{response} };
    my $bytes = decode_base64url($response{$member});

    $response{$member} = encode_base64url($change->($bytes));

    return { %$credential, response => \%response };
}


my $keys = SvcTest::Authenticator->new($ROOT, $ORIGIN);
my $session = browser(tenant => 'acme');

is($session->login('ada@acme.test')->status, 200, 'signed in');
is(register($session, $keys, counter => 7)->status, 201, 'a passkey of Ada');

my $bobs = SvcTest::Authenticator->new($ROOT, $ORIGIN);
my $b = browser(tenant => 'acme');

is($b->login('bob@acme.test')->status, 200, 'signed in');
is(register($b, $bobs)->status, 201, 'one of Bob');


# --- what both ceremonies refuse: settings of the authenticator --------------

my %both = (
    'another origin' => { origin => 'https://evil.test' },
    'http' => { origin => 'http://login.acme.test' },
    'a subdomain' => { origin => 'https://x.login.acme.test' },
    'the parent' => { origin => 'https://acme.test' },
    'another port' => { origin => 'https://login.acme.test:444' },
    'the port of https' => { origin => 'https://login.acme.test:443' },
    'in another page' => { client => { crossOrigin => $TRUE } },
    'under another page' => { client => { topOrigin => 'https://evil.test' } },
    'another site' => { rpId => 'evil.test' },
    'not verified' => { uv => 0 },
    'not present' => { up => 0 },
    'another challenge' => { client => { challenge => 'A' x 43 } },
    'a long challenge' => { client => { challenge => 'A' x 44 } },
    'client data of another form' => { clientText => '[]' },
    'no JSON' => { clientText => '{"type":' },
    'the same member twice' => { clientText => '{"type":"a","type":"b"}' },
);

my %sign_in = (
    %both,
    'a creation' => { client => { type => 'webauthn.create' } },
    'a bit of the signature' => { flip => 1 },
    'counted back' => { counter => 6 },
    'counted not' => { counter => 7 },
    'of another user' => { userHandle => handle($acme, $bob) },
    'of another tenant' => { userHandle => handle($globex, $ada) },
    'of nobody' => { userHandle => encode_base64url("\0" x 32) },
    'a short user handle' => { userHandle => encode_base64url("\0" x 31) },
    'no user handle' => { userHandle => undef },
    'extensions that are not there' => { ed => 1 },
    'a passkey within' => { at => 1 },
    'may be backed up now' => { be => 1 },
);

my %register = (
    %both,
    'an assertion' => { client => { type => 'webauthn.get' } },
    'RSA of 1024 bits' => { alg => -257, rsaBits => 1024 },
    'a point beside the curve' => { offCurve => 1 },
    'another algorithm in the key' => { labelAlg => -8 },
    'an unknown algorithm' => { labelAlg => -999 },
    'no passkey within' => { at => 0 },
    'backed up and may not be' => { be => 0, bs => 1 },
    'extensions that are not there' => { ed => 1 },
);

my $in = browser();

for my $name (sort keys %sign_in) {
    admin_error(sign_in($in, $keys, %{ $sign_in{$name} }), 401,
                'invalid_credentials', "sign-in: $name");
}

# none of these has changed anything

is(sign_in($in, $keys, counter => 8)->status, 200, 'and as it should be');

for my $name (sort keys %register) {
    admin_error(register($session, SvcTest::Authenticator->new($ROOT, $ORIGIN),
                         %{ $register{$name} }),
                400, 'invalid_request', "registration: $name");
}

my @reasons = map { $_->[0]{reason} }
              $acme->events_where("action = 'user.login_failed'", 'details');

is(scalar(grep { $_ eq 'passkey_cloned' } @reasons), 2, 'two clones are audited');
is(scalar(grep { $_ ne 'wrong' } @reasons), 2, 'all others are wrong');
is(($globex->events_where("action = 'user.login_failed'", 'details'))[0][0]{reason},
   'unknown', "or, in another tenant, nobody's");


# --- an unknown passkey, and invalid credentials -----------------------------

my $unknown = SvcTest::Authenticator->new($ROOT, $ORIGIN);

$unknown->answer(options($session, '/v1/mfa/passkeys/options'));
admin_error(sign_in($in, $unknown), 401, 'invalid_credentials',
            'one that was not registered');

my $good = $keys->answer(options($in, '/v1/auth/passkey/options'), counter => 9);
my %response = %{ $good->{response} };

my %shapes = (
    'empty' => {},
    'no response' => { %$good, response => undef },
    'a list' => { %$good, response => [] },
    'two ids' => { %$good, id => 'AAAA' },
    'padding' => { %$good, id => "$good->{id}=", rawId => "$good->{id}=" },
    'another type' => { %$good, type => 'password' },
    ( map { my $m = $_; ( "no $m" => { %$good, response => {
          map { $_ => $response{$_} } grep { $_ ne $m } keys %response } },
        "a number for $m" => { %$good, response => { %response, $m => 1 } },
        "empty $m" => { %$good, response => { %response, $m => '' } } ) }
      qw(clientDataJSON authenticatorData signature) ),
    'too much data' => changed($good, 'authenticatorData', sub { $_[0] . "\0" }),
    'too little' => changed($good, 'authenticatorData',
                            sub { substr $_[0], 0, 36 }),
    'as much as there may be' => changed($good, 'authenticatorData',
                                         sub { $_[0] . "\0" x 900 }),
    'a long signature' => changed($good, 'signature', sub { "\0" x 512 }),
);

for my $name (sort keys %shapes) {
    admin_error($in->post('/v1/auth/passkey/verify',
                          { credential => $shapes{$name} }),
                401, 'invalid_credentials', "sign-in: $name");
}

is($in->post('/v1/auth/passkey/verify', { credential => $good })->status, 200,
   'the good one, after all of them');
admin_error($in->post('/v1/auth/passkey/verify', { credential => $good }), 401,
            'invalid_credentials', 'once');


# --- CBOR --------------------------------------------------------------------

my $made = SvcTest::Authenticator->new($ROOT, $ORIGIN)
           ->answer(options($session, '/v1/mfa/passkeys/options'));

my %cbor = (
    'cut off' => sub { substr $_[0], 0, -1 },
    'half of it' => sub { substr $_[0], 0, length($_[0]) / 2 },
    'none' => sub { "\xf6" },
    'something behind it' => sub { $_[0] . "\0" },
    'of indefinite length' => sub { "\xbf" . substr($_[0], 1) . "\xff" },
    'two gigabytes' => sub { "\x5b\0\0\0\0\x7f\xff\xff\xff" },
    'as many pairs' => sub { "\xbb\0\0\0\0\x7f\xff\xff\xff" },
    'deep' => sub { "\x81" x 9000 },
    'a tag' => sub { "\xc1" . $_[0] },
    'a list' => sub { "\x83" . substr $_[0], 1 },
);

for my $name (sort keys %cbor) {
    admin_error($session->post('/v1/mfa/passkeys', {
        credential => changed($made, 'attestationObject', $cbor{$name}) }),
        400, 'invalid_request', "CBOR: $name");
}

admin_error($session->post('/v1/mfa/passkeys', {
    credential => changed($made, 'attestationObject', sub { "\0" x 20000 }) }),
    413, 'payload_too_large', 'CBOR: 20,000 bytes');

is($session->post('/v1/mfa/passkeys', { credential => $made })->status, 201,
   'the good one, after all of them');


# --- passkeys of other users -------------------------------------------------

# presents Bob's passkey with Ada's id, and the other way round

for my $user ($ada, $bob) {
    my $other = $user == $ada ? $bobs : $keys;

    admin_error(sign_in($in, $other, userHandle => handle($acme, $user)),
                401, 'invalid_credentials', "somebody else's passkey");
}

# a step-up's challenge in a sign-in, and another session's challenge in a
# step-up

sub step_up {
    my ($b, $authenticator, %settings) = @_;

    my $r = $b->post('/v1/mfa/challenge', { method => 'passkey' });
    $r->status == 200 or die $r->body;

    return $b->post('/v1/mfa/step-up', { credential =>
        $authenticator->answer($r->json->{publicKey}, %settings) });
}

is(step_up($b, $bobs)->status, 200, 'a step-up');
admin_error(step_up($b, $bobs, userHandle => handle($acme, $ada)), 401,
            'invalid_code', 'of another user');
admin_error(step_up($b, $bobs, flip => 1), 401, 'invalid_code', 'a bit of it');
admin_error(step_up($b, $bobs, uv => 0), 401, 'invalid_code', 'not verified');

my $asked = $b->post('/v1/mfa/challenge', { method => 'passkey' })->json->{publicKey};

admin_error($in->post('/v1/auth/passkey/verify',
                      { credential => $bobs->answer($asked) }), 401,
            'invalid_credentials', "a step-up's challenge signs nobody in");

my $sign_in = options($in, '/v1/auth/passkey/options');

admin_error($b->post('/v1/mfa/step-up', { credential => $bobs->answer($sign_in) }),
            401, 'invalid_code', "nor is a sign-in's a step-up");


# --- passkeys of users who are gone ------------------------------------------

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada->{id}'");
admin_error(sign_in($in, $keys), 401, 'invalid_credentials', 'of a suspended user');
$s->sql("DELETE FROM svc.user_account WHERE id = '$ada->{id}'");
admin_error(sign_in($in, $keys), 401, 'invalid_credentials', 'of a deleted user');

done_testing();
