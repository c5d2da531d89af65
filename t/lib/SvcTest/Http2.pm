package SvcTest::Http2;

# An HTTP/2 client over cleartext with prior knowledge (RFC 9113), as much as
# tests need: many streams at once, flow control, resets.  Of the header block
# of an answer it reads the status alone.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use Time::HiRes qw(time);

use SvcTest::Process qw(slow);

use constant {
    DATA => 0, HEADERS => 1, RST_STREAM => 3, SETTINGS => 4, PING => 6,
    GOAWAY => 7, WINDOW_UPDATE => 8,
    END_STREAM => 1, ACK => 1, END_HEADERS => 4, PADDED => 8, CANCEL => 8,
};

my %STATUS = (0x88 => 200, 0x89 => 204, 0x8a => 206, 0x8b => 304, 0x8c => 400,
              0x8d => 404, 0x8e => 500);


sub new {
    my ($class, %arg) = @_;

    my $sock = IO::Socket::INET->new(
        Proto => 'tcp', PeerAddr => '127.0.0.1', PeerPort => $arg{port}
    ) or die "connect to port $arg{port}: $@\n";

    my $self = bless { sock => $sock, in => '', next => 1, window => 65535,
                       initial => 65535, stream => {},
                       authority => "127.0.0.1:$arg{port}" }, $class;

    # windows large enough for any answer

    $self->put("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    $self->frame(SETTINGS, 0, 0, pack 'n N', 4, 0x7fffffff);
    $self->frame(WINDOW_UPDATE, 0, 0, pack 'N', 0x7fff0000);

    return $self;
}


sub put {
    my ($self, $bytes) = @_;

    while (length $bytes) {
        my $n = syswrite $self->{sock}, $bytes;

        if (!defined $n) {
            next if $!{EINTR};
            $self->{closed} = 1;
            return;
        }

        substr $bytes, 0, $n, '';
    }
}


sub frame {
    my ($self, $type, $flags, $id, $payload) = @_;

    $self->put(substr(pack('N', length $payload), 1)
               . pack('C C N', $type, $flags, $id) . $payload);
}


sub integer {
    my ($value, $bits) = @_;

    my $max = (1 << $bits) - 1;

    return pack 'C', $value if $value < $max;

    my $out = pack 'C', $max;

    for ($value -= $max; $value >= 128; $value >>= 7) {
        $out .= pack 'C', $value & 127 | 128;
    }

    return $out . pack 'C', $value;
}


# Encodes header fields as literals that are never indexed, without Huffman
# coding.

sub block {
    my (@pairs) = @_;

    my $out = '';

    while (my ($name, $value) = splice @pairs, 0, 2) {
        $out .= "\x10" . integer(length $name, 7) . lc($name)
                . integer(length $value, 7) . $value;
    }

    return $out;
}


# Opens a stream, and ends it unless a body follows.  Returns its id.

sub open {
    my ($self, $method, $path, $headers, $body_follows) = @_;

    my $id = $self->{next};
    $self->{next} += 2;

    $self->{stream}{$id} = { window => $self->{initial}, body => '' };
    $self->frame(HEADERS, END_HEADERS | ($body_follows ? 0 : END_STREAM), $id,
                 block(':method' => $method, ':scheme' => 'http',
                       ':path' => $path, ':authority' => $self->{authority},
                       @$headers));

    return $id;
}


# Sends as much as the windows allow, until an answer comes or the time is up.

sub data {
    my ($self, $id, $bytes, $end) = @_;

    my $stream = $self->{stream}{$id};
    my $until = time() + slow(30);

    while (length $bytes && !$stream->{ended} && time() < $until) {
        my ($room) = sort { $a <=> $b } 16384, $stream->{window},
                     $self->{window};

        if ($room <= 0) {
            $self->pump($until - time()) or last;
            next;
        }

        my $part = substr $bytes, 0, $room, '';
        $_ -= length $part for $stream->{window}, $self->{window};
        $self->frame(DATA, $end && !length $bytes ? END_STREAM : 0, $id,
                     $part);
        $self->pump(0);
    }
}


sub request {
    my ($self, $method, $path, $headers, $body) = @_;

    my $id = $self->open($method, $path, $headers, defined $body);
    $self->data($id, $body, 1) if defined $body;

    return $id;
}


sub reset {
    my ($self, $id) = @_;

    $self->frame(RST_STREAM, 0, $id, pack 'N', CANCEL);
}


sub close {
    my ($self) = @_;

    CORE::close(delete $self->{sock});
}


# Waits for the end of a stream.  Returns a hash with status, body and, when the
# stream was reset, the error code; undef when it did not end in time.

sub answer {
    my ($self, $id) = @_;

    my $stream = $self->{stream}{$id};
    my $until = time() + slow(30);

    while (!$stream->{ended}) {
        $self->pump($until - time()) or return;
    }

    return $stream;
}


# Reads what has arrived, or waits $seconds for it; returns false when nothing
# came.

sub pump {
    my ($self, $seconds) = @_;

    return 0 if $self->{closed};

    IO::Select->new($self->{sock})->can_read($seconds > 0 ? $seconds : 0)
        or return 0;

    if (!sysread $self->{sock}, $self->{in}, 262144, length $self->{in}) {
        $self->{closed} = 1;
        return 0;
    }

    while (length $self->{in} >= 9) {
        my ($length) = unpack 'N', "\0" . substr $self->{in}, 0, 3;
        last if length $self->{in} < 9 + $length;

        my ($type, $flags, $id) = unpack 'C C N', substr $self->{in}, 3, 6;
        my $payload = substr $self->{in}, 9, $length;

        substr $self->{in}, 0, 9 + $length, '';
        $self->take($type, $flags, $id, $payload);
    }

    return 1;
}


sub take {
    my ($self, $type, $flags, $id, $payload) = @_;

    my $stream = $self->{stream}{$id};

    if ($type == SETTINGS && !($flags & ACK)) {
        $self->settings($payload);

    } elsif ($type == PING && !($flags & ACK)) {
        $self->frame(PING, ACK, 0, $payload);

    } elsif ($type == WINDOW_UPDATE) {
        ($stream // $self)->{window} += unpack 'N', $payload;

    } elsif ($type == GOAWAY) {
        $self->{goaway} = (unpack 'N N', $payload)[1];

    } elsif ($stream && $type == HEADERS) {
        $payload =~ /\A\x20?(?:([\x88-\x8e])|[\x08\x18\x48]\x03(\d{3}))/;
        $stream->{status} = defined $1 ? $STATUS{ ord $1 } : $2;
        $stream->{ended} = 1 if $flags & END_STREAM;

    } elsif ($stream && $type == DATA) {
        $stream->{body} .= $payload;
        $stream->{ended} = 1 if $flags & END_STREAM;

    } elsif ($stream && $type == RST_STREAM) {
        $stream->{reset} = unpack 'N', $payload;
        $stream->{ended} = 1;
    }
}


sub settings {
    my ($self, $payload) = @_;

    while (length $payload) {
        my ($name, $value) = unpack 'n N', substr $payload, 0, 6, '';
        next if $name != 4;

        $_->{window} += $value - $self->{initial}
            for values %{ $self->{stream} };
        $self->{initial} = $value;
    }

    $self->frame(SETTINGS, ACK, 0, '');
}


1;
