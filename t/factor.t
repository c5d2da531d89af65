#!/usr/bin/perl

# Checks second factors against other programs: one-time passwords by oathtool, QR
# codes by jsQR, and passkeys by a software authenticator, whose answers python3-fido2
# verifies, too. SVC_TEST_SEED takes other cases.

use strict;
use warnings;

use FindBin;
use JSON::PP ();
use MIME::Base64 qw(encode_base64url decode_base64url);
use Test::More;

use SvcTest::Authenticator;
use SvcTest::Lines;
use SvcTest::Npm;
use SvcTest::Skip;

needs(program => 'make oathtool', python => 'fido2');

my $ROOT = "$FindBin::Bin/..";
my $JSON = JSON::PP->new->utf8;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

my $seed = $ENV{SVC_TEST_SEED} // 20261122;
srand $seed;
note "seed $seed";

is(system('make', '-s', '-C', $ROOT, 'unit'), 0, 'make unit');

my $eval = SvcTest::Lines->new("$ROOT/build/unit/factor_eval");


sub random_hex {
    my ($n) = @_;

    return join '', map { sprintf '%02x', int rand 256 } 1 .. $n;
}


# --- one-time passwords -----------------------------------------------------------

sub oathtool {
    my ($secret, $at) = @_;

    open my $fh, '-|', 'oathtool', '--totp', "--now=\@$at", $secret
        or die "oathtool: $!\n";
    chomp(my $code = <$fh>);
    close $fh or die "oathtool: $?\n";

    return $code;
}

