#!/usr/bin/perl

# Shows how a request may arrive and end, how its connection ends, and what a client
# that leaves ends.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Walk::Bodies ();
use SvcTest::Http2;
use SvcTest::Nginx;
use SvcTest::Process qw(slow wait_for run);
use SvcTest::Scim;
use SvcTest::Skip;

needs(program => 'curl');


my ($h2, $narrow) = map { SvcTest::Nginx::free_port() } 1 .. 2;
my $s = SvcTest->new(
    http2_port => $h2,
    server => "        listen 127.0.0.1:$narrow sndbuf=16k;\n",
    svc => { svc_postgres_timeout => '3s' },
    scim => { svc_body_timeout => '3s' },
)->start;

my $acme = $s->tenant('acme');
my $base = $s->base_url;
my $user = $acme->create(userName => 'ada@acme.test', displayName => 'Ada');
my $path = "/scim/v2/Users/$user->{id}";
my $auth = "Authorization: Bearer $acme->{scim_token}\r\n";
my @workers = $s->workers;
my $n = 0;
my ($r, $c);


sub body {
    return sprintf '{"userName":"u%d@acme.test"}', ++$n;
}


sub users {
    return $s->sql('SELECT count(*) FROM svc.user_account');
}


# --- HEAD, HTTP/1.0 ---------------------------------------------------------

for my $at ('/scim/v2/Users', $path, '/scim/v2/ServiceProviderConfig') {
    my $get = $s->http(GET => $at, $acme->headers);
    $r = $s->http(HEAD => $at, $acme->headers);

    is($r->status, 200, "HEAD $at");
    is($r->header('content-type'), 'application/scim+json', 'its type');
    is($r->header('content-length') // length $get->body, length $get->body,
       'the length of what GET answers');
}

for my $row ([ 401, HEAD => '/scim/v2/Users', [] ],
             [ 404, HEAD => '/scim/v2/Groups', $acme->headers ])
{
    my ($status, @request) = @$row;

    $c = $s->connection;
    $r = $c->request(@request);
    is($r->status, $status, "$request[0] $request[1]: $status");

    # A body would be in front of the next answer.

    is($c->request(GET => '/alive')->body, 'alive', 'and no body');
}

$r = $s->raw("GET $path HTTP/1.0\r\n$auth\r\n");
scim_ok($r, 200, 'HTTP/1.0, no Host');
is($r->json->{id}, $user->{id}, 'the user');

my $text = body();
$r = $s->raw("POST /scim/v2/Users HTTP/1.0\r\n${auth}Content-Length: "
             . length($text) . "\r\n\r\n$text");
scim_ok($r, 201, 'HTTP/1.0, a body');
is($r->json->{meta}{location}, $r->header('location'), 'Location');
like($r->header('location'), qr{^\Q$base\E/scim/v2/Users/},
     'from the base URL, not from the request');

$r = $s->raw("GET $path HTTP/1.1\r\nHost: evil.test\r\n$auth"
             . "Connection: close\r\n\r\n");
unlike($r->body, qr/evil/, 'nor from the Host header');

$c = $s->connection;
$c->send("GET $path HTTP/1.0\r\nConnection: keep-alive\r\n$auth\r\n");
scim_ok($c->read, 200, 'HTTP/1.0, kept alive');
$c->send("GET $path HTTP/1.0\r\n$auth\r\n");
scim_ok($c->read, 200, 'and once more');
ok($c->closed, 'then closed');


# --- nginx's own errors -----------------------------------------------------

# Garbage that names no path belongs to no surface.

for my $row (
    [ 'garbage',            "garbage\r\n\r\n" ],
    [ 'binary garbage',     "\x00\xff\x01\r\n\r\n" ],
    [ 'a TLS hello',        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
                            . "\x00" x 64 ],
    [ 'no path',            "GET  HTTP/1.1\r\nHost: a\r\n\r\n" ],
    [ 'a path without /',   "GET x HTTP/1.1\r\nHost: a\r\n\r\n" ],
    [ 'CONNECT',            "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n" ])
{
    my ($name, $bytes) = @$row;

    $c = $s->connection;
    $c->send($bytes);
    $r = $c->read;
    is($r ? $r->status : $c->error, 400, $name);
    ok($c->closed, 'and the connection is closed');
}

