#!/usr/bin/perl

# PATCH (RFC 7644, 3.5.2): each row is a request to the same user, and the
# user's attributes afterwards.

use strict;
use warnings;
use utf8;

use Encode qw(encode_utf8);
use Test::More;

use SvcTest;
use SvcTest::Process qw(wait_for);
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $base = $s->base_url;
my $json = JSON::PP->new->utf8->canonical;

my %start = (
    userName => 'pat@acme.test', externalId => 'pat', active => true,
    name => { givenName => 'Pat', familyName => 'Doe' },
    displayName => 'Pat Doe', title => 'Clerk', locale => 'en',
    E() => { department => 'Sales' },
);

my %shown = %start;
$shown{department} = delete($shown{E()})->{department};

my $user = $acme->create(%start);
my $id = $user->{id};

$acme->create(userName => 'taken@acme.test', externalId => 'taken');


# returns %start with some attributes changed; undef removes one

sub but {
    my (%change) = @_;

    my %want = (%shown, %change);

    delete @want{ grep { !defined $want{$_} } keys %want };

    return \%want;
}


# Resets the user to %start, then applies a PATCH.

sub patch {
    my ($body) = @_;

    my $r = $acme->scim(PUT => "/Users/$id", \%start);
    die "PUT: $r->{body}\n" if $r->status != 200;

    return $acme->scim(PATCH => "/Users/$id", $body);
}


sub name_of {
    my ($body) = @_;

    my $text = ref $body ? $json->encode($body) : $body;
    $text =~ s/"schemas":\["\Q${\PATCH_OP}\E"\],?//;

    return length $text > 150 ? substr($text, 0, 150) . '...' : $text;
}


sub applies {
    my ($body, %change) = @_;

    my $r = patch($body);
    my $name = name_of($body);

    scim_ok($r, 200, "200 for $name") or return;
    scim_user($r, $base, but(%change), 'the resource is as it should be');
    is_deeply($acme->scim(GET => "/Users/$id")->json, $r->json,
              'and reads back the same');
}


sub refused {
    my ($status, $type, $body) = @_;

    my $before = $acme->scim(PUT => "/Users/$id", \%start)->body;
    my $stored = $acme->stored;

    scim_error($acme->scim(PATCH => "/Users/$id", $body), $status, $type,
               "$status $type for " . name_of($body));
    is($acme->scim(GET => "/Users/$id")->body, $before,
       'the user is as before');
    is($acme->stored, $stored, 'and nothing was stored');
}


