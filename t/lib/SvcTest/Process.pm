package SvcTest::Process;

# Child processes of a test, waiting for conditions, and cleaning up.  Only
# processes that were started here, and their descendants, are signalled.

use strict;
use warnings;

use Exporter qw(import);
use POSIX qw(:sys_wait_h);
use Time::HiRes qw(time);

our @EXPORT_OK = qw(slow repeated wait_for spawn alive wait_exit signal_pid children
    descendants subreaper run run_apart run_user slurp
    write_file resident on_exit);


my $OWNER = $$;
my %STARTED;
my @AT_EXIT;


# Returns seconds, scaled for a slower build (sanitizers, valgrind).

sub slow {
    my ($seconds) = @_;

    return $seconds * ($ENV{SVC_TEST_SLOW} || 1);
}


# Returns how often to repeat something: the variable $name if it is set;
# otherwise $few times, or $full times when SVC_TEST_FULL=1.

sub repeated {
    my ($name, $few, $full) = @_;

    return $ENV{$name} || ($ENV{SVC_TEST_FULL} ? $full : $few);
}


# Polls until the code returns true.  Returns its value, or an empty list after
# $seconds.  The default is half a minute, which a busy machine may need: it ends
# a test that has failed, and does not judge how long something takes.  $longest is
# the longest pause between two looks, in seconds.

