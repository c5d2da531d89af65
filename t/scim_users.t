#!/usr/bin/perl

# Users: what is stored, shown, listed and found.

use strict;
use warnings;
use utf8;

use Encode qw(encode_utf8);
use Test::More;
use Time::HiRes ();

use SvcTest;
use SvcTest::Process qw(wait_for);
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $base = $s->base_url;
my $none = '00000000-0000-4000-8000-000000000000';
my ($r, $user, $id);


# --- POST and GET -----------------------------------------------------------

my $full = {
    schemas => [ U, E ], userName => 'Ada.Lovelace@Acme.test',
    externalId => 'ext-Ada', active => true,
    name => { givenName => 'Ada', familyName => 'Lovelace',
              formatted => 'Countess of Lovelace' },
    displayName => 'Ada L.', title => 'Analyst', locale => 'en-GB',
    emails => [ { primary => true, type => 'work',
                  value => 'other@acme.test' } ],
    E() => { department => 'Engines', employeeNumber => '1' },
};

my %shown = (
    userName => 'Ada.Lovelace@Acme.test', externalId => 'ext-Ada',
    name => { givenName => 'Ada', familyName => 'Lovelace' },
    displayName => 'Ada L.', title => 'Analyst', locale => 'en-GB',
    department => 'Engines',
);

$r = $acme->scim(POST => '/Users', $full);

scim_ok($r, 201, 'create');
scim_user($r, $base, \%shown, 'every mapped attribute is there');
is($r->header('location'), $r->json->{meta}{location},
   'Location is meta.location');

$user = $r->json;
$id = $user->{id};

is($user->{meta}{created}, $user->{meta}{lastModified},
   'created and lastModified are the same at first');

my ($stored) = $s->sql(<<"EOT");
SELECT user_name, external_id, status, email_verified, source, first_name,
       last_name, display_name, title, department, locale
FROM svc.user_account WHERE tenant_id = '$acme->{id}' AND id = '$id'
EOT

is_deeply($stored, [ 'Ada.Lovelace@Acme.test', 'ext-Ada', 'active', 't',
                     'scim', 'Ada', 'Lovelace', 'Ada L.', 'Analyst', 'Engines',
                     'en-GB' ],
          'stored where it belongs, the e-mail verified');

is($s->sql("SELECT count(*) FROM information_schema.columns"
           . " WHERE table_schema = 'svc' AND table_name = 'user_account'"
           . " AND column_name LIKE '%password%'"),
   0, 'there is no place for a password');

$r = $acme->scim(GET => "/Users/$id");
scim_ok($r, 200, 'read');
is_deeply($r->json, $user, 'what was created');

scim_error($acme->scim(GET => "/Users/$none"), 404, undef, 'read nobody');

$user = $acme->create(userName => 'least@acme.test');
scim_user($user, $base, { userName => 'least@acme.test' },
          'the least that a user has');

$r = $acme->scim(POST => '/Users/', { userName => 'slash@acme.test' });
scim_ok($r, 201, 'create at /Users/');
scim_ok($acme->scim(GET => '/Users/?count=1'), 200, 'list at /Users/');


# --- what a new user may look like ------------------------------------------

my $long_local = 'l' x (254 - length '@acme.test');

