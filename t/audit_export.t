#!/usr/bin/perl

# Shows that GET /v1/admin/audit/export sends all events, as JSON or CSV, at the
# client's pace.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Http2;
use SvcTest::Process qw(slow wait_for resident);


my $PATH = '/v1/admin/audit/export';

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $viewer = $acme->token(kind => 'api', name => 'viewer',
                          permissions => 'audit:view');
my $auth = [ Authorization => "Bearer $viewer->{token}" ];


sub export {
    my ($query) = @_;

    return $s->http(GET => $PATH . ($query // ''), $auth);
}


# Makes $n events, a second apart, since an hour ago; the newest has the number 1.

sub fill {
    my ($n, $text) = @_;

    my $details = $text ? "jsonb_build_object('n', i, 'text', repeat('x', $text))"
                        : "jsonb_build_object('n', i)";

    $s->sql('TRUNCATE svc.audit_event');
    $s->sql("INSERT INTO svc.audit_event (tenant_id, action, created_at,"
            . " outcome, details) SELECT '$acme->{id}', 'user.updated',"
            . " now() - interval '1 h' - i / 2 * interval '1 s',"
            . " CASE WHEN i % 100 = 0 THEN 'failure' ELSE 'success' END,"
            . " $details FROM generate_series($n, 1, -1) i");
}


# Reads RFC 4180 strictly.

sub csv {
    my ($text) = @_;

    my @rows;

    while (length $text) {
        my @row;

        for (;;) {
            if ($text =~ s/\A"((?:[^"]|"")*)"//) {
                push @row, $1 =~ s/""/"/gr;

            } else {
                $text =~ s/\A([^",\r\n]*)//;
                push @row, $1;
            }

            last if $text !~ s/\A,//;
        }

        $text =~ s/\A\r\n// or return;
        push @rows, \@row;
    }

    return @rows;
}


sub exported {
    return scalar $s->sql("SELECT count(*) FROM svc.audit_event WHERE action ="
                          . " 'audit.exported'");
}


# --- JSON --------------------------------------------------------------------

my $r = export();
is($r->status, 200, 'nothing yet');
is($r->header('content-type'), 'application/json', 'JSON');
is($r->header('cache-control'), 'no-store', 'not stored');
is_deeply($r->json, { events => [], count => 0,
                      truncated => JSON::PP::false }, 'empty');

my ($e) = $s->sql('SELECT action, outcome, actor_name, details, target_type'
                  . ' FROM svc.audit_event');
is_deeply($e, [ 'audit.exported', 'success', 'viewer',
                '{"format": "json", "truncated": false}', undef ],
          'that is an event');
is(export()->json->{count}, 1, 'which the next one has');
is(exported(), 2, 'one event each');

fill(2500);
$r = export('?format=json')->json;
is_deeply([ map { $_->{details}{n} } @{ $r->{events} } ], [ 1 .. 2500 ],
          'all, newest first');
is($r->{count}, 2500, 'count');
is_deeply($r->{events}[0],
          $acme->admin(GET => '/audit?limit=1&q=user.updated', undef, undef,
                       $viewer->{token})->json->{events}[0],
          'as in the list');
is(exported(), 1, 'one event for all pages');

for my $n (1000, 1001, 2000) {
    fill($n);
    is(export()->json->{count}, $n, "$n events");
}

fill(2500);
$r = export('?outcome=failure&limit=3')->json;
is_deeply([ map { $_->{details}{n} } @{ $r->{events} } ],
          [ map { 100 * $_ } 1 .. 25 ], 'a filter');
is(export('?q=%22n%22:+12')->json->{count}, 111, 'q');
$s->sql("UPDATE svc.audit_event SET target_id = 't-1', request_id = '@{[ 'a' x 32 ]}'"
        . " WHERE details = '{\"n\": 7}'");
is_deeply([ map { $_->{details}{n} } @{ export("?$_")->json->{events} } ], [ 7 ], $_)
    for 'targetId=t-1', 'requestId=' . 'a' x 32;
is(export('?from=2100-01-01T00:00:00Z')->json->{count}, 0, 'from');
is(export('?to=2000-01-01T00:00:00Z')->json->{count}, 0, 'to');

fill(10000);
$r = export()->json;
is_deeply([ @$r{qw(count truncated)} ], [ 10000, JSON::PP::false ],
          'ten thousand');
fill(10001);
$r = export()->json;
is_deeply([ @$r{qw(count truncated)} ], [ 10000, JSON::PP::true ],
          'one more');
is($r->{events}[9999]{details}{n}, 10000, 'the oldest is left out');
is(export('?format=csv')->header('x-truncated'), 'true', 'CSV says so before');


# --- CSV ---------------------------------------------------------------------

$s->sql('TRUNCATE svc.audit_event');
$s->sql(<<"EOT");
INSERT INTO svc.audit_event (tenant_id, created_at, action, actor_type, actor_id,
                             actor_name, target_type, target_id, target_name, ip,
                             country, user_agent, request_id, details) VALUES
('$acme->{id}', '2026-11-21 09:15:30.5+00', 'role.created', 'apiToken', 'a-1',
 'a "quoted", name', 'role', '=1+1', E'two\\r\\nlines', '2001:db8::1', 'FR',
 '\@agent', '-', '{"a": [1, "x"]}'),
('$acme->{id}', '2026-11-21 09:15:29+00', 'x', 'system', '+1', '|x', '%y',
 E'\\tz', E'\\rcr', NULL, NULL, '\\' || chr(233), 'plain''s', '{}')
EOT

$r = export('?format=csv');
is($r->header('content-type'), 'text/csv; charset=utf-8', 'CSV');
my @t = gmtime;
is($r->header('content-disposition'),
   sprintf('attachment; filename="audit-acme-%04d%02d%02d.csv"',
           1900 + $t[5], 1 + $t[4], $t[3]), 'its name');
is($r->header('x-truncated'), 'false', 'whole');

my @rows = csv($r->body);
is(join(',', @{ shift @rows }),
   'id,createdAt,action,outcome,actorType,actorId,actorName,targetType,'
   . 'targetId,targetName,ip,country,userAgent,requestId,details', 'columns');
is_deeply([ map { [ @$_[1 .. 14] ] } @rows ], [
    [ '2026-11-21T09:15:30.500Z', 'role.created', 'success', 'apiToken', 'a-1',
      'a "quoted", name', 'role', "'=1+1", "two\r\nlines", '2001:db8::1', 'FR',
      "'\@agent", "'-", '{"a": [1, "x"]}' ],
    [ '2026-11-21T09:15:29.000Z', 'x', 'success', 'system', "'+1", "'|x",
      "'%y", "'\tz", "'\rcr", '', '', "\\\xc3\xa9", "plain's", '{}' ],
], 'cells');

fill(0);
is(() = export('?format=csv')->body =~ /\r\n/g, 1, 'of nothing a header');
fill(2500);
@rows = csv(export('?format=csv')->body);
is(scalar @rows, 2501, 'many');
is(scalar(grep { @$_ != 15 } @rows), 0, 'each of 15 cells');
is($rows[2500][14], '{"n": 2500}', 'to the last');


# --- permissions and parameters ----------------------------------------------

admin_error($acme->admin(GET => '/audit/export'), 403, undef,
            'without audit:view');
admin_error($s->http(GET => $PATH), 401, undef, 'without a token');
admin_error(export("?$_"), 400, undef, $_)
    for 'format=xml', 'format=', 'format=CSV', 'outcome=x', 'from=x',
        'q=' . 'x' x 201, 'requestId=1', 'targetId=' . 'x' x 256;
is($globex->admin(GET => '/audit/export', undef, undef,
                  $globex->token_for('audit:view'))->json->{count}, 0,
   'another tenant has its own');

my $before = exported();
$r = $s->http(HEAD => "$PATH?format=csv", $auth);
is($r->status, 200, 'HEAD');
is($r->header('x-truncated'), 'false', 'with the headers');
is(exported(), $before, 'exports nothing');

my $c = $s->connection;
$c->send("GET $PATH HTTP/1.0\r\n$auth->[0]: $auth->[1]\r\n\r\n");
$r = $c->read;
is($r->json->{count}, 2501, 'HTTP/1.0');


# --- clients that are slow, or leave -----------------------------------------

# 30 MB are far more than the buffers of a socket take.

fill(10000, 3000);

# Returns the count at the end of the export; to decode all of it takes Perl seconds.

sub count {
    my ($r) = @_;

    return $r->{body} =~ /\],"count":(\d+),"truncated":(?:true|false)\}\z/
           ? $1 : 'no end' if $r;
    return 'no answer';
}


