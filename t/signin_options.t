#!/usr/bin/perl

# The options for a sign-in page, from a cache that is never older than a
# second.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Image;
use SvcTest::Process qw(slow wait_for);

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my %SVC = (svc_sign_in => 'on', svc_base_url => 'https://login.acme.test');

# a location whose tenant a header names

my $OTHER = SvcTest::Nginx::free_port();
my $HTTP = <<"EOT";
    server {
        listen 127.0.0.1:$OTHER;
        svc_base_url $SVC{svc_base_url};
        location /v1 { svc_admin on; svc_tenant \$http_x_tenant; }
    }
EOT

my $s = SvcTest->new(workers => 2, svc => { %SVC }, http => $HTTP)->start;
my $acme = $s->tenant('acme');
my $node = $s->node(workers => 2, svc => { %SVC });
my $small = $s->node(svc => { %SVC, svc_cache_size => '1m' });
my @workers = $s->workers;


sub options {
    my ($query, %headers) = @_;
    my $port = delete $headers{port};

    return $s->http(GET => '/v1/auth/options' . ($query // ''), [ %headers ],
                    undef, $port ? (port => $port) : ());
}


# Asks so often that both workers of a node have answered.  Returns whether all
# answers are so.

sub all_are {
    my ($port, $as, @what) = @_;

    @what = ('?tenant=acme') if !@what;

    return !grep { !$as->(options(@what, port => $port)) } 1 .. 8;
}


# Tests a change by a route: seen at once on its node, and soon on the other
# one.

sub told {
    my ($name, $change, $as, @what) = @_;

    @what = ('?tenant=acme') if !@what;
    options(@what, port => $_) for ($s->port, $node->{port}) x 4;

    my $r = $change->();

    is($r->status, 200, $name) or diag($r->body);
    ok(all_are($s->port, $as, @what), '... at once on this node');
    ok((wait_for { all_are($node->{port}, $as, @what) }),
       '... and soon on another one');
}


# Tests a change that no message tells of: seen soon on both nodes.  It measures
# when the last request with the old answer was sent, however long the answer
# took.

sub untold {
    my ($name, $change, $as, @what) = @_;

    @what = ('?tenant=acme') if !@what;
    options(@what, port => $_) for ($s->port, $node->{port}) x 4;
    $change->();

    my ($since, $old) = (time, 0);

    for my $port ($s->port, $node->{port}) {
        wait_for {
            my $asked = time;

            all_are($port, $as, @what) or ($old = $asked - $since, 0)[1];
        } or fail("$name is seen");
    }

    cmp_ok($old, '<', slow(3), "$name is seen within a second");
}


sub is_answer {
    my ($status, $slug) = @_;

    return sub { $_[0]->status == $status
                 && (!$slug || $_[0]->json->{tenant}{slug} eq $slug) };
}


sub told_by {
    my ($member, $want) = @_;

    return sub {
        my $value = $_[0]->json;

        $value = $value->{$_} for split /\./, $member;

        return ($value // 'none') eq $want;
    };
}


# Returns the answers that come while the table of tenants is locked; none if
# PostgreSQL was asked.  Each element is a path and then arguments of begin().

sub from_cache {
    my (@what) = @_;

    my $owner = $s->connect_as('postgres');

    $owner->query('BEGIN');
    $owner->query('LOCK TABLE svc.tenant IN ACCESS EXCLUSIVE MODE');

    my @c = map { $s->begin(GET => @$_) } @what;

    wait_for { $s->waiting || !grep { $_->silent(0) } @c };

    my $asked = $s->waiting;

    $owner->query('ROLLBACK');

    my @r = map { $_->read } @c;

    return $asked ? () : @r;
}


# Returns everything of an answer except its time and the request's id.

sub whole {
    my ($r) = @_;

    return join "\n", $r->status, $r->body,
                map { "$_: " . ($r->header($_) // '-') }
                    qw(content-type content-length cache-control etag
                       set-cookie);
}


my $r = options();

is($r->status, 200, 'of the only tenant') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'not stored');

my $json = $r->json;
my $policy = delete $json->{passwordPolicy};

is_deeply($json, {
    tenant => { slug => 'acme', name => 'Acme' }, branding => {},
    methods => { password => $TRUE, passkey => $TRUE, passwordless => $FALSE,
                 passwordReset => $FALSE, signup => $FALSE,
                 organizations => $FALSE, connections => [] } }, 'what it says');
is_deeply([ sort keys %$policy ],
          [ qw(minLength rejectBreached rejectContextual requireDigit requireLower
               requireSymbol requireUpper) ], 'of the password policy');

my $token = $acme->token_for('tenant:manage');

is($acme->admin(PATCH => '/tenant', { branding => { primary => '#336699',
                                                    allowSelfSignup => $TRUE,
                                                    secret => 'x' } }, [], $token)
   ->status, 200, 'branding');
is($acme->admin(PUT => '/password-policy', { %$policy, minLength => 14,
                                             historyCount => 3, maxAgeDays => 0 },
                [], $token)->status, 200, 'a policy');

$json = options('?tenant=acme')->json;
is_deeply($json->{branding}, { primary => '#336699' }, 'what is public of it');
is($json->{passwordPolicy}{minLength}, 14, 'the new one');
is($json->{methods}{signup}, $TRUE, 'anybody signs up');


# --- what routes change ------------------------------------------------------

$json = $acme->admin(GET => '/config', undef, [], $token)->json;
$json->{passwordPolicy}{minLength} = 16;

told('a colour', sub {
         $acme->admin(PATCH => '/tenant', { branding => { bg => 'red' } }, [],
                      $token)
     }, told_by('branding.bg', 'red'));
told('a name', sub {
         $acme->admin(PATCH => '/tenant', { name => 'Acme SAS' }, [], $token)
     }, told_by('tenant.name', 'Acme SAS'));
told('a logo', sub {
         $acme->admin(PUT => '/tenant/logo', SvcTest::Image::png_of_size(1000),
                      [ 'Content-Type' => 'image/png' ], $token)
     }, sub { ($_[0]->json->{branding}{logoUrl} // '')
              =~ m{^\Q$SVC{svc_base_url}\E/v1/tenants/acme/logo\?v=} });
told('no logo', sub {
         $acme->admin(DELETE => '/tenant/logo', undef, [], $token)
     }, told_by('branding.logoUrl', 'none'));
told('a policy', sub {
         $acme->admin(PUT => '/password-policy', { minLength => 15 }, [],
                      $token)
     }, told_by('passwordPolicy.minLength', 15));
told('a bundle', sub {
         $acme->admin(POST => '/config/apply', $json, [], $token)
     }, told_by('passwordPolicy.minLength', 16));
told('a policy, of the only tenant', sub {
         $acme->admin(PUT => '/password-policy', { minLength => 17 }, [],
                      $token)
     }, told_by('passwordPolicy.minLength', 17), '');


# --- what svcctl changes, or SQL ---------------------------------------------

my $globex;
my $id = "'$acme->{id}'";
my @domain = ('', Host => 'id.acme.test');

untold('a second tenant', sub { $globex = $s->tenant('globex') },
       is_answer(400), '');
untold('one that goes', sub {
           $s->sql("DELETE FROM svc.tenant WHERE id = '$globex->{id}'");
           delete $s->{tenants}{globex};
       }, is_answer(200, 'acme'), '');
untold('one that comes again', sub { $globex = $s->tenant('globex') },
       is_answer(200, 'globex'), '?tenant=globex');
untold('that it is not the only one', sub {}, is_answer(400), '');
untold('a suspension', sub { $s->svcctl(qw(tenant suspend --tenant acme)) },
       is_answer(403));
untold('its end', sub { $s->svcctl(qw(tenant resume --tenant acme)) },
       is_answer(200, 'acme'));
untold('another slug', sub {
           $s->sql("UPDATE svc.tenant SET slug = 'emca' WHERE id = $id")
       }, is_answer(404));
is(options('?tenant=emca')->status, 200, 'under which it is');
untold('the old one', sub {
           $s->sql("UPDATE svc.tenant SET slug = 'acme' WHERE id = $id")
       }, is_answer(200, 'acme'));
untold('a domain', sub {
           $s->sql("INSERT INTO svc.domain (tenant_id, domain, verified_at)"
                   . " VALUES ($id, 'id.acme.test', now())")
       }, is_answer(200, 'acme'), @domain);
told('a policy, at the domain', sub {
         $acme->admin(PUT => '/password-policy', { minLength => 13 }, [],
                      $token)
     }, told_by('passwordPolicy.minLength', 13), @domain);
untold('one that is not verified any more', sub {
           $s->sql("UPDATE svc.domain SET verified_at = NULL")
       }, is_answer(400), @domain);
untold('one that is', sub {
           $s->sql("UPDATE svc.domain SET verified_at = now()")
       }, is_answer(200, 'acme'), @domain);
untold('a domain that another tenant is named at', sub {},
       is_answer(400), '?tenant=globex', Host => 'id.acme.test');
untold('one that is gone', sub { $s->sql("DELETE FROM svc.domain") },
       is_answer(200, 'globex'), '?tenant=globex', Host => 'id.acme.test');

$s->sql("INSERT INTO svc.domain (tenant_id, domain, verified_at)"
        . " SELECT id, 'id.' || slug || '.test', now() FROM svc.tenant");
wait_for { all_are($s->port, is_answer(200, 'acme'), @domain)
           && all_are($s->port, is_answer(400), '?tenant=globex',
                      Host => 'id.acme.test') };


# --- what is refused ---------------------------------------------------------

admin_error(options(), 400, 'invalid_request', 'of two tenants') for 1, 2;
admin_error(options('?tenant=nobody'), 404, 'not_found', 'of none') for 1, 2;
admin_error(options('?tenant=A/B'), 400, 'invalid_request', 'no slug');
admin_error(options('?tenant='), 400, 'invalid_request', 'an empty one');
admin_error(options('?tenant=' . 'a' x 64), 400, 'invalid_request',
            'a long one');
admin_error(options('?tenant=acme&tenant=globex'), 400, 'invalid_request',
            'two');
admin_error(options('?tenant=globex', Host => 'id.acme.test'), 400,
            'invalid_request', 'at a domain no other') for 1, 2;
admin_error(options($_, Host => 'nobody.test'), 400, 'invalid_request',
            "at a domain of nobody: '$_'") for '', '?x=1';

is(options('?tenant=acme', Host => $_)->json->{tenant}{slug}, 'acme',
   "Host: $_")
    for 'ID.Acme.Test', 'id.acme.test.', 'id.acme.test:8443', 'nobody.test',
        'localhost', '[::1]', 'a_b.test', 'x' x 300;


# --- svc_tenant --------------------------------------------------------------

for (1, 2) {
    for my $slug (qw(acme globex)) {
        is(options('', 'X-Tenant' => $slug, port => $OTHER)
           ->json->{tenant}{slug}, $slug, "what it says: $slug");
        is(options('?tenant=acme', 'X-Tenant' => $slug, port => $OTHER)
           ->json->{tenant}{slug}, 'acme', 'what is named wins');
        is(options('', 'X-Tenant' => $slug, Host => 'id.acme.test',
                   port => $OTHER)->json->{tenant}{slug}, 'acme',
           'and so does a domain');
    }

    admin_error(options('', 'X-Tenant' => $_, port => $OTHER), 404, 'not_found',
                'what it says is no tenant')
        for 'nobody', 'A/B', 'acme ' x 3, 'a' x 64, 'a' x 3000, "\xff";
    admin_error(options('', port => $OTHER), 400, 'invalid_request',
                'it says nothing');
}


# --- with the cache, and without ---------------------------------------------

# Each request is sent twice, and then while PostgreSQL does not answer.

{
    my @what = map {
        my ($query, %headers) = @$_;
        my $port = delete $headers{port};

        [ "/v1/auth/options$query", [ %headers ], undef,
          $port ? (port => $port) : () ];
    } [ '?tenant=acme' ], [ '?tenant=globex' ], \@domain,
      [ '?tenant=acme', Host => 'id.acme.test' ], [ '' ], [ '?tenant=nobody' ],
      [ '?tenant=acme', Host => 'nobody.test' ],
      [ '', 'X-Tenant' => 'acme', port => $OTHER ];
    my (@first, @second, @kept);

    my $kept = wait_for {
        $acme->admin(PATCH => '/tenant', { name => 'Acme ' . time }, [],
                     $token);
        select undef, undef, undef, 1.1;

        @first = map { whole($s->http(GET => @$_)) } @what;
        @second = map { whole($s->http(GET => @$_)) } @what;
        @kept = map { whole($_) } from_cache(@what);

        @kept > 0;
    } 60;

    ok($kept, 'PostgreSQL is not asked again');
    is_deeply(\@second, \@first, 'the same bytes');
    is_deeply(\@kept, \@first, 'from the cache');
    is_deeply([ map { /^(\d+)/ } @first ], [ (200) x 4, 400, 404, 200, 200 ],
              'of all kinds');
    like($first[0], qr/\ncontent-type:\ application\/json\n
                       content-length:\ \d+\ncache-control:\ no-store\n/x,
         'which no cache but this one keeps');
}


# --- two tenants at two hosts, while they change -----------------------------

{
    my ($c, $mixed, $served) = ($s->connection, 0, 0);

    for my $i (1 .. 1000) {
        my $slug = $i % 2 ? 'acme' : 'globex';
        my $r = $c->request(GET => '/v1/auth/options'
                            . ($i % 3 ? '' : "?tenant=$slug"),
                            [ Host => "id.$slug.test" ]);

        if (!$r) {
            $c = $s->connection;
            next;
        }

        $served++;
        $mixed++ if $r->status != 200 || $r->json->{tenant}{slug} ne $slug;
        $acme->admin(PATCH => '/tenant', { name => "Acme $i" }, [], $token)
            if $i % 50 == 0;
    }

    cmp_ok($served, '>', 900, 'two tenants are asked for in turn');
    is($mixed, 0, 'and each is itself');
}


# --- made-up hosts and tenants -----------------------------------------------

# A logo of a third of the memory stays in the cache, and so do the entries in
# use.

{
    my @there = (port => $small->{port});
    my $wrong = 0;

    is($acme->admin(PUT => '/tenant/logo', SvcTest::Image::png_of_size(300_000),
                    [ 'Content-Type' => 'image/png' ], $token)->status, 200,
       'a large logo');

    my @known = ('/v1/auth/options?tenant=acme', '/v1/tenants/acme/logo');
    my $asked = sub {
        return map { $s->http(GET => $_, [], undef, @there)->status } @known;
    };

    $asked->();

    my $made_up = sub {
        my $c = $s->connection(@there);

        for my $sixty (1 .. $_[0] / 60) {
            my @r = $c->pipeline(map {
                my $what = int rand 1e9;
                my $query = [ '?tenant=acme', "?tenant=t$what", '' ]->[$_ % 3];

                [ GET => "/v1/auth/options$query", [ Host => "h$what.test" ] ]
            } 1 .. 60);

            $wrong += grep { !$r[$_ - 1]
                             || $r[$_ - 1]->status != [ 200, 404, 400 ]->[$_ % 3] }
                      1 .. 60;
            $c = $s->connection(@there) if !$r[-1] || $sixty % 15 == 0;
        }
    };

    $made_up->(10_020);
    is($wrong, 0, '10,000 of them are answered');

    my $kept = wait_for {
        $asked->();
        $made_up->(60);

        my @r = from_cache(map { [ $_, [], undef, @there ] } @known);

        join(' ', map { $_->status } @r) eq '200 200';
    } 60;

    ok($kept, 'what is there they do not push out');
    is($wrong, 0, 'nor are they confused');
}


# --- without PostgreSQL ------------------------------------------------------

$s->pg->stop;
admin_error(options('?tenant=nobody-2'), 503, 'unavailable',
            'without PostgreSQL');
$s->pg->launch;
$s->wait_healthy;
ok((wait_for { all_are($_, is_answer(200, 'acme')) }), 'when it is back')
    for $s->port, $node->{port};


# --- without https -----------------------------------------------------------

my $plain = $s->node(svc => { %SVC, svc_base_url => 'http://login.acme.test' });

is(options('?tenant=globex', port => $plain->{port})->json->{methods}{passkey},
   $FALSE, 'no passkeys over plain http');
is(options('', Host => 'id.globex.test', port => $plain->{port})
   ->json->{methods}{passkey}, $TRUE, 'but at a domain');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');

$s->done;
done_testing();
