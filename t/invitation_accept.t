#!/usr/bin/perl

# Shows what an invitation's link tells, and the account that accepting it makes.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;

my $LOOKUP = '/v1/auth/invitations/lookup';
my $ACCEPT = '/v1/auth/invitations/accept';
my @TOLD = qw(action target_type target_id actor_type actor_id details);

my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s, svc_sign_in => 'on',
    svc_password_hash => 'queue=64 timeout=30s',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 300' ]);

$s->start;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my ($all, $theirs) = map { $_->token_for($ALL) } $acme, $globex;
my @workers = $s->workers;
my $n = 0;

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");
$s->secret($PASSWORD);

my $hook = $receiver->hook($acme, '/ok', events => [ qw(user.created user.login) ]);

sub admin { return $acme->admin(@_[0 .. 2], undef, $all) }
sub browser { return SvcTest::Browser->new($s, @_) }


# Makes an invitation; returns it with the token of its link.

sub invited {
    my (%body) = @_;

    my $tenant = delete $body{tenant} // $acme;
    my $r = $tenant->admin(POST => '/invitations',
        { email => 'new' . ++$n . '@acme.test', role => 'member', %body }, undef,
        $tenant == $acme ? $all : $theirs);

    die "$r->{status} $r->{body}\n" if $r->status != 201;

    my $in = $r->json;

    ($in->{token}) = $in->{inviteUrl} =~ /#token=(.*)/;
    $s->secret($in->{token});

    return $in;
}


sub accept_it {
    my ($in, %more) = @_;

    my $b = delete $more{browser} // browser();

    return $b->post($ACCEPT, { token => ref $in ? $in->{token} : $in,
                               password => $PASSWORD, %more });
}


sub lookup {
    my ($in, %more) = @_;

    return browser()->post($LOOKUP, { token => ref $in ? $in->{token} : $in, %more });
}


sub users {
    return scalar $s->sql("SELECT count(*) FROM svc.user_account WHERE user_name_key ="
                          . " lower('$_[0]{email}')");
}


sub status_of {
    my ($in) = @_;

    return (map { $_->{status} } grep { $_->{id} eq $in->{id} }
            @{ admin(GET => '/invitations?limit=500')->json->{invitations} })[0];
}


# Checks that neither route knows the token, and that no account is made.

sub none {
    my ($in, $name, %more) = @_;

    my $users = ref $in ? users($in) : 0;

    admin_error(lookup($in, %more), 400, 'invalid_invite', "$name: lookup");

    my $r = accept_it($in, %more);

    admin_error($r, 400, 'invalid_invite', "$name: accept");
    is($r->header('Set-Cookie'), undef, "$name: no cookie");
    is(users($in), $users, "$name: no account") if ref $in;
}


# --- an invitation is accepted --------------------------------------------------------

my ($staff, $gone) = map { admin(POST => '/groups', { name => $_ })->json->{id} }
                     qw(Staff Gone);

admin(POST => '/roles', { key => $_, name => $_, permissions => [ 'audit:view' ] })
    for qw(auditor former);
admin(POST => '/password-policy/groups', { groupId => $staff, minLength => 20 });

my $in = invited(email => 'Carol@acme.test', role => 'auditor',
                 groupIds => [ $staff, $gone ]);

is(admin(DELETE => "/groups/$gone")->status, 204, 'a group that goes meanwhile');

my $r = lookup($in);

is($r->status, 200, 'the link is looked up') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'and kept by nobody');

my $seen = $r->json;
my $policy = delete $seen->{passwordPolicy};

is_deeply($seen, { email => 'Carol@acme.test', role => 'auditor',
                   tenant => { slug => 'acme', name => 'Acme' } }, 'what it is');
is($policy->{minLength}, 20, 'the password must be as one of its groups');
is_deeply([ sort keys %$policy ],
          [ qw(minLength rejectBreached rejectContextual requireDigit requireLower
               requireSymbol requireUpper) ], 'what a page needs of the policy');
is(lookup($in)->status, 200, 'which takes nothing away');

