#!/usr/bin/perl

# Shows the health of reads and of writes: with commits that do not end, with a
# standby, and how few writes it takes.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(wait_for);


# A connection stays while its commit does not end.

my $s = SvcTest->new(workers => 2, svc => { svc_postgres_timeout => '60s' },
                     locations => <<'EOT')->start;
        location = /healthz/writes { svc_health writes; }
        location = /metrics { svc_metrics; }
EOT

my $acme = $s->tenant('acme');


sub writes {
    return $s->http(GET => '/healthz/writes');
}


# Checks both locations, on the worker that answers.

sub health_is {
    my ($status, $of_writes, $json, $name) = @_;

    for my $row ([ '/healthz', $status ], [ '/healthz/writes', $of_writes ]) {
        my ($path, $expected) = @$row;
        my $r;

        wait_for {
            $r = $s->http(GET => $path);
            $r->json->{writes} eq $json->{writes}
                && $r->json->{postgres} eq $json->{postgres}
                && $r->json->{keys} ne 'unknown'
        };

        my %got = %{ $r->json };
        my $message = delete $got{message};

        is($r->status, $expected, "$name: $path: $expected");
        is_deeply(\%got, { redis => 'up', keys => 'ok', %$json }, "$name: $path: states")
            or diag($r->body);
        is(defined $message, $json->{postgres} ne 'up', "$name: $path: why");
    }
}


sub set {
    my ($name, $value) = @_;

    $s->sql("ALTER SYSTEM SET $name = $value");
    $s->sql('SELECT pg_reload_conf()');
}


my $well = { status => 'ok', postgres => 'up', reads => 'up', writes => 'up' };

health_is(200, 200, $well, 'all is well');


# --- a flood of requests makes few commits -----------------------------------

my $before = $s->sql('SELECT pg_current_xact_id()');
my $c = $s->connection;

for (1 .. 300) {
    my $r = $c->request(GET => '/healthz/writes', [ Host => 'x' ]);
    die 'no answer' if !$r;
    $c = $s->connection if ($r->header('connection') // '') eq 'close';
}

cmp_ok($s->sql('SELECT pg_current_xact_id()') - $before, '<', 150,
       '300 requests: fewer transactions by far');


# --- a synchronous standby that is missing --------------------------------------

sub stuck {
    return $s->sessions("wait_event = 'SyncRep' AND query LIKE '%svc.health%'");
}

set('synchronous_standby_names', q{'nobody'});
health_is(200, 503, { status => 'degraded', postgres => 'no-commits',
                      reads => 'up', writes => 'down' },
          'no commit ends');
$s->http(GET => '/healthz') for 1 .. 50;
cmp_ok(stuck(), '>', 0, 'a commit waits');
cmp_ok(stuck(), '<=', 2, 'one for each worker, not more');
is($acme->scim(GET => '/Users')->status, 200, 'and reads work');
ok((wait_for { writes();
               SvcTest::Metrics->get($s)->value('svc_health_workers',
                   of => 'writes', state => 'down') > 0 }),
   'metrics: writes are down');
set('synchronous_standby_names', q{''});
health_is(200, 200, $well, 'commits end again');
ok((wait_for { writes();
               SvcTest::Metrics->get($s)->value('svc_health_workers',
                   of => 'writes', state => 'down') == 0 }),
   'metrics: writes are up');


# --- a standby ----------------------------------------------------------------

set('default_transaction_read_only', 'on');
health_is(200, 503, { status => 'degraded', postgres => 'read-only',
                      reads => 'up', writes => 'read-only' }, 'read-only');

my $client = $s->connect_as('postgres');

$client->query('SET default_transaction_read_only = off');
$client->query('ALTER SYSTEM RESET default_transaction_read_only');
$client->query('SELECT pg_reload_conf()');
health_is(200, 200, $well, 'read-write again');

# The sweeps go on trying to write.

is(scalar(grep { /svc_app/ && !/cannot execute (?:UPDATE|DELETE) / } $s->pg->errors), 0,
   "nothing of it is an error in PostgreSQL's log")
    or diag($s->pg->errors);


# --- a full disk -------------------------------------------------------------------

# A commit still has room on the disk, and a row has not.

$s->sql("CREATE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN"
        . " RAISE EXCEPTION 'could not extend file: No space left on device'"
        . " USING ERRCODE = 'disk_full'; END \$\$");
$s->sql('CREATE TRIGGER no_room BEFORE INSERT ON svc.user_account'
        . ' FOR EACH ROW EXECUTE FUNCTION public.no_room()');

# Each worker reports what it has met itself.

my $n = 0;

for (1 .. 20) {
    my $r = $acme->scim(POST => '/Users', { userName => 'full' . ++$n . '@acme.test' });

    is($r->status, 503, 'nobody is stored: 503') if $_ == 1;
}

health_is(200, 503, { status => 'degraded', postgres => 'disk-full',
                      reads => 'up', writes => 'down' }, 'a full disk');
ok((wait_for { writes();
               SvcTest::Metrics->get($s)->value('svc_health_workers',
                   of => 'writes', state => 'down') > 0 }),
   'metrics: writes are down');
$s->sql('DROP TRIGGER no_room ON svc.user_account');
$s->sql('DROP FUNCTION public.no_room()');
is($acme->scim(POST => '/Users', { userName => 'room@acme.test' })->status, 201,
   'with room again one is stored');

# An error counts for a minute, in the worker that met it: new workers have met none.

$s->reload;
health_is(200, 200, $well, 'and all is well');


# --- a database that answers nothing ----------------------------------------------

$s->pg->freeze;
health_is(503, 503, { status => 'unavailable', postgres => 'down',
                      reads => 'down', writes => 'down' }, 'it hangs');
$s->pg->thaw;
health_is(200, 200, $well, 'it goes on');


# --- Redis that takes no writes ----------------------------------------------------

$s->redis->command('REPLICAOF 127.0.0.1 1');

my $r;

ok((wait_for { ($r = $s->health)->json->{redis} eq 'down' }), 'a replica is down');
is($r->status, 200, 'with 200');
is($r->json->{status}, 'degraded', 'degraded');
ok((wait_for { $s->nginx->said(qr/Redis \S+ is down: READONLY/) }),
   'the log tells');
$s->redis->command('REPLICAOF NO ONE');
ok((wait_for { $s->health->json->{redis} eq 'up' }), 'a master is up');

$s->done;
done_testing();
