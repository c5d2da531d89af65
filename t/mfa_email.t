#!/usr/bin/perl

# Shows mailed codes as a second factor, and that a sign-in that waits for its first
# factor adds one only when it has proved the address.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled policy burst);
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);

my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $CHALLENGE = '/v1/mfa/challenge';
my $STEP_UP = '/v1/mfa/step-up';

my %SVC = (svc_sign_in => 'on', svc_password_hash => 'memory=7m iterations=1', svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 1000',
    'LOGIN_LOCKOUT_MAX 50' ]);
my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s, %SVC);

$s->start;

my $plain = $s->node(svc => { %SVC });
my $acme = $s->tenant('acme');
my $mails = 0;

$s->secret($PASSWORD);


sub browser { return SvcTest::Browser->new($s, tenant => 'acme') }


sub user {
    my ($name) = @_;

    my $user = with_password($s, $acme, userName => "$name\@acme.test");

    $s->sql("UPDATE svc.user_account SET source = 'local' WHERE id = '$user->{id}'");

    return ("$name\@acme.test", $user->{id});
}


sub signed_in {
    my ($email, $code) = @_;

    my $b = browser();
    my $r = $b->login($email);

    $code ? admin_error($r, 403, $code, "$email waits: $code")
          : is($r->status, 200, "$email signs in");

    return $b;
}


# Moves all times an hour back for the limit of mails.

sub later {
    $s->sql("UPDATE svc.email_challenge SET created_at = created_at - interval '1 h'");
}


# Returns the mails with codes; other mails tell what has changed.