for my $bad ([ 'quite some words', 'minLength', 'too short for the group' ],
             [ 'carol is what she is called', 'rejectContextual', 'of the address' ])
{
    my ($password, $rule, $name) = @$bad;

    $r = accept_it($in, password => $password);

    my $error = admin_error($r, 400, 'password_rejected', $name);

    like($error->{message}, qr/^$rule: /, "$name: it says why");
}

is(users($in), 0, 'nobody is there yet');
$acme->new_events(@TOLD);

my $b = browser();

$r = accept_it($in, browser => $b, displayName => 'Carol Ö');
is($r->status, 201, 'accepted') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'and not kept');

my $session = $r->json;
my $id = $session->{user}{id};

is_deeply($session->{user}, { id => $id, email => 'Carol@acme.test',
                              displayName => 'Carol Ö', locale => undef }, 'who it is');
is($session->{role}, 'auditor', 'with the role');
is_deeply($session->{permissions}, [ 'audit:view' ], 'and what it grants');
is($session->{csrfToken}, $b->{csrf}, 'and the CSRF token');
is($b->get('/v1/auth/session')->status, 200, 'signed in');
is($b->get('/v1/admin/audit')->status, 200, 'and may what the role says');

my $user = $acme->admin(GET => "/users/$id", undef, undef, $all)->json;

is_deeply({ map { $_ => $user->{$_} } qw(status source emailVerified role displayName) },
          { status => 'active', source => 'invitation', role => 'auditor',
            emailVerified => JSON::PP::true(), displayName => 'Carol Ö' },
          'the account');
ok($user->{lastLoginAt}, 'has signed in');
is($s->sql("SELECT string_agg(group_id::text, ' ') FROM svc.group_member"
           . " WHERE user_id = '$id'"), $staff, 'the group that is there');
is(admin(GET => "/groups/$staff")->json->{memberCount}, 1, 'counts it');
is(admin(GET => '/members?role=auditor')->json->{members}[0]{userId}, $id,
   'a member');
is($s->sql("SELECT member_count FROM svc.role WHERE key = 'auditor'"), 1,
   'counted too');

my @events = $acme->new_events(@TOLD);

is_deeply([ map { $_->[0] } @events ],
          [ qw(user.created invitation.accepted user.login) ], 'audited');
is_deeply([ @{ $events[0] }[1 .. 5] ],
          [ 'user', $id, 'user', $id, { source => 'invitation' } ], 'who came');
is($events[1][2], $in->{id}, 'by which invitation');
is($events[1][5]{role}, 'auditor', 'with which role');
is($events[1][5]{invitedBy}{type}, 'apiToken', 'and who gave it');
is(status_of($in), 'accepted', 'it is accepted');

my @got = map { JSON::PP::decode_json($_->{body}) } $receiver->wait($hook, 2);
is_deeply([ sort map { $_->{event} } @got ], [ qw(user.created user.login) ],
          'and the webhook is told');

my ($created) = grep { $_->{event} eq 'user.created' } @got;

is_deeply($created->{data}, { userId => $id, email => 'Carol@acme.test' }, 'who');

none($in, 'one that has been accepted');
is(browser(tenant => 'acme')->login('carol@acme.test')->status, 200,
   'the password signs in');
is(admin(DELETE => "/invitations/$in->{id}")->status, 409, 'it stays');
is(admin(DELETE => "/users/$id")->status, 204, 'erased');
is(status_of($in), undef, 'the invitation with the user');


# --- what is no invitation -------------------------------------------------------------

none('x' x 43, 'a token of nobody');
none('x', 'a short one');

my $revoked = invited();
my $late = invited();
my $taken = invited();
my $resent = invited();

admin(DELETE => "/invitations/$revoked->{id}");
$s->sql("UPDATE svc.invitation SET expires_at = now() - interval '1 ms' WHERE id = '$late->{id}'");
$acme->create(userName => uc $taken->{email});
is(admin(POST => "/invitations/$resent->{id}/resend")->json->{status}, 'pending',
   'sent again');

none($revoked, 'revoked');
none($late, 'expired');
none($taken, 'who came another way');
none($resent, 'the old link of one that was sent again');

