#!/usr/bin/perl

# Shows /v1/admin/members: who has which role in a tenant, and who may change it.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Process qw(wait_for);
use SvcTest::Session qw(session_of live_sessions);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $MANAGE = 'members:manage';
my $NOBODY = '00000000-0000-4000-8000-000000000000';
my @TOLD = qw(action target_id details);

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my %token = (all => $acme->token_for($ALL), manage => $acme->token_for($MANAGE),
             auditing => $acme->token_for("$MANAGE,audit:view"),
             other => $globex->token_for($ALL));

$s->secret($PASSWORD);

*ask = $acme->asks('/members', \%token);

# The permissions of each role; those of the system's roles are the contract's.

my %GRANTS = (owner => $ALL, admin => $ALL, member => '', manager => $MANAGE,
              viewer => 'users:view', auditor => "audit:view,$MANAGE");

$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$acme->{id}', '$_', '$_', '{$GRANTS{$_}}')")
    for qw(manager viewer auditor);
$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$globex->{id}', 'theirs', 'R', '{}')");

my $n = 0;

sub user {
    my ($role, %more) = @_;

    my $id = $acme->create(userName => "$role" . ++$n . '@acme.test', %more)->{id};

    set_role($id, $role);

    return $id;
}


sub set_role {
    my ($id, $role) = @_;

    $s->sql("UPDATE svc.user_account SET role = '$role' WHERE id = '$id'");
}


sub role_of {
    return scalar $s->sql("SELECT role FROM svc.user_account WHERE id = '$_[0]'");
}


sub listed {
    my ($query) = @_;

    my $r = ask(GET => "?$query");

    is($r->status, 200, "GET ?$query") or return;

    return map { $_->{userId} } @{ $r->json->{members} };
}


# --- the list ----------------------------------------------------------------------

my $ada = user('owner', displayName => 'Ada A');
my @members = reverse map { user('member') } 1 .. 3;
my @auditors = reverse map { user('auditor') } 1 .. 3;

$acme->admin(POST => "/users/$_/suspend", undef, undef, $token{all})
    for $auditors[1], $members[1];

my $theirs = $globex->create(userName => 'eve@globex.test')->{id};
my $r = ask(GET => '');

is($r->status, 200, 'the list');
is($r->json->{total}, 7, 'of all users');
is_deeply([ @{ $r->json }{qw(limit offset)} ], [ 100, 0 ], 'as pages are');

my ($first) = grep { $_->{userId} eq $ada } @{ $r->json->{members} };

like(delete $first->{joinedAt}, $TIME, 'when one joined');
is_deeply($first, { userId => $ada, email => 'owner1@acme.test',
                    displayName => 'Ada A', role => 'owner', status => 'active' },
          'and who it is');
