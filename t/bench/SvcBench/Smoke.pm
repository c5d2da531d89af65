package SvcBench::Smoke;

# Runs both benchmarks with --smoke at the same time, to check that everything
# that they measure can be measured.

use strict;
use warnings;

use Cwd ();
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Time::HiRes qw(time);

use SvcTest::Process qw(slurp spawn wait_exit);


my $ROOT = Cwd::realpath(dirname(__FILE__) . '/../../..');
my $LIMIT = 1_200;                      # seconds until it is given up


# Prints the output of both.  Returns the exit status.

sub run {
    my $begin = time;
    my $logs = "$ROOT/build/bench";
    my ($rows, $bad, %failed) = (0, 0);

    make_path($logs);

    my @runs = map { start($_, "$logs/$_.log") } qw(bench peer);

    for my $run (@runs) {
        my $status = wait_exit($run->{pid}, $LIMIT) // 1;
        my $text = slurp($run->{log}) // '';

        print $text;
        $rows += $1 if $text =~ /^==> \S+: (\d+) rows ran/m;
        $failed{$_} = 1 for $text =~ /^FAIL (.*?):/mg;
        $bad ||= $status;
    }

    printf "==> bench-smoke: %d rows ran, %s\n", $rows,
           $bad ? 'failed: ' . (join(', ', sort keys %failed) || 'see above')
           : sprintf 'in %.0f s', time - $begin;

    return $bad ? 1 : 0;
}


sub start {
    my ($name, $log) = @_;

    unlink $log;

    my @command = ('perl', "-I$ROOT/t/lib", "$ROOT/t/bench/$name.pl", '--smoke');

    return { log => $log, pid => spawn(\@command, out => $log) };
}


1;
