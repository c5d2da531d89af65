#!/usr/bin/perl

# Shows that the health location tells the state of PostgreSQL and Redis.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(wait_for);
use SvcTest::Scim;


my $DOWN = 'PostgreSQL cannot be reached, or does not answer.';

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my ($r, @workers);


# Waits for the status and body of the health location, then checks the whole answer.

sub health_is {
    my ($status, $json, $name) = @_;

    $json = { keys => 'ok', %$json };

    wait_for {
        $r = $s->health;
        $r->status == $status
            && ($r->json // {})->{redis} eq $json->{redis}
            && ($r->json // {})->{postgres} eq $json->{postgres}
            && $r->json->{keys} eq $json->{keys}
    };

    is($r->status, $status, "$name: $status");
    $json = { %$json, message => $DOWN } if $json->{postgres} eq 'down';
    $json->{$_} = $json->{postgres} for qw(reads writes);
    is_deeply($r->json, $json, "$name: what is up") or diag($r->body);
    is($r->header('content-type'), 'application/json', "$name: type");
}

my $ok = { status => 'ok', postgres => 'up', redis => 'up' };

health_is(200, $ok, 'all is well');
@workers = $s->workers;

$r = $s->http(HEAD => '/healthz');
is($r->status, 200, 'HEAD');
is($r->body, '', 'has no body');

$s->redis->stop('KILL');
health_is(200, { status => 'degraded', postgres => 'up', redis => 'down' },
          'Redis is down');
scim_ok($acme->scim(POST => '/Users', { userName => 'a@acme.test' }), 201,
        'SCIM goes on without Redis');
$s->redis->launch;
health_is(200, $ok, 'Redis is back');

$s->pg->stop;
health_is(503, { status => 'unavailable', postgres => 'down',
                 redis => 'up' }, 'PostgreSQL is down');
scim_error($acme->scim(GET => '/Users'), 503, undef,
           'SCIM says so with Retry-After');
scim_error($acme->scim(POST => '/Users', { userName => 'b@acme.test' }),
           503, undef, 'for a write too');
is($s->http(GET => '/alive')->status, 200, 'nginx answers the rest');

$s->redis->stop;
health_is(503, { status => 'unavailable', postgres => 'down',
                 redis => 'down' }, 'nothing is up');

$s->pg->launch;
ok((wait_for { $s->health->status == 200 }), 'PostgreSQL is back');
scim_ok($acme->scim(GET => '/Users'), 200, 'SCIM works again');
is($s->sql("SELECT count(*) FROM svc.user_account"), 1,
   'the write that was refused did not happen');

$s->redis->launch;
health_is(200, $ok, 'all is well again');
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');


# Redis is not configured.

$s->nginx->{svc} = { svc_redis => undef, svc_redis_timeout => undef };
$s->reload;
health_is(200, { status => 'ok', postgres => 'up', redis => 'off' },
          'Redis is off');


# A port may be missing; nobody listens there.

$s->nginx->{svc} = { svc_redis => '127.0.0.9' };
$s->reload;
health_is(200, { status => 'degraded', postgres => 'up', redis => 'down' },
          'Redis at an address without a port');
ok((grep { /Redis 127\.0\.0\.9:6379 is down/ } $s->nginx->log_lines),
   'whose default the log names');


# nginx starts without PostgreSQL, and finds it later.

$s->pg->stop;
$s->redis->stop;
$s->nginx->{svc} = {};
$s->reload;
health_is(503, { status => 'unavailable', postgres => 'down',
                 redis => 'down', keys => 'unknown' }, 'started without both');
$s->pg->launch;
health_is(200, { status => 'degraded', postgres => 'up', redis => 'down' },
          'finds PostgreSQL later');
scim_ok($acme->scim(GET => '/Users'), 200, 'and serves');
$s->redis->launch;
health_is(200, $ok, 'finds Redis later');

$s->done;
done_testing();
