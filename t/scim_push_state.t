#!/usr/bin/perl

# Outbound SCIM: what a target said last is what counts, whatever was under way: pauses,
# failures within a sync, tests, names that lead nowhere, and targets that are turned off.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Governance qw($ALL);
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Push;
use SvcTest::Receiver;
use SvcTest::Resolver;


my $s = SvcTest->new(workers => 1,
                     locations => "location = /metrics { svc_metrics; }\n");
my $receiver = SvcTest::Receiver->new($s, svc_webhooks => 'off',
                                      svc_scim_targets => 'on', svc_scim_rate => 'off',
                                      svc_webhook_timeout => '60s',
                                      svc_postgres_timeout => '60s',
                                      svc_postgres_queue_timeout => '60s');
my $resolver = SvcTest::Resolver->new($s);
my $there = SvcTest::Push->server($s->root, $receiver->{dir});
my $n = 0;

$s->start;

my $acme = $s->tenant('acme');
my $SLOW = slow(2) * 1000;

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");


sub target {
    my ($url, %member) = @_;
    my $client = sprintf 'app_%032d', ++$n;

    $acme->add_applications(web => $client);

    my $r = $acme->admin(POST => '/scim-targets',
                         { clientId => $client, name => 'There', token => 'x',
                           baseUrl => $there->url($url), %member });

    is($r->status, 201, "a target: $url") or diag($r->body);

    return $r->json->{id};
}


sub put {
    my ($t, %member) = @_;
    my $r = $acme->admin(PUT => "/scim-targets/$t", \%member);

    is($r->status, 200, 'PUT ' . join ' ', sort keys %member) or diag($r->body);
}


sub row {
    my ($t, $what) = @_;

    return scalar $s->sql("SELECT $what FROM svc.scim_target WHERE id = '$t'");
}


