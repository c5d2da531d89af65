#!/usr/bin/perl

# Shows that a client of GET /v1/admin/audit/stream gets every event once, and in
# order, whatever happens meanwhile.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Http2;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Sse;


my $PATH = '/v1/admin/audit/stream';

my $s = SvcTest->new(
    workers => 2, connections => 4096,
    pg_conf => "max_connections = 200\n",
)->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $viewer = viewer($acme);
my $n = 0;


sub viewer {
    my ($tenant, %arg) = @_;

    return $tenant->token(kind => 'api', name => 'viewer',
                          permissions => 'audit:view', %arg)->{token};
}


sub follow {
    my ($query, $last, $token) = @_;

    my $e = SvcTest::Sse->new($s, $token // $viewer, $PATH . ($query // ''),
                              $last);

    $e->open or die 'no answer: ' . $e->{http}->error . "\n";

    return $e;
}


sub insert_sql {
    my ($number, %column) = @_;

    my $tenant = delete $column{tenant} // $acme;

    %column = (tenant_id => "'$tenant->{id}'", action => "'user.updated'",
               details => "'{\"n\": $number}'", %column);

    my @names = sort keys %column;

    utf8::upgrade($_) for values %column;

    return 'INSERT INTO svc.audit_event (' . join(', ', @names) . ') VALUES ('
           . join(', ', @column{@names}) . ') RETURNING id';
}


# Stores an event behind nginx's back: no worker is told of it.

sub event {
    my (%column) = @_;

    return scalar $s->sql(insert_sql(++$n, %column));
}


# Publishes what a worker does when it has written an event.

sub nudge {
    $s->redis->command("PUBLISH svc.audit $acme->{id}");
}


sub leases {
    return scalar $s->sql("SELECT count(*) FROM svc.audit_stream");
}

sub all_closed {
    my ($name) = @_;

    ok((wait_for { leases() == 0 }), $name) or diag(leases());
}


# --- how a stream begins -----------------------------------------------------

event() for 1 .. 3;

my $e = follow();
is($e->{answer}->status, 200, 'a stream');
is($e->{answer}->header('content-type'), 'text/event-stream', 'of its type');
is($e->{answer}->header('cache-control'), 'no-store', 'not stored');
is($e->{answer}->header('x-accel-buffering'), 'no', 'not buffered');
like($e->{answer}->header('x-request-id'), qr/\A[0-9a-f]{32}\z/, 'of a request with an id');

$e->pump(slow(5));
is_deeply([ $e->{comments}, $e->{retry}, $e->{events} ],
          [ [ 'connected' ], 3000, [] ], 'connected, and nothing of before');

# A worker that is told of an event does not wait for the look every 15 seconds.

my $since = time();
my $r = $acme->admin(POST => '/api-tokens', { name => "tok\x{e9}n",
                                              scopes => [ 'users:view' ] });
$s->secret($r->json->{secret});
ok($e->wait_for(1), 'an event');
cmp_ok(time() - $since, '<', 7, 'at once');

my ($got) = @{ $e->{events} };
my $list = $acme->admin(GET => '/audit?limit=1', undef, undef, $viewer);
is($got->{event}, 'audit', 'its name');
is_deeply($got->{data}, $list->json->{events}[0], 'its data');
is($got->{id}, $got->{data}{id}, 'its id');

# The events of another tenant are not sent.

my $other = follow('', undef, viewer($globex));
event();
nudge();
ok($e->wait_for(2), 'our own');
$globex->admin(POST => '/api-tokens', { name => 'x',
                                        scopes => [ 'users:view' ] });
ok($other->wait_for(1), 'theirs');
is_deeply([ map { $_->{data}{actor}{name} } @{ $other->{events} } ],
          [ 'globex deploy' ], 'and no others');
$other->close;

is($s->http(HEAD => $PATH, { Authorization => "Bearer $viewer" })->status,
   200, 'HEAD');

