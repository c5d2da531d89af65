#!/usr/bin/perl

# A request that fails by the server's fault is not counted: an outage of
# PostgreSQL locks nobody out, with Redis and without.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(wait_for);

my %SVC = (svc_sign_in => 'on',
           svc_password_hash => 'memory=7m iterations=1',
           svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 10', 'RATE_LIMIT_SIGNUP_IP_MAX 5' ]);

my $s = SvcTest->new(svc => { %SVC }, workers => 1)->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test');


sub login {
    my ($password) = @_;

    return SvcTest::Browser->new($s, tenant => 'acme')->login('ada@acme.test', $password);
}

sub sign_up {
    return SvcTest::Browser->new($s, tenant => 'acme')
        ->post('/v1/auth/signup', { email => 'new@acme.test', password => $PASSWORD,
                                    tenant => 'acme' });
}

sub hits {
    my ($family) = @_;

    return join ' ', map { $s->redis->command("GET $_") =~ s/\D+//gr }
           sort grep { /^svc\.rate\.$family\./ }
           map { s/\r?\n//r } $s->redis->lines('KEYS', '*');
}


for my $round ('with Redis', 'without') {

    if ($round eq 'without') {
        $s->redis->stop('KILL');
        ok((wait_for { login()->status == 200 }), 'it is counted in memory');
    }

    is(login()->status, 200, "$round: the right password");
    is(login('wrong')->status, 401, 'and a wrong one');

    $s->pg->stop('QUIT');

    is(join(' ', map { login()->status } 1 .. 14), join(' ', (503) x 14),
       'PostgreSQL is away: each of many is told so');
    is(join(' ', map { sign_up()->status } 1 .. 7), join(' ', (503) x 7),
       'of another family, too');
    admin_error(login('wrong'), 503, 'unavailable', 'whatever the password');

    $s->pg->launch;

    ok((wait_for { login()->status == 200 }), 'and then they sign in');
    is(hits('l'), '1 1', 'the wrong one alone has been counted') if $round eq 'with Redis';
    is(join(' ', map { login('wrong')->status } 1 .. 8), join(' ', (401) x 8),
       'what is answered counts')
        if $round eq 'with Redis';
    $s->sql('UPDATE svc.user_account SET failed_logins = 0, locked_until = NULL,'
            . ' failed_since = NULL');
}

$s->done;
done_testing();