for my $row (
    [ 400, 'an odd version',     "GET $path HTTP/x\r\n\r\n" ],
    [ 400, 'a fourth word',      "GET $path HTTP/1.1 x\r\nHost: a\r\n\r\n" ],
    [ 400, 'a NUL in the path',  "GET /scim/v2/\0 HTTP/1.1\r\nHost: a\r\n"
                                 . "\r\n" ],
    [ 414, 'a URI too long',     'GET /scim/v2/Users?' . 'a' x 40000
                                 . " HTTP/1.1\r\nHost: a\r\n\r\n" ],
    [ 400, 'a header too long',  "GET $path HTTP/1.1\r\nHost: a\r\nX: "
                                 . 'a' x 40000 . "\r\n\r\n" ],
    [ 400, 'too many headers',   "GET $path HTTP/1.1\r\nHost: a\r\n"
                                 . "X-Y: aaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" x 3000
                                 . "\r\n" ],
    [ 505, 'HTTP/2.0 in text',   "GET $path HTTP/2.0\r\nHost: a\r\n\r\n" ],
    [ 405, 'TRACE',              "TRACE $path HTTP/1.1\r\nHost: a\r\n\r\n" ])
{
    my ($status, $name, $bytes) = @$row;

    scim_error(scalar $s->raw($bytes), $status, undef, $name);
}

# Outside the surfaces nginx answers as always.

$r = $s->http(GET => '/nothing');
is($r->status, 404, 'elsewhere: 404');
is($r->header('content-type'), 'text/html', 'is a page of nginx');


# --- how a body may arrive --------------------------------------------------

$text = body();
$c = $s->connection;
$c->send("POST /scim/v2/Users HTTP/1.1\r\nHost: a\r\n$auth"
         . 'Content-Length: ' . length($text) . "\r\n\r\n");

for my $byte (split //, $text) {
    $c->send($byte);
    $c->silent(0.002);
}

scim_ok($c->read, 201, 'a body byte by byte');

# The whole request is sent in packets of one byte.

$text = body();
setsockopt $c->sock, 6, 1, pack 'l', 1;
my $all = $c->format(POST => '/scim/v2/Users', $acme->headers, $text);
$c->send($_) for split //, $all;
scim_ok($c->read, 201, 'a request byte by byte');

for my $size (1, 7, 4096) {
    $text = SvcTest::Walk::Bodies::chunked(body(), $size);
    scim_ok($c->request(POST => '/scim/v2/Users',
                        [ @{ $acme->headers },
                          'Transfer-Encoding' => 'chunked' ], $text),
            201, "chunks of $size");
}

$text = body();
$c->send("POST /scim/v2/Users HTTP/1.1\r\nHost: a\r\n$auth"
         . "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"
         . sprintf("%x;ext=1\r\n%s\r\n0\r\nX: y\r\n\r\n", length $text,
                   $text));
scim_ok($c->read, 201, 'a chunk extension and a trailer');
is($c->request(GET => '/alive')->body, 'alive', 'the connection goes on');

$text = body();
$c->send("POST /scim/v2/Users HTTP/1.1\r\nHost: a\r\n$auth"
         . "Expect: 100-continue\r\nContent-Length: " . length($text)
         . "\r\n\r\n");
ok((wait_for { $c->fill; $c->{in} =~ /^HTTP\/1\.1 100 / }),
   'Expect: 100-continue is told to go on');
$c->send($text);
$r = $c->read;
scim_ok($r, 201, 'and the body is taken');
is_deeply($r->{interim}, [ 100 ], 'one interim answer');

my $before = users();
my $c2 = $s->connection;
$r = $c2->request(POST => '/scim/v2/Users',
                  [ Expect => '100-continue', 'Content-Length' => 30 ]);
scim_error($r, 401, undef, 'Expect without a token: no need to send it');

$c2 = $s->connection;
$r = $c2->request(POST => '/scim/v2/Users',
                  [ @{ $acme->headers }, Expect => '100-continue',
                    'Content-Length' => 2000000 ]);
scim_error($r, 413, undef, 'Expect with a body that is too large');
is(users(), $before, 'nothing was stored');

# A GET with a body.

$r = $c->request(GET => $path, $acme->headers, '{"x":1}');
scim_ok($r, 200, 'a GET with a body');
is($c->request(GET => '/alive')->body, 'alive', 'which is skipped');

