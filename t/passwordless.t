#!/usr/bin/perl

# Sign-in with a code or a link from a mail.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Documents qw(section examples);
use SvcTest::Factor qw(enrolled policy totp burst);
use SvcTest::Mail;
use SvcTest::Mailed;
use SvcTest::Process qw(run);
use SvcTest::Receiver;
use SvcTest::Skip;

needs(program => 'curl');

my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my %ROOMY = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ]);

my $s = SvcTest->new(workers => 1, svc => { svc_sign_in => 'on', %ROOMY });
my $receiver = SvcTest::Receiver->new($s);
my $mail = SvcTest::Mail->new($s, port => 'plain');

$s->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $codes = SvcTest::Mailed->new($s, $mail);

$s->secret($PASSWORD);
$codes->allow($acme, $globex);

my $ada = with_password($s, $acme, userName => 'ada@acme.test',
                        displayName => 'Ada', locale => 'de');
my $bob = $acme->create(userName => 'bob@acme.test');
my $gone = $acme->create(userName => 'gone@acme.test', active => JSON::PP::false());


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }
sub start { return $codes->start(@_) }
sub verify { return $codes->verify(@_) }


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


# Returns another code than this one.

sub wrong { return sprintf '%06d', ($_[0] + 1) % 1_000_000 }


# Starts a sign-in in a browser.  Returns challengeId, code and token of its
# mail.

sub asked { return $codes->asked(@_) }


# Returns an answer as a client sees it, without what differs each time.

sub as_bytes {
    my ($r) = @_;

    my %h = %{ $r->{headers} };
    my $body = $r->body;

    delete $h{$_} for qw(date x-request-id);
    $h{'set-cookie'} =~ s/=[\w-]{43};/=x;/ if $h{'set-cookie'};
    $body =~ s/[0-9a-f-]{36}/id/;
    $body =~ s/"[\d-]{10}T[\d:.]{12}Z"/"time"/;

    return join "\n", $r->status, (map { "$_: $h{$_}" } sort keys %h), $body;
}


# --- a code --------------------------------------------------------------------

my $hook = $receiver->hook($acme, '/ok', events => [ 'user.login' ]);
my $b = browser();
my $known = start($b, 'ADA@acme.test');

is($known->status, 202, 'a start') or diag($known->body);
is($known->header('Cache-Control'), 'no-store', 'is not stored');
is_deeply([ sort keys %{ $known->json } ], [ qw(challengeId expiresAt) ], 'what it says');
like($known->json->{challengeId}, $UUID, 'which challenge');
like($known->json->{expiresAt}, $TIME, 'until when');
like($known->header('Set-Cookie'),
     qr/^svc_login=[\w-]{43}; Path=\/; (?=.*HttpOnly)(?=.*SameSite=Lax).*Max-Age=600/,
     'and the browser is known by it');

my ($got) = $mail->wait(1);

is_deeply($got->{to}, [ 'ada@acme.test' ], 'the mail');
like($got->{html}, qr/lang="de"/, "in the user's language");

my $in = $codes->mailed($got, $known);

is($in->{base}, $s->base_url, 'with a link to here');

admin_error(verify($b, $in, code => wrong($in->{code})), 401, 'invalid_code',
            'another code');

my $old = $b->{cookies}{svc_session};
my $r = verify($b, $in, code => $in->{code});

is($r->status, 200, 'the code') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'is not stored');
is($r->json->{user}{id}, $ada->{id}, 'signs in');
is($r->json->{mfa}{verifiedAt}, undef, 'and is no second factor');
is($b->get('/v1/auth/session')->status, 200, 'a session');
is_deeply($b->get('/v1/auth/sessions')->json->{sessions}[0]{methods}, [ 'email' ],
          'its methods');
ok($b->{cookies}{svc_device}, 'the device is known');
is_deeply([ events('user.login') ],
          [ { score => 0, signals => [], methods => [ 'email' ] } ], 'audited, once');
is_deeply([ map { $_->{reason} } events('user.login_failed') ], [ 'wrong' ],
          'and the failure');
