#!/usr/bin/perl

# Shows groups and their members in the admin API.

use strict;
use warnings;
use utf8;

use Encode qw(encode_utf8);
use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Admin;

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my $NOBODY = '00000000-0000-4000-8000-000000000000';

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;
my %token = (all => $acme->token_for('groups:manage,members:manage'),
             other => $globex->token_for('groups:manage'),
             view => $acme->token_for('users:view'));
my @TOLD = qw(action target_name details);

*ask = $acme->asks('/groups', \%token);


sub counted {
    my ($name) = @_;

    is($s->sql("SELECT string_agg(name, ', ') FROM svc.user_group g WHERE"
               . ' member_count <> (SELECT count(*) FROM svc.group_member m'
               . ' WHERE m.tenant_id = g.tenant_id AND m.group_id = g.id)'),
       undef, "$name: members are counted");
}


# --- the life of a group ----------------------------------------------------------

my $r = ask(POST => '', { name => " Financé \x{1F4B0} ", description => undef,
                          extra => 1 });
is($r->status, 201, 'a group') or diag($r->body);

my $group = $r->json;
my $id = $group->{id};

like($id, $UUID, 'its id');
like($group->{$_}, $TIME, $_) for qw(createdAt updatedAt);
is_deeply($group, { id => $id, name => "Financé \x{1F4B0}",
                    description => undef, memberCount => 0, appCount => 0,
                    createdAt => $group->{createdAt},
                    updatedAt => $group->{updatedAt} }, 'all of it');
is_deeply(ask(GET => "/$id")->json, $group, 'read');
is_deeply(ask(GET => '')->json, { groups => [ $group ], total => 1,
                                  limit => 100, offset => 0 }, 'listed');

is_deeply(ask(PUT => "/$id", $group)->json, $group, 'put back');
is_deeply(ask(PUT => "/$id", {})->json, $group, 'or nothing');

$r = ask(PUT => "/$id", { name => 'FINANCÉ', description => ' Money ' });
is_deeply([ @{ $r->json }{qw(name description)} ], [ 'FINANCÉ', 'Money' ],
          'changed');
cmp_ok($r->json->{updatedAt}, 'gt', $group->{updatedAt}, 'later');
is(ask(PUT => "/$id", { description => '' })->json->{description}, undef,
   'cleared');
is(ask(PUT => "/$id", { description => " \t\n" })->json->{description}, undef,
   'white space is nothing');
is_deeply([ $acme->events_of($id, @TOLD) ], [
    [ 'group.created', encode_utf8("Financé \x{1F4B0}"), {} ],
    [ 'group.updated', encode_utf8('FINANCÉ'),
      { changed => [ 'name', 'description' ] } ],
    [ 'group.updated', encode_utf8('FINANCÉ'),
      { changed => [ 'description' ] } ] ], 'its events');

admin_error(ask(POST => '', { name => 'financé' }), 409, 'conflict',
            'a name in another case');

my $second = ask(POST => '', { name => 'Sales', description => 'x' x 500 })
             ->json->{id};
admin_error(ask(PUT => "/$second", { name => 'financÉ' }), 409, 'conflict',
            'nor by PUT');
is($globex->admin(POST => '/groups', { name => 'Sales' }, undef,
                  $token{other})->status, 201, "another tenant's may");

for my $row ([ name => undef ], [ name => '' ], [ name => ' ' ], [ name => 5 ],
             [ name => 'x' x 101 ], [ name => "a\nb" ],
             [ description => 5 ], [ description => "\x{e9}" x 501 ],
             [ description => "a\x{85}b" ])
{
    for my $route ([ POST => '' ], [ PUT => "/$second" ]) {
        my $error = admin_error(ask(@$route, { name => 'New', @$row }), 400,
            'invalid_request', "$route->[0] $row->[0]: "
                               . SvcTest::encode([ $row->[1] ]));
        like($error->{message}, qr/"$row->[0]"/, 'it is named');
    }
}

admin_error(ask(POST => '', {}), 400, 'invalid_request', 'no name');
is(ask(POST => '', { name => "\x{1F680}" x 100 })->status, 201, '100 characters');


# --- lists ---------------------------------------------------------------------------

ask(POST => '', { name => $_ }) for 'alpha', 'Beta', '100%', 'a_c';

sub names {
    my $list = ask(GET => "?$_[0]")->json;

    return ([ map { $_->{name} } @{ $list->{groups} } ], $list->{total});
}

