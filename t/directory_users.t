#!/usr/bin/perl

# Shows the directory's users: lists, changes, states, and who cannot be removed.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest::Session qw(session_of live_sessions);
use SvcTest;
use SvcTest::Admin;
use SvcTest::Governance;
use SvcTest::Process qw(wait_for);

my ($TRUE, $FALSE) = (JSON::PP::true, JSON::PP::false);
my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my @TOLD = qw(action details);
my $NOBODY = '00000000-0000-4000-8000-000000000000';

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;
my %token = (all => $acme->token_for($ALL),
             other => $globex->token_for('users:view,members:manage'),
             view => $acme->token_for('users:view'),
             manage => $acme->token_for('members:manage'));

*ask = $acme->asks('', \%token);


# Stores a session, as a sign-in does.

sub sign_in {
    my ($id, $expires) = @_;

    $s->sql(session_of($id, $expires));
}


sub sessions {
    my ($id) = @_;

    return live_sessions($s, $id);
}


# Checks that the counters equal the number of rows.

sub counted {
    my ($name) = @_;

    is($s->sql("SELECT string_agg(t.slug || ' ' || n || ' ' || c, ', ')"
               . ' FROM (SELECT t.slug, (SELECT count(*) FROM svc.user_account'
               . " WHERE tenant_id = t.id) || '/' || (SELECT count(*) FROM"
               . ' svc.user_account WHERE tenant_id = t.id AND status ='
               . " 'active') AS n, (SELECT sum(active + suspended + deactivated)"
               . " || '/' || sum(active) FROM svc.user_count WHERE tenant_id ="
               . ' t.id) AS c FROM svc.tenant t) t WHERE n <> c'),
       undef, "$name: all are counted");
}


# --- permissions ------------------------------------------------------------------

my $bob = $acme->create(userName => 'Bob@acme.test', displayName => 'Bob B',
                        name => { givenName => 'Bob', familyName => 'B' },
                        locale => 'fr', externalId => 'e-1')->{id};
my $eve = $globex->create(userName => 'eve@globex.test')->{id};

my @routes = ([ GET => '/users' ], [ GET => "/users/$bob" ],
              [ GET => '/identities' ],
              [ PUT => "/users/$bob", '{"title":"T"}' ],
              [ POST => "/users/$bob/suspend" ],
              [ POST => "/users/$bob/reactivate" ],
              [ POST => "/users/$bob/logout" ],
              [ POST => '/users/unlock', '{"email":"bob@acme.test"}' ],
              [ DELETE => "/users/$bob" ]);

for my $route (@routes) {
    my ($method, $path, $body) = @$route;
    my $wrong = $method eq 'GET' ? 'manage' : 'view';

    admin_error(ask($method, $path, $body, $wrong), 403, 'forbidden',
                "$method $path without the permission");
    admin_error($acme->admin($method, $path, $body, undef, $acme->{scim_token}),
                401, 'unauthorized', "$method $path with a SCIM token");

    next if $path !~ /\Q$bob\E/;

    admin_error(ask($method, $path =~ s/\Q$bob\E/$_/r, $body), 404, 'not_found',
                "$method $path of nobody: $_")
        for $eve, $NOBODY, uc $bob, 'x';
}

admin_error(ask(POST => "/users/$bob"), 405, 'method_not_allowed',
            'POST of a user');
admin_error(ask(GET => '/users/unlock'), 405, 'method_not_allowed',
            'no user is "unlock"');

# Routes that are known are those of the tables.

for my $time ('first', 'second') {
    is(ask(GET => '/users')->status, 200, "the list, for the $time time");
    admin_error(ask(PUT => '/users'), 405, 'method_not_allowed', 'another method there');
    admin_error(ask(GET => '/users/*'), 404, 'not_found', 'a pattern is no path');
    is(ask(HEAD => '/users')->status, 200, 'the head of a list');
}
is_deeply([ $acme->events_of($bob, @TOLD) ],
          [ [ 'user.created', { source => 'scim' } ] ], 'nothing has happened');


