#!/usr/bin/perl

# Shows that attempts at an address are counted across all tenants: unlocking a user
# gives back those that failed in that tenant, and none at the same address in another
# one.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(wait_for);

my %SVC = (svc_sign_in => 'on', svc_password_hash => 'memory=7m iterations=1',
           svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 100000', 'LOGIN_LOCKOUT_MAX 0' ]);

my $s = SvcTest->new(svc => { %SVC }, workers => 1)->start;
my ($acme, $evil) = map { $s->tenant($_) } qw(acme evil);
my %token = map { $_->{slug} => $_->token_for('members:manage,users:view') } $acme, $evil;

$s->secret($PASSWORD);
with_password($s, $_, userName => 'vic@acme.test') for $acme, $evil;


sub login {
    my ($tenant, $password) = @_;

    return SvcTest::Browser->new($s, tenant => $tenant->{slug})
        ->login('vic@acme.test', $password // 'wrong');
}

sub unlock {
    my ($tenant) = @_;

    return $tenant->admin(POST => '/users/unlock', { email => 'vic@acme.test' }, undef,
                          $token{ $tenant->{slug} })->status;
}

sub tries { return join ' ', map { login(@_)->status } 1 .. 12 }


for my $round ('Redis', 'memory') {

    if ($round eq 'memory') {
        $s->redis->stop('KILL');
    }

    is(tries($acme), join(' ', (401) x 10, (429) x 2), "$round: ten tries");
    is(unlock($evil), 200, 'a tenant of his own unlocks its user');
    is(tries($acme), join(' ', (429) x 12), 'which gives him no try at another one');
    is(unlock($acme), 200, 'the tenant in which they failed unlocks him');
    is(login($acme, $PASSWORD)->status, 200, 'who may sign in at once');
    is(unlock($acme), 200, 'and again');

    is(login($evil)->status, 401, 'a failure there');
    is(tries($acme), join(' ', (401) x 9, (429) x 3), 'counts here');
    unlock($evil) for 1 .. 5;
    is(tries($acme), join(' ', 401, (429) x 11), 'and is given back once');
    is(unlock($acme), 200, 'as those of here');
    is(login($acme, $PASSWORD)->status, 200, 'are');
}

$s->done;
done_testing();