is_deeply([ names('') ], [ [ '100%', 'a_c', 'alpha', 'Beta', 'FINANCÉ', 'Sales',
                             "\x{1F680}" x 100 ], 7 ], 'by name');
is_deeply([ names('limit=2&offset=1') ], [ [ 'a_c', 'alpha' ], 7 ], 'a page');
is_deeply([ names('q=AL') ], [ [ 'alpha', 'Sales' ], 2 ], 'a search');
is_deeply([ names("q=$_->[0]") ], [ [ $_->[1] ], 1 ], "q=$_->[0]")
    for [ '%25', '100%' ], [ '_', 'a_c' ], [ 'nanc%C3%A9', 'FINANCÉ' ];
is_deeply([ names('q=%5C') ], [ [], 0 ], 'for nothing');
admin_error(ask(GET => "?$_"), 400, 'invalid_request', $_)
    for 'limit=0', 'offset=x', 'q=' . 'x' x 201;


# --- members ----------------------------------------------------------------------------

my @users = $acme->add_users(5);
my $eve = $globex->create(userName => 'eve@globex.test')->{id};

sub members {
    my ($r) = @_;

    return $r->status == 200
           ? [ sort map { $_->{userId} } @{ $r->json->{members} } ]
           : $r->status . ' ' . $r->body;
}

is_deeply(ask(GET => "/$id/members")->json,
          { members => [], total => 0, limit => 100, offset => 0 }, 'none');

$r = ask(POST => "/$id/members", { userId => $users[0] });
is($r->status, 200, 'one') or diag($r->body);
like($r->json->{members}[0]{addedAt}, $TIME, 'since when');
is_deeply($r->json, { members => [ {
    userId => $users[0], email => 'user1@acme.test', displayName => 'User 1',
    addedAt => $r->json->{members}[0]{addedAt} } ],
    total => 1, limit => 100, offset => 0 }, 'all of it');
is_deeply(ask(POST => "/$id/members", { userIds => [ @users[0, 0, 1, 2, 1] ] })
          ->json->{total}, 3, 'more, some of them twice');
is_deeply(members(ask(POST => "/$id/members", { userIds => [ @users[1, 2] ] })),
          [ sort @users[0 .. 2] ], 'again');
is(ask(GET => "/$id")->json->{memberCount}, 3, 'counted');
is_deeply(ask(GET => "/$id/members?limit=1&offset=2")->json->{members}[0]{userId},
          $users[0], 'the newest are the first');
is_deeply(members(ask(PUT => "/$id/members", { userIds => [ @users[2, 3] ] })),
          [ sort @users[2, 3] ], 'replaced');
is_deeply(members(ask(PUT => "/$id/members", { userIds => [ @users[3, 2] ] })),
          [ sort @users[2, 3] ], 'by the same');

my $first = ask(POST => '', { name => 'A first' })->json->{id};

ask(POST => "/$first/members", { userId => $users[2] });
$r = $acme->admin(GET => "/users/$users[2]/groups", undef, undef,
                  $acme->token_for('users:view'))->json;
is_deeply([ map { [ @$_{qw(id name connection)} ] } @{ $r->{groups} } ],
          [ [ $first, 'A first', undef ], [ $id, ask(GET => "/$id")->json->{name}, undef ] ],
          'the groups of a user, by name');
is(ask(DELETE => "/$first")->status, 204, 'one of them goes');
is(ask(DELETE => "/$id/members/$users[2]")->status, 204, 'removed');
admin_error(ask(DELETE => "/$id/members/$users[2]"), 404, 'not_found', 'again');
is_deeply(members(ask(PUT => "/$id/members", { userIds => [] })), [],
          'replaced by none');
counted('members');

(undef, undef, undef, my @events) = $acme->events_of($id, @TOLD);

is(scalar @events, 6, 'an event for each change') or diag(explain(\@events));
is_deeply([ @{ $events[0] }[0, 2] ],
          [ 'group.member_added', { count => 1, userIds => [ $users[0] ] } ],
          'of one');
is_deeply([ @{ $events[4] }[0, 2] ],
          [ 'group.member_removed', { count => 1, userIds => [ $users[2] ] } ],
          'removed');
is_deeply([ $events[1][0], $events[1][2]{count} ], [ 'group.member_added', 2 ],
          'of two');
is_deeply([ sort map { $_->[0] } @events[2, 3] ],
          [ 'group.member_added', 'group.member_removed' ], 'two of a PUT');