for my $row (
    [ 'no active',              {}, { active => true } ],
    [ 'active true',            { active => true }, { active => true } ],
    [ 'active false',           { active => false }, { active => false } ],
    [ 'active "True"',          { active => 'True' }, { active => true } ],
    [ 'active "False"',         { active => 'False' }, { active => false } ],
    [ 'active "fALSE"',         { active => 'fALSE' }, { active => false } ],
    [ 'name.formatted alone',   { name => { formatted => 'F' } },
                                { displayName => 'F' } ],
    [ 'displayName wins',       { name => { formatted => 'F' },
                                  displayName => 'D' },
                                { displayName => 'D' } ],
    [ 'a given name alone',     { name => { givenName => 'G' } },
                                { name => { givenName => 'G' } } ],
    [ 'null is not there',      { title => undef, name => undef,
                                  externalId => undef, E() => undef,
                                  displayName => undef },
                                {} ],
    [ 'null inside',            { name => { givenName => undef,
                                            familyName => 'F' },
                                  E() => { department => undef } },
                                { name => { familyName => 'F' } } ],
    [ '"" and [] are not there', { title => '', locale => [],
                                   externalId => '', displayName => '',
                                   name => { givenName => '' } },
                                {} ],
    [ 'again no externalId',    { externalId => '' }, {} ],
    [ 'unknown attributes',     { password => 'pa55-w0rd-marker',
                                  groups => [], roles => [],
                                  nickName => 'N', addresses => [ undef ],
                                  phoneNumbers => [ { value => '1' } ],
                                  id => $none,
                                  meta => { resourceType => 'User',
                                            location => 'x' },
                                  'urn:x' => { a => 1 } },
                                {} ],
    [ 'no schemas',             {}, {} ],
    [ 'schemas of SCIM 1',      { schemas => [ 'urn:scim:schemas:core:1.0' ] },
                                {} ],
    [ 'names in any case',      { DISPLAYNAME => 'D', Title => 'T',
                                  NAME => { GIVENNAME => 'G' } },
                                { displayName => 'D', title => 'T',
                                  name => { givenName => 'G' } } ],
    [ 'UTF-8',                  { displayName => 'Zoë 李 🦀' },
                                { displayName => 'Zoë 李 🦀' } ],
    [ 'characters to escape',   { title => "a\"b\\c/d\te\x{7f}\x{2028}<" },
                                { title => "a\"b\\c/d\te\x{7f}\x{2028}<" } ],
    [ 'spaces are kept',        { title => '  two  ' },
                                { title => '  two  ' } ],
    [ '1024 bytes',             { title => 'é' x 512 },
                                { title => 'é' x 512 } ],
    [ 'a department',           { E() => { department => 'D' } },
                                { department => 'D' } ])
{
    my ($name, $body, $expected) = @$row;
    my ($n) = $s->sql('SELECT count(*) FROM svc.user_account');
    my $user_name = "new$n->[0]\@acme.test";

    $r = $acme->scim(POST => '/Users', { userName => $user_name, %$body });

    scim_ok($r, 201, "$name: created") or next;
    scim_user($r, $base, { userName => $user_name, %$expected },
              "$name: shown");
    is_deeply($acme->scim(GET => '/Users/' . $r->json->{id})->json, $r->json,
              "$name: read back the same");
}

$s->secret('pa55-w0rd-marker');

# an escape in the input is that character; the output has it as UTF-8 or as an
# escape

$r = $acme->scim(POST => '/Users', '{"userName":"esc@acme.test","title":'
                                   . '"\ud83e\udd80\u00e9\/\u0041"}');
is($r->json->{title}, "\x{1f980}\x{e9}/A", 'escapes of the input');


# --- what is refused --------------------------------------------------------

my $before = $acme->stored;

for my $row (
    [ 'no userName',                {} ],
    [ 'userName null',              { userName => undef } ],
    [ 'userName empty',             { userName => '' } ],
    [ 'userName a number',          { userName => 1 } ],
    [ 'userName an array',          { userName => [ 'a@b' ] } ],
    [ 'userName no e-mail',         { userName => 'ada' } ],
    [ 'userName without a name',    { userName => '@acme.test' } ],
    [ 'userName without a domain',  { userName => 'ada@' } ],
    [ 'userName with two @',        { userName => 'a@b@c' } ],
    [ 'userName with a space',      { userName => 'a b@c' } ],
    [ 'userName with white space around', { userName => ' a@c ' } ],
    [ 'userName with a tab',        { userName => "a\tb\@c" } ],
    [ 'userName with a newline',    { userName => "ab\@c\n" } ],
    [ 'userName with a control',    { userName => "a\x{1}\@c" } ],
    [ 'userName with DEL',          { userName => "a\x{7f}\@c" } ],
    [ 'userName of 255 bytes',
      { userName => 'l' . $long_local . '@acme.test' } ],
    [ 'active a number',            { userName => 'x@y', active => 1 } ],
    [ 'active another word',        { userName => 'x@y', active => 'yes' } ],
    [ 'active an object',           { userName => 'x@y', active => {} } ],
    [ 'active an array',            { userName => 'x@y', active => [ true ] } ],
    [ 'a string of 1025 bytes',     { userName => 'x@y', title => 'é' x 512
                                                                  . 'x' } ],
    [ 'externalId of 1025 bytes',   { userName => 'x@y',
                                      externalId => 'x' x 1025 } ],
    [ 'title a number',             { userName => 'x@y', title => 5 } ],
    [ 'title a boolean',            { userName => 'x@y', title => true } ],
    [ 'displayName an object',      { userName => 'x@y',
                                      displayName => { a => 1 } } ],
    [ 'name a string',              { userName => 'x@y', name => 'Ada' } ],
    [ 'givenName an array',         { userName => 'x@y',
                                      name => { givenName => [ 1 ] } } ],
    [ 'the extension a string',     { userName => 'x@y', E() => 'D' } ],
    [ 'externalId a number',        { userName => 'x@y', externalId => 7 } ])
{
    my ($name, $body) = @$row;

    scim_error($acme->scim(POST => '/Users', $body), 400, 'invalidValue',
               "$name is refused");
}