admin_error($s->http(GET => $PATH), 401, undef, 'no token');
admin_error($acme->admin(GET => '/audit/stream'), 403, undef,
            'no permission');
admin_error($acme->admin(GET => "/audit/stream?$_", undef, undef, $viewer),
            400, undef, $_)
    for 'outcome=x', 'q=' . 'x' x 201, 'lastEventId=abc', 'lastEventId=-1',
        'lastEventId=' . '9' x 65;

$e->close;
all_closed('a client that leaves leaves nothing behind');


# --- resuming after the last event -------------------------------------------

my @id = map { event() } 1 .. 10;
my $first = $n - 9;

$e = follow('', $id[3]);
ok($e->wait_for(6), 'Last-Event-ID');
is_deeply([ $e->numbers ], [ $first + 4 .. $n ], 'what came after it, in order');
is_deeply([ map { $_->{id} } @{ $e->{events} } ], [ @id[4 .. 9] ], 'by id');
event();
nudge();
ok($e->wait_for(7), 'then live');
is(($e->numbers)[-1], $n, 'the next one');
$e->close;

$e = follow("?lastEventId=$id[8]");
ok($e->wait_for(2), '?lastEventId=');
$e->close;

$e = follow("?lastEventId=$id[0]", $id[8]);
ok($e->wait_for(2), 'the header wins');
is($e->{events}[0]{id}, $id[9], 'over the argument');
$e->close;

$e = follow('', scalar $s->sql('SELECT max(id) FROM svc.audit_event'));
event();
nudge();
ok($e->wait_for(1), 'from the last one');
is_deeply([ $e->numbers ], [ $n ], 'only what is new');
$e->close;

for my $unknown (999999999, '9' x 40, event(tenant => $globex)) {
    $e = follow('', $unknown);
    ok($e->wait_for(8), "an unknown id, $unknown");
    is_deeply([ @{ $e->{events}[0] }{qw(event data id)} ],
              [ 'gap', { from => "$unknown" }, undef ], 'a gap is told');
    my @ids = map { $_->{id} } @{ $e->{events} }[1 .. 7];
    is("@ids", join(' ', sort { $a <=> $b } @ids), 'then events in order');
    $e->close;
}

# Filters.

$e = follow('?outcome=failure');
my $wrong = follow('?q=wr%C3%B6ng');
my $request = 'a' x 32;
my $deleted = follow("?action=user.deleted&actorId=u-7&targetId=t-7&requestId=$request");
event();
event(outcome => "'failure'");
event(action => "'user.deleted'", actor_id => "'u-7'", target_id => "'t-7'",
      request_id => "'$request'");
event(actor_name => "'WR\x{d6}NG'");
event(action => "'user.deleted'");
nudge();
ok($_->wait_for(1), 'a filter') for $e, $wrong, $deleted;
is_deeply([ map { $_->numbers } $e, $deleted, $wrong ],
          [ $n - 3, $n - 2, $n - 1 ], 'what was asked for');
my $mark = $e->last_id;
$_->close for $e, $wrong, $deleted;

$e = follow('?action=user.deleted', $mark);
ok($e->wait_for(2), 'a filter, and an id');
is_deeply([ $e->numbers ], [ $n - 2, $n ], 'both count');
$e->close;


# --- many missing events -----------------------------------------------------

my $start = event();
$s->sql("INSERT INTO svc.audit_event (tenant_id, action, details, outcome)"
        . " SELECT '$acme->{id}', 'user.updated',"
        . " jsonb_build_object('n', $n + i),"
        . " CASE WHEN i % 500 = 0 THEN 'failure' ELSE 'success' END"
        . ' FROM generate_series(1, 1000) i');
$e = follow('', $start);
ok($e->wait_for(1000), 'a thousand');
is_deeply([ $e->numbers ], [ $n + 1 .. $n + 1000 ], 'each once, in order');
$e->close;

