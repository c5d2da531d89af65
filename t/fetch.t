#!/usr/bin/perl

# Fetches: what a worker that waits gets of good and of hostile servers, and what
# nobody can read in Redis.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Fetch;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;
use SvcTest::Resolver;


my $s = SvcTest->new(workers => 2);
my $receiver = SvcTest::Receiver->new($s, svc_webhook_allow => undef);
my $resolver = SvcTest::Resolver->new($s);
my $fetch = SvcTest::Fetch->new($s);

$s->start;
$fetch->helper;


sub get { return $fetch->get($receiver->url($_[0], $_[1]), @_[2 .. $#_]) }


# --- answers -------------------------------------------------------------------

my $got = get('/json', undef, header => "Accept: a/b\nX-More: c");

is_deeply($got, { outcome => 'answered', status => 200, max_age => 300, etag => '"v1"',
                  type => 'application/json; charset=utf-8', why => '',
                  answer => 'a/b' }, 'a document, with what it says of itself');

my ($seen) = $receiver->at('/json');

is($seen->{method}, 'GET', 'GET');
is($seen->{header}{'x-more'}, 'c', 'each header is sent');
is($seen->{header}{'user-agent'}, 'Svc-Fetch/1', 'who asks');
ok(!exists $seen->{header}{'accept-encoding'}, 'nothing compressed is asked for');

$got = get('/status/400/post', undef, post => 'code=x&client_secret=y',
           header => 'Content-Type: application/x-www-form-urlencoded');

is("$got->{outcome} $got->{status} $got->{max_age}", 'answered 400 -1',
   'an error is an answer');

($seen) = $receiver->at('/status/400/post');

is("$seen->{method} $seen->{body}", 'POST code=x&client_secret=y', 'POST');

is(get('/html')->{type}, 'text/html', 'whose type is for the caller to judge');
is(get('/not-modified')->{status}, 304, 'it has not changed');
is(get('/ok', 'plain')->{outcome}, 'failed', 'TLS is not left out');

for my $n (65536, 0) {
    is(length(get("/large/$n")->{answer} // ''), $n, "$n bytes");
}


# --- limits ---------------------------------------------------------------------

sub fails {
    my ($got, $why, $name) = @_;

    is($got->{outcome}, 'failed', "$name: fails");
    like($got->{why}, $why, 'says why');
    is($got->{answer} // '', '', 'without an answer');
}

fails(get('/large/65537'), qr/^the answer is longer than 64 KiB$/, 'a byte more');
fails(get('/gzip/' . 200 * 1024 * 1024), qr/longer than 64 KiB/, '200 MB, compressed');
fails(get("/$_"), qr/longer than \d+ KiB$/, $_)
    for qw(body-forever head-forever hints-forever);
fails(get('/close-body'), qr/^the answer broke off$/, 'half of it');
fails(get('/close'), qr/^the connection was closed without an answer$/, 'none');
fails(get("/redirect/$receiver->{port}{good}"),
      qr/^the answer was 302; redirects are not followed$/, 'a redirect');
is(scalar($receiver->at('/visited')), 0, 'is not followed');

is(get('/gzip/1000')->{outcome}, 'answered', 'what is compressed stays so');

fails(get('/json', undef, header => "A: b\rX: y"), qr/is none of HTTP/,
      'a header in a header');
fails(get('/ok', undef, post => 'x' x 8193), qr/too long/, 'a body of 8 KiB and a byte');
fails($fetch->get('https://a.example/' . 'x' x 2040), qr/too long/, 'a long URL');


# --- silence ---------------------------------------------------------------------

{
    my $since = time;

    $got = get('/hang', undef, timeout => 1000);
    like("$got->{outcome}: $got->{why}", qr/^late: no answer within (?:1 s|9\d\d ms)$/,
         'silence');
    cmp_ok(time - $since, '<', slow(3), 'for a second');

    # at each step of a connection; no alert in the log

    my @short = map { $fetch->begin($receiver->url('/hang'), timeout => 1 + $_ % 30) }
                1 .. 120;

    is(join(' ', sort { $a cmp $b } grep { $_ ne 'late' }
                 map { $fetch->read($_)->{outcome} } @short), '', 'milliseconds');
    is(get('/body-drip', undef, timeout => 1000)->{outcome}, 'late', 'a slow body');
    is(get('/ok', 'stall', timeout => 1000)->{outcome}, 'late', 'no handshake');
}


# --- certificates and addresses ----------------------------------------------------

fails(get('/ok', 'other'), qr/^the certificate is for another name$/, 'another name');
fails(get('/ok', 'expired'), qr/^the certificate has expired$/, 'an old certificate');
fails(get('/ok', 'self'), qr/^the certificate is self-signed$/, 'a self-signed one');

$resolver->set('in.hooks.example.com' => '127.0.0.2',
               'ten.hooks.example.com' => '10.0.0.1',
               'moved.hooks.example.com' => '127.0.0.1');

for my $name (qw(in ten none)) {
    fails($fetch->get($receiver->url('/ok/in', undef, "$name.hooks.example.com")),
          qr/^the name leads to no public address$/, "$name.hooks.example.com");
}

is($resolver->calls(connect => $_), 0, "$_ is not connected to") for qw(127.0.0.2 10.0.0.1);
ok((grep { /a fetch of tenant \Q$SvcTest::Fetch::TENANT\E .*the address is 10\.0\.0\.1/ }
    $s->nginx->log_lines), 'the operator sees the address');

fails($fetch->get("https://127.0.0.2:$receiver->{port}{good}/ok"),
      qr/must have a public host: 127\.0\.0\.2 is loopback/, 'an address in the URL');
fails($fetch->get("https://$_/"), qr/^"url" must /, $_)
    for 'localhost', '2130706433', '0x7f.1', 'user@127.0.0.1', '[::ffff:127.0.0.2]';
fails($fetch->get("http://$_:$receiver->{port}{plain}/ok"), qr/must /, "http://$_")
    for qw(moved.hooks.example.com 127.0.0.2 8.8.8.8);
is($fetch->get("http://127.0.0.1:$receiver->{port}{plain}/ok")->{answer}, 'ok',
   'HTTP to the loopback address that is allowed, where we are at one ourselves');

my $moved = $receiver->url('/once/idle', undef, 'moved.hooks.example.com');

is($fetch->get($moved)->{outcome}, 'answered', 'a name');
$resolver->set('moved.hooks.example.com' => '127.0.0.2');
ok((wait_for { $fetch->get($moved)->{outcome} eq 'failed' } 20),
   'that leads inwards later');
is($resolver->calls(connect => '127.0.0.2'), 0, 'is not followed there');

# a connection that is kept is for those that may reach its address

my $acme = $s->tenant('acme');

$resolver->set('kept.hooks.example.com' => '127.0.0.1');

my $hook = $receiver->hook($acme, '/ok/hook', host => 'kept.hooks.example.com');
my $kept = $receiver->url('/ok/kept', undef, 'kept.hooks.example.com');

is($fetch->get($kept)->{outcome}, 'answered', 'a fetch');
$acme->new_user;

is(($receiver->deliveries($hook, 1))[0]{error}, 'the name leads to no public address',
   'a webhook finds its connection, and does not use it');
is(scalar($receiver->at('/ok/hook')), 0, 'nothing is delivered there');

is($fetch->get($kept)->{outcome}, 'answered', 'fetches do');


# --- what Redis has ----------------------------------------------------------------

my $c = $fetch->begin($receiver->url('/until/go'), post => 'the-code-of-ada',
                      header => 'Authorization: Basic c2VjcmV0');

ok((wait_for { $receiver->at('/until/go') }), 'a fetch under way');
is($fetch->pending, 1, 'is counted');
is(scalar $fetch->keys('svc.fetch.queue'), 0, 'and in no list: nobody asks again');

$receiver->write(go => '');
is($fetch->read($c)->{answer}, 'ok', 'answered');
is_deeply([ sort $fetch->keys ], [ 'svc.fetch.helpers' ], 'and nothing is left');

# a helper that is stopped leaves the entry where it can be read

my $helper = $fetch->helper;

SvcTest::Process::signal_pid('STOP', $helper);
$c = $fetch->begin($receiver->url('/json/stopped'), timeout => 1000,
                   post => 'the-code-of-ada', header => 'Authorization: Basic c2VjcmV0');
ok((wait_for { $fetch->keys('svc.fetch.queue') }), 'an entry that waits');

my $entry = join "\n", $s->redis->lines(LRANGE => 'svc.fetch.queue', 0, -1);

like($entry, qr/^[0-9a-f]{32} \Q$SvcTest::Fetch::TENANT\E\n/, 'has a head');
unlike($entry, qr/the-code-of-ada|c2VjcmV0|json|Authorization/, 'the rest is sealed');
is($fetch->read($c)->{outcome}, 'late', 'and is late');
SvcTest::Process::signal_pid('CONT', $helper);
ok((wait_for { !$fetch->keys('svc.fetch.queue') }), 'it is taken');
is(get('/json')->{outcome}, 'answered', 'others go on');
is(scalar($receiver->at('/json/stopped')), 0, 'and what is late is not asked');

# a client that goes away: its answer ends by itself

$c = $fetch->begin($receiver->url('/slow/500/gone'));
ok((wait_for { $receiver->at('/slow/500/gone') }), 'somebody waits');
$c->close;
ok((wait_for { $fetch->keys('svc.fetch.done.*') }), 'and goes: the answer stays');

my ($key) = $fetch->keys('svc.fetch.done.*');
my ($sealed) = $s->redis->lines(GET => $key);
my ($ttl) = $s->redis->lines(PTTL => $key);

ok($ttl > 0 && $ttl <= 15000, 'for 15 s at most');
unlike($sealed // '', qr/ok$/, 'sealed');


# --- the log and the metrics --------------------------------------------------------

get('/close?code=the-code-of-ada');
ok(!(grep { /the-code-of-ada|c2VjcmV0/ } $s->nginx->log_lines), 'no query in the log');

cmp_ok($fetch->count('answered'), '>', 5, 'answers are counted');
cmp_ok($fetch->count('failed'), '>', 5, 'failures');
cmp_ok($fetch->count('late'), '>', 2, 'silence');
is($fetch->ready, 1, 'and the helper is heard of');


# --- a proxy, which leads to all names ------------------------------------------------

my $nginx = $s->nginx;

sub reloaded {
    $s->reload;
    $fetch->helper;
}

$nginx->{svc}{svc_webhook_proxy} = "http://127.0.0.1:$receiver->{port}{proxy}";
reloaded();

is($fetch->get($receiver->url('/ok', undef, 'far.hooks.example.com'))->{answer}, 'ok',
   'through a proxy');
ok((grep { ($_->{method} // '') eq 'CONNECT' } $receiver->received), 'by CONNECT');
is($fetch->get("http://127.0.0.1:$receiver->{port}{plain}/ok")->{answer}, 'ok',
   'a loopback address without it');


# --- a helper that runs for others ------------------------------------------------------

delete $nginx->{svc}{svc_webhook_proxy};
$nginx->{svc}{svc_federation} = 'off';
$nginx->{locations} .= "location /oauth { svc_oauth on; }\n";
reloaded();
is(get('/ok')->{outcome}, 'answered', 'applications have fetches without svc_federation');

$nginx->{locations} =~ s{location /oauth.*\n}{};
$s->reload;
is(get('/ok')->{outcome}, 'unavailable', 'others have none');

$s->done;

done_testing();
