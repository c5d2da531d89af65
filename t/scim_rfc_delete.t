#!/usr/bin/perl

# svc_scim_mode rfc: a deleted user is no resource any more, and is deactivated;
# creating the same user brings him back.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Derived qw(derived_ok);
use SvcTest::Process qw(wait_for);
use SvcTest::Scim;
use SvcTest::Session qw(session_of live_sessions);


my $s = SvcTest->new;
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my $other = $s->tenant('other');
my $api = $acme->token_for('members:manage,users:view');
my $none = '01a00000-0000-7000-8000-000000000000';

sub put { return { schemas => [ U ], @_ } }

sub row {
    my ($id, $columns) = @_;

    return join '|', map { $_ // '' } @{ ($s->sql("SELECT $columns FROM svc.user_account"
                                                  . " WHERE id = '$id'"))[0] };
}

sub listed { return grep { $_->{id} eq $_[0] } @{ $acme->scim(GET => '/Users')->json->{Resources} } }


# --- DELETE ------------------------------------------------------------------------

my $ada = $acme->create(userName => 'Ada@acme.test', externalId => 'e1', title => 'Countess',
                        displayName => 'Ada', E() => { department => 'Engines' });
my $id = $ada->{id};

$s->sql(session_of($id));
is(live_sessions($s, $id), 1, 'there is a session');
$acme->new_events;

my $r = $acme->scim(DELETE => "/Users/$id");

scim_ok($r, 204, 'DELETE');
is(row($id, 'status, scim_deleted'), 'deactivated|t', 'deactivates, and deletes');
is(live_sessions($s, $id), 0, 'the session has ended');
is_deeply([ $acme->new_events(qw(action target_id details)) ],
          [ [ 'user.deactivated', $id,
              { source => 'scim', deleted => true, changed => [ 'status' ] } ] ],
          'the event');
derived_ok($s, 'what is counted');

for my $request ([ 'GET' ], [ 'PUT', put(userName => 'ada@acme.test') ],
                 [ 'PATCH', patch_op({ op => 'replace', path => 'active', value => true }) ], [ 'DELETE' ])
{
    my ($method, $body) = @$request;

    scim_error($acme->scim($method => "/Users/$id", $body), 404, undef, "$method: 404");
}

is(row($id, 'status, scim_deleted'), 'deactivated|t', 'nothing has changed');
is_deeply([ $acme->new_events ], [], 'no event');
$r = $acme->admin(GET => "/users/$id", undef, undef, $api);
is($r->status, 200, 'the admin API has the user');
is($r->json->{status}, 'deactivated', 'who is deactivated');
scim_error($acme->scim(DELETE => "/Users/$none"), 404, undef, 'DELETE of nobody');
scim_error($other->scim(DELETE => "/Users/$id"), 404, undef, 'DELETE in another tenant');


# --- back again --------------------------------------------------------------------

$r = $acme->scim(POST => '/Users', put(userName => 'ada@ACME.test', externalId => 'e2',
                                       title => 'Author'));
scim_ok($r, 201, 'POST of the same userName');

my $back = $r->json;

is($back->{id}, $id, 'the same id');
is($r->header('location'), $back->{meta}{location}, 'Location');
scim_user($back, $s->base_url, { userName => 'ada@ACME.test',
                                 externalId => 'e2', title => 'Author' },
          'what is not given is gone');
is($back->{meta}{created}, $ada->{meta}{created}, 'of the same age');
isnt($back->{meta}{version}, $ada->{meta}{version}, 'in another version');
is_deeply([ $acme->new_events(qw(action target_id details)) ],
          [ [ 'user.reactivated', $id, { source => 'scim',
              changed => [ qw(email externalId displayName title department status) ] } ] ],
          'the event');
scim_user($acme->scim(GET => "/Users/$id"), $s->base_url,
          { userName => 'ada@ACME.test', externalId => 'e2', title => 'Author' }, 'GET');
derived_ok($s, 'what is counted');

scim_error($acme->scim(POST => '/Users', put(userName => 'ada@acme.test')), 409, 'uniqueness',
           'once');
is($acme->new_events, 0, 'no event');

# by the externalId alone, with another address; and a user who is not to be
# active

$acme->scim(DELETE => "/Users/$id");
$r = $acme->scim(POST => '/Users', put(userName => 'countess@acme.test', externalId => 'e2',
                                       active => 'False'));
