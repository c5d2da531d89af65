#!/usr/bin/perl

# Checks keys, signatures and DPoP proofs against python3-jwcrypto and python3-jwt:
# they verify what we sign, and we verify what they sign. SVC_TEST_SEED takes other
# payloads.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use FindBin;
use JSON::PP ();
use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest::Lines;
use SvcTest::Skip;

needs(program => 'make', python => 'jwcrypto jwt');

my $ROOT = "$FindBin::Bin/..";
my $KEYS = 1000;
my $RSA = 0.03;                         # the share of RSA keys, since each takes a while
my $THEIRS = 8;                         # how many of these others make, to sign by in turn
my $JSON = JSON::PP->new->utf8->canonical;

my $seed = $ENV{SVC_TEST_SEED} // 20261123;
srand $seed;
note "seed $seed";

is(system('make', '-s', '-C', $ROOT, 'unit'), 0, 'make unit');

my $ours = SvcTest::Lines->new("$ROOT/build/unit/jose_eval");
my $theirs = SvcTest::Lines->new('/usr/bin/python3',
                                 "$ROOT/t/oracle/jose_oracle.py");


sub pick { return $_[ int rand @_ ] }

sub random_text {
    return join '', map { chr pick(32 .. 126, 0xe9, 0x20ac, 0x1f511, 10, 127) }
                        1 .. rand 20;
}

sub random_value {
    my ($depth) = @_;

    my $kind = int rand($depth ? 6 : 4);

    return random_text() if $kind == 0;
    return int(rand 2e9) - 1e9 if $kind == 1;
    return pick(JSON::PP::true, JSON::PP::false) if $kind == 2;
    return undef if $kind == 3;
    return [ map { random_value($depth - 1) } 1 .. rand 4 ] if $kind == 4;
    return random_object($depth - 1);
}

sub random_object {
    my ($depth) = @_;

    # The names begin with "x", since python3-jwt looks at claims that it knows.

    return { map { ("x$_" . random_text() => random_value($depth)) } 1 .. rand 6 };
}

# Flips one bit of the decoded signature, of the payload, or of the header.

sub damaged {
    my ($jws, $part) = @_;

    my @parts = map { decode_base64url($_) } split /\./, $jws;
    my $bit = int rand 8 * length $parts[$part];

    vec($parts[$part], $bit, 1) ^= 1;

    return join '.', map { encode_base64url($_) } @parts;
}


# --- what we sign ------------------------------------------------------------------

my %wrong;

for my $n (1 .. $KEYS) {
    my $rsa = rand() < $RSA;
    my $key = $ours->ask({ generate => $rsa ? { rsa => 1 } : {} });
    my $header = { alg => $rsa ? 'RS256' : 'ES256', kid => $key->{kid}, typ => 'at+jwt' };
    my $payload = random_object(3);

    my $jws = $ours->ask({ sign => { der => $key->{der},
                                     header => JSON::PP->new->encode($header),
                                     payload => JSON::PP->new->encode($payload) } });

    push @{ $wrong{thumbprint} }, $key->{jwk}
        if $theirs->ask({ thumbprint => $key->{jwk} }) ne $key->{kid};

    my $by = pick(qw(jwcrypto jwt));

    my $got = $theirs->ask({ verify => { by => $by, key => $key->{jwk},
                                         jws => $jws } });

    push @{ $wrong{$by} }, $jws
        if $JSON->encode($got // {})
           ne $JSON->encode({ header => $header, payload => $payload });

    push @{ $wrong{damaged} }, $jws
        if defined $theirs->ask({ verify => {
               by => $by, key => $key->{jwk}, jws => damaged($jws, 2) } });
}

is_deeply(\%wrong, {}, "$KEYS keys and signatures of ours are good for others");


# --- what they sign ----------------------------------------------------------------

my %alg = (EC => 'ES256', OKP => 'EdDSA', RSA => 'RS256');
my @rsa;

%wrong = ();

for my $n (1 .. $KEYS) {
    my $kty = rand() < $RSA ? 'RSA' : pick(qw(EC OKP));
    my $key = $kty eq 'RSA' && @rsa == $THEIRS ? pick(@rsa) : $theirs->ask({ new => $kty });
    my $by = pick(qw(jwcrypto jwt));
    my $payload = random_object(3);

    push @rsa, $key if $kty eq 'RSA' && @rsa < $THEIRS;

    push @{ $wrong{thumbprint} }, $key->{public}
        if $ours->ask({ thumbprint => $key->{public} }) ne $key->{thumbprint};

    push @{ $wrong{private} }, $key->{public}
        if defined $ours->ask({ thumbprint => $key->{private} });

    my $jws = $theirs->ask({ sign => {
        by => $by, key => $key->{private}, payload => $payload,
        header => { alg => $alg{$kty}, typ => 'JWT', x => random_text() },
    } });

    my $verify = sub {
        return $ours->ask({ verify => { jwk => $key->{public}, jws => $_[0] } });
    };

    my $got = $verify->($jws);

    push @{ $wrong{$by} }, $jws
        if $JSON->encode($got->{payload} // {}) ne $JSON->encode($payload);

    push @{ $wrong{damaged} }, $jws
        if $verify->(damaged($jws, 2))->{error} ne 'signature'
           || !defined $verify->(damaged($jws, int rand 3))->{error};
}

is_deeply(\%wrong, {}, "$KEYS keys and signatures of others are good for us");


# --- DPoP proofs -------------------------------------------------------------------

%wrong = ();

for my $n (1 .. $KEYS / 10) {
    my $kty = pick(qw(EC OKP));
    my $key = $theirs->ask({ new => $kty });
    my $jti = encode_base64url(join '', map { chr int rand 256 } 1 .. 16);
    my $token = encode_base64url(join '', map { chr int rand 256 } 1 .. 32);

    my $proof = $theirs->ask({ sign => {
        by => pick(qw(jwcrypto jwt)), key => $key->{private},
        header => { typ => 'dpop+jwt', alg => $alg{$kty}, jwk => $key->{public} },
        payload => { jti => $jti, htm => 'GET', iat => 1_800_000_000 + $n,
                     htu => 'https://as.test/oauth/userinfo',
                     ath => encode_base64url(sha256($token)) },
    } });

    my %question = (proof => $proof, method => 'GET', token => $token,
                    htu => 'https://AS.test:443/oauth/userinfo?x',
                    now => 1_800_000_000);

    my $got = $ours->ask({ dpop => \%question });

    push @{ $wrong{taken} }, $got
        if ($got->{jkt} // '') ne $key->{thumbprint}
           || $got->{iat} != 1_800_000_000 + $n
           || !!$got->{stale} != ($n > 60)
           || $got->{once} ne encode_base64url(sha256(
                  decode_base64url($key->{thumbprint}) . $jti));

    push @{ $wrong{refused} }, $proof
        if grep { !defined $ours->ask({ dpop => { %question, %$_ } })->{error} }
                { method => 'POST' }, { htu => 'https://as.test/oauth/token' },
                { token => "$token." }, { proof => damaged($proof, 2) };
}

is_deeply(\%wrong, {}, 'DPoP proofs of others are good for us');

is($ours->end, 0, 'no sanitizer has complained');

done_testing();
