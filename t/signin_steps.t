#!/usr/bin/perl

# How the limits count a sign-in of several steps: a completed one not at all,
# every failure once.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled policy);
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new(
    svc => { svc_sign_in => 'on', svc_set => [
        'RATE_LIMIT_LOGIN_IP_MAX 3', 'RATE_LIMIT_LOGIN_EMAIL_MAX 3',
        'LOGIN_LOCKOUT_MAX 0' ] },
    http => '    set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;')->start;
my $acme = $s->tenant('acme');
my $HOME = '192.0.2.1';
my $AWAY = '2001:db8::1';

$s->secret($PASSWORD);


sub ask {
    my ($b, $path, $body, $from) = @_;

    return $b->post($path, $body, 'X-Test-Address' => $from // $HOME);
}


sub login {
    my ($email, $from, $password) = @_;

    my $b = SvcTest::Browser->new($s);
    my $r = ask($b, '/v1/auth/login',
                { email => $email, password => $password // $PASSWORD, tenant => 'acme' },
                $from);

    return ($b, $r->status == 200 ? 200 : $r->json->{error}{code});
}


# Presents a code; resets the last step first, so that each code is valid again.

sub step_up {
    my ($b, $factor, $from, %more) = @_;

    $s->sql('UPDATE svc.factor SET last_step = 0');

    my $r = ask($b, '/v1/mfa/step-up', { code => totp($factor->{secret}), %more }, $from);

    return $r->status == 200 ? 200 : $r->json->{error}{code};
}


sub wrong { return { code => sprintf '%06d', (totp($_[0]{secret}) + 333_333) % 1_000_000 } }


# Makes a user with a factor.  Returns the address and the factor.

sub user {
    my ($name) = @_;

    with_password($s, $acme, userName => "$name\@acme.test", role => 'owner');

    my ($b, $answer) = login("$name\@acme.test");

    is($answer, 200, "$name signs in");

    return ("$name\@acme.test", enrolled($b));
}


# Returns what Redis has counted under a key; the function after it all clients'
# and addresses' counts.

sub hits {
    my ($key) = @_;

    return $s->redis->command("EVAL \"return tonumber(redis.call('GET', KEYS[1]) or '0')\""
                              . " 1 $key");
}


sub counted {
    my $kind = shift // '';

    return $s->redis->command('EVAL "local n = 0'
        . " for _, k in ipairs(redis.call('KEYS', 'svc.rate.l.$kind*')) do"
        . " n = n + redis.call('GET', k) end return n\" 0");
}


sub nothing_counted {
    my ($name) = @_;

    ok((wait_for { counted() eq ':0' }), "$name: nothing is counted") or diag(counted());
}


sub forget { return $s->redis->command('FLUSHALL') }


# --- complete ------------------------------------------------------------------------

my ($ada, $factor) = user('ada');

nothing_counted('a password');

for my $n (1 .. 10) {
    my ($b, $answer) = login($ada);

    is($answer, 'step_up_required', "sign-in $n");
    is(step_up($b, $factor), 200, 'is complete');
    nothing_counted("sign-in $n");
}

for my $n (1 .. 5) {
    my ($b) = login($ada);
    my $id = ask($b, '/v1/mfa/challenge', {})->json->{challengeId};

    is(step_up($b, $factor, $HOME, challengeId => $id), 200, "with a challenge: $n");
    nothing_counted('a challenge among them');
}

for my $n (1 .. 5) {
    my ($b) = login($ada, $AWAY);

    is(step_up($b, $factor, $HOME), 200, "begun elsewhere: $n");
    nothing_counted('each client has its own back');
}

# in a complete session nothing is given back

my ($session) = login($ada);

is(step_up($session, $factor), 200, 'a session');
login("u$_\@acme.test", $AWAY) for 1 .. 2;
$s->sql("UPDATE svc.session SET ip = '$AWAY'");
is(step_up($session, $factor), 200, 'stepped up');
is(hits('svc.rate.l.i.2001:db8::'), ':2', 'it takes back no sign-in of others');
is(hits("svc.rate.l.i.$HOME"), ':1', 'nor its own');


# --- what else completes one --------------------------------------------------------------

forget();

my $max_age = "UPDATE svc.governance SET max_age_days = %d WHERE tenant_id = '$acme->{id}'";

for my $n (1 .. 4) {
    $s->sql(sprintf $max_age, 30);
    $s->sql("UPDATE svc.password SET set_at = now() - interval '31 days'");

    my ($b) = login($ada);

    is(step_up($b, $factor), 'password_expired', "an old password: $n");

    my $password = "a quiet harbour before $n";

    $s->secret($password);
    is(ask($b, '/v1/auth/password', { newPassword => $password })->status, 200, 'is set');
    $s->sql(sprintf $max_age, 0);
    $s->sql("UPDATE svc.password SET hash = '$SvcTest::Browser::HASH'");
    nothing_counted('a new password');
}

policy($acme, 'mfa');
with_password($s, $acme, userName => 'eve@acme.test');

for my $n (1 .. 4) {
    my ($b, $answer) = login('eve@acme.test');

    is($answer, 'mfa_enrollment_required', "a factor is to come: $n");

    my $new = ask($b, '/v1/mfa/totp', {})->json;

    $s->secret($new->{secret});
    is(ask($b, "/v1/mfa/totp/$new->{id}/confirm", { code => totp($new->{secret}) })->status,
       200, 'it comes');
    $s->sql("DELETE FROM svc.factor WHERE id = '$new->{id}'");
    nothing_counted('a new factor');
}

# an invited user is not counted by address.  Otherwise there would be something
# to give back, and a tenant could invite another tenant's users to reset the
# count of guesses.

login('new@acme.test', $AWAY, 'wrong');
is(counted('e'), ':1', 'a guess at an address that will be invited');

my $invited = $acme->admin(POST => '/invitations', { email => 'new@acme.test',
    role => 'member' }, undef, $acme->token_for('members:manage'))->json;
my ($token) = $invited->{inviteUrl} =~ /#token=(.*)/;
my $guest = SvcTest::Browser->new($s);

$s->secret($token);
is(ask($guest, '/v1/auth/invitations/accept', { token => $token,
       password => $PASSWORD })->json->{error}{code}, 'mfa_enrollment_required',
   'an invitation is accepted');

my $first = enrolled($guest);

is(counted('e'), ':1', 'and the guess stays counted');

my ($again) = login('new@acme.test');

is(step_up($again, $first), 200, 'signs in again');
ok((wait_for { counted('e') eq ':1' }), 'which is given back') or diag(counted('e'));
forget();
policy($acme, 'allow');


# --- what is wrong ------------------------------------------------------------------------

forget();

my %seen;

$seen{ (login($ada, $HOME, 'wrong'))[1] }++ for 1 .. 9;
is_deeply(\%seen, { invalid_credentials => 3, rate_limited => 6 },
          'of nine wrong ones three are looked at');

forget();
login($ada, $HOME, 'wrong');

my ($b) = login($ada);

is(step_up($b, $factor), 200, 'behind a wrong one');
ok((wait_for { counted() eq ':2' }), 'which stays counted') or diag(counted());
login($ada, $HOME, 'wrong');
($b) = login($ada);
is(step_up($b, $factor), 'rate_limited', 'behind two there is no room for a second step');

forget();
($b) = login($ada);
is(ask($b, '/v1/mfa/step-up', wrong($factor))->status, 401, 'a wrong code');
is(step_up($b, $factor), 200, 'then the right one');
ok((wait_for { counted() eq ':2' }), 'the wrong one stays counted') or diag(counted());


# --- another window --------------------------------------------------------------------------

my ($bob, $bobs) = user('bob');

forget();
($b) = login($bob);
$s->sql("UPDATE svc.session SET created_at = created_at - interval '301 s'"
        . ' WHERE ended_at IS NULL');
is(step_up($b, $bobs), 200, 'begun in a window that is over');
ok((wait_for { counted() eq ':2' }), 'nothing is taken from this one') or diag(counted());


# --- Redis is gone ---------------------------------------------------------------------------

$s->redis->stop('KILL');

for my $n (1 .. 5) {
    my ($b, $answer) = login($ada);

    is($answer, 'step_up_required', "counted in memory: $n");
    is(step_up($b, $factor), 200, 'and given back');
}

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
