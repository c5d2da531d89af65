#!/usr/bin/perl

# Filters in svc_scim_mode rfc: which users they find, and the errors of invalid
# ones.

use strict;
use warnings;
use utf8;

use Encode qw(encode_utf8);
use Test::More;

use SvcTest;
use SvcTest::Scim;

my $s = SvcTest->new(scim => { svc_scim_mode => 'rfc' })->start;
my $acme = $s->tenant('acme');
my $base = $s->base_url;


sub ask {
    my ($filter) = @_;

    my $text = join '', map { sprintf '%%%02X', ord } split //, encode_utf8($filter);

    return $acme->scim(GET => "/Users?filter=$text");
}


# Tests whom a filter finds, by the first letters of their names in the order of
# creation.

sub finds {
    my ($filter, $who) = @_;

    my $r = ask($filter);
    my $found = $r->{status} == 200
                ? join '', map { substr lc $_->{userName}, 0, 1 } @{ $r->json->{Resources} }
                : "$r->{status} $r->{body}";

    is($found, $who, encode_utf8("$filter: " . ($who || 'nobody')));
    is($r->json->{totalResults}, length $who, 'and says so') if $r->{status} == 200;
}


sub refused {
    my ($filter, $at, $why) = @_;

    my $r = ask($filter);

    scim_error($r, 400, 'invalidFilter', encode_utf8($filter));
    like($r->json->{detail}, qr/at character \Q$at\E: .*$why/, "at character $at");
}


# --- users: a, b, c, d -------------------------------------------------------------

my %id;

for my $user (
    { userName => 'Ada@acme.test', externalId => 'E-1', displayName => 'Ada "A" Lovelace',
      name => { givenName => 'Ada', familyName => 'Lovelace' }, title => 'Analyst',
      locale => 'en-GB', E() => { department => 'Engines' } },
    { userName => 'bob@acme.test', externalId => 'e-2', active => false,
      name => { familyName => "O'Hara" }, title => '100%_\\' },
    { userName => 'cid@Globex.test', displayName => 'Zoë Ж', locale => 'fr' },
    { userName => 'dan@acme.test' })
{
    my $r = $acme->scim(POST => '/Users', { schemas => [ U ], %$user });

    $id{ substr lc $user->{userName}, 0, 1 } = $r->json->{id};
    $s->sql("UPDATE svc.user_account SET created_at = '2026-01-01'::timestamptz"
            . " + interval '1 day' * " . keys(%id)
            . ", updated_at = '2026-02-01T00:00:00.123Z' WHERE id = '" . $r->json->{id} . "'");
}

