#!/usr/bin/perl

# The bad input that every route gets, to the routes of sign-in.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::BadInput;
use SvcTest::Mail qw(nowhere);
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Routes qw(admin_routes);


my $s = SvcTest->new(svc => { svc_body_timeout => '1s', svc_sign_in => 'on', nowhere(),
                              svc_organization_signup => 'on',
                              svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0',
                                           'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                                           'RATE_LIMIT_SIGNUP_WINDOW 0' ]
                            })->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');

my $b = SvcTest::Browser->new($s);

is($b->login('ada@acme.test')->status, 200, 'a session');


# A valid body of each route that reads one; one that is missing makes the test
# die.

my $id = '00000000-0000-4000-8000-000000000000';
my %BODY = (
    'POST /auth/login' => { email => 'ada@acme.test', password => 'x' },
    'POST /auth/password' => { currentPassword => $PASSWORD,
                               newPassword => 'quite another passphrase' },
    'POST /auth/password/forgot' => { email => 'ada@acme.test' },
    'POST /auth/passwordless/start' => { email => 'ada@acme.test' },
    'POST /auth/passwordless/verify' => { token => 'A' x 43 },
    'POST /auth/password/reset' => { token => 'A' x 43,
                                     password => 'quite another passphrase' },
    'POST /auth/signup' => { email => 'ada@acme.test',
                             password => 'quite another passphrase' },
    'POST /auth/signup/verify' => { token => 'A' x 43 },
    'POST /auth/organizations' => { slug => 'new', name => 'New', email => 'a@acme.test',
                                    password => 'quite another passphrase' },
    'POST /auth/organizations/verify' => { token => 'A' x 43 },
    'POST /auth/invitations/lookup' => { token => 'A' x 43 },
    'POST /auth/invitations/accept' => { token => 'A' x 43, displayName => 'Ada',
                                         password => 'quite another passphrase' },
    'PATCH /auth/profile' => { displayName => 'Ada' },
    'POST /auth/email/verify' => { code => '123456' },
    'POST /auth/email/change' => { email => 'ada@new.test' },
    'POST /auth/email/change/verify' => { code => '123456' },
    'POST /auth/passkey/options' => { tenant => 'acme' },
    'POST /auth/passkey/verify' => { credential => {} },
    'POST /mfa/challenge' => { method => 'totp' },
    'POST /mfa/step-up' => { code => '123456' },
    'POST /mfa/totp' => { name => 'Phone' },
    'POST /mfa/totp/*/confirm' => { code => '123456' },
    'POST /mfa/email/*/confirm' => { code => '123456' },
    'POST /mfa/passkeys/options' => { name => 'Laptop' },
    'POST /mfa/passkeys' => { credential => {} },
    'PATCH /mfa/factors/*' => { name => 'Phone' },
);

my @routes;

for my $route (grep { $_->{path} =~ m{^/(?:auth|mfa)/} } admin_routes($s->root)) {
    my $name = "$route->{method} $route->{path}";
    my $body = $BODY{$name};

    die "$name: no body\n" if $route->{json} && !defined $body;

    # whose session it is, and what ids are, the tests of each route ask

    push @routes, [ $route->{method}, "/v1$route->{path}" =~ s/\*/$id/gr, $body,
                    { public => 1, small => $route->{small} } ];
}

bad_input($s, {
    envelope => \&admin_error,
    headers  => [ Cookie => $b->cookie, 'X-CSRF-Token' => $b->{csrf} ],
    stored   => sub {
        return $s->sql('SELECT (SELECT md5(string_agg(u::text, \'\' ORDER BY id))'
                       . ' FROM svc.user_account u) || (SELECT count(*) FROM'
                       . ' svc.session WHERE ended_at IS NULL) || \' \' ||'
                       . ' (SELECT count(*) FROM svc.audit_event)');
    },
    missing  => $id,
    routes   => \@routes,
});

$s->done;
done_testing();