is(scalar($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'")),
   0, 'which is over with it');
is(scalar(() = $receiver->wait('/ok', 1)), 1, 'user.login is sent');
admin_error(verify($b, $in, code => $in->{code}), 400, 'challenge_expired', 'twice');
admin_error(verify($b, $in, token => $in->{token}), 400, 'challenge_expired',
            'and its link is over, too');

my $first = $b->cookie;

$in = asked($b, 'ada@acme.test');
is(verify($b, $in, code => $in->{code})->status, 200, 'another one in the same browser');
isnt($b->cookie, $first, 'is another session');
is($s->http(GET => '/v1/auth/session', [ Cookie => $first ])->status, 401,
   'and the first one has ended');
is(verify(browser(), asked(browser(), 'bob@acme.test'))->status, 200,
   'a code is for whatever browser, and for who has no password');


# --- a link --------------------------------------------------------------------

$b = browser();
$in = asked($b, 'ada@acme.test');

for (1 .. 6) {
    admin_error(verify(browser(), $in, token => $in->{token}), 400, 'invalid_token',
                'a link in another browser');
}

my $stranger = browser();

start($stranger, 'bob@acme.test');
admin_error(verify($stranger, $in, token => $in->{token}), 400, 'invalid_token',
            'or in one that has begun something else');
is($b->get('/v1/auth/passwordless/verify')->status, 405, 'a GET uses up nothing');
is(verify($b, $in, token => $in->{token})->status, 200, 'in its own it signs in');
is($b->get('/v1/auth/session')->json->{user}{id}, $ada->{id}, 'whose it is');
admin_error(verify($b, $in, token => $in->{token}), 400, 'challenge_expired', 'once');
admin_error(verify($b, $in, token => 'x' x 43), 400, 'challenge_expired', 'not any');


# --- nobody --------------------------------------------------------------------

sub rows {
    return join ' ', map { scalar $s->sql("SELECT count(*) FROM svc.$_") }
                     qw(email_challenge audit_event sign_in session);
}

my $mails = $codes->settled;
my @before = map { my $email = $_;
                   $codes->rested;
                   my $before = rows();
                   my $r = start(browser(), $email);
                   my @n = split / /, rows();
                   my @m = split / /, $before;
                   [ $r, join ' ', map { $n[$_] - $m[$_] } 0 .. $#n ] }
             qw(bob@acme.test nobody@acme.test gone@acme.test);

for my $n (1, 2) {
    is(as_bytes($before[$n][0]), as_bytes($before[0][0]), 'nobody is told who there is');
    is($before[$n][1], $before[0][1], 'and as much is written');
}

is($before[0][1], '1 0 0 0', 'a row');
is($codes->settled, $mails + 1, 'one of them has a mail');

for my $email (qw(nobody@acme.test gone@acme.test)) {
    my $id = start(browser(), $email)->json->{challengeId};

    for my $n (1 .. 5) {
        admin_error(verify(browser(), { challengeId => $id }, code => '123456'), 401,
                    'invalid_code', "$email, guessed");
    }

    admin_error(verify(browser(), { challengeId => $id }, code => '123456'), 400,
                'challenge_expired', 'too often');
}

is_deeply([ map { $_->{reason} } (events('user.login_failed'))[1 .. 10] ],
          [ ('unknown') x 5, ('inactive') x 5 ], 'why, in the audit log');
is(scalar($s->sql('SELECT sum(failed) FROM svc.login_phantom')), 5,
   'an address of nobody is counted');
is(start(browser(tenant => 'nowhere'), 'ada@acme.test')->status, 202,
   'nor which tenant there is');
is(as_bytes(start(browser(tenant => 'nowhere'), 'ada@acme.test')),
   as_bytes($known), 'by no byte');


# --- guesses -------------------------------------------------------------------

sub forgiven {
    $s->sql('UPDATE svc.user_account SET failed_logins = 0, failed_since = NULL,'
            . ' locked_until = NULL');
    $s->sql('DELETE FROM svc.login_phantom');
}

$in = asked(browser(), 'ada@acme.test');

for (1 .. 5) {
    admin_error(verify(browser(), $in, code => wrong($in->{code})), 401, 'invalid_code',
                "wrong $_");
}

admin_error(verify(browser(), $in, code => $in->{code}), 400, 'challenge_expired',
            'the right one is too late');
forgiven();

$in = asked(browser(), 'ada@acme.test');

my %seen;
my @answers = burst(browser(), 50, '/v1/auth/passwordless/verify',
                    { challengeId => $in->{challengeId}, code => wrong($in->{code}) });

$seen{ join ' ', $_->status, $_->json->{error}{code} }++ for @answers;
is_deeply(\%seen, { '401 invalid_code' => 5, '400 challenge_expired' => 45 },
          'of fifty at once five are compared');
is(scalar($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'")),
   5, 'and counted');
forgiven();

$in = asked(browser(), 'ada@acme.test');
@answers = burst(browser(), 4, '/v1/auth/passwordless/verify',
                 { challengeId => $in->{challengeId}, code => $in->{code} });
is_deeply([ sort map { $_->status } @answers ], [ 200, (400) x 3 ],
          'of four right ones at once one signs in');
is_deeply([ map { $_->json->{error}{code} } grep { $_->status != 200 } @answers ],
          [ ('challenge_expired') x 3 ], 'and the others are too late');

# answers of other users and other browsers

my $his = asked(browser(), 'bob@acme.test');

$in = asked(browser(), 'ada@acme.test');
$in->{code} ne $his->{code}
    and admin_error(verify(browser(), $in, code => $his->{code}), 401, 'invalid_code',
                    "another user's code");
admin_error(verify(browser(tenant => 'globex'), $in, code => $in->{code}), 400,
            'challenge_expired', 'a code of another tenant');

for my $id ('00000000-0000-4000-8000-000000000000', 'x') {
    admin_error(verify(browser(), { challengeId => $id }, code => '123456'), 400,
                'challenge_expired', 'of no challenge');
}

$s->sql("UPDATE svc.email_challenge SET expires_at = now() - interval '1 ms'"
        . " WHERE id = '$in->{challengeId}'");
admin_error(verify(browser(), $in, code => $in->{code}), 400, 'challenge_expired',
            'after its time');
forgiven();

# challenges that were ended in other ways

$in = asked(browser(), 'ada@acme.test');
$s->sql('UPDATE svc.user_account SET valid_after = clock_timestamp()'
        . " WHERE id = '$ada->{id}'");
admin_error(verify(browser(), $in, code => $in->{code}), 400, 'challenge_expired',
            'older than what has ended all sessions');
$s->sql('UPDATE svc.user_account SET valid_after = NULL');

for my $status (qw(suspended deactivated)) {
    $in = asked(browser(), 'bob@acme.test');
    $s->sql("UPDATE svc.user_account SET status = '$status' WHERE id = '$bob->{id}'");
    admin_error(verify(browser(), $in, code => $in->{code}), 401, 'invalid_code',
                "$status meanwhile");
    $s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$bob->{id}'");
}

$in = asked(browser(), 'ada@acme.test');

my @three = ($in, map { asked(browser(), 'ada@acme.test') } 1 .. 3);

admin_error(verify(browser(), $three[0], code => $three[0]{code}), 400,
            'challenge_expired', 'the fourth one ends the first one');
is(verify(browser(), $three[1], code => $three[1]{code})->status, 200,
   'and not the second one');


# --- stages --------------------------------------------------------------------

$b = browser();
is($b->login('ada@acme.test')->status, 200, 'with a password');

my $factor = enrolled($b);
my $logins = () = events('user.login');

$b = browser();
$in = asked($b, 'ada@acme.test');
admin_error(verify($b, $in, code => $in->{code}), 403, 'step_up_required',
            'who has a second factor');
is((() = events('user.login')), $logins, 'is not signed in');
admin_error($b->get('/v1/auth/session'), 403, 'step_up_required', 'a session that waits');
unlike($b->post('/v1/mfa/challenge', {})->body, qr/"email"/, 'for another factor');
$r = $b->post('/v1/mfa/step-up', { code => totp($factor->{secret}) });
is($r->status, 200, 'and then') or diag($r->body);
is_deeply($b->get('/v1/auth/sessions')->json->{sessions}[0]{methods},
          [ 'email', 'totp' ], 'both have been shown');
is((() = events('user.login')), $logins + 1, 'audited, once');

policy($acme, 'mfa');
$b = browser();
$in = asked($b, 'bob@acme.test');
admin_error(verify($b, $in, code => $in->{code}), 403, 'mfa_enrollment_required',
            'a policy that wants one');
admin_error($b->get('/v1/auth/session'), 403, 'mfa_enrollment_required',
            'a session that waits');
policy($acme, 'allow');

with_password($s, $acme, userName => 'old@acme.test');
$s->sql("UPDATE svc.password SET set_at = now() - interval '9 days'");
$s->sql("UPDATE svc.governance SET max_age_days = 1 WHERE tenant_id = '$acme->{id}'");
$b = browser();
$in = asked($b, 'old@acme.test');
admin_error(verify($b, $in, code => $in->{code}), 403, 'password_expired',
            'a password that is too old');
$s->sql('UPDATE svc.governance SET max_age_days = 0');


# --- the examples --------------------------------------------------------------

my $section = section('ngx_svc_admin/signin/README.md', 'Codes by mail');
my $script = join "\n", examples('bash', $section);

$script =~ s/\bcurl /curl -sS -f -w '\\n' /g;
$codes->forbid($acme);
$codes->rested;

my ($status, $text) = run([ 'bash', '-euxo', 'pipefail', '-c', $script ],
                          env => { SVC_BASE_URL => $s->base_url,
                                   SVC_ADMIN_TOKEN => $acme->{api_token} });

is($status, 0, 'the examples of the document') or diag($text);
like($text, qr/"allowPasswordless":true.*"code":"invalid_code"/s, 'do as it says');
forgiven();


# --- refused -------------------------------------------------------------------

$in = asked(browser(), 'bob@acme.test');
$s->sql("UPDATE svc.user_account SET failed_logins = 10, failed_since = now(),"
        . " locked_until = now() + interval '1 hour' WHERE id = '$bob->{id}'");
$s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ('$acme->{id}', '127.0.0.9')");
admin_error(verify(browser(), $in, code => $in->{code}), 429, 'account_locked', 'locked');
admin_error(start(browser(), 'bob@acme.test'), 429, 'account_locked', 'nor begun');
admin_error(verify(browser(local => '127.0.0.9'), $in, code => $in->{code}), 403,
            'access_denied', 'a blocked address');
admin_error(start(browser(local => '127.0.0.9'), 'ada@acme.test'), 403, 'access_denied',
            'nor begun from there');
is((events('user.login_failed'))[-1]{reason}, 'blocked', 'audited');
forgiven();

$codes->rested;
$in = asked(browser(), 'bob@acme.test');
verify(browser(), $in, code => wrong($in->{code})) for 1 .. 5;
$codes->rested;
$in = asked(browser(), 'bob@acme.test');
$r = verify(browser(), $in, code => wrong($in->{code})) for 1 .. 4;
is($r->status, 401, 'nine are wrong');
admin_error(verify(browser(), $in, code => wrong($in->{code})), 429, 'account_locked',
            'and the tenth locks');
is(scalar(() = events('user.locked')), 1, 'audited');
admin_error(browser()->login('bob@acme.test'), 429, 'account_locked',
            'the password is, too');
forgiven();

my $id = start(browser(), 'nobody2@acme.test')->json->{challengeId};

verify(browser(), { challengeId => $id }, code => '123456') for 1 .. 5;
$id = start(browser(), 'nobody2@acme.test')->json->{challengeId};
$r = verify(browser(), { challengeId => $id }, code => '123456') for 1 .. 5;
admin_error($r, 429, 'account_locked', 'as an address of nobody does');
admin_error(start(browser(), 'nobody2@acme.test'), 429, 'account_locked', 'nor begun');
forgiven();

$in = asked(browser(), 'bob@acme.test');
$codes->forbid($acme);
admin_error(start(browser(), 'ada@acme.test'), 403, 'passwordless_disabled',
            'switched off');
admin_error(verify(browser(), $in, code => $in->{code}), 403, 'passwordless_disabled',
            'and what had begun');
is(browser()->get('/v1/auth/options?tenant=acme')->json->{methods}{passwordless},
   JSON::PP::false(), 'it is not offered');
is(browser()->get('/v1/auth/options?tenant=globex')->json->{methods}{passwordless},
   JSON::PP::true(), 'of another tenant it is');
$codes->allow($acme);

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'");
admin_error(start(browser(), 'ada@acme.test'), 403, 'access_denied',
            'a suspended tenant');
admin_error(verify(browser(), $in, code => $in->{code}), 403, 'access_denied',
            'nor verified');
$s->sql('UPDATE svc.tenant SET suspended_at = NULL');
is(verify(browser(), $in, code => $in->{code})->status, 200, 'and then it is');

for my $body ({}, { code => '123456' }, { challengeId => $in->{challengeId} },
              { challengeId => $in->{challengeId}, code => '12345' },
              { challengeId => $in->{challengeId}, code => '١٢٣٤٥٦' },
              { token => '' },
              { challengeId => $in->{challengeId}, code => '123456',
                token => 'x' x 43 })
{
    admin_error($b->post('/v1/auth/passwordless/verify', $body), 400,
                'invalid_request', 'a body that is none');
}

for my $body ({}, { email => [ 'a@b' ] }, { email => "a\@b\r\nBcc: c\@d" },
              { email => 'ada@acme.test', tenant => 'A B' })
{
    admin_error($b->post('/v1/auth/passwordless/start', $body), 400,
                'invalid_request', 'nor to begin with');
}

for my $path (qw(start verify)) {
    admin_error($b->post("/v1/auth/passwordless/$path", { email => 'ada@acme.test' },
                         Origin => 'https://evil'), 403, 'csrf_failed',
                "another page's $path");
}

$mail->stop;
$s->done;
done_testing();
