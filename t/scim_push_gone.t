#!/usr/bin/perl

# Outbound SCIM: a target, its application or its tenant is deleted while a
# request is under way: no more requests are made for it, and the helper goes on
# with the others.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Outbound;
use SvcTest::Process qw(wait_for);


my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $out = SvcTest::Outbound->new($s, svc_webhook_timeout => '60s',
                                 svc_postgres_timeout => '60s',
                                 svc_postgres_queue_timeout => '60s');
my $acme = $out->start;
my $globex = $out->tenant('globex');
my $there = $out->there;
my $n = 0;

sub metric {
    my ($name) = @_;

    return SvcTest::Metrics->get($s)->value("svc_scim_$name");
}


sub wait_targets {
    my ($count, $name) = @_;

    ok((wait_for { metric('targets') == $count }), $name) or diag(metric('targets'));
}


# Tests that the others are still pushed to.

sub goes_on {
    my ($t, $name) = @_;

    $out->synced($t, $acme->create(userName => 'u' . ++$n . '@x.test'), $name);
}


my $ada = $acme->create(userName => 'ada@x.test');
my $gus = $globex->create(userName => 'gus@x.test');
my $well = $out->target('well/none');

$out->synced($well, $ada, 'a target that is well');

my $helper = join ' ', $s->nginx->helper_pids;


# --- a target, at each of its requests --------------------------------------------------

my %at = (config => 'ServiceProviderConfig', list => 'startIndex', look => 'filter',
          create => 'POST');
my %target;

for my $store (sort keys %at) {
    $target{$store} = $out->target("$store/gate=$at{$store}");
    $out->wait_asked($store, $at{$store}, "$store: it is under way");
}

# during a change of a user who is already there

$target{change} = $out->target('change/gate=PATCH');
$out->synced($target{change}, $ada, 'change: a user is there');
is($acme->scim(PUT => "/Users/$ada->{id}", { userName => 'ada@x.test', title => 'Cook' })
        ->status, 200, 'he is changed');
$out->wait_asked('change', 'PATCH', 'change: it is under way');

# during its test

$target{test} = $out->target('test/gate=ServiceProviderConfig',
                             enabled => JSON::PP::false());
$s->sql('UPDATE svc.scim_target SET test_id = gen_random_uuid(), test_at = now()'
        . " WHERE id = '$target{test}'");
$out->wake;
$out->wait_asked('test', 'ServiceProviderConfig', 'test: it is under way');

my $asked = sub { return join ' ', map { scalar $out->asked($_, '') } sort keys %target };

$out->forget($_) for values %target;
wait_targets(1, 'they are gone');

my $before = $asked->();

$there->open_gate($_) for keys %target;
goes_on($well, 'the other one is pushed to');
is($asked->(), $before, 'nothing more was asked of them');
ok((wait_for { metric('in_flight') == 0 }), 'nobody is on the way');


# --- an application -----------------------------------------------------------------------

my $app = $out->target('app/gate=POST');

$out->wait_asked('app', 'POST', 'of an application, a user is on the way');

sub delete_app {
    return $s->http(DELETE => '/v1/applications/' . $out->client($app),
                    [ Authorization => "Bearer $acme->{api_token}" ])->status;
}

is(delete_app(), 409, 'it stays while it has a target');
$out->forget($app);
is(delete_app(), 204, 'then it goes');
wait_targets(1, 'and so does what was on the way');


# --- before the outcome is recorded ----------------------------------------------------------

# the helper gets no message

my $late = $out->target('late/gate=POST');

$out->wait_asked('late', 'POST', 'a user is on the way');
$s->sql("DELETE FROM svc.scim_target WHERE id = '$late'");
$there->open_gate('late');
wait_targets(1, 'a target that is not there when he has come');
is(scalar $out->asked('late', 'PATCH'), 0, 'nothing follows');

# while the row is being read

my $read = $out->target('read/gate=POST');

$out->wait_asked('read', 'POST', 'a user is on the way');

my $lock = $s->pg->connect('postgres');

$lock->query('BEGIN');
$lock->query('LOCK TABLE svc.audit_event');
$out->wake;
ok((wait_for { $s->sql('SELECT count(*) FROM pg_stat_activity WHERE wait_event_type ='
                       . " 'Lock' AND query ~ '^WITH event AS MATERIALIZED'") }),
   'its row is read');
$s->sql("DELETE FROM svc.scim_target WHERE id = '$read'");
$there->open_gate('read');
$lock->query('COMMIT');
wait_targets(1, 'a target that goes meanwhile');
is($s->sql("SELECT count(*) FROM svc.scim_item WHERE target_id IN ('$late', '$read')"), 0,
   'nothing of them is left');


# --- a tenant ------------------------------------------------------------------------------

my @theirs = map { $out->target("tenant$_/gate=POST", tenant => $globex) } 1, 2;

$out->wait_asked("tenant$_", 'POST', "another tenant's ($_) is under way") for 1, 2;
$s->sql("DELETE FROM svc.tenant WHERE id = '$globex->{id}'");
$out->wake($globex);
wait_targets(1, 'the tenant is gone with its targets');
$there->open_gate("tenant$_") for 1, 2;
goes_on($well, 'the others are pushed to');
is(join(' ', map { scalar $out->asked("tenant$_", 'POST') } 1, 2), '1 1',
   'nothing more was asked of its targets');
is(join(' ', $s->nginx->helper_pids), $helper, 'by the same helper');

$s->done;
done_testing();
