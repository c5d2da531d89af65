#!/usr/bin/perl

# Shows second factors in sign-ins, and step-ups: what is answered, how often a code
# may be guessed, and what a step-up allows.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled policy burst);
use SvcTest::Process qw(wait_for);

my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 1000',
    'LOGIN_LOCKOUT_MAX 10' ] })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);


sub browser {
    my ($tenant) = @_;

    return SvcTest::Browser->new($s, tenant => $tenant // 'acme');
}


sub user {
    my ($name, %opt) = @_;

    my $b = browser();

    with_password($s, $acme, userName => "$name\@acme.test", %opt);
    is($b->login("$name\@acme.test")->status, 200, "$name signs in");

    return ($b, "$name\@acme.test");
}


sub with_factor {
    my ($name, %opt) = @_;

    my ($b, $email) = user($name, %opt);

    return ($b, $email, enrolled($b));
}


# Returns a session that waits for the factor.

sub waiting {
    my ($email) = @_;

    my $b = browser();

    admin_error($b->login($email), 403, 'step_up_required', "$email is asked for more");

    return $b;
}


sub row {
    my ($email, $columns) = @_;

    my @rows = $s->sql("SELECT $columns FROM svc.user_account WHERE user_name = '$email'");

    return ref $rows[0] ? @{ $rows[0] } : @rows;
}


sub code { return { code => totp($_[0]{secret}, $_[1]) } }
sub wrong { return { code => sprintf '%06d', (totp($_[0]{secret}) + 333_333) % 1_000_000 } }


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


# --- a sign-in in two steps --------------------------------------------------------

my ($ada, $email, $factor) = with_factor('ada', role => 'owner');
my $logins = events('user.login');
my $b = waiting($email);

is($b->{cookies}{svc_device}, undef, 'the device is not known yet');
admin_error($b->ask(@$_), 403, 'step_up_required', "@$_[0, 1]: waits")
    for [ GET => '/v1/auth/session' ], [ GET => '/v1/admin/tenant' ],
        [ GET => '/v1/mfa/factors' ], [ POST => '/v1/mfa/totp', {} ],
        [ POST => '/v1/mfa/recovery-codes' ],
        [ DELETE => "/v1/mfa/factors/$factor->{id}" ],
        [ PATCH => '/v1/admin/tenant', { name => 'Changed' } ];

my $r = $b->post('/v1/mfa/challenge', {});

is($r->status, 200, 'a challenge') or diag($r->body);

my $challenge = $r->json;

like($challenge->{challengeId}, $UUID, 'its id');
like($challenge->{expiresAt}, $TIME, 'its end');
is_deeply([ @$challenge{qw(method methods attemptsLeft emailHint publicKey)} ],
          [ 'totp', [ qw(totp recovery) ], 5, undef, undef ], 'what it asks for');

my $again = $b->post('/v1/mfa/challenge', { method => 'recovery' })->json;

is($again->{method}, 'recovery', 'another method');
is_deeply([ @$again{qw(challengeId expiresAt)} ],
          [ @$challenge{qw(challengeId expiresAt)} ], 'of the same challenge');

admin_error($b->post('/v1/mfa/step-up', wrong($factor)), 401, 'invalid_code', 'a wrong code');
is($b->post('/v1/mfa/challenge', {})->json->{attemptsLeft}, 4, 'four are left');
is_deeply([ row($email, 'failed_logins') ], [ 1 ], 'it counts as a failure');
is_deeply([ map { $_->{method} } events('mfa.challenge_failed') ], [ 'totp' ], 'audited');

my $before = $b->{cookies}{svc_session};

my $used = code($factor);

$r = $b->post('/v1/mfa/step-up', { challengeId => $challenge->{challengeId},
                                   %$used });
is($r->status, 200, 'the right one') or diag($r->body);
is($r->json->{user}{email}, $email, 'is a session');
is($r->json->{csrfToken}, $b->{csrf}, 'with its token');
like($r->json->{mfa}{verifiedAt}, $TIME, 'with a second factor');
isnt($b->{cookies}{svc_session}, $before, 'under another key');
ok($b->{cookies}{svc_device}, 'the device is known');
is($b->get('/v1/admin/tenant')->status, 200, 'it may all that its role may');
is_deeply($b->get('/v1/auth/sessions')->json->{sessions}[0]{methods},
          [ qw(password totp) ], 'how it has signed in');
is(events('user.login') - $logins, 1, 'one sign-in is in the log');
is_deeply((events('user.login'))[-1]{methods}, [ qw(password totp) ], 'and how');
is_deeply($r->json->{mfa}{methods}, [ qw(totp recovery) ], 'what else would have done');
is_deeply([ row($email, 'failed_logins') ], [ 0 ], 'failures are forgotten');
is($s->sql("SELECT count(*) FROM svc.user_device WHERE trusted_until > now()"
           . " + interval '29 days'"), 1, 'the device is trusted');

admin_error(waiting($email)->post('/v1/mfa/step-up', $used), 401, 'invalid_code',
            'a code is used once');
admin_error(waiting($email)->post('/v1/mfa/step-up', code($factor, -2)), 401,
            'invalid_code', 'and not two steps late');


# --- codes of another form --------------------------------------------------------

$b = waiting($email);

my ($failed) = row($email, 'failed_logins');

admin_error($b->post('/v1/mfa/step-up', $_->[1]), 400, 'invalid_request', $_->[0])
    for [ 'nothing', {} ], [ 'seven digits', { code => '1234567' } ],
        [ 'Arabic digits', { code => "\x{661}\x{662}\x{663}\x{664}\x{665}\x{666}" } ],
        [ 'a number', { code => 123456 } ], [ 'both', { code => '123456', password => 'x' } ],
        [ 'no such method', { code => '123456', method => 'sms' } ],
        [ 'another method', { code => '123456', method => 'recovery' } ],
        [ 'a recovery code as', { code => 'k7f2m-9xq4t', method => 'totp' } ];
is_deeply([ row($email, 'failed_logins') ], [ $failed ], 'are no failures');
is($b->post('/v1/mfa/challenge', {})->json->{attemptsLeft}, 5, 'and no attempts');


# --- recovery codes -----------------------------------------------------------------

$r = $b->post('/v1/mfa/step-up', { code => uc($factor->{codes}[0]) =~ s/-//r });
is($r->status, 200, 'a recovery code, as somebody types it') or diag($r->body);
is($b->get('/v1/mfa/factors')->json->{recoveryCodesLeft}, 9, 'nine are left');
admin_error(waiting($email)->post('/v1/mfa/step-up', { code => $factor->{codes}[0] }),
            401, 'invalid_code', 'it is used once');

$b = waiting($email);

my @parallel = burst($b, 4, '/v1/mfa/step-up', { code => $factor->{codes}[1] });

is(scalar(grep { $_->status == 200 } @parallel), 1, 'by one of several at the same time');


# --- five attempts ------------------------------------------------------------------

sub exhausted {
    my ($b, $factor) = @_;

    admin_error($b->post('/v1/mfa/step-up', wrong($factor)), 401, 'invalid_code',
                "wrong: $_") for 1 .. 5;
}

sub forgive {
    $s->sql('UPDATE svc.user_account SET failed_logins = 0, locked_until = NULL');
}

forgive();
$b = waiting($email);
exhausted($b, $factor);
admin_error($b->post('/v1/mfa/step-up', code($factor, 1)), 400, 'challenge_expired',
            'the right one comes too late');
admin_error($b->get('/v1/auth/session'), 401, 'unauthenticated', 'the session is over');
is($b->{cookies}{svc_session}, undef, 'and its cookie is deleted');

# In a full session only the challenge ends.

forgive();

my $full = $ada;

exhausted($full, $factor);
admin_error($full->post('/v1/mfa/step-up', code($factor, 1)), 400, 'challenge_expired',
            'likewise');
is($full->get('/v1/auth/session')->status, 200, 'a full session goes on');
is($full->post('/v1/mfa/challenge', {})->json->{attemptsLeft}, 5, 'and may ask again');

# Fifty guesses at the same time.

forgive();
$b = waiting($email);

my %seen;

$seen{ join ' ', $_->status, $_->json->{error}{code} }++
    for burst($b, 50, '/v1/mfa/step-up', wrong($factor));

is_deeply([ row($email, 'failed_logins') ], [ 5 ], 'five of fifty are compared');
is($seen{'400 challenge_expired'} > 0 && ($seen{'401 invalid_code'} // 0) <= 5, 1,
   'the others are too many') or diag(explain(\%seen));
is((grep { !/^40[01] (?:challenge_expired|invalid_code|unauthenticated)$/ } keys %seen), 0,
   'and nothing else is said');
admin_error($b->get('/v1/auth/session'), 401, 'unauthenticated', 'the session is over');

# A full session's challenge is used up, and the session goes on.

forgive();
policy($acme, 'allow');
%seen = ();
$s->sql('DELETE FROM svc.challenge');
$seen{ join ' ', $_->status, $_->json->{error}{code} }++
    for burst($full, 50, '/v1/mfa/step-up', wrong($factor));
is_deeply(\%seen, { '401 invalid_code' => 5, '400 challenge_expired' => 45 },
          'five of fifty, and 45');
is_deeply([ row($email, 'failed_logins') ], [ 5 ], 'five have failed');
$s->sql('DELETE FROM svc.challenge');

# A challenge of another session, and one that has expired.

forgive();
$b = waiting($email);
$challenge = $b->post('/v1/mfa/challenge', {})->json;
admin_error($full->post('/v1/mfa/step-up', { challengeId => $challenge->{challengeId},
                                             %{ code($factor, 1) } }),
            400, 'challenge_expired', 'of another session');
admin_error($full->post('/v1/mfa/step-up', { challengeId => 'x', %{ code($factor, 1) } }),
            400, 'challenge_expired', 'of none');
$s->sql("UPDATE svc.challenge SET expires_at = now() - interval '1 ms'");
admin_error($b->post('/v1/mfa/step-up', { challengeId => $challenge->{challengeId},
                                          %{ code($factor, 1) } }),
            400, 'challenge_expired', 'of five minutes ago');
admin_error($b->get('/v1/auth/session'), 401, 'unauthenticated', 'with the session');
$s->sql("UPDATE svc.challenge SET expires_at = now() - interval '2 hours'");
$s->sql('SELECT svc.sign_in_expire(1000, 900)');
is($s->sql('SELECT count(*) FROM svc.challenge'), 0, 'then it goes');


# --- guessing with a known password --------------------------------------------------

forgive();
exhausted(waiting($email), $factor);
is_deeply([ row($email, 'failed_logins') ], [ 5 ], 'the password takes none of it back');

$b = waiting($email);
admin_error($b->post('/v1/mfa/step-up', wrong($factor)), 401, 'invalid_code', "again: $_")
    for 1 .. 4;
$r = $b->post('/v1/mfa/step-up', wrong($factor));
admin_error($r, 429, 'account_locked', 'the tenth');
cmp_ok($r->header('Retry-After'), '<=', 900, 'for a quarter of an hour');
is(scalar events('user.locked'), 1, 'which is in the log');
admin_error($full->post('/v1/mfa/step-up', code($factor, 1)), 429, 'account_locked',
            'no session may guess');
is($full->get('/v1/auth/session')->status, 200, 'though it goes on');
admin_error(browser()->login($email), 429, 'account_locked', 'and nobody signs in');
forgive();


# --- a password in place of a factor --------------------------------------------------

my ($bob, $bobs) = user('bob');

is_deeply([ @{ $bob->post('/v1/mfa/challenge', {})->json }{qw(method methods)} ],
          [ 'password', [ 'password' ] ], 'who has no factor shows the password');
$s->sql('UPDATE svc.session SET reauth_at = NULL');
admin_error($bob->post('/v1/mfa/totp', {}), 403, 'step_up_required', 'a stale session');
admin_error($bob->post('/v1/mfa/step-up', { password => 'wrong' }), 401, 'invalid_code',
            'a wrong one');
is_deeply([ row($bobs, 'failed_logins') ], [ 1 ], 'is a failure');
is($bob->post('/v1/mfa/step-up', { password => $PASSWORD })->status, 200, 'the right one');
is_deeply([ row($bobs, 'failed_logins') ], [ 1 ], 'is no sign-in that is complete');
is($bob->post('/v1/mfa/totp', {})->status, 201, 'a fresh session');
admin_error($full->post('/v1/mfa/step-up', { password => $PASSWORD }), 401, 'invalid_code',
            'of who has one a password is nothing');


# --- what a session waits for, in order -----------------------------------------------

my ($eve, $eves) = user('eve');
my $old = $eve->{cookies}{svc_session};

policy($acme, 'mfa');
admin_error($eve->login($eves), 403, 'mfa_enrollment_required', 'a factor is to come');
is_deeply($eve->get('/v1/mfa/factors')->json, { factors => [], recoveryCodesLeft => 0 },
          'there is none');
admin_error($eve->post($_, {}), 403, 'mfa_enrollment_required', "$_ does not do")
    for '/v1/mfa/challenge', '/v1/mfa/step-up';
$logins = events('user.login');

my $eves_factor = enrolled($eve);

is(scalar @{ $eves_factor->{codes} }, 10, 'it comes, with codes');
is($eve->get('/v1/auth/session')->status, 200, 'and completes the sign-in');
ok($eve->{cookies}{svc_device}, 'of this device');
is(events('user.login') - $logins, 1, 'which is in the log');
is_deeply((events('user.login'))[-1]{methods}, [ qw(password totp) ], 'with both');
policy($acme, 'allow');

$s->sql("UPDATE svc.governance SET max_age_days = 30 WHERE tenant_id = '$acme->{id}'");
$s->sql("UPDATE svc.password SET set_at = now() - interval '31 days'");
$eve = waiting($eves);
admin_error($eve->post('/v1/mfa/step-up', code($eves_factor)), 403, 'password_expired',
            'then the password');
admin_error($eve->post('/v1/mfa/challenge', {}), 403, 'password_expired', 'and no factor');
$s->secret('a quiet harbour before seven');
is($eve->post('/v1/auth/password', { newPassword => 'a quiet harbour before seven' })
   ->status, 200, 'which completes it');
is($eve->get('/v1/auth/session')->status, 200, 'all is done');
is_deeply((events('user.login'))[-1]{methods}, [ qw(password totp) ], 'in the log, at the end');

$s->done;
done_testing();