sub totp {
    my ($secret, $code, $now, $last) = @_;

    return $eval->ask({ totp => { secret => $secret, code => $code,
                                  now => $now, last => $last // 0 } });
}

my @wrong;

for (1 .. 100) {
    my $secret = random_hex(20);
    my $now = 1_000_000_000 + int rand 3_000_000_000;
    my $step = int $now / 30;

    # By how many steps a code is off, and the step that it is good for.

    my %want = (-2 => undef, -1 => $step - 1, 0 => $step, 1 => $step + 1,
                2 => undef);

    for my $off (sort keys %want) {
        my $got = totp($secret, oathtool($secret, $now + 30 * $off), $now);

        push @wrong, "$secret $now $off"
            if ($got // 'none') ne ($want{$off} // 'none');
    }
}

is_deeply(\@wrong, [], 'codes of oathtool are good for three steps, no others');

my $secret = random_hex(20);
my $code = oathtool($secret, 1_700_000_000);
my $step = totp($secret, $code, 1_700_000_000);

is($step, int 1_700_000_000 / 30, 'the step of a code');
is(totp($secret, $code, 1_700_000_000, $step), undef, 'it is good once');
is(totp($secret, $code, 1_700_000_029, $step), undef, 'nor is it later');


# --- what a phone reads ---------------------------------------------------------------

my %uri = (
    plain => { issuer => 'Acme', account => 'ada@acme.test' },
    hard => { issuer => "Caf\x{e9} & S\x{f8}n: \"50%\"?",
              account => "a+b\x{e9}\@x.test" },
    long => { issuer => "\x{20ac}" x 40,
              account => 'a' x 120 . '@' . '+' x 133 },
);

my @names = sort keys %uri;
my @uris = map { $eval->ask({ uri => { %{ $uri{$_} }, secret => $secret } }) }
           @names;
my @svgs = map { $eval->ask({ qr => { text => $_ } }) } @uris;
my @read = map { $JSON->allow_nonref->decode($_) }
           split /\n/, npm_run($ROOT, 'qr.mjs', $JSON->encode(\@svgs));

is_deeply(\@read, \@uris, 'QR codes are read as what was written');

for my $svg (@svgs) {
    unlike($svg, qr/script|style|href|\bid=|\bon\w+=/, 'nothing active in it');
    is(() = $svg =~ /<path/g, 1, 'one path');
    cmp_ok(length $svg, '<', 64_000, 'its size');
}

# Both corners of the quiet zone: four units, and the finder's first row.

like($svgs[-1], qr/ d="M4 4\.5h7m/, 'a quiet zone of four');

is($eval->ask({ qr => { text => 'x' x 1537 } }), undef, 'too long a text');
is($eval->ask({ qr => { text => '' } }), undef, 'no text');

open my $oath, '-|', 'oathtool', '--totp', '--now=@1700000000', '-b',
                     $uris[-1] =~ /secret=(\w+)/ or die "oathtool: $!\n";
chomp(my $same = <$oath>);
is($same, $code, 'the secret in the URI is the secret');


# --- recovery codes --------------------------------------------------------------------

my $codes = $eval->ask({ recovery => { n => 10 } });

is(scalar @$codes, 10, 'ten recovery codes');
is(scalar(grep { /^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/ } @$codes),
   10, 'of Crockford\'s letters');


# --- passkeys ----------------------------------------------------------------------

my $ORIGIN = 'https://login.acme.test:8443';
my $RP = 'login.acme.test';
my $NOW = 1_767_225_600_000;
my $USER = random_hex(32);

my $browser = SvcTest::Authenticator->new($ROOT, $ORIGIN);
my $oracle = SvcTest::Lines->new('/usr/bin/python3',
                                 "$ROOT/t/oracle/fido2_server.py");

my %ceremony = (rpId => $RP, origin => $ORIGIN, session => random_hex(16),
                key => random_hex(32), now => $NOW);

sub creation {
    my (%change) = @_;

    return $eval->ask({ creation => {
        ceremony => { %ceremony, purpose => 'register', %change },
        user => { site => 'Acme', handle => $USER, name => 'ada@acme.test',
                  displayName => "Ada \"L\" \x{e9}" },
        passkeys => [],
    } });
}

sub register {
    my ($credential, %change) = @_;

    return $eval->ask({ register => {
        ceremony => { %ceremony, purpose => 'register', %change },
        credential => $credential } });
}

sub request {
    my (%change) = @_;

    return $eval->ask({ request => {
        ceremony => { %ceremony, purpose => 'stepup', %change },
        passkeys => $change{passkeys} // [] } });
}

sub verify {
    my ($credential, $passkey, %change) = @_;

    return $eval->ask({ verify => {
        ceremony => { %ceremony, purpose => 'stepup', %change },
        credential => $credential, passkey => $passkey,
        rounds => $change{rounds} // 0 } });
}

sub taken {
    my ($credential, $options) = @_;

    return $oracle->line({ rpId => $RP, origin => $ORIGIN,
                           challenge => $options->{challenge},
                           credential => $credential });
}


my $options = creation();

is_deeply($options, {
    rp => { id => $RP, name => 'Acme' },
    user => { id => encode_base64url(pack 'H*', $USER),
              name => 'ada@acme.test', displayName => "Ada \"L\" \x{e9}" },
    challenge => $options->{challenge},
    pubKeyCredParams => [ map { { type => 'public-key', alg => $_ } }
                          -7, -8, -35, -257 ],
    timeout => 300000,
    excludeCredentials => [],
    authenticatorSelection => { residentKey => 'required',
                                requireResidentKey => $TRUE,
                                userVerification => 'required' },
    attestation => 'none',
}, 'the options of a registration');

is(length decode_base64url($options->{challenge}), 32, 'the challenge');

my %passkey;

for my $alg (-7, -8, -35, -257) {
    for my $fmt ('none', 'packed') {
        my $asked = creation();
        my $made = $browser->answer($asked, alg => $alg, fmt => $fmt,
            be => 1, bs => 1, aaguid => 'ab' x 16, counter => 7,
            transports => [ 'hybrid', 'internal', 'carrier-pigeon' ]);
        my $got = register($made);

        is(taken($made, $asked), 'ok', "python3-fido2 takes $alg, $fmt");
        is_deeply([ @$got{qw(id alg aaguid signCount transports be bs)} ],
                  [ unpack('H*', decode_base64url($made->{id})), $alg,
                    'ab' x 16, 7, 0x30, $TRUE, $TRUE ], "and so do we");

        $asked = request(passkeys => [ $got ]);
        is_deeply($asked->{allowCredentials},
                  [ { type => 'public-key', id => $made->{id},
                      transports => [ 'hybrid', 'internal' ] } ],
                  'it is asked for by its id');

        my $signed = $browser->answer($asked, bs => 0);
        my $in = verify($signed, $got);

        is(taken($signed, $asked), 'ok', 'python3-fido2 takes its signature');
        is_deeply([ @$in{qw(id user signCount be bs)} ],
                  [ $got->{id}, $USER, 8, $TRUE, $FALSE ], 'and so do we');
        is($in->{expires}, $NOW + 300_000, 'for five minutes');

        # Each flipped bit is found by both verifiers.

        $asked = request(passkeys => [ $got ]);
        $signed = $browser->answer($asked, flip => 1);

        is(verify($signed, $got)->{error}, 'refused', 'another signature');
        isnt(taken($signed, $asked), 'ok', 'which python3-fido2 refuses too');

        $passkey{$alg} = { %$got, signCount => 8 };
    }
}


# What an authenticator may answer, and what it may not.

sub registered {
    my ($settings, %change) = @_;

    return register($browser->answer(creation(), %$settings), %change)->{error}
           // 'ok';
}

my $RESPONSE = 'The authenticator data of "credential.response"';
my $CLIENT = '"credential.response.clientDataJSON"';
my $KEY = 'The public key of "credential.response" must be a good one of'
          . ' ES256, EdDSA, ES384, or RS256 with 2048 bits.';

my @registrations = (
    [ {}, 'ok' ],
    [ { extensions => { credProtect => 2, 'hmac-secret' => $TRUE } }, 'ok' ],
    [ { extensions => { future => [ 1, { a => 'b' } ] } }, 'ok' ],
    [ { transports => [] }, 'ok' ],
    [ { id => encode_base64url('i' x 1023) }, 'ok' ],
    [ { client => { other_keys_can_be_added_here => 'yes' } }, 'ok' ],
    [ { be => 1 }, 'ok' ],
    [ { uv => 0 }, "$RESPONSE says that the user was not verified." ],
    [ { up => 0 }, "$RESPONSE says that the user was not present." ],
    [ { bs => 1 }, "$RESPONSE is of a backup that is not eligible for one." ],
    [ { at => 0 }, "$RESPONSE has no credential." ],
    [ { ed => 1 }, "$RESPONSE is malformed." ],
    [ { ed => 0, extensions => { a => 1 } }, "$RESPONSE is malformed." ],
    [ { rpId => 'acme.test' }, "$RESPONSE is of another site." ],
    [ { rpId => 'evil.login.acme.test' }, "$RESPONSE is of another site." ],
    [ { origin => 'http://login.acme.test:8443' },
      "$CLIENT has another origin." ],
    [ { origin => 'https://login.acme.test' }, "$CLIENT has another origin." ],
    [ { origin => 'https://x.login.acme.test:8443' },
      "$CLIENT has another origin." ],
    [ { origin => "$ORIGIN/" }, "$CLIENT has another origin." ],
    [ { origin => 'https://LOGIN.acme.test:8443' },
      "$CLIENT has another origin." ],
    [ { origin => 'null' }, "$CLIENT has another origin." ],
    [ { client => { type => 'webauthn.get' } }, "$CLIENT has another type." ],
    [ { client => { type => 'webauthn.created' } },
      "$CLIENT has another type." ],
    [ { client => { crossOrigin => $TRUE } },
      "$CLIENT is of a page in another one's." ],
    [ { client => { topOrigin => $ORIGIN } },
      "$CLIENT is of a page in another one's." ],
    [ { client => { topOrigin => undef } },
      "$CLIENT is of a page in another one's." ],
    [ { client => { crossOrigin => 'false' } },
      "$CLIENT lacks a member, or has one of another type." ],
    [ { client => { challenge => 'A' x 43 } },
      "$CLIENT has another challenge." ],
    [ { client => { challenge => undef } },
      "$CLIENT lacks a member, or has one of another type." ],
    [ { clientText => '[]' }, "$CLIENT is not good JSON." ],
    [ { clientText => '{"type":"webauthn.create","type":"webauthn.create"}' },
      "$CLIENT is not good JSON." ],
    [ { clientText => '{' }, "$CLIENT is not good JSON." ],
    [ { offCurve => 1 }, $KEY ],
    [ { alg => -35, offCurve => 1 }, $KEY ],
    [ { alg => -257, rsaBits => 1024 }, $KEY ],
    [ { alg => -257, rsaBits => 3072 }, $KEY ],
    [ { labelAlg => -35 }, $KEY ],
    [ { labelAlg => -8 }, $KEY ],
    [ { labelAlg => -37 }, $KEY ],
    [ { id => encode_base64url('i' x 1024) },
      '"credential.id" must be a string of 1 to 1364 bytes.' ],
);

for (@registrations) {
    my ($settings, $want) = @$_;

    is(registered($settings), $want,
       'registration: ' . $JSON->canonical->encode($settings) =~ s/.{60}\K.*//r);
}

for ([ now => $NOW + 299_999, 'ok' ], [ now => $NOW + 300_000, 'expired' ],
     [ now => $NOW - 60_000, 'ok' ],
     map { [ @$_, "$CLIENT has another challenge." ] }
         [ session => random_hex(16) ], [ key => random_hex(32) ])
{
    my ($name, $value, $want) = @$_;

    is(registered({}, $name => $value), $want, "registration: another $name");
}

is(register($browser->answer(creation(rpId => 'acme.test')))->{error},
   "$CLIENT has another challenge.", 'a challenge of another host');
is(register($browser->answer(creation(purpose => 'stepup')))->{error},
   "$CLIENT has another challenge.", 'a challenge for something else');
is(register($browser->answer(creation(session => undef)))->{error},
   "$CLIENT has another challenge.", 'a challenge of no session');


sub signed {
    my ($settings, %change) = @_;

    my $passkey = { %{ $passkey{-7} }, %{ delete $settings->{passkey} // {} } };
    my $options = request(passkeys => [ $passkey{-7} ]);

    return verify($browser->answer($options, counter => 9, %$settings),
                  $passkey, %change)->{error} // 'ok';
}

my @authentications = (
    [ {}, 'ok' ],
    [ { bs => 0 }, 'ok' ],
    [ { extensions => { future => $TRUE } }, 'ok' ],
    [ { userHandle => undef }, 'ok' ],
    [ { counter => 8 }, 'cloned' ],
    [ { counter => 7 }, 'cloned' ],
    [ { counter => 0 }, 'cloned' ],
    [ { counter => 4294967295 }, 'ok' ],
    [ { counter => 0, passkey => { signCount => 0 } }, 'ok' ],
    [ { counter => 1, passkey => { signCount => 0 } }, 'ok' ],
    [ { be => 0, bs => 0 }, 'refused' ],
    [ { passkey => { be => $FALSE } }, 'refused' ],
    [ { passkey => { alg => -8 } }, 'refused' ],
    [ { passkey => { key => $passkey{-8}{key} } }, 'refused' ],
    [ { passkey => { alg => -35, key => $passkey{-35}{key} } }, 'refused' ],
    [ { passkey => { id => $passkey{-8}{id} } }, 'refused' ],
    [ { flip => 1 }, 'refused' ],
    [ { flip => 1, counter => 1 }, 'refused' ],
    [ { uv => 0 }, "$RESPONSE says that the user was not verified." ],
    [ { up => 0 }, "$RESPONSE says that the user was not present." ],
    [ { at => 1 }, "$RESPONSE has a credential in it." ],
    [ { rpId => 'acme.test' }, "$RESPONSE is of another site." ],
    [ { origin => 'https://evil.test' }, "$CLIENT has another origin." ],
    [ { client => { type => 'webauthn.create' } },
      "$CLIENT has another type." ],
    [ { client => { type => 'payment.get' } }, "$CLIENT has another type." ],
    [ { client => { crossOrigin => $TRUE } },
      "$CLIENT is of a page in another one's." ],
);

for (@authentications) {
    my ($settings, $want) = @$_;
    my $name = $JSON->canonical->encode($settings) =~ s/.{60}\K.*//r;

    is(signed($settings), $want, "authentication: $name");
}

is(signed({}, now => $NOW + 300_000), 'expired', 'too late');
is(signed({}, purpose => 'signin'), "$CLIENT has another challenge.",
   'a challenge of a step-up does not sign in');

my %first = (purpose => 'signin', session => undef);
my $anyone = request(%first);
my $signin = $browser->answer($anyone, id => encode_base64url(
                                 pack 'H*', $passkey{-8}{id}), counter => 9);

is_deeply($anyone, { challenge => $anyone->{challenge}, timeout => 300000,
                     rpId => $RP, allowCredentials => [],
                     userVerification => 'required' },
          'the options of a sign-in name nobody');
is(verify($signin, $passkey{-8}, %first)->{user}, $USER,
   'who has signed in is said by the passkey');
is(verify($signin, $passkey{-8}, %first)->{used},
   verify($signin, $passkey{-8}, %first)->{used}, 'the hash that makes it'
   . ' good once');


# The time of one verification is printed, not judged: the build has sanitizers.

for my $alg (-7, -8, -35, -257) {
    my $signed = $browser->answer(request(passkeys => [ $passkey{$alg} ]),
                                  counter => 9);
    my $usec = verify($signed, $passkey{$alg}, rounds => 100)->{usec};

    cmp_ok($usec, '>', 0, "$alg: $usec microseconds");
}

is($eval->end, 0, 'no sanitizer has complained');

done_testing();