is($acme->stored, $before, 'nothing of it was stored');

scim_ok($acme->scim(POST => '/Users',
                    { userName => "$long_local\@acme.test" }),
        201, 'userName of 254 bytes');


# --- uniqueness -------------------------------------------------------------

$before = $acme->stored;

for my $row (
    [ 'userName',                  { userName => 'Ada.Lovelace@Acme.test' } ],
    [ 'userName in another case',  { userName => 'ADA.lovelace@ACME.test' } ],
    [ 'externalId',                { userName => 'x@acme.test',
                                     externalId => 'ext-Ada' } ],
    [ 'both',                      { userName => 'least@acme.test',
                                     externalId => 'ext-Ada' } ])
{
    my ($name, $body) = @$row;

    scim_error($acme->scim(POST => '/Users', $body), 409, 'uniqueness',
               "$name exists");
}

is($acme->stored, $before, 'nothing of it was stored');

scim_ok($acme->scim(POST => '/Users', { userName => 'case@acme.test',
                                        externalId => 'EXT-ada' }),
        201, 'externalId is case-exact');
scim_ok($s->tenant('globex')->scim(POST => '/Users', $full), 201,
        'the same user in another tenant');


# --- PUT --------------------------------------------------------------------

$user = $acme->create(%$full, userName => 'put@acme.test',
                      externalId => 'put');
$id = $user->{id};

sub put {
    my ($body, $expected, $name) = @_;

    my $answer = $acme->scim(PUT => "/Users/$id", $body);

    scim_ok($answer, 200, "PUT: $name") or return;
    scim_user($answer, $base, { userName => 'put@acme.test', %$expected },
              "PUT: $name: shown");
    is_deeply($acme->scim(GET => "/Users/$id")->json, $answer->json,
              "PUT: $name: read back the same");
}

put({ displayName => 'D' }, { displayName => 'D' },
    'what is left out is cleared, and active is kept');
put({ userName => 'renamed@acme.test', title => 'T' }, { title => 'T' },
    'userName stays');
put({ active => false, externalId => 'put' },
    { active => false, externalId => 'put' }, 'deactivates');
put({ title => 'T' }, { active => false, title => 'T' },
    'active stays false when it is left out');
put({ active => 'TRUE' }, {}, 'reactivates');
put({ %$full, externalId => 'put' },
    { %shown, userName => 'put@acme.test', externalId => 'put' },
    'everything');
put({ %{ $acme->scim(GET => "/Users/$id")->json } },
    { %shown, userName => 'put@acme.test', externalId => 'put' },
    'what was read');
put({ name => { formatted => 'F' } }, { displayName => 'F' },
    'name.formatted is the display name');
put({ name => { formatted => 'F' }, displayName => undef }, {},
    'displayName null is a displayName');
put({}, {}, 'nothing at all');
put({ id => $none, meta => {}, groups => [], password => 'x', roles => undef,
      emails => 'x', schemas => 5, active => false },
    { active => false }, 'what is ignored does not stop active');
