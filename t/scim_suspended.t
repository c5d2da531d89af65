#!/usr/bin/perl

# Users whom an administrator has suspended, as an identity provider sees them,
# in both modes: "active": true leaves them suspended, "active": false and
# DELETE deactivate them like any other user, and a deactivated user is
# reactivated, whatever his status was before.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Derived qw(derived_ok);
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $api = $acme->token_for('members:manage,users:view');

# Ways to set "active" of a user: alone in two forms, beside another attribute,
# and in a whole user.

my $titles = 0;
my %HOW = (
    value => sub { PATCH => patch_op({ op => 'replace', value => { active => $_[1] } }) },
    path => sub { PATCH => patch_op({ op => 'Replace', path => 'active',
                                      value => $_[1] ? 'True' : 'False' }) },
    beside => sub { PATCH => patch_op({ op => 'replace', path => 'active', value => $_[1] },
                                      { op => 'replace', path => 'title',
                                        value => 'T' . ++$titles }) },
    whole => sub { PUT => { schemas => [ U ], userName => $_[0], active => $_[1] } },
);

sub administrator {
    my ($action, $id) = @_;

    is($acme->admin(POST => "/users/$id/$action", {}, undef, $api)->status, 200,
       "an administrator: $action");
    $acme->new_events;
}

sub is_now {
    my ($id, $status, $event, $name) = @_;

    is_deeply([ map { $_->[0] } $acme->new_events ], [ $event // () ], "$name: the event");
    is($acme->admin(GET => "/users/$id", undef, undef, $api)->json->{status}, $status,
       "$name: $status");
}

for my $mode ('spec', 'rfc') {
    $s->nginx->{scim}{svc_scim_mode} = $mode;
    $s->reload;

    for my $how (sort keys %HOW) {
        my $name = "$how\@$mode.test";
        my $id = $acme->create(userName => $name)->{id};
        my $as_is = $how eq 'beside' ? 'user.updated' : undef;

        my $set = sub {
            my ($active, $status, $event) = @_;
            my $said = "$mode, $how, active: " . ($active ? 'true' : 'false');
            my ($method, $body) = $HOW{$how}->($name, $active);
            my $r = $acme->scim($method => "/Users/$id", $body);

            scim_ok($r, 200, $said);
            is($r->json->{active}, $status eq 'active' ? true : false, "$said: the answer");
            is_now($id, $status, $event, $said);
        };

        administrator(suspend => $id);
        $set->(true, 'suspended', $as_is);
        $set->(false, 'deactivated', 'user.deactivated');
        $set->(true, 'active', 'user.reactivated');

        # in the other order

        $set->(false, 'deactivated', 'user.deactivated');
        administrator(suspend => $id);
        $set->(true, 'suspended', $as_is);
        administrator(reactivate => $id);
        $set->(true, 'active', $as_is);
    }

    derived_ok($s, "$mode: what is counted");
}


# --- DELETE, and POST of the same user ---------------------------------------------------

my $user = { schemas => [ U ], userName => 'again@rfc.test' };
my $id = $acme->create(%$user)->{id};

administrator(suspend => $id);
scim_ok($acme->scim(DELETE => "/Users/$id"), 204, 'DELETE of who is suspended');
is_now($id, 'deactivated', 'user.deactivated', 'DELETE');

my $r = $acme->scim(POST => '/Users', $user);

scim_ok($r, 201, 'POST of the same user');
is($r->json->{id}, $id, 'has the same id');
is_now($id, 'active', 'user.reactivated', 'POST behind it');

scim_ok($acme->scim(DELETE => "/Users/$id"), 204, 'DELETE');
administrator(suspend => $id);
$r = $acme->scim(POST => '/Users', $user);
scim_ok($r, 201, 'POST of who was suspended since then');
is($r->json->{active}, false, 'the answer');
is_now($id, 'suspended', 'user.updated', 'POST behind it');
derived_ok($s, 'what is counted');

$s->nginx->{scim}{svc_scim_mode} = 'spec';
$s->reload;
scim_ok($acme->scim(DELETE => "/Users/$id"), 204, 'spec: DELETE of who is suspended');
is_now($id, 'deactivated', 'user.deactivated', 'spec: DELETE');
scim_error($acme->scim(POST => '/Users', $user), 409, 'uniqueness',
           'spec: the same user is there');
is_now($id, 'deactivated', undef, 'spec: POST behind it');

$s->done;
done_testing();
