#!/usr/bin/perl

# Shows /v1/admin/groups/{id}/apps: the applications that a group's users may use.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $NONE = '00000000-0000-4000-8000-000000000000';

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my %token = (all => $acme->token_for('groups:manage,apps:manage'),
             apps => $acme->token_for('apps:manage,members:manage'),
             weak => $acme->token_for('groups:manage,users:view,audit:view'),
             other => $globex->token_for('groups:manage,apps:manage'));

*ask = $acme->asks('/groups', \%token);


sub app_ask {
    my ($method, $path, $body, $name) = @_;
    my $r = $s->http($method, "/v1/applications$path",
                     [ Authorization => 'Bearer ' . $token{ $name // 'all' } ], $body);

    $s->secret($1) if ($r->body // '') =~ /"clientSecret":"([^"]*)"/;

    return $r;
}


sub app {
    my ($name, $token) = @_;

    return app_ask(POST => '', { name => $name, type => 'm2m' }, $token)
           ->json->{clientId};
}


sub group {
    my ($name, $token) = @_;

    return ask(POST => '', { name => $name }, $token)->json->{id};
}


# Returns the sorted clientIds of an answer, or of a group.

sub ids {
    my ($r) = @_;

    return [ sort map { $_->{clientId} } @{ $r->json->{apps} // [] } ];
}


sub counted {
    my ($name) = @_;

    is($s->sql("SELECT string_agg(name, ', ') FROM svc.user_group g WHERE"
               . ' app_count <> (SELECT count(*) FROM svc.group_app m'
               . ' WHERE m.tenant_id = g.tenant_id AND m.group_id = g.id)'),
       undef, "$name: applications are counted");
}


# Returns the groups of an application.

sub groups {
    my ($id, $query) = @_;

    return app_ask(GET => "/$id/groups" . ($query // ''))->json;
}


sub assignment {
    return app_ask(GET => "/$_[0]")->json->{assignment};
}


my @apps = map { app("app$_") } 1 .. 4;
my ($staff, $guests) = map { group($_) } qw(Staff Guests);
my ($theirs, $their_group) = (app('theirs', 'other'), group('Theirs', 'other'));


# --- permissions -----------------------------------------------------------------

admin_error(ask(@$_[0 .. 2], 'apps'), 403, undef, "$_->[0] without the permission")
    for [ GET => "/$staff/apps" ], [ POST => "/$staff/apps", { clientId => $apps[0] } ],
        [ PUT => "/$staff/apps", { clientIds => [] } ],
        [ DELETE => "/$staff/apps/$apps[0]" ];


# --- assign, list, take away ------------------------------------------------------

is_deeply(ask(GET => "/$staff/apps")->json,
          { apps => [], total => 0, limit => 100, offset => 0 }, 'none yet');
is(assignment($apps[0]), 'everyone', 'everybody may use it');

my $r = ask(POST => "/$staff/apps", { clientIds => [ @apps[0, 1, 0] ] });

is($r->status, 200, 'assigned') or diag($r->body);
is_deeply(ids($r), [ sort @apps[0, 1] ], 'those');

my ($one) = grep { $_->{clientId} eq $apps[0] } @{ $r->json->{apps} };

like($one->{addedAt}, $TIME, 'now');
is_deeply($one, { clientId => $apps[0], name => 'app1', type => 'm2m',
                  addedAt => $one->{addedAt} }, 'all of one');
is($r->json->{total}, 2, 'how many');
is_deeply(ask(POST => "/$staff/apps", { clientId => $apps[0] })->json, $r->json,
          'again: the same');
is_deeply(ids(ask(POST => "/$staff/apps", { clientId => $apps[2] })),
          [ sort @apps[0 .. 2] ], 'one more');
is(assignment($_), 'groups', 'is for groups') for @apps[0 .. 2];
is(assignment($apps[3]), 'everyone', 'another one is not');
is(ask(GET => "/$staff")->json->{appCount}, 3, 'the group has three');
is(ask(GET => '?q=staff')->json->{groups}[0]{appCount}, 3, 'in the list, too');
is(scalar @{ ask(GET => "/$staff/apps?limit=2&offset=2")->json->{apps} }, 1, 'a page');
counted('assigned');


# --- the groups of an application ---------------------------------------------------

is_deeply(groups($apps[3]), { groups => [], total => 0, limit => 100, offset => 0 },
          'an application without groups');
ask(POST => "/$guests/apps", { clientId => $apps[0] });

my $groups = groups($apps[0]);

is_deeply($groups, { groups => [
              { id => $guests, name => 'Guests', memberCount => 0,
                addedAt => $groups->{groups}[0]{addedAt} },
              { id => $staff, name => 'Staff', memberCount => 0, addedAt => $one->{addedAt} } ],
          total => 2, limit => 100, offset => 0 }, 'one with two, the latest first');
is_deeply(groups($apps[0], '?limit=1&offset=1')->{groups}, [ $groups->{groups}[1] ], 'a page');
admin_error(app_ask(GET => "/$_/groups"), 404, undef, "groups of no application: $_")
    for $theirs, 'x', '%FF', 'app_' . '0' x 32;
admin_error(app_ask(GET => "/$apps[0]/groups?limit=x"), 400, undef, 'a page that is none');
admin_error(app_ask(GET => "/$apps[0]/groups", undef, 'weak'), 403, undef,
            'without the permission');
is(app_ask(GET => "/$apps[0]/groups", undef, 'apps')->status, 200, 'with that one alone');
is_deeply(app_ask(GET => "/$theirs/groups", undef, 'other')->json->{groups}, [],
          'another tenant has none');
ask(DELETE => "/$guests/apps/$apps[0]");
is(groups($apps[0])->{total}, 1, 'one less');


# --- others, and none ---------------------------------------------------------------

is_deeply(ids(ask(PUT => "/$staff/apps", { clientIds => [ @apps[2, 3] ] })),
          [ sort @apps[2, 3] ], 'others in their place');
is(assignment($apps[0]), 'groups', 'what is of no group is still for groups');
counted('replaced');

is(ask(DELETE => "/$staff/apps/$apps[3]")->status, 204, 'taken away');
admin_error(ask(DELETE => "/$staff/apps/$_"), 404, undef, "not assigned: $_")
    for $apps[3], $apps[0], $theirs, 'x', '%FF', 'app_' . '0' x 32;
is_deeply(ids(ask(GET => "/$staff/apps")), [ $apps[2] ], 'one is left');
counted('taken away');

my @events = $acme->events_where("action LIKE 'group.app_%' OR details->'changed'"
                                 . " = '[\"assignment\"]'",
                                 qw(action target_type target_name details));

$_->[3]{clientIds} = [ sort @{ $_->[3]{clientIds} } ]
    for grep { $_->[3]{clientIds} } @events;
is_deeply([ sort map { join ' ', @$_[0 .. 2], $_->[3]{count} // 'changed' } @events ],
          [ sort 'group.app_added group Staff 2', 'group.app_added group Staff 1',
            'group.app_added group Staff 1', 'group.app_removed group Staff 2',
            'group.app_removed group Staff 1', 'group.app_added group Guests 1',
            'group.app_removed group Guests 1',
            map { "application.updated application app$_ changed" } 1 .. 4 ],
          'each change is in the audit log, once');
is_deeply((grep { $_->[0] eq 'group.app_added' } @events)[0][3],
          { count => 2, clientIds => [ sort @apps[0, 1] ] }, 'with ids');

app_ask(PATCH => "/$apps[2]", { assignment => 'everyone' });
ask(POST => "/$guests/apps", { clientId => $apps[2] });
is(assignment($apps[2]), 'everyone', 'a second group changes nothing');
ask(PUT => "/$_/apps", { clientIds => [] }) for $staff, $guests;
ask(POST => "/$guests/apps", { clientId => $apps[2] });
is(assignment($apps[2]), 'groups', 'but a first one again does');


# --- what is refused ---------------------------------------------------------------

my $before = ask(GET => "/$guests/apps")->json;

for my $method (qw(POST PUT)) {
    admin_error(ask($method => "/$guests/apps", $_), 400, undef,
                "$method " . substr SvcTest::encode($_), 0, 60)
        for {}, { clientIds => undef }, { clientIds => 'x' }, { clientIds => [ undef ] },
            { clientId => [] }, { clientId => 'x' }, { clientId => uc $apps[0] },
            { clientId => $apps[0], clientIds => [] }, { clientIds => [ 1 ] },
            { clientId => "$apps[0]x" }, { clientIds => [ ($apps[0]) x 1001 ] };

    for my $unknown ($theirs, 'agt_' . '0' x 32) {
        like(admin_error(ask($method => "/$guests/apps",
                             { clientIds => [ $apps[0], $unknown ] }), 400, undef,
                         "$method of one that is not there")->{message},
             qr/\Q$unknown\E/, 'which is named');
    }

    admin_error(ask($method => "/$_/apps", { clientId => $apps[0] }), 404, undef,
                "$method of no group: $_") for $their_group, $NONE, 'x';
}

admin_error(ask(GET => "/$_/apps"), 404, undef, "GET of no group: $_")
    for $their_group, $NONE, 'x';
admin_error(ask(DELETE => "/$their_group/apps/$apps[2]"), 404, undef, 'nor DELETE');
is_deeply(ask(GET => "/$guests/apps")->json, $before, 'and nothing has changed');
is(ask(POST => "/$guests/apps", { clientIds => [ ($apps[0]) x 1000 ] })->status, 200,
   'a thousand are not too many');


# --- deleting applications and groups ------------------------------------------------

ask(POST => "/$_/apps", { clientIds => \@apps }) for $staff, $guests;
is(app_ask(DELETE => "/$apps[3]")->status, 204, 'an application goes');
is(ask(GET => "/$staff")->json->{appCount}, 3, 'and the group has one less');
is(ask(DELETE => "/$staff")->status, 204, 'a group goes');
is($s->sql("SELECT count(*) FROM svc.group_app WHERE group_id = '$staff'"), 0,
   'and what it had');
counted('gone');


# --- changes at the same time ------------------------------------------------------

my @groups = map { group("g$_") } 1 .. 4;
my @many = map { app("many$_") } 1 .. 6;
my @racing = map {
    $s->begin(POST => "/v1/admin/groups/$groups[$_ % 4]/apps",
              { Authorization => "Bearer $token{all}" },
              { clientIds => [ $_ % 2 ? @many : reverse @many ] })
} 1 .. 16;

push @racing, map {
    $s->begin(DELETE => "/v1/applications/$_", { Authorization => "Bearer $token{all}" })
} @many[0 .. 2];

my %status = map { $_->read->status => 1 } @racing;

is(join(' ', grep { !/\A(?:200|204|400)\z/ } keys %status), '', 'all are answered');
counted('at once');


# --- groups with applications, and their members ---------------------------------------

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');
my $b = SvcTest::Browser->new($s, tenant => 'acme');
my $plain = group('Plain');
my $members = "/v1/admin/groups/$guests/members";

is($b->login('ada@acme.test')->status, 200, 'ada signs in');
$s->sql('UPDATE svc.session SET mfa_at = NULL, reauth_at = NULL');
admin_error($b->ask(@$_), 403, 'step_up_required', "$_->[0]: not fresh")
    for [ POST => $members, { userId => $ada->{id} } ],
        [ POST => $members, { userId => $NONE } ],
        [ PUT => $members, { userIds => [] } ], [ DELETE => "$members/$ada->{id}" ],
        map({ [ $_ => $members, { emails => [ 'none@acme.test' ] } ] } qw(POST PUT));
is(ask(GET => "/$guests")->json->{memberCount}, 0, 'nobody is in it');
is($b->ask(POST => "/v1/admin/groups/$plain/members", { userId => $ada->{id} })->status,
   200, 'a group without applications');
is(ask(POST => "/$guests/members", { userId => $ada->{id} })->status, 200, 'a token');
$s->sql('UPDATE svc.session SET reauth_at = now()');
is($b->ask(DELETE => "$members/$ada->{id}")->status, 204, 'fresh: taken away');
admin_error($b->ask(DELETE => "$members/$ada->{id}"), 404, undef, 'once');
is($b->ask(PUT => $members, { userIds => [ $ada->{id} ] })->status, 200, 'and put back');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
