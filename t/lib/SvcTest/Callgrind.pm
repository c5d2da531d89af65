package SvcTest::Callgrind;

# Counts the instructions of processes that run under valgrind's callgrind,
# while they run.  Used as a meter of SvcTest::Cost, which counts those of the
# backends that serve the modules.

use strict;
use warnings;

use SvcTest::Process qw(run_user slurp spawn wait_exit);


sub prefix {
    my ($s) = @_;

    return $s->dir . '/vgdb';
}


# Returns the command that PostgreSQL is started under.  Its processes count
# from the first request for it.  libc uses its functions for any processor, so
# that the figures do not depend on the processor's model.

sub command {
    my ($s) = @_;

    return ('env', '-u', 'LOGNAME', '-u', 'USER', '-u', 'HOST', '-u', 'HOSTNAME',
            'GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-AVX_Fast_Unaligned_Load,'
            . '-ERMS',
            'valgrind', '--tool=callgrind', '--instr-atstart=no',
            '--trace-children=yes', '--vgdb-prefix=' . prefix($s),
            '--log-file=/dev/null', '--callgrind-out-file=/dev/null');
}


# Counts the instructions of the backends that serve the modules now, until
# these end.

sub new {
    my ($class, $s) = @_;

    my @pids = map { $_->[0] } $s->sql(
        "SELECT pid FROM pg_stat_activity WHERE usename = 'svc_app'");
    my $self = bless { s => $s, prefix => prefix($s), pids => \@pids }, $class;

    $self->ask('instrumentation', 'on');

    return $self;
}


# How many requests are measured: the figures hardly differ.

sub times { return 3 }


sub begin {
    my ($self) = @_;

    $self->{sum} = $self->sum;
}


sub took {
    my ($self) = @_;

    my $was = $self->{sum};

    return { instructions => ($self->{sum} = $self->sum) - $was };
}


sub sum {
    my ($self) = @_;

    my $sum = 0;

    for ($self->ask('status', 'internal')) {
        /^events-1: (\d+)$/m or die "vgdb: $_\n";
        $sum += $1;
    }

    return $sum;
}


# Returns the answer of each process to a command.  All are asked at the same
# time, because one that waits for something answers a tenth of a second later.

sub ask {
    my ($self, @what) = @_;

    delete local @ENV{qw(LOGNAME USER HOST HOSTNAME)};

    my @asked;

    for my $pid (@{ $self->{pids} }) {
        my $out = "$self->{prefix}-said-$pid";

        unlink $out;
        push @asked, { out => $out, vgdb => spawn(
            [ 'vgdb', "--vgdb-prefix=$self->{prefix}", "--pid=$pid",
              '--max-invoke-ms=10', @what ], user => run_user(), out => $out) };
    }

    for (@asked) {
        my $status = wait_exit($_->{vgdb}, 30);

        $_->{said} = slurp($_->{out}) // '';
        die "vgdb @what: $_->{said}\n" if !defined $status || $status != 0;
    }

    return map { $_->{said} } @asked;
}


1;