scim_ok($r, 201, 'POST of the same externalId');
is($r->json->{id}, $id, 'the same id');
is(row($id, 'user_name, user_name_key, status, email_verified, scim_deleted, search'),
   'countess@acme.test|countess@acme.test|deactivated|t|f|'
   . $s->sql("SELECT svc.user_search('countess\@acme.test', NULL, NULL, NULL)"), 'as given');

# another user already has the externalId, or the name

my $bob = $acme->create(userName => 'bob@acme.test', externalId => 'b');

$acme->scim(DELETE => "/Users/$id");
$acme->new_events;

for my $taken ([ userName => 'countess@acme.test', externalId => 'b' ],
               [ userName => 'BOB@acme.test', externalId => 'e2' ])
{
    scim_error($acme->scim(POST => '/Users', put(@$taken)), 409, 'uniqueness', "@$taken");
}

is(row($id, 'user_name, external_id, scim_deleted'), 'countess@acme.test|e2|t',
   'is still deleted');
is_deeply([ $acme->new_events ], [], 'no event');

# of two deleted users the one with the name comes back

my $eve = $acme->create(userName => 'eve@acme.test', externalId => 'eve');

$acme->scim(DELETE => "/Users/$eve->{id}");
$acme->new_events;
$r = $acme->scim(POST => '/Users', put(userName => 'countess@acme.test', externalId => 'eve'));
scim_ok($r, 201, 'the name of one, the externalId of another');
is($r->json->{id}, $id, 'the one with the name');
is(row($eve->{id}, 'user_name, external_id, scim_deleted'), 'eve@acme.test||t',
   'the other one has lost the externalId');
is_deeply([ map { $_->[0] } $acme->new_events ], [ 'user.updated', 'user.reactivated' ],
          'an event for each');

# the same values in another tenant

$acme->scim(DELETE => "/Users/$id");
$r = $other->scim(POST => '/Users', put(userName => 'countess@acme.test', externalId => 'eve'));
scim_ok($r, 201, 'another tenant has a new user');
isnt($r->json->{id}, $id, 'of its own');


# --- users who were not created by SCIM ------------------------------------------------

sub local_user {
    my ($name, $role, $source) = @_;

    return scalar $s->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, role, source, status)
VALUES ('$acme->{id}', gen_random_uuid(), '$name\@acme.test', '$name', '$role', '$source',
        'active') RETURNING id
EOT
}

my $boss = local_user('boss', 'admin', 'local');

scim_ok($acme->scim(DELETE => "/Users/$boss"), 204, 'DELETE of an administrator');
$acme->new_events;
scim_error($acme->scim(POST => '/Users', put(userName => 'me@evil.test', externalId => 'boss')),
           400, 'mutability', 'does not come back with another address');
is($s->sql("SELECT count(*) FROM svc.user_account WHERE user_name = 'me\@evil.test'"), 0,
   'nor does a new one');
is($acme->new_events, 0, 'no event');
scim_ok($acme->scim(POST => '/Users', put(userName => 'boss@acme.test')), 201,
        'but with its own');
is(row($boss, 'role, source, status, external_id'), 'admin|local|active|', 'as before');

# users who are suspended, and those who are deactivated already

my $sid = local_user('sid', 'member', 'scim');

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$sid'");
scim_ok($acme->scim(DELETE => "/Users/$sid"), 204, 'DELETE of who is suspended');
is(row($sid, 'status, scim_deleted'), 'deactivated|t', 'deactivates');

my $dan = $acme->create(userName => 'dan@acme.test', active => false);

$acme->new_events;
scim_ok($acme->scim(DELETE => "/Users/$dan->{id}"), 204, 'DELETE of who is deactivated');
is_deeply([ $acme->new_events(qw(action details)) ],
          [ [ 'user.updated', { source => 'scim', deleted => true, changed => [] } ] ],
          'the event');
derived_ok($s, 'what is counted');

my $tim = $acme->create(userName => 'tim@acme.test')->{id};

scim_ok($acme->scim(DELETE => "/Users/$tim"), 204, 'DELETE');
is($acme->admin(POST => "/users/$tim/suspend", {}, undef, $api)->status, 200,
   'an administrator suspends who is deleted');
$r = $acme->scim(POST => '/Users', put(userName => 'tim@acme.test'));
scim_ok($r, 201, 'creating the user again');
is($r->json->{id}, $tim, 'gives the same user back');
is(row($tim, 'status, scim_deleted'), 'suspended|f', 'who stays suspended');