sub replace { return { op => 'replace', path => $_[0], value => $_[1] } }
sub add { return { op => 'add', path => $_[0], value => $_[1] } }
sub remove { return { op => 'remove', path => $_[0] } }
sub bare { return { op => $_[1] // 'replace', value => $_[0] } }


# --- one operation with a path ----------------------------------------------

applies(patch_op(replace(displayName => 'P')), displayName => 'P');
applies(patch_op(add(displayName => 'P')), displayName => 'P');
applies(patch_op({ op => 'Replace', path => 'displayName', value => 'P' }),
        displayName => 'P');
applies(patch_op({ op => 'ADD', path => 'displayName', value => 'P' }),
        displayName => 'P');
applies(patch_op({ op => 'Remove', path => 'displayName' }),
        displayName => undef);
applies(patch_op(replace(DISPLAYNAME => 'P')), displayName => 'P');
applies(patch_op(replace(title => 'Boss')), title => 'Boss');
applies(patch_op(replace(locale => 'fr-FR')), locale => 'fr-FR');
applies(patch_op(replace(externalId => 'new')), externalId => 'new');
applies(patch_op(replace('name.givenName' => 'P')),
        name => { givenName => 'P', familyName => 'Doe' });
applies(patch_op(replace('NAME.familyname' => 'D')),
        name => { givenName => 'Pat', familyName => 'D' });
applies(patch_op(replace('name.formatted' => 'Formatted')),
        displayName => 'Formatted');
applies(patch_op(replace(name => { givenName => 'G' })),
        name => { givenName => 'G', familyName => 'Doe' });
applies(patch_op(add(name => { familyName => 'F', formatted => 'X' })),
        name => { givenName => 'Pat', familyName => 'F' },
        displayName => 'X');
applies(patch_op(replace(E . ':department' => 'Lab')), department => 'Lab');
applies(patch_op(replace(lc(E) . ':DEPARTMENT' => 'Lab')),
        department => 'Lab');
applies(patch_op(replace(E, { department => 'Lab' })), department => 'Lab');
applies(patch_op(replace(U . ':displayName' => 'P')), displayName => 'P');
applies(patch_op(replace(U . ':name.givenName' => 'P')),
        name => { givenName => 'P', familyName => 'Doe' });
applies(patch_op(replace(U . ':active' => false)), active => false);
applies(patch_op(replace(displayName => '  Zoë 李 🦀 ')),
        displayName => '  Zoë 李 🦀 ');
applies(patch_op(replace(title => 'é' x 512)), title => 'é' x 512);


# --- active -----------------------------------------------------------------

applies(patch_op(replace(active => false)), active => false);
applies(patch_op(replace(active => 'False')), active => false);
applies(patch_op(replace(active => 'false')), active => false);
applies(patch_op(add(active => 'FALSE')), active => false);
applies(patch_op(replace(active => true)));
applies(patch_op(replace(active => 'True')));
applies(patch_op(bare({ active => false })), active => false);
applies(patch_op(bare({ active => 'False' })), active => false);
applies(patch_op(bare({ ACTIVE => false })), active => false);
applies(patch_op(bare({ U . ':active' => false })), active => false);
applies(patch_op(replace(active => false), replace(active => true)));
applies(patch_op(replace(active => true), replace(active => false)),
        active => false);


# --- clearing ---------------------------------------------------------------

for my $nothing (undef, '', []) {
    applies(patch_op(replace(title => $nothing)), title => undef);
    applies(patch_op(replace(externalId => $nothing)), externalId => undef);
    applies(patch_op(replace(E . ':department' => $nothing)),
            department => undef);
    applies(patch_op(replace('name.givenName' => $nothing)),
            name => { familyName => 'Doe' });
    applies(patch_op(bare({ displayName => $nothing })),
            displayName => undef);
}

applies(patch_op(remove('title')), title => undef);
applies(patch_op(remove('externalId')), externalId => undef);
applies(patch_op(remove('locale')), locale => undef);
applies(patch_op(remove('displayName')), displayName => undef);
applies(patch_op(remove('name.givenName')), name => { familyName => 'Doe' });
applies(patch_op(remove('name.familyName'), remove('name.givenName')),
        name => undef);
applies(patch_op(remove(E . ':department')), department => undef);
applies(patch_op(remove(E)), department => undef);
applies(patch_op(remove(U . ':title')), title => undef);
applies(patch_op({ op => 'remove', path => 'title', value => 'x' }),
        title => undef);
applies(patch_op(remove('title'), add(title => 'again')), title => 'again');
applies(patch_op(add(title => 'again'), remove('title')), title => undef);


# --- operations without a path ----------------------------------------------

applies(patch_op(bare({ displayName => 'P', title => 'T' })),
        displayName => 'P', title => 'T');
applies(patch_op(bare({ displayName => 'P' }, 'Add')), displayName => 'P');
applies(patch_op(bare({ name => { givenName => 'G' } })),
        name => { givenName => 'G', familyName => 'Doe' });
applies(patch_op(bare({ 'name.givenName' => 'G', 'name.familyName' => 'F' })),
        name => { givenName => 'G', familyName => 'F' });
applies(patch_op(bare({ 'name.formatted' => 'F' })), displayName => 'F');
applies(patch_op(bare({ 'name.formatted' => 'F', displayName => 'D' })),
        displayName => 'D');
applies(patch_op(bare({ displayName => 'D', 'name.formatted' => 'F' })),
        displayName => 'D');
applies(patch_op(bare({ E . ':department' => 'Lab' })), department => 'Lab');
applies(patch_op(bare({ E() => { department => 'Lab' } })),
        department => 'Lab');
applies(patch_op(bare({ E() => { department => undef } })),
        department => undef);
applies(patch_op(bare({ U . ':displayName' => 'P' })), displayName => 'P');
applies(patch_op({ op => 'replace', path => undef,
                   value => { title => 'T' } }), title => 'T');
applies(patch_op(bare({})));


# --- several operations, in their order -------------------------------------

applies(patch_op(replace(title => 'A'), replace(title => 'B')),
        title => 'B');
applies(patch_op(bare({ title => 'A', locale => 'de' }),
                 remove('locale'), replace(displayName => 'P')),
        title => 'A', locale => undef, displayName => 'P');
applies(patch_op(map { replace(title => "T$_") } 1 .. 500), title => 'T500');


# --- what is ignored, and never stops the rest ------------------------------

for my $ignored (
    replace('emails[type eq "work"].value' => 'x@y'),
    replace('emails[type eq "work" and primary eq true].value' => 'x@y'),
    replace('emails' => [ { value => 'x@y' } ]),
    replace('emails.value' => 'x@y'),
    replace('addresses[type eq "work"].country' => 'FR'),
    replace('phoneNumbers[type eq "mobile"]' => { value => '1' }),
    replace(userName => 'other@acme.test'),
    replace(userName => 'no e-mail'),
    replace(userName => undef),
    remove('userName'),
    replace(id => 'x'),
    replace('meta.created' => 'x'),
    replace(password => 'pa55-w0rd-marker'),
    replace(groups => []),
    replace(roles => [ { value => 'admin' } ]),
    replace(schemas => [ 'x' ]),
    add(nickName => 'N'),
    add(nickName => { deep => [ 1, 2, { x => undef } ] }),
    remove('nickName'),
    remove('emails'),
    replace('name.middleName' => 'M'),
    replace('name.honorificPrefix' => undef),
    replace(E . ':manager' => 'x'),
    replace(E . ':manager.value' => 'x'),
    replace(E . ':employeeNumber' => 5),
    replace('urn:ietf:params:scim:schemas:extension:x:2.0:User:a' => 1),
    replace('a-b_c9' => 1),
    bare({ userName => 'other@acme.test', password => 'pa55-w0rd-marker',
           emails => [ { value => 'x' } ], 'emails[type eq "work"].value' => 1,
           groups => [], roles => undef, id => 5, meta => 'x',
           nickName => [ 1 ], 'name.middleName' => 'M', 'urn:x:y' => {} }),
    bare({ name => { middleName => 'M' }, E() => { manager => undef } }),
    add('x509Certificates[value eq "a\"]b"].display' => 1))
{
    applies(patch_op($ignored, replace(active => 'False')), active => false);
    applies(patch_op(bare({ active => false }), $ignored), active => false);
}


# --- tolerance for the message around ---------------------------------------

applies({ Operations => [ bare({ active => false }) ] }, active => false);
applies({ schemas => [], operations => [ bare({ active => false }) ] },
        active => false);
applies({ schemas => 'x', Operations => [ replace(title => 'T') ], x => 1 },
        title => 'T');
applies({ Operations => [ { OP => 'replace', Path => 'title',
                            Value => 'T' } ] }, title => 'T');


# --- operations that make the whole request fail ----------------------------

for my $bad (
    [ 'noTarget',      { op => 'remove' } ],
    [ 'noTarget',      { op => 'remove', value => { title => 'x' } } ],
    [ 'invalidPath',   replace('' => 'x') ],
    [ 'invalidPath',   replace(' ' => 'x') ],
    [ 'invalidPath',   replace('emails[' => 'x') ],
    [ 'invalidPath',   replace('emails[type eq "work"' => 'x') ],
    [ 'invalidPath',   replace('emails[type eq "work"]value' => 'x') ],
    [ 'invalidPath',   replace('emails[].value' => 'x') ],
    [ 'invalidPath',   replace('name.' => 'x') ],
    [ 'invalidPath',   replace('.name' => 'x') ],
    [ 'invalidPath',   replace('name..givenName' => 'x') ],
    [ 'invalidPath',   replace('name.a.b' => 'x') ],
    [ 'invalidPath',   replace('display name' => 'x') ],
    [ 'invalidPath',   replace('title;' => 'x') ],
    [ 'invalidPath',   replace('title]' => 'x') ],
    [ 'invalidPath',   replace('é' => 'x') ],
    [ 'invalidPath',   replace('1a' => 'x') ],
    [ 'invalidPath',   remove('emails[') ],
    [ 'mutability',    remove('active') ],
    [ 'mutability',    remove(U . ':active') ],
    [ 'invalidValue',  replace(active => 'yes') ],
    [ 'invalidValue',  replace(active => 1) ],
    [ 'invalidValue',  replace(active => {}) ],
    [ 'invalidValue',  bare({ active => 'maybe' }) ],
    [ 'invalidValue',  replace(title => 5) ],
    [ 'invalidValue',  replace(title => true) ],
    [ 'invalidValue',  replace(title => { a => 1 }) ],
    [ 'invalidValue',  replace(title => 'x' x 1025) ],
    [ 'invalidValue',  replace(externalId => 'x' x 1025) ],
    [ 'invalidValue',  replace(name => 'x') ],
    [ 'invalidValue',  bare({ title => [ 'a' ] }) ],
    [ 'invalidValue',  bare({ name => { givenName => 1 } }) ],
    [ 'invalidValue',  bare({ E() => { department => 1 } }) ],
    [ 'invalidSyntax', { op => 'move', path => 'title', value => 'x' } ],
    [ 'invalidSyntax', { op => '', path => 'title', value => 'x' } ],
    [ 'invalidSyntax', { op => 5, path => 'title', value => 'x' } ],
    [ 'invalidSyntax', { path => 'title', value => 'x' } ],
    [ 'invalidSyntax', 'replace' ],
    [ 'invalidSyntax', undef ],
    [ 'invalidSyntax', [] ])
{
    my ($type, $operation) = @$bad;

    refused(400, $type, patch_op($operation));

    # atomic: the operations before and after it are not applied either

    refused(400, $type, patch_op(replace(title => 'Before'), $operation,
                                 replace(active => false)));
}

refused(400, 'invalidSyntax', $_) for
    { schemas => [ PATCH_OP ] },
    { schemas => [ PATCH_OP ], Operations => [] },
    { schemas => [ PATCH_OP ], Operations => {} },
    { schemas => [ PATCH_OP ], Operations => 'x' },
    { schemas => [ PATCH_OP ], Operations => undef },
    {};

refused(409, 'uniqueness', patch_op(replace(externalId => 'taken')));
refused(409, 'uniqueness', patch_op(replace(active => false),
                                    bare({ externalId => 'taken' })));
applies(patch_op(replace(externalId => 'taken'),
                 replace(externalId => 'pat')));
applies(patch_op(replace(externalId => 'Taken')), externalId => 'Taken');


# without a path the value must be an object

for my $value ('x', 5, true, [ { title => 'T' } ], undef) {
    my $r = patch(patch_op(bare($value), replace(title => 'T')));
    my $type = ($r->json // {})->{scimType} // '';

    scim_error($r, 400, $type, 'no path, and no object');
    like($type, qr/^invalid(?:Syntax|Value)$/, 'says so');
}


# --- others -----------------------------------------------------------------

my $none = '00000000-0000-4000-8000-000000000000';

scim_error($acme->scim(PATCH => "/Users/$none",
                       patch_op(replace(active => false))),
           404, undef, 'PATCH of nobody');
scim_error($acme->scim(PATCH => "/Users/$none",
                       patch_op(replace(externalId => 'taken'))),
           404, undef, 'PATCH of nobody with an externalId that is taken');
scim_error($acme->scim(PATCH => "/Users/$none",
                       patch_op(add(nickName => 'N'))),
           404, undef, 'PATCH of nobody with what is ignored');
scim_error($acme->scim(PATCH => "/Users/$none", { Operations => 1 }),
           400, 'invalidSyntax', 'a bad PATCH of nobody: 400 before 404');

$s->secret('pa55-w0rd-marker');

is(scalar($s->pg->errors), 0,
   'no other error in the log of PostgreSQL');

# --- changes of one user at the same time -----------------------------------

my $race = $acme->create(userName => 'race@acme.test');

# a state that holds when the statement begins, and no longer when its turn
# comes

$acme->scim(DELETE => "/Users/$race->{id}");

my $other = $s->connect_as('postgres');
$other->query('BEGIN');
$other->query("UPDATE svc.user_account SET status = 'active'"
              . " WHERE id = '$race->{id}'");

my $late = $s->begin(DELETE => "/scim/v2/Users/$race->{id}", $acme->headers);

ok((wait_for { $s->waiting }),
   'a deactivation waits for another change');
$other->query('COMMIT');
is($late->read->status, 204, 'and is made');
is($acme->scim(GET => "/Users/$race->{id}")->json->{active}, JSON::PP::false,
   'then the user is inactive');

my @flight = map { $s->connection } 1 .. 8;
my $opposite = 0;

for my $round (1 .. 50) {
    for my $i (0 .. $#flight) {
        $flight[$i]->send($flight[$i]->format(
            PATCH => "/scim/v2/Users/$race->{id}", $acme->headers,
            SvcTest::encode(patch_op({ op => 'replace', path => 'active',
                                       value => $i % 2 ? JSON::PP::true
                                                       : JSON::PP::false }))));
    }

    for my $i (0 .. $#flight) {
        my $r = $flight[$i]->read;
        $opposite++ if $r->status != 200
                       || !$r->json->{active} != !($i % 2);
    }
}

is($opposite, 0, 'each of 400 changes gets what it asked for');


# --- the whole core schema ----------------------------------------------------

my $core = 'urn:ietf:params:scim:schemas:core:2.0:User';
my $whole = $acme->create(userName => 'whole@acme.test');

for my $op ({ op => 'replace', value => { $core => {
                  active => JSON::PP::false, title => 'T1' } } },
            { op => 'Replace', path => $core, value => {
                  active => JSON::PP::true, title => 'T2' } })
{
    my $r = $acme->scim(PATCH => "/Users/$whole->{id}", patch_op($op));
    my $value = $op->{value}{$core} // $op->{value};

    scim_ok($r, 200, 'an object for the core URN');
    is($r->json->{title}, $value->{title}, 'its title is set');
    is(!!$r->json->{active}, !!$value->{active}, 'and active');
}

is($acme->scim(PATCH => "/Users/$whole->{id}",
               patch_op({ op => 'remove', path => $core }))->json->{title},
   'T2', 'which cannot be removed');
is($acme->scim(GET => "/Users/$whole->{id}?attributes=$core")
   ->json->{title}, 'T2', 'attributes=');

my $less = $acme->scim(GET => "/Users/$whole->{id}"
                       . '?excludedAttributes=meta.location')->json;
ok($less->{meta}{created}, 'a part of meta does not take all of it away');
ok(!$acme->scim(GET => "/Users/$whole->{id}?excludedAttributes=meta")
   ->json->{meta}, 'meta does');

for my $value ('', [], 1, 'no') {
    scim_error($acme->scim(PUT => "/Users/$whole->{id}", { active => $value }),
               400, 'invalidValue', 'PUT of active ' . SvcTest::encode([$value]));
}

scim_ok($acme->scim(PUT => "/Users/$whole->{id}", { active => undef }), 200,
        'null keeps it');


$s->done;
done_testing();
