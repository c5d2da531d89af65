#!/usr/bin/perl

# What holds for every route: walks over all of them, on one server with
# everything switched on.  The file of each walk says what it proves.

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


# First come the walks that must change nothing; the last one changes what
# others would depend on.

my $w = SvcTest::Walk->new;

for my $name (qw(Named Ids Heads Query Tenants Waiting Kept Bodies Members Limits))
{
    subtest $name => sub { "SvcTest::Walk::$name"->walk($w) };
}

is(join('', $w->{s}->pg->errors), '', 'PostgreSQL logged no error');

# nginx itself logs a repeated header, at the level info

$w->{s}->done(shown => [ qr/ \[info\] .* client sent duplicate header line: / ]);
done_testing();