for my $route ([ POST => "/$id/members" ], [ PUT => "/$id/members" ]) {
    for my $unknown ($NOBODY, $eve, uc $users[0], 'x', '', '}', "\x{e9}" x 40) {
        my $error = admin_error(ask(@$route, { userIds => [ $users[0],
            $unknown ] }), 400, 'invalid_request',
            encode_utf8("$route->[0] of nobody: $unknown"));
        like($error->{message}, qr/\Q$unknown\E|userIds\[1\]/, 'it is named');
    }

    admin_error(ask(@$route, $_), 400, 'invalid_request',
                "$route->[0] " . SvcTest::encode($_))
        for {}, { userIds => undef }, { userIds => $users[0] },
            { userIds => [ 5 ] }, { userId => [] }, { userId => 'x' },
            { userId => $users[0], userIds => [] },
            { userIds => [ ($users[0]) x 1001 ] }, { emails => undef }, { emails => 'x' },
            { emails => [ 'user1@acme.test', 'user1' ] }, { emails => [ "a\n\@b" ] },
            { emails => [ ('user1@acme.test') x 1001 ] },
            { emails => [], userId => $users[0], userIds => [] },
            { emails => [ 'user1@acme.test' ], userIds => [ $NOBODY ] };
    admin_error(ask($route->[0], "/$_/members", { userIds => [] }), 404,
                'not_found', "$route->[0] to no group: $_") for $NOBODY, 'x';
}

is(ask(GET => "/$id")->json->{memberCount}, 0, 'nothing of it is stored');
is(ask(POST => "/$id/members", { userIds => [ ($users[0]) x 1000 ] })
   ->json->{total}, 1, '1000 ids');


# --- members by their addresses ---------------------------------------------------------

# Addresses are those of sign-in: in any case, with a domain in either spelling.

my $unicode = $acme->create(userName => "zo\x{eb}\@b\x{fc}cher.test")->{id};
my $team = ask(POST => '', { name => 'By address' })->json->{id};