sub soon {
    my ($t, $what, $name) = @_;

    ok((wait_for { (row($t, $what) // '') eq 't' } slow(20)), $name)
        or diag(row($t, 'row_to_json(scim_target)'));
}


sub synced {
    my ($t, $user, $name) = @_;

    ok((wait_for { $s->sql("SELECT count(*) FROM svc.scim_item WHERE target_id = '$t'"
                           . " AND user_id = '$user->{id}' AND state = 'synced'") }
        slow(20)), $name) or diag(row($t, 'row_to_json(scim_target)'));
}


sub wait_asked {
    my ($store, $method, $name) = @_;

    ok((wait_for { delete $there->{seen}{$store};
                   grep { $_->{method} eq $method } $there->requests($store) }
        slow(20)), $name);
}


sub done {
    return SvcTest::Metrics->get($s)->value('svc_scim_pushes_total', outcome => $_[0]);
}


# Whose requests hang goes on without them.

sub forget {
    is($acme->admin(DELETE => "/scim-targets/$_[0]")->status, 204, 'it goes');
}


# --- a pause while a poll is under way --------------------------------------------------

# Here nothing but a poll reads the log of events.

my $POLL = "wait_event_type = 'Lock' AND query ~ '^WITH e AS MATERIALIZED'"
           . " AND query ~ 'svc.audit_event'";

my $ada = $acme->create(userName => 'ada@x.test');
my $t = target('pause/gate=POST;status=POST:429;after=3000');

wait_asked('pause', 'POST', 'a POST that will be told to wait');

my $lock = $s->pg->connect('postgres');
my $polls;


sub polls {
    return join ', ', map { join ' ', @$_ }
           $s->sql("SELECT pid, query_start FROM pg_stat_activity WHERE $POLL");
}


$lock->query('BEGIN');
$lock->query('LOCK TABLE svc.audit_event');
$s->redis->command(PUBLISH => 'svc.audit', $acme->{id});
ok((wait_for { $polls = polls() } 20), 'the helper looks at its target');
$there->open_gate('pause');
ok((wait_for { done('paused') == 1 } 20), 'meanwhile it is told to wait');
is(polls(), $polls, 'before that look has come to its end');
$lock->query('COMMIT');
soon($t, "next_at > now() + interval '40 min'", 'it waits');
delete $there->{seen}{pause};
is((grep { $_->{method} eq 'POST' } $there->requests('pause')) + 0, 1,
   'and has not been asked once more');
forget($t);


# --- a test of what is not the target any more -------------------------------------------

my $old = sprintf 'old/slow=GET:%d;status=GET:500', $SLOW;

$t = target($old, enabled => JSON::PP::false());
$s->sql("UPDATE svc.scim_target SET test_id = gen_random_uuid(), test_at = now()"
        . " WHERE id = '$t'");
$s->redis->command(PUBLISH => 'svc.audit', $acme->{id});
ok((wait_for { grep { $_->{path} eq '/ServiceProviderConfig' } $there->requests('old') }
    slow(20)), 'a test is under way');
put($t, baseUrl => $there->url('new/none'), token => 'y');
soon($t, 'test_done = test_id', 'the test has an answer');
is(row($t, "test_status || ' ' || coalesce(test_error, 'ok')"), '200 ok',
   'of the new target');
forget($t);


# --- a failure within a sync --------------------------------------------------------------

$t = target('sync/none');
synced($t, $ada, 'a target that is well');
put($t, baseUrl => $there->url('sync/status=GET:401'), token => 'x');
soon($t, "sync_status = 'failing'", 'it refuses the token');
is($acme->admin(POST => "/scim-targets/$t/sync")->status, 202, 'a sync');
soon($t, "sync_status = 'failing' AND sync_was = 'running'", 'which fails');
is($acme->admin(GET => "/scim-targets/$t")->json->{lastSyncStatus}, 'failing',
   'and says so');

my ($user) = grep { $_->{userName} eq 'ada@x.test' } $there->users('sync');

$there->users('sync', { %$user, title => 'Thief' });

put($t, baseUrl => $there->url('sync/none'), token => 'x');
soon($t, "sync_status = 'success'", 'when it is well again the sync goes on');
ok(!($there->users('sync'))[0]{title}, 'and has compared');

# what was not even begun is

$s->sql("UPDATE svc.scim_target SET sync_status = 'failing', sync_was = 'queued',"
        . " sync_id = gen_random_uuid(), last_error = 'x' WHERE id = '$t'");
$there->users('sync', { %$user, title => 'Thief' });
$s->redis->command(PUBLISH => 'svc.audit', $acme->{id});
soon($t, "sync_status = 'success'", 'a sync that had not begun does');
ok(!($there->users('sync'))[0]{title}, 'and compares');


# --- a name that leads nowhere --------------------------------------------------------------

my $bob = $acme->create(userName => 'bob@x.test');

synced($t, $bob, 'a second user');
put($t, baseUrl => "https://away.hooks.example.com:$there->{port}/sync/none",
    token => 'x');
soon($t, 'failures > 1', 'a name that is not known');
soon($t, "failures > 0 AND next_at < now() + interval '1 min'"
     . " AND sync_status IS DISTINCT FROM 'failing'", 'is soon tried again');
is(row($t, 'last_error'), 'the name leads to no public address', 'with an error');
$resolver->set('away.hooks.example.com' => '127.0.0.1');
synced($t, $bob, 'when it is known all goes on');
soon($t, 'failures = 0 AND last_error IS NULL', 'and nothing is left of it');
forget($t);


# --- turned off -----------------------------------------------------------------------------

$t = target("off/slow=GET:$SLOW");
wait_asked('off', 'GET', 'a look-up is under way');
ok((wait_for { delete $there->{seen}{off};
               grep { $_->{url} =~ /filter/ } $there->requests('off') } slow(30)),
   'of a user');
my $retried = done('retried');

put($t, enabled => JSON::PP::false());
ok((wait_for { done('retried') > $retried } slow(20)), 'it comes to its end');
delete $there->{seen}{off};
is((grep { $_->{method} ne 'GET' } $there->requests('off')) + 0, 0,
   'and no write follows');
put($t, enabled => JSON::PP::true());
synced($t, $ada, 'turned on it goes on');
is((grep { $_->{userName} eq 'ada@x.test' } $there->users('off')) + 0, 1, 'once');
forget($t);

$s->done;
done_testing();