$r = $c->request(GET => $path, [ @{ $acme->headers },
                                 'Transfer-Encoding' => 'chunked' ],
                 SvcTest::Walk::Bodies::chunked('x' x 100000, 1000));
scim_ok($r, 200, 'a GET with a long body in chunks');
is($c->request(GET => '/alive')->body, 'alive', 'which is skipped');

# An error is sent before the body is read.

$r = $c->request(POST => '/scim/v2/Groups', $acme->headers, 'x' x 50000);
scim_error($r, 404, undef, 'a body for a route that is not there');

if (!$c->closed(0.1)) {
    is($c->request(GET => '/alive')->body, 'alive', 'which is skipped');
}

# A body larger than nginx's buffers, which may go to a file.

$text = SvcTest::Walk::Bodies::padded({ userName => 'mid@acme.test' }, 300_000);
scim_ok($s->http(POST => '/scim/v2/Users', $acme->headers, $text), 201,
        'a body of 300 kB');


# --- pipelined --------------------------------------------------------------

$c = $s->connection;
$all = '';
my @expect;

for my $i (1 .. 60) {
    my ($status, @request) = @{ (
        [ 200, GET => $path, $acme->headers ],
        [ 201, POST => '/scim/v2/Users', $acme->headers, body() ],
        [ 404, GET => '/scim/v2/Users/x', $acme->headers ],
        [ 401, GET => '/scim/v2/Users', [] ],
        [ 400, POST => '/scim/v2/Users', $acme->headers, '{' ],
        [ 200, PATCH => $path, $acme->headers,
          SvcTest::encode(patch_op({ op => 'replace', path => 'title',
                                     value => "T$i" })) ],
        [ 200, GET => '/scim/v2/Users?count=50', $acme->headers ],
    )[$i % 7] };

    $all .= $c->format(@request);
    push @expect, [ $status, $i % 7 == 5 ? "T$i" : undef ];
}

$c->send($all);

my ($good, $titles) = (0, 0);

for my $want (@expect) {
    $r = $c->read or last;
    $good++ if $r->status == $want->[0];
    $titles++ if defined $want->[1] && $r->json->{title} eq $want->[1];
}

is($good, 60, 'sixty pipelined requests are answered in their order')
    or diag($c->error);
is($titles, scalar(grep { defined $_->[1] } @expect),
   'and each sees what the ones before it did');


# --- HTTP/2 -----------------------------------------------------------------

# curl reads the header fields.