sub answer {
    my ($r) = @_;

    return [ members($r), ($r->json // {})->{unknownEmails} ];
}

is_deeply(answer(ask(POST => "/$team/members", {
    emails => [ 'USER1@acme.TEST', 'user1@acme.test', 'nobody@acme.test', 'eve@globex.test',
                "zo\x{eb}\@xn--bcher-kva.test", '"a\\b{},"@c', 'nobody@acme.test' ] })),
          [ [ sort $users[0], $unicode ],
            [ 'nobody@acme.test', 'eve@globex.test', '"a\\b{},"@c' ] ],
          'those that are there; the others are named, once and as they are given');
is_deeply(answer(ask(POST => "/$team/members", { userIds => [ $users[1] ],
                                                emails => [ 'user3@acme.test' ] })),
          [ [ sort @users[0 .. 2], $unicode ], [] ], 'beside ids');
is_deeply(answer(ask(POST => "/$team/members", { userId => $users[3], emails => [] })),
          [ [ sort @users[0 .. 3], $unicode ], [] ], 'beside one');
is_deeply(answer(ask(POST => "/$team/members", { userIds => [] })),
          [ [ sort @users[0 .. 3], $unicode ], undef ], 'of ids nothing is named');

my $refused = admin_error(ask(PUT => "/$team/members", { emails => [
    'user1@acme.test', 'none@acme.test', 'no.one@acme.test' ] }), 400, 'invalid_request',
    'a replacement by some of whom there is none');

like($refused->{message}, qr/none\@acme\.test, no\.one\@acme\.test/, '... says of whom');
is(ask(GET => "/$team")->json->{memberCount}, 5, '... and takes nobody away');
admin_error(ask($_, "/$NOBODY/members", { emails => [ 'none@acme.test' ] }), 404, 'not_found',
            "$_ to no group") for qw(POST PUT);
is_deeply(answer(ask(PUT => "/$team/members", { emails => [ map { "user$_\@acme.test" } 2, 3 ] })),
          [ [ sort @users[1, 2] ], [] ], 'a replacement');
is_deeply([ map { "$_->[0] $_->[2]{count}" } ($acme->events_of($team, @TOLD))[1 .. 4] ],
          [ 'group.member_added 2', 'group.member_added 2', 'group.member_added 1',
            'group.member_removed 3' ], 'the events are those of ids')
    or diag(explain([ $acme->events_of($team, @TOLD) ]));
is(ask(POST => "/$team/members", { emails => [ map { "user$_\@acme.test" } 1 .. 1000 ] })
   ->json->{total}, 5, '1000 addresses');
counted('by address');
is(ask(DELETE => "/$team")->status, 204, 'deleted');


# --- changes at the same time --------------------------------------------------------------

for my $round (1 .. 5) {
    my @sets = map { [ @users[$_, $_ + 1] ] } 0 .. 3;
    my @c = map { $s->begin(PUT => "/v1/admin/groups/$id/members",
                            [ Authorization => "Bearer $token{all}" ],
                            { userIds => $_ }) } @sets;

    $_->read for @c;

    my $now = members(ask(GET => "/$id/members"));

    ok((grep { "@$now" eq join ' ', sort @$_ } @sets), 'one of them won')
        or diag("@$now");
    counted('at once');
}


# --- what is deleted together -------------------------------------------------------------------

ask(PUT => "/$_/members", { userIds => \@users }) for $id, $second;
is($acme->admin(DELETE => "/users/$users[0]", undef, undef, $token{all})->status,
   204, 'a user is erased');
is(ask(GET => "/$_")->json->{memberCount}, 4, 'and a member no more')
    for $id, $second;

for my $token ('view', 'all') {
    for my $route ([ GET => "/$id" ], [ PUT => "/$id", '{}' ], [ DELETE => "/$id" ],
                   [ GET => "/$id/members" ],
                   [ POST => "/$id/members", '{"userIds":[]}' ],
                   [ PUT => "/$id/members", '{"userIds":[]}' ],
                   [ DELETE => "/$id/members/$users[1]" ])
    {
        my ($method, $path, $body) = @$route;

        if ($token eq 'view') {
            admin_error(ask($method, $path, $body, 'view'), 403, 'forbidden',
                        "$method $path without the permission");
            next;
        }

        admin_error($globex->admin($method, "/groups$path", $body, undef,
                                   $token{other}), 404, 'not_found',
                    "another tenant's $method $path");
    }
}

is(ask(GET => "/$id")->json->{memberCount}, 4, 'nothing has happened');
is(ask(DELETE => "/$id")->status, 204, 'a group goes');
admin_error(ask(DELETE => "/$id"), 404, 'not_found', 'once');
is($s->sql("SELECT count(*) FROM svc.group_member WHERE group_id = '$id'"), 0,
   'with its memberships');
is(($acme->events_of($id, 'action'))[-1][0], 'group.deleted', 'its event');

$s->sql("INSERT INTO svc.user_group (tenant_id, id, name) SELECT '$globex->{id}',"
        . " gen_random_uuid(), 'g' || i FROM generate_series(1, 9999) i");
admin_error($globex->admin(POST => '/groups', { name => 'one more' }, undef,
                           $token{other}), 400, 'limit_exceeded',
            'the 10,001st group');
is($globex->admin(GET => '/groups?q=g99', undef, undef, $token{other})
   ->json->{total}, 111, 'a search among 10,000');

# --- members and users that come and go at the same time --------------------------

{
    my ($team) = $s->sql("INSERT INTO svc.user_group (tenant_id, id, name) VALUES"
                         . " ('$acme->{id}', gen_random_uuid(), 'Team')"
                         . ' RETURNING id');
    my @crew = map { $acme->create(userName => "crew$_\@acme.test")->{id} } 1 .. 12;
    my @work = (
        map({ my $n = $_; sub {
            ask(PUT => "/$team->[0]/members", { userIds => [ @crew[0 .. 5] ] })
        } } 1 .. 2),
        map({ my $n = $_; sub {
            ask(DELETE => "/$team->[0]/members/$crew[$n]")
        } } 0 .. 2),
        map({ my $n = $_; sub {
            ask(POST => "/$team->[0]/members", { userId => $crew[$n] })
        } } 0 .. 2),
    );
    my @pids = map {
        my $do = $_;
        my $pid = fork // die "fork: $!";

        if (!$pid) {
            POSIX::_exit((grep { $do->()->status == 503 } 1 .. 40) ? 1 : 0);
        }

        $pid;
    } @work;

    is_deeply([ map { waitpid $_, 0; $? } @pids ], [ (0) x @pids ],
              'none is in the way of another for long');
    is($s->sql("SELECT member_count - (SELECT count(*) FROM svc.group_member m"
               . ' WHERE m.group_id = g.id) FROM svc.user_group g'
               . " WHERE id = '$team->[0]'"), 0, 'and the count is right');
}

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '',
   'no error in the log of PostgreSQL');

$s->done;
done_testing();
