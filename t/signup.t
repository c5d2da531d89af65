#!/usr/bin/perl

# Sign-up: the mail, the code and the link, and the account that it makes.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;
use SvcTest::Signup;

my @TOLD = qw(action target_type target_id actor_type actor_id details);

my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s, SvcTest::Signup::svc());
my $mail = SvcTest::Mail->new($s, port => 'plain');

$s->start;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $n = 0;

$s->secret($PASSWORD);
$acme->{api_token} = $acme->token_for($ALL);
$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");

my $hook = $receiver->hook($acme, '/ok', events => [ qw(user.created user.login) ]);
my $up = SvcTest::Signup->new($s, $mail, $acme);

sub browser { return SvcTest::Browser->new($s, @_) }
sub fresh { return 'new' . ++$n . '@acme.test' }


sub users { return $up->users(@_) }


sub policy {
    my ($action) = @_;

    $s->sql("UPDATE svc.governance SET access_number = access_number + 1,"
            . " access_policy = '{\"rules\":[],\"defaultAction\":\"$action\"}'"
            . " WHERE tenant_id = '$acme->{id}'");
}


# --- where it is not allowed --------------------------------------------------------------

for my $tenant (qw(acme nowhere)) {
    admin_error($up->start(fresh(), tenant => $tenant), 403, 'signup_disabled',
                "$tenant: not allowed");
}

admin_error($up->start('boss@acme.test', password => 'short'), 403, 'signup_disabled',
            'nor is anything looked at');
admin_error(browser()->post($up->{path}, { email => fresh(), password => $PASSWORD }),
            400, 'invalid_request', 'whose is it');
is($s->sql('SELECT count(*) FROM svc.email_challenge'), 0, 'nothing is kept');

$up->allow;


# --- all goes well ------------------------------------------------------------------------

my $b = browser();
my $email = 'Ada@acme.test';

$acme->new_events(@TOLD);

my $r = $up->start($email, browser => $b, displayName => 'Ada Ö', role => 'owner');

is($r->status, 202, 'accepted') or diag($r->body);
is_deeply([ sort keys %{ $r->json } ], [ qw(challengeId expiresAt) ], 'and no more');
is($r->header('Cache-Control'), 'no-store', 'stored nowhere');

my $cookies = $r->header('Set-Cookie');

unlike($cookies, qr/svc_session/, 'no session');
like($cookies, qr/^svc_login=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
     'but a cookie that the link needs') or diag($cookies);
is(users($email), 0, 'there is no account');

my $in = $up->mailed($r, $email);