# --- a user -----------------------------------------------------------------------------

my $user = ask(GET => "/users/$bob")->json;

like($user->{$_}, $TIME, $_) for qw(createdAt updatedAt);
is_deeply($user, {
    id => $bob, email => 'Bob@acme.test', emailVerified => $TRUE,
    displayName => 'Bob B', firstName => 'Bob', lastName => 'B',
    title => undef, department => undef, locale => 'fr', externalId => 'e-1',
    status => 'active', role => 'member', locked => $FALSE,
    mfaEnrolled => $FALSE, source => 'scim', lastLoginAt => undef,
    createdAt => $user->{createdAt}, updatedAt => $user->{updatedAt} },
    'all of a user');
is_deeply(ask(GET => '/users')->json, { users => [ $user ], total => 1,
                                        limit => 100, offset => 0 },
          'and the same in a list');

$s->sql("UPDATE svc.user_account SET locked_until = now() + interval '1 h',"
        . " mfa_enrolled = true, last_login_at = '2026-01-02 03:04:05.678+01'"
        . " WHERE id = '$bob'");
is_deeply([ @{ ask(GET => "/users/$bob")->json }{qw(locked mfaEnrolled
                                                    lastLoginAt)} ],
          [ $TRUE, $TRUE, '2026-01-02T02:04:05.678Z' ], 'its sign-ins');
$s->sql("UPDATE svc.user_account SET locked_until = now() -"
        . " interval '1 s', mfa_enrolled = false,"
        . " last_login_at = NULL WHERE id = '$bob'");
is_deeply(ask(GET => "/users/$bob")->json, $user, 'a lock runs out');


# --- lists ---------------------------------------------------------------------------------

my @many = reverse $acme->add_users(25);

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id IN"
        . " ('$many[3]', '$many[5]')");
$s->sql("UPDATE svc.user_account SET status = 'deactivated', created_at ="
        . " '2020-01-01' WHERE id = '$many[7]'");
counted('lists');

my @order = map { $_->[0] } $s->sql("SELECT id FROM svc.user_account WHERE"
    . " tenant_id = '$acme->{id}' ORDER BY created_at DESC, id DESC");

sub list {
    my ($query) = @_;
    my $list = ask(GET => "/users?$query")->json;

    return ([ map { $_->{id} } @{ $list->{users} } ], $list->{total});
}

is_deeply([ list('') ], [ \@order, 26 ], 'the newest are the first');
is_deeply([ list('limit=5&offset=20') ], [ [ @order[20 .. 24] ], 26 ], 'a page');
is_deeply([ list('limit=5&offset=24') ], [ [ @order[24, 25] ], 26 ], 'the last');
is_deeply([ list("offset=$_") ], [ [], 26 ], "beyond it: $_")
    for 26, 20000, 2147483647;
is_deeply([ list('status=suspended') ], [ [ @many[3, 5] ], 2 ], 'suspended');
is_deeply([ list('status=suspended&limit=1&offset=1') ], [ [ $many[5] ], 2 ],
          'a page of them');
is_deeply([ list('status=deactivated') ], [ [ $many[7] ], 1 ], 'deactivated');
is_deeply([ (list('status=active'))[1] ], [ 23 ], 'active');
is_deeply([ list('q=') ], [ \@order, 26 ], 'a search for nothing');

# filters

my $group = $acme->admin(POST => '/groups', { name => 'Some' }, undef, $token{all})->json->{id};

$acme->admin(POST => "/groups/$group/members", { userIds => [ @many[1, 3, 9, 4] ] }, undef,
             $token{all});
$s->sql("UPDATE svc.user_account SET locked_until = now() + interval '1 h' WHERE id IN"
        . " ('$many[3]', '$many[4]')");
