#!/usr/bin/perl

# t/lib/run-tests: a test that fails is run once more, alone, and that result
# counts; a test that passes alone is listed, with its first output.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use Test::More;

use SvcTest::Process qw(run slurp write_file);


my $dir = tempdir('/tmp/svc-run-tests.XXXXXX', CLEANUP => 1);
my $times = "$dir/times";

sub test {
    my ($name, $code) = @_;

    write_file("$dir/$name.t", "use Test::More;\n$code\ndone_testing();\n");

    return "$name.t";
}

# Runs it.  Returns whether its exit status is 0, and all its output.

sub run_tests {
    my (@files) = @_;

    my ($status, $text) = run([ $^X, getcwd() . '/t/lib/run-tests', '-j2', '-o',
                                "$dir/out", @files ], cwd => $dir);

    return ($status == 0, $text);
}

my $counts = "open my \$fh, '>>', '$times/' . 'NAME'; print \$fh 'x'; close \$fh;";

mkdir $times or die;

my $good = test(good => 'pass("one"); pass("two");');
my $bad = test(bad => 'diag("what it found"); fail("always");' . $counts =~ s/NAME/bad/r);
my $wavers = test(wavers => "my \$n = -s '$times/wavers' // 0; diag('the n-th time: ' . \$n);"
                            . $counts =~ s/NAME/wavers/r . 'ok($n, "but for the first time");');
my $dies = test(dies => 'pass("before"); die "half way\n";');
my $killed = test(killed => 'pass("before"); kill KILL => $$;');

my ($passes, $text) = run_tests($good);

ok($passes, 'what passes');
like($text, qr/^==> 1 files, 2 tests, \d+ s, \d+ s of CPU$/m, 'is counted');
unlike($text, qr/passed alone|once more/, 'once');
like(slurp("$dir/out/times"), qr/\A +\d+\.\d s +\d+\.\d s CPU +2 tests  good\.t\n\z/,
     'and what it took is kept');

($passes, $text) = run_tests($good, $wavers);

ok($passes, 'what passes alone is no failure');
like($text, qr/^==> once more, alone: wavers\.t$/m, 'is run once more');
like($text, qr{^==> passed alone: wavers\.t, .* \S+/passed-alone/wavers\.t$}m, 'is named');
like(slurp("$dir/out/passed-alone/wavers.t"),
     qr/^not ok 1 - but for the first time\n.*^# the n-th time: 0\n/ms,
     'and what it said at first is kept');
is(-s "$times/wavers", 2, 'it ran twice');

($passes, $text) = run_tests($good, $bad);

ok(!$passes, 'what fails twice is a failure');
like($text, qr/^==> failed twice: bad\.t$/m, 'is named');
like($text, qr/^# what it found$/m, 'and its errors are shown');
is(-s "$times/bad", 2, 'it ran twice');
ok(!-e "$dir/out/passed-alone", 'what an earlier run kept is gone');

for my $file ($dies, $killed) {
    ($passes, $text) = run_tests($file);

    ok(!$passes, "$file: a test that ends early is a failure");
}

($passes) = run_tests('nothing.t');
ok(!$passes, 'and one that is not there');

done_testing();
