#!/usr/bin/perl

# Passwords: set with a token, changed with the old one, refused by the policy.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);

my $s = SvcTest->new(svc => { svc_sign_in => 'on',
                              svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000',
                                           'RATE_LIMIT_LOGIN_EMAIL_MAX 100' ] })
               ->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);

sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


sub token {
    my ($email, $tenant) = @_;

    my ($out) = $s->svcctl('user', 'reset-link', '--tenant', $tenant // 'acme',
                           '--email', $email) =~ /^token  ([\w-]{43})$/m;

    return $out // die "no token\n";
}


sub reset_with {
    my ($token, $password, %more) = @_;

    return browser()->post('/v1/auth/password/reset',
                           { tenant => 'acme', token => $token,
                             password => $password, %more });
}


sub rejected {
    my ($r, $rule, $name) = @_;

    is($r->status, 400, "$name: 400") or diag($r->body);
    is($r->json->{error}{code}, 'password_rejected', "$name: the code");
    like($r->json->{error}{message}, qr/^$rule: /, "$name: the rule");
}


# --- a first password ------------------------------------------------------------

my $ada = $acme->create(userName => 'ada@acme.test', displayName => 'Ada Byron');
my $token = token('ADA@acme.test');

is(browser()->login('ada@acme.test')->status, 401, 'without a password');

my $r = reset_with($token, 'short');
rejected($r, 'minLength', 'too short');
is($r->header('Cache-Control'), 'no-store', 'not stored, whatever it says');
rejected(reset_with($token, 'Acme2026!Acme'), 'rejectContextual', 'of the tenant');
rejected(reset_with($token, 'P@ssw0rd1234'), 'rejectBreached', 'that all try');
rejected(reset_with($token, 'lady byron likes tea'), 'rejectContextual', 'of the name');

for my $bad ('x' x 43, '', undef, 'x' x 129) {
    my $status = reset_with($bad, $PASSWORD)->status;
    is($status, 400, 'no token: ' . (defined $bad ? length $bad : 'null'));
}

is(reset_with($token, $PASSWORD, tenant => 'globex')->json->{error}{code},
   'invalid_token', 'of another tenant');

$r = reset_with($token, $PASSWORD);
is($r->status, 204, 'set') or diag($r->body);
is($r->body, '', 'and nothing said');
is(reset_with($token, 'another one that is fine')->json->{error}{code},
   'invalid_token', 'used once');

my $hash = $s->sql("SELECT hash FROM svc.password WHERE user_id = '$ada->{id}'");
unlike($hash, qr/argon2/, 'sealed');

my $b = browser();
is($b->login('ada@acme.test')->status, 200, 'she signs in') or diag($b->{last});


# --- a change --------------------------------------------------------------------

my $other = browser();
$other->login('ada@acme.test');

my $new = 'a much better passphrase';

$s->secret($new);

$r = $b->post('/v1/auth/password', { currentPassword => 'wrong', newPassword => $new });
is($r->status, 401, 'with a wrong one');
is($r->json->{error}{code}, 'invalid_credentials', 'says so');
is($r->header('Cache-Control'), 'no-store', 'not stored');
is($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'"), 1,
   'and counts');

is($b->post('/v1/auth/password', { newPassword => $new })->status, 400, 'with none');
rejected($b->post('/v1/auth/password', { currentPassword => $PASSWORD,
                                         newPassword => $PASSWORD }),
         'historyCount', 'the same again');

my $before = $b->{cookies}{svc_session};

$r = $b->post('/v1/auth/password', { currentPassword => $PASSWORD, newPassword => $new });
is($r->status, 200, 'changed') or diag($r->body);
is($r->json->{user}{id}, $ada->{id}, 'the session is the answer');
isnt($b->{cookies}{svc_session}, $before, 'another one');
is($b->get('/v1/auth/session')->status, 200, 'which is good');
is($other->get('/v1/auth/session')->status, 401, 'the others are over');

is(browser()->login('ada@acme.test')->status, 401, 'the old one is wrong');
is(browser()->login('ada@acme.test', $new)->status, 200, 'the new one is right');

rejected($b->post('/v1/auth/password', { currentPassword => $new,
                                         newPassword => $PASSWORD }),
         'historyCount', 'the one before');


# --- too old ---------------------------------------------------------------------

$s->sql("UPDATE svc.governance SET max_age_days = 30 WHERE tenant_id = '$acme->{id}'");
$s->sql("UPDATE svc.password SET set_at = now() - interval '31 days'");

$b = browser();
$r = $b->login('ada@acme.test', $new);
is($r->status, 403, 'an old password');
is($r->json->{error}{code}, 'password_expired', 'has to be changed');
is($b->get('/v1/auth/session')->json->{error}{code}, 'password_expired',
   'until then there is a session for nothing else');
is($b->get('/v1/admin/tenant')->json->{error}{code}, 'password_expired', 'at all');

$r = $b->post('/v1/auth/password', { newPassword => 'third time is a charm indeed' });
is($r->status, 200, 'changed without the old one') or diag($r->body);
is($b->get('/v1/auth/session')->status, 200, 'signed in');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'user.login'"
           . " AND target_id = '$ada->{id}'"), 4, 'and so it is written');


# --- locked, suspended -------------------------------------------------------------

$s->sql("UPDATE svc.user_account SET locked_until = now() + interval '1 hour'");
is(browser()->login('ada@acme.test', 'x')->json->{error}{code}, 'account_locked', 'locked');
$s->svcctl('user', 'unlock', '--tenant', 'acme', '--email', 'ada@acme.test');
is(browser()->login('ada@acme.test', 'third time is a charm indeed')->status, 200,
   'unlocked by hand');

$s->svcctl('tenant', 'suspend', '--tenant', 'acme');
is(browser()->login('ada@acme.test', 'third time is a charm indeed')->json->{error}{code},
   'access_denied', 'of a suspended tenant nobody signs in');

my %cookies = %{ $b->{cookies} };

is($b->get('/v1/auth/session')->status, 401, 'and there is no session');
is_deeply([ grep { /session|csrf/ } keys %{ $b->{cookies} } ], [], 'for the browser either');
is($acme->scim(GET => '/Users')->status, 200, 'a token goes on');
$s->svcctl('tenant', 'resume', '--tenant', 'acme');
$b->{cookies} = \%cookies;
is($b->get('/v1/auth/session')->status, 200, 'until it is resumed');

like($s->svcctl('sessions', 'end', '--tenant', 'acme'), qr/^The sessions of 1 users/m,
     'all sessions are ended');
is($b->get('/v1/auth/session')->status, 401, 'at once');

$s->done;
done_testing();
