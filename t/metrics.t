#!/usr/bin/perl

# Shows that svc_metrics has Prometheus' text format, and that its numbers are right
# over all workers, after a reload, and after workers are killed.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Documents qw(section);
use SvcTest::Http2;
use SvcTest::Metrics;
use SvcTest::Nginx;
use SvcTest::Process qw(slow wait_for slurp);
use SvcTest::Sse;


my $LOCATION = $SvcTest::Metrics::LOCATION;
my $h2 = SvcTest::Nginx::free_port();
my $s = SvcTest->new(locations => $LOCATION, http2_port => $h2)->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for('audit:view');
my $REQUESTS = 'svc_http_requests_total';
my $SECONDS = 'svc_http_request_duration_seconds';
my ($r, $m);


sub metrics { return $m = SvcTest::Metrics->get($s) }


# Waits for a value: a request is counted when its answer is sent, and the last client
# may be quicker.

sub becomes {
    my ($name, $labels, $value, $what) = @_;

    wait_for { metrics()->sum($name, %$labels) == $value };
    is($m->sum($name, %$labels), $value, $what);
}


sub requests {
    my ($surface, $route, $method, $status, $n, $what) = @_;

    becomes($REQUESTS, { surface => $surface, route => $route,
                         method => $method, status => $status }, $n,
            $what // "$method $route: $status");
}


# --- the answer's format ------------------------------------------------------

$r = $s->http(GET => '/metrics');
is($r->status, 200, 'GET');
is($r->header('content-type'), 'text/plain; version=0.0.4; charset=utf-8',
   'its type');
is($r->header('content-length'), length $r->body, 'its length');
is($r->header('cache-control'), 'no-store', 'is not cached');

$r = $s->http(HEAD => '/metrics');
is($r->status, 200, 'HEAD');
is($r->body, '', 'has no body');
is($s->http(POST => '/metrics', undef, 'x')->status, 405, 'POST: 405');

is_deeply(metrics()->{errors}, [], 'the format, before any request');
is($m->sum($REQUESTS), 0, 'nothing is counted yet');
is($m->value('svc_processes', process => 'worker'), 2, 'two workers');
is($m->value('svc_schema_version'), $m->value('svc_schema_version_required'),
   'the schema');


# --- requests -----------------------------------------------------------------

my $user = $acme->create(userName => 'ada@acme.test');
my $path = "/scim/v2/Users/$user->{id}";

requests('scim', '/scim/v2/Users', 'POST', 201, 1);

is($s->http(GET => $path, $acme->headers)->status, 200, 'GET by id')
    for 1 .. 40;

requests('scim', '/scim/v2/Users/{id}', 'GET', 200, 40);
becomes("${SECONDS}_count", { surface => 'scim',
                              route => '/scim/v2/Users/{id}' }, 40,
        'each has a duration');
cmp_ok($m->value("${SECONDS}_sum", surface => 'scim',
                 route => '/scim/v2/Users/{id}'), '<', 40, 'in seconds');

$s->http(HEAD => $path, $acme->headers);
requests('scim', '/scim/v2/Users/{id}', 'HEAD', 200, 1);

for my $row ([ 401, 'api', '/v1/admin/users', GET => '/v1/admin/users', [] ],
             [ 404, 'api', 'none', GET => '/v1/nothing', [] ],
             [ 404, 'scim', 'none', GET => '/scim/v2/Groups', $acme->headers ],
             [ 404, 'scim', '/scim/v2/Users/{id}',
               GET => '/scim/v2/Users/x', $acme->headers ],
             [ 405, 'scim', 'none', PUT => '/scim/v2/Users', [] ],
             [ 405, 'api', 'none', OPTIONS => '/v1/admin/users', [] ],
             [ 400, 'scim', '/scim/v2/Users', POST => '/scim/v2/Users',
               $acme->headers, '{' ],
             [ 413, 'scim', '/scim/v2/Users', POST => '/scim/v2/Users',
               $acme->headers, 'x' x 1048577 ],
             [ 404, 'api', '/v1/tenants/{id}/branding',
               GET => '/v1/tenants/nobody/branding', [] ])
{
    my ($status, $surface, $route, @request) = @$row;

    is($s->http(@request)->status, $status, "$request[0] $request[1]");
    requests($surface, $route, $request[0], $status, 1);
}

is($acme->admin(POST => '/groups', { name => 'x' })->status, 403, 'forbidden');
requests('api', '/v1/admin/groups', 'POST', 403, 1);

# nginx itself refuses these requests on the modules' paths.

my $odd = "Host: x\r\nConnection: close\r\n";

is($s->raw("TRACE /v1/admin/users HTTP/1.1\r\n$odd\r\n")->status, 405, 'TRACE');
requests('api', 'none', 'other', 405, 1, 'TRACE');
is($s->raw("GET /v1/admin/users HTTP/1.1\r\n${odd}Content-Length: x\r\n\r\n")
   ->status, 400, 'a header that nginx refuses');
requests('api', 'none', 'GET', 400, 1, 'counts');

# HTTP/2

my $h = SvcTest::Http2->new(port => $h2);
my @token = (authorization => "Bearer $acme->{scim_token}");

is(($h->answer($h->request(GET => '/scim/v2/Users', \@token)) // {})->{status},
   200, 'HTTP/2');
requests('scim', '/scim/v2/Users', 'GET', 200, 1, 'counts');
$h->close;

# Requests at other locations do not count.

my $all = metrics()->sum($REQUESTS);
$s->http(GET => $_) for '/alive', '/healthz', '/nowhere';
is(metrics()->sum($REQUESTS), $all, 'only the routes of the modules count');

is_deeply($m->{errors}, [], 'the format, with numbers');
is($m->sum("${SECONDS}_count"), $all, 'all requests have a duration');
unlike($m->{text}, qr/\Q$acme->{id}\E|acme|\Q$user->{id}\E/,
       'nothing tells of tenants or users');

# Every route of the table is counted, in one of 192 places.

cmp_ok(() = $m->{text} =~ /^svc_http_request_duration_seconds_count/mg, '<',
       192, 'a bounded number of routes');


# --- keepalive, on both workers -----------------------------------------------

my @c = map { $s->connection } 1 .. 8;

for (1 .. 25) {
    $_->request(GET => $path, $acme->headers) for @c;
}

requests('scim', '/scim/v2/Users/{id}', 'GET', 200, 240, 'eight connections');
$_->close for @c;


# --- connections --------------------------------------------------------------

my $PG = 'svc_postgres_connections';
my %worker = (process => 'worker');

sub connections_are {
    my ($state, $read, $write, $slow, $name) = @_;

    my %n = (read => $read, write => $write, slow => $slow);

    wait_for {
        metrics();
        !grep { $m->value($PG, %worker, pool => $_, state => $state) != $n{$_} }
            keys %n
    };

    is($m->value($PG, %worker, pool => $_, state => $state), $n{$_},
       "$name: $_, $state") for sort keys %n;
}

connections_are('ready', 4, 8, 2, 'all pools');
connections_are('closed', 0, 0, 0, 'none is lost');
is($m->value('svc_redis_processes', %worker, state => 'up'), 2, 'Redis');

$s->redis->stop('KILL');
becomes('svc_redis_processes', { %worker, state => 'down' }, 2,
        'Redis is down in both workers');
is($m->value('svc_redis_processes', %worker, state => 'up'), 0,
   'and up in none');
$s->redis->launch;
becomes('svc_redis_processes', { %worker, state => 'up' }, 2, 'and up again');

$s->pg->stop;
wait_for { metrics()->sum($PG, %worker, state => 'ready') == 0 };
is($m->sum($PG, %worker, state => 'ready'), 0, 'PostgreSQL is down');
is($m->sum($PG, %worker), 14, 'which makes no connection less');

# The workers' own tasks wait, too, but in the pool for slow work.

my @reads = ('svc_postgres_requests', { %worker, pool => 'read', state => 'waiting' });

$c[0] = $s->connection;
$c[0]->send($c[0]->format(GET => $path, $acme->headers));
becomes(@reads, 1, 'a request waits');
is($c[0]->read->status, 503, 'not for long');
becomes(@reads, 0, 'none waits');
requests('scim', '/scim/v2/Users/{id}', 'GET', 503, 1);

$s->pg->launch;
$s->wait_healthy;
connections_are('ready', 4, 8, 2, 'PostgreSQL is back');


# --- in flight, and a client that leaves --------------------------------------

# From here on a request waits for a row as long as it is locked.

$s->nginx->{svc} = { svc_postgres_timeout => slow(20) . 's',
                     svc_postgres_queue_timeout => slow(20) . 's' };
$s->reload;

my $lock = $s->connect_as('postgres');

sub locked {
    $lock->query('BEGIN');
    $lock->query("SELECT FROM svc.user_account WHERE id = '$user->{id}'"
                 . ' FOR UPDATE');

    my $c = $s->begin(PUT => $path, [ @{ $acme->headers },
        'Content-Type' => 'application/scim+json' ],
        { userName => 'ada@acme.test', displayName => 'A' });

    wait_for { metrics()->value('svc_postgres_requests', %worker,
                                pool => 'write', state => 'in_flight') == 1 };
    is($m->value('svc_postgres_requests', %worker, pool => 'write',
                 state => 'in_flight'), 1, 'a write waits for a lock');

    return $c;
}

my $c = locked();
$lock->query('ROLLBACK');
is($c->read->status, 200, 'until it is released');
becomes('svc_postgres_requests', {}, 0, 'nothing is in flight');

$c = locked();
$c->close;
requests('scim', '/scim/v2/Users/{id}', 'PUT', 499, 1, 'the client has left');
becomes('svc_postgres_requests', { state => 'in_flight' }, 1,
        'PostgreSQL is still at it');
$lock->query('ROLLBACK');
becomes('svc_postgres_requests', {}, 0, 'until it is released');


# --- streams ------------------------------------------------------------------

sub streams { becomes('svc_audit_streams', {}, @_) }

streams(0, 'no stream');
my @e = map { SvcTest::Sse->new($s, $token, '/v1/admin/audit/stream') } 1 .. 3;
is($_->open->status, 200, 'a stream') for @e;
streams(3, 'three streams');
$e[0]{http}->close;
streams(2, 'one less');


# --- a reload -----------------------------------------------------------------

my $before = metrics()->sum($REQUESTS, status => 200);

$c = locked();
$s->reload(linger => 1);
wait_for { metrics()->sum('svc_processes', %worker) == 3 };
is($m->sum('svc_processes', %worker), 3, 'an old worker has a request left');
becomes('svc_postgres_requests', { state => 'in_flight' }, 1, 'which counts');
streams(0, 'streams do not');
$_->{http}->close for @e;
$lock->query('ROLLBACK');
is($c->read->status, 200, 'it is answered');
becomes('svc_processes', { %worker }, 2, 'and the worker leaves');
becomes('svc_postgres_requests', {}, 0, 'nothing is in flight');
requests('scim', '/scim/v2/Users/{id}', 'GET', 200, 240, 'counters go on');
cmp_ok($m->sum($REQUESTS, status => 200), '>=', $before, 'all of them');
connections_are('ready', 4, 8, 2, 'connections are those of the new workers');


# --- workers that are killed --------------------------------------------------

for my $round (1 .. 3) {
    my $e = SvcTest::Sse->new($s, $token, '/v1/admin/audit/stream');
    is($e->open->status, 200, 'a stream');
    my $waits = locked();

    streams(1, 'counts');

    my @old = $s->workers;
    SvcTest::Process::signal_pid('KILL', @old);
    wait_for { my @now = $s->workers;
               my %now = map { $_ => 1 } @now;
               @now == 2 && !grep { $now{$_} } @old };
    $lock->query('ROLLBACK');
    $s->wait_healthy;

    becomes('svc_processes', { %worker }, 2, "killed, $round: two workers");
    streams(0, 'its stream is gone');
    becomes('svc_postgres_requests', {}, 0, 'nothing is in flight');
    connections_are('ready', 4, 8, 2, 'the new ones\'');
}

requests('scim', '/scim/v2/Users/{id}', 'GET', 200, 240, 'counters go on');
is_deeply($m->{errors}, [], 'the format, at last');


# --- without metrics ----------------------------------------------------------

$s->nginx->{locations} = '';
$s->reload;
is($s->http(GET => '/metrics')->status, 404, 'without svc_metrics');
is($s->http(GET => $path, $acme->headers)->status, 200, 'all else works');

$s->nginx->{locations} = $LOCATION;
$s->reload;
becomes('svc_processes', { %worker }, 2, 'with it again');
is($m->sum($REQUESTS), 0, 'counters begin anew');
$s->http(GET => $path, $acme->headers);
requests('scim', '/scim/v2/Users/{id}', 'GET', 200, 1);

$s->nginx->{locations} = $LOCATION . $LOCATION =~ s{/metrics}{/metrics2}r;
$s->reload;
is($s->http(GET => '/metrics2')->status, 200, 'in a second location');
requests('scim', '/scim/v2/Users/{id}', 'GET', 200, 1, 'counters stay');

for my $row ([ 'svc_metrics; svc_health;', qr/another handler/ ],
             [ 'svc_metrics on;', qr/invalid number of arguments/ ])
{
    my ($text, $message) = @$row;

    $s->nginx->{locations} = "location = /m { $text }\n";
    $s->nginx->write_configuration;
    my ($status, $said) = $s->nginx->test_configuration;
    isnt($status, 0, "$text is refused");
    like($said, $message, 'with a reason');
}


# --- the documented table -----------------------------------------------------

my %told = section('conf/metrics.md', 'Metrics')
           =~ /^\| `(svc_\w+)(?:\{[^`]*\})?` \| (\w+) \|/mg;
my %type = map { $_->{name} => $_->{type} } values %{ $m->{family} };

is_deeply(\%told, \%type, 'all metrics, and no others');

$s->done(allow => [ qr/worker process \d+ exited on signal 9/,
                    qr/\[emerg\].*"svc_metrics\b|\[emerg\].*"svc_health\b/ ]);
done_testing();