$s->sql("UPDATE svc.user_account SET locked_until = now() - interval '1 h' WHERE id ="
        . " '$many[9]'");
$s->sql("UPDATE svc.user_account SET mfa_enrolled = true WHERE id IN ('$many[4]', '$many[6]')");
$s->sql("UPDATE svc.user_account SET role = 'admin' WHERE id IN ('$many[1]', '$many[4]')");

my %is = (locked => { map { $_ => 1 } @many[3, 4] }, factor => { map { $_ => 1 } @many[4, 6] },
          admin => { map { $_ => 1 } @many[1, 4] },
          in => { map { $_ => 1 } @many[1, 3, 9, 4] });

for my $case ([ 'locked=true', sub { $is{locked}{ $_[0] } } ],
              [ 'locked=false', sub { !$is{locked}{ $_[0] } } ],
              [ 'factor=with', sub { $is{factor}{ $_[0] } } ],
              [ 'factor=without', sub { !$is{factor}{ $_[0] } } ],
              [ 'role=admin', sub { $is{admin}{ $_[0] } } ],
              [ 'role=member', sub { !$is{admin}{ $_[0] } } ],
              [ "group=$group", sub { $is{in}{ $_[0] } } ],
              [ "group=$group&locked=false", sub { $is{in}{ $_[0] } && !$is{locked}{ $_[0] } } ],
              [ "group=$group&role=admin&factor=with", sub { $_[0] eq $many[4] } ],
              [ 'role=admin&locked=true', sub { $_[0] eq $many[4] } ],
              [ 'status=suspended&locked=true', sub { $_[0] eq $many[3] } ],
              [ 'status=suspended&factor=without', sub { $_[0] eq $many[3] || $_[0] eq $many[5] } ],
              [ 'q=acme&factor=with', sub { $is{factor}{ $_[0] } } ],
              [ 'q=acme&locked=true', sub { $is{locked}{ $_[0] } } ],
              [ 'q=ac&role=admin', sub { 0 } ],
              [ "q=$many[6]", sub { $_[0] eq $many[6] } ],
              [ "q=$many[6]&factor=with", sub { $_[0] eq $many[6] } ],
              [ "q=$many[6]&group=$group", sub { 0 } ],
              [ "q=$NOBODY", sub { 0 } ], [ 'role=nobody', sub { 0 } ],
              [ "group=$NOBODY", sub { 0 } ])
{
    my ($query, $has) = @$case;
    my @has = grep { $has->($_) } @order;

    is_deeply([ list($query) ], [ \@has, scalar @has ], $query);
}

is_deeply([ list("group=$group&limit=1&offset=1") ],
          [ [ (grep { $is{in}{$_} } @order)[1] ], 4 ], 'a page of them');
is_deeply([ list('unknown=1') ], [ \@order, 26 ], 'what is not known is passed over');
$s->sql("UPDATE svc.user_account SET locked_until = NULL, mfa_enrolled = false, role = 'member'"
        . " WHERE id IN ('$many[1]', '$many[3]', '$many[4]', '$many[6]', '$many[9]')");
$acme->admin(DELETE => "/groups/$group", undef, undef, $token{all});
admin_error(ask(GET => "/users?$_"), 400, 'invalid_request', $_)
    for 'role=', 'role=' . 'x' x 64, 'locked=1', 'locked=', 'factor=yes', 'group=x', 'group=',
        'role=a&role=b', 'status=gone', 'status=', 'status=Active', 'limit=0', 'offset=-1',
        'q=' . 'x' x 201, 'q=%00', 'q=%ff', 'q=ab%c3%c3';
is(ask(GET => '/users?q=' . '%C3%A9' x 200)->json->{total}, 0,
   '200 characters to search for');


# --- PUT --------------------------------------------------------------------------------------

$user = ask(GET => "/users/$bob")->json;
is_deeply(ask(PUT => "/users/$bob", $user)->json, $user,
          'what GET tells can be put');
