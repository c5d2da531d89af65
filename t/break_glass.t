#!/usr/bin/perl

# Shows that, while people of a domain must come in by one connection, nothing takes away
# the last active owner who has a passkey, whoever asks and by which way; and that an
# operator can release the domains.

use strict;
use warnings;
use utf8;

use FindBin;
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Authenticator;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Passkey qw(register sign_in);
use SvcTest::Process qw(wait_for);
use SvcTest::Realm qw(verified saml force);
use SvcTest::Scim;

my $ORIGIN = 'http://localhost';
my $FALSE = JSON::PP::false();

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_federation => 'on',
                              svc_base_url => $ORIGIN,
                              svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000' ] })->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);
$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");

my @own = map { with_password($s, $acme, userName => "$_\@acme.test", role => 'owner') }
              qw(first second);
my $member = with_password($s, $acme, userName => 'ada@acme.test');
my %keys = map { $_->{userName} => SvcTest::Authenticator->new("$FindBin::Bin/..", $ORIGIN) }
               @own, $member;

# tokens that owners have made act on owners

$s->sql("UPDATE svc.credential SET created_by_type = 'user',"
        . " created_by_id = '$own[1]{id}', created_by_role = 'owner'")
    if $s->sql("SELECT count(*) FROM information_schema.columns WHERE table_schema = 'svc'"
               . " AND table_name = 'credential' AND column_name = 'created_by_role'");


sub browser { return SvcTest::Browser->new($s, tenant => 'acme') }


sub added {
    my ($user) = @_;

    my $b = browser();

    is($b->login($user->{userName})->status, 200, 'signed in');

    my $r = register($b, $keys{ $user->{userName} });

    is($r->status, 201, "$user->{userName} has a passkey") or diag($r->body);

    return $r->json->{factor}{id};
}


sub signed_in {
    my ($user) = @_;

    my $b = browser();

    is(sign_in($b, $keys{ $user->{userName} })->status, 200, 'by passkey');

    return $b;
}


sub row {
    return $s->sql("SELECT role || ' ' || status || ' ' || (SELECT count(*) FROM svc.passkey p"
                   . " WHERE p.user_id = u.id) FROM svc.user_account u WHERE id = '$_[0]{id}'");
}


my $factor = added($own[0]);
my $hers = added($member);

verified($s, $acme, 'acme.test');

my $saml = saml($s, $acme);

force($s, $acme, 'acme.test', $saml);

my $b = signed_in($own[0]);
my $second = browser();

$s->sql("UPDATE svc.domain SET sign_in = NULL, rp_id = NULL");
$second->login('second@acme.test');
force($s, $acme, 'acme.test', $saml);

my ($first, $other) = map { $_->{id} } @own;

my @ways = (
    [ 'DELETE of the passkey', sub { $b->ask(DELETE => "/v1/mfa/factors/$factor") } ],
    [ 'reset-mfa', sub { $second->post("/v1/admin/users/$first/reset-mfa") } ],
    [ 'a role', sub { $second->ask(PUT => "/v1/admin/members/$first",
                                   { role => 'admin' }) } ],
    [ 'removal', sub { $second->ask(DELETE => "/v1/admin/members/$first") } ],
    [ 'suspension', sub { $second->post("/v1/admin/users/$first/suspend") } ],
    [ 'erasure', sub { $second->ask(DELETE => "/v1/admin/users/$first") } ],
    [ 'SCIM active:false', sub { $acme->scim(PATCH => "/Users/$first", {
        schemas => [ 'urn:ietf:params:scim:api:messages:2.0:PatchOp' ],
        Operations => [ { op => 'replace', path => 'active', value => $FALSE } ] }) } ],
    [ 'SCIM PUT', sub { $acme->scim(PUT => "/Users/$first", {
        schemas => [ 'urn:ietf:params:scim:schemas:core:2.0:User' ],
        userName => 'first@acme.test', active => $FALSE }) } ],
    [ 'SCIM DELETE', sub { $acme->scim(DELETE => "/Users/$first") } ],
);

for (@ways) {
    my ($what, $ask) = @$_;
    my $r = $ask->();

    is($r->status, 400, $what) or diag($r->body);
    like($r->body, qr/an active owner must keep a passkey/, 'says why');
    like($r->body, qr/anti_lockout/, 'and is anti_lockout') if $what !~ /SCIM/;
    is(row($own[0]), 'owner active 1', 'nothing has changed');
}

is($b->get('/v1/auth/session')->status, 200, 'the session goes on');

# what is not the last one goes

is($second->post("/v1/admin/users/$member->{id}/reset-mfa")->status, 200,
   "a member's passkey is none of it");
is($second->ask(DELETE => "/v1/admin/users/$member->{id}")->status, 204, 'nor is a member');
is($b->post("/v1/admin/users/$other/suspend")->status, 200,
   'an owner without a passkey is none of it');
is($b->post("/v1/admin/users/$other/reactivate")->status, 200, 'and comes back');


# --- two of them ----------------------------------------------------------------------

$s->sql("UPDATE svc.domain SET sign_in = NULL, rp_id = NULL");
added($own[1]);
force($s, $acme, 'acme.test', $saml);
$second = signed_in($own[1]);

my ($one, $two) = map { $s->connect_as('svc_app') } 1, 2;

for ($one, $two) {
    $_->query('BEGIN');
    $_->query("SELECT set_config('svc.tenant', '$acme->{id}', true)");
}

$one->query("DELETE FROM svc.factor WHERE tenant_id = '$acme->{id}' AND user_id = '$first'");

# the second one waits for the first

$two->begin("DELETE FROM svc.factor WHERE tenant_id = '$acme->{id}'"
            . " AND user_id = '$other'");

wait_for { $s->sql("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0 };
$one->query('COMMIT');
ok(!eval { $two->until_ready; 1 }, 'of two that go at once');
like($@, qr/an active owner must keep a passkey/, 'one stays');
is(row($own[0]), 'owner active 0', 'one has gone');
is(row($own[1]), 'owner active 1', 'one is there');


# --- the operator -----------------------------------------------------------------------

verified($s, $acme, 'beta.test');
force($s, $acme, 'beta.test', $saml);
is($s->svcctl(qw(federation release --tenant acme)),
   "released acme.test beta.test\n", 'svcctl federation release');
is($s->svcctl(qw(federation release --tenant acme)), "no domain of acme has to be released\n",
   'once more');
is_deeply([ sort map { $_->[0] } ($acme->events_where("action = 'domain.sign_in_released'",
                                                    'target_id'))[-2, -1] ],
          [ qw(acme.test beta.test) ], 'audited');
is(browser()->login('nobody@acme.test')->status, 401, 'passwords are asked for again');
is($second->post("/v1/admin/users/$first/suspend")->status, 200, 'and owners may go');


# --- a tenant that goes ---------------------------------------------------------------------

force($s, $acme, 'acme.test', $saml);
ok(eval { $s->sql("DELETE FROM svc.tenant WHERE id = '$acme->{id}'"); 1 },
   'a tenant goes with its owners') or diag($@);
is(scalar($s->sql("SELECT count(*) FROM svc.domain WHERE tenant_id = '$acme->{id}'")), 0,
   'and its domains');

done_testing();
