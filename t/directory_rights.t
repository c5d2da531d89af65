#!/usr/bin/perl

# Shows that nobody changes the address of a user, suspends, erases or signs out one
# whose role grants more than he has himself, and that of sessions only an owner's
# does so with an owner.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Process qw(wait_for);


my $MANAGE = 'members:manage';

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);


# --- roles and callers ---------------------------------------------------------

# The permissions of each role; those of the system's roles are the contract's.

my %GRANTS = (owner => $ALL, admin => $ALL, member => '',
              manager => $MANAGE, viewer => 'users:view',
              auditor => "audit:view,$MANAGE");

$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$acme->{id}', '$_', '$_', '{$GRANTS{$_}}')")
    for qw(manager viewer auditor);

my $n = 0;

sub user {
    my ($role) = @_;

    return $acme->create(userName => $role . ++$n . '@acme.test')->{id}
        if $role eq 'member';

    return with_password($s, $acme, userName => $role . ++$n . '@acme.test',
                         role => $role)->{id};
}


sub email {
    return scalar $s->sql("SELECT user_name FROM svc.user_account WHERE id = '$_[0]'");
}


# Callers: their permissions, whether they count as owners, and how they send
# requests.

sub by_token {
    my ($grants) = @_;

    my $token = $acme->token_for($grants);

    return { name => "a token with $grants", grants => $grants, owner => 1,
             ask => sub {
                 my ($method, $path, $body) = @_;
                 return $acme->admin($method, "/users/$path", $body, undef, $token);
             } };
}

sub by_session {
    my ($role) = @_;

    my $id = user($role);
    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    is($b->login(email($id))->status, 200, "one who is $role signs in");

    return { name => "the session of one who is $role", grants => $GRANTS{$role},
             owner => $role eq 'owner', id => $id, browser => $b,
             ask => sub {
                 my ($method, $path, $body) = @_;
                 return $b->ask($method, "/v1/admin/users/$path", $body);
             } };
}

sub may {
    my ($caller, $role) = @_;

    my %has = map { $_ => 1 } split /,/, $caller->{grants};

    return 0 if $role eq 'owner' && !$caller->{owner};
    return !grep { !$has{$_} } split /,/, $GRANTS{$role};
}


user('owner');              # so that no other owner is the last one

my @callers = (by_token($MANAGE), by_token("$MANAGE,users:view"),
               by_token($ALL),
               (map { by_session($_) } qw(manager auditor admin owner)));

# The requests that are sent about users.

my @ways = ([ PUT => '', sub { { email => 'other' . ++$n . '@acme.test' } }, 200 ],
            [ POST => '/logout', sub { undef }, 200 ],
            [ POST => '/suspend', sub { undef }, 200 ],
            [ POST => '/reactivate', sub { undef }, 200 ],
            [ DELETE => '', sub { undef }, 204 ]);


# --- every caller with every role -----------------------------------------------

for my $caller (@callers) {
    for my $role (sort keys %GRANTS) {
        my $id = user($role);
        my $session = $s->sql('INSERT INTO svc.session (tenant_id, user_id,'
            . ' token_hash, expires_at, stage) VALUES'
            . " ('$acme->{id}', '$id', sha256('$id'), now() + interval '1 h', 'full')"
            . ' RETURNING id');

        for my $way (@ways) {
            my ($method, $path, $body, $status) = @$way;
            my $name = "$caller->{name}: $method$path of one who is $role";

            if (may($caller, $role)) {
                is($caller->{ask}->($method, "$id$path", $body->())->status, $status,
                   $name);
                next;
            }

            my $before = $acme->stored;
            my $error = admin_error($caller->{ask}->($method, "$id$path", $body->()),
                                    403, 'forbidden', $name);

            like($error->{message}, qr/\brole of this user\b/, "$name: it says why");
            is($acme->stored, $before, "$name: nothing is changed or said");
        }
    }
}


# --- requests to which the rule does not apply ------------------------------------

for my $caller (@callers[0, 3]) {
    for my $role (qw(owner admin)) {
        my $id = user($role);
        my $email = email($id);

        is($caller->{ask}->(PUT => $id, { title => 'X' })->status, 200,
           "$caller->{name}: the profile of one who is $role");
        is($caller->{ask}->(PUT => $id, { title => 'Y', email => $email })->status,
           200, 'with the address that it is');
        is($caller->{ask}->(PUT => $id, { email => ucfirst $email })->status, 200,
           'or the same in another case');
        is($caller->{ask}->(POST => 'unlock', { userId => $id })->status, 200,
           'and a lock');
    }
}

my $owner = $callers[-1];
my $token = $callers[2];
my $nobody = '0197f3a2-5c1e-7d3a-9b64-2f8c1a7e4d10';

for my $way (@ways) {
    my ($method, $path, $body) = @$way;

    admin_error($callers[0]{ask}->($method, "$nobody$path", $body->()), 404, undef,
                "$method$path of nobody is 404 all the same");
}

is($owner->{ask}->(POST => "$owner->{id}/logout")->status, 200,
   'an owner may end his own sessions');
admin_error($owner->{ask}->(POST => "$owner->{id}/logout"), 401, 'unauthenticated',
            'which have ended then');


# --- changes meanwhile ----------------------------------------------------------

# Sends a request while another transaction changes the role of the user or of the
# caller: the roles as changed are what counts.

