#!/usr/bin/perl

# Ended deliveries that PostgreSQL refuses to note: given up after some tries, and told.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for);
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

$s->done;

done_testing();