is_deeply(ask(PUT => "/users/$bob", {})->json, $user, 'so can nothing');
is_deeply([ $acme->events_of($bob, @TOLD) ],
          [ [ 'user.created', { source => 'scim' } ] ], 'and no event');

my $r = ask(PUT => "/users/$bob", { title => "Ingénieur \x{1F680}",
                                    firstName => 'Rob', lastName => undef });
is($r->status, 200, 'PUT') or diag($r->body);
cmp_ok($r->json->{updatedAt}, 'gt', $user->{updatedAt}, 'a later updatedAt');
is_deeply($r->json, { %$user, title => "Ingénieur \x{1F680}",
                      firstName => 'Rob', lastName => undef,
                      updatedAt => $r->json->{updatedAt} },
          'absent keeps, null clears');
is_deeply(($acme->events_of($bob, @TOLD))[-1],
          [ 'user.updated',
            { changed => [ 'firstName', 'lastName', 'title' ] } ],
          'its event');

is(ask(PUT => "/users/$bob", { department => '' })->json->{department}, undef,
   'an empty string clears too');
is_deeply([ @{ ask(PUT => "/users/$bob", { email => 'BOB@acme.test' })->json }
            {qw(email emailVerified)} ], [ 'BOB@acme.test', $TRUE ],
          'an address in another case is still verified');
is_deeply([ @{ ask(PUT => "/users/$bob", { email => 'rob@acme.test' })->json }
            {qw(email emailVerified)} ], [ 'rob@acme.test', $FALSE ],
          'another one is not');
is($acme->scim(GET => '/Users?filter=userName+eq+%22ROB@acme.test%22')
   ->json->{totalResults}, 1, 'SCIM finds it');

admin_error(ask(PUT => "/users/$bob", { email => 'USER1@acme.test' }), 409,
            'email_taken', "another's address");
is(ask(PUT => "/users/$bob", { email => 'eve@globex.test' })->status, 200,
   "another tenant's address is free");

for my $row ([ email => undef ], [ email => '' ], [ email => 'x' ],
             [ email => '@x' ], [ email => 'x@' ], [ email => 'a@b@c' ],
             [ email => "a b\@c" ], [ email => "a\x{2003}b\@c" ],
             [ email => 'x' x 250 . '@acme' ], [ email => 5 ],
             [ firstName => 5 ], [ title => [ 'x' ] ], [ locale => {} ],
             [ displayName => 'x' x 1025 ], [ department => $TRUE ])
{
    my $error = admin_error(ask(PUT => "/users/$bob", { @$row }), 400,
                            'invalid_request',
                            "$row->[0]: " . SvcTest::encode([ $row->[1] ]));
    like($error->{message}, qr/"$row->[0]"/, 'it is named');
}

is(ask(PUT => "/users/$bob", { displayName => 'x' x 1024 })->status, 200,
   '1024 bytes');


# --- suspend, reactivate, logout -------------------------------------------------------------------

sign_in($bob) for 1 .. 3;
sign_in($bob, '-1 h');
sign_in($many[0]);

$r = ask(POST => "/users/$bob/logout", 'not even JSON');
is_deeply([ $r->status, $r->json ], [ 200, { revokedSessions => 3 } ], 'logout');
is_deeply(ask(POST => "/users/$bob/logout")->json, { revokedSessions => 0 },
          'again');
is(sessions($many[0]), 1, "another's goes on");
is_deeply([ grep { $_->[0] =~ /logged_out/ } $acme->events_of($bob, @TOLD) ],
          [ [ 'user.logged_out', { revokedSessions => 3 } ] ], 'one event');

sign_in($bob);
$r = ask(POST => "/users/$bob/suspend");
is_deeply([ $r->status, $r->json->{status}, sessions($bob) ],
          [ 200, 'suspended', 0 ], 'suspend ends sessions');
