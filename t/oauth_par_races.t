#!/usr/bin/perl

# Shows pushed requests that are used twice at once, clients that leave, and a
# PostgreSQL that is gone between the two round trips that each of them takes.

use strict;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw($VERIFIER);
use SvcTest::OAuth qw(oauth_server application form oauth_error escape);
use SvcTest::Process qw(wait_for);

my $N = 1000;
my $CB = 'https://app.acme.test/cb';
my $URN = 'urn:ietf:params:oauth:request_uri:';
my $PAGE = '/v1/oauth/authorization';

# A request that waits for a lock waits until its turn.

my $s = oauth_server(workers => 2, svc => { svc_login_url => '/signin',
                                            svc_postgres_timeout => '60s',
                                            svc_postgres_queue_timeout => '60s' })->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my %WEB = (type => 'web', redirectUris => [ $CB ], scopes => [ 'openid' ]);
my $web = application($acme, %WEB, requireConsent => JSON::PP::false);
my $asks = application($acme, %WEB, name => 'Asks');
my $in = SvcTest::Browser->new($s, tenant => 'acme');
my @workers = $s->workers;

is($in->login('ada@acme.test')->status, 200, 'somebody is signed in');


sub pushed {
    my ($app, %more) = @_;

    my $r = form($s, par => { redirect_uri => $CB, response_type => 'code', scope => 'openid',
                              code_challenge => encode_base64url(sha256($VERIFIER)),
                              code_challenge_method => 'S256', %more }, client => $app);

    $r->status == 201 or die 'POST /oauth/par: ' . $r->status . ' ' . $r->body . "\n";

    return { app => $app, uri => $r->json->{request_uri},
             query => "client_id=$app->{clientId}&request_uri="
                      . escape($r->json->{request_uri}) };
}


sub row {
    my ($par, $columns) = @_;

    my $digest = sha256_hex(substr $par->{uri}, length $URN);

    return scalar $s->sql("SELECT $columns FROM svc.oauth_par WHERE digest = '\\x$digest'");
}


# Begins a request like begin() of SvcTest, with a browser's cookie; word() names its
# outcome.

sub authorizing {
    my ($b, $par) = @_;

    return $s->begin(GET => "/oauth/authorize?$par->{query}",
                     [ Cookie => $b->cookie, Connection => 'close' ]);
}


sub deciding {
    my ($b, $par, $decision) = @_;

    return $s->begin(POST => $PAGE,
                     [ Cookie => $b->cookie, 'X-CSRF-Token' => $b->{csrf},
                       'Content-Type' => 'application/json', Connection => 'close' ],
                     { request => $par->{query}, decision => $decision, userId => $ada->{id},
                       scopes => [ 'openid' ], resources => [] });
}


sub word {
    my ($r) = @_;

    my $to = $r->header('Location') // ($r->status == 200 && $r->json->{redirectTo}) || '';

    my ($code) = $to =~ /[?&]code=([\w-]+)/;

    $s->secret($code) if $code;

    return $code ? 'code' : $to =~ /[?&]error=(\w+)/ ? $1 : $to =~ m{\A/signin} ? 'page'
                                                                                : $r->status;
}


sub codes { return $s->sql("SELECT count(*) FROM svc.oauth_code WHERE client_id ="
                           . " '$_[0]{clientId}'") }
sub grants { return $s->sql("SELECT count(*) FROM svc.oauth_grant WHERE client_id ="
                            . " '$_[0]{clientId}'") }


# --- two at once ----------------------------------------------------------------------

# The browser has a cookie. It may be known to be the request's browser, or not yet.

$in->get('/oauth/authorize?' . pushed($asks)->{query});
ok($in->{cookies}{svc_par}, 'the browser has a cookie');

{
    my %came;

    for my $i (1 .. $N) {
        my $par = pushed($web);
        my @two = map { authorizing($in, $par) } 1 .. 2;

        $came{ join ' ', sort map { word($_->read) } @two }++;
    }

    is_deeply(\%came, { '400 code' => $N }, 'one code of two');
    is(codes($web), $N, 'no more are stored');
    is(grants($web), $N, 'nor is more granted');
}

# Of two browsers one gets it.

{
    my $other = SvcTest::Browser->new($s, tenant => 'acme');
    my %came;

    is($other->login('ada@acme.test')->status, 200, 'another browser');
    $other->get('/oauth/authorize?' . pushed($asks)->{query});

    for my $i (1 .. $N / 5) {
        my $par = pushed($asks);
        my @two = map { authorizing($_, $par) } $in, $other;

        $came{ join ' ', sort map { word($_->read) } @two }++;
    }

    is_deeply(\%came, { '400 page' => $N / 5 }, 'one browser of two');
}

