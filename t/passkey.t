#!/usr/bin/perl

# Passkeys of a software authenticator: registered in a session, and used to
# sign in.

use strict;
use warnings;
use utf8;

use Digest::SHA qw(sha256_hex);
use FindBin;
use JSON::PP ();
use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Authenticator;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(enrolled policy burst);
use SvcTest::Passkey qw(register sign_in options challenge);

my $ROOT = "$FindBin::Bin/..";
my $ORIGIN = 'http://localhost';
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

my %SVC = (svc_sign_in => 'on', svc_base_url => $ORIGIN,
           svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000',
                        'RATE_LIMIT_LOGIN_EMAIL_MAX 100' ]);

my $s = SvcTest->new(svc => { %SVC })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test',
                        displayName => 'Ada', role => 'owner');
my $bob = with_password($s, $acme, userName => 'bob@acme.test');
my $eve = with_password($s, $globex, userName => 'eve@globex.test');


sub browser { return SvcTest::Browser->new($s, @_) }

sub authenticator { return SvcTest::Authenticator->new($ROOT, $ORIGIN) }


sub signed_in {
    my ($email, $tenant) = @_;

    my $b = browser(tenant => $tenant // 'acme');

    is($b->login($email)->status, 200, "$email signs in");

    return $b;
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


sub none_of {
    my ($user) = @_;

    $s->sql("DELETE FROM svc.factor WHERE user_id = '$user->{id}'");
}


sub handle {
    my ($tenant, $user) = @_;

    my $hex = "$tenant->{id}$user->{id}" =~ tr/-//dr;

    return encode_base64url(pack 'H*', $hex);
}


# --- registration ------------------------------------------------------------

my $keys = authenticator();
my $b = signed_in('ada@acme.test');
my $r = $b->post('/v1/mfa/passkeys/options', {});

is($r->status, 200, 'options') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'are not stored');

my $options = $r->json;

like($options->{expiresAt}, $TIME, 'until when');

my $public = $options->{publicKey};

like(delete $public->{challenge}, qr/\A[\w-]{43}\z/, 'a challenge');
is_deeply($public, {
    rp => { id => 'localhost', name => 'Acme' },
    user => { id => handle($acme, $ada), name => 'ada@acme.test',
              displayName => 'Ada' },
    timeout => 300000,
    pubKeyCredParams => [ map { { type => 'public-key', alg => $_ } }
                              -7, -8, -35, -257 ],
    excludeCredentials => [],
    authenticatorSelection => { residentKey => 'required',
                                requireResidentKey => $TRUE,
                                userVerification => 'required' },
    attestation => 'none' }, 'what the browser is asked for')
    or diag(explain($public));

my $old = $b->cookie;

$r = register($b, $keys, transports => [ 'internal', 'hybrid', 'telepathy' ],
              more => { name => 'Büro' });
is($r->status, 201, 'a passkey') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'which is not stored');

my $new = $r->json;
my $factor = $new->{factor};

like($factor->{id}, $UUID, 'its id');
like($factor->{createdAt}, $TIME, 'its time');
is_deeply([ @$factor{qw(type name lastUsedAt confirmed backedUp)} ],
          [ 'passkey', 'Büro', undef, $TRUE, $FALSE ], 'the factor');
is(scalar @{ $new->{recoveryCodes} }, 10, 'recovery codes with the first one');
isnt($b->cookie, $old, 'the session goes on with another key');
is($b->get('/v1/mfa/factors')->json->{factors}[0]{id}, $factor->{id}, 'listed');
is($b->get('/v1/auth/session')->json->{mfa}{enrolled}, $TRUE, 'enrolled');

my ($added) = events('mfa.factor_added');

is_deeply($added, { factorId => $factor->{id}, type => 'passkey', name => 'Büro' },
          'audited');

$public = options($b, '/v1/mfa/passkeys/options');
is_deeply([ map { $_->{transports} } @{ $public->{excludeCredentials} } ],
          [ [ 'hybrid', 'internal' ] ], 'the browser is told of it');
is(eval { $keys->answer($public); 1 }, undef, 'and makes no other one');

my $second = authenticator();

$r = register($b, $second, alg => -8, be => 1, bs => 1, counter => 5);
is($r->status, 201, 'another one') or diag($r->body);
is($r->json->{recoveryCodes}, undef, 'without codes');
is_deeply([ @{ $r->json->{factor} }{qw(name backedUp)} ], [ 'Passkey', $TRUE ],
          'its name');


# the methods of the newest session

sub methods {
    return $s->sql('SELECT methods FROM svc.session ORDER BY created_at DESC LIMIT 1');
}


# --- signing in --------------------------------------------------------------

my $in = browser();