my @rows = (

    # each operator, and whether it regards case

    [ 'userName eq "ADA@acme.test"', 'a' ], [ 'userName ne "ADA@acme.test"', 'bcd' ],
    [ 'userName co "ACME"', 'abd' ], [ 'userName sw "B"', 'b' ],
    [ 'userName ew ".TEST"', 'abcd' ], [ 'userName gt "bob@acme.test"', 'cd' ],
    [ 'userName ge "BOB@acme.test"', 'bcd' ], [ 'userName lt "BOB@ACME.TEST"', 'a' ],
    [ 'userName le "bob@acme.test"', 'ab' ], [ 'userName pr', 'abcd' ],
    [ 'USERNAME EQ "ada@acme.test"', 'a' ], [ 'userName co ""', 'abcd' ],
    [ 'userName eq ""', '' ], [ 'userName sw ""', 'abcd' ],

    [ 'externalId eq "E-1"', 'a' ], [ 'externalId eq "e-1"', '' ],
    [ 'externalId sw "e"', 'b' ], [ 'externalId co "-"', 'ab' ],
    [ 'externalId gt "E-1"', 'b' ], [ 'externalId pr', 'ab' ],

    # an absent attribute is not equal

    [ 'externalId ne "E-1"', 'bcd' ], [ 'externalId ne null', 'ab' ],
    [ 'externalId eq null', 'cd' ], [ 'not (externalId eq "E-1")', 'bcd' ],
    [ 'title ne "analyst"', 'bcd' ], [ 'not (title co "z")', 'abcd' ],
    [ 'title lt "zzz"', 'ab' ], [ 'not (title lt "zzz")', 'cd' ],
    [ 'userName eq null', '' ], [ 'userName ne null', 'abcd' ],

    # an attribute that no user has

    [ 'nickName eq "x"', '' ], [ 'nickName ne "x"', '' ], [ 'nickName pr', '' ],
    [ 'nickName eq null', '' ], [ 'nickName gt 5', '' ], [ 'not (nickName pr)', 'abcd' ],
    [ 'nickName eq "x" or userName sw "a"', 'a' ],
    [ 'nickName eq "x" and userName sw "a"', '' ],
    [ 'urn:ietf:params:scim:schemas:core:2.0:Group:displayName pr', '' ],
    [ 'department pr', '' ], [ 'name.formatted pr', '' ], [ 'name.givenName.x eq "y"', undef ],
    [ 'groups[value eq "x"]', '' ], [ 'not (groups[value eq "x"])', 'abcd' ],
    [ 'groups[not (value eq "x")]', '' ], [ 'emails.display pr', '' ],

    # values that are stored

    [ 'name.givenName eq "ada"', 'a' ], [ 'name.familyName co "\'h"', 'b' ],
    [ 'name pr', 'ab' ], [ 'displayName co "\\"A\\""', 'a' ],
    [ 'displayName eq "ZOË ж"', 'c' ], [ 'displayName sw "Zo\\u00eb \\u0416"', 'c' ],
    [ 'title eq "100%_\\\\"', 'b' ], [ 'title co "%"', 'b' ], [ 'title co "_"', 'b' ],
    [ 'title sw "1_"', '' ], [ 'title ew "\\\\"', 'b' ], [ 'locale eq "EN-gb"', 'a' ],
    [ E . ':department eq "engines"', 'a' ], [ E . ' pr', 'a' ], [ U . ' pr', 'abcd' ],
    [ U . ':userName sw "c"', 'c' ], [ uc(U) . ':name.familyName pr', 'ab' ],

    [ 'active eq true', 'acd' ], [ 'active eq false', 'b' ], [ 'active ne true', 'b' ],
    [ 'active eq "True"', 'acd' ], [ 'active eq FALSE', 'b' ], [ 'active pr', 'abcd' ],
    [ 'not (active eq true)', 'b' ], [ 'active eq null', '' ],

    [ "id eq \"$id{b}\"", 'b' ], [ "id ne \"$id{b}\"", 'acd' ],
    [ 'id eq "' . uc($id{b}) . '"', $id{b} eq uc $id{b} ? 'b' : '' ],
    [ 'id eq "x"', '' ], [ 'id ne "x"', 'abcd' ], [ 'id ge "0"', 'abcd' ],
    [ 'id sw "' . substr($id{c}, 0, 30) . '" and displayName pr', 'c' ],

    [ 'meta.created gt "2026-01-03T00:00:00Z"', 'cd' ],
    [ 'meta.created ge "2026-01-03T01:00:00+01:00"', 'bcd' ],
    [ 'meta.created eq "2026-01-03T00:00:00.000Z"', 'b' ],
    [ 'meta.created ne "2026-01-03T00:00:00Z"', 'acd' ],
    [ 'meta.lastModified eq "2026-02-01T00:00:00.123Z"', 'abcd' ],
    [ 'meta.lastModified lt "2026-02-01T00:00:00.123Z"', '' ],
    [ 'meta.lastModified le "2026-02-01T00:00:00.123Z"', 'abcd' ],
    [ 'meta pr', 'abcd' ], [ 'meta.resourceType eq "User"', 'abcd' ],
    [ 'meta.resourceType eq "user"', '' ], [ 'meta.resourceType eq "Group"', '' ],
    [ "meta.location eq \"$base/scim/v2/Users/$id{d}\"", 'd' ],
    [ "meta.location sw \"$base/scim/v2/Users/\"", 'abcd' ],
    [ 'schemas eq "' . E . '"', 'a' ], [ 'schemas eq "' . U . '"', 'abcd' ],
    [ 'schemas ne "' . E . '"', 'bcd' ], [ 'schemas co "enterprise"', 'a' ],

    # e-mail addresses: each user has one

    [ 'emails eq "ada@acme.test"', 'a' ], [ 'emails.value co "globex"', 'c' ],
    [ 'emails pr', 'abcd' ], [ 'emails.type eq "WORK"', 'abcd' ],
    [ 'emails.type eq "home"', '' ], [ 'emails.primary eq true', 'abcd' ],
    [ 'emails[type eq "work"]', 'abcd' ], [ 'emails[type eq "home"]', '' ],
    [ 'emails[type eq "work" and value co "@acme"]', 'abd' ],
    [ 'emails[type eq "work"].value eq "Dan@acme.test"', 'd' ],
    [ 'emails[type eq "home"].value eq "dan@acme.test"', '' ],
    [ 'emails[value sw "a" or value sw "b"] and active eq true', 'a' ],
    [ 'emails[primary eq true and not (value co "acme")]', 'c' ],
    [ U . ':emails[type eq "work"].value sw "b"', 'b' ], [ 'emails[display pr]', '' ],
    [ 'emails[ type eq "work" ].value pr', 'abcd' ],

    # precedence

    [ 'userName sw "a" or userName sw "b" and active eq true', 'a' ],
    [ '(userName sw "a" or userName sw "b") and active eq true', 'a' ],
    [ 'active eq false and userName sw "b" or userName sw "c"', 'bc' ],
    [ 'not (userName sw "a") and not(userName sw "b")', 'cd' ],
    [ 'not (userName sw "a" or userName sw "b")', 'cd' ],
    [ '((((userName sw "a"))))', 'a' ], [ '  userName   sw   "a"  ', 'a' ],
    [ 'NOT (userName sw "a") AND title PR Or userName eq "dan@acme.test"', 'bd' ],
    [ 'not (not (userName sw "a"))', 'a' ],
    [ join(' or ', map { "userName eq \"$_\@acme.test\"" } 'a' .. 'z', 'ada', 'bob'), 'ab' ],
);

