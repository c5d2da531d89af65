package SvcTest::Callgrind;

# The instructions of processes that run under valgrind's callgrind, read while
# they run.  As a meter of SvcTest::Cost: those of the backends that serve the
# modules.

use strict;
use warnings;

use SvcTest::Process qw(run_user slurp spawn wait_exit);


# What to start a program with, whose processes are asked by the files $prefix-*.
# They do not count until they are asked the first time.  libc's functions are
# those for any processor, lest the figures are those of one.

sub command {
    my ($prefix) = @_;

    return ('env', '-u', 'LOGNAME', '-u', 'USER', '-u', 'HOST', '-u', 'HOSTNAME',
            'GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-AVX_Fast_Unaligned_Load,'
            . '-ERMS',
            'valgrind', '--tool=callgrind', '--instr-atstart=no',
            '--trace-children=yes', "--vgdb-prefix=$prefix", '--log-file=/dev/null',
            '--callgrind-out-file=/dev/null');
}


# PostgreSQL, and nginx on it, start again, PostgreSQL with its processes under
# callgrind: in some seconds, in which nothing is counted.

sub begin_under {
    my ($s) = @_;

    $s->nginx->quit;
    delete $s->{client};
    $s->pg->stop;
    $s->pg->{under} = [ command($s->dir . '/vgdb') ];
    $s->pg->launch;
    $s->nginx->launch;
    $s->wait_healthy(120) or die "nginx is not healthy\n";
}


sub new {
    my ($class, $s) = @_;

    return bless { s => $s, prefix => $s->dir . '/vgdb' }, $class;
}


sub begin {
    my ($self) = @_;

    $self->{sums} = $self->sums;
}


sub end {
    my ($self) = @_;

    return { instructions => $self->sums - $self->{sums} };
}


sub sums {
    my ($self) = @_;

    my @pids = map { $_->[0] } $self->{s}->sql(
        "SELECT pid FROM pg_stat_activity WHERE usename = 'svc_app'");

    $self->ask([ grep { !$self->{counts}{$_}++ } @pids ], 'instrumentation', 'on');

    my $said = $self->ask(\@pids, 'status', 'internal');
    my $sum = 0;

    for (values %$said) {
        /^events-1: (\d+)$/m or die "vgdb: $_\n";
        $sum += $1;
    }

    return $sum;
}


# What each of some processes says to a command, all asked at the same time: one
# that waits for something answers a tenth of a second later.

sub ask {
    my ($self, $pids, @what) = @_;

    delete local @ENV{qw(LOGNAME USER HOST HOSTNAME)};

    my %said = map { $_ => "$self->{prefix}-said-$_" } @$pids;

    unlink values %said;

    my %vgdb = map { $_ => spawn([ 'vgdb', "--vgdb-prefix=$self->{prefix}", "--pid=$_",
                                   '--max-invoke-ms=10', @what ],
                                 user => run_user(), out => $said{$_}) } @$pids;

    for my $pid (@$pids) {
        my $status = wait_exit($vgdb{$pid}, 30);

        $said{$pid} = slurp($said{$pid}) // '';
        die "vgdb @what: $said{$pid}\n" if !defined $status || $status != 0;
    }

    return \%said;
}


1;
