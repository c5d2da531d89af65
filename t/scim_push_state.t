#!/usr/bin/perl

# Outbound SCIM: the last answer of a target decides, whatever was under way:
# pauses, failures within a sync, tests, names that do not resolve, and targets
# that are turned off.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Outbound;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Resolver;


my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $out = SvcTest::Outbound->new($s, svc_webhook_timeout => '60s',
                                 svc_postgres_timeout => '60s',
                                 svc_postgres_queue_timeout => '60s');
my $resolver = SvcTest::Resolver->new($s);
my $acme = $out->start;
my $there = $out->there;
my $SLOW = slow(2) * 1000;


sub done {
    return SvcTest::Metrics->get($s)->value('svc_scim_pushes_total', outcome => $_[0]);
}


# --- a pause while a poll is under way --------------------------------------------------

# Only a poll reads the log of events here.

my $POLL = "wait_event_type = 'Lock' AND query ~ '^WITH event AS MATERIALIZED'"
           . " AND query ~ 'svc.audit_event'";

my $ada = $acme->create(userName => 'ada@x.test');
my $t = $out->target('pause/gate=POST;status=POST:429;after=3000');

$out->wait_asked('pause', 'POST', 'a POST that will be told to wait');

my $lock = $s->pg->connect('postgres');
my $polls;


sub polls {
    return join ', ', map { join ' ', @$_ }
           $s->sql("SELECT pid, query_start FROM pg_stat_activity WHERE $POLL");
}


$lock->query('BEGIN');
$lock->query('LOCK TABLE svc.audit_event');
$out->wake;
ok((wait_for { $polls = polls() }), 'the helper looks at its target');
$there->open_gate('pause');
ok((wait_for { done('paused') == 1 }), 'meanwhile it is told to wait');
is(polls(), $polls, 'before that look has come to its end');
$lock->query('COMMIT');
$out->soon($t, "next_at BETWEEN now() + interval '40 min' AND now() + interval '50 min'",
           'it waits as long as it is told to');
is(scalar $out->asked('pause', 'POST'), 1, 'and has not been asked once more');
$out->forget($t);


# --- a test of a target that has changed since -------------------------------------------

my $old = sprintf 'old/slow=GET:%d;status=GET:500', $SLOW;

$t = $out->target($old, enabled => JSON::PP::false());
$s->sql("UPDATE svc.scim_target SET test_id = gen_random_uuid(), test_at = now()"
        . " WHERE id = '$t'");
$out->wake;
$out->wait_asked('old', '/ServiceProviderConfig', 'a test is under way');
$out->put($t, baseUrl => $there->url('new/none'), token => 'y');
$out->soon($t, 'test_done = test_id', 'the test has an answer');
is($out->row($t, "test_status || ' ' || coalesce(test_error, 'ok')"), '200 ok',
   'of the new target');
$out->forget($t);


# --- a failure within a sync --------------------------------------------------------------

$t = $out->target('sync/none');
$out->synced($t, $ada, 'a target that is well');
$out->put($t, baseUrl => $there->url('sync/status=GET:401'), token => 'x');
$out->soon($t, "sync_status = 'failing'", 'it refuses the token');
is($acme->admin(POST => "/scim-targets/$t/sync")->status, 202, 'a sync');
$out->soon($t, "sync_status = 'failing' AND sync_was = 'running'", 'which fails');
is($acme->admin(GET => "/scim-targets/$t")->json->{lastSyncStatus}, 'failing',
   'and says so');

my ($user) = grep { $_->{userName} eq 'ada@x.test' } $there->users('sync');

$there->users('sync', { %$user, displayName => 'Thief' });

$out->put($t, baseUrl => $there->url('sync/none'), token => 'x');
$out->soon($t, "sync_status = 'success'", 'when it is well again the sync goes on');
isnt(($there->users('sync'))[0]{displayName}, 'Thief', 'and has compared');

# a sync that had not even begun

$there->users('sync', { %$user, displayName => 'Thief' });
$s->sql("UPDATE svc.scim_target SET sync_status = 'failing', sync_was = 'queued',"
        . " sync_id = gen_random_uuid(), last_error = 'x' WHERE id = '$t'");
$out->wake;
$out->soon($t, "sync_status = 'success'", 'a sync that had not begun does');
isnt(($there->users('sync'))[0]{displayName}, 'Thief', 'and compares');


# --- one user -------------------------------------------------------------------------------

sub one {
    my ($user) = @_;

    return $acme->admin(GET => "/scim-targets/$t/users/$user->{id}")->json;
}

my $zoe = $acme->create(userName => 'zoe@x.test', displayName => 'Zoe');

