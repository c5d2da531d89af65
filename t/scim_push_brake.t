#!/usr/bin/perl

# Outbound SCIM: the brake.  A sync that would deactivate more than 20 users of
# a target at once, and more than half of its users, is held: nothing is sent,
# it is reported, and it goes on when it is confirmed, or when fewer users are
# affected.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Json qw(json);
use SvcTest::Outbound;
use SvcTest::Process qw(wait_for signal_pid);


my $N = 42;
my $JSON = json();
my $s = SvcTest->new(workers => 1);
my $out = SvcTest::Outbound->new($s);
my $acme = $out->start;
my $there = $out->there;

$s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name)'
        . " SELECT '$acme->{id}', gen_random_uuid(), 'u' || i || '\@x.test'"
        . " FROM generate_series(1, $N) i");

my @ids = map { $_->[0] } $s->sql("SELECT id FROM svc.user_account WHERE tenant_id ="
                                  . " '$acme->{id}' ORDER BY user_name");
my $group = $acme->admin(POST => '/groups', { name => 'Staff' })->json->{id};


# Puts the first $n users into the group, and more.

sub members {
    my ($n, @more) = @_;

    is($acme->admin(PUT => "/groups/$group/members",
                    { userIds => [ @ids[0 .. $n - 1], @more ] })->status, 200,
       "$n are in the group");
}


sub active { return scalar grep { $_->{active} } $there->users('brake') }

sub wait_active {
    my ($n, $name) = @_;

    ok((wait_for { active() == $n }), $name) or diag(active());
}


# Returns all requests so far that write.

sub writes { return grep { $_->{method} ne 'GET' } $out->asked('brake', '') }

# Returns how many of these deactivate a user.

sub gone { return scalar grep { $_->{body} =~ /"path":"active","value":false/ } @_ }

sub audited {
    return scalar $s->sql("SELECT count(*) FROM svc.audit_event WHERE action = '$_[0]'");
}


sub incident {
    my ($row) = $s->sql('SELECT count, details FROM svc.incident'
                        . " WHERE type = 'scim_target_held'");

    return $row && { count => $row->[0], %{ $JSON->decode($row->[1]) } };
}


sub confirm {
    my ($t, $query, $status, $name) = @_;

    is($acme->admin(POST => "/scim-targets/$t/sync$query")->status, $status, $name);
}


members($N);

my $t = $out->target('brake/none', enabled => JSON::PP::false());

is($acme->admin(POST => "/groups/$group/apps", { clientId => $out->client($t) })->status,
   200, 'it is assigned');
$out->put($t, enabled => JSON::PP::true());
wait_active($N, 'all are there');


# --- just below the brake -----------------------------------------------------------------

members($N - 20);
wait_active($N - 20, '20 go');
members($N);
wait_active($N, 'and are back');
members($N - 21);
wait_active($N - 21, '21 go, which are half');
members($N);
wait_active($N, 'and are back');
is(incident(), undef, 'that is no incident');


# --- above the brake -----------------------------------------------------------------------

$out->soon($t, 'pending = 0', 'all is done');

my $before = () = writes();

members($N - 22);
$out->soon($t, "sync_status = 'held'", '22 are stopped');
is($acme->admin(GET => "/scim-targets/$t")->json->{lastSyncStatus}, 'held', 'it says so');
is_deeply(incident(), { count => 1, targetId => $t, targetName => 'There', users => 22,
                        activeUsers => $N }, 'an incident');
is(audited('scim.target_held'), 1, 'an audit event');
is(audited('incident.created'), 1, 'and one of the incident');

# a new user waits, too

my $new = $acme->create(userName => 'new@x.test');

members($N - 22, $new->{id});
ok((wait_for { $out->items($t, "user_id = '$new->{id}' AND state = 'pending'") }),
   'somebody else is to be there');

# another helper keeps it held

my $holder = $out->row($t, 'lease_by');

signal_pid('HUP', $s->nginx->pid);
ok((wait_for { ($out->row($t, 'lease_by') // $holder) ne $holder }),
   'another helper has it');
$out->put($t, name => 'Over there');
confirm($t, '', 409, 'not confirmed');
confirm($t, '?confirm=false', 409, 'confirmed that it is not meant');

# the test runs after a poll, whose outcome is then known

ok($acme->admin(POST => "/scim-targets/$t/test")->json->{ok}, 'it can be tested');
is($out->row($t, 'sync_status'), 'held', 'it is held');
is(scalar(() = writes()), $before, 'nothing was sent');
is(active(), $N, 'nobody has gone');


# --- released --------------------------------------------------------------------------------

confirm($t, '?confirm=true', 202, 'confirmed');
wait_active($N - 22 + 1, 'they go, and who waited comes');
$out->soon($t, "sync_status = 'success' AND NOT sync_confirm", 'that is done, once');

members($N, $new->{id});
wait_active($N + 1, 'all are back');
$out->soon($t, 'pending = 0', 'all is done again');
$before = () = writes();
members($N - 22, $new->{id});
$out->soon($t, "sync_status = 'held'", 'the next time it is held again');
is(incident()->{count}, 2, 'the incident has happened twice');
is(audited('scim.target_held'), 2, 'an audit event for each');
is(audited('incident.created'), 1, 'it is one incident');

members($N, $new->{id});
$out->soon($t, "sync_status = 'success'", 'who are meant no more are the end of it');
is(active(), $N + 1, 'nobody has gone');

my @writes = writes();

is(gone(@writes), 20 + 21 + 22, 'not for a moment');
is(gone(@writes[$before .. $#writes]), 0, 'since it was held');

$s->done;
done_testing();
