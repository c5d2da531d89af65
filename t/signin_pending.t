#!/usr/bin/perl

# A sign-in that waits for something: a lock ends it, and it must present a
# factor that its user gets meanwhile.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled policy);

my $s = SvcTest->new(svc => { svc_sign_in => 'on',
                              svc_password_hash => 'memory=7m iterations=1',
                              svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 100000',
                                           'RATE_LIMIT_LOGIN_EMAIL_MAX 100000' ] },
                     workers => 1)->start;
my $acme = $s->tenant('acme');
my $api = $acme->token_for('members:manage,users:view');

$s->secret($PASSWORD);


sub browser { return SvcTest::Browser->new($s, tenant => 'acme') }
sub user { return with_password($s, $acme, userName => "$_[0]\@acme.test")->{id} }

sub code { return { code => totp($_[0]{secret}, $_[1] // 0) } }
sub wrong { return { code => sprintf '%06d', (totp($_[0]{secret}) + 333_333) % 1_000_000 } }


# --- a lock in the middle of a challenge -------------------------------------------

{
    my $id = user('ada');
    my $b = browser();

    is($b->login('ada@acme.test')->status, 200, 'a session');

    my $factor = enrolled($b);

    browser()->login('ada@acme.test', 'wrong') for 1 .. 8;

    my $half = browser();
    my $other = browser();

    admin_error($_->login('ada@acme.test'), 403, 'step_up_required',
                'the right password after eight wrong ones') for $half, $other;
    admin_error($half->post('/v1/mfa/step-up', wrong($factor)), 401, 'invalid_code',
                'a wrong code');
    admin_error($half->post('/v1/mfa/step-up', wrong($factor)), 429, 'account_locked',
                'another one locks the account');

    # another attempt is told why, while the lock lasts

    for my $shown (totp($factor->{secret}), $factor->{codes}[0]) {
        admin_error($_->post('/v1/mfa/step-up', { code => $shown }), 429, 'account_locked',
                    'what is right is of no use') for $half, $other;
    }

    admin_error($_->post('/v1/mfa/challenge', {}), 429, 'account_locked', 'nor is asking')
        for $half, $other;
    admin_error($half->ask(DELETE => '/v1/mfa/factors/' . $factor->{id}), 401, 'unauthenticated',
                'and to all else it has ended');

    for my $waits ($half, $other) {
        is($waits->get('/v1/auth/session')->status, 401, 'what waited has ended');
    }

    is($b->get('/v1/auth/session')->status, 200, 'what was complete goes on');

    $acme->admin(POST => '/users/unlock', { userId => $id }, undef, $api);
    admin_error($_->post('/v1/mfa/step-up', wrong($factor)), 401, 'unauthenticated',
                'unlocked: no guess without the password') for $half, $other;
}


# --- a factor that comes meanwhile ---------------------------------------------------

# waiting for a new password

{
    my $id = user('bob');
    my $b = browser();

    is($b->login('bob@acme.test')->status, 200, 'a session');
    is($acme->admin(PUT => '/password-policy', { maxAgeDays => 30 }, undef,
                    $acme->token_for('tenant:manage'))->status, 200, 'passwords become old');
    $s->sql("UPDATE svc.password SET set_at = now() - interval '31 days'"
            . " WHERE user_id = '$id'");

    my $late = browser();

    admin_error($late->login('bob@acme.test'), 403, 'password_expired',
                'an old password');

    my $factor = enrolled($b);

    is($late->post('/v1/auth/password', { newPassword => 'another quiet harbour 42' })
           ->status, 401, 'who waits with it has not met the factor: it has ended');
    admin_error($late->login('bob@acme.test'), 403, 'step_up_required', 'and is met anew');
    admin_error($late->post('/v1/mfa/step-up', code($factor)), 403, 'password_expired',
                'with the factor');
    is($late->post('/v1/auth/password', { newPassword => 'another quiet harbour 42' })
           ->status, 200, 'it is complete');
}

# waiting to enroll because the policy requires a factor

{
    user('eve');

    my $b = browser();

    is($b->login('eve@acme.test')->status, 200, 'a session');
    policy($acme, 'mfa');

    my ($first, $second) = map {
        my $late = browser();
        admin_error($late->login('eve@acme.test'), 403, 'mfa_enrollment_required',
                    'a factor is wanted');
        $late;
    } 1, 2;

    my $factor = enrolled($first);

    is($first->get('/v1/auth/session')->status, 200, 'who adds it is signed in');
    is($second->post('/v1/mfa/totp', {})->status, 401,
       'and nobody adds another one who has not shown it');
    admin_error($second->login('eve@acme.test'), 403, 'step_up_required', 'it is met');
    is($b->get('/v1/auth/session')->status, 200, 'what was complete goes on');
}

$s->done;
done_testing();