put({ active => true }, {}, 'active again');

scim_ok($acme->scim(PUT => "/Users/$id/", {}), 200,
        'PUT with a trailing slash');

$before = $acme->stored;

for my $row (
    [ 'active a number',  400, 'invalidValue', { active => 0 } ],
    [ 'title too long',   400, 'invalidValue', { title => 'x' x 1025,
                                                 active => false } ],
    [ 'name an array',    400, 'invalidValue', { name => [ 1 ] } ],
    [ 'externalId taken', 409, 'uniqueness',   { externalId => 'ext-Ada',
                                                 active => false } ])
{
    my ($name, $status, $type, $body) = @$row;

    scim_error($acme->scim(PUT => "/Users/$id", $body), $status, $type,
               "PUT: $name");
}

scim_error($acme->scim(PUT => "/Users/$none", $full), 404, undef,
           'PUT of nobody');
scim_error($acme->scim(PUT => "/Users/$none", { externalId => 'ext-Ada' }),
           404, undef, 'PUT of nobody with an externalId that is taken');
is($acme->stored, $before, 'nothing of it was stored');


# --- DELETE -----------------------------------------------------------------

scim_ok($acme->scim(DELETE => "/Users/$id"), 204, 'DELETE');
$r = $acme->scim(GET => "/Users/$id");
scim_ok($r, 200, 'the user is still there');
ok(!$r->json->{active}, 'deactivated');
scim_ok($acme->scim(DELETE => "/Users/$id"), 204, 'DELETE again');
is_deeply($acme->scim(GET => "/Users/$id")->json, $r->json,
          'DELETE again changes nothing');
scim_error($acme->scim(DELETE => "/Users/$none"), 404, undef,
           'DELETE of nobody');
scim_error($acme->scim(POST => '/Users', { userName => 'put@acme.test' }),
           409, 'uniqueness', 'the name of a deactivated user stays taken');
scim_ok($acme->scim(DELETE => "/Users/$id", '{"ignored":1}'), 204,
        'DELETE with a body');


# --- lastModified -----------------------------------------------------------

$user = $acme->create(userName => 'time@acme.test', displayName => 'D',
                      externalId => 'time', E() => { department => 'E' });
$id = $user->{id};

# times have milliseconds: waits so long that a change would show

sub later {
    my $then = $s->sql("SELECT date_trunc('milliseconds', clock_timestamp())");
    wait_for {
        $s->sql("SELECT clock_timestamp() > '$then'::timestamptz"
                . " + interval '2 ms'") eq 't'
    };
}

