#!/usr/bin/perl

# Shows that access policies decide as an independent evaluation in Python does, which
# is written by the contract's text: t/oracle/access_oracle.py. SVC_TEST_SEED takes
# other cases, SVC_TEST_CASES more of them.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use Test::More;

use SvcTest::Process qw(repeated);
use SvcTest::Skip;

needs(program => 'make python3');

my $ROOT = "$FindBin::Bin/..";
my $ZONEINFO = '/usr/share/zoneinfo';

my $seed = $ENV{SVC_TEST_SEED} // 20261121;
my $cases = repeated(SVC_TEST_CASES => 5_000, 100_000);

my $dir = tempdir(CLEANUP => 1);
my ($questions, $expected, $answers) = map { "$dir/$_" } qw(q expected a);


sub lines {
    my ($file) = @_;

    open my $fh, '<', $file or die "$file: $!\n";
    chomp(my @lines = <$fh>);

    return \@lines;
}


# Returns the question that an answer belongs to: the policy and the case.

sub question {
    my ($n) = @_;

    my $policy = '';

    open my $fh, '<', $questions or die "$questions: $!\n";

    while (my $line = <$fh>) {
        last if $line =~ /\A\{"zone"/;

        $policy = $line =~ /\A\{"rules"/ ? '' : $policy;

        return "$policy$line" if $n-- == 0;

        $policy ||= $line;
    }

    return 'an offset of a time zone';
}


is(system('make', '-s', '-C', $ROOT, 'unit'), 0, 'make unit');

is(system('python3', "$ROOT/t/oracle/access_oracle.py", $seed, $cases,
          $ZONEINFO, $questions, $expected), 0,
   "the oracle, with the seed $seed");

is(system("'$ROOT/build/unit/access_eval' $ZONEINFO < $questions > $answers"),
   0, 'the evaluation');

my ($want, $got) = (lines($expected), lines($answers));

cmp_ok(scalar @$want, '>', $cases + 100_000, "$cases cases, and offsets");
is(scalar @$got, scalar @$want, 'as many answers');

my @differ = grep { ($got->[$_] // '') ne $want->[$_] } 0 .. $#$want;

is(scalar @differ, 0, 'no answer differs');
diag("'$got->[$_]', not '$want->[$_]':\n" . question($_))
    for grep { defined } $differ[0];

# Each outcome is among the cases.

my %n;
$n{$_}++ for @$want;

cmp_ok($n{$_} // 0, '>', $cases / 100, "$_ is not rare")
    for 'allow -1', 'mfa -1', 'deny -1', 'allow 0', 'mfa 1', 'deny 2';
cmp_ok($n{$_} // 0, '>', 0, "$_ is there")
    for 'some -1', 'none -1', 'none 0', 'none 1';

done_testing();