$n += 1000;
event();
$e = follow('', $start);
ok($e->wait_for(1001), 'one more');
is($e->{events}[0]{event}, 'gap', 'is one too many');
is_deeply([ $e->numbers ], [ $n - 999 .. $n ], 'the newest thousand');
$e->close;

$e = follow('?outcome=failure', $start);
ok($e->wait_for(2), 'of a few among them');
is_deeply([ $e->numbers ], [ $n - 501, $n - 1 ], 'none is missing');
$e->close;


# --- transactions that commit out of order -----------------------------------

my ($t1, $t2) = map { $s->connect_as('postgres') } 1 .. 2;

$e = follow();
$e->pump(slow(5));
$t1->query('BEGIN');
$t1->query(insert_sql(++$n));
my $late = $n;
event();
$t2->query('BEGIN');
$t2->query(insert_sql(++$n));
event();
nudge();
$e->pump(0.1) for 1 .. 3;
is(scalar @{ $e->{events} }, 0, 'what may yet get something before it waits');
ok((wait_for { $e->pump(0.05); @{ $e->{waiting} } }), 'which is said after a second');
$t1->query('COMMIT');
ok($e->wait_for(2), 'once the first one commits');
$t2->query('COMMIT');
ok($e->wait_for(4), 'and the second one');
ok((wait_for { $e->pump(0.05); !$e->{waiting}[-1] }), '... and then that none waits');
is($e->{waiting}[0], 1, '... each once') for 1 .. @{ $e->{waiting} } / 2;
is_deeply([ $e->numbers ], [ $late .. $n ], 'each once, in order');

# A stream begins in the middle, while a transaction is still open.

$t1->query('BEGIN');
$t1->query(insert_sql(++$n));
$late = $n;
event();
my $seen = $e->last_id;
my $middle = follow('', $seen);
my $listed = follow('', scalar $s->sql('SELECT max(id) FROM svc.audit_event'));
my $now = follow();
$_->pump(slow(5)) for $middle, $now;
event();
$t1->query('COMMIT');
nudge();
ok($_->wait_for(3), 'all get it') for $e, $middle;
ok($e->wait_for(7), 'who was there');
is_deeply([ $middle->numbers ], [ $late .. $n ], 'who came again meanwhile');
ok($listed->wait_for(2), 'who had seen what was not final yet');
is_deeply([ $listed->numbers ], [ $late, $n ], 'gets what was committed later');
ok($now->wait_for(2), 'who came meanwhile');
is_deeply([ $now->numbers ], [ $late, $n ], 'gets what was not there yet');

# A transaction is rolled back.

$t1->query('BEGIN');
$t1->query(insert_sql(0));
event();
nudge();
$e->pump(0.1);
$t1->query('ROLLBACK');
ok($e->wait_for(8), 'what is rolled back stops nobody');
is(($e->numbers)[-1], $n, 'and is not told');

# Many writers at once, each with another time.

my @writers = map { $s->connect_as('postgres') } 1 .. 6;
my $before = $n;

for my $round (1 .. 20) {
    my @open = @writers;

    for my $w (@writers) {
        $w->query('BEGIN; ' . insert_sql(++$n));
    }

    while (@open) {
        my ($w) = splice @open, rand @open, 1;

        $w->query('COMMIT');
        $_->pump(0) for $e, $middle;
    }

    nudge();

    if ($round % 5 == 0) {
        $middle->wait_for(3 + $round, 1);
        my $last = $middle->last_id;
        push @{ $middle->{before} }, $middle->numbers;
        my @kept = @{ $middle->{before} };
        $middle->close;
        $middle = follow('', $last);
        $middle->{before} = \@kept;
    }
}