$in = invited();
none($in, 'of another tenant', tenant => 'globex');
none($in, 'of a tenant that there is not', tenant => 'nobody');
is(lookup($in, tenant => 'acme')->status, 200, 'of the one that it is');
is(lookup($in, tenant => undef)->status, 200, 'or of none that is named');
is(lookup(invited(tenant => $globex))->json->{tenant}{slug}, 'globex',
   'the token tells the tenant');

$s->sql("INSERT INTO svc.domain (tenant_id, domain, verified_at) VALUES"
        . " ('$globex->{id}', 'login.globex.test', now())");
admin_error(browser()->ask(POST => $LOOKUP, { token => $in->{token} },
                           Host => 'login.globex.test'),
            400, 'invalid_invite', 'at the domain of another tenant');


# --- bad input -------------------------------------------------------------------------

for my $case ([ token => undef ], [ token => '' ], [ token => 'x' x 129 ],
              [ token => 7 ], [ token => [] ], [ password => undef ],
              [ password => '' ], [ password => 'x' x 1025 ], [ password => 7 ],
              [ displayName => 7 ], [ displayName => "Carol\r\nBcc: eve\@x.test" ],
              [ displayName => "Carol\e[2J" ],
              [ displayName => 'x' x 1025 ], [ tenant => 'A' ],
              [ tenant => 'x' x 64 ], [ tenant => '' ])
{
    my ($member, $value) = @$case;
    my $name = "$member: " . (defined $value ? substr($value, 0, 9) : 'null');
    my $error = admin_error(accept_it($in, $member => $value), 400,
                            'invalid_request', $name);

    like($error->{message}, qr/"$member"/, "$name: it is named");
}

admin_error(browser()->post($_, {}), 400, 'invalid_request', "$_: nothing")
    for $LOOKUP, $ACCEPT;
admin_error(browser()->post($ACCEPT, { token => $in->{token}, password => $PASSWORD,
                                       displayName => 'x' x 16400 }),
            413, 'payload_too_large', 'too much');
admin_error(browser()->ask(POST => $ACCEPT, { token => $in->{token},
                                              password => $PASSWORD },
                           'Sec-Fetch-Site' => 'cross-site'),
            403, 'csrf_failed', 'of a page of another origin');
admin_error(browser()->get($LOOKUP), 405, undef, 'GET');
is(status_of($in), 'pending', 'none of it has used it');

$r = accept_it($in, displayName => undef, role => 'owner', email => 'x@acme.test');
is($r->status, 201, 'without a name') or diag($r->body);
is($r->json->{user}{displayName}, undef, 'there is none');
is($r->json->{role}, 'member', 'and nobody chooses the role');
is($r->json->{user}{email}, $in->{email}, 'or the address');


# --- a role --------------------------------------------------------------------------

my $inviter = with_password($s, $acme, userName => 'boss@acme.test', role => 'owner')
              ->{id};
my $boss = browser(tenant => 'acme');

