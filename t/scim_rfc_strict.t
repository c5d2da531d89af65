#!/usr/bin/perl

# svc_scim_mode rfc: what PUT, POST and PATCH refuse (RFC 7644, 3.3, 3.5 and
# 3.12), always the whole request, and what they still ignore.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Scim;


my $s = SvcTest->new;
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my %start = (
    userName => 'pat@acme.test', externalId => 'pat', active => true,
    name => { givenName => 'Pat', familyName => 'Doe' },
    displayName => 'Pat Doe', title => 'Clerk', locale => 'en',
    E() => { department => 'Sales' },
);
my %shown = %start;

$shown{department} = delete($shown{E()})->{department};

my $id = $acme->create(%start)->{id};

sub put { return { schemas => [ U, E ], %start, @_ } }

sub without {
    my ($name, %body) = @_;

    my $body = { %{ put() }, %body };

    delete $body->{$name};

    return $body;
}

sub start { $acme->scim(PUT => "/Users/$id", put())->status == 200 or die "PUT\n" }

sub shown {
    my ($r, $name, %change) = @_;

    my %want = (%shown, %change);

    delete @want{ grep { !defined $want{$_} } keys %want };

    return scim_ok($r, 200, "200 for $name")
           && scim_user($r, $s->base_url, \%want, "$name: the user");
}

my $stored = do { start(); $acme->stored };

sub refused {
    my ($method, $body, $type, $name) = @_;

    my $path = $method eq 'POST' ? '/Users' : "/Users/$id";

    scim_error($acme->scim($method => $path, $body), 400, $type, "$method: $name");
    is($acme->stored, $stored, 'nothing is stored') or $stored = $acme->stored;
}


# --- schemas -----------------------------------------------------------------------

my $message = 'urn:ietf:params:scim:api:messages:2.0:';

for my $row (
    [ 'a null', [ undef ], 'invalidSyntax' ],
    [ 'none', [], 'invalidValue' ],
    [ 'a string', U, 'invalidSyntax' ],
    [ 'numbers', [ 1 ], 'invalidSyntax' ],
    [ 'the extension alone', [ E ], 'invalidValue' ],
    [ 'SCIM 1.0', [ 'urn:scim:schemas:core:1.0' ], 'invalidValue' ],
    [ 'a group', [ 'urn:ietf:params:scim:schemas:core:2.0:Group' ], 'invalidValue' ],
    [ 'a message', [ "${message}PatchOp" ], 'invalidValue' ])
{
    my ($name, $schemas, $type) = @$row;
    my $body = put(schemas => $schemas);

    refused(PUT => $body, $type, "schemas: $name");
    refused(POST => { %$body, userName => 'new@acme.test', externalId => 'new' }, $type,
            "schemas: $name");
}

for my $schemas ([ U ], [ uc U ], [ 'urn:example:ext', U, E ]) {
    shown($acme->scim(PUT => "/Users/$id", put(schemas => $schemas)), "schemas: @$schemas");
}

# clients with templates leave it out; it could only be this schema

for my $row ([ 'no schemas', without('schemas', title => 'x') ],
             [ 'null', put(schemas => undef, title => 'x') ])
{
    my ($name, $body) = @$row;

    shown($acme->scim(PUT => "/Users/$id", $body), "PUT: $name", title => 'x');
    start();
    scim_ok($acme->scim(POST => '/Users', { %$body, userName => "$name\@acme.test" =~ tr/ //dr,
                                            externalId => $name }), 201, "POST: $name");
}

my @off = ({ op => 'replace', path => 'title', value => 'x' });
start();
$stored = $acme->stored;

refused(PATCH => { schemas => $_, Operations => \@off }, 'invalidSyntax',
        'schemas: ' . (ref $_ ? "@$_" : $_))
    for [], [ U ], [ "${message}SearchRequest" ], PATCH_OP, [ 1 ];

shown($acme->scim(PATCH => "/Users/$id", { Operations => \@off, @$_ }),
      'PATCH: ' . (@$_ ? 'null' : 'no schemas'), title => 'x')
    for [], [ schemas => undef ];
shown($acme->scim(PATCH => "/Users/$id", { schemas => [ uc PATCH_OP ], Operations => \@off }),
      'PATCH, in another case', title => 'x');


# --- PUT is a replacement ------------------------------------------------------------