is(ask(POST => "/users/$bob/suspend")->json->{updatedAt},
   $r->json->{updatedAt}, 'again changes nothing');
is((list('status=suspended'))[1], 3, 'it is listed');
$acme->scim(PATCH => "/Users/$bob", { Operations => [
    { op => 'replace', path => 'active', value => $TRUE } ] });
is(ask(GET => "/users/$bob")->json->{status}, 'suspended',
   'SCIM does not revive');
is(ask(POST => "/users/$bob/reactivate")->json->{status}, 'active', 'reactivate');
is(ask(POST => "/users/$bob/reactivate")->status, 200, 'again');
is(ask(POST => "/users/$many[7]/reactivate")->json->{status}, 'active',
   'one that was deactivated');
is_deeply([ grep { /suspended|reactiv/ }
            map { $_->[0] } $acme->events_of($bob, 'action') ],
          [ 'user.suspended', 'user.reactivated' ], 'an event each');
counted('states');


# --- unlock ---------------------------------------------------------------------------------------------

sub lock_user {
    my ($until) = @_;

    $s->sql("UPDATE svc.user_account SET failed_logins = 7, locked_until = $until"
            . " WHERE id = '$bob'");
}

sub lock_state {
    return $s->sql("SELECT failed_logins || ' ' || (locked_until IS NULL)"
                   . " FROM svc.user_account WHERE id = '$bob'");
}

for my $row ([ { email => 'EVE@globex.test' }, "now() + '1 h'::interval", $TRUE ],
             [ { userId => $bob }, "now() + '1 h'::interval", $TRUE ],
             [ { userId => $bob }, "now() - '1 h'::interval", $FALSE ],
             [ { userId => $bob }, 'NULL', $FALSE ])
{
    lock_user($row->[1]);
    is_deeply(ask(POST => '/users/unlock', $row->[0])->json,
              { unlocked => $row->[2] }, "unlock @{[ %{ $row->[0] } ]}");
    is(lock_state(), '0 true', 'and nothing is left');
}

is_deeply(ask(POST => '/users/unlock', { userId => $bob })->json,
          { unlocked => $FALSE }, 'nothing to unlock');
is_deeply([ grep { $_->[0] =~ /unlocked/ } $acme->events_of($bob, @TOLD) ],
          [ map { [ 'user.unlocked', { wasLocked => $_ } ] }
                $TRUE, $TRUE, $FALSE, $FALSE ],
          'an event for each change');

admin_error(ask(POST => '/users/unlock', $_), 404, 'not_found',
            'unlock ' . SvcTest::encode($_))
    for { email => 'nobody@acme.test' }, { userId => $NOBODY },
        { userId => $eve }, { userId => 'x' };
admin_error(ask(POST => '/users/unlock', $_), 400, 'invalid_request',
            'unlock ' . SvcTest::encode($_))
    for {}, { email => 'a@b', userId => $bob }, { email => 5 }, { email => undef },
        { userId => [] }, { email => '' };


# --- the last owner ----------------------------------------------------------------------------------------

my @owners = map { $acme->create(userName => "owner$_\@acme.test")->{id} } 1 .. 3;

$s->sql("UPDATE svc.user_account SET role = 'owner' WHERE id IN ('"
        . join("','", @owners) . "')");
is(ask(POST => "/users/$owners[0]/suspend")->status, 200, 'an owner of three');
is(ask(DELETE => "/users/$owners[0]")->status, 204, 'and gone');
is(ask(POST => "/users/$owners[1]/suspend")->status, 200, 'one of two');
sign_in($owners[2]);
admin_error(ask(POST => "/users/$owners[2]/suspend"), 400, 'last_admin',
            'not the last one');
admin_error(ask(DELETE => "/users/$owners[2]"), 400, 'last_admin',
            'who is not erased either');
is(sessions($owners[2]), 1, 'nor signed out');
is(ask(POST => "/users/$owners[1]/suspend")->status, 200,
   'one that is suspended may be');
