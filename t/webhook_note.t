#!/usr/bin/perl

# Ended deliveries that PostgreSQL refuses to note are given up after some
# tries, and logged.  Those that it cannot note for a while, because a table is
# missing, wait until it can.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow slurp wait_for);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s, svc_webhook_outbox => 'off');

$s->start;

my $nginx = $s->nginx;
my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');

$s->sql('REVOKE EXECUTE ON FUNCTION svc.webhook_note FROM svc_app');
$acme->create(userName => 'refused@note.test');
is(scalar($receiver->wait($hook, 1)), 1, 'a delivery ends');
ok((wait_for { $nginx->said(qr/1 ended webhook deliveries are not noted/) }),
   'that it is given up is told at once, not with the next one');

$s->sql('GRANT EXECUTE ON FUNCTION svc.webhook_note TO svc_app');
$acme->create(userName => 'taken@note.test');
ok((wait_for { $s->sql('SELECT count(*) FROM svc.webhook_done') == 1 }),
   'the next one is noted');


# --- tables that are missing ---------------------------------------------------

# Returns how often PostgreSQL missed the table: more often than a refused note
# is tried.

sub missed {
    my ($table) = @_;

    return () = slurp($s->pg->{log}) =~ /ERROR:  relation "svc\.$table" does not exist/g;
}


my @tables = qw(webhook_done webhook_attempt);

$nginx->mark_log;
$s->sql("ALTER TABLE svc.$_ RENAME TO away_$_") for @tables;
$acme->create(userName => 'waits@note.test');
is(scalar($receiver->wait($hook, 3)), 3, 'a delivery ends');

for my $table (@tables) {
    ok((wait_for { missed($table) > 12 }), "$table is missed again and again");
}

$s->sql("ALTER TABLE svc.away_$_ RENAME TO $_") for @tables;

ok((wait_for { $s->sql('SELECT count(*) FROM svc.webhook_done') == 2 }),
   'it is noted when there is a table again');
ok((wait_for { $s->sql('SELECT count(*) FROM svc.webhook_attempt') == 3 }),
   'and is in the delivery log');
is(scalar($nginx->said(qr/not noted|not in the delivery log/)), 0, 'nothing was given up');

$s->done;

done_testing();
