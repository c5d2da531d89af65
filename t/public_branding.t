#!/usr/bin/perl

# The branding that a sign-in page fetches, by slug and by domain, from a cache
# that is never older than a second.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use POSIX ();
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $node = $s->node;
my @workers = $s->workers;
my ($true, $false) = (JSON::PP::true, JSON::PP::false);


sub branding {
    my ($name, $headers, @more) = @_;

    return $s->http(GET => "/v1/tenants/$name/branding", $headers, undef, @more);
}


sub primary {
    my ($name, @more) = @_;

    return branding($name, undef, @more)->json->{branding}{primary} // 'none';
}


sub set {
    my ($tenant, $branding) = @_;

    my $r = $tenant->admin(PATCH => '/tenant', { branding => $branding });

    is($r->status, 200, 'a change') or diag($r->body) if $r->status != 200;
}


# --- what is published ---------------------------------------------------------------

my $r = branding('acme');
is($r->status, 200, 'by slug, without a credential');
is_deeply($r->json, { name => 'Acme', slug => 'acme', branding => {},
                      allowSignup => $false, allowPasswordless => $false },
          'when nothing is set');
is($r->header('content-type'), 'application/json', 'its type');
is($r->header('cache-control'), 'public, max-age=60', 'for a minute');
is($r->header('access-control-allow-origin'), '*', 'for pages of any origin');

my %public = (primary => '#0A66C2', primaryHover => '#fff', primaryFg => '#000',
              bg => 'white', surface => 'white', fg => 'black', muted => 'gray',
              border => 'gray', danger => 'red', radius => '8px');

set($acme, { %public, success => 'green', warning => 'yellow',
             internalNote => 'not-for-the-world', allowSelfSignup => $true,
             allowPasswordless => $true });
$r = branding('acme');
is_deeply($r->json, { name => 'Acme', slug => 'acme', branding => \%public,
                      allowSignup => $true, allowPasswordless => $true },
          'the published keys, and no other');
unlike($r->body, qr/not-for-the-world|success|warning/, 'nothing private');

my $etag = $r->header('etag');
like($etag, qr/\A"\w+"\z/, 'it has an entity tag');

my $same = branding('acme', [ 'If-None-Match' => $etag ]);
is($same->status, 304, 'If-None-Match');
is($same->header('cache-control'), 'public, max-age=60', 'it may be kept on');
is(branding('acme', [ 'If-None-Match' => '"x"' ])->status, 200, 'another one');
is($s->http(HEAD => '/v1/tenants/acme/branding')->header('content-length'),
   length $r->body, 'HEAD');
is(branding('acme', [ Authorization => 'Bearer nonsense' ])->status, 200,
   'a credential does not matter');

for my $method (qw(POST PUT PATCH DELETE)) {
    admin_error($s->http($method, '/v1/tenants/acme/branding', undef, '{}'),
                405, 'method_not_allowed', $method);
}


# --- by domain --------------------------------------------------------------------------

$s->sql("INSERT INTO svc.domain (tenant_id, domain, verified_at) VALUES"
        . " ('$acme->{id}', 'login.acme.test', now()),"
        . " ('$acme->{id}', 'pending.acme.test', NULL),"
        . " ('$globex->{id}', 'login.acme.test', NULL)");
is(branding($_)->json->{slug}, 'acme', "by domain: $_")
    for qw(login.acme.test LOGIN.Acme.Test);
admin_error(branding('pending.acme.test'), 404, 'not_found', 'not verified');
admin_error(branding('www.acme.test'), 404, 'not_found', 'unknown');


# --- what is not there -------------------------------------------------------------------

for my $name ('nobody', 'ACME', 'acme%20', '%61cme%00x', 'acme%25', "acme'",
              'acme.', '.', '%2e%2e', 'a%2fb', 'acme%2F..', 'x' x 64,
              'x' x 254, join('.', ('x' x 60) x 5), '%c3%a9', '%ff', '*', '-',
              'acme;x', 'acme%0a', $acme->{id}, 'acme%00')
{
    my $r = branding($name);

    ok($r->status == 404 || $name =~ /%00/ && $r->status == 400,
       "no tenant: $name") or diag($r->status);
    is(ref $r->json->{error}, 'HASH', 'in the envelope');
}

is(branding('%61cme')->status, 200, 'an escaped letter is that letter');
admin_error($s->http(GET => $_), 404, 'not_found', $_)
    for qw(/v1/tenants /v1/tenants/ /v1/tenants/acme /v1/tenants//branding
           /v1/tenants/acme/branding/x /v1/tenants/acme/nothing);


# --- a change is seen at once here, and soon elsewhere -------------------------------------

for my $i (1 .. 30) {
    my $color = sprintf '#%06x', $i;

    set($acme, { primary => $color });

    for my $n (1 .. 4) {
        my $seen = primary('acme');

        is($seen, $color, "change $i is seen at once") if $seen ne $color;
    }

    my $seen = primary('login.acme.test');
    is($seen, $color, "by domain too") if $seen ne $color;
}

