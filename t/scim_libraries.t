#!/usr/bin/perl

# Compares us with public libraries of SCIM clients and servers, with the same
# users, filters and operations: scim-patch, scim2-parse-filter and scimmy, in
# both modes.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Npm;
use SvcTest::Scim;


my $json = JSON::PP->new->canonical;
my $s = SvcTest->new;
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');

for my $row ([ ada => 'engineer', 'Ada', 'labs' ], [ bob => 'clerk', 'Bob', 'sales' ],
             [ cid => 'engineer' ], [ dan => undef, 'Dan', 'labs' ], [ eve => 'chief', 'Eve' ])
{
    my ($name, $title, $given, $department) = @$row;

    $acme->create(userName => "$name\@acme.test", externalId => "$name-1", title => $title,
                  displayName => $name, active => $name eq 'bob' ? false : true,
                  name => { givenName => $given, familyName => 'Doe' },
                  E() => { department => $department });
}


# --- filters -----------------------------------------------------------------------

my @filters = (
    'userName eq "ada@acme.test"', 'externalId eq "bob-1"', 'title eq "engineer"',
    'title ne "engineer"', 'userName co "d"', 'userName sw "e"', 'userName ew ".test"',
    'title pr', 'not (title pr)', 'active eq true', 'active eq false',
    'title eq "engineer" and active eq true', 'title eq "clerk" or title eq "chief"',
    'userName sw "a" or userName sw "b" and title pr',
    '(userName sw "a" or userName sw "b") and not (title eq "clerk")',
    'name.givenName pr', 'name.familyName eq "Doe"', 'name.givenName sw "E"',
    'emails[type eq "work"]', 'emails[type eq "home"]',
    'emails[type eq "work" and value co "ada"]', 'emails.value eq "dan@acme.test"',
    'displayName gt "bob"', 'displayName le "cid"', 'nickName pr', 'title co "nothing"',
);

# Filters that one library understands differently: it does not find users
# without a title by "title ne", or it does not apply a "not" after "and" to the
# parentheses.

my %otherwise = (
    'title ne "engineer"' => 'scim2-parse-filter',
    '(userName sw "a" or userName sw "b") and not (title eq "clerk")' => 'scimmy',
);

my @users = @{ $acme->scim(GET => '/Users')->json->{Resources} };

sub libraries {
    my (%input) = @_;

    return $json->decode(npm_run($s->root, 'scim.mjs', $json->encode(
        { users => \@users, filters => [], patches => [], %input }),
        't/npm/scim-libraries', 'build/npm-scim-libraries'));
}

sub found {
    my ($filter) = @_;
    my $r = $acme->scim(GET => '/Users?filter='
                        . $filter =~ s/([^\w.~-])/sprintf '%%%02X', ord $1/ger);

    return join ' ', sort map { $_->{userName} } @{ ($r->json // {})->{Resources} // [] };
}

my %name = map { $_->{id} => $_->{userName} } @users;
my $said = libraries(filters => \@filters);

is(scalar @users, 5, 'users');

for my $filter (@filters) {
    my $of = $said->{filters}{$filter};

    is(found($filter), join(' ', sort map { $name{$_} } @{ $of->{$_} }), "$_: $filter")
        for grep { $_ ne ($otherwise{$filter} // '') } sort keys %$of;
}

is_deeply($said->{users}, [ (undef) x 5 ], 'scimmy takes each user as one of its schemas');


# --- operations --------------------------------------------------------------------

my @patches = (
    [ { op => 'replace', path => 'active', value => false } ],
    [ { op => 'replace', value => { active => true, title => 'x' } } ],
    [ { op => 'add', path => 'title', value => 'y' }, { op => 'remove', path => 'displayName' } ],
    [ { op => 'replace', path => 'name.familyName', value => 'Roe' } ],
    [ { op => 'replace', path => 'name', value => { givenName => 'G', familyName => 'F' } } ],
    [ { op => 'remove', path => 'name.givenName' } ],
    [ { op => 'add', value => { displayName => 'D', locale => 'en' } } ],
    [ { op => 'replace', path => E . ':department', value => 'x' } ],
    [ { op => 'add', path => 'name.givenName', value => 'H' } ],
    [ { op => 'replace', path => 'title', value => 'first' },
      { op => 'replace', path => 'title', value => 'last' } ],
    [ { op => 'remove', path => 'title' }, { op => 'add', path => 'title', value => 'back' } ],
);

# Returns what both have of a user: without members that only the server sets,
# and without empty ones.

sub told {
    my ($user) = @_;
    my %user = %$user;
    my $name = $user{name} // {};

    delete @user{qw(meta schemas name)};
    $user{department} = (delete($user{E()}) // {})->{department};
    $user{$_} = $name->{$_} for qw(givenName familyName);
    delete @user{ grep { !defined $user{$_} } keys %user };

    return $json->encode(\%user);
}

for my $mode ('rfc', 'spec') {
    $s->nginx->{scim}{svc_scim_mode} = $mode;
    $s->reload;

    my ($user) = grep { $_->{userName} eq 'ada@acme.test' }
                 @{ $acme->scim(GET => '/Users')->json->{Resources} };
    my %body = map { $_ => $user->{$_} } grep { !/^(?:id|meta|emails)$/ } keys %$user;
    my $wanted = libraries(patches => [ map { { user => $user, operations => $_ } } @patches ]);

    for my $i (0 .. $#patches) {
        my $r = $acme->scim(PATCH => "/Users/$user->{id}", patch_op(@{ $patches[$i] }));

        scim_ok($r, 200, "$mode: PATCH " . $json->encode($patches[$i]));
        is(told($r->json), told($wanted->{patches}[$i]), 'as scim-patch has it');
        scim_ok($acme->scim(PUT => "/Users/$user->{id}", \%body), 200, 'PUT of what was');
    }
}

$s->done;
done_testing();
