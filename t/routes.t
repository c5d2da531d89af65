#!/usr/bin/perl

# What is so of every route: walks over all of them, on one server with everything
# switched on.  What each one proves is told in its file.

use strict;
use warnings;

use Test::More;

use SvcTest::Walk;
use SvcTest::Walk::Bodies;
use SvcTest::Walk::Heads;
use SvcTest::Walk::Ids;
use SvcTest::Walk::Kept;
use SvcTest::Walk::Limits;
use SvcTest::Walk::Members;
use SvcTest::Walk::Named;
use SvcTest::Walk::Query;
use SvcTest::Walk::Tenants;
use SvcTest::Walk::Waiting;


# first those that are to leave all as it is; the last one is alone with what it
# makes

my $w = SvcTest::Walk->new;

for my $name (qw(Named Ids Heads Query Tenants Waiting Kept Bodies Members Limits))
{
    subtest $name => sub { "SvcTest::Walk::$name"->walk($w) };
}

is(join('', $w->{s}->pg->errors), '', 'PostgreSQL logged no error');

# nginx itself shows a doubled header, at the level info

$w->{s}->done(shown => [ qr/ \[info\] .* client sent duplicate header line: / ]);
done_testing();