sub begin {
    my ($query, $token, $buffer) = @_;

    my $c = $s->connection;

    setsockopt $c->sock, Socket::SOL_SOCKET(), Socket::SO_RCVBUF(), $buffer
        if $buffer;
    $c->send($c->format(GET => $PATH . ($query // ''),
                        $token ? [ Authorization => "Bearer $token" ]
                               : $auth));

    return $c;
}


my $rss = resident($s->workers);
my @slow = map { begin('', undef, 4096) } 1 .. 8;

# All exports have begun; the clients take a byte now and then.

for my $c (@slow) {
    IO::Select->new($c->sock)->can_read(slow(10));
}

for (1 .. 60) {
    for my $c (@slow) {
        sysread $c->sock, my $byte, 1;
    }

    is($acme->scim(GET => '/Users')->status, 200, 'others are served')
        if $_ % 20 == 0;
    select undef, undef, undef, 0.01;
}

ok((wait_for { $s->sessions("state <> 'idle'") == 0 }),
   'nothing is under way in PostgreSQL meanwhile');
cmp_ok(resident($s->workers) - $rss, '<', slow(80_000),
       'a page of memory for each');
ok($_->{sock} && getpeername $_->{sock}, 'still open') for $slow[0];
$_->abort for @slow;
ok((wait_for { resident($s->workers) - $rss < slow(60_000) }), 'they leave');

# A client that reads gets all of it.

$r = export();
cmp_ok(length($r->body), '>', 30e6, '30 MB');
is(count($r), 10000, 'all of it');

# A worker that quits finishes the exports that have begun.

$c = begin();
ok($c->answered, 'an export has begun');
$s->reload(linger => 1);
$c->{timeout} = slow(30);
$r = $c->read;
is(count($r), 10000, 'a reload in the middle');
ok((wait_for { !$s->nginx->old_worker_pids }), 'and the old workers go');

# A token is revoked, or PostgreSQL stops: the client sees that the answer is cut off.

sub cut {
    my ($name, $c) = @_;

    is($c->read, undef, "$name: the answer is cut");
    like($c->error, qr/closed/, 'and the connection closed');
}

my $token = $acme->token(kind => 'api', name => 'r',
                         permissions => 'audit:view');
$c = begin('', $token->{token});
ok($c->answered, 'an export has begun');
is($acme->admin(DELETE => "/api-tokens/$token->{id}")->status, 204, 'revoked');
cut('a token is revoked', $c);

$c = begin();
ok($c->answered, 'an export has begun');
$s->pg->stop;
cut('PostgreSQL is stopped', $c);
$s->pg->launch;
$s->wait_healthy;

# Several exports with a filter run at once in the pool for slow work.

my @many = map { begin('?action=user.updated') } 1 .. 5;
$_->{timeout} = slow(30) for @many;
my @counts = map { count(scalar $_->read) } @many;
is("@counts", join(' ', (10000) x 5), 'several with a filter at once');

# A client that reads nothing is cut off after send_timeout.

$s->nginx->{http} = "    send_timeout 1s;\n";
$s->reload;
$c = begin();
ok($c->answered, 'an export has begun');
ok((wait_for { grep { /client timed out/ } $s->nginx->log_lines }),
   'a client that takes nothing is let go');
$c->close;

$s->nginx->{http} = '';

# HTTP/2, with all windows open, and with a reset.

if (SvcTest::Nginx::built_with('http_v2')) {
    $s->nginx->{http2_port} = SvcTest::Nginx::free_port();
    $s->reload;

    my $h = SvcTest::Http2->new(port => $s->nginx->{http2_port});
    my @id = map { $h->request(GET => $PATH, [ 'authorization', $auth->[1] ]) }
             1 .. 3;

    wait_for { $h->pump(0.05);
               length $h->{stream}{ $id[1] }{body} > 100_000 };
    $h->reset($id[1]);

    for my $id (@id[0, 2]) {
        my $a = $h->answer($id);
        is(count($a), 10000, 'HTTP/2');
    }

    $h->request(GET => $PATH, [ 'authorization', $auth->[1] ]);
    $h->pump(1);
    $h->close;
}

# limit_rate slows the export down.

fill(3000);
$s->nginx->{server} = "        limit_rate 400k;\n";
$s->reload;
my $since = time();
is(count(export()), 3000, 'limit_rate');
cmp_ok(time() - $since, '>', 0.8, 'is heeded');

is(() = $s->sql("SELECT 1 FROM svc.audit_event WHERE action ="
                . " 'audit.exported' AND outcome <> 'success'"), 0, 'well');

$s->done;
done_testing();
