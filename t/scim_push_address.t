#!/usr/bin/perl

# Outbound SCIM: a target whose name resolves to an address that is refused.  No
# connection is made; the target is tried again, and after a minute it is
# reported as failing.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Outbound;
use SvcTest::Process qw(wait_for);
use SvcTest::Resolver;


my $NAME = 'inner.hooks.example.com';
my $INNER = '10.9.9.9';
my $REFUSED = 'the name leads to no public address';

my $s = SvcTest->new(workers => 1);
my $out = SvcTest::Outbound->new($s);
my $resolver = SvcTest::Resolver->new($s);
my $acme = $out->start;


sub connected { return $resolver->calls(connect => $INNER) }


# Makes the target look as if it had failed for a minute.

sub minute {
    my ($t) = @_;

    $out->soon($t, "failures > 0 AND last_error = '$REFUSED'", 'the address is refused');
    isnt($out->row($t, "coalesce(sync_status, '')"), 'failing', 'that may be over soon');
    $s->sql("UPDATE svc.scim_target SET failures = 6, next_at = now() WHERE id = '$t'");
    $out->wake;
    $out->soon($t, "sync_status = 'failing' AND failures > 6", 'after a minute it fails');

    my $told = $acme->admin(GET => "/scim-targets/$t")->json;

    is($told->{lastSyncStatus}, 'failing', 'that is told');
    is($told->{lastError}, $REFUSED, 'and why, without what else is known');
    ok(scalar($s->nginx->said(qr/\[error\].* SCIM target $t .* fails/)),
       'the operator is told, too');
    is(connected(), 0, 'nobody was connected to');
}


my $ada = $acme->create(userName => 'ada@x.test');

$resolver->set($NAME => $INNER);

my $t = $out->target("https://$NAME:" . $out->there->{port} . '/store/close');

minute($t);

my $r = $acme->admin(POST => "/scim-targets/$t/test")->json;

ok(!$r->{ok}, 'a test of it fails');
is($r->{error}, $REFUSED, 'for the same reason');
is(connected(), 0, 'without a connection');

$resolver->set($NAME => '127.0.0.1');
$out->put($t, name => 'Moved');
$out->synced($t, $ada, 'when it leads elsewhere, PUT tries at once');
$out->soon($t, 'failures = 0 AND last_error IS NULL'
               . " AND sync_status IS DISTINCT FROM 'failing'", 'it is well');


# --- a name that changes between two requests -----------------------------------------------

# The old address is cached for some seconds: users created then are still
# pushed there.

$resolver->set($NAME => $INNER);

my ($bob, $n);

ok((wait_for {
    $bob = $acme->create(userName => 'bob' . ++$n . '@x.test');
    wait_for { $out->row($t, 'failures') > 0
               || $out->items($t, "user_id = '$bob->{id}' AND state = 'synced'") } 10;
    $out->row($t, 'failures') > 0;
}), 'a name that has moved');
minute($t);

# of several addresses the permitted one is used

$resolver->set($NAME => "$INNER,127.0.0.1");
$out->put($t, name => 'There');
$out->synced($t, $bob, 'one of its addresses is public');
is(connected(), 0, 'that one alone is connected to');

$s->done;
done_testing();
