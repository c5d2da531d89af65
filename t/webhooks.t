#!/usr/bin/perl

# /v1/admin/webhooks: endpoints, the URLs that they may have, and their secrets.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Monitor;
use SvcTest::Process qw(wait_for);
use SvcTest::Urls qw(@REFUSED_URLS);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

my $s = SvcTest->new(svc => { svc_webhooks => 'on',
                              svc_webhook_allow => '10.9.0.0/16' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;
my %good = (url => 'https://hooks.acme.test/in', events => [ 'user.created' ]);
my $monitor = SvcTest::Monitor->new($s->redis);


# Sends a request and returns the answer; a secret in it must not be logged.

sub ask {
    my ($method, $path, $body, %opt) = @_;

    my $r = ($opt{tenant} // $acme)->admin($method, "/webhooks$path", $body,
                                           $opt{headers}, $opt{token});

    $s->secret($1) if $r->body =~ /"secret":"([^"]*)"/;

    return $r;
}


sub events {
    return grep { $_->[0] =~ /^webhook\./ }
           map { $_->events(qw(action target_type target_id target_name details
                               actor_id)) } $acme, $globex;
}


# Returns a URL as the name of a test.

sub shown {
    return substr $_[0] =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ger, 0, 60;
}


sub count_of {
    my ($tenant) = @_;

    return $s->sql('SELECT count(*) FROM svc.webhook_endpoint'
                   . " WHERE tenant_id = '$tenant->{id}'");
}


# --- permissions ------------------------------------------------------------------

my $viewer = $acme->token(kind => 'api', permissions => 'users:view');
my $none = '00000000-0000-4000-8000-000000000000';

for my $route ([ GET => '' ], [ POST => '', \%good ], [ GET => "/$none" ],
               [ PATCH => "/$none", {} ], [ DELETE => "/$none" ],
               [ GET => "/$none/deliveries" ], [ POST => "/$none/test" ])
{
    my ($method, $path, $body) = @$route;

    admin_error(ask($method, $path, $body, token => $viewer->{token}), 403,
                'forbidden', "$method $path without tenant:manage");
    admin_error(ask($method, $path, $body, token => 'svc_' . 'x' x 43), 401,
                'unauthorized', "$method $path with no token of ours");
    admin_error(ask($method, $path, $body), 404, 'not_found',
                "$method $path: no such webhook") if $path ne '';
}

is(count_of($acme), 0, 'there is none');


# --- a webhook's life ----------------------------------------------------------------

my $r = ask(POST => '', { %good, events => [ 'user.deleted', 'user.created',
                                             'user.deleted' ], extra => 1 });
is($r->status, 201, 'a webhook') or diag($r->body);
is($r->header('cache-control'), 'no-store', 'not for caches');

my $hook = $r->json;
my $secret = delete $hook->{secret};

like($secret, qr/\A[0-9a-f]{64}\z/, 'its secret');
like($hook->{id}, $UUID, 'its id');
like($hook->{createdAt}, $TIME, 'its time');
is_deeply($hook, { id => $hook->{id}, url => $good{url}, enabled => $TRUE,
                   events => [ 'user.created', 'user.deleted' ],
                   createdAt => $hook->{createdAt} },
          'all of it, each event once');
ok(scalar $monitor->wait(1, 'PUBLISH', 'svc.webhook.changed', $acme->{id}),
   'who keeps webhooks in memory is told');

$r = ask(GET => "/$hook->{id}");
is($r->status, 200, 'it is there');
is_deeply($r->json, $hook, 'as it was, without the secret');
is(ask(HEAD => "/$hook->{id}")->body, '', 'HEAD');

my $second = ask(POST => '', { %good, enabled => $FALSE })->json;
is($second->{enabled}, $FALSE, 'one that is not enabled');
isnt(delete $second->{secret}, $secret, 'has a secret of its own');

is_deeply(ask(GET => '')->json,
          { webhooks => [ $second, $hook ], total => 2, limit => 100,
            offset => 0,
            knownEvents => [ 'user.created', 'user.login', 'user.deleted' ] },
          'the list, the newest first');
is_deeply(ask(GET => '?limit=1&offset=1')->json->{webhooks}, [ $hook ],
          'a page of it');
admin_finds($acme, '/webhooks', needs => 'tenant:manage', of => 'webhooks', by => 'id', finds => {
    uc substr($good{url}, 8, 12) => [ $hook->{id}, $second->{id} ], $hook->{id} => [ $hook->{id} ],
    '%' => [], 'user.created' => [] });

