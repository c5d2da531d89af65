package SvcBench::Cpu;

# The processor time that servers take in a measurement.  It varies much less
# than rates do with the load of the machine.
#
#     my $cpu = SvcBench::Cpu->new($system->processes);
#     ...
#     my %n = $cpu->per_request($requests);     # cpu_postgres, cpu_server, ...

use strict;
use warnings;

use POSIX ();

use SvcTest::Process qw(slurp);


my $HZ = POSIX::sysconf(POSIX::_SC_CLK_TCK());


# Groups by name, each { pids => [...] }, or { root => pid } for a process with
# all its children, including those that end meanwhile.

sub new {
    my ($class, %groups) = @_;

    my $self = bless { groups => \%groups }, $class;

    $self->{before} = $self->times;

    return $self;
}


# Returns the microseconds of each group since new(), by name.

sub taken {
    my ($self) = @_;

    my $now = $self->times;

    return map { $_ => $now->{$_} - $self->{before}{$_} } keys %$now;
}


# Returns the same divided by the number of requests, as "cpu_" and the name.

sub per_request {
    my ($self, $requests) = @_;

    my %taken = $self->taken;

    return map { ("cpu_$_" => $taken{$_} / $requests) } keys %taken;
}


sub times {
    my ($self) = @_;

    my %groups = %{ $self->{groups} };
    my %times;

    for my $name (keys %groups) {
        my ($root, $pids) = @{ $groups{$name} }{qw(root pids)};

        $times{$name} = 0;
        $times{$name} += $_->{own} for map { stat_of($_) } @{ $pids // [] };
        $times{$name} += tree($root) if $root;
    }

    return \%times;
}


# A child's time is its own until its parent has waited for it, and then belongs
# to the parent's ended children: none may move while it is summed up.

sub tree {
    my ($pid) = @_;

    for (;;) {
        my $root = stat_of($pid) // die "process $pid is gone\n";
        my $sum = $root->{own} + $root->{ended};

        $sum += $_->{own} for grep { $_->{parent} == $pid } processes();

        my $now = stat_of($pid);

        return $sum if $now && $now->{ended} == $root->{ended};
    }
}


sub processes {
    opendir my $proc, '/proc' or die "/proc: $!\n";

    return map { stat_of($_) } grep { /^\d+$/ } readdir $proc;
}


# Returns, by proc(5), user and system time of all threads, and of ended
# children.

sub stat_of {
    my ($pid) = @_;

    my $stat = slurp("/proc/$pid/stat") // return;

    $stat =~ s/^.*\) //s or return;
    my @field = split ' ', $stat;

    return { parent => $field[1],
             own => ($field[11] + $field[12]) * 1e6 / $HZ,
             ended => ($field[13] + $field[14]) * 1e6 / $HZ };
}


1;
