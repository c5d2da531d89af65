package SvcTest::Monitor;

# The commands that Redis executes, as they happen: MONITOR, also those of
# scripts.
#
#     my $m = SvcTest::Monitor->new($s->redis);
#     ...
#     my @pushed = $m->wait(2, 'RPUSH', 'svc.webhook2.queue');

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;

use SvcTest::Process qw(slow);


my %PLAIN = (n => "\n", r => "\r", t => "\t", a => "\a", b => "\b");


sub new {
    my ($class, $redis) = @_;

    my $sock = IO::Socket::UNIX->new(Peer => $redis->{socket})
        or die "$redis->{socket}: $!\n";
    my $self = bless { sock => $sock, text => '', commands => [] }, $class;

    syswrite $sock, "MONITOR\r\n" or die "MONITOR: $!\n";
    $self->read_until(sub { $self->{text} =~ s/\A\+OK\r\n// }) or die
        "MONITOR: no answer\n";

    return $self;
}


# Waits up to half a minute for $n commands that begin with these words, and
# takes the first $n, each as an array of the arguments after the words.

sub wait {
    my ($self, $n, @words) = @_;

    my @found;

    $self->read_until(sub {
        push @found, $self->take($n - @found, @words);

        return @found >= $n;
    });

    return @found;
}


# Takes in the same way up to $n commands that have already come.

sub take {
    my ($self, $n, @words) = @_;

    my (@found, @rest);

    $self->parse;

    for my $command (@{ $self->{commands} }) {
        my @arg = @$command;

        if (@found < $n && @arg >= @words
            && "@arg[0 .. $#words]" eq "@words")
        {
            push @found, [ @arg[@words .. $#arg] ];

        } else {
            push @rest, $command;
        }
    }

    $self->{commands} = \@rest;

    return @found;
}


sub parse {
    my ($self) = @_;

    while ($self->{text} =~ s/\A\+[\d.]+ \[[^\]]*\] (.*?)\r\n//s) {
        my @arg = $1 =~ /"((?:[^"\\]|\\.)*)"/g;

        s/\\(?:x(..)|(.))/defined $1 ? chr hex $1 : $PLAIN{$2} \/\/ $2/ge
            for @arg;

        push @{ $self->{commands} }, \@arg if @arg;
    }
}


sub read_until {
    my ($self, $done) = @_;

    my $end = time + slow(30);

    until ($done->()) {
        return 0 if time > $end;

        next if !IO::Select->new($self->{sock})->can_read(0.2);

        sysread $self->{sock}, $self->{text}, 65536, length $self->{text}
            or return 0;
    }

    return 1;
}


1;