start();
$stored = $acme->stored;
refused(PUT => without('userName'), 'invalidValue', 'without userName');
refused(PUT => put(userName => $_), 'invalidValue', 'userName ' . ($_ // 'null'))
    for undef, '', 'pat';
refused(PUT => without('userName', active => false), 'invalidValue', 'deactivates nobody');
refused(PUT => put(active => 'yes'), 'invalidValue', 'active: yes');
refused(PUT => put(title => 7), 'invalidValue', 'title: a number');
refused(PUT => put(name => 'Pat'), 'invalidValue', 'name: a string');
refused(PUT => put(USERNAME => 'pat@acme.test'), 'invalidSyntax', 'userName twice');

for my $row ([ externalId => 'externalId' ], [ displayName => 'displayName' ], [ title => 'title' ],
             [ locale => 'locale' ], [ E, 'department' ], [ name => 'name' ])
{
    my ($name, $attribute) = @$row;

    shown($acme->scim(PUT => "/Users/$id", without($name)), "PUT without $attribute",
          $attribute => undef);
    start();
}

shown($acme->scim(PUT => "/Users/$id", put(name => { givenName => 'P' })), 'PUT of a part',
      name => { givenName => 'P' });
shown($acme->scim(PUT => "/Users/$id", put(active => false)), 'PUT', active => false);
shown($acme->scim(PUT => "/Users/$id", without('active')), 'PUT without active: as it was',
      active => false);
start();
shown($acme->scim(PUT => "/Users/$id",
    put(id => 'x', meta => { version => 'x' }, groups => [ {} ], password => 'p', nickName => 'x',
        emails => [ { value => 'else@acme.test' } ], 'urn:example:ext' => { a => 1 },
        unheard => 'of', roles => [])), 'PUT with what is read-only, not stored, or unknown');


# --- PATCH -------------------------------------------------------------------------

sub one { return patch_op({ op => $_[0], path => $_[1], @_ > 2 ? (value => $_[2]) : () }) }

$stored = $acme->stored;

# each also after an operation that would be valid

sub both {
    my ($op, $path, $type, @value) = @_;

    refused(PATCH => one($op, $path, @value), $type, "$op $path");
    refused(PATCH => patch_op({ op => 'replace', path => 'active', value => false },
                              { op => $op, path => $path, @value ? (value => $value[0]) : () }),
            $type, "$op $path, behind another one");
}

both(remove => $_, 'mutability')
    for 'userName', 'USERNAME', U . ':userName', 'active', 'id', 'meta', 'meta.version', U,
        'emails', 'emails.value', 'emails[type eq "work"]', 'emails[type eq "WORK"].value',
        'emails[primary eq true]', 'emails[value co "@"]', 'groups', 'groups[value eq "x"]';

for my $op (qw(add replace)) {
    both($op => $_, 'mutability', 'x') for qw(id meta meta.created groups groups.value);
}

both(replace => $_, 'noTarget', 'x@acme.test'), both(remove => $_, 'noTarget')
    for 'emails[type eq "home"]', 'emails[type eq "home"].value', 'emails[primary eq false]',
        U . ':emails[ type  eq "other" ].value', 'emails[primary eq "False"].value';

for my $path ('x', 'unheardOf', 'name.nickName', 'emails.x', 'emails[type eq "work"].x',
              'userName.x', 'userName[type eq "x"].y', 'department',
              'name.', 'a b', '', 'emails[type eq "work"', 'emails[]', 'emails.value[type eq "x"]',
              'urn:example:ext:a', U . ':department', E . ':title', E . ':x', 'urn:example:ext',
              'phoneNumbers[type eq "work"].number')
{
    both($_ => $path, 'invalidPath', $_ eq 'remove' ? () : 'x') for qw(add replace remove);
}

both(replace => $_, 'invalidValue') for 'title', 'active', 'userName';
both(replace => 'userName', 'invalidValue', $_) for '', 'pat', undef;
both(replace => 'active', 'invalidValue', $_) for 'yes', 1, undef, {};
both(replace => 'title', 'invalidValue', $_) for 7, {}, true;
both(move => 'title', 'invalidSyntax', 'x');
refused(PATCH => patch_op({ op => 'remove' }), 'noTarget', 'remove without a path');
refused(PATCH => patch_op({ op => 'replace', value => 'x' }), 'invalidValue',
        'a string without a path');
refused(PATCH => $_, 'invalidSyntax', 'Operations')
    for { schemas => [ PATCH_OP ] }, patch_op(), { schemas => [ PATCH_OP ], Operations => {} };

# attributes of RFC 7643 that are not stored

for my $path ('nickName', 'profileUrl', 'userType', 'preferredLanguage', 'timezone', 'password',
              'name.middleName', 'name.honorificPrefix', 'phoneNumbers', 'ims', 'photos',
              'phoneNumbers[type eq "mobile"].value', 'addresses[type eq "work"].streetAddress',
              'roles[primary eq "True"].value', 'entitlements', 'x509Certificates.value', 'schemas',
              E . ':employeeNumber', E . ':manager', E . ':manager.value', E . ':costCenter',
              U . ':nickName')
{
    shown($acme->scim(PATCH => "/Users/$id", patch_op(
              { op => 'Add', path => $path, value => 'x' },
              { op => 'Replace', path => $path, value => 'x' }, { op => 'Remove', path => $path })),
          "$path is passed over");
}

shown($acme->scim(PATCH => "/Users/$id", patch_op(
          { op => 'Replace', path => $_, value => 'else@acme.test' })), "$_ follows the userName")
    for 'emails', 'emails.value', 'emails[type eq "work"].value', 'emails[primary eq true].value',
        'emails[value eq "x"].value';
shown($acme->scim(PATCH => "/Users/$id", patch_op(
          { op => 'Add', path => 'emails[type eq "home"].value', value => 'else@acme.test' })),
      'one more address is passed over');
shown($acme->scim(PATCH => "/Users/$id", patch_op({ op => 'replace', value => {
          id => 'x', meta => {}, groups => [], unheardOf => 1, 'name.nickName' => 'x',
          'emails[type eq "home"].value' => 'x', 'urn:example:ext:a' => 1, nickName => 'x',
          title => 'Boss' } })),
      'unknown keys without a path are passed over', title => 'Boss');
is($acme->scim(PATCH => "/Users/$id", one(replace => title => 'Clerk'))->status, 200, 'and back');

# attributes that are stored, and may be removed

for my $row ([ title => 'title' ], [ locale => 'locale' ], [ displayName => 'displayName' ],
             [ externalId => 'externalId' ], [ name => 'name' ], [ E . ':department' => 'department' ],
             [ E, 'department' ], [ uc U . ':title' => 'title' ])
{
    my ($path, $attribute) = @$row;

    shown($acme->scim(PATCH => "/Users/$id", one(remove => $path)), "remove $path",
          $attribute => undef);
    start();
}

scim_error($acme->scim(POST => '/Users', { schemas => [ U ], displayName => 'x' }), 400,
           'invalidValue', 'POST without userName');
scim_error($acme->scim(POST => '/Users', put(userName => 'new@acme.test')), 409, 'uniqueness',
           'POST of an externalId that is taken');

$s->done;
done_testing();
