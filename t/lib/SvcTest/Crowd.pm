package SvcTest::Crowd;

# Many kept connections to some nodes, in one loop.  On each connection a
# request follows the answer of the last one; other connections can be watched
# beside them.  A request that is sent after an answer was read has begun later
# than that answer.
#
#     my $crowd = SvcTest::Crowd->new(ports => [ $s->port, $node->{port} ],
#                                     next => sub { ... }, told => sub { ... });
#     $crowd->beside($s->begin(...), sub { my ($r) = @_; ... });
#     $crowd->run;

use strict;
use warnings;

use SvcTest::Http;
use SvcTest::Process qw(slow);


# ports: of the nodes; each: the number of connections to one of them.  next:
# called with the index of a node, returns the bytes of a request and a name for
# it, or nothing when there are no more; told: called with that index, that
# name, and the status and body of each answer.

sub new {
    my ($class, %arg) = @_;

    return bless { each => 24, %arg, beside => [], of => {} }, $class;
}


# Watches a connection on which a request was sent (SvcTest::begin): its answer
# is handled before others that come at the same time.

sub beside {
    my ($self, $connection, $then) = @_;

    push @{ $self->{beside} }, [ $connection, $then ];
}


sub run {
    my ($self) = @_;

    for my $node (0 .. $#{ $self->{ports} }) {
        $self->ask({ node => $node, in => '',
                     sock => SvcTest::Http::connected('127.0.0.1', $self->{ports}[$node])
                             // die "connect: $!\n" })
            for 1 .. $self->{each};
    }

    $self->turn while %{ $self->{of} } || @{ $self->{beside} };
}


# Sends the next request on a connection, or closes it.

sub ask {
    my ($self, $c) = @_;

    my ($bytes, $name) = $self->{next}->($c->{node});
    my $fd = fileno $c->{sock};

    if (!defined $bytes) {
        delete $self->{of}{$fd};
        close $c->{sock};
        return;
    }

    $c->{name} = $name;
    $self->{of}{$fd} = $c;

    (syswrite($c->{sock}, $bytes) // -1) == length $bytes or die "request: $!\n";
}


sub turn {
    my ($self) = @_;

    my @beside = splice @{ $self->{beside} };
    my $want = '';

    vec($want, $_, 1) = 1 for keys %{ $self->{of} }, map { fileno $_->[0]->sock } @beside;

    select(my $ready = $want, undef, undef, slow(30)) > 0 or die "no answer\n";

    for my $one (@beside) {
        if (vec $ready, fileno $one->[0]->sock, 1) {
            $one->[1]->($one->[0]->read // die 'no answer: ' . $one->[0]->error . "\n");
            $one->[0]->close;

        } else {
            push @{ $self->{beside} }, $one;
        }
    }

    $self->take($_) for grep { vec $ready, fileno $_->{sock}, 1 } values %{ $self->{of} };
}


sub take {
    my ($self, $c) = @_;

    sysread $c->{sock}, $c->{in}, 65536, length $c->{in} or die "a connection is closed: $!\n";

    my $end = index $c->{in}, "\r\n\r\n";

    return if $end < 0;

    my ($status, $length)
        = $c->{in} =~ /\AHTTP\/1\.1 (\d{3}) .*?^Content-Length: (\d+)\r$/ms
        or die "no answer of this kind: $c->{in}\n";

    return if length $c->{in} < $end + 4 + $length;

    my $body = substr $c->{in}, $end + 4;

    $c->{in} = '';
    $self->{told}->($c->{node}, $c->{name}, $status, $body);
    $self->ask($c);
}


1;
