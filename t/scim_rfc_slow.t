#!/usr/bin/perl

# svc_scim_mode rfc when PostgreSQL takes longer than its timeout, here because
# another transaction has locked the users: which answer says what to do, that
# nothing is changed, and that everything works again.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slow);
use SvcTest::Scim;


# one connection of each kind, on which all statements are prepared before the
# table is locked, because preparing needs a lock, too

my $s = SvcTest->new(workers => 1,
    svc => { svc_postgres_pool => [ map { "$_ connections=1" } qw(read write slow) ],
             svc_postgres_timeout => slow(1) . 's',
             svc_postgres_queue_timeout => slow(10) . 's' });
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my $ada = $acme->create(userName => 'ada@acme.test', externalId => 'a', title => 'T');
my $path = "/Users/$ada->{id}";
my $eve = $acme->create(userName => 'eve@acme.test');
my $search = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

$acme->scim(DELETE => "/Users/$eve->{id}");

my $page = qr/users of this page/;
my $many = qr/narrow the filter/;

# requests; the status, type and text of the answer when it takes too long

my @requests = (
    [ [ GET => '/Users' ], 503 ],
    [ [ GET => '/Users?startIndex=10002' ], 503, undef, $page ],
    [ [ GET => '/Users?sortBy=userName' ], 503, undef, $page ],
    [ [ GET => '/Users?filter=active+eq+true' ], 503, undef, $page ],
    [ [ GET => '/Users?filter=active+eq+false' ], 503, undef, $page ],
    [ [ GET => '/Users?filter=title+co+%22t%22' ], 400, 'tooMany', $many ],
    [ [ GET => '/Users?filter=userName+sw+%22a%22&sortBy=id' ], 400, 'tooMany', $many ],
    [ [ GET => '/Users?sortBy=meta.lastModified' ], 400, 'tooMany', $many ],
    [ [ POST => '/.search', { schemas => [ $search ], filter => 'not (title pr)' } ],
      400, 'tooMany', $many ],
    [ [ GET => '/Users?filter=title+pr+and+userName+eq+%22ada@acme.test%22' ], 503 ],
    [ [ GET => '/Users?filter=userName+eq+%22ada@acme.test%22' ], 503 ],
    [ [ GET => '/Users?filter=externalId+eq+%22a%22' ], 503 ],
    [ [ GET => $path ], 503 ],
    [ [ PUT => $path, { schemas => [ U ], userName => 'ada@acme.test', title => 'x' } ], 503 ],
    [ [ PATCH => $path, patch_op({ op => 'replace', path => 'title', value => 'x' }) ], 503 ],
    [ [ DELETE => $path ], 503 ],
    [ [ POST => '/Users', { schemas => [ U ], userName => 'eve@acme.test' } ], 503 ],
    [ [ POST => '/Users', { schemas => [ U ], userName => 'new@acme.test' } ], 503 ],
);

# each once, and undone afterwards

for (@requests) {
    my ($request) = @$_;

    cmp_ok($acme->scim(@$request)->status, '<', 300, "@$request[0, 1]");
}

my $db = $s->connect_as('postgres');

$db->query('SET session_replication_role = replica');
$db->query("DELETE FROM svc.user_account WHERE user_name = 'new\@acme.test'");
$db->query("UPDATE svc.user_account SET scim_deleted = user_name LIKE 'eve%', title = 'T',"
           . " status = CASE WHEN user_name LIKE 'eve%' THEN 'deactivated' ELSE 'active' END");
$db->query('SELECT svc.user_recount()');

my $stored = $acme->stored;

$acme->new_events;
$db->query('BEGIN');
$db->query('LOCK TABLE svc.user_account');

for (@requests) {
    my ($request, $status, $type, $says) = @$_;
    my $r = $acme->scim(@$request);

    scim_error($r, $status, $type, "@$request[0, 1]: too long");
    like($r->json->{detail}, $says, 'says what to do') if $says;
    ok($r->header('retry-after'), 'and when to come again') if $status == 503;
}

$db->query('ROLLBACK');
is($acme->stored, $stored, 'nothing has changed');
is_deeply([ $acme->new_events ], [], 'no event');

for (@requests) {
    my ($request) = @$_;

    cmp_ok($acme->scim(@$request)->status, '<', 300, "@$request[0, 1]: again");
}

$s->done;
done_testing();
