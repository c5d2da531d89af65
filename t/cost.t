#!/usr/bin/perl

# Shows that no request costs PostgreSQL more than the figures in t/cost, which do not
# depend on what else the machine does.
#
# SVC_TEST_COST=ci: counts the instructions of the dearest requests, too; all: of all
# requests; write: writes all figures into the file.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Callgrind;
use SvcTest::Cost;
use SvcTest::Cost::File;
use SvcTest::Cost::Helper;
use SvcTest::Cost::Requests;
use SvcTest::Skip;


my $mode = $ENV{SVC_TEST_COST} // '';
my ($file, %is);

skip_built_in();

$file = SvcTest::Cost::File->new('.');
skip_file($file->missing) if $file->missing && $mode ne 'write';


# --- counts ----------------------------------------------------------------------

sub server {
    my (%arg) = @_;

    my %svc = SvcTest::Cost::Requests::directives();

    return SvcTest->new(
        SvcTest::Cost::server(svc => \%svc, %arg),
        locations => SvcTest::Cost::Requests::locations());
}


sub measure {
    my ($meter, @operations) = @_;

    for my $op (@operations) {
        my $n = SvcTest::Cost::measure($op, $meter);

        $is{ $op->{name} }{$_} = $n->{$_} for keys %$n;
    }
}


my $s = server(counted => 1)->start;
my $world = SvcTest::Cost::Requests::world($s);

SvcTest::Cost::alone($s);
measure(SvcTest::Cost->new($s), SvcTest::Cost::Requests::operations($world));
SvcTest::Cost::done($s);

$s = server(counted => 1);

my $out = SvcTest::Cost::Helper::prepare($s);

$s->start;
%is = (%is, %{ SvcTest::Cost::Helper::measure($s, $out) });
SvcTest::Cost::done($s);

cmp_ok(scalar keys %is, '>=', 30, 'operations that are counted');


# --- instructions ----------------------------------------------------------------

# The rows that the requests need are stored before, at full speed.

sub instructions {
    my (@names) = @_;

    local $ENV{SVC_TEST_SLOW} = 10 * ($ENV{SVC_TEST_SLOW} || 1);

    my $s = server()->start;
    my $world = SvcTest::Cost::Requests::world($s);
    my %wanted = map { $_ => 1 } @names;

    SvcTest::Cost::alone($s, under => [ SvcTest::Callgrind::command($s) ]);
    measure(SvcTest::Callgrind->new($s),
            grep { $wanted{ $_->{name} } }
                 SvcTest::Cost::Requests::operations($world));
    SvcTest::Cost::done($s);
}


if ($mode ne '' && !$file->same_machine && $mode ne 'write') {
    SKIP: { skip_part('the instructions are those of another kind of processor', 1) }

} elsif ($mode ne '') {
    diag('the instructions are those of ', $file->other, ': a tenth more may be')
        if $mode ne 'write' && $file->other;
    instructions($mode eq 'ci' ? @SvcTest::Cost::Requests::DEAREST : keys %is);
}


# --- no request is dearer --------------------------------------------------------

if ($mode eq 'write') {
    $file->write(\%is);

} else {
    my @cheaper;

    is(join(' ', sort keys %is), join(' ', $file->names), 'those that the file has');

    for my $name (sort keys %is) {
        my ($dearer, $less) = $file->compare($name, $is{$name});

        is(join("\n", @$dearer), '', "$name is not dearer");
        push @cheaper, @$less;
    }

    diag(map({ "$_\n" } @cheaper), 'cheaper: "make cost" writes it down')
        if @cheaper;
}

done_testing();
