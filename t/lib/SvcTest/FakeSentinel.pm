package SvcTest::FakeSentinel;

# A sentinel that answers what it is told to.
#
#     my $sentinel = SvcTest::FakeSentinel->new($dir);
#     $sentinel->says(7, '127.0.0.1', 6379);      # epoch, address, port
#     $sentinel->answers("*-1\r\n");              # bytes, or '': nothing
#
# It listens on 127.0.0.1, or on another address:
# SvcTest::FakeSentinel->new($dir, '::1').

use strict;
use warnings;

use IO::Select;
use IO::Socket::IP;
use POSIX ();

use SvcTest::Process qw(write_file slurp);


sub new {
    my ($class, $dir, $address) = @_;

    my $socket = IO::Socket::IP->new(Listen => 64, LocalAddr => $address // '127.0.0.1')
        or die "listen: $@\n";
    my $self = bless { port => $socket->sockport }, $class;

    $self->{file} = "$dir/fake-sentinel.$self->{port}";
    $self->answers('');

    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        setpgrp 0, 0;
        $self->serve($socket);
        POSIX::_exit(0);
    }

    SvcTest::Process::adopt($pid);

    return $self;
}


sub port { return $_[0]{port} }


# Sets both answers at once: to the question about the master, and to that for
# its address.

sub says {
    my ($self, $epoch, $host, $port) = @_;

    $self->answers(bulk('name', 'mymaster', 'ip', $host, 'port', $port,
                        'config-epoch', $epoch) . bulk($host, $port));
}


sub bulk {
    return '*' . @_ . "\r\n"
           . join '', map { '$' . length($_) . "\r\n$_\r\n" } @_;
}


sub answers {
    my ($self, $bytes) = @_;

    write_file("$self->{file}.new", $bytes);
    rename "$self->{file}.new", $self->{file} or die "$!\n";
}


# Sends the answer once the second question has arrived.

sub serve {
    my ($self, $socket) = @_;

    my $select = IO::Select->new($socket);
    my %asked;

    for (;;) {
        for my $c ($select->can_read(1)) {
            if ($c == $socket) {
                $select->add($socket->accept // next);
                next;
            }

            my $n = sysread $c, my $bytes, 4096;

            if (!$n) {
                delete $asked{$c};
                $select->remove($c);
                close $c;
                next;
            }

            $asked{$c} .= $bytes;

            if ($asked{$c} =~ s/^.*get-master-addr-by-name.*\r\nmymaster\r\n//s)
            {
                syswrite $c, slurp($self->{file}) // '';
            }
        }
    }
}


1;
