package SvcTest::Lines;

# A program that reads lines of JSON, and answers each with a line.
#
#     my $program = SvcTest::Lines->new('build/unit/factor_eval');
#     my $answer = $program->ask({ recovery => { n => 10 } });

use strict;
use warnings;

use IPC::Open2;
use JSON::PP ();

use SvcTest::Json qw(json);

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;


sub new {
    my ($class, @command) = @_;

    my $pid = open2(my $out, my $in, @command);

    return bless { pid => $pid, in => $in, out => $out, name => $command[0] },
                 $class;
}


# Sends a line as it is, and returns the answer as it is.

sub line {
    my ($self, $question) = @_;

    local $SIG{PIPE} = 'IGNORE';

    print { $self->{in} } $JSON->encode($question), "\n";
    $self->{in}->flush;

    my $line = readline $self->{out};
    die "$self->{name} has ended\n" if !defined $line;
    chomp $line;

    return $line;
}


sub ask {
    my ($self, $question) = @_;

    return json()->decode($self->line($question));
}


# Ends the program; returns its exit status.

sub end {
    my ($self) = @_;

    return if !defined $self->{pid};

    close $self->{in};
    close $self->{out};

    local $?;
    waitpid delete $self->{pid}, 0;

    return $?;
}


sub DESTROY {
    my ($self) = @_;

    local $@;
    $self->end;
}


1;
