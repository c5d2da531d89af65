#!/usr/bin/perl

# Shows that a PostgreSQL that accepts connections and never answers does not stop a
# worker: requests that do not need it are answered at once, and the others get 503
# within their time limit.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Scim;


my $s = SvcTest->new(
    workers => 1,
    svc => { svc_postgres_timeout => slow(6) . 's',
             svc_postgres_connect_timeout => slow(2) . 's',
             svc_postgres_queue_timeout => slow(6) . 's' },
)->start;

my $acme = $s->tenant('acme');
my $user = $acme->create(userName => 'ada@acme.test');
my @workers = $s->workers;


# Sends n requests that do not need PostgreSQL.

sub answered {
    my ($path, $status, $n, $name) = @_;

    my %seen;

    $seen{ $s->http(GET => $path)->status }++ for 1 .. $n;
    is_deeply(\%seen, { $status => $n }, $name);
}

scim_ok($acme->scim(GET => '/Users'), 200, 'before');

$s->pg->freeze;

# 80 requests, reads and writes, are more than the connections and their depth take.

my @c = map { $s->connection } 1 .. 80;

for my $i (0 .. $#c) {
    my @request = $i % 2
        ? (GET => "/scim/v2/Users/$user->{id}", $acme->headers)
        : (POST => '/scim/v2/Users', $acme->headers,
           "{\"userName\":\"frozen$i\@acme.test\"}");

    $c[$i]->send($c[$i]->format(@request));
}

answered('/alive', 200, 100, 'requests beside it are answered');
answered('/scim/v2/nothing', 404, 20,
         'so are those that are refused without the database');
answered('/scim/v2/Users', 401, 20, 'and those without a token');

my $health = $s->health;
ok($health->status == 200 || $health->status == 503,
   'the health location answers');
is(scalar(grep { !$_->silent(0) } @c), 0, 'all of it before anything times out');

ok((wait_for { $s->health->status == 503 }), 'health turns to 503');

my %status;

for my $c (@c) {
    my $r = $c->read;

    $status{ $r ? $r->status : $c->error }++;
    scim_error($r, 503, undef, 'refused') if !$r || $r->status != 503;
}

is_deeply(\%status, { 503 => scalar @c },
          'every request got 503 with Retry-After');

$_->close for @c;

$s->pg->thaw;

ok((wait_for { $s->health->status == 200 }), 'it goes on');
scim_ok($acme->scim(GET => "/Users/$user->{id}"), 200, 'reads');
scim_ok($acme->scim(POST => '/Users', { userName => 'new@acme.test' }), 201,
        'writes');

# Each of these writes is stored with its event, or not at all.

is($s->sql("SELECT count(*) FROM svc.user_account u WHERE user_name LIKE"
           . " 'frozen%' AND (SELECT count(*) FROM svc.audit_event"
           . " WHERE target_id = u.id::text) <> 1"), 0,
   'no write without its audit event');

is("@{[ $s->workers ]}", "@workers", 'the worker is the same');


# A lock in the database holds up one tenant's writes; the others go on.

# The time limit suffices for the others even on a machine that stalls.

$s->nginx->{svc}{svc_postgres_timeout} = slow(5) . 's';
$s->reload;

my $globex = $s->tenant('globex');
my $locker = $s->connect_as('postgres');

$locker->query('BEGIN');
$locker->query("SELECT * FROM svc.user_account WHERE id = '$user->{id}'"
               . ' FOR UPDATE');

my $blocked = $s->begin(PATCH => "/scim/v2/Users/$user->{id}", $acme->headers,
    patch_op({ op => 'replace', path => 'title', value => 'late' }));

sub waiting {
    return $s->sessions("wait_event_type = 'Lock'"
                        . " AND wait_event = 'transactionid'");
}

ok((wait_for { waiting() == 1 }), 'a request waits for a lock');

scim_ok($globex->scim(POST => '/Users', { userName => "g$_\@x.test" }),
        201, 'another writes')
    for 1 .. 12;

is(waiting(), 1, 'while it still waits');

scim_error($blocked->read, 503, undef, 'the one that waits gets 503');
$locker->query('ROLLBACK');
scim_ok($acme->scim(PATCH => "/Users/$user->{id}",
                    patch_op({ op => 'replace', path => 'title',
                               value => 'T' })),
        200, 'and works once the lock is gone');

$s->done;
done_testing();