is_deeply([ $acme->events_of($owners[2], 'action') ], [ [ 'user.created' ] ],
          'without an event');

for my $round (1 .. 8) {
    my @paths = map { $round % 2 ? [ POST => "/users/$_/suspend" ]
                      : $round % 4 ? [ DELETE => "/users/$_" ]
                      : [ POST => "/users/$_/suspend" ] } @owners[1, 2];
    # The second request waits: a lock is held until both are under way.

    my $holder = $s->connect_as('postgres');

    ask(POST => "/users/$_/reactivate") for @owners[1, 2];
    $holder->query('BEGIN');
    $holder->query("SELECT FROM svc.user_account WHERE id ="
                   . " '$owners[1 + $round / 2 % 2]' FOR UPDATE");

    my @c = map { $s->begin($_->[0], "/v1/admin$_->[1]",
                            [ Authorization => "Bearer $token{all}" ]) } @paths;
    wait_for { $s->waiting == 2 };
    $holder->query('ROLLBACK');

    my @status = sort map { $_->read->status } @c;

    is_deeply(\@status, [ $round % 4 && !($round % 2) ? 204 : 200, 400 ],
              "both at once: one of two stays ($round)");

    next if $status[0] == 200;

    $s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name, role) SELECT"
            . " '$acme->{id}', id::uuid, 'owner' || n || '\@acme.test', 'owner'"
            . " FROM unnest('{" . join(',', @owners) . "}'::text[]) WITH ORDINALITY"
            . ' o (id, n) WHERE n > 1 ON CONFLICT DO NOTHING');
}


# --- DELETE ----------------------------------------------------------------------------------------------------

my $gone = $acme->create(userName => 'gone@acme.test',
                         displayName => 'Gone Girl')->{id};
sign_in($gone);
$s->sql("UPDATE svc.credential SET created_by_type = 'user', created_by_id ="
        . " '$gone', created_by_name = 'Gone Girl' WHERE id = '$acme->{api_id}'");

is(ask(DELETE => "/users/$gone")->status, 204, 'DELETE');
admin_error(ask(DELETE => "/users/$gone"), 404, 'not_found', 'again');
admin_error(ask(GET => "/users/$gone"), 404, 'not_found', 'it is gone');
is($s->sql("SELECT count(*) FROM svc.session WHERE user_id = '$gone'"), 0,
   'with its sessions');
is($s->sql("SELECT coalesce(created_by_name, 'nobody') FROM svc.credential WHERE"
           . " id = '$acme->{api_id}'"), 'nobody', 'and its name elsewhere');
is_deeply([ $acme->events_of($gone, 'action') ],
          [ [ 'user.created' ], [ 'user.deleted' ] ], 'its event');
is($s->sql("SELECT count(*) FROM svc.audit_event e WHERE e::text ~* 'gone'"), 0,
   'which does not name it');
is($acme->create(userName => 'gone@acme.test')->{userName}, 'gone@acme.test',
   'the address is free again');
counted('DELETE');


# --- identities ---------------------------------------------------------------------------------------------------

$s->sql("UPDATE svc.credential SET created_by_id = '$bob', last_used_at ="
        . " '2026-02-03T04:05:06Z', name = 'Déploy', expires_at = '2099-01-01Z'"
        . " WHERE id = '$acme->{api_id}'");
my $old = $acme->token(kind => 'api', revoked => 'now()', name => 'Old bot');
my $late = $acme->token(kind => 'api', expires => "now() - interval '1 s'",
                        name => 'Late bot');

sub identities {
    my ($query) = @_;
    my $list = ask(GET => "/identities?$query")->json;

    return ([ map { $_->{id} } @{ $list->{identities} } ], $list->{total});
}

my $list = ask(GET => '/identities?limit=500')->json;
my %by_id = map { $_->{id} => $_ } @{ $list->{identities} };