sub wait_for(&;$$) {
    my ($code, $seconds, $longest) = @_;

    my $end = time() + slow($seconds // 30);
    my $nap = 0.002;

    $longest //= 0.05;

    for (;;) {
        my $value = $code->();

        return $value if $value;
        return if time() > $end;

        select undef, undef, undef, $nap;
        $nap = $nap * 2 > $longest ? $longest : $nap * 2;
    }
}


# Returns the user that servers run as: PostgreSQL refuses root.

sub run_user {
    return $> == 0 ? 'postgres' : scalar getpwuid $>;
}


# Starts @$cmd as the user $opt{user}, with input from the file $opt{in}, output
# to the file $opt{out}, and errors to the file $opt{err} or, without it, to
# $opt{out}.  Returns the pid.  The child ends when this process is killed.
#  PERL5LIB is not passed on: prove sets it, Debian's psql is Perl, and that
# folder may be readable by root only.

sub spawn {
    my ($cmd, %opt) = @_;

    my @cmd = ('setpriv', '--pdeathsig', $opt{deathsig} // 'TERM');

    if ($opt{user} && $> == 0) {
        push @cmd, '--reuid', $opt{user}, '--regid', $opt{user},
             '--init-groups';
    }

    defined(my $pid = fork) or die "fork: $!\n";

    if ($pid == 0) {
        setpgrp 0, 0;
        chdir($opt{cwd} // '/');
        delete $ENV{PERL5LIB};
        %ENV = (%ENV, %{ $opt{env} // {} });
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP PIPE);

        open STDIN, '<', $opt{in} // '/dev/null';
        open STDOUT, '>>', $opt{out} // '/dev/null';

        if ($opt{err}) {
            open STDERR, '>>', $opt{err};

        } else {
            open STDERR, '>&', \*STDOUT;
        }

        { exec { $cmd[0] } @cmd, @$cmd }

        print STDERR "exec $cmd->[0]: $!\n";
        POSIX::_exit(127);
    }

    $STARTED{$pid} = 1;

    return $pid;
}


# Makes this test the parent of what daemons leave behind, as init would be;
# adopt() then treats such a process as if it had been started here.

sub subreaper {
    syscall(157, 36, 1, 0, 0, 0) == 0 or die "prctl: $!\n";
}


sub adopt {
    my ($pid) = @_;

    $STARTED{$pid} = 1;
}


# Runs a command to its end.  Returns its wait status and all its output.

sub run {
    my ($cmd, %opt) = @_;

    my $out = $opt{out} // "/tmp/svc-test-run.$$";
    unlink $out;

    my $status = run_to($out, $cmd, %opt);
    my $text = slurp($out) // '';
    unlink $out if !$opt{out};

    return ($status, $text);
}


# Does the same, and returns its output and its errors separately.

sub run_apart {
    my ($cmd, %opt) = @_;

    my @files = map { "/tmp/svc-test-run.$$.$_" } qw(out err);
    unlink @files;

    my $status = run_to($files[0], $cmd, %opt, err => $files[1]);
    my @texts = map { slurp($_) // '' } @files;
    unlink @files;

    return ($status, @texts);
}


sub run_to {
    my ($out, $cmd, %opt) = @_;

    my $pid = spawn($cmd, %opt, out => $out);
    my $status = wait_exit($pid, $opt{timeout} // 60);

    if (!defined $status) {
        signal_pid('KILL', $pid);
        wait_exit($pid);
        $status = -1;
    }

    return $status;
}


sub alive {
    my ($pid) = @_;

    return $pid && $STARTED{$pid} && waitpid($pid, WNOHANG) == 0;
}


# Waits for a child.  Returns its wait status, or undef when it does not end in
# time.  To look costs nothing, and most programs end within some milliseconds.

sub wait_exit {
    my ($pid, $seconds) = @_;

    my $status;

    wait_for {
        my $got = waitpid $pid, WNOHANG;

        if ($got == $pid) {
            $status = $?;
        }

        return $got != 0;
    } $seconds, 0.004;

    delete $STARTED{$pid} if defined $status;

    return $status;
}


sub stat_of {
    my ($pid) = @_;

    my $stat = slurp("/proc/$pid/stat") // return;

    # the name may contain spaces and parentheses

    $stat =~ s/^\d+ \(.*\) //s or return;

    my ($state, $ppid) = split ' ', $stat;

    return ($state, $ppid);
}


# Returns the pids of a process's live children (no zombies).  The kernel's list
# may lack one when another one is removed at the same moment, so it is read
# until it is the same twice.

sub children {
    my ($parent) = @_;

    my ($text, $before) = (children_of($parent), '');

    while ($text ne $before) {
        ($before, $text) = ($text, children_of($parent));
    }

    return sort { $a <=> $b } grep { ((stat_of($_))[0] // 'Z') ne 'Z' }
           split ' ', $text;
}


# Each thread lists the children that it has started itself.

sub children_of {
    my ($parent) = @_;

    return join ' ', map { slurp($_) // '' } glob "/proc/$parent/task/*/children";
}


sub descendants {
    my ($parent) = @_;

    return map { ($_, descendants($_)) } children($parent);
}


# Signals processes that this test started, or their descendants.  One that has
# just ended is left out.

sub signal_pid {
    my ($signal, @pids) = @_;

    my %ours = map { $_ => 1 } map { ($_, descendants($_)) } keys %STARTED;

    for my $pid (@pids) {
        if (!$ours{$pid}) {
            my ($state) = stat_of($pid);

            next if ($state // 'Z') eq 'Z';
            die "pid $pid is not a process of this test\n";
        }

        kill $signal, $pid;
    }
}


sub slurp {
    my ($path) = @_;

    open my $fh, '<:raw', $path or return;
    local $/;
    my $text = readline $fh;

    return $text // '';
}


sub write_file {
    my ($path, $text) = @_;

    open my $fh, '>:raw', $path or die "$path: $!\n";
    print $fh $text;
    close $fh or die "$path: $!\n";
}


# Returns the resident memory of processes, in kB.

sub resident {
    my (@pids) = @_;

    my $kb = 0;

    for my $pid (@pids) {
        $kb += $1 if (slurp("/proc/$pid/status") // '')
                     =~ /^VmRSS:\s+(\d+) kB/m;
    }

    return $kb;
}


# Registers code to run when the test ends, however it ends; the last one runs
# first.

sub on_exit {
    my ($code) = @_;

    unshift @AT_EXIT, $code;
}


sub clean_up {
    for my $code (splice @AT_EXIT) {
        eval { $code->(); 1 } or warn $@;
    }

    for my $pid (keys %STARTED) {
        my @all = ($pid, descendants($pid));

        kill 'CONT', @all;
        kill 'KILL', @all;
        waitpid $pid, 0;
    }

    %STARTED = ();
}


$SIG{$_} = sub { exit 1 } for qw(INT TERM HUP);
$SIG{PIPE} = 'IGNORE';


END {
    if ($$ == $OWNER) {
        my $status = $?;

        $SIG{$_} = 'IGNORE' for qw(INT TERM HUP);
        clean_up();
        $? = $status;
    }
}


1;
