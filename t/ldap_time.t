#!/usr/bin/perl

# The time of a sign-in that a directory refuses does not tell whether it knows the user, nor
# whether we do.  This test runs alone, because it cannot tell the time of a bind from the load
# of other processes.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Connection qw(verified);
use SvcTest::Process qw(repeated);
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND);

my $TRUE = JSON::PP::true();
my $THERE = 'the password in the directory';

my $s = SvcTest->new(workers => 1, svc => {
    svc_sign_in => 'on', svc_federation => 'on', svc_federation_allow => '127.0.0.0/8',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                 'LOGIN_LOCKOUT_MAX 0' ] });
my $slapd = SvcTest::Slapd->new($s);

$slapd->launch;
$s->start;
$s->secret($THERE);

my $acme = $s->tenant('acme');

verified($s, $acme, 'example.test');
is($acme->admin(PUT => '/ldap', {
    url => $slapd->urls, bindDn => $SERVICE, bindPassword => $BIND, baseDn => $SUFFIX,
    userFilter => '(mail={email})', enabled => $TRUE, jitProvisioning => $TRUE,
    caCertificates => $slapd->ca, attributeMapping => {}, domains => [ 'example.test' ]
})->status, 200, 'configured');
$s->sql('UPDATE svc.ldap SET vouched_owner = true');

# a hash that costs much, so that a bind takes long

$slapd->person(ada => (userPassword => '{CRYPT}' . crypt $THERE, '$6$rounds=10000$abcdefgh$'));


sub login {
    my ($email, $password) = @_;

    return $s->http(POST => '/v1/auth/login', [],
                    { email => "$email\@example.test", password => $password // $THERE,
                      tenant => 'acme' });
}


# Returns the probability that one of the first kind takes longer than one of the second:
# 0.5 tells nothing.

sub auc {
    my ($n, $one, $two) = @_;

    my %time = ($one => [], $two => []);

    for my $i (1 .. $n) {
        for my $who ($i % 2 ? ($one, $two) : ($two, $one)) {
            my $since = time();
            my $status = login($who, 'wrong')->status;

            push @{ $time{$who} }, time() - $since;
            is($status, 401, $who) if $status != 401;
        }
    }

    my @all = sort { $a->[0] <=> $b->[0] } map { my $who = $_; map { [ $_, $who ] }
                                                 @{ $time{$who} } } keys %time;
    my $ranks = 0;

    $all[$_][1] eq $one and $ranks += $_ + 1 for 0 .. $#all;
    note(sprintf '%s: %.1f ms, %s: %.1f ms', map { ($_, 1000 * (sort { $a <=> $b }
                                                  @{ $time{$_} })[$n / 2]) } $one, $two);

    return ($ranks - $n * ($n + 1) / 2) / ($n * $n);
}

is(login('ada')->status, 200, 'a complete sign-in says how long they take') for 1 .. 5;

my $since = time();

login('nobody', 'wrong');

cmp_ok(time() - $since, '>', 0.01, 'nobody is refused as late as that');

# the bound around 0.5 is five times the deviation that chance makes with so many

my $n = repeated(SVC_TEST_TIMED => 100, 400);
my $apart = 2 / sqrt $n;

my $auc = auc($n, 'ada', 'nobody');

cmp_ok($auc, '>', 0.5 - $apart, "time does not tell who is known: $auc");
cmp_ok($auc, '<', 0.5 + $apart, 'either way');
note("AUC $auc of $n each");

$slapd->stop;
$s->done;
done_testing();