$r = $in->post('/v1/auth/passkey/options', {});
is($r->status, 200, 'options') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'are not stored');
$public = $r->json->{publicKey};
like(delete $public->{challenge}, qr/\A[\w-]{43}\z/, 'a challenge');
is_deeply($public, { rpId => 'localhost', allowCredentials => [],
                     userVerification => 'required', timeout => 300000 },
          'that names nobody');
is($s->sql('SELECT count(*) FROM svc.challenge_used'), 2, 'nothing is written');

$r = sign_in($in, $keys);
is($r->status, 200, 'signed in, and nobody has said who') or diag($r->body);
is($r->json->{user}{id}, $ada->{id}, 'as the one of the passkey');
is($r->json->{tenant}{slug}, 'acme', 'of its tenant');
like($r->json->{mfa}{verifiedAt}, $TIME, 'with a second factor');
is($r->header('Cache-Control'), 'no-store', 'which is not stored');
is($in->get('/v1/auth/session')->status, 200, 'a session');
is_deeply($in->get('/v1/auth/sessions')->json->{sessions}[0]{methods},
          [ 'passkey' ], 'its methods');
is(methods(), '{passkey,hwk}', 'of a passkey that cannot be backed up');
is_deeply((events('user.login'))[-1], { score => 0, signals => [], methods => [ 'passkey' ] },
          'audited');
is_deeply($r->json->{mfa}{methods}, [ qw(passkey recovery) ], 'what the user has');
like((grep { $_->{id} eq $factor->{id} }
      @{ $in->get('/v1/mfa/factors')->json->{factors} })[0]{lastUsedAt}, $TIME,
     'when it was used');
is($in->post('/v1/mfa/totp', {})->status, 201, 'fresh enough to add a factor');

$r = sign_in($in, $second, bs => 0, more => { tenant => 'acme' });
is($r->status, 200, 'with the other one') or diag($r->body);
is(methods(), '{passkey}', 'which can be backed up');
is($s->sql("SELECT concat(sign_count, bs) FROM svc.passkey WHERE alg = -8"), '6f',
   'what has been counted');

for my $alg (-35, -257) {
    my $a = authenticator();

    none_of($bob);
    is(register(signed_in('bob@acme.test'), $a, alg => $alg)->status, 201,
       "of algorithm $alg");
    is(sign_in(browser(), $a)->status, 200, 'signs in');
}


# --- not twice ---------------------------------------------------------------

my $credential = $keys->answer(options($in, '/v1/auth/passkey/options'));

is($in->post('/v1/auth/passkey/verify', { credential => $credential })->status,
   200, 'once');
admin_error($in->post('/v1/auth/passkey/verify', { credential => $credential }),
            401, 'invalid_credentials', 'twice');

$credential = $keys->answer(options($in, '/v1/auth/passkey/options'));

my @at_once = burst(browser(), 8, '/v1/auth/passkey/verify',
                    { credential => $credential });

is_deeply([ sort map { $_->status } @at_once ], [ 200, (401) x 7 ],
          'one of eight at once');

my $stale = challenge($s, 'signin', 'localhost', 290);

is($in->post('/v1/auth/passkey/verify',
             { credential => $keys->answer({ rpId => 'localhost',
                                             challenge => $stale }) })->status,
   200, 'just in time');

$stale = challenge($s, 'signin', 'localhost', 301);

admin_error($in->post('/v1/auth/passkey/verify',
                      { credential => $keys->answer({ rpId => 'localhost',
                                                      challenge => $stale }) }),
            400, 'challenge_expired', 'too late');


# --- other conditions of a sign-in -------------------------------------------

admin_error(sign_in($in, $keys, more => { tenant => 'globex' }), 401,
            'invalid_credentials', 'of another tenant');
admin_error(sign_in($in, $keys, more => { tenant => 'nobody' }), 401,
            'invalid_credentials', 'of no tenant');
admin_error($in->post('/v1/auth/passkey/verify', { credential => 'x' }), 400,
            'invalid_request', 'no credential');
admin_error($in->post('/v1/auth/passkey/verify', {}), 400, 'invalid_request',
            'none at all');
admin_error($in->post('/v1/auth/passkey/verify',
                      { credential => {}, tenant => 'A/B' }), 400,
            'invalid_request', 'no slug');
admin_error($in->post('/v1/auth/passkey/options', {}, Origin => 'https://evil'),
            403, 'csrf_failed', 'of another page');

$s->sql("UPDATE svc.user_account SET failed_logins = 10, failed_since = now(),"
        . " locked_until = now() + interval '1 hour' WHERE id = '$ada->{id}'");
admin_error(browser(tenant => 'acme')->login('ada@acme.test'), 429,
            'account_locked', 'locked, for the password');
is(sign_in(browser(), $keys)->status, 200, 'a passkey is not guessed');
is($s->sql("SELECT concat(failed_logins, locked_until > now()) FROM svc.user_account"
           . " WHERE id = '$ada->{id}'"), '10t', 'and ends no lock');