is(primary('acme'), '#00001e', 'every one of 30 changes was');

my @there = (port => $node->{port});


# Returns how long another node still shows the old branding: the time at which
# the last request with the old answer was sent, however long the answer took.

sub stale {
    my ($color) = @_;

    primary('acme', @there) for 1 .. 8;
    set($acme, { primary => $color });

    my ($since, $old) = (time(), 0);

    wait_for {
        my $asked = time();

        !grep { primary('acme', @there) ne $color } 1 .. 8
            or ($old = $asked - $since, 0)[1];
    } or return 1e9;

    return $old;
}


# a node keeps branding for ten seconds when no message says that it has changed

cmp_ok(stale('#abcdef'), '<', 5, 'another node shows it soon');

$s->redis->stop;
cmp_ok(stale('#123456'), '<', 5, 'without Redis too');

$s->redis->launch;
wait_for { $s->health->json->{redis} eq 'up'
           && $s->http(GET => '/healthz', undef, undef, @there)
              ->json->{redis} eq 'up' };
cmp_ok(stale('#654321'), '<', 5, 'and when it is back');

wait_for { stale(sprintf '#%06x', int rand 0xffffff) < 0.5 }
    or fail('messages come again');


# --- changes while it is read -------------------------------------------------------------

my @readers = map {
    my $pid = fork // die "fork: $!";

    if (!$pid) {
        local $SIG{TERM} = sub { POSIX::_exit(0) };

        for (;;) {
            my $c = $s->connection;

            for (1 .. 500) {
                $c->request(GET => '/v1/tenants/acme/branding')
                    or POSIX::_exit(1);
            }
        }
    }

    $pid;
} 1 .. 4;

my $stale = 0;

for my $i (1 .. 200) {
    my $color = sprintf '#%06x', 0x800000 + $i;

    set($acme, { primary => $color });
    $stale++ if primary('acme') ne $color;
}

is($stale, 0, 'none of 200 changes under load is missed by the next read');
kill 'TERM', @readers;
is(join(' ', map { waitpid $_, 0; $? } @readers), '0 0 0 0', 'readers were served');


# --- many at once, right after a change -----------------------------------------------------

{
    $s->sql("INSERT INTO svc.logo SELECT id, 'image/png', decode(repeat('5ac3',"
            . " 240000), 'hex') FROM svc.tenant WHERE slug = 'acme'");
    $s->sql("UPDATE svc.tenant SET logo_etag = 'x' WHERE slug = 'acme'");
    set($acme, { primary => '#010203' });

    my @c = map { $s->begin(GET => '/v1/tenants/acme/logo') } 1 .. 150;

    is($globex->admin(GET => '/tenant')->status, 200,
       'who comes behind them is served');

    my %seen;
    $seen{ ($_->read // { status => 'none' })->{status} }++ for @c;
    is_deeply(\%seen, { 200 => 150 }, 'and so are they');
}


# --- a location of another URL -----------------------------------------------------------------

{
    my $port = SvcTest::Nginx::free_port();

    $s->nginx->{http} = <<"EOT";
    server {
        listen 127.0.0.1:$port;
        svc_base_url https://inside.test;
        location /v1 { svc_admin on; }
    }
EOT
    $s->reload;
    $s->wait_healthy;
    @workers = $s->workers;

    for (1 .. 3) {
        my @url = map { $_->json->{branding}{logoUrl} }
                  branding('acme'), branding('acme', undef, port => $port);

        like($url[0], qr{\A\Q@{[ $s->base_url ]}\E/}, 'each location');
        like($url[1], qr{\Ahttps://inside\.test/}, 'has its own URL');
    }
}


# --- many unknown names ---------------------------------------------------------------------

is(branding('acme')->status, 200, 'one that is there');

{
    my $c = $s->connection;
    my $wrong = 0;

    for my $hundred (1 .. 100) {
        my @r = $c->pipeline(map { [ GET => "/v1/tenants/unknown-$hundred-$_/branding" ] }
                             1 .. 100);

        $wrong += grep { !$_ || $_->status != 404 } @r;
        $c = $s->connection if $hundred % 9 == 0;
    }

    is($wrong, 0, '10,000 unknown names are not there');
}

# an entry may expire just now: the next one does not

my $served = wait_for {
    primary('acme') for 1 .. 8;

    $s->pg->freeze;
    my $status = branding('acme')->status;
    $s->pg->thaw;
    $s->wait_healthy;

    $status == 200;
};

ok($served, 'known ones are served without PostgreSQL');

$s->pg->stop;
$r = branding('globex-2');
admin_error($r, 503, 'unavailable', 'unknown ones are not');
$s->pg->launch;
$s->wait_healthy;
is(branding('globex')->status, 200, 'and are when it is back');


# --- a tenant that is created after a request for it -------------------------------------------

is(branding('initech')->status, 404, 'not there yet');
$s->tenant('initech');
ok((wait_for { branding('initech')->status == 200 }), 'there soon after');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');

$s->done;
done_testing();
