package SvcBench::Scim;

# Load of SCIM requests on a system, or on a peer that does the same work, with
# a check that what was answered has been done.

use strict;
use warnings;

use SvcBench::Load;
use SvcTest::Process qw(wait_for write_file);


my $CONNECTIONS = 64;


# --- writes -----------------------------------------------------------------

# Measures creations: every answer of 201 has stored a user, with its event.
# Requests in flight when wrk left are stored, too.

sub create {
    my ($system, $seconds, %opt) = @_;

    my $before = $system->created;
    my $n = SvcBench::Load::wrk($system, 'create', seconds => $seconds,
                                connections => $CONNECTIONS, %opt);

    check($n, $system->created - $before, 'users are stored');

    return $n;
}


# Measures changes: every answer of 200 has changed a user, with its event.

sub change {
    my ($system, $script, $seconds, %opt) = @_;

    my $before = $system->events;
    my $n = SvcBench::Load::wrk($system, $script, seconds => $seconds,
                                connections => $CONNECTIONS, %opt);

    check($n, $system->events - $before, 'events are stored');

    return $n;
}


# Deactivates each active user, and activates each other one.

sub toggle {
    my ($system, $seconds) = @_;

    my $file = "$system->{dir}/inactive.lua";

    write_file($file, 'return { ' . join(', ', $system->inactive) . " }\n");

    return change($system, 'patch', $seconds, inactive => $file);
}


sub check {
    my ($n, $done, $what) = @_;

    die "$n->{requests} requests were answered, $done $what\n"
        if !@{ $n->{faults} }
           && ($done < $n->{requests} || $done > $n->{requests} + $CONNECTIONS);
}


# --- reads ------------------------------------------------------------------

sub reads {
    my ($system, $seconds, %opt) = @_;

    return SvcBench::Load::wrk($system, 'get', seconds => $seconds,
                               threads => 1, %opt);
}


# Measures reads while users are created at a fixed rate.  The writes begin
# before the reads, and end after them.  The processor time per request counts
# both kinds.

sub reads_beside_writes {
    my ($system, $seconds, $rate, %opt) = @_;

    my $writes = SvcBench::Load::wrk_start(
        $system, 'create', seconds => $seconds + 60,
        connections => $CONNECTIONS, threads => 1, rate => $rate);

    wait_for { $system->created > 0 } 60 or die "nothing is created\n";

    my $n = reads($system, $seconds, %opt);

    die "the writes ended before the reads\n"
        if SvcBench::Load::ended($writes);

    SvcBench::Load::stop($writes);

    my $w = SvcBench::Load::wrk_end($writes);

    check($w, $system->created, 'users are stored');
    push @{ $n->{faults} }, @{ $w->{faults} };
    @$n{qw(write_rate write_p99 write_wanted)} = (@$w{qw(rate p99)}, $rate);
    $n->{$_} *= $n->{rate} / ($n->{rate} + $w->{rate})
        for grep { /^cpu_/ } keys %$n;
    $system->reset;

    return $n;
}


1;