for my $change ([ { enabled => $FALSE }, [ 'enabled' ] ],
                [ { url => 'https://[2606:4700::1111]:8443/x?key=hidden' },
                  [ 'url' ] ],
                [ { events => [ 'user.login' ], enabled => $TRUE,
                    id => 'x', secret => 'y' }, [ 'events', 'enabled' ] ],
                [ {}, undef ], [ { enabled => $TRUE }, undef ],
                [ { events => [ ('user.login') x 2 ] }, undef ])
{
    my ($body, $changed) = @$change;
    my $n = () = events();
    my $name = 'PATCH ' . join ' ', sort keys %$body;

    $r = ask(PATCH => "/$hook->{id}", $body);
    is($r->status, 200, $name) or diag($r->body);

    $hook = { %$hook, map { $_ => $body->{$_} }
                      grep { exists $body->{$_} } qw(url enabled) };
    $hook->{events} = [ 'user.login' ] if $body->{events};

    is_deeply($r->json, $hook, 'what is absent stays');
    is_deeply(ask(GET => "/$hook->{id}")->json, $hook, 'and is kept');

    my @events = events();

    is(@events - $n, $changed ? 1 : 0, 'an event for a change');
    is_deeply($events[-1][4], { changed => $changed },
              'with what has changed') if $changed;
}

