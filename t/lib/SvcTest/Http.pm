package SvcTest::Http;

# An HTTP/1 client over a raw socket: what is sent is what the test says, byte
# for byte, and what comes back is read strictly.

use strict;
use warnings;

use IO::Handle ();
use POSIX ();
use Socket qw(PF_INET SOCK_STREAM SOCK_NONBLOCK SOL_SOCKET SO_ERROR SO_LINGER
    inet_aton pack_sockaddr_in);
use Time::HiRes qw(time);

use SvcTest::Process qw(slow);


# host, port; optionally local (an address to connect from) and timeout, the
# longest silence to wait for, in seconds.

sub new {
    my ($class, %arg) = @_;

    my $self = bless { timeout => slow(30), %arg, in => '' }, $class;

    $self->{sock} = connected(@arg{qw(host port local)})
        // die "connect to $arg{host}:$arg{port}: $!\n";

    return $self;
}


# Connects without IO::Socket::INET, which takes as long as the rest of a
# request.

sub connected {
    my ($host, $port, $local) = @_;

    socket my $sock, PF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0 or return;
    bind $sock, pack_sockaddr_in(0, inet_aton($local)) or return if $local;

    return $sock if connect $sock, pack_sockaddr_in($port, inet_aton($host));
    return if !$!{EINPROGRESS};

    if (!(ready($sock, slow(30)))[1]) {
        $! = POSIX::ETIMEDOUT();
        return;
    }

    $! = unpack 'i', getsockopt $sock, SOL_SOCKET, SO_ERROR;

    return $! == 0 ? $sock : undef;
}


# Waits until a socket is ready, at most $seconds.  Returns whether it can be
# read and, in list context, whether it can be written.  A signal may end the
# wait early.

sub ready {
    my ($sock, $seconds) = @_;

    my $fd = fileno $sock;

    vec(my $r = '', $fd, 1) = 1;
    my $w = wantarray ? $r : undef;

    my $n = select $r, $w, undef, $seconds;

    return wantarray ? (0, 0) : 0 if $n <= 0;
    return wantarray ? (vec($r, $fd, 1), vec($w, $fd, 1)) : 1;
}


sub sock {
    return $_[0]{sock};
}


sub close {
    my ($self) = @_;

    CORE::close(delete $self->{sock}) if $self->{sock};
}


# Closes with a reset instead of a FIN.

sub abort {
    my ($self) = @_;

    setsockopt $self->{sock}, SOL_SOCKET, SO_LINGER, pack 'll', 1, 0;
    $self->close;
}


# Sends all bytes.  What arrives meanwhile is kept, so that a server that
# answers early cannot block us.  False when the peer has closed.

sub send {
    my ($self, $bytes) = @_;

    while (length $bytes) {
        my ($r, $w) = ready($self->{sock}, $self->{timeout});

        die "send: the server does not read\n" if !$r && !$w;

        return 0 if $r && !$self->fill;
        next if !$w;

        my $n = syswrite $self->{sock}, $bytes, 65536;

        if (!defined $n) {
            next if $!{EAGAIN} || $!{EINTR};
            return 0;
        }

        substr $bytes, 0, $n, '';
    }

    return 1;
}


# Reads what has arrived; returns false at end of file or on a reset.

sub fill {
    my ($self) = @_;

    my $n = sysread $self->{sock}, $self->{in}, 262144, length $self->{in};

    return 1 if $n || (!defined $n && ($!{EAGAIN} || $!{EINTR}));

    $self->{eof} = 1;

    return 0;
}


sub wait_input {
    my ($self, $end) = @_;

    my $left = $end - time();

    if ($self->{eof}) {
        $self->{error} = 'closed';
        return 0;
    }

    if ($left <= 0) {
        $self->{error} = 'timeout';
        return 0;
    }

    # a signal may end the wait early: the loop then tries again

    return 1 if !ready($self->{sock}, $left);

    if (!$self->fill) {
        $self->{error} = 'closed';
        return 0;
    }

    return 1;
}


# Returns true when the server closes within $seconds without sending anything
# more.