$s->sql("UPDATE svc.user_account SET failed_logins = 0, failed_since = NULL,"
        . " locked_until = NULL WHERE id = '$ada->{id}'");

policy($acme, 'mfa');
is(sign_in(browser(), $keys)->status, 200, 'it is a second factor, too');
$acme->admin(PUT => '/access-policy', {
    rules => [ { name => 'There', networks => [ '127.0.0.9/32' ],
                 action => 'deny', enabled => $TRUE } ],
    defaultAction => 'allow' }, [], $acme->token_for('tenant:manage'));
admin_error(sign_in(browser(local => '127.0.0.9'), $keys), 403, 'access_denied',
            'the policy denies');
is_deeply([ map { $_->{reason} } (events('user.login_failed'))[-1] ], [ 'policy' ],
          'audited');
policy($acme, 'allow');

$s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ('$acme->{id}', '127.0.0.1')");
admin_error(sign_in(browser(), $keys), 403, 'access_denied', 'a blocked address');
$s->sql('DELETE FROM svc.ip_block');

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'");
admin_error(sign_in(browser(), $keys), 403, 'access_denied', 'a suspended tenant');
admin_error(browser()->post('/v1/auth/passkey/options', { tenant => 'acme' }), 403,
            'access_denied', 'nor are there options');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE id = '$acme->{id}'");

for my $status (qw(suspended deactivated)) {
    $s->sql("UPDATE svc.user_account SET status = '$status' WHERE id = '$ada->{id}'");
    admin_error(sign_in(browser(), $keys), 401, 'invalid_credentials', $status);
    is((events('user.login_failed'))[-1]{reason}, 'inactive', 'audited');
}

$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$ada->{id}'");
is(sign_in(browser(), $keys)->status, 200, 'active again');


# --- registrations that are refused ------------------------------------------

$b = browser();
is(sign_in($b, $keys)->status, 200, 'a session that is fresh');

admin_error($b->post('/v1/mfa/passkeys', { credential => 'x' }), 400,
            'invalid_request', 'no credential');
admin_error($b->post('/v1/mfa/passkeys', { credential => {}, name => 'x' x 65 }),
            400, 'invalid_request', 'too long a name');

my $taken = $factor->{id}
    && $s->sql('SELECT encode(credential_id, \'hex\') FROM svc.passkey'
               . " WHERE factor_id = '$factor->{id}'");
none_of($bob);

my $w = signed_in('bob@acme.test');

admin_error(register($w, authenticator(),
                     id => encode_base64url(pack 'H*', $taken)),
            409, 'conflict', "an id that is another user's");
is($w->get('/v1/mfa/factors')->json->{factors}[0], undef, 'nothing is left of it');

my $other = signed_in('eve@globex.test', 'globex');

is(register($other, authenticator(), id => encode_base64url(pack 'H*', $taken))
   ->status, 201, 'or may be of another tenant');

$credential = authenticator()->answer(options($w, '/v1/mfa/passkeys/options'));
is($w->post('/v1/mfa/passkeys', { credential => $credential })->status, 201, 'once');
admin_error($w->post('/v1/mfa/passkeys', { credential => $credential }), 400,
            'invalid_request', 'the session has another id since');

admin_error(do {
    my $o = options($b, '/v1/mfa/passkeys/options');
    $w->post('/v1/mfa/passkeys', { credential => authenticator()->answer($o) });
}, 400, 'invalid_request', "another session's challenge");

admin_error(do {
    my $o = options($b, '/v1/auth/passkey/options');
    $b->post('/v1/mfa/passkeys', { credential => authenticator()->answer(
        { %{ options($b, '/v1/mfa/passkeys/options') },
          challenge => $o->{challenge} }) });
}, 400, 'invalid_request', "a sign-in's challenge");

$s->sql(<<"EOT");
INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)
SELECT '$acme->{id}', '$bob->{id}', gen_random_uuid(), 'passkey', 'p', now()
FROM generate_series(1, 19)
EOT
admin_error($w->post('/v1/mfa/passkeys/options', {}), 400, 'limit_exceeded',
            'twenty are enough');


# --- enrolment while signing in ----------------------------------------------

none_of($bob);
policy($acme, 'mfa');

my $enrolling = browser(tenant => 'acme');

admin_error($enrolling->login('bob@acme.test'), 403, 'mfa_enrollment_required',
            'a factor is wanted');
$r = register($enrolling, my $bobs = authenticator());
is($r->status, 201, 'a passkey') or diag($r->body);
is($enrolling->get('/v1/auth/session')->json->{user}{email}, 'bob@acme.test',
   'completes the sign-in');
is(sign_in(browser(), $bobs)->status, 200, 'and does alone, next time');
policy($acme, 'allow');

done_testing();
