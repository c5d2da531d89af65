#!/usr/bin/perl

# An endpoint is deleted while its delivery log is trimmed: both delete the same
# rows, and neither blocks the other.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest;
use SvcTest::Process qw(wait_for);

my $N = 600;                    # attempts; 100 of them are kept

my $s = SvcTest->new(workers => 1, svc => { svc_webhooks => 'on' })->start;
my $trim = SvcBench::Statements::read_all($s->root)->{webhook_trim}{text};

my $id = '01a00000-0000-7000-8000-000000000001';
my $tenant = $s->sql("INSERT INTO svc.tenant (slug, name) VALUES ('acme', 'Acme')"
                     . ' RETURNING id');

$s->sql('INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events, secret)'
        . " VALUES ('$tenant', '$id', 'https://acme.test/', '{user.created}', '')");

# the oldest row is inserted last: in the table the rows are in the opposite
# order of the index

$s->sql('INSERT INTO svc.webhook_attempt (tenant_id, endpoint_id, created_at,'
        . ' delivery_id, attempt, event_id, event, outcome, duration_ms)'
        . " SELECT '$tenant', '$id', now() - i * interval '1 second', i::text, 1, 'e',"
        . " 'user.created', 'retried', 1 FROM generate_series(1, $N) i");


sub session {
    my $session = $s->pg->connect('svc_app');

    $session->query("SELECT set_config('svc.tenant', '$tenant', false)");

    return $session;
}


sub send_to {
    my ($session, $text) = @_;

    $session->put('Q' . pack('N', 5 + length $text) . "$text\0");
}


my ($trims, $deletes) = map { session() } 1 .. 2;

$trims->query("PREPARE trim (text) AS $trim");
$deletes->query('SET enable_bitmapscan = off; SET enable_seqscan = off');

# one row in the middle is locked until both wait for it

my $holds = $s->pg->connect('postgres');

$holds->query('BEGIN; SELECT FROM svc.webhook_attempt WHERE delivery_id ='
              . " '@{[ $N / 2 ]}' FOR UPDATE");

send_to($trims, "EXECUTE trim ('{$id}')");
ok((wait_for { $s->waiting == 1 }), 'a trim has begun');
send_to($deletes, "DELETE FROM svc.webhook_endpoint WHERE id = '$id'");
ok((wait_for { $s->waiting == 2 }), 'and so has the deletion of the endpoint');

$holds->query('COMMIT');

ok(eval { $trims->until_ready }, 'the trim succeeds') or diag($@);
ok(eval { $deletes->until_ready }, 'and so does the other') or diag($@);
is($s->sql('SELECT count(*) FROM svc.webhook_attempt'), 0, 'no attempt is left');

$s->done;
done_testing();