event();
nudge();
ok((wait_for { $e->pump(0.01); (($e->numbers)[-1] // 0) == $n }), 'writers');
ok((wait_for { $middle->pump(0.01); (($middle->numbers)[-1] // 0) == $n }),
   'and one who comes again and again');

my @all = grep { $_ > $before } $e->numbers;
is(scalar @all, $n - $before, 'each event once')
    or diag("@all");
is(join(' ', sort { $a <=> $b } @all), join(' ', $before + 1 .. $n),
   'and none is lost');
is(join(' ', grep { $_ > $before } @{ $middle->{before} }, $middle->numbers),
   "@all", 'the same for both, in the same order');
$_->close for $e, $middle, $listed, $now;
all_closed('all closed');


# --- the greatest number of streams ------------------------------------------

my @ten = map { follow() } 1 .. 10;
is(scalar(grep { $_->{answer}->status == 200 } @ten), 10, 'ten streams');
my $eleventh = follow();
admin_error($eleventh->{answer}, 429, undef, 'and no more');
is(follow('', undef, viewer($globex))->{answer}->status, 200,
   'another tenant has its own');
ok($ten[0]->wait_for(1), 'that is an event');
is($ten[0]{events}[0]{data}{action}, 'rate_limit.exceeded', 'in the log');
follow();
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action ="
           . " 'rate_limit.exceeded'"), 1, 'once a minute');
$ten[3]->close;
ok((wait_for { follow()->{answer}->status == 200 }),
   'one closed, one opened');
$_->close for @ten;
all_closed('closed');


# --- tokens ------------------------------------------------------------------

my $revoked = $acme->token(kind => 'api', name => 'r',
                           permissions => 'audit:view');
$e = follow('', undef, $revoked->{token});
$e->pump(slow(5));
is($acme->admin(DELETE => "/api-tokens/$revoked->{id}")->status, 204,
   'a token is revoked');
is($e->wait_end, 'end', 'its stream ends');

my $short = $acme->token(kind => 'api', permissions => 'audit:view',
                         expires => "now() + interval '1 hour'");
$e = follow('', undef, $short->{token});
is($e->{answer}->status, 200, 'a token that expires');
$e->pump(slow(5));
$s->sql("UPDATE svc.credential SET expires_at = now() - interval '1 ms' WHERE id = '$short->{id}'");
nudge();
is($e->wait_end, 'end', 'ends its stream');

# Leases of tokens that are no longer good may be left over.

$s->sql('DELETE FROM svc.audit_stream');


# --- without Redis -----------------------------------------------------------

$e = follow();
$e->pump(slow(5));
$s->redis->stop;
event();
ok($e->wait_for(1), 'Redis goes away: events come');
event();
ok($e->wait_for(2), 'and go on');

# One of two workers has the stream, and hears of its own changes.

ok((wait_for {
    my $before = @{ $e->{events} };
    my $t = time();

    $acme->create(userName => "u$t\@x.test");
    $e->wait_for($before + 1) && $e->{events}[-1]{at} - $t < slow(0.4);
}), 'and at once from the same worker');

$s->redis->launch;
ok((wait_for { nudge(); $s->health->json->{redis} eq 'up' }), 'Redis is back');
ok((wait_for { event(); nudge(); my $t = time();
               $e->wait_for(@{ $e->{events} } + 1)
               && time() - $t < 5 }), 'and so is the speed');


# --- PostgreSQL stops and starts ---------------------------------------------

my $count = @{ $e->{events} };
$s->pg->stop;
nudge();
$e->pump(0.3);
$s->pg->launch;
event();
ok($e->wait_for($count + 1), 'PostgreSQL is restarted: events come');
is(($e->numbers)[-1], $n, 'the next one');
ok(!$e->{ended}, 'on the same stream');
$s->wait_healthy;


# --- workers end -------------------------------------------------------------

$s->reload;
is($e->wait_end, 'end', 'a reload does not wait for streams: they end');
$mark = $e->last_id;
event();
$e = follow('', $mark);
ok($e->wait_for(1), 'and go on elsewhere');
is_deeply([ $e->numbers ], [ $n ], 'where they were');

$s->nginx->kill_worker('KILL', $_) for $s->workers;
is($e->wait_end, 'cut', 'a worker is killed');
cmp_ok(leases(), '>=', 1, 'its lease stays');
$s->sql("UPDATE svc.audit_stream SET expires_at = now() - interval '1 ms'");
$e = follow('', $e->last_id);
is($e->{answer}->status, 200, 'until it expires');
is(leases(), 1, 'and is swept');
$e->close;

# Events are written all the time, while nginx is reloaded.

my $writer = fork // die "fork: $!";

if (!$writer) {
    my $c = $s->connect_as('postgres');
    my $i = $n;

    for (1 .. 300) {
        $c->query(insert_sql(++$i));
        nudge();
        select undef, undef, undef, 0.005;
    }

    POSIX::_exit(0);
}

$e = follow('', scalar $s->sql('SELECT max(id) FROM svc.audit_event WHERE details'
                        . " = '{\"n\": $n}'"));
my (@seen, $ends);
my $until = time() + slow(60);
my $reloads = 0;

while (@seen + $e->numbers < 300 && time() < $until) {
    if ($reloads < 3 && @seen + $e->numbers > 60 * ($reloads + 1)) {
        $reloads++;
        $s->reload(linger => 1);
    }

    $e->pump(0.05);

    if ($e->{ended} || $e->{http}{eof}) {
        $ends++;
        push @seen, $e->numbers;
        $mark = $e->last_id // $mark;
        $e = follow('', $mark);
    }
}

push @seen, $e->numbers;
waitpid $writer, 0;
cmp_ok($ends // 0, '>=', 3, 'reloads under load');
is_deeply(\@seen, [ $n + 1 .. $n + 300 ], 'none lost, none doubled');
$e->close;
$n += 300;


# --- a client that does not read ---------------------------------------------

$s->nginx->{http} = "    send_timeout 1s;\n";
$s->reload;
$e = SvcTest::Sse->new($s, $viewer, $PATH, event());
$e->open;
$s->sql("INSERT INTO svc.audit_event (tenant_id, action, details)"
        . " SELECT '$acme->{id}', 'user.updated', jsonb_build_object('n', i,"
        . " 'x', repeat('x', 20000)) FROM generate_series(1, 900) i");
nudge();
ok((wait_for { leases() == 0 }), 'one who reads nothing is let go');
$e->close;


# --- clients that leave before their stream is open ---------------------------

my $sockets = $s->nginx->sockets;

for (1 .. 12) {
    $s->begin(GET => $PATH, { Authorization => "Bearer $viewer" })->abort;
}

# Some of them get a stream, at first.

ok((wait_for { $s->nginx->sockets <= $sockets && $s->sessions("state <> 'idle'") == 0
               && leases() == 0 }), 'hasty clients leave no lease');


# --- HTTP/2 ------------------------------------------------------------------

if (SvcTest::Nginx::built_with('http_v2')) {
    $s->nginx->{http2_port} = SvcTest::Nginx::free_port();
    $s->reload;

    # A worker that quits while a hasty client's stream opens leaves its lease behind.

    $s->sql('DELETE FROM svc.audit_stream');

    my $h = SvcTest::Http2->new(port => $s->nginx->{http2_port});
    my @streams = map { $h->request(GET => $PATH,
                                    [ authorization => "Bearer $viewer" ]) }
                  1 .. 3;

    my $bodies = sub { $h->pump(0.05);
                       scalar grep { $h->{stream}{$_}{body} =~ $_[0] }
                       @streams };

    ok((wait_for { $bodies->(qr/connected/) == 3 }), 'HTTP/2');
    event();
    nudge();
    ok((wait_for { $bodies->(qr/^id: /m) == 3 }), 'three on a connection');
    $h->reset($streams[0]);
    ok((wait_for { $h->pump(0.01); leases() == 2 }), 'one is reset');
    $h->close;
    all_closed('the connection is closed');
}

$s->done(allow => [ qr/exited on signal 9/ ]);
done_testing();
