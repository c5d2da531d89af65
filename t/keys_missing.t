#!/usr/bin/perl

# Shows that a missing key that rows need is reported at the start, and that nothing
# sealed under it is ever called wrong.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(enrolled totp);
use SvcTest::Metrics;
use SvcTest::OAuth qw(application form);
use SvcTest::Process qw(slurp wait_for write_file);

my $OTHER = 'rowing past nine lanterns';
my $s = SvcTest->new(workers => 1,
    svc => { svc_sign_in => 'on', svc_password_hash => 'memory=7m iterations=1',
             svc_set => [ 'LOGIN_LOCKOUT_MAX 3', 'RATE_LIMIT_LOGIN_IP_MAX 30',
                          'RATE_LIMIT_LOGIN_EMAIL_MAX 30' ] },
    locations => $SvcTest::Metrics::LOCATION
                 . "location /oauth { svc_oauth on; }\n")->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD, $OTHER);

sub browser { return SvcTest::Browser->new($s, tenant => 'acme') }

sub keys_are {
    my ($text) = @_;

    write_file($s->{key_file}, $text);
    $s->nginx->mark_log;
    $s->reload;
}

sub health_becomes {
    my ($keys, $status, $name) = @_;

    ok((wait_for { ($s->health->json->{keys} // '') eq $keys }), "$name: $keys");

    my $r = $s->health;

    is($r->status, 200, "$name: reads work");
    is($r->json->{status}, $status, "$name: $status");

    return $r->json;
}

sub missing { return SvcTest::Metrics->get($s)->value('svc_keys_missing') }


# Expects an answer of 500 that calls nothing wrong, and a line in the log that names
# the key, the tenant and the request.

my @allowed;

sub broken {
    my ($r, $what, $name, $key) = @_;

    $key //= '1';
    is($r->status, 500, "$name: 500") or diag($r->body);
    unlike($r->body, qr/wrong|password|code"?:"invalid|key/i, "$name: nothing is called wrong");

    my $id = $r->header('x-request-id');
    my $line = qr/\Q$what\E .*"\Q$key\E".*enant: \Q$acme->{id}\E, request id: \Q$id\E/;

    ok((wait_for { $s->nginx->said($line) }), "$name: the log has the key, the tenant, and"
       . ' the request') or diag(join "\n", $s->nginx->log_lines);
    push @allowed, qr/\Q$what\E .*"\Q$key\E"/;
}


# --- before the key is gone -----------------------------------------------------------

my $first = slurp($s->{key_file});
my $second = 'k2:' . 'ab' x 32 . "\n";

with_password($s, $acme, userName => "$_\@acme.test") for qw(ada eve bob);

my $ada = browser();

is($ada->login('ada@acme.test')->status, 200, 'ada signs in');
is($ada->post('/v1/auth/password', { currentPassword => $PASSWORD, newPassword => $OTHER })
   ->status, 200, 'with a password of her own');

my $factor = enrolled($ada);
my $eve = browser();

is($eve->login('eve@acme.test')->status, 200, 'and eve');
is(browser()->login('bob@acme.test')->status, 200, 'and bob');

my $client = application($acme, scopes => [ 'things:read' ]);
my %CC = (grant_type => 'client_credentials');

is(form($s, token => { %CC }, client => $client)->status, 200, 'a token');
health_becomes('ok', 'ok', 'all keys are there');
is(missing(), 0, 'none is missing');


# --- the key is gone ------------------------------------------------------------------

keys_are($second);

my $json = health_becomes('missing', 'degraded', 'a key is gone');

like($json->{message}, qr/key/, 'it says why');
unlike($json->{message}, qr/"1"/, 'without the key\'s id');
is(missing(), 1, 'one is missing');
ok($s->nginx->said(qr/\[error\] .*rows are under keys that "svc_key_file" lacks: "1";/),
   'the log has its id');

my $failures = "SELECT count(*) FROM svc.sign_in WHERE outcome <> 'success'";
my $before = $s->sql($failures);

for my $password ($PASSWORD, 'wrong horse battery staple') {
    broken(browser()->login('eve@acme.test', $password), 'the password of a user',
           'sign-in') for 1 .. 4;
}

is($s->sql($failures), $before, 'no failure is counted');
is($s->sql('SELECT count(*) FROM svc.user_account WHERE locked_until IS NOT NULL'), 0,
   'nobody is locked');

$eve->{csrf} = $eve->get('/v1/auth/session')->json->{csrfToken};
broken($eve->post('/v1/auth/password', { currentPassword => $PASSWORD,
                                         newPassword => $OTHER }),
       'the password of a user', 'a change');
broken(form($s, token => { %CC }, client => $client), 'the signing key', 'a token');

# An operator's link sets a password all the same.

my $link = $s->svcctl(qw(user reset-link --tenant acme --email bob@acme.test));
my ($token) = $link =~ /([\w-]{43})/;

$s->secret($token);
is($s->http(POST => '/v1/auth/password/reset', [],
            { token => $token, password => $OTHER, tenant => 'acme' })->status, 204,
   'a new password');
is(browser()->login('bob@acme.test', $OTHER)->status, 200, 'is under a key that is there');


# --- the key is back ------------------------------------------------------------------

keys_are($second . $first);
health_becomes('ok', 'ok', 'back');
is(missing(), 0, 'none is missing');
is(browser()->login('eve@acme.test')->status, 200, 'who tried all the time signs in');
is(browser()->login('eve@acme.test', 'wrong horse battery staple')->status, 401,
   'and wrong is wrong');
is(form($s, token => { %CC }, client => $client)->status, 200, 'and a token');


# --- second factors -------------------------------------------------------------------

my $b = browser();

is($b->login('ada@acme.test', $OTHER)->json->{error}{code}, 'step_up_required',
   'ada is asked for a factor');

keys_are($second);
health_becomes('missing', 'degraded', 'gone again');

for my $code (totp($factor->{secret}, 1), '000000') {
    broken($b->post('/v1/mfa/step-up', { code => $code }),
           'the second factor of a user', 'a code') for 1 .. 2;
}

broken($b->post('/v1/mfa/step-up', { code => $factor->{codes}[0] }),
       'the recovery code of a user', 'a recovery code');

keys_are($second . $first);
health_becomes('ok', 'ok', 'back again');
my $r = $b->post('/v1/mfa/step-up', { code => $factor->{codes}[1] });

is($r->status, 200,
   'ada is not locked, and has her codes') or diag($r->body);
is($s->sql("SELECT count(*) FROM svc.recovery_code WHERE key_id = '1'"), 9,
   'they have the id of their key');


# --- a key that is missed later -------------------------------------------------------

# Another node seals with a key that this node does not have.

keys_are($second . $first);
health_becomes('ok', 'ok', 'before');
$s->sql("UPDATE svc.factor SET secret = '\\x026b39' || substr(secret, 3)");
ok($s->sql("SELECT 'k9' IN (SELECT svc.sealed_keys())") eq 't', 'a row needs k9');
$s->reload;
health_becomes('missing', 'degraded', 'seen at the next start');
ok($s->nginx->said(qr/lacks: "k9";/), 'and which');


# --- without a key file ---------------------------------------------------------------

$s->nginx->{svc} = { svc_key_file => undef, svc_sign_in => undef };
$s->nginx->{locations} = $SvcTest::Metrics::LOCATION;
$s->reload;
is($s->health->json->{keys}, 'off', 'no key file: off');
is($s->health->json->{status}, 'ok', 'and nothing is missed');

$s->done(allow => [ @allowed, qr/rows are under keys that "svc_key_file" lacks: / ]);
done_testing();