# a user who becomes active again is a resource again, whoever has activated him

is($acme->admin(POST => "/users/$sid/suspend", {}, undef, $api)->status, 200,
   'an administrator suspends who is deleted');
scim_error($acme->scim(GET => "/Users/$sid"), 404, undef, 'who is still deleted');
is($acme->admin(POST => "/users/$sid/reactivate", {}, undef, $api)->status, 200,
   'and reactivates the user');
is(row($sid, 'status, scim_deleted'), 'active|f', 'who is not deleted any more');

$r = $acme->scim(GET => "/Users/$sid");
scim_ok($r, 200, 'GET');
is($r->json->{active}, true, 'active');
is(scalar listed($sid), 1, 'and in the list');
derived_ok($s, 'what is counted');
scim_error($acme->scim(POST => '/Users', put(userName => 'sid@acme.test')), 409, 'uniqueness',
           'creating the user again is a conflict');
scim_ok($acme->scim(DELETE => "/Users/$sid"), 204, 'DELETE');
is(row($sid, 'status, scim_deleted'), 'deactivated|t', 'as before');

# in the default mode all users are resources

$s->nginx->{scim} = {};
$s->reload;
scim_ok($acme->scim(GET => "/Users/$dan->{id}"), 200, 'the default mode knows of no deletion');
scim_ok($acme->scim(PATCH => "/Users/$sid", patch_op({ op => 'replace', path => 'active',
                                                       value => true })), 200, 'but of coming back');
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->reload;
scim_ok($acme->scim(GET => "/Users/$sid"), 200, 'which counts in both modes');
derived_ok($s, 'what is counted');


# --- at once ---------------------------------------------------------------------------

# Changes a user in another transaction, which commits while a request waits.
#  Returns the answer.

sub behind {
    my ($user, $set, $method, $path, $body) = @_;

    my $first = $s->connect_as('postgres');

    $first->query('BEGIN');
    $first->query("UPDATE svc.user_account SET $set WHERE id = '$user'");

    my $c = $s->begin($method, "/scim/v2$path", $acme->headers, $body);

    wait_for { $s->waiting } or die "it does not wait\n";
    $first->query('COMMIT');

    return $c->read;
}

my $kim = $acme->create(userName => 'kim@acme.test', externalId => 'kim')->{id};
my $deleted = "scim_deleted = true, status = 'deactivated', valid_after = clock_timestamp()";
my $again = "scim_deleted = false, status = 'active'";
my %change = (
    PATCH => patch_op({ op => 'replace', value => { active => true, title => 'x' } }),
    PUT => put(userName => 'kim@acme.test', title => 'y', active => true),
    DELETE => undef,
);

for my $method (sort keys %change) {
    $r = behind($kim, $deleted, $method => "/Users/$kim", $change{$method});
    scim_error($r, 404, undef, "DELETE, and $method behind it");
    is(row($kim, 'status, scim_deleted, title'), 'deactivated|t|', 'which changes nothing');
    $s->sql("UPDATE svc.user_account SET $again WHERE id = '$kim'");
}

$s->sql("UPDATE svc.user_account SET $deleted WHERE id = '$kim'");

for my $same ([ userName => 'kim@acme.test' ],
              [ userName => 'kim2@acme.test', externalId => 'kim' ])
{
    $r = behind($kim, $again, POST => '/Users', put(@$same, title => 'x'));
    scim_error($r, 409, 'uniqueness', "somebody has created @$same, and another one does");
    is(row($kim, 'title, user_name, scim_deleted'), '|kim@acme.test|f', 'which changes nothing');
    $s->sql("UPDATE svc.user_account SET $deleted WHERE id = '$kim'");
}

# one request at a time can change the row: the others wait

my @c = map { $s->begin(POST => '/scim/v2/Users', $acme->headers,
                        put(userName => 'kim@acme.test')) } 1 .. 8;
my @answers = map { $_->read } @c;

is_deeply([ sort map { $_->status } @answers ], [ 201, (409) x 7 ],
          'of eight who create it again one does');
is_deeply([ map { $_->json->{id} } grep { $_->status == 201 } @answers ], [ $kim ],
          'the same user');

@c = map { $s->begin(DELETE => "/scim/v2/Users/$kim", $acme->headers) } 1 .. 8;
is_deeply([ sort map { $_->read->status } @c ], [ 204, (404) x 7 ],
          'of eight who delete it one does');

derived_ok($s, 'what is counted');
$s->done;
done_testing();
