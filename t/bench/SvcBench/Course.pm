package SvcBench::Course;

# The course of a benchmark: it measures in rounds or once, and keeps the
# results.  Failures are reported by name at the end, and do not prevent other
# measurements.
#
# In a smoke test each measurement is made once, for a moment, and none may be
# missing.

use strict;
use warnings;

use Exporter qw(import);

use SvcBench::Load;
use SvcBench::Report qw(elapsed say_step);

our @EXPORT_OK = qw(smoke size);


my $LINES = 12;                         # lines of a failure's message

my $SMOKE = grep { $_ eq '--smoke' } @ARGV;


sub smoke { return $SMOKE }


# Returns the variable of the environment, or one of two defaults: the
# benchmark's, or the smoke test's.

sub size {
    my ($name, $usual, $few) = @_;

    return $ENV{$name} || ($SMOKE ? $few : $usual);
}


# measure: code by name, which takes seconds and returns a hash; rounds and
# seconds; mend: code that removes what a failed measurement may have left;
# complaints: code that returns lines of logs that should not be there.

sub new {
    my ($class, %opt) = @_;

    return bless { %opt, results => {}, failed => [], gone => {}, seen => {} }, $class;
}


sub results { return $_[0]{results} }
sub warming { return $_[0]{warming} }


# --- measuring --------------------------------------------------------------

# Measures names in each round; the results have the suffix in their names.

sub rounds {
    my ($self, $suffix, @names) = @_;

    $self->in_rounds($suffix, sub { @_ }, @names);
}


# Measures in rounds whose order alternates, so that slow changes of the machine
# affect all alike.

sub rounds_in_turn {
    my ($self, @names) = @_;

    $self->in_rounds('', sub { reverse @_ }, @names);
}


sub in_rounds {
    my ($self, $suffix, $next, @names) = @_;

    @names = $self->warm_up($suffix, @names) if !$SMOKE;

    for my $round (1 .. $self->{rounds}) {
        say_step("round $round of $self->{rounds}") if @names && !$SMOKE;

        @names = $next->(grep { $self->measured("$_$suffix", $_) } @names);
    }
}


# Returns the names that can be measured.

sub warm_up {
    my ($self, $suffix, @names) = @_;

    say_step('warming up') if @names;

    local $self->{warming} = 1;

    return grep {
        my $name = $_;

        $self->attempt([ "$name$suffix" ], sub {
            my $faults = $self->{measure}{$name}->(1)->{faults};

            die "@$faults\n" if @$faults;
        });
    } @names;
}


sub measured {
    my ($self, $called, $name) = @_;

    return $self->once([ $called ],
                       sub { $self->{measure}{$name}->($self->{seconds}) });
}


# Measures several names by code that returns their results in the same order.

sub once {
    my ($self, $names, $code) = @_;

    say_step("@$names") if $SMOKE;

    return $self->attempt($names, sub {
        my @n = $code->();

        push @{ $self->{results}{ $names->[$_] } }, $n[$_] for 0 .. $#$names;
        $self->look if $SMOKE;
    });
}


# Does something that measurements need; if it fails, they fail, too.

sub step {
    my ($self, $what, $code) = @_;

    say_step($what);

    return $self->attempt([ $what ], $code);
}


# Returns true when the code came to its end.

sub attempt {
    my ($self, $names, $code) = @_;

    return 1 if eval { $code->(); 1 };

    $self->failed($names, $@);

    return 0;
}


# Prints a report; a smoke test makes it, too, and prints nothing of it.

sub reported {
    my ($self, $report) = @_;

    open my $nowhere, '>', '/dev/null' or die "/dev/null: $!\n";

    my $shown = select;

    select $nowhere if $SMOKE;

    my $done = $self->attempt([ 'the report' ], $report);

    select $shown;

    return $done;
}


# --- what failed --------------------------------------------------------------

sub failed {
    my ($self, $names, $why) = @_;

    my @lines = split /^/, $why;

    chomp($why = join '', @lines > $LINES ? (@lines[0 .. $LINES - 1], "...\n") : @lines);
    $self->{gone}{$_} = 1 for @$names;
    push @{ $self->{failed} }, "@$names: $why";
    print STDOUT "FAIL @$names: $why\n";

    SvcBench::Load::stop_all();
    eval { $self->{mend}->(); 1 } or print "what it left: $@";
    $self->{seen} = $self->said if $SMOKE;
}


# Dies with new lines in the logs: they come from the last measurement.

sub look {
    my ($self) = @_;

    my $before = $self->{seen};
    my $now = $self->{seen} = $self->said;
    my @new = grep { $now->{$_} > ($before->{$_} // 0) } sort keys %$now;

    die "a log complains:\n", @new if @new;
}


# Returns the lines of the logs, and how often each is there.

sub said {
    my ($self) = @_;

    my %said;

    $said{$_}++ for $self->{complaints}->();

    return \%said;
}


# Reports every measurement and every row of the table that has no result.

sub missing {
    my ($self, @rows) = @_;

    my %of = map { $_ => "\"$_\"" } keys %{ $self->{measure} };

    for my $row (@rows) {
        $of{$_} = "row \"$row->[0]\", \"$_\"" for grep { !/^[\d.]/ } @$row[1, 3];
    }

    $self->failed([ $of{$_} ], 'was not measured')
        for grep { !$self->{results}{$_} && !$self->{gone}{$_} } sort keys %of;
}


# Prints what has failed.  Returns the exit status: 0, or 1.

sub end {
    my ($self, $name) = @_;

    my $results = $self->{results};

    $self->failed([ $_->[0] ], $_->[1])
        for map { my $of = $_; map { [ $of, $_ ] }
                               map { @{ $_->{faults} } } @{ $results->{$of} } }
            sort keys %$results;

    my @failed = @{ $self->{failed} };

    print "\n", map { "FAIL $_\n" } @failed if @failed;
    printf "==> %s: %d rows ran, %s\n", $name, scalar keys %$results,
           @failed ? @failed . ' failures' : sprintf 'in %.0f s', elapsed()
        if $SMOKE || @failed;

    return @failed ? 1 : 0;
}


1;