is($boss->login('boss@acme.test')->status, 200, 'an owner');
$r = $boss->post('/v1/admin/invitations', { email => 'heir@acme.test', role => 'admin' });
is($r->status, 201, 'invites') or diag($r->body);
($in) = map { { %$_, token => $_->{inviteUrl} =~ s/.*=//r } } $r->json;
$s->secret($in->{token});

with_password($s, $acme, userName => 'boss2@acme.test', role => 'owner');
is(admin(DELETE => "/members/$inviter")->status, 204, 'and is an owner no more');

$acme->new_events(@TOLD);
is(accept_it($in)->json->{role}, 'admin', 'the role is as it was given');
@events = grep { $_->[0] eq 'invitation.accepted' } $acme->new_events(@TOLD);
is_deeply($events[0][5]{invitedBy}, { type => 'user', id => $inviter },
          'and it is written who gave it');

$in = invited(role => 'former');
is(admin(DELETE => '/roles/former')->status, 204, 'a role that goes');
is(lookup($in)->json->{role}, 'member', 'is none');
is(accept_it($in)->json->{role}, 'member', 'nor is it given');


# --- blocks and policies ----------------------------------------------------------------

sub policy {
    my ($action) = @_;

    $s->sql("UPDATE svc.governance SET access_number = access_number + 1,"
            . " access_policy = '{\"rules\":[],\"defaultAction\":\"$action\"}'"
            . " WHERE tenant_id = '$acme->{id}'");
}

sub denied {
    my ($name, $reason) = @_;

    $acme->new_events(@TOLD);
    admin_error(accept_it($in), 403, 'access_denied', $name);
    is(users($in), 0, "$name: no account");
    is(status_of($in), 'pending', "$name: it is not used up");
    is(($acme->new_events(@TOLD))[0][5]{reason}, $reason, "$name: it is written");
}

$in = invited();
policy('deny');
denied('the policy denies', 'policy');
policy('allow');

$s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ('$acme->{id}', '127.0.0.1')");
denied('a blocked address', 'blocked');
$s->sql('DELETE FROM svc.ip_block');

$s->svcctl('tenant', 'suspend', '--tenant', 'acme');
admin_error($_->($in), 403, 'access_denied', 'a suspended tenant')
    for \&lookup, \&accept_it;
$s->svcctl('tenant', 'resume', '--tenant', 'acme');

policy('mfa');
$b = browser();
$acme->new_events(@TOLD);
$r = accept_it($in, browser => $b);
admin_error($r, 403, 'mfa_enrollment_required', 'the policy wants a factor');
is(users($in), 1, 'the account is made');
is(status_of($in), 'accepted', 'the invitation is accepted');
is_deeply([ map { $_->[0] } $acme->new_events(@TOLD) ],
          [ qw(user.created invitation.accepted) ], 'nobody has signed in yet');
admin_error($b->get('/v1/auth/session'), 403, 'mfa_enrollment_required',
            'the session waits');
is($b->post('/v1/mfa/totp', { name => 'Phone' })->status, 201, 'for a factor');
is($s->sql('SELECT last_login_at IS NULL FROM svc.user_account WHERE user_name ='
           . " '$in->{email}'"), 't', 'and it is no sign-in');
policy('allow');


# --- a browser with a session of somebody else ---------------------------------------------

$b = browser();
is(accept_it(invited(), browser => $b)->status, 201, 'one');

my $old = $b->cookie;

is(accept_it(invited(), browser => $b)->status, 201, 'and another one');
admin_error($s->http(GET => '/v1/auth/session', [ Cookie => $old ]), 401,
            'unauthenticated', 'the first session has ended');


# --- accepting at the same time -------------------------------------------------------------

sub begin {
    my ($in) = @_;

    return $s->begin(POST => $ACCEPT, [], { token => $in->{token},
                                            password => $PASSWORD });
}

$in = invited(groupIds => [ $staff ], role => 'auditor');
admin(DELETE => "/password-policy/groups/$staff");

my %status;

$status{ $_->read->status }++ for map { begin($in) } 1 .. 20;

is_deeply(\%status, { 201 => 1, 400 => 19 }, 'one of twenty');
is(users($in), 1, 'one account');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'user.created'"
           . " AND target_id = (SELECT id::text FROM svc.user_account"
           . " WHERE user_name = '$in->{email}')"), 1, 'made once');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'invitation.accepted'"
           . " AND target_id = '$in->{id}'"), 1, 'accepted once');

my $later = invited();

is(accept_it($later)->status, 201, 'and one more');

my @created;

wait_for {
    @created = map { $_->{data}{email} } grep { $_->{event} eq 'user.created' }
               map { JSON::PP::decode_json($_->{body}) } $receiver->at($hook);
    grep { $_ eq $later->{email} } @created;
};

is(scalar(grep { $_ eq $in->{email} } @created), 1, 'the webhook is told once');

# Changes something between the read and the write.

sub meanwhile {
    my ($name, $in, @change) = @_;

    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query('SELECT FROM svc.governance WHERE tenant_id ='
                   . " '$acme->{id}' FOR UPDATE");

    my $c = begin($in);

    ok((wait_for { $s->waiting == 1 }), "$name: it waits");
    $holder->query($_) for @change, 'COMMIT';

    return $c->read;
}