like($r->body, qr/\{"userId":.*"email":.*"displayName":.*"role":.*"status":
                  .*"joinedAt":/x, 'in order');

admin_one($acme, '/members', $ada, needs => $MANAGE, other => $globex,
          none => [ $theirs, $NOBODY, 'x', uc $ada ]);

is_deeply([ listed('role=owner') ], [ $ada ], 'by role');
is_deeply([ listed('role=auditor') ], [ @auditors ], 'the newest first');
is_deeply([ listed('role=member') ], [ @members ], 'who have none of their own');
is_deeply([ listed('role=auditor&status=active') ], [ @auditors[0, 2] ],
          'by role and status');
is_deeply([ listed('role=auditor&status=suspended') ], [ $auditors[1] ],
          'who is suspended');
is_deeply([ listed('role=member&status=suspended') ], [ $members[1] ],
          'and has none of his own');
is_deeply([ listed('role=member&status=active') ], [ @members[0, 2] ],
          'who is not');
is_deeply([ listed('status=suspended') ], [ $auditors[1], $members[1] ],
          'by status');
is_deeply([ listed('q=ada') ], [ $ada ], 'by a text');
is_deeply([ listed("role=auditor&q=" . 'uditor7') ], [ $auditors[0] ],
          'and a role');
is_deeply([ listed('role=auditor&q=au') ], [ @auditors ], 'by a beginning');
is_deeply([ listed('role=member&q=er2') ], [ $members[2] ],
          'among those who have none');
is_deeply([ listed('role=member&q=uditor') ], [], 'and nobody else');
is_deeply([ listed($_) ], [], "nobody: $_")
    for 'role=nobody', 'role=theirs', 'role=AUDITOR', "role=%27%20OR%201%3D1",
        'role=owner&status=suspended', 'role=viewer';
is_deeply([ listed('role=auditor&limit=1&offset=1') ], [ $auditors[1] ], 'a page');
is(ask(GET => '?role=auditor&limit=1&offset=1')->json->{total}, 3, 'of three');
is_deeply([ listed('role=auditor&offset=3') ], [], 'and none behind');
is(ask(GET => '?limit=1')->json->{total}, 7, 'a page of all');

admin_error(ask(GET => "?$_"), 400, undef, "?$_")
    for 'status=gone', 'role=' . 'x' x 64, 'q=' . 'x' x 201, 'limit=0', 'offset=-1',
        'role=a&role=b';

is_deeply([ map { $_->{userId} } @{ ask(GET => '', undef, 'other')
                                    ->json->{members} } ],
          [ $theirs ], 'another tenant has its own');


# --- permissions --------------------------------------------------------------------

only_with($s, $acme, $MANAGE, [ GET => '/members' ],
          [ PUT => "/members/$members[0]", { role => 'member' } ],
          [ DELETE => "/members/$members[0]" ]);


# --- a member's role is changed ----------------------------------------------------

$acme->new_events(@TOLD);

$r = ask(PUT => "/$members[0]", { role => 'auditor' });
is($r->status, 200, 'a role is given');
is($r->json->{role}, 'auditor', 'and said');
is($r->json->{userId}, $members[0], 'of whom');
is(role_of($members[0]), 'auditor', 'and stored');
is_deeply([ $acme->new_events(@TOLD) ],
          [ [ 'member.updated', $members[0],
              { role => 'auditor', previousRole => 'member' } ] ], 'and audited');
is($s->sql("SELECT member_count FROM svc.role WHERE key = 'auditor'"), 4,
   'and counted');

my $before = $acme->stored;

is(ask(PUT => "/$members[0]", { role => 'auditor' })->status, 200, 'once more');
is($acme->stored, $before, 'changes nothing');

$s->sql(session_of($members[0]));
is(ask(PUT => "/$members[0]", { role => 'viewer', status => 'suspended' })->status,
   200, 'another one, and a member that is not known');
is(live_sessions($s, $members[0]), 1, 'ends no session');
is(role_of($members[0]), 'viewer', 'it is stored');

for my $case ([ 'no role', {} ], [ 'null', { role => undef } ],
              [ 'a number', { role => 7 } ], [ 'empty', { role => '' } ],
              [ 'an array', { role => [ 'viewer' ] } ],
              [ 'one that there is not', { role => 'nobody' } ],
              [ 'in another case', { role => 'Owner' } ],
              [ 'of another tenant', { role => 'theirs' } ],
              [ 'too long', { role => 'x' x 64 } ],
              [ 'with a NUL', "{\"role\":\"view\\u0000er\"}" ],
              [ 'twice', '{"role":"viewer","role":"owner"}' ],
              [ 'not JSON', '{"role"' ], [ 'no object', '["viewer"]' ])
{
    my ($name, $body) = @$case;

    $before = $acme->stored;
    admin_error(ask(PUT => "/$members[0]", $body), 400, undef, $name);
    is($acme->stored, $before, "$name: nothing has changed");
}

for my $id ($NOBODY, $theirs, 'x') {
    admin_error(ask(PUT => "/$id", { role => 'viewer' }), 404, undef,
                "PUT of nobody: $id");
    admin_error(ask(DELETE => "/$id"), 404, undef, "DELETE of nobody: $id");
}

is(role_of($theirs), 'member', 'another tenant is as it was');


# --- a member is removed ------------------------------------------------------------

$s->sql(session_of($members[0]));
$acme->new_events(@TOLD);

is(ask(DELETE => "/$members[0]")->status, 204, 'removed');
is(role_of($members[0]), 'member', 'the account stays');
is(live_sessions($s, $members[0]), 0, 'its sessions end');
is_deeply([ $acme->new_events(@TOLD) ],
          [ [ 'member.removed', $members[0], { previousRole => 'viewer' } ] ],
          'audited');

$s->sql(session_of($members[0]));
is(ask(DELETE => "/$members[0]")->status, 204, 'again');
is(live_sessions($s, $members[0]), 1, 'ends nothing more');
is_deeply([ $acme->new_events(@TOLD) ], [], 'nor is it said twice');


# --- the last owner -----------------------------------------------------------------

for my $case ([ PUT => { role => 'admin' } ], [ PUT => { role => 'member' } ],
              [ 'DELETE' ])
{
    my ($method, $body) = @$case;

    $before = $acme->stored;
    admin_error(ask($method => "/$ada", $body), 400, 'last_admin',
                "$method of the last owner");
    is($acme->stored, $before, 'changes nothing');
}

is(ask(PUT => "/$ada", { role => 'owner' })->status, 200,
   'who may stay what he is');

my $idle = user('owner');

$acme->admin(POST => "/users/$idle/suspend", undef, undef, $token{all});
admin_error(ask(DELETE => "/$ada"), 400, 'last_admin',
            'one who is suspended is none');

# Three owners are removed at the same time, in whatever way: one of them stays.

for my $round (1 .. 5) {
    my @owners = ($ada, map { user('owner') } 1, 2);
    my @answers = at_once($s, $token{all},
        [ DELETE => "/members/$owners[0]" ],
        [ PUT => "/members/$owners[1]", { role => 'admin' } ],
        $round % 2 ? [ DELETE => "/users/$owners[2]" ]
                   : [ POST => "/users/$owners[2]/suspend" ]);
    my @codes = sort map { $_->status < 300 ? 'done'
                           : $_->json->{error}{code} } @answers;

    is_deeply(\@codes, [ qw(done done last_admin) ],
              "owners at the same time: one of three stays ($round)");
    is($s->sql("SELECT count(*) FROM svc.user_account WHERE role = 'owner'"
               . " AND status = 'active' AND tenant_id = '$acme->{id}'"), 1, 'indeed');

    set_role($ada, 'owner');
    $s->sql("UPDATE svc.user_account SET role = 'member' WHERE role = 'owner'"
            . " AND id <> '$ada'");
}


# --- who may change whose role, and to which ------------------------------------------

set_role($idle, 'owner');
$acme->admin(POST => "/users/$idle/reactivate", undef, undef, $token{all});

sub by_token {
    my ($name) = @_;

    my $grants = { all => $ALL, manage => $MANAGE,
                   auditing => "$MANAGE,audit:view" }->{$name};

    return { name => "a token with $grants", grants => $grants, owner => 1,
             ask => sub { return ask(@_[0 .. 2], $name) } };
}

sub by_session {
    my ($role) = @_;

    my $email = "by-$role\@acme.test";
    my $id = with_password($s, $acme, userName => $email, role => $role)->{id};
    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    is($b->login($email)->status, 200, "one who is $role signs in");

    return { name => "the session of one who is $role", grants => $GRANTS{$role},
             owner => $role eq 'owner', id => $id, browser => $b,
             ask => sub {
                 my ($method, $path, $body) = @_;
                 return $b->ask($method, "/v1/admin/members$path", $body);
             } };
}

sub may {
    my ($caller, @roles) = @_;

    my %has = map { $_ => 1 } split /,/, $caller->{grants};

    return 0 if !$caller->{owner} && grep { $_ eq 'owner' } @roles;
    return !grep { !$has{$_} } map { split /,/, $GRANTS{$_} } @roles;
}

my @callers = ((map { by_token($_) } qw(all manage auditing)),
               (map { by_session($_) } qw(owner admin manager auditor)));
my $id = user('member');

for my $caller (@callers) {
    for my $old (sort keys %GRANTS) {
        for my $new (sort(keys %GRANTS), '') {
            my $name = "$caller->{name}: " . ($new ? "$old to $new" : "removes $old");

            set_role($id, $old);

            my $answer = $new ? $caller->{ask}->(PUT => "/$id", { role => $new })
                              : $caller->{ask}->(DELETE => "/$id");

            if (may($caller, $old, $new || 'member')) {
                is($answer->status, $new ? 200 : 204, $name);
                is(role_of($id), $new || 'member', "$name: it is done");

            } else {
                admin_error($answer, 403, 'forbidden', $name);
                is(role_of($id), $old, "$name: it is not done");
            }
        }
    }
}

my ($session) = grep { ($_->{browser} && $_->{grants} eq $MANAGE) } @callers;

admin_error($session->{ask}->(PUT => "/$session->{id}", { role => 'owner' }), 403,
            undef, 'nobody makes himself an owner');
is($session->{ask}->(GET => '')->status, 200, 'it may read');

set_role($session->{id}, 'viewer');
admin_error($session->{ask}->(GET => ''), 403, undef,
            'but not from the next request on when its role is lowered');
ask(PUT => "/$session->{id}", { role => 'manager' });
is($session->{ask}->(GET => '')->status, 200, 'and again when it is raised');
is(ask(DELETE => "/$session->{id}")->status, 204, 'removed');
admin_error($session->{ask}->(GET => ''), 401, 'unauthenticated', 'it has ended');

my $b = $callers[3]{browser};

delete local $b->{csrf};
admin_error($callers[3]{ask}->(PUT => "/$id", { role => 'viewer' }), 403,
            'csrf_failed', 'a session without its token');


# --- changes meanwhile ----------------------------------------------------------------

# Changes something while the request waits for its locks: what is true once they are
# held decides.

sub meanwhile {
    my ($name, $lock, $change, $body, $status, $code) = @_;

    my $holder = $s->connect_as('postgres');

    set_role($id, 'member');
    $holder->query('BEGIN');
    $holder->query($lock);

    my $c = $s->begin(PUT => "/v1/admin/members/$id",
                      [ Authorization => "Bearer $token{manage}" ], $body);

    ok((wait_for { $s->waiting == 1 }), "$name: it waits");
    $holder->query($change);
    $holder->query('COMMIT');

    my $answer = $c->read;

    $code ? admin_error($answer, $status, $code, $name)
          : is($answer->status, $status, $name);
}

my $user = "SELECT FROM svc.user_account WHERE id = '$id' FOR UPDATE";
my $line = "SELECT FROM svc.governance WHERE tenant_id = '$acme->{id}' FOR UPDATE";

meanwhile('who becomes an auditor', $user,
          "UPDATE svc.user_account SET role = 'auditor' WHERE id = '$id'",
          { role => 'manager' }, 403, 'forbidden');
meanwhile('a role that is raised', $line,
          "UPDATE svc.role SET permissions = '{$ALL}' WHERE key = 'manager'",
          { role => 'manager' }, 403, 'forbidden');
meanwhile('a role that goes', $line,
          "UPDATE svc.user_account SET role = 'member' WHERE role = 'manager';"
          . " DELETE FROM svc.role WHERE key = 'manager'",
          { role => 'manager' }, 400, 'invalid_request');
meanwhile('nothing', $line, 'SELECT', { role => 'member' }, 200);


is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');

$s->done;
done_testing();