sub curl {
    my ($status, $out) = run([ 'curl', '-sS', '--http2-prior-knowledge',
                               '--max-time', slow(10), '-H',
                               "Authorization: Bearer $acme->{scim_token}",
                               '-w', "\n%{http_code} %{content_type}"
                               . " %{http_version}", @_ ]);
    my ($body, $head) = $out =~ /\A(.*)\n(.*)\z/s;

    return ($head // "curl: $status $out", $body // '');
}

my $h2_base = "http://127.0.0.1:$h2/scim/v2";

my ($what, $answer) = curl("$h2_base/Users/$user->{id}");
is($what, '200 application/scim+json 2', 'HTTP/2: GET');
is(JSON::PP->new->utf8->decode($answer)->{id}, $user->{id}, 'the user');
($what) = curl('-d', body(), "$h2_base/Users");
is($what, '201 application/scim+json 2', 'HTTP/2: POST');
($what) = curl('-X', 'DELETE', "$h2_base/Users");
is($what, '405 application/scim+json 2', 'HTTP/2: a wrong method');
($what) = curl('-I', "$h2_base/Users");
is($what, '200 application/scim+json 2', 'HTTP/2: HEAD');
($what) = curl('-H', 'Authorization: Bearer x', "$h2_base/Users");
like($what, qr/^40[01] application\/scim\+json 2$/,
     'HTTP/2: two authorization fields');

# A client of the test's own has many streams at once.

my $c3 = SvcTest::Http2->new(port => $h2);
my @token = (authorization => "Bearer $acme->{scim_token}");

my $full = SvcTest::Walk::Bodies::padded({ userName => 'h2@acme.test' }, 1048576);
is($c3->answer($c3->request(POST => '/scim/v2/Users', \@token, $full))
   ->{status}, 201, 'HTTP/2: a body of exactly 1 MiB');

for my $told (0, 1) {
    my $body = SvcTest::Walk::Bodies::padded({ userName => 'h3@acme.test' },
                                         1048577);

    $r = $c3->answer($c3->request(POST => '/scim/v2/Users',
                                  [ @token, $told ? ('content-length'
                                                     => length $body) : () ],
                                  $body));
    is($r->{status}, 413, 'HTTP/2: one byte more'
                          . ($told ? '' : ', the length not told'));
    like($r->{body}, qr/"status":"413"/, 'in the envelope');
}

my @streams = map { [ $_ => $c3->request(
    @{ ([ GET => $path, \@token ],
        [ POST => '/scim/v2/Users', \@token, body() ],
        [ GET => '/scim/v2/Users/x', \@token ],
        [ GET => '/scim/v2/Users', [] ],
        [ POST => '/scim/v2/Users', \@token, '{' ])[$_ % 5] }) ] } 0 .. 59;

is(scalar(grep { my ($i, $id) = @$_;
                 ($c3->answer($id) // { status => 0 })->{status}
                 == (200, 201, 404, 401, 400)[$i % 5] } @streams),
   60, 'HTTP/2: sixty streams at once');

# Streams are reset, at work and while their body is sent.

for my $round (1 .. 30) {
    $c3->reset($c3->request(GET => $path, \@token));
    $c3->reset($c3->request(POST => '/scim/v2/Users', \@token, body()));

    my $id = $c3->open(POST => '/scim/v2/Users', \@token, 1);
    $c3->data($id, '{"userName":"left', 0) if $round % 2;
    $c3->reset($id);
}

is($c3->answer($c3->request(GET => $path, \@token))->{status}, 200,
   'HTTP/2: after streams that were reset');

$s->pg->freeze;
my @gone = map { $c3->request(GET => $path, \@token) } 1 .. 10;
my $kept = $c3->request(GET => $path, \@token);
$c3->reset($_) for @gone;
my $c4 = SvcTest::Http2->new(port => $h2);
$c4->request(POST => '/scim/v2/Users', \@token, body()) for 1 .. 10;
$c4->close;
ok(!$c3->pump(0.1) || !$c3->{stream}{$kept}{ended},
   'PostgreSQL does not answer');
$s->pg->thaw;
is($c3->answer($kept)->{status}, 200,
   'HTTP/2: the stream that was not reset is answered');
$c3->close;

ok($s->unharmed(\@workers, 'HTTP/2'), 'HTTP/2: the workers are unharmed');


# --- clients that leave -----------------------------------------------------

$text = '{"userName":"left@acme.test"}';

# Clients leave while they send the body.

for my $part (0 .. length($text) - 1) {
    $c = $s->connection;
    $c->send("POST /scim/v2/Users HTTP/1.1\r\nHost: a\r\n$auth"
             . 'Content-Length: ' . length($text) . "\r\n\r\n"
             . substr $text, 0, $part);
    $part % 2 ? $c->close : $c->abort;
}

ok($s->unharmed(\@workers, 'left'), 'clients that left while sending');
is($s->sql("SELECT count(*) FROM svc.user_account WHERE user_name LIKE"
           . " 'left%'"), 0, 'stored nothing');

# Clients leave right after the request, before the answer, on each path through the
# server.

for my $round (1 .. 20) {
    for my $request (
        [ GET => $path, $acme->headers ],
        [ GET => '/scim/v2/Users', $acme->headers ],
        [ POST => '/scim/v2/Users', $acme->headers, body() ],
        [ POST => '/scim/v2/Users', $acme->headers, '{' ],
        [ PATCH => $path, $acme->headers,
          SvcTest::encode(patch_op({ op => 'replace', path => 'title',
                                     value => "L$round" })) ],
        [ GET => $path, [] ])
    {
        $c = $s->connection;
        $c->send($c->format(@$request) x ($round % 3 + 1));
        $round % 2 ? $c->close : $c->abort;
    }
}

ok($s->unharmed(\@workers, 'left'), 'clients that left after sending');

# Clients leave while PostgreSQL is stopped, at work or waiting for a slot; some leave
# before it goes on, some after.

my $base_line = users();

$s->pg->freeze;

my (@leave, @stay);

for my $i (1 .. 40) {
    $c = $s->connection;
    $c->send($c->format(
        $i % 3 == 0 ? (GET => $path, $acme->headers)
      : $i % 3 == 1 ? (POST => '/scim/v2/Users', $acme->headers, body())
      :               (DELETE => '/scim/v2/Users/00000000-0000-4000-8000-'
                       . '000000000000', $acme->headers)));
    push @{ $i % 2 ? \@leave : \@stay }, $c;
}

ok($stay[0]->silent(0.2), 'PostgreSQL does not answer');
$_ % 4 ? $leave[$_]->close : $leave[$_]->abort for 0 .. $#leave;
is($s->http(GET => '/alive')->status, 200, 'the workers do');
$s->pg->thaw;

my %status;
$status{ ($_->read // { status => $_->error })->{status} }++ for @stay;

is(join(' ', grep { !/^(?:200|201|404|503)$/ } keys %status), '',
   'those that stayed were answered');
ok($s->wait_healthy, 'healthy again');
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
cmp_ok(users(), '>=', $base_line + ($status{201} // 0),
       'what was answered 201 is there');
is($s->sql("SELECT count(*) FROM svc.user_account u WHERE (SELECT count(*)"
           . " FROM svc.audit_event WHERE target_id = u.id::text"
           . " AND action = 'user.created') <> 1"), 0,
   'each with its audit event');

# The slots of those that left are free again: as many requests work at once as ever.

my @again = map { $s->connection } 1 .. 60;
$_->send($_->format(POST => '/scim/v2/Users', $acme->headers, body()))
    for @again;
is(scalar(grep { ($_->read // { status => 0 })->{status} == 201 } @again), 60,
   'sixty at once');


# A client does not read its answer.

my $many = $s->tenant('many');
$many->add_users(200);

my @slow = map { $s->connection(port => $narrow) } 1 .. 5;

$_->send($_->format(GET => '/scim/v2/Users', $many->headers) x 20) for @slow;

is($s->http(GET => '/alive')->status, 200, 'clients that do not read');
scim_ok($acme->scim(GET => '/Users'), 200, 'hinder nobody');
$good = 0;

for my $c (@slow) {
    for (1 .. 20) {
        my $list = $c->read;
        $good++ if $list && $list->status == 200
                   && $list->body =~ /"totalResults":\s*200\b/;
    }
}

is($good, 100, 'and get their answers when they do');


# --- quitting gracefully with requests in flight ----------------------------

my $sockets = $s->nginx->sockets;

$s->pg->freeze;

my @flight = map { $s->connection } 1 .. 6;
$_->send($_->format(POST => '/scim/v2/Users',
                    [ @{ $acme->headers }, Connection => 'close' ], body()))
    for @flight;
ok((wait_for { $s->nginx->sockets >= $sockets + @flight }), 'the workers have them');
ok($flight[0]->silent(0.1), 'in flight');

$s->reload(linger => 1);
cmp_ok(scalar(my @old = $s->nginx->old_worker_pids), '>=', 1,
       'the old workers wait for them');
$s->pg->thaw;

is(scalar(grep { ($_->read // { status => 0 })->{status} == 201 } @flight), 6,
   'all of them are answered');
ok((wait_for { !$s->nginx->old_worker_pids }), 'then the workers end');

# An idle keepalive connection does not hold a worker back.

my $idle = $s->connection;
scim_ok($idle->request(GET => $path, $acme->headers), 200, 'kept alive');
$s->reload;
ok($idle->closed, 'closed by the worker that quits');

# nginx is reloaded many times, and no request is lost.

my ($asked, $answered) = (0, 0);

for (1 .. 5) {
    $s->reload(linger => 1);

    for (1 .. 10) {
        $asked++;
        $answered++ if $acme->scim(GET => "/Users/$user->{id}")
                            ->status == 200;
    }
}

is($answered, $asked, 'requests during reloads');
ok((wait_for { !$s->nginx->old_worker_pids }), 'all old workers end');

# Connections to PostgreSQL are given back: 2 workers, 7 each.

ok((wait_for { $s->sessions('true') <= 14 }),
   'no connection to PostgreSQL is left over');

# nginx itself logs a repeated header, at the level info.

$s->done(shown => [ qr{ \[info\] .* client sent duplicate header line: } ]);
done_testing();