for my $case ([ 'revoked', 'UPDATE svc.invitation SET revoked_at = now()' ],
              [ 'sent again', "UPDATE svc.invitation SET token_hash = sha256('x')" ],
              [ 'expired', "UPDATE svc.invitation SET expires_at = now() - interval '1 ms'" ])
{
    my ($name, $change) = @$case;

    $in = invited();
    admin_error(meanwhile($name, $in, "$change WHERE id = '$in->{id}'"),
                400, 'invalid_invite', "$name meanwhile");
    is(users($in), 0, "$name: no account");
}

$in = invited();
admin_error(meanwhile('taken', $in, 'INSERT INTO svc.user_account (tenant_id, id,'
                      . ' user_name) VALUES (' . "'$acme->{id}', gen_random_uuid(),"
                      . " upper('$in->{email}'))"),
            400, 'invalid_invite', 'taken meanwhile');
is(users($in), 1, 'taken: by the other one alone');
is($s->sql('SELECT count(*) FROM svc.session s JOIN svc.user_account u ON u.id ='
           . " s.user_id WHERE u.user_name_key = '$in->{email}'"), 0, 'with no session');

$in = invited(role => 'auditor', groupIds => [ $staff ]);
$r = meanwhile('what it gives goes', $in, "DELETE FROM svc.user_group WHERE id = '$staff'",
               "UPDATE svc.user_account SET role = 'member' WHERE role = 'auditor'",
               "DELETE FROM svc.role WHERE key = 'auditor'");
is($r->status, 201, 'a role and a group that go meanwhile') or diag($r->body);
is($r->json->{role}, 'member', 'are not given');


# --- clients that leave, and PostgreSQL that stops --------------------------------------------

for my $how (qw(close abort)) {
    my @left = map { invited() } 1 .. 10;

    $_->$how for map { begin($_) } @left;

    ok((wait_for { accept_it(invited())->status == 201 }), "$how: others go on");

    for my $in (@left) {
        is($s->sql('SELECT (i.accepted_at IS NOT NULL) = EXISTS (SELECT FROM'
                   . ' svc.user_account u WHERE u.user_name_key = lower(i.email))'
                   . " FROM svc.invitation i WHERE i.id = '$in->{id}'"), 't',
           "$how: an account, or an invitation");
    }
    # One statement counts both, since some requests may still be under way.

    is($s->sql('SELECT count(*) FROM svc.invitation i WHERE (i.accepted_at IS NOT NULL)'
               . ' <> EXISTS (SELECT FROM svc.user_account u WHERE u.user_name ='
               . ' i.email) AND i.id IN ('
               . join(', ', map { "'$_->{id}'" } @left) . ')'),
       0, "$how: each an account, or an invitation");
}

ok($s->unharmed(\@workers, 'clients that leave'), 'the worker is the same');
is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');

$in = invited();

my $holder = $s->connect_as('postgres');

$holder->query('BEGIN');
$holder->query("SELECT FROM svc.governance WHERE tenant_id = '$acme->{id}' FOR UPDATE");

my $c = begin($in);

ok((wait_for { $s->waiting == 1 }), 'one is about to be written');
$s->pg->stop('QUIT');
$r = $c->read;
admin_error($r, 503, 'unavailable', 'PostgreSQL is gone at the write');
is($r->header('Set-Cookie'), undef, 'there is no cookie');

$s->pg->launch;
$s->wait_healthy;
is(users($in), 0, 'no account');
is(accept_it($in)->status, 201, 'and the link is as good as it was');


# --- too often ------------------------------------------------------------------------------

my $limited = 0;

for (1 .. 400) {
    $r = lookup('x' x 43);
    last if $limited = $r->status == 429;
}

ok($limited, 'who tries too often');
admin_error($r, 429, 'rate_limited', 'has to wait');
ok($r->header('Retry-After'), 'for a time that is said');
admin_error(accept_it(invited()), 429, 'rate_limited', 'for both routes');

$s->done;
done_testing();