sub codes { return grep { ($_->{plain} // '') =~ /^\s*\d{6}\r?$/m } $mail->events('mail') }


# Expects a mail, and returns its code.

sub mailed {
    my ($r, $to, $name) = @_;

    like($r->status, qr/\A20[02]\z/, "$name: a mail") or diag($r->body);

    wait_for { codes() > $mails };

    my $got = (codes())[$mails++] // {};

    is_deeply($got->{to}, [ $to ], "$name: to whom");

    my ($code) = ($got->{plain} // '') =~ /^\s*(\d{6})\r?$/m;

    return $code;
}


sub code { return { code => "$_[0]", @_[1 .. $#_] } }
sub wrong { return code(sprintf('%06d', (0 + $_[0] + 1) % 1_000_000), @_[1 .. $#_]) }


sub challenge {
    my ($b, $to, $name) = @_;

    later();

    return mailed($b->post($CHALLENGE, { method => 'email' }), $to, $name);
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


# --- adding the factor ------------------------------------------------------------

my ($email, $id) = user('ada');
my $ada = signed_in($email);
my $other = signed_in($email);

$s->sql("UPDATE svc.user_account SET email_verified = false WHERE id = '$id'");
admin_error($ada->post('/v1/mfa/email'), 400, 'invalid_request',
            'an address that is not verified');
$s->sql("UPDATE svc.user_account SET email_verified = true WHERE id = '$id'");

my $r = $ada->post('/v1/mfa/email');
my $code = mailed($r, $email, 'a factor');
my $factor = $r->json;

is($r->status, 202, 'it is accepted');
is_deeply([ sort keys %$factor ], [ qw(expiresAt id) ], 'what it says');
like($factor->{id}, $UUID, 'an id');
like($factor->{expiresAt}, $TIME, 'until when');
is($ada->get('/v1/auth/session')->json->{mfa}{enrolled}, JSON::PP::false,
   'it does not count yet');

my $confirm = "/v1/mfa/email/$factor->{id}/confirm";

admin_error($ada->post('/v1/mfa/email'), 429, 'rate_limited', 'another one at once');
admin_error($other->post($confirm, code($code)), 400, 'challenge_expired',
            'the code of another session');
admin_error($ada->post('/v1/mfa/email/x/confirm', code($code)), 404, 'not_found',
            'of no factor');
admin_error($ada->post("/v1/mfa/totp/$factor->{id}/confirm", code($code)), 404,
            'not_found',
            'of another kind');
admin_error($ada->post($confirm, { code => '12345' }), 400, 'invalid_request', 'no code');
admin_error($ada->post($confirm, wrong($code)), 401, 'invalid_code', 'a wrong one');

my $before = $ada->{cookies}{svc_session};

$r = $ada->post($confirm, code($code));
is($r->status, 200, 'the right one') or diag($r->body);
is($r->json->{factor}{type}, 'email', 'its type');
is($r->json->{factor}{confirmed}, JSON::PP::true, 'it counts');
is(scalar @{ $r->json->{recoveryCodes} }, 10, 'with recovery codes');
isnt($ada->{cookies}{svc_session}, $before, 'the session goes on under another key');
is_deeply([ map { $_->{type} } events('mfa.factor_added') ], [ 'email' ], 'audited');
is_deeply([ map { $_->{type} } @{ $ada->get('/v1/mfa/factors')->json->{factors} } ],
          [ 'email' ], 'it is listed');
is_deeply($ada->get('/v1/auth/session')->json->{mfa}{methods}, [ qw(email recovery) ],
          'and offered');
later();
admin_error($ada->post('/v1/mfa/email'), 409, 'conflict', 'one is enough');
admin_error($ada->post($confirm, code($code)), 404, 'not_found', 'it is confirmed once');


# --- at a sign-in -----------------------------------------------------------------

my $b = signed_in($email, 'step_up_required');

later();
$r = $b->post($CHALLENGE, {});
$code = mailed($r, $email, 'a challenge');
is_deeply([ @{ $r->json }{qw(method methods attemptsLeft emailHint publicKey)} ],
          [ 'email', [ qw(email recovery) ], 5,
              "a\x{2022}\x{2022}\x{2022}\@acme.test", undef ],
          'what it asks for');
cmp_ok($s->sql('SELECT max(expires_at) - now() > interval \'9 min\' FROM svc.challenge'), 'eq',
       't', 'for ten minutes');

my $again = $b->post($CHALLENGE, { method => 'email' })->json;

is($again->{challengeId}, $r->json->{challengeId}, 'again, it is the same');
ok((wait_for { $mail->pending == 0 }), 'nothing is left');
is(scalar(codes()), $mails, 'with no other mail');
admin_error($b->post($STEP_UP, wrong($code)), 401, 'invalid_code', 'a wrong code');
is_deeply([ map { $_->{method} } events('mfa.challenge_failed') ], [ 'email' ],
          'audited');

my $theirs = signed_in($email, 'step_up_required');

admin_error($theirs->post($STEP_UP, code($code)), 401, 'invalid_code',
            'the code of another session');

my @parallel = burst($b, 3, $STEP_UP, code($code));

is(scalar(grep { $_->status == 200 } @parallel), 1, 'the right one is good once');
$b->keep($_) for grep { $_->status == 200 } @parallel;
is($b->get('/v1/auth/session')->json->{user}{email}, $email, 'and completes the sign-in');
is_deeply($b->get('/v1/auth/sessions')->json->{sessions}[0]{methods},
          [ qw(password email) ],
          'how it has signed in');
ok($s->sql('SELECT last_used_at IS NOT NULL FROM svc.factor') eq 't',
   'the factor was used');

# A code is sent again: the newest one counts, and the attempts are not reset.

$b = signed_in($email, 'step_up_required');

my $first = challenge($b, $email, 'first');

admin_error($b->post($STEP_UP, wrong($first, method => 'email')), 401, 'invalid_code',
            'wrong');

my $second = challenge($b, $email, 'again');

is($b->post($CHALLENGE, { method => 'recovery' })->json->{attemptsLeft}, 4,
   'four are left');
admin_error($b->post($STEP_UP, code($first)), 401, 'invalid_code',
            'the first one is over')
    if $first ne $second;
is($b->post($STEP_UP, code($second, method => 'email'))->status, 200,
   'the second one is good');


# --- guesses ----------------------------------------------------------------------

$b = signed_in($email, 'step_up_required');
$code = challenge($b, $email, 'to be guessed');
admin_error($b->post($STEP_UP, wrong($code)), 401, 'invalid_code', "guess $_") for 1 .. 5;
admin_error($b->post($STEP_UP, code($code)), 400, 'challenge_expired', 'the sixth');
admin_error($b->get('/v1/auth/session'), 401, 'unauthenticated', 'the session is over');

my $full = signed_in($email, 'step_up_required');
$code = challenge($full, $email, 'a sign-in');
is($full->post($STEP_UP, code($code))->status, 200, 'is complete');
$code = challenge($full, $email, 'many guesses');

my %seen;

$seen{ join ' ', $_->status, $_->json->{error}{code} }++
    for burst($full, 30, $STEP_UP, wrong($code));
is_deeply(\%seen, { '401 invalid_code' => 5, '400 challenge_expired' => 25 },
          'of thirty at once five are compared');
admin_error($full->post($STEP_UP, code($code)), 400, 'challenge_expired', 'that was all');
is($full->post($CHALLENGE, { method => 'recovery' })->json->{attemptsLeft}, 5,
   'a full session may ask again');
admin_error($full->post($STEP_UP, code($code)), 401, 'invalid_code',
            'for which the old code is not good');

$s->sql('DELETE FROM svc.challenge');
$code = challenge($full, $email, 'too old');
$s->sql("UPDATE svc.email_challenge SET expires_at = now() - interval '1 ms'");
admin_error($full->post($STEP_UP, code($code)), 401, 'invalid_code', 'after ten minutes');
$s->sql("UPDATE svc.challenge SET expires_at = now() - interval '1 ms'");

my $asked = $full->post($CHALLENGE, { method => 'recovery' })->json->{challengeId};

$s->sql("UPDATE svc.challenge SET expires_at = now() - interval '1 ms'");
admin_error($full->post($STEP_UP, code($code, challengeId => $asked)), 400,
            'challenge_expired', 'nor is its challenge');
$s->sql('UPDATE svc.user_account SET failed_logins = 0, locked_until = NULL');


# --- beside an authenticator app --------------------------------------------------

$code = challenge($full, $email, 'fresh');
is($full->post($STEP_UP, code($code))->status, 200, 'shown');

my $app = enrolled($full);

$b = signed_in($email, 'step_up_required');
later();
is_deeply($b->post($CHALLENGE, {})->json->{methods}, [ qw(totp email recovery) ],
          'the app comes first');
$code = challenge($b, $email, 'by mail');
is($b->post($STEP_UP, code($code))->status, 200, 'a code of either is good');
$b = signed_in($email, 'step_up_required');
challenge($b, $email, 'by mail');
is($b->post($STEP_UP, code(totp($app->{secret})))->status, 200, 'that of the app, too');

# The session began with a mailed link or code.

$s->sql("UPDATE svc.session SET methods = '{email}'");
is_deeply($full->post($CHALLENGE, {})->json->{methods}, [ qw(totp recovery) ],
          'after a mail no other one');
admin_error($full->post($CHALLENGE, { method => 'email' }), 400, 'invalid_request',
            'is offered');
is_deeply($full->get('/v1/auth/session')->json->{mfa}{methods}, [ qw(totp recovery) ],
          'by the session neither');
$s->sql("UPDATE svc.session SET methods = '{password,totp}'");

# The address is no longer verified.

$s->sql("UPDATE svc.user_account SET email_verified = false WHERE id = '$id'");
is_deeply($full->post($CHALLENGE, {})->json->{methods}, [ qw(totp recovery) ],
          'nor is what goes to an address that nobody has shown');
$s->sql("UPDATE svc.user_account SET email_verified = true WHERE id = '$id'");

my $at = sub { return $s->http(@_[0, 1], { Cookie => $full->cookie,
                                           'X-CSRF-Token' => $full->{csrf} }, $_[2],
                               port => $plain->{port}) };

is($at->(POST => '/v1/mfa/email')->status, 404, '404 without svc_mail');
is_deeply($at->(POST => $CHALLENGE, {})->json->{methods}, [ qw(totp recovery) ],
          'where it is not offered');

is($full->ask(DELETE => "/v1/mfa/factors/$factor->{id}")->status, 204, 'it is removed');
is_deeply($full->get('/v1/auth/session')->json->{mfa}{methods}, [ qw(totp recovery) ],
          'and not offered');


# --- the first factor -------------------------------------------------------------

my ($bob, $bob_id) = user('bob');

policy($acme, 'mfa');
$s->sql("UPDATE svc.user_account SET email_verified = false WHERE id = '$bob_id'");
$b = signed_in($bob, 'mfa_enrollment_required');
admin_error($b->post($_->[0], $_->[1]), 403, 'step_up_required',
            "$_->[0]: wants the address")
    for [ '/v1/mfa/totp', {} ], [ '/v1/mfa/passkeys/options', {} ], [ '/v1/mfa/email' ];
admin_error($b->post($STEP_UP, { password => $PASSWORD }), 400, 'invalid_request',
            'a password does not do');
admin_error($b->post($CHALLENGE, { method => 'password' }), 400, 'invalid_request',
            'and is not offered');
admin_error($b->post($STEP_UP, code('123456')), 401, 'invalid_code', 'nor does a guess');
$r = $b->post($CHALLENGE, { method => 'email' });
$code = mailed($r, $bob, 'the proof');
is_deeply([ @{ $r->json }{qw(method methods attemptsLeft emailHint)} ],
          [ 'email', [ 'email' ], 3, "b\x{2022}\x{2022}\x{2022}\@acme.test" ],
          'what it asks for');
$r = $b->post($STEP_UP, code($code));
is($r->status, 200, 'shown') or diag($r->body);
is_deeply($r->json, { proved => JSON::PP::true }, 'it is proved');
admin_error($b->get('/v1/auth/session'), 403, 'mfa_enrollment_required',
            'no more than that');
admin_error($b->post($STEP_UP, code($code)), 403, 'mfa_enrollment_required', 'once');
is(scalar(events('email.verified')), 1, 'the address is verified by it');

$r = $b->post('/v1/mfa/email');
$code = mailed($r, $bob, 'a factor');
$r = $b->post('/v1/mfa/email/' . $r->json->{id} . '/confirm', code($code));
is($r->status, 200, 'and a factor is added') or diag($r->body);
is($b->get('/v1/auth/session')->json->{user}{email}, $bob, 'which completes the sign-in');

# Somebody guesses codes.

my ($eve) = user('eve');

$b = signed_in($eve, 'mfa_enrollment_required');
$code = challenge($b, $eve, 'a thief');
admin_error($b->post($STEP_UP, wrong($code)), 401, 'invalid_code', "guess $_") for 1 .. 5;
admin_error($b->post($CHALLENGE, { method => 'email' }), 400, 'challenge_expired',
            'no other ones');
admin_error($b->post($STEP_UP, code($code)), 401, 'unauthenticated',
            'the session is over');

$b = signed_in($eve, 'mfa_enrollment_required');
$code = challenge($b, $eve, 'who reads the mail');
is($b->post($STEP_UP, code($code))->status, 200, 'proves it');
is(ref enrolled($b), 'HASH', 'and adds an app');
policy($acme, 'allow');

# The risk asks for a second factor.

my ($new) = user('new');

$s->sql("UPDATE svc.governance SET risk_enabled = true, risk_mfa_threshold = 0,"
        . ' risk_deny_threshold = 100');
$b = signed_in($new, 'mfa_enrollment_required');
admin_error($b->post('/v1/mfa/totp', {}), 403, 'step_up_required', 'the same of a risk');
is(SvcTest::Browser->new($s, tenant => 'acme', port => $plain->{port})->login($new)
   ->json->{error}{code}, 'access_denied', 'which is denied without mail');
$s->sql('UPDATE svc.governance SET risk_enabled = false');


# --- clients that leave -----------------------------------------------------------

$ada = signed_in($email, 'step_up_required');
is($ada->post($STEP_UP, code(totp($app->{secret}, 1)))->status, 200, 'by the app');
later();

my $db = $s->connect_as('postgres');

$db->query($_) for 'BEGIN', "SELECT FROM svc.user_account WHERE id = '$id' FOR UPDATE";

my $c = $s->begin(POST => '/v1/mfa/email', [ Cookie => $ada->cookie,
                                             'X-CSRF-Token' => $ada->{csrf} ]);

ok((wait_for { $s->waiting == 1 }), 'it waits');
$s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'");
is($c->read->status, 503, 'a database that goes');
$db->query('COMMIT');
is($s->sql("SELECT count(*) FROM svc.factor WHERE type = 'email' AND confirmed_at IS NULL"), 0,
   'leaves no factor');

$code = mailed($ada->post('/v1/mfa/email'), $email, 'and then again');
$s->redis->stop;
ok((wait_for { $ada->post('/v1/mfa/email')->status == 503 }),
   '503 while Redis is away');
later();
admin_error($b->post($CHALLENGE, { method => 'email' }), 503, 'unavailable',
            'a challenge by mail, too');

$mail->stop;
$s->done;
done_testing();