$out->synced($t, $zoe, 'somebody who is there');
($user) = grep { $_->{userName} eq 'zoe@x.test' } $there->users('sync');
$there->users('sync', (grep { $_->{userName} ne 'zoe@x.test' } $there->users('sync')),
              { %$user, displayName => 'Thief' });

my $asked = $out->asked('sync', $user->{id});
my $r = $acme->admin(POST => "/scim-targets/$t/users/$zoe->{id}/sync");

is($r->status, 202, 'one user') or diag($r->body);
is($r->json->{remoteId}, $user->{id}, 'with the id there');
$out->synced($t, $zoe, 'is pushed at once');
is((grep { $_->{userName} eq 'zoe@x.test' } $there->users('sync'))[0]{displayName}, 'Zoe',
   'and what differed is repaired');
cmp_ok(scalar $out->asked('sync', $user->{id}), '>', $asked, 'by a look at the target');
is(one($zoe)->{state}, 'synced', 'which is shown');

# one that is in error, and would wait for an hour

$s->sql("UPDATE svc.scim_item SET state = 'error', error = 'x', attempts = 4,"
        . " wanted_rev = wanted_rev + 1, next_at = now() + interval '1 hour'"
        . " WHERE user_id = '$zoe->{id}'");
is(one($zoe)->{state}, 'error', 'somebody in error');
is($acme->admin(POST => "/scim-targets/$t/users/$zoe->{id}/sync")->status, 202, 'need not wait');
$out->synced($t, $zoe, 'and is there');
is_deeply([ @{ one($zoe) }{qw(error attempts nextAttemptAt)} ], [ undef, 0, undef ],
          'without an error');


# --- a name that does not resolve -----------------------------------------------------------

my $bob = $acme->create(userName => 'bob@x.test');

$out->synced($t, $bob, 'a second user');
$out->put($t, baseUrl => "https://away.hooks.example.com:$there->{port}/sync/none",
    token => 'x');
$out->soon($t, 'failures > 1', 'a name that is not known');
$out->soon($t, "failures > 0 AND next_at < now() + interval '1 min'"
     . " AND sync_status IS DISTINCT FROM 'failing'", 'is soon tried again');
is($out->row($t, 'last_error'), 'the name leads to no public address', 'with an error');
$resolver->set('away.hooks.example.com' => '127.0.0.1');
$out->synced($t, $bob, 'when it is known all goes on');
$out->soon($t, 'failures = 0 AND last_error IS NULL', 'and nothing is left of it');
$out->forget($t);


# --- a target that is turned off ------------------------------------------------------------

$t = $out->target("off/slow=GET:$SLOW");
$out->wait_asked('off', 'GET', 'a look-up is under way');
$out->wait_asked('off', 'filter', 'of a user');
my $retried = done('retried');

$out->put($t, enabled => JSON::PP::false());
ok((wait_for { done('retried') > $retried }), 'it comes to its end');
delete $there->{seen}{off};
is((grep { $_->{method} ne 'GET' } $there->requests('off')) + 0, 0,
   'and no write follows');
$out->put($t, enabled => JSON::PP::true());
$out->synced($t, $ada, 'turned on it goes on');
is((grep { $_->{userName} eq 'ada@x.test' } $there->users('off')) + 0, 1, 'once');
$out->forget($t);



# --- a token whose key is gone ------------------------------------------------------------

$t = $out->target('sealed/none');
$out->synced($t, $ada, 'a target that has its token');

my $token = $out->row($t, 'token');

$s->sql("UPDATE svc.scim_target SET token = '\\x01', version = version + 1,"
        . " test_id = gen_random_uuid(), test_at = now() WHERE id = '$t'");
$out->wake;
ok((wait_for { $s->nginx->said(qr/token of SCIM target $t .*cannot be opened/) }),
   'one that cannot be opened is told');

# the target is looked at again and again meanwhile

my $well = $out->target('besides/none');

$out->synced($well, $acme->create(userName => "$_\@x.test"), "$_ is pushed elsewhere")
    for qw(dan eve fay);
is(scalar(() = $s->nginx->said(qr/token of SCIM target $t .*cannot be opened/)), 1, 'once');
is($out->items($t, "state = 'synced' AND done_rev = wanted_rev"), 1 + 2,
   'nobody is pushed to it');
$s->sql("UPDATE svc.scim_target SET token = '$token', version = version + 1"
        . " WHERE id = '$t'");
$out->wake;
ok((wait_for { $out->items($t, "state = 'synced'") == 3 + 3 }),
   'with its key it goes on');
$out->soon($t, 'test_done = test_id AND test_error IS NULL', 'and its test is answered');
$out->forget($_) for $t, $well;

$s->done;
done_testing();