sub meanwhile {
    my ($name, $caller, $way, $change, $status) = @_;

    my ($method, $path, $body) = @$way;
    my $id = user('member');
    my $holder = $s->connect_as('postgres');
    my @headers = $caller->{browser}
        ? (Cookie => $caller->{browser}->cookie,
           'X-CSRF-Token' => $caller->{browser}{csrf})
        : (Authorization => 'Bearer ' . $acme->token_for($caller->{grants}));

    $holder->query('BEGIN');
    $holder->query("SELECT FROM svc.user_account WHERE id = '$id' FOR UPDATE");

    my $c = $s->begin($method, "/v1/admin/users/$id$path", \@headers, $body->());

    ok((wait_for { $s->waiting == 1 }), "$name: $method$path waits");

    $change->($holder, $id);
    $holder->query('COMMIT');

    my $r = $c->read;

    $status == 403 ? admin_error($r, 403, 'forbidden', $name)
                   : is($r->status, $status, $name);
}

for my $way (@ways) {
    meanwhile('a role that is raised, and then given', $callers[0], $way, sub {
        my ($holder, $id) = @_;

        my $raised = 'raised' . ++$n;

        $s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
                . " ('$acme->{id}', '$raised', 'R', '{audit:view}')");
        $holder->query("UPDATE svc.user_account SET role = '$raised'"
                       . " WHERE id = '$id'");
    }, 403);
    meanwhile('who becomes an owner', by_session('admin'), $way, sub {
        $_[0]->query("UPDATE svc.user_account SET role = 'owner' WHERE id = '$_[1]'");
    }, 403);
    meanwhile('who stays a member', $callers[0], $way, sub { }, $way->[3]);
}


# --- names ---------------------------------------------------------------------------------

my %NAMES = (user => [ qw(apps:manage groups:manage members:manage users:view) ],
             group => [ qw(apps:manage groups:manage members:manage tenant:manage) ],
             role => [ qw(members:manage roles:manage) ],
             application => [ qw(apps:manage groups:manage) ]);
my %of = map { $_ => $acme->token_for($_) } split /,/, $ALL;

sub names {
    my ($query, $token) = @_;
    my $r = $acme->admin(GET => "/names?$query", undef, undef, $of{$token // 'apps:manage'});

    return $r->status == 200 ? $r->json->{names} : $r->status;
}

for my $type (sort keys %NAMES) {
    my @may = grep { ref names("type=$type&q=nobody-at-all", $_) } sort keys %of;

    is_deeply(\@may, $NAMES{$type}, "who may have the name of a $type");
    is_deeply([ grep { ref names("type=$type&ids=x", $_) } sort keys %of ], \@may,
              'and by ids');
}

is(names('type=user&q=ad', 'audit:view'), 403, 'others may not');

my $member = SvcTest::Browser->new($s, tenant => 'acme');

with_password($s, $acme, userName => 'only@acme.test');
is($member->login('only@acme.test')->status, 200, 'one without any permission');
is($member->get('/v1/admin/names?type=user&q=ad')->status, 403, 'nor does he');

my $zoe = $acme->create(userName => 'zoe@acme.test', displayName => 'Zoe Z')->{id};
my $bare = $acme->create(userName => 'zoeless@acme.test')->{id};

$s->sql("UPDATE svc.user_account SET display_name = NULL WHERE id = '$bare'");

my @zoes = ({ id => $bare, name => 'zoeless@acme.test', detail => 'zoeless@acme.test' },
            { id => $zoe, name => 'Zoe Z', detail => 'zoe@acme.test' });

is_deeply(names('type=user&q=%20zoe'), \@zoes, 'users, as a search lists them');
is_deeply(names('type=user&ids=' . join ',', $zoe, uc $bare, 'x', '', $bare),
          [ reverse @zoes ], 'or as they are asked for');
is_deeply(names("type=user&ids=$zoe", 'groups:manage'), [ $zoes[1] ], 'by whom it may be');

my $globex = $s->tenant('globex');

is_deeply($globex->admin(GET => "/names?type=user&ids=$zoe")->json, { names => [] },
          'nobody of another tenant');

my $group = $acme->admin(POST => '/groups', { name => 'Night "shift"' }, undef,
                         $of{'groups:manage'})->json->{id};
my @shift = ({ id => $group, name => 'Night "shift"', detail => undef });

is_deeply(names('type=group&q=SHIFT'), \@shift, 'groups');
is_deeply(names("type=group&ids=$group,$zoe"), \@shift, 'by ids');
is_deeply(names('type=role&ids=viewer,owner,x%7D', 'members:manage'),
          [ { id => 'owner', name => 'Owner', detail => undef },
            { id => 'viewer', name => 'viewer', detail => undef } ], 'roles');
is_deeply([ map { $_->{id} } @{ names('type=role&q=VIEW', 'roles:manage') } ], [ 'viewer' ],
          'by a part of the name');

my $app = 'app_' . 'ab' x 16;

$acme->add_applications(m2m => $app, 'app_' . 'cd' x 16);
is_deeply(names("type=application&$_"), [ { id => $app, name => "Name of $app",
                                            detail => 'm2m' } ], "applications: $_")
    for 'q=OF%20app_ab', "q=$app", "ids=$app,nothing";

admin_error($acme->admin(GET => "/names$_"), 400, 'invalid_request', "names$_")
    for '', '?type=x&q=ab', '?type=user', '?type=user&q=a', '?type=user&q=%20a%20',
        '?type=user&q=ab&ids=x', '?type=user&q=%ff', '?type=user&q=' . 'x' x 201,
        '?type=user&ids=' . join ',', 1 .. 21;
like($acme->admin(GET => '/names?type=user&ids=' . join ',', 1 .. 21)->json->{error}{message},
     qr/"ids" must have at most 20 ids\./, 'what is said of too many');
is_deeply(names('type=user&ids=' . join ',', ($zoe) x 2, 3 .. 20), [ ($zoes[1]) x 2 ],
          'twenty may be');


is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');

$s->done;
done_testing();
