package SvcTest::PgClient;

# A PostgreSQL connection over a unix socket, in the simple query protocol, for
# looking at what the server under test has stored.

use strict;
use warnings;

use IO::Socket::UNIX;

use SvcTest::Http;
use SvcTest::Process qw(slow);


sub new {
    my ($class, %arg) = @_;

    my $self = bless { %arg, in => '' }, $class;

    $self->{sock} = IO::Socket::UNIX->new(
        Type => SOCK_STREAM, Peer => "$arg{dir}/.s.PGSQL.5432"
    ) or die "PostgreSQL: connect: $!\n";

    my $startup = pack 'N', 196608;
    $startup .= "$_\0$arg{$_}\0" for qw(user database);
    $startup .= "client_encoding\0UTF8\0\0";

    $self->put(pack('N', 4 + length $startup) . $startup);
    $self->until_ready;

    return $self;
}


sub put {
    my ($self, $bytes) = @_;

    while (length $bytes) {
        my $n = syswrite $self->{sock}, $bytes;

        if (!defined $n) {
            next if $!{EINTR};
            die "PostgreSQL: write: $!\n";
        }

        substr $bytes, 0, $n, '';
    }
}


sub get {
    my ($self, $length) = @_;

    while (length $self->{in} < $length) {
        SvcTest::Http::ready($self->{sock}, slow(30))
            or die "PostgreSQL: no answer in time\n";

        my $n = sysread $self->{sock}, $self->{in}, 65536, length $self->{in};

        next if !defined $n && $!{EINTR};
        die "PostgreSQL: connection lost\n" if !$n;
    }

    return substr $self->{in}, 0, $length, '';
}


# Reads up to ReadyForQuery.  Dies with an error that the server reports.

sub until_ready {
    my ($self) = @_;

    my (@rows, $error);

    for (;;) {
        my ($type, $length) = unpack 'a N', $self->get(5);
        my $body = $self->get($length - 4);

        if ($type eq 'D') {
            my ($n, @fields) = (unpack('n', $body));
            my $at = 2;

            for (1 .. $n) {
                my $size = unpack 'l>', substr $body, $at, 4;
                $at += 4;

                push @fields, $size < 0 ? undef : substr $body, $at, $size;
                $at += $size if $size > 0;
            }

            push @rows, \@fields;

        } elsif ($type eq 'T') {
            my ($n, @fields) = (unpack('n', $body));

            # of each its name and the OID of its type
            @fields = unpack "x2 (Z* x6 N x8)$n", $body;

            $self->{columns} = [ map { [ @fields[2 * $_, 2 * $_ + 1] ] } 0 .. $n - 1 ];

        } elsif ($type eq 'E') {
            my %field = map { substr($_, 0, 1) => substr $_, 1 }
                        grep { length } split /\0/, $body;

            $error = "$field{C} $field{M}\n";

            # ReadyForQuery does not follow a fatal error

            die "PostgreSQL: $error" if $field{S} =~ /FATAL|PANIC/;

        } elsif ($type eq 'R') {
            die "PostgreSQL: wants a password\n" if unpack('N', $body) != 0;

        } elsif ($type eq 'Z') {
            last;
        }
    }

    die "PostgreSQL: $error" if defined $error;

    return \@rows;
}


# Runs a query.  Returns all rows, each an array of texts (bytes), with undef
# for NULL.

sub query {
    my ($self, $text) = @_;

    $self->begin($text);

    return $self->until_ready;
}


# Returns the names of a prepared statement's columns.

sub columns {
    my ($self, $name) = @_;

    return map { $_->[0] } $self->described($name);
}


# The same, each with the OID of its type.

sub described {
    my ($self, $name) = @_;

    my $body = "S$name\0";

    $self->{columns} = [];
    $self->put('D' . pack('N', 4 + length $body) . $body . 'S' . pack('N', 4));
    $self->until_ready;

    return @{ $self->{columns} };
}


# Sends a query without waiting; until_ready() reads the answer.

sub begin {
    my ($self, $text) = @_;

    utf8::encode($text) if utf8::is_utf8($text);

    $self->put('Q' . pack('N', 5 + length $text) . "$text\0");
}


1;