sub closed {
    my ($self, $seconds) = @_;

    my $end = time() + slow($seconds // 30);

    while (!$self->{eof} && time() < $end) {
        my $before = length $self->{in};

        $self->wait_input($end);
        return 0 if length $self->{in} > $before;
    }

    return $self->{eof} ? 1 : 0;
}


# Waits until the first bytes of an answer arrive, and leaves them unread.
#  Returns false when none comes in time.

sub answered {
    my ($self) = @_;

    my $end = time() + $self->{timeout};

    while (!length $self->{in}) {
        my $left = $end - time();

        return 0 if $left <= 0;
        return 1 if ready($self->{sock}, $left);
    }

    return 1;
}


# Returns true when nothing arrives for $seconds, and the connection stays open.

sub silent {
    my ($self, $seconds) = @_;

    return 0 if length $self->{in} || $self->{eof};

    return !ready($self->{sock}, $seconds);
}


# Returns the text of a request.  Headers are a hash, or an array of pairs where
# one is repeated; Host and Content-Length are added unless they are undef
# there.

sub format {
    my ($self, $method, $path, $headers, $body) = @_;

    my @pairs = ref $headers eq 'ARRAY' ? @$headers
              : map { ($_, $headers->{$_}) } sort keys %{ $headers // {} };
    my ($text, %seen) = ('');

    while (my ($name, $value) = splice @pairs, 0, 2) {
        $seen{lc $name} = 1;
        $text .= "$name: $value\r\n" if defined $value;
    }

    $text = "Host: $self->{host}:$self->{port}\r\n$text" if !$seen{host};

    if (defined $body && !$seen{'content-length'}
        && !$seen{'transfer-encoding'})
    {
        $text .= 'Content-Length: ' . length($body) . "\r\n";
    }

    return "$method $path HTTP/1.1\r\n$text\r\n" . ($body // '');
}


sub request {
    my ($self, $method, $path, $headers, $body) = @_;

    $self->send($self->format($method, $path, $headers, $body));

    return $self->read($method);
}


# Sends many requests one after another, and then reads the responses as read()
# does.

sub pipeline {
    my ($self, @requests) = @_;

    $self->send(join '', map { $self->format(@$_) } @requests);

    return map { scalar $self->read($_->[0]) } @requests;
}


# Reads one response.  Returns undef with error() 'closed', 'timeout' or
# 'malformed ...'.

sub read {
    my ($self, $method) = @_;

    my $end = time() + $self->{timeout};
    my @interim;

    delete $self->{error};

    for (;;) {
        my $head = $self->read_head($end) // return;
        my $r = parse_head($head);

        if (!$r) {
            $self->{error} = "malformed head: $head";
            return;
        }

        if ($r->{status} < 200) {
            push @interim, $r->{status};
            next;
        }

        $r->{interim} = \@interim;
        $r->{body} = $self->read_body($r, $method // 'GET', $end) // return;

        return $r;
    }
}


sub error {
    return $_[0]{error} // '';
}


sub read_head {
    my ($self, $end) = @_;

    while ($self->{in} !~ /\r\n\r\n/) {
        $self->wait_input($end) or return;
    }

    $self->{in} =~ s/\A(.*?\r\n)\r\n//s;

    return $1;
}


sub parse_head {
    my ($head) = @_;

    $head =~ s/\AHTTP\/(1\.[01]) (\d{3}) ([^\r\n]*)\r\n// or return;

    my $r = bless { version => $1, status => $2 + 0, reason => $3,
                    raw => [], headers => {} }, 'SvcTest::Response';

    for my $line (split /\r\n/, $head) {
        my ($name, $value) = $line =~ /\A([!-9;-~]+):[ \t]*(.*?)[ \t]*\z/
            or return;

        push @{ $r->{raw} }, [ $name, $value ];

        my $key = lc $name;
        $r->{headers}{$key} = exists $r->{headers}{$key}
                            ? "$r->{headers}{$key}, $value" : $value;
    }

    return $r;
}


sub read_body {
    my ($self, $r, $method, $end) = @_;

    my $h = $r->{headers};

    return '' if $method eq 'HEAD' || $r->{status} == 204
                 || $r->{status} == 304;

    return $self->read_chunked($end)
        if ($h->{'transfer-encoding'} // '') eq 'chunked';

    if (defined $h->{'content-length'}) {
        return $self->take($h->{'content-length'}, $end);
    }

    1 while $self->wait_input($end);
    return if $self->{error} ne 'closed';

    my $body = $self->{in};
    $self->{in} = '';

    return $body;
}


sub take {
    my ($self, $length, $end) = @_;

    while (length $self->{in} < $length) {
        $self->wait_input($end) or return;
    }

    return substr $self->{in}, 0, $length, '';
}


sub read_chunked {
    my ($self, $end) = @_;

    my $body = '';

    for (;;) {
        while ($self->{in} !~ /\r\n/) {
            $self->wait_input($end) or return;
        }

        if ($self->{in} !~ s/\A([0-9a-fA-F]+)\r\n//) {
            $self->{error} = 'malformed chunk';
            return;
        }

        my $size = hex $1;
        my $chunk = $self->take($size + 2, $end) // return;

        return $body if $size == 0;

        $body .= substr $chunk, 0, $size;
    }
}


package SvcTest::Response;

use strict;
use warnings;

use SvcTest::Json ();


sub status {
    return $_[0]{status};
}


sub body {
    return $_[0]{body};
}


# Returns a header; those of the same name are joined with ", ".

sub header {
    my ($self, $name) = @_;

    return $self->{headers}{lc $name};
}


# Returns the decoded body; undef when it is not JSON.

sub json {
    my ($self) = @_;

    if (!exists $self->{json}) {
        $self->{json} = eval {
            SvcTest::Json::json()->decode($self->{body})
        };
    }

    return $self->{json};
}


1;