is($list->{total}, 29 + 6, 'users and tokens');
is(scalar keys %by_id, 35, 'all of them');
is_deeply($by_id{$bob}, {
    id => $bob, type => 'human', name => 'x' x 1024,
    email => 'eve@globex.test', owner => undef, status => 'active',
    anomalies => 0, lastActiveAt => undef, expiresAt => undef,
    createdAt => $user->{createdAt} }, 'a human');

my $service = $by_id{ $acme->{api_id} };

like($service->{lastActiveAt}, $TIME, 'a service');
delete @$service{qw(createdAt lastActiveAt)};
is_deeply($service, {
    id => $acme->{api_id}, type => 'service', name => 'Déploy', email => undef,
    owner => { id => $bob, email => 'eve@globex.test' }, status => 'active',
    anomalies => 0, expiresAt => '2099-01-01T00:00:00.000Z' }, 'all of it');

my @all = map { $_->[0] } $s->sql("SELECT id FROM (SELECT id, created_at FROM"
    . " svc.user_account WHERE tenant_id = '$acme->{id}' UNION ALL SELECT id,"
    . " created_at FROM svc.credential WHERE tenant_id = '$acme->{id}' AND kind"
    . " = 'api') x ORDER BY created_at DESC, id DESC");

is_deeply((identities(''))[0], \@all, 'newest first');
is_deeply((identities("limit=4&offset=$_"))[0],
          [ @all[$_ .. ($_ + 3 > $#all ? $#all : $_ + 3)] ], "a page from $_")
    for 0 .. 35;
is_deeply([ identities('type=service&status=revoked') ], [ [ $old->{id} ], 1 ],
          'revoked');
is_deeply([ identities('status=expired') ], [ [ $late->{id} ], 1 ], 'expired');
is((identities('type=service'))[1], 6, 'services');
is((identities('type=human'))[1], 29, 'humans');
is_deeply([ identities('type=agent') ], [ [], 0 ], 'no agents yet');
is_deeply([ identities('type=service&offset=5') ], [ [ $acme->{api_id} ], 6 ],
          'a page of services');
is_deeply([ identities('type=human&status=revoked') ], [ [], 0 ],
          'no human is revoked');
is_deeply([ identities('q=BOT') ],
          [ [ grep { $_ eq $late->{id} || $_ eq $old->{id} } @all ], 2 ],
          'a search for services');
is_deeply([ identities('q=d%C3%A9') ], [ [ $acme->{api_id} ], 1 ],
          'by the beginning of a word');
is_deeply([ identities('q=eve@glo') ], [ [ $bob ], 1 ], 'and for humans');
is((identities('status=suspended'))[1], 3, 'suspended are humans alone');
admin_error(ask(GET => "/identities?$_"), 400, 'invalid_request', $_)
    for 'type=robot', 'status=gone', 'limit=x', 'q=' . 'x' x 201;
is($globex->admin(GET => '/identities', undef, undef, $token{other})
   ->json->{total}, 3, "another tenant's are its own");


# --- the counters, under load and after failures ----------------------------------------------------------------------

my @c = map { $s->connection } 1 .. 24;

for my $i (0 .. $#c) {
    $c[$i]->send($c[$i]->format(POST => '/scim/v2/Users', $acme->headers,
        SvcTest::encode({ userName => 'race' . $i % 18 . '@acme.test' })));
}

my %status;
$status{ $_->read->status }++ for @c;
is_deeply(\%status, { 201 => 18, 409 => 6 }, 'creations at once, some refused');
counted('creations at once');

$s->sql("DELETE FROM svc.tenant WHERE id = '$globex->{id}'");
is($s->sql("SELECT count(*) FROM svc.user_count WHERE tenant_id ="
           . " '$globex->{id}'"), 0, 'a tenant takes its counts along');
counted('without a tenant');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '',
   'no error in the log of PostgreSQL');

$s->done;
done_testing();
