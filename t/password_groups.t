#!/usr/bin/perl

# A group's password policy: the fields that it sets replace the tenant's,
# looser or stricter; of several groups the strictest value counts.

use strict;
use warnings;

use JSON::PP;
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD $HASH with_password);

my ($true, $false) = (JSON::PP::true, JSON::PP::false);

my $s = SvcTest->new(svc => { svc_sign_in => 'on',
                              svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000',
                                           'RATE_LIMIT_LOGIN_EMAIL_MAX 1000' ] })
               ->start;
my $acme = $s->tenant('acme');
my $all = $acme->token(kind => 'api', permissions => 'users:manage,groups:manage,'
                       . 'tenant:manage')->{token};
my $ada = with_password($s, $acme, userName => 'ada@acme.test');

$s->secret($PASSWORD, $all);

sub admin { return $acme->admin(@_[0 .. 2], undef, $all) }


sub tenant_policy {
    my $r = admin(PUT => '/password-policy', { @_ });

    $r->status == 200 or die $r->body;
}


# Puts Ada into the groups with these policies, and into no other.

my @groups = map { admin(POST => '/groups', { name => $_ })->json->{id} } qw(A B C);

sub groups {
    my (@policies) = @_;

    for my $group (@groups) {
        my $policy = shift @policies;
        my $member = $s->sql('SELECT count(*) FROM svc.group_member WHERE group_id ='
                             . " '$group'");

        if (!$policy) {
            admin(DELETE => "/groups/$group/members/$ada->{id}") if $member;
            next;
        }

        admin(POST => "/groups/$group/members", { userIds => [ $ada->{id} ] })
            if !$member;

        if (%$policy) {
            my $r = admin(PUT => "/password-policy/groups/$group", $policy);

            $r->status =~ /^20[01]$/ or die $r->body;

        } else {
            admin(DELETE => "/password-policy/groups/$group");
        }
    }

    is($s->sql('SELECT count(*) FROM svc.group_member'), scalar(grep { $_ } @_),
       'in as many groups');
}


# Tries a password.  Returns the first rule that it breaks, or '' when it has
# been set.

sub set {
    my ($password) = @_;

    my ($token) = $s->svcctl('user', 'reset-link', '--tenant', 'acme', '--email',
                             'ada@acme.test') =~ /^token  ([\w-]{43})$/m;
    my $r = SvcTest::Browser->new($s, tenant => 'acme')
            ->post('/v1/auth/password/reset', { tenant => 'acme', token => $token,
                                                password => $password });

    $s->secret($token, $password);

    return '' if $r->status == 204;

    $r->json->{error}{code} eq 'password_rejected' or die $r->body;

    return $r->json->{error}{message} =~ /^(\w+): / ? $1 : die $r->body;
}


# Deletes the password's history.

sub forget {
    $s->sql('DELETE FROM svc.password_history');
    $s->sql("UPDATE svc.password SET hash = '$HASH'");
}


sub stage {
    my ($password) = @_;

    my $r = SvcTest::Browser->new($s, tenant => 'acme')
            ->login('ada@acme.test', $password);

    return $r->status == 200 ? 'full' : $r->json->{error}{code};
}


# --- what a new password must be ---------------------------------------------------

my %strict = (minLength => 14, requireLower => $true, requireUpper => $true,
              requireDigit => $true, requireSymbol => $true,
              rejectBreached => $true, rejectContextual => $true,
              historyCount => 24, maxAgeDays => 30);
my %loose = (minLength => 8, map({ $_ => $false } qw(requireLower requireUpper
             requireDigit requireSymbol rejectBreached rejectContextual)),
             historyCount => 0, maxAgeDays => 0);

# passwords that only this rule refuses

my %fails = (minLength => 'kX4!vrw&2Zq9z', requireLower => 'KX4!VRW&2ZQ9ZTT',
             requireUpper => 'kx4!vrw&2zq9ztt', requireDigit => 'kXf!vrw&bZqqztt',
             requireSymbol => 'kX4qvrwq2Zq9ztt', rejectBreached => 'P@ssw0rd1234!!',
             rejectContextual => 'Acme2026!Acme2');

tenant_policy(%strict);
is(set($fails{$_}), $_, "the tenant's policy: $_") for sort keys %fails;

for my $rule (sort keys %fails) {
    groups({ $rule => $loose{$rule} });
    is(set($fails{$rule}), '', "a group's is looser, and counts: $rule");
    forget();

    groups({ $rule => $loose{$rule} }, { $rule => $strict{$rule} });
    is(set($fails{$rule}), $rule, "of two groups the strictest: $rule");

    groups({ $rule => $loose{$rule} }, {});
    is(set($fails{$rule}), '', "a group that says nothing does not count: $rule");
    forget();

    my ($other) = grep { $_ ne $rule } sort keys %fails;

    groups({ $other => $loose{$other} });
    is(set($fails{$rule}), $rule, "what no group says is as the tenant's: $rule");
}

tenant_policy(%loose);
groups({ minLength => 20 }, { minLength => 16 });
is(set('kX4!vrw&2Zq9zttzzz'), 'minLength', 'a stricter one counts, as it did');


# --- old passwords -----------------------------------------------------------------

my @old = map { "kX4!vrw&2Zq9ztt$_" } 1 .. 5;

tenant_policy(%strict, maxAgeDays => 0);
groups();
is(set($_), '', 'one after the other') for @old;
is(set($old[2]), 'historyCount', "an old one, by the tenant's");
groups({ historyCount => 1 });
is(set($old[3]), 'historyCount', "the one before, by the group's");
is(set($old[1]), '', 'an older one may come again');
groups({ historyCount => 1 }, { historyCount => 24 });
is(set($old[0]), 'historyCount', 'of two groups the strictest');


# --- how old they may be -------------------------------------------------------------

groups();
$s->sql("UPDATE svc.password SET set_at = now() - interval '60 days'");

my $now = $old[1];

for my $case ([ 0, [], 'full' ], [ 30, [], 'password_expired' ],
              [ 30, [ 0 ], 'full' ], [ 30, [ 90 ], 'full' ],
              [ 30, [ 0, 90 ], 'full' ], [ 30, [ 0, 90, 59 ], 'password_expired' ],
              [ 0, [ 30 ], 'password_expired' ], [ 90, [ 30 ], 'password_expired' ],
              [ 30, [ undef ], 'password_expired' ], [ 30, [ undef, 90 ], 'full' ])
{
    my ($days, $groups, $stage) = @$case;
    my $name = "$days days, of groups: "
               . join ', ', map { defined $_ ? $_ : 'nothing' } @$groups;

    tenant_policy(%strict, maxAgeDays => $days);
    groups(map { defined $_ ? { maxAgeDays => $_ } : {} } @$groups);
    is(stage($now), $stage, $name);
}

$s->done;
done_testing();
