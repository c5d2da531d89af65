#!/usr/bin/perl

# Sign-ins by a directory while something goes: the client, PostgreSQL, the directory, the
# worker. Nobody is half signed in, and nobody is locked out.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Connection qw(verified);
use SvcTest::Process qw(signal_pid slow wait_for);
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND);

my $TRUE = JSON::PP::true();
my $THERE = 'the password in the directory';
my %SVC = (svc_sign_in => 'on', svc_federation => 'on', svc_federation_allow => '127.0.0.0/8',
           svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 20' ]);

my $s = SvcTest->new(workers => 1, svc => { %SVC });
my $slapd = SvcTest::Slapd->new($s);

$slapd->launch;
$s->start;
$s->secret($THERE);

my $acme = $s->tenant('acme');
my @workers = $s->workers;

verified($s, $acme, 'example.test');
is($acme->admin(PUT => '/ldap', {
    url => $slapd->urls, bindDn => $SERVICE, bindPassword => $BIND, baseDn => $SUFFIX,
    userFilter => '(mail={email})', enabled => $TRUE, jitProvisioning => $TRUE,
    caCertificates => $slapd->ca, attributeMapping => {}, domains => [ 'example.test' ]
})->status, 200, 'configured');
$s->sql('UPDATE svc.ldap SET vouched_owner = true');
$slapd->person($_ => (userPassword => $THERE)) for qw(ada bob);


sub login {
    return SvcTest::Browser->new($s, tenant => 'acme')->login("$_[0]\@example.test", $THERE);
}

sub begin {
    my ($who, %opt) = @_;

    return $s->begin(POST => '/v1/auth/login', [ Connection => 'close' ],
                     { email => "$who\@example.test", password => $THERE, tenant => 'acme' }, %opt);
}

# Begins a sign-in of somebody new, which waits for slapd, as that is stopped.

sub waiting {
    ok((wait_for { !$slapd->queued }), 'nothing waits');
    $slapd->hold;

    my $c = begin('bob', @_);

    ok((wait_for { $slapd->queued }), 'the directory is asked');

    return $c;
}

sub nobody_new {
    is(join(' ', map { scalar $s->sql("SELECT count(*) FROM svc.$_") }
                     qw(user_account federated_identity)), '1 1', 'nobody has come in');
    is($s->sql('SELECT count(*) FROM svc.session s JOIN svc.user_account u ON u.id = s.user_id'
               . " WHERE u.user_name NOT LIKE 'ada%'"), 0, 'nor has a session');
}

is(login('ada')->status, 200, 'she signs in, and her connection is kept');


# --- a client that goes ---------------------------------------------------------------------

my $c = waiting();

$c->abort;
$slapd->go_on;
is(login('ada')->status, 200, 'others go on');
$s->unharmed(\@workers, 'a client that leaves');
nobody_new();


# --- PostgreSQL goes ------------------------------------------------------------------------

$c = waiting();
$s->pg->stop('QUIT');
$slapd->go_on;
is($c->read->status, 503, 'PostgreSQL goes meanwhile');
$s->pg->launch;
ok((wait_for { login('ada')->status == 200 }), 'and comes back');
nobody_new();


# --- what changes meanwhile -----------------------------------------------------------------

my %change = ('is switched off' => [ 'enabled = false', 'enabled = true' ],
              'changes' => [ 'updated_at = now()', 'updated_at = now()' ],
              'is vouched for by nobody' => [ 'vouched_owner = false', 'vouched_owner = true' ]);

for my $what (sort keys %change) {
    $c = waiting();
    $s->sql("UPDATE svc.ldap SET $change{$what}[0]");
    $slapd->go_on;
    admin_error($c->read, 503, 'unavailable', "a directory that $what meanwhile");
    $s->sql("UPDATE svc.ldap SET $change{$what}[1]");
}


# its domain, which would prove the address

$c = waiting();
$s->sql('UPDATE svc.domain SET verified_at = NULL');
$slapd->go_on;
admin_error($c->read, 403, 'email_unverified', 'a domain that is not verified any more');
$s->sql('UPDATE svc.domain SET verified_at = now()');
nobody_new();

# a lock of an address that was nobody's: for somebody new, and for who has an account now

SvcTest::Browser->new($s, tenant => 'acme')->login('bob@example.test', 'wrong');
$s->sql('UPDATE svc.login_phantom SET locked_until = NULL');

for my $who ('somebody new', 'an account') {
    my $lock = q(UPDATE svc.login_phantom SET locked_until = now() + interval '1 minute');

    $c = waiting();
    $s->sql($lock);
    $slapd->go_on;
    admin_error($c->read, 429, 'account_locked', "a lock that comes meanwhile: $who");
    $s->sql('UPDATE svc.login_phantom SET locked_until = NULL');

    if ($who eq 'somebody new') {
        nobody_new();
        $acme->create(userName => 'bob@example.test');
    }
}


# --- two first sign-ins at once -------------------------------------------------------------

$slapd->person(kim => (userPassword => $THERE));
$slapd->hold;

my @both = map { begin('kim') } 1 .. 2;

ok((wait_for { $slapd->queued }), 'two ask');
$slapd->go_on;

my @status = sort map { $_->read->status } @both;

is($status[0], 200, 'one comes in');
like($status[1], qr/200|503/, 'and the other one then, or now');
is($s->sql("SELECT count(*) FROM svc.user_account WHERE user_name LIKE 'kim%'"), 1,
   'as the same user');
is(login('kim')->status, 200, 'who comes in again');


# --- a directory that hangs -----------------------------------------------------------------

$slapd->hold;

my $since = time;
my @c = map { begin('bob') } 1 .. 3;

admin_error($_->read, 503, 'unavailable', 'a directory that hangs') for @c;
cmp_ok(time - $since, '<', slow(9), 'is waited for no longer than that');
$since = time;
admin_error(login('ada'), 503, 'unavailable', 'and then not asked');
cmp_ok(time - $since, '<', slow(2), 'at all');
$slapd->go_on;


# --- a worker that quits --------------------------------------------------------------------

my $node = $s->node(svc => { %SVC });

$c = waiting(port => $node->{port});
$node->stop;
is($c->read, undef, 'a node that ends: no answer');
$slapd->go_on;

# the worker that rests goes, too

$c = begin('ada');
$s->reload(linger => 1);
is($c->read->status, 503, 'a reload lets it end');
is(login('bob')->status, 200, 'a new worker asks again');

$slapd->stop;
$s->done;
done_testing();