defined $_->[1] ? finds(@$_) : refused($_->[0], 1, 'attribute') for @rows;


# --- what is not valid --------------------------------------------------------------

refused('', 1, 'comparison');
refused('   ', 4, 'comparison');
refused('userName', 9, 'operator');
refused('userName is "x"', 10, 'not an operator');
refused('userName eq', 12, 'blank');
refused('meta.created gt "2026-01-01 00:00:01Z"', 1, 'time');
refused('userName eq x', 13, 'string');
refused('userName eq "x', 13, 'string');
refused('userName eq "\\x"', 13, 'string');
refused('userName eq "x" and', 17, 'blanks');
refused('userName eq "x" userName eq "y"', 17, '"and" or "or"');
refused('userName eq "x"and userName eq "y"', 16, 'blanks');
refused('(userName eq "x"', 17, '"\\)"');
refused('userName eq "x")', 16, 'nothing more');
refused('userName eq "Ж" )', 17, 'nothing more');
refused('not userName eq "x"', 5, 'not an operator');
refused('emails[type eq "work"', 22, '"\\]"');
refused('emails[type eq "work"]. eq "x"', 24, 'sub-attribute');
refused('1x eq "y"', 1, 'attribute');
refused('userName eq 01', 13, 'number');

refused('active gt true', 1, 'boolean');
refused('active co "t"', 1, 'boolean');
refused('active eq "yes"', 1, 'boolean');
refused('active eq 1', 1, 'boolean');
refused('title pr and active lt false', 14, 'boolean');
refused('title eq 5', 1, 'string');
refused('title eq true', 1, 'string');
refused('title gt null', 1, 'null');
refused('name eq "x"', 1, 'sub-attributes');
refused('meta eq "x"', 1, 'sub-attributes');
refused('meta.created gt "yesterday"', 1, 'time');
refused('meta.created co "2026"', 1, 'time');
refused('meta.created gt 5', 1, 'string');
refused('name[givenName eq "x"]', 1, 'brackets');
refused('title[value eq "x"]', 1, 'brackets');
refused('emails[primary gt true]', 8, 'boolean');
refused('emails[type eq "work"].value eq 5', 1, 'string');

my $deep = '(' x 32 . 'title pr' . ')' x 32;

finds($deep, 'ab');
refused("($deep)", 33, 'parentheses');
finds(join(' and ', ('title pr') x 64), 'ab');
refused(join(' and ', ('title pr') x 65), 841, 'comparisons');

scim_error($acme->scim(POST => '/Users/.search',
    { schemas => [ 'urn:ietf:params:scim:api:messages:2.0:SearchRequest' ],
      filter => 'title eq "' . 'x' x 8192 . '"' }), 400, 'invalidFilter', 'too long');


# --- what identity providers send ---------------------------------------------------

is($acme->scim(GET => '/Users?filter=userName+eq+%22ada@acme.test%22')->json->{totalResults}, 1,
   'blanks as plus signs');
is($acme->scim(GET => '/Users?filter=emails+eq+%22ada@acme.test%22')->json->{totalResults}, 1,
   'by e-mail address');


# --- the default mode stays ---------------------------------------------------------

my $spec = SvcTest->new->start;
my $plain = $spec->tenant('acme');

$plain->create(userName => "$_\@acme.test") for qw(ada bob);

is($plain->scim(GET => '/Users?filter=userName+sw+%22a%22')->json->{totalResults}, 2,
   'without the directive another filter is still none');
is($plain->scim(GET => '/Users?count=1&startIndex=2')->json->{startIndex}, 1,
   'and there are no pages');
is($plain->scim(POST => '/Users/.search', { schemas => [ U ] })->{status}, 405,
   'nor searches');

$spec->done;
$s->done;
done_testing();