# The page sends two decisions at once.

for my $case ([ qw(approve approve) ], [ qw(approve deny) ], [ qw(deny deny) ]) {
    my %came;

    for my $i (1 .. $N / 5) {
        my $par = pushed($asks, prompt => 'consent');

        $in->get("/oauth/authorize?$par->{query}");

        my @two = map { deciding($in, $par, $_) } @$case;

        $came{ join ' ', sort map { word($_->read) } @two }++;
    }

    my @may = ('400 access_denied', '400 code');

    my %all = (%came, map { $_ => 1 } @may);

    is(keys %all, @may, "@$case: one of them counts") or diag(explain(\%came));
}

is(codes($asks), grants($asks), 'each code has its grant');
ok($s->unharmed(\@workers, 'two at once'), 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');


# --- between the round trips ---------------------------------------------------------------

# Locks what the second round trip writes and the first one does not read, or what
# both need.

sub locked {
    my ($sql) = @_;

    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query($sql);

    return $holder;
}

my $GONE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
           . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'";

# The task that deletes expired rows runs once a minute, and waits for these locks,
# too: it is not counted.

sub waits {
    return wait_for {
        $s->sessions("wait_event_type = 'Lock' AND query NOT LIKE '%oauth_expire%'") == 1
    };
}

for my $at (qw(oauth_par oauth_grant)) {
    for my $how (qw(gone close abort)) {
        my $par = pushed($web);
        my $holder = locked("LOCK TABLE svc.$at IN SHARE ROW EXCLUSIVE MODE");
        my $c = authorizing($in, $par);

        ok(waits(), "$at, $how: it waits");

        if ($how eq 'gone') {
            $s->sql($GONE);

            my $r = $c->read;

            is($r->status, 503, "$at: its connection is gone");
            ok($r->header('Retry-After'), "$at: with Retry-After");

        } else {
            $c->$how;
        }

        $holder->query('ROLLBACK');
        $s->wait_healthy;

        if ($how eq 'gone') {
            is(row($par, 'used_at IS NULL'), 't', "$at: it is not spent");
            is(word(authorizing($in, $par)->read), 'code', "$at: and good still");
            next;
        }

        # The client has left; what was sent to PostgreSQL may have been done all the
        # same.

        ok((wait_for { $s->waiting == 0 }), "$at, $how: nothing waits");
        like(word(authorizing($in, $par)->read), qr/\A(?:code|400)\z/,
             "$at, $how: no harm is done");
    }
}

for my $decision (qw(approve deny)) {
    my $par = pushed($asks, prompt => 'consent');

    $in->get("/oauth/authorize?$par->{query}");

    my $holder = locked('LOCK TABLE svc.oauth_par IN SHARE ROW EXCLUSIVE MODE');
    my $c = deciding($in, $par, $decision);

    ok(waits(), "$decision: it waits");
    $s->sql($GONE);
    is($c->read->status, 503, "$decision: its connection is gone");
    $holder->query('ROLLBACK');
    $s->wait_healthy;
    is(row($par, 'used_at IS NULL'), 't', "$decision: it is not spent");
    is(word(deciding($in, $par, $decision)->read),
       $decision eq 'deny' ? 'access_denied' : 'code', "$decision: and good still");
}

# A request that is being pushed.

{
    my $holder = locked('LOCK TABLE svc.oauth_par IN SHARE ROW EXCLUSIVE MODE');
    my $c = $s->begin(POST => '/oauth/par',
        [ 'Content-Type' => 'application/x-www-form-urlencoded', Connection => 'close',
          Authorization => SvcTest::OAuth::basic($web) ],
        'response_type=code&redirect_uri=' . escape($CB) . '&code_challenge_method=S256'
        . '&code_challenge=' . encode_base64url(sha256($VERIFIER)));

    ok(waits(), 'one that is pushed waits');
    $s->sql($GONE);
    oauth_error($c->read, 503, 'temporarily_unavailable', 'its connection is gone');
    $holder->query('ROLLBACK');
    $s->wait_healthy;
    is(pushed($web)->{app}, $web, 'and another one is taken');
}

ok($s->unharmed(\@workers, 'PostgreSQL that is gone'), 'the workers are the same');
$s->done;
done_testing;