unlike(join('|', map { ref ? SvcTest::encode($_) : $_ // '' }
                 map { @$_ } events()), qr/hidden/,
       'the audit log shows the host alone');

is(ask(DELETE => "/$second->{id}")->status, 204, 'deleted');
admin_error(ask($_->[0], "/$second->{id}", $_->[1]), 404, 'not_found',
            "$_->[0]: it is gone")
    for [ 'GET' ], [ PATCH => {} ], [ 'DELETE' ];

is_deeply([ map { [ @$_[0 .. 3, 5] ] } events() ], [
    map { [ "webhook.$_->[0]", 'webhook', $_->[1], $_->[2], $acme->{api_id} ] }
        [ created => $hook->{id}, 'hooks.acme.test' ],
        [ created => $second->{id}, 'hooks.acme.test' ],
        [ updated => $hook->{id}, 'hooks.acme.test' ],
        [ updated => $hook->{id}, '[2606:4700::1111]:8443' ],
        [ updated => $hook->{id}, '[2606:4700::1111]:8443' ],
        [ deleted => $second->{id}, 'hooks.acme.test' ],
], 'each change has its event');


# --- another tenant ---------------------------------------------------------------------

is(ask(GET => '', undef, tenant => $globex)->json->{total}, 0,
   'another tenant sees none');
admin_error(ask(@$_[0 .. 2], tenant => $globex), 404, 'not_found',
            "$_->[0] $_->[1] of another tenant")
    for [ GET => "/$hook->{id}" ], [ PATCH => "/$hook->{id}", { url => $good{url} } ],
        [ DELETE => "/$hook->{id}" ], [ GET => "/$hook->{id}/deliveries" ],
        [ POST => "/$hook->{id}/test" ];
is_deeply(ask(GET => "/$hook->{id}")->json, $hook, 'it is as it was');


# --- what is refused -----------------------------------------------------------------------

for my $url (@REFUSED_URLS) {
    my $error = admin_error(ask(POST => '', { %good, url => $url }), 400,
                            'invalid_request', "refused: " . shown($url));

    like($error->{message}, qr/\A"url" /, 'it says what is wrong');
    admin_error(ask(PATCH => "/$hook->{id}", { url => $url }), 400,
                'invalid_request', 'by PATCH too');
}

# the scheme may be in any case, and is stored in lower case

$r = ask(POST => '', { %good, url => 'HTTPS://Hooks.acme.test/In' });
is($r->status, 201, 'HTTPS') or diag($r->body);

my $upper = '/' . $r->json->{id};

is($r->json->{url}, 'https://Hooks.acme.test/In', 'is https');
is(ask(PATCH => $upper, { url => 'hTTpS://hooks.acme.test/2' })->json->{url},
   'https://hooks.acme.test/2', 'by PATCH too');
is(ask(GET => $upper)->json->{url}, 'https://hooks.acme.test/2',
   'and is stored so');
is(ask(DELETE => $upper)->status, 204, 'and deleted');

my $list = '"user.created", "user.login" and "user.deleted"';

for my $row ([ url => undef, '"url"' ], [ url => '', '"url"' ],
             [ url => 5, '"url"' ], [ url => [ $good{url} ], '"url"' ],
             [ events => undef, '"events"' ], [ events => [], '"events"' ],
             [ events => 'user.created', '"events"' ],
             [ events => [ 'user.updated' ], '"events[0]" must be one of ' . $list ],
             [ events => [ 'user.created', 'USER.LOGIN' ], '"events[1]"' ],
             [ events => [ 'user.created', undef ], '"events[1]"' ],
             [ events => [ "user.created\",\"x" ], '"events[0]"' ],
             [ events => [ ('user.created') x 101 ], '"events"' ],
             [ enabled => undef, '"enabled"' ], [ enabled => 'true', '"enabled"' ],
             [ enabled => 1, '"enabled"' ])
{
    my ($member, $value, $text) = @$row;
    my $name = "$member: " . substr(JSON::PP->new->allow_nonref->encode($value),
                                    0, 60);

    for my $r (ask(POST => '', { %good, $member => $value }),
               ask(PATCH => "/$hook->{id}", { $member => $value }))
    {
        my $error = admin_error($r, 400, 'invalid_request', $name);

        is(index($error->{message} // '', $text), 0, 'it says what is wrong')
            or diag($error->{message});
    }
}

for my $absent (qw(url events)) {
    my %body = %good;

    delete $body{$absent};
    admin_error(ask(POST => '', \%body), 400, 'invalid_request', "no $absent");
}

admin_error(ask(POST => '', { %good, url => "https://example.com/\0" }), 400,
            'invalid_request', 'a NUL');
is(count_of($acme), 1, 'nothing was made');
is_deeply(ask(GET => "/$hook->{id}")->json, $hook, 'or changed');

for my $url ('https://10.9.255.1/', 'https://[::ffff:10.9.0.1]/',
             'https://8.8.8.8/', 'https://[2606:4700::1111]/',
             'https://xn--bcher-kva.example:8443/a%20b?c=d@e&f=[g]',
             'https://intranet/', 'https://localhost.example.com/',
             'https://example.com/' . 'x' x 2028)
{
    $r = ask(POST => '', { %good, url => $url });
    is($r->status, 201, 'taken: ' . shown($url)) or diag($r->body);
    is($r->json->{url}, $url, 'as it is');
    is(ask(DELETE => '/' . $r->json->{id})->status, 204, 'deleted');
}


# --- a create that is sent again --------------------------------------------------------------

my @key = ('Idempotency-Key' => 'k1');
my $first = ask(POST => '', \%good, headers => \@key);
my $again = ask(POST => '', \%good, headers => \@key);

is($first->status, 201, 'with a key');
is($again->status, 201, 'again');
is($again->header('idempotency-replayed'), 'true', 'it is the same');
my %shown = %{ $first->json };
delete $shown{secret};
is_deeply($again->json, \%shown, 'without the secret');
is(count_of($acme), 2, 'there is one more');
is($s->sql("SELECT count(*) FROM svc.idempotency WHERE reply LIKE '%secret%'"),
   0, 'no secret is kept');


# --- secrets at rest ----------------------------------------------------------------------------

# each is sealed with the first key of the file, whose id comes before the
# ciphertext

sub sealed {
    return map { [ @$_[0, 1] ] } $s->sql(<<'EOT');
SELECT id, encode(secret, 'hex'), get_byte(secret, 0), length(secret)
FROM svc.webhook_endpoint ORDER BY created_at, id
EOT
}

my %secret = ($hook->{id} => $secret,
              $first->json->{id} => $first->json->{secret});
my @sealed = sealed();

is(@sealed, 2, 'two secrets');

for my $row (@sealed) {
    my ($id, $hex) = @$row;

    like($hex, qr/\A0131/, 'sealed with the key "1"');
    is(length $hex, 2 * (1 + 1 + 12 + 64 + 16), 'nonce, text and tag');
    is(index(pack('H*', $hex), $secret{$id}), -1, 'not as it was shown');
    is(index($hex, $secret{$id}), -1, 'nor the bytes it stands for');
}

my $text = SvcTest::Process::slurp($s->{key_file});
my $new = unpack 'H*', SvcTest::random_bytes(32);

$s->secret($new);
open my $fh, '>', $s->{key_file} or die "$!\n";
print $fh "next:$new\n$text";
close $fh;
ok($s->reload, 'a new key in front of the old one');

my $third = ask(POST => '', \%good)->json;
my %now = map { @$_ } sealed();

like($now{$third->{id}}, qr/\A04@{[ unpack 'H*', 'next' ]}/,
     'seals what comes');
is($now{$_->[0]}, $_->[1], 'what is there stays') for @sealed;
@workers = $s->workers;


# --- as many as there may be ----------------------------------------------------------------------

$s->sql('INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events, secret)'
        . " SELECT '$globex->{id}', gen_random_uuid(), 'https://x.test/',"
        . " '{user.login}', '\\x00' FROM generate_series(1, 97)");

my @connections = map { $s->connection } 1 .. 12;

$_->send($_->format(POST => '/v1/admin/webhooks',
                    [ Authorization => "Bearer $globex->{api_token}" ],
                    SvcTest::encode(\%good))) for @connections;

my %status;

for my $r (map { $_->read } @connections) {
    $status{$r->status}++;
    $s->secret($1) if $r->body =~ /"secret":"([^"]*)"/;
    admin_error($r, 400, 'limit_exceeded', 'one too many')
        if $r->status != 201;
}

is_deeply(\%status, { 201 => 3, 400 => 9 }, 'of 12 at once 3 had room');
is(count_of($globex), 100, 'there are 100');

my $list_of_100 = ask(GET => '?limit=500', undef, tenant => $globex)->json;
is(@{ $list_of_100->{webhooks} }, 100, 'a list of all');
is(ask(DELETE => "/$list_of_100->{webhooks}[50]{id}", undef,
       tenant => $globex)->status, 204, 'one less');
is(ask(POST => '', \%good, tenant => $globex)->status, 201, 'leaves room');
admin_error(ask(POST => '', \%good, tenant => $globex), 400, 'limit_exceeded',
            'for one');


# --- deliveries --------------------------------------------------------------------------------------

my $path = "/$hook->{id}/deliveries";

is_deeply(ask(GET => $path)->json,
          { deliveries => [], total => 0, limit => 100, offset => 0 }, 'none');

$s->sql(<<"EOT");
INSERT INTO svc.webhook_attempt (tenant_id, endpoint_id, created_at,
    delivery_id, attempt, event_id, event, outcome, status, duration_ms, error)
SELECT '$acme->{id}', '$hook->{id}', now() - i * interval '1 day', 'd' || i,
       i, 'e' || i, 'user.login',
       CASE i WHEN 1 THEN 'acknowledged' ELSE 'abandoned' END,
       CASE i WHEN 1 THEN 204 END, 10 * i,
       CASE i WHEN 1 THEN NULL ELSE 'no answer' END
FROM generate_series(1, 8) i
EOT

my $deliveries = ask(GET => $path)->json;

is($deliveries->{total}, 6, 'those of a week');
is_deeply([ map { $_->{id} } @{ $deliveries->{deliveries} } ],
          [ map { "d$_" } 1 .. 6 ], 'the newest first');
like($_->{createdAt}, $TIME, 'its time') for @{ $deliveries->{deliveries} };
delete $_->{createdAt} for @{ $deliveries->{deliveries} };
is_deeply([ @{ $deliveries->{deliveries} }[0, 1] ],
          [ { id => 'd1', eventId => 'e1', event => 'user.login', attempt => 1,
              outcome => 'acknowledged', status => 204, durationMs => 10,
              error => undef },
            { id => 'd2', eventId => 'e2', event => 'user.login', attempt => 2,
              outcome => 'abandoned', status => undef, durationMs => 20,
              error => 'no answer' } ], 'all of them');
is_deeply([ map { $_->{id} }
            @{ ask(GET => "$path?limit=2&offset=1")->json->{deliveries} } ],
          [ 'd2', 'd3' ], 'a page');
admin_error(ask(GET => "$path?limit=0"), 400, 'invalid_request', 'no page');


# --- a test ---------------------------------------------------------------------------------------------

is(ask(PATCH => "/$hook->{id}", { enabled => $FALSE })->status, 200,
   'disabled');
like(admin_error(ask(POST => "/$hook->{id}/test"), 400, 'invalid_request',
                 'no test then')->{message},
     qr/\AThe webhook is disabled: enable it first/, 'it says why');
is(scalar(grep { $_->[0] eq 'webhook.tested' } events()), 0,
   'and nothing is audited');

is(ask(DELETE => "/$hook->{id}")->status, 204, 'deleted');
is($s->sql('SELECT count(*) FROM svc.webhook_attempt'), 0, 'with its deliveries');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;


# --- without svc_webhooks ------------------------------------------------------------------------------------

$s = SvcTest->new->start;
$acme = $s->tenant('acme');
admin_error(ask(@$_), 404, 'not_found', "$_->[0] without svc_webhooks")
    for [ 'GET', '' ], [ POST => '', \%good ], [ GET => "/$none" ];
is($acme->create(userName => 'ada@acme.test')->{userName}, 'ada@acme.test',
   'users are made');
$s->done;

done_testing();