for my $row (
    [ 0, PUT   => { userName => 'time@acme.test', displayName => 'D',
                    externalId => 'time', E() => { department => 'E' } } ],
    [ 0, PATCH => patch_op({ op => 'replace', path => 'displayName',
                             value => 'D' }) ],
    [ 0, PATCH => patch_op({ op => 'replace', path => 'active',
                             value => 'True' }) ],
    [ 0, PATCH => patch_op({ op => 'add', path => 'nickName',
                             value => 'N' }) ],
    [ 0, PATCH => patch_op({ op => 'remove', path => 'title' }) ],
    [ 1, PATCH => patch_op({ op => 'replace', path => 'displayName',
                             value => 'd' }) ],
    [ 1, PATCH => patch_op({ op => 'remove', path => 'externalId' }) ],
    [ 1, PUT   => { displayName => 'd' } ],
    [ 1, DELETE => undef ],
    [ 0, DELETE => undef ],
    [ 1, PATCH => patch_op({ op => 'replace',
                             value => { active => true } }) ])
{
    my ($moves, $method, $body) = @$row;
    my $old = $acme->scim(GET => "/Users/$id")->json->{meta};

    later();
    $r = $acme->scim($method => "/Users/$id", $body);
    ok($r->status == 200 || $r->status == 204, "$method") or diag $r->body;

    my $new = $acme->scim(GET => "/Users/$id")->json->{meta};
    my $what = $method . ' ' . (SvcTest::encode($body) // '');

    is($new->{created}, $old->{created}, 'created stays');

    if ($moves) {
        cmp_ok($new->{lastModified}, 'gt', $old->{lastModified},
               "lastModified moves: $what");
    } else {
        is($new->{lastModified}, $old->{lastModified},
           "lastModified stays: $what");
    }
}


# --- lists ------------------------------------------------------------------

my $many = $s->tenant('many');

scim_list($many->scim(GET => '/Users'), $base, 0, 'an empty list');

my @ids = $many->add_users(250);

# the order is that of creation, then of the id

$s->sql("UPDATE svc.user_account SET created_at = '2026-01-01T00:00:00Z'"
        . " WHERE tenant_id = '$many->{id}' AND user_name < 'user2'");

my @expected = map { $_->[0] } $s->sql(<<"EOT");
SELECT user_name FROM svc.user_account WHERE tenant_id = '$many->{id}'
ORDER BY created_at, id
EOT

for my $row (
    [ '',                              200 ],
    [ '?count=200',                    200 ],
    [ '?count=201',                    200 ],
    [ '?count=1000000',                200 ],
    [ '?count=99999999999999999999',   200 ],
    [ '?count=1',                      1 ],
    [ '?count=17',                     17 ],
    [ '?count=0',                      0 ],
    [ '?count=-1',                     0 ],
    [ '?count=-99999999999999999999',  0 ],
    [ '?startIndex=1&count=2',         2 ],
    [ '?startIndex=100&count=2',       2 ],
    [ '?startIndex=abc&count=2',       2 ],
    [ '?startIndex=-1&count=2',        2 ],
    [ '?count=2&sortBy=userName&sortOrder=descending', 2 ],
    [ '?unknown=%00&count=2',          2 ],
    [ '?%63ount=2',                    2, 'a name that is escaped' ],
    [ '?count=%32',                    2 ],
    [ '?xcount=5&count=2&countx=7',    2 ],
    [ '?&&count=2&',                   2 ])
{
    my ($query, $count) = @$row;

    $r = $many->scim(GET => "/Users$query");
    scim_list($r, $base, $count, "list $query") or next;
    is(names($r), join(' ', @expected[0 .. $count - 1]),
       "list $query: the first in order of creation");
}

for my $count ('abc', '1.5', '0x10', '5abc', '1e1', '--1', '-', '%00',
               '%ff', '2%200', '١')
{
    my $query = encode_utf8($count);
    $query =~ s/([^\x21-\x7e])/sprintf '%%%02x', ord $1/ge;

    scim_error($many->scim(GET => "/Users?count=$query"), 400, 'invalidValue',
               "count=$query is no integer");
}


# --- filters ----------------------------------------------------------------

my $filter = $s->tenant('filter');

my %filter_user = (
    plain  => { userName => 'Ann@filter.test', externalId => 'Ext-1' },
    plus   => { userName => 'a+b@filter.test', externalId => 'a b+c' },
    quote  => { userName => "q'`{|}\@filter.test", externalId => "it's \"q\" \\" },
    utf8   => { userName => 'zoë@filter.test', externalId => 'Zoë 🦀' },
    amp    => { userName => 'a&b=c@filter.test', externalId => '100%' },
);

$filter->create(%{ $filter_user{$_} }) for sort keys %filter_user;

my $all = keys %filter_user;

sub escape {
    my ($text) = @_;

    $text = encode_utf8($text);
    $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge;

    return $text;
}

for my $row (
    [ plain => 'userName eq "Ann@filter.test"' ],
    [ plain => 'userName eq "ANN@FILTER.TEST"' ],
    [ plain => 'USERNAME EQ "ann@filter.test"' ],
    [ plain => 'username Eq "ann@filter.test"' ],
    [ plain => '  userName   eq   "ann@filter.test"  ' ],
    [ plain => 'urn:ietf:params:scim:schemas:core:2.0:User:userName eq'
               . ' "ann@filter.test"' ],
    [ plain => 'URN:IETF:params:scim:schemas:core:2.0:user:username eq'
               . ' "ann@filter.test"' ],
    [ plain => 'externalId eq "Ext-1"' ],
    [ plain => 'EXTERNALID eq "Ext-1"' ],
    [ plain => 'urn:ietf:params:scim:schemas:core:2.0:User:externalId eq'
               . ' "Ext-1"' ],
    [ plain => 'userName eq "\u0041nn@filter.test"' ],
    [ plain => 'userName eq "Ann@filter.test"', '+' ],
    [ plus  => 'userName eq "a+b@filter.test"' ],
    [ plus  => 'externalId eq "a b+c"', '+' ],
    [ plus  => 'externalId eq "a b+c"' ],
    [ quote => 'userName eq "q\'`{|}@filter.test"' ],
    [ quote => 'externalId eq "it\'s \"q\" \\\\"' ],
    [ utf8  => 'userName eq "zoë@filter.test"' ],
    [ utf8  => 'userName eq "zo\u00eb@filter.test"' ],
    [ utf8  => 'externalId eq "Zoë 🦀"' ],
    [ utf8  => 'externalId eq "Zo\u00eb \ud83e\udd80"' ],
    [ amp   => 'userName eq "a&b=c@filter.test"' ],
    [ amp   => 'externalId eq "100%"' ],
    [ undef, 'userName eq "nobody@filter.test"' ],
    [ undef, 'userName eq "not even an e-mail"' ],
    [ undef, 'userName eq ""' ],
    [ undef, 'externalId eq ""' ],
    [ undef, 'externalId eq "ext-1"' ],
    [ undef, 'externalId eq "Ext-1 "' ],
    [ undef, 'userName eq "%"' ],
    [ undef, 'userName eq "\' OR \'1\'=\'1"' ],
    [ undef, 'userName eq "' . 'x' x 3000 . '"' ])
{
    my ($key, $text, $space) = @$row;
    my $query = escape($text);

    $query =~ s/%20/+/g if $space;

    $r = $filter->scim(GET => "/Users?filter=$query&startIndex=1&count=100");
    scim_list($r, $base, defined $key ? 1 : 0,
              encode_utf8("filter $text" . ($space ? ', + for a space' : '')))
        or next;

    is($r->json->{Resources}[0]{userName}, $filter_user{$key}{userName},
       'the right one') if defined $key;
}

scim_list($filter->scim(GET => '/Users?filter='
                               . escape('userName eq "ann@filter.test"')
                               . '&count=0'),
          $base, 0, 'a filter with count=0');

# a filter that is not recognised gives the whole list

for my $text (
    '', ' ', 'userName', 'userName eq', 'userName eq ', 'eq "x"',
    'userName eq ann@filter.test', 'userName eq \'ann@filter.test\'',
    'userName eq "ann@filter.test', 'userName eq ann@filter.test"',
    'userName eq "ann@filter.test" x', 'userName eq "a" "b"',
    'userName ne "ann@filter.test"', 'userName co "ann"', 'userName sw "ann"',
    'userName pr', 'userName eq true', 'userName eq 1', 'userName eq null',
    '(userName eq "ann@filter.test")', 'not (userName eq "x")',
    'userName eq "ann@filter.test" and active eq true',
    'userName eq "x" or userName eq "y"',
    'emails eq "ann@filter.test"', 'emails[type eq "work"].value eq "x"',
    'id eq "x"', 'displayName eq "x"', 'userName2 eq "x"', 'xuserName eq "x"',
    'urn:x:userName eq "x"',
    'urn:ietf:params:scim:schemas:core:2.0:Group:userName eq "x"',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:userName'
    . ' eq "x"',
    'userNameeq "x"', 'userName eq "\x"', 'userName eq "\u12"',
    'userName eq "\ud800"', 'userName eq "a\u0000b"', "userName eq \"a\0b\"",
    "userName eq \"a\nb\"", '(' x 2000)
{
    scim_list($filter->scim(GET => '/Users?filter=' . escape($text)), $base,
              $all, 'the plain list for ' . substr encode_utf8($text), 0, 60);
}

scim_list($filter->scim(GET => '/Users?filter=userName%20eq%20%22%ff%fe%22'),
          $base, $all, 'the plain list for invalid UTF-8');
scim_list($filter->scim(GET => '/Users?filter=userName%20eq%20%22%C0%80%22'),
          $base, $all, 'the plain list for an overlong NUL');
scim_list($filter->scim(GET => '/Users?filter=userName%20eq%20%22a%zz%'),
          $base, $all, 'the plain list for broken escapes');


# --- attributes and excludedAttributes --------------------------------------

$user = $filter->create(%$full, userName => 'all@filter.test');
$id = $user->{id};

for my $row (
    [ 'attributes=userName',               'userName' ],
    [ 'attributes=USERNAME',               'userName' ],
    [ 'attributes=userName,active',        'active userName' ],
    [ 'attributes=userName%2C%20active',   'active userName' ],
    [ 'attributes=userName,+active',       'active userName' ],
    [ 'attributes=id',                     '' ],
    [ 'attributes=meta',                   'meta' ],
    [ 'attributes=emails',                 'emails' ],
    [ 'attributes=emails.value',           'emails' ],
    [ 'attributes=name.givenName',         'name' ],
    [ 'attributes=unknown',                '' ],
    [ 'attributes=unknown,title',          'title' ],
    [ 'attributes=' . U . ':userName',     'userName' ],
    [ 'attributes=' . E . ':department',   E ],
    [ 'attributes=' . E,                   E ],
    [ 'excludedAttributes=id,schemas',     'ALL' ],
    [ 'excludedAttributes=emails,meta,name,' . E,
      'active displayName externalId locale title userName' ],
    [ 'excludedAttributes=unknown',        'ALL' ])
{
    my ($query, $expected) = @$row;

    if ($expected eq 'ALL') {
        $expected = join ' ', sort grep { !/^(?:id|schemas)$/ } keys %$user;
    }

    for my $path ("/Users/$id?$query",
                  "/Users?count=100&$query&filter="
                  . escape('userName eq "all@filter.test"'))
    {
        $r = $filter->scim(GET => $path);
        scim_ok($r, 200, "GET with $query") or next;

        my $got = $r->json->{Resources} ? $r->json->{Resources}[0] : $r->json;

        is(join(' ', sort grep { !/^(?:id|schemas)$/ } keys %$got), $expected,
           'the attributes that are asked for');
        is($got->{id}, $id, 'id is always there');
        ok(ref $got->{schemas} eq 'ARRAY', 'schemas is always there');
    }
}

is_deeply($filter->scim(GET => "/Users/$id?attributes=name.givenName")
          ->json->{name}, { givenName => 'Ada' }, 'one part of the name');
is_deeply($filter->scim(GET => "/Users/$id?excludedAttributes=name.givenName")
          ->json->{name}{givenName}, undef, 'the name without one part');

$r = $filter->scim(POST => '/Users?attributes=userName',
                   { userName => 'less@filter.test', title => 'T' });
scim_ok($r, 201, 'POST with attributes');
ok(!exists $r->json->{title}, 'honours them');
is($r->header('location'), "$base/scim/v2/Users/" . $r->json->{id},
   'and has a Location all the same');
is($r->header('content-location'), $r->header('location'),
   'and a Content-Location');

$r = $filter->scim(PATCH => "/Users/$id?excludedAttributes=title",
                   patch_op({ op => 'replace', path => 'title',
                              value => 'T' }));
scim_ok($r, 200, 'PATCH with excludedAttributes');
ok(!exists $r->json->{title}, 'honours them');


# --- content types of the input ---------------------------------------------

my $n = 0;

for my $type ('application/scim+json', 'application/json',
              'application/scim+json; charset=utf-8',
              'application/json;charset=UTF-8', 'text/plain', '', undef)
{
    $n++;
    $r = $s->http(POST => '/scim/v2/Users',
                  [ @{ $acme->headers }, 'Content-Type' => $type ],
                  { userName => "type$n\@acme.test" });

    scim_ok($r, 201, 'Content-Type: ' . ($type // 'none'));
}

for my $accept ('application/scim+json', 'application/json', '*/*',
                'text/html', '')
{
    scim_ok($acme->scim(GET => '/Users?count=1', undef,
                        { Accept => $accept }),
            200, "Accept: '$accept'");
}

is(scalar($s->pg->errors), 0,
   'no other error in the log of PostgreSQL')
    or diag($s->pg->errors);

$s->done;
done_testing();