like($in->{code}, qr/^\d{6}$/, 'a mail comes with a code');
like($in->{link}, qr{^\Q${\$s->base_url}\E/login\?tenant=\w+#signup=}, 'and a link to here');
unlike($in->{mail}{text}, qr/Ada Ö|QWRhIM/, 'a name that nobody has proved is not in it');

my $data = $s->sql("SELECT encode(data, 'escape') FROM svc.email_challenge");

unlike($data, qr/acme\.test|Ada|argon2/i, 'what waits is sealed');
is_deeply([ $acme->new_events(@TOLD) ], [], 'nothing has happened yet');

$r = $up->verify($in, browser => $b);
is($r->status, 201, 'the code makes the account') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'and is not kept');

my $session = $r->json;
my $id = $session->{user}{id};

is_deeply($session->{user}, { id => $id, email => $email, displayName => 'Ada Ö',
                                locale => undef },
          'who it is');
is($session->{role}, 'member', 'a member, whatever the body said');
is_deeply($session->{permissions}, [], 'who may do nothing');
is($session->{tenant}{slug}, 'acme', 'of the tenant');
is($session->{csrfToken}, $b->{csrf}, 'with the CSRF token');
is($b->get('/v1/auth/session')->status, 200, 'signed in');
is($b->get('/v1/admin/tenant')->status, 403, 'no administrator');

my $user = $acme->admin(GET => "/users/$id")->json;

is_deeply({ map { $_ => $user->{$_} } qw(status source emailVerified role displayName) },
          { status => 'active', source => 'local', role => 'member',
            emailVerified => JSON::PP::true(), displayName => 'Ada Ö' }, 'the account');
ok($user->{lastLoginAt}, 'has signed in');
is($s->sql("SELECT left(encode(hash, 'escape'), 1) <> '\$' FROM svc.password"
           . " WHERE user_id = '$id'"), 't', 'its password is sealed');

my @events = $acme->new_events(@TOLD);

is_deeply([ map { $_->[0] } @events ], [ qw(user.created user.login) ], 'audited');
is_deeply([ @{ $events[0] }[1 .. 5] ],
          [ 'user', $id, 'user', $id, { source => 'local' } ], 'who came');
is_deeply($events[1][5]{methods}, [ 'password' ], 'and how');

my @got = map { JSON::PP::decode_json($_->{body}) } $receiver->wait($hook, 2);
my ($created) = grep { $_->{event} eq 'user.created' } @got;

is_deeply([ sort map { $_->{event} } @got ], [ qw(user.created user.login) ],
          'and the webhook is told');
is_deeply($created->{data}, { userId => $id, email => $email }, 'who');

admin_error($up->verify($in), 400, 'challenge_expired', 'the code is good once');
admin_error($up->verify($in, token => 1, browser => $b), 400, 'challenge_expired',
            'and so is the link');
is(browser(tenant => 'acme')->login(lc $email)->status, 200, 'the password signs in');


# --- by the link, where it began ------------------------------------------------------------

$in = $up->begin(fresh());

admin_error($up->verify($in, token => 1, browser => browser()), 400, 'invalid_token',
            'the link in another browser');
admin_error($up->verify($in, token => 1, browser => $b), 400, 'invalid_token',
            'with a cookie of its own');
is(users($in->{email}), 0, 'there is no account');

my $old = browser(cookies => { %{ $b->{cookies} } });

$in->{browser}{cookies}{svc_session} = $b->{cookies}{svc_session};
is($up->verify($in, token => 1)->status, 201, 'and where it began');
admin_error($old->get('/v1/auth/session'), 401, 'unauthenticated',
            'the session that was there has ended');

$in = $up->begin(fresh());
is($up->verify($in, browser => browser())->status, 201,
   'the code does in another browser');


# --- an address that has an account -----------------------------------------------------------

with_password($s, $acme, userName => 'Owner@acme.test', displayName => 'Olga',
              locale => 'de-AT');

my $known = $up->start('owner@ACME.test', browser => browser());
my $new = $up->start(fresh(), browser => browser());

sub shape {
    my ($r) = @_;

    my %headers = map { lc $_->[0] => $_->[1] =~ s/(svc_login=)[\w-]+/$1/r }
                  grep { $_->[0] !~ /^(date|x-request-id)$/i } @{ $r->{raw} };

    return [ $r->status, \%headers, $r->body =~ s/[0-9a-f]{8}-[0-9a-f-]{27}/ID/r
                                              =~ s/20\d\d-[^"]*Z/TIME/r ];
}

is_deeply(shape($known), shape($new), 'the answer is the same');
is($s->sql('SELECT count(DISTINCT (octet_length(data) > 0, void, user_id,'
           . ' octet_length(token_hash))) FROM svc.email_challenge'
           . " WHERE id IN ('" . $known->json->{challengeId} . "', '"
           . $new->json->{challengeId} . "')"), 1, 'and the row');

my $exists = $mail->{last} = $up->mail_to('Owner@acme.test');

like($exists->{plain}, qr/hat gerade versucht|Konto/, 'its owner gets a mail')
    or diag($exists->{plain});
unlike($exists->{plain}, qr/\b\d{6}\b|token=|signup=/, 'with nothing to show');
like($exists->{plain}, qr{^\Q${\$s->base_url}\E/login\?tenant=\w+\r?$}m, 'and a link to sign in');

for my $code ('000000', '999999') {
    my $r = $up->verify({ challengeId => $known->json->{challengeId}, code => $code });

    like($r->status . $r->json->{error}{code}, qr/^(401invalid_code|400challenge_expired)$/,
         'no code is right');
}

is(users('owner@acme.test'), 1, 'nothing has changed');
is(browser(tenant => 'acme')->login('owner@acme.test')->status, 200,
   'nor has the password');


# --- what is wrong ----------------------------------------------------------------------------

for my $case ([ email => undef ], [ email => '' ], [ email => 7 ], [ email => [] ],
              [ email => 'a b@acme.test' ], [ email => "a\@b.test\r\nBcc: c\@d.test" ],
              [ email => 'x' x 250 . '@b.test' ], [ password => undef ],
              [ password => '' ], [ password => 7 ], [ password => 'x' x 1025 ],
              [ displayName => 7 ],
              [ displayName => "Ada\r\nBcc: eve\@x.test" ],
              [ displayName => 'x' x 1025 ], [ tenant => 'A B' ], [ tenant => '' ],
              [ tenant => 'x' x 64 ])
{
    my ($member, $value) = @$case;
    my $name = "$member: " . (!defined $value ? 'null' : ref $value ? 'array'
                                                       : substr $value, 0, 9);
    my $error = admin_error($up->start(fresh(), $member => $value), 400,
                            'invalid_request', $name);

    like($error->{message}, qr/"$member"/, "$name: it is named");
}

for my $bad ([ 'quite words', 'minLength' ], [ 'password1234', 'rejectBreached' ],
             [ 'newcomer@acme.test!', 'rejectContextual' ])
{
    my ($password, $rule) = @$bad;

    for my $address ('newcomer@acme.test', 'owner@acme.test') {
        my $error = admin_error($up->start($address, password => $password), 400,
                                'password_rejected', "$address: $rule");
        like($error->{message}, qr/^$rule: /, 'it says why') if $rule ne 'rejectContextual';
    }
}

is($s->sql("SELECT count(*) FROM svc.email_challenge WHERE created_at > now()"
           . " - interval '1 second' AND data IS NULL"), 0, 'nothing is kept of it');

for my $case ([ {}, 'nothing' ], [ { challengeId => 'x' }, 'no code' ],
              [ { code => '123456' }, 'no challenge' ],
              [ { challengeId => 'x', code => '123456', token => 'x' }, 'all of it' ],
              [ { challengeId => 'x', code => '12345' }, 'five digits' ],
              [ { challengeId => 'x', code => '١٢٣٤٥٦' }, 'other digits' ],
              [ { challengeId => 'x', code => 123456 }, 'a number' ],
              [ { challengeId => [], code => '123456' }, 'an array' ],
              [ { token => '' }, 'an empty token' ], [ { token => 'x' x 129 }, 'a long one' ],
              [ { token => 'x', tenant => 'A' }, 'no slug' ])
{
    my ($body, $name) = @$case;

    admin_error(browser()->post("$up->{path}/verify", $body), 400, 'invalid_request',
                $name);
}

admin_error(browser()->post("$up->{path}/verify", $_), 400, 'challenge_expired',
            'one that there is not')
    for { challengeId => 'x', code => '123456' }, { token => 'x' x 43 },
        { challengeId => '00000000-0000-4000-8000-000000000000', code => '123456' };

for my $path ('', '/verify') {
    admin_error(browser()->ask(POST => "$up->{path}$path", { email => fresh() },
                               'Sec-Fetch-Site' => 'cross-site'),
                403, 'csrf_failed', "$path: of another origin");
    admin_error(browser()->get("$up->{path}$path"), 405, undef, "$path: GET");
    admin_error(browser()->post("$up->{path}$path", { email => 'x' x 16400 }),
                413, 'payload_too_large', "$path: too much");
}


# the longest name, of characters of four bytes

my $long = "\x{1f600}" x 1024;

$in = $up->begin(fresh(), displayName => $long);
$r = $up->verify($in);
is($r->status, 201, 'a long name') or diag($r->body);
is($r->json->{user}{displayName}, $long, 'is kept');


# --- codes ------------------------------------------------------------------------------------

$in = $up->begin(fresh());

my $wrong = $in->{code} eq '123456' ? '654321' : '123456';

admin_error($up->verify($in, code => $wrong), 401, 'invalid_code', "guess $_") for 1 .. 5;
admin_error($up->verify($in), 400, 'challenge_expired', 'the sixth is too many');
is(users($in->{email}), 0, 'no account');

my ($one, $other) = map { $up->begin(fresh()) } 1 .. 2;

admin_error($up->verify($one, code => $other->{code}), 401, 'invalid_code',
            'the code of another one') if $one->{code} ne $other->{code};
admin_error($up->verify($one, tenant => 'globex'), 400, 'challenge_expired',
            'at another tenant');
is($up->verify($one)->status, 201, 'and at its own');

$s->sql("UPDATE svc.email_challenge SET expires_at = now() - interval '1 ms' WHERE id ="
        . " '$other->{challengeId}'");
admin_error($up->verify($other), 400, 'challenge_expired', 'too late');

$in = $up->begin(fresh());
$s->sql("UPDATE svc.email_challenge SET kind = 'verify' WHERE id ="
        . " '$in->{challengeId}'");
admin_error($up->verify($in), 400, 'challenge_expired', 'of another kind');


# --- blocks, policies, and a tenant that changes ----------------------------------------------

$in = $up->begin(fresh());

sub denied {
    my ($code, $name) = @_;

    admin_error($up->start(fresh()), 403, $code, "$name: start");
    admin_error($up->verify($in), 403, $code, "$name: verify");
    admin_error($up->verify($in, token => 1), 403, $code, "$name: link");
}

policy('deny');
$acme->new_events(@TOLD);
denied('access_denied', 'the policy denies');
is_deeply([ map { $_->[5]{reason} } $acme->new_events(@TOLD) ], [ ('policy') x 3 ],
          'it is written');
policy('allow');

$s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ('$acme->{id}', '127.0.0.1')");
denied('access_denied', 'a blocked address') for 1 .. 2;
$s->sql('DELETE FROM svc.ip_block');

$s->svcctl('tenant', 'suspend', '--tenant', 'acme');
denied('access_denied', 'a suspended tenant');
$s->svcctl('tenant', 'resume', '--tenant', 'acme');

$up->allow(0);
denied('signup_disabled', 'not any more');
$up->allow;

is($s->sql("SELECT attempts FROM svc.email_challenge WHERE id ="
           . " '$in->{challengeId}'"), 0, 'none of it was an attempt');

policy('mfa');
$acme->new_events(@TOLD);

my $waits = browser();

admin_error($up->verify($in, browser => $waits), 403, 'mfa_enrollment_required',
            'the policy wants a factor');
is(users($in->{email}), 1, 'the account is made');
is_deeply([ map { $_->[0] } $acme->new_events(@TOLD) ], [ 'user.created' ],
          'nobody has signed in yet');
admin_error($waits->get('/v1/auth/session'), 403, 'mfa_enrollment_required',
            'the session waits');
is($waits->post('/v1/mfa/totp', { name => 'Phone' })->status, 201, 'for a factor');
policy('allow');


# --- limits -----------------------------------------------------------------------------------

$email = fresh();

is_deeply([ map { $up->start($email)->status } 1 .. 7 ], [ (202) x 5, 429, 429 ],
          'five an hour of an address');
is($s->sql("SELECT count(*) FROM svc.email_challenge WHERE void AND created_at >"
           . " now() - interval '5 seconds'"), 4, 'of which one is mailed at once');
ok((wait_for { $mail->pending == 0 }), 'no mail is left');
is($mail->counts->{$email}, 1, 'one mail');

$s->done;
done_testing();
