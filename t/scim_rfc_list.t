#!/usr/bin/perl

# Lists in svc_scim_mode rfc: pages, order, searches by POST, and how many users
# a filter may look at.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Scim;

use constant SEARCH => 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

my $s = SvcTest->new(scim => { svc_scim_mode => 'rfc' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my ($r, $list);


# Returns what a list says: its numbers, and the names of its users without the
# domain.

sub page {
    my ($query, $tenant) = @_;

    my $r = ($tenant // $acme)->scim(GET => "/Users$query");

    return said($r);
}


sub said {
    my ($r) = @_;

    return "$r->{status} " . $r->{body} if $r->{status} != 200;

    my $l = $r->json;

    return join ' ', @$l{qw(totalResults startIndex itemsPerPage)},
           map { $_->{userName} =~ s/\@.*//r } @{ $l->{Resources} };
}


sub search {
    my ($body, $path) = @_;

    return $acme->scim(POST => $path // '/Users/.search',
                       { schemas => [ SEARCH ], %$body });
}


is(page(''), '0 1 0', 'nobody');
is(page('?filter=userName+eq+%22nobody%22'), '0 1 0', 'nobody of this name');

# five users, three of whom were created at the same time

$s->sql(<<"EOT") for $acme->{id};
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, created_at, updated_at,
                              status, title)
SELECT '$_', ('00000000-0000-4000-8000-00000000000' || i)::uuid, n || '\@acme.test', e,
       '2026-01-01'::timestamptz + c * interval '1 day',
       '2026-03-01'::timestamptz - i * interval '1 day', s, 'T'
FROM (VALUES (1, 'eve', 'B', 1, 'active'), (2, 'Bob', 'a', 1, 'suspended'),
             (3, 'dan', NULL, 0, 'active'), (4, 'ada', 'C', 1, 'deactivated'),
             (5, 'cid', NULL, 2, 'active')) v (i, n, e, c, s)
EOT


# --- pages -----------------------------------------------------------------------

is(page(''), '5 1 5 dan eve Bob ada cid', 'by creation, then id');
is(page('?count=2'), '5 1 2 dan eve', 'a page');
is(page('?startIndex=3&count=2'), '5 3 2 Bob ada', 'the next one');
is(page('?startIndex=5&count=2'), '5 5 1 cid', 'the last one');
is(page('?startIndex=6&count=2'), '5 6 0', 'beyond the end');
is(page('?startIndex=99999999999999999999'), '5 2147483647 0', 'far beyond');
is(page('?startIndex=0&count=1'), '5 1 1 dan', 'from 0 is from 1');
is(page('?startIndex=-7&count=1'), '5 1 1 dan', 'from less');
is(page('?count=0'), '5 1 0', 'count 0 counts');
is(page('?count=-3'), '5 1 0', 'a negative one as well');
is(page('?count=1000'), '5 1 5 dan eve Bob ada cid', 'a great one');

for my $filter ('active+eq+true', 'title+eq+%22t%22', 'active+eq+false') {
    my @all = split ' ', page("?filter=$filter");
    my $n = $all[0];

    is($all[2], $n, "$filter: all $n");
    is(join(' ', map { (split ' ', page("?filter=$filter&count=1&startIndex=$_"))[3] }
                 1 .. $n),
       "@all[3 .. $#all]", 'page by page the same');
    is(page("?filter=$filter&startIndex=" . ($n + 1)), "$n " . ($n + 1) . ' 0',
       'beyond the end');
    is(page("?filter=$filter&count=0"), "$n 1 0", 'counted only');
}

is(page('?filter=active+eq+false'), '2 1 2 Bob ada', 'two states in one order');
is(page('?filter=active+eq+false&startIndex=99999999999999999999'), '2 2147483647 0',
   'far beyond those');

is(page('?filter=userName+eq+%22ADA%40acme.test%22'), '1 1 1 ada', 'by name');
is(page('?filter=userName+eq+%22ada%40acme.test%22&startIndex=2'), '1 2 0',
   'and behind it');
is(page('?filter=userName+eq+%22ada%40acme.test%22&count=0'), '1 1 0', 'counted');
is(page('?filter=externalId+eq+%22a%22'), '1 1 1 Bob', 'by external id');
is(page('?filter=externalId+eq+%22A%22'), '0 1 0', 'exactly');

for my $query (qw(startIndex=a startIndex=1.5 count=x count= startIndex=- count=1e3)) {
    scim_error($acme->scim(GET => "/Users?$query"), 400, 'invalidValue', $query);
}

scim_error($acme->scim(GET => '/Users?count=1&count=2'), 400, 'invalidValue', 'twice');
scim_error($acme->scim(GET => '/Users?filter=active+pr&filter=active+pr'), 400,
           'invalidFilter', 'a filter twice');


# --- order -----------------------------------------------------------------------

my %order = (
    'userName' => 'ada Bob cid dan eve',
    'emails' => 'ada Bob cid dan eve',
    'emails.value' => 'ada Bob cid dan eve',
    'USERNAME' => 'ada Bob cid dan eve',
    U . ':userName' => 'ada Bob cid dan eve',
    'id' => 'eve Bob dan ada cid',
    'externalId' => 'eve ada Bob dan cid',
    'meta.created' => 'dan eve Bob ada cid',
    'meta.lastModified' => 'cid ada dan Bob eve',
);

for my $by (sort keys %order) {
    my $all = $order{$by};

    is(page("?sortBy=$by"), "5 1 5 $all", "by $by");
    is(page("?sortBy=$by&sortOrder=ascending&startIndex=2&count=2"),
       '5 2 2 ' . join(' ', (split ' ', $all)[1, 2]), 'a page of them');
    is(page("?sortBy=$by&filter=title+pr+and+active+eq+true"),
       '3 1 3 ' . join(' ', grep { /^(?:cid|dan|eve)$/ } split ' ', $all),
       'with a filter');
    is(page("?sortBy=$by&filter=active+eq+true"),
       '3 1 3 ' . join(' ', grep { /^(?:cid|dan|eve)$/ } split ' ', $all),
       'with one that is prepared');
}

is(page('?sortBy=userName&sortOrder=descending'), '5 1 5 eve dan cid Bob ada', 'descending');
is(page('?sortBy=id&sortOrder=Descending'), '5 1 5 cid ada dan Bob eve', 'ids');
is(page('?sortBy=externalId&sortOrder=descending'), '5 1 5 dan cid Bob ada eve',
   'who has none comes first then');
is(page('?sortBy=meta.lastModified&sortOrder=descending'), '5 1 5 eve Bob dan ada cid',
   'changes');
is(page('?sortOrder=descending'), '5 1 5 dan eve Bob ada cid', 'an order of nothing');
is(page('?sortBy=userName&filter=userName+eq+%22eve%40acme.test%22'), '1 1 1 eve', 'of one');

for my $query (qw(sortBy=title sortBy=nickName sortBy=name sortBy=%22 sortBy=active
                  sortBy=userName&sortOrder=up))
{
    scim_error($acme->scim(GET => "/Users?$query"), 400, 'invalidValue', $query);
}

like($acme->scim(GET => '/Users?sortBy=title')->json->{detail}, qr/userName.*externalId/,
     'says by what');


# --- searches --------------------------------------------------------------------

for my $path ('/.search', '/Users/.search') {
    is(said(search({}, $path)), '5 1 5 dan eve Bob ada cid', "$path: all");
    is(said(search({ filter => 'active eq true', startIndex => 2, count => 1 }, $path)),
       '3 2 1 eve', 'a page of some');
    is(said(search({ sortBy => 'userName', sortOrder => 'descending', count => 2 }, $path)),
       '5 1 2 eve dan', 'in an order');
    is(said(search({ FILTER => 'userName sw "ad"', Count => 7 }, $path)), '1 1 1 ada',
       'members in any case');
}

$r = search({ attributes => [ 'userName', 'title' ], count => 1 });
is(join(' ', sort keys %{ $r->json->{Resources}[0] }), 'id schemas title userName',
   'attributes');

$r = search({ excludedAttributes => [ 'emails', 'meta' ], count => 1 });
is(join(' ', sort keys %{ $r->json->{Resources}[0] }), 'active id schemas title userName',
   'but some');

$r = $acme->scim(GET => '/Users?attributes=userName,title&count=1&filter=title+pr');
is(join(' ', sort keys %{ $r->json->{Resources}[0] }), 'id schemas title userName',
   'the same by GET');

is(said(search({ filter => undef, count => undef, other => [ 1 ] })),
   '5 1 5 dan eve Bob ada cid', 'null is absent, others are ignored');
is(said(search({ startIndex => -3, count => -1 })), '5 1 0', 'the same bounds');
is(said(search({ startIndex => 1e30 })), '5 2147483647 0', 'no end');

scim_error($acme->scim(POST => '/Users/.search', $_->[0]), 400, $_->[1], $_->[2])
    for [ {}, 'invalidSyntax', 'no schemas' ],
        [ { schemas => [ U ] }, 'invalidSyntax', 'of something else' ],
        [ { schemas => SEARCH }, 'invalidSyntax', 'no array' ],
        [ { schemas => [ SEARCH ], filter => 7 }, 'invalidSyntax', 'a filter that is none' ],
        [ { schemas => [ SEARCH ], count => 1.5 }, 'invalidValue', 'a half' ],
        [ { schemas => [ SEARCH ], count => '3' }, 'invalidValue', 'a number as a text' ],
        [ { schemas => [ SEARCH ], startIndex => [] }, 'invalidValue', 'no number' ],
        [ { schemas => [ SEARCH ], attributes => 'id' }, 'invalidSyntax', 'no names' ],
        [ { schemas => [ SEARCH ], attributes => [ 1 ] }, 'invalidSyntax', 'no name' ],
        [ { schemas => [ SEARCH ], filter => 'active gt true' }, 'invalidFilter', 'a filter' ],
        [ { schemas => [ SEARCH ], filter => '' }, 'invalidFilter', 'an empty one' ],
        [ { schemas => [ SEARCH ], sortBy => 'title' }, 'invalidValue', 'an order' ],
        [ { schemas => [ SEARCH ], count => 1, Count => 2 }, 'invalidSyntax', 'twice' ];

scim_error($acme->scim(POST => '/Users/.search', '[]'), 400, 'invalidSyntax', 'an array');


# --- other tenants, and deleted users --------------------------------------------

is(page('', $globex), '0 1 0', 'of another tenant nobody');
is(page('?filter=title+pr', $globex), '0 1 0', 'with a filter');
is(page('?sortBy=userName', $globex), '0 1 0', 'in an order');
is(page('?filter=id+eq+%2200000000-0000-4000-8000-000000000001%22', $globex), '0 1 0',
   'by id');

$s->sql("UPDATE svc.user_account SET scim_deleted = true, status = 'deactivated'"
        . " WHERE user_name LIKE 'dan%'");

is(page(''), '4 1 4 eve Bob ada cid', 'who is deleted is not there');
is(page('?filter=active+eq+false'), '2 1 2 Bob ada', 'nor inactive');
is(page('?filter=active+eq+true'), '2 1 2 eve cid', 'nor active');
is(page('?filter=title+pr'), '4 1 4 eve Bob ada cid', 'with a filter');
is(page('?filter=active+eq+false&sortBy=id'), '2 1 2 Bob ada', 'in an order');
is(page('?sortBy=userName'), '4 1 4 ada Bob cid eve', 'all in an order');
is(page('?sortBy=meta.lastModified'), '4 1 4 cid ada Bob eve', 'in another one');
is(page('?filter=userName+eq+%22dan%40acme.test%22'), '0 1 0', 'by name');
is(page('?filter=id+eq+%2200000000-0000-4000-8000-000000000003%22'), '0 1 0', 'by id');


# --- too many --------------------------------------------------------------------

my $db = $s->connect_as('postgres');

$db->query('SET session_replication_role = replica');
$db->query(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, created_at, title)
SELECT '$globex->{id}', gen_random_uuid(), 'u' || i || '\@globex.test', 'e' || i,
       '2026-01-01'::timestamptz + i * interval '1 second', 'T'
FROM generate_series(1, 100001) i
EOT
$db->query('SELECT svc.user_recount()');

sub globex {
    return $globex->scim(GET => '/Users?' . shift);
}

is(said(globex('count=2')), '100001 1 2 u1 u2', 'a great tenant');
is(said(globex('count=2&startIndex=100001')), '100001 100001 1 u100001', 'its end');
is(said(globex('filter=active+eq+true&count=1&startIndex=100001')),
   '100001 100001 1 u100001', 'of who is active');
is(said(globex('sortBy=userName&count=2')), '100001 1 2 u100000 u100001', 'in an order');
is(said(globex('sortBy=meta.created&sortOrder=descending&count=2')),
   '100001 1 2 u100001 u100000', 'the newest first');

for my $query ('filter=title+eq+%22t%22', 'filter=not+(userName+eq+%22u1%22)',
               'sortBy=meta.lastModified', 'filter=userName+sw+%22u%22',
               'filter=active+eq+true&sortBy=userName',
               'filter=userName+eq+%22u1%40globex.test%22+or+title+pr')
{
    scim_error(globex($query), 400, 'tooMany', "too many: $query");
}

is(said(globex('filter=userName+sw+%22u10000%22')), '3 1 3 u10000 u100000 u100001',
   'a prefix of a few');
is(said(globex('filter=title+pr+and+meta.created+lt+%222026-01-01T00:00:03Z%22')),
   '2 1 2 u1 u2', 'a time of a few');
is(said(globex('filter=title+co+%22t%22+and+externalId+eq+%22e7%22')), '1 1 1 u7', 'a key');

$db->query("DELETE FROM svc.user_account WHERE user_name = 'u1\@globex.test'");
$db->query('SELECT svc.user_recount()');

is(said(globex('filter=title+eq+%22t%22&count=1')), '100000 1 1 u2', 'no longer too many');

$s->done;
done_testing();
