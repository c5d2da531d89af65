#!/usr/bin/perl

# Outbound SCIM: which helper has a target.  A claim whose answer is lost leaves
# no target without a helper; a helper that drains hands over the targets that
# have nothing under way; and another node takes the targets of one that is gone
# when its lease has run out.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Outbound;
use SvcTest::Process qw(slow wait_for signal_pid);


my $s = SvcTest->new(workers => 1);
my $out = SvcTest::Outbound->new($s, svc_webhook_shutdown_timeout => '60s',
                                 svc_webhook_timeout => '60s');
my $acme = $out->start;
my $SLOW = slow(8) * 1000;


sub holder {
    return scalar $s->sql("SELECT lease_by FROM svc.scim_target WHERE id = '$_[0]'");
}


my $ada = $acme->create(userName => 'ada@x.test');
my $t = $out->target('one/none');

$out->synced($t, $ada, 'a target');


# --- an answer that is lost -----------------------------------------------------------------

# the next target is leased at once, as by a claim whose answer was lost

my $helper = holder($t);
my $lock = $s->pg->connect('postgres');

$lock->query('BEGIN');
$lock->query('LOCK TABLE svc.scim_helper');
$s->sql("ALTER TABLE svc.scim_target ALTER lease_by SET DEFAULT '$helper'");

my $lost = $out->target('lost/none');

is(holder($lost), $helper, 'a target that its helper does not know');
ok((wait_for { $s->sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                       . " WHERE wait_event_type = 'Lock' AND query ~ 'scim_claim'") }),
                       'a claim is lost');
$s->sql('ALTER TABLE svc.scim_target ALTER lease_by DROP DEFAULT');
$lock->query('ROLLBACK');
$out->synced($lost, $ada, 'it is worked at');
is(holder($lost), $helper, 'by the same helper');


# --- a helper that drains -------------------------------------------------------------------

my $slow = $out->target("slow/slow=POST:$SLOW");

$out->wait_asked('slow', 'POST', 'a user is on the way');
signal_pid('HUP', $s->nginx->pid);

ok((wait_for { my $now = holder($t); $now && $now ne $helper }),
   'another helper has what had nothing under way');
is(holder($slow), $helper, 'while this one is under way still');

my $bob = $acme->create(userName => 'bob@x.test');

$out->synced($t, $bob, 'the new one works');
ok((wait_for { my $now = holder($slow); $now && $now ne $helper } 40),
   'and has the other one when it is ready');
$out->forget($slow);


# --- a node that is gone ----------------------------------------------------------------------

my $other = $s->node(workers => 1, svc => { %{ $s->nginx->{svc} } });

ok((wait_for { $s->sql("SELECT count(DISTINCT lease_by) FROM svc.scim_target") == 2 }
    40), 'two nodes share them') or diag(holder($t) . ' ' . holder($lost));

my %helper = map { holder($_) => $_ } $t, $lost;
my ($first) = grep { $_ ne holder($t) } keys %helper;

my @gone = ($other->helper_pids, $other->worker_pids, $other->pid);

# no master starts another helper

signal_pid('STOP', $_) for reverse @gone;
signal_pid('KILL', $_) for @gone;
undef $other->{pid};

my ($late) = $s->sql('SELECT max(lease_until) - clock_timestamp() <='
                     . " interval '30 seconds' FROM svc.scim_helper");

is($late->[0], 't', 'no lease lasts longer than 30 seconds');

# makes those seconds pass

$s->sql("UPDATE svc.scim_helper SET lease_until = lease_until - interval '25 seconds'");

my $cy = $acme->create(userName => 'cy@x.test');

$out->synced($_, $cy, 'the other node has all') for $t, $lost;

$s->done(allow => [ qr/terminating connection|server closed|exited on signal 9/ ]);
done_testing();
