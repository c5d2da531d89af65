package SvcTest::Sse;

# A client of server-sent events: over HTTP/1.1, chunked.
#
#     my $e = SvcTest::Sse->new($s, $token, '/v1/admin/audit/stream', $last_id);
#     $e->wait_for(3) or ...;        # three events in $e->{events}
#
# An event is a hash with id, event, data (decoded JSON), and when it came.  What is said
# of events that wait is in $e->{waiting}.

use strict;
use warnings;

use IO::Select;
use Time::HiRes qw(time);

use SvcTest::Json qw(json);
use SvcTest::Process qw(slow);

my $JSON = json();


sub new {
    my ($class, $s, $token, $path, $last, %arg) = @_;

    my $cookie = delete $arg{cookie};
    my $self = bless { http => $s->connection(%arg), text => '',
                       comments => [], events => [], waiting => [] }, $class;

    my $h = $self->{http};

    $h->send($h->format(GET => $path,
                        [ (defined $cookie ? (Cookie => $cookie)
                                             : (Authorization => "Bearer $token")),
                          Accept => 'text/event-stream',
                          defined $last ? ('Last-Event-ID' => $last) : () ]));

    return $self;
}


# Reads the header.  Returns the answer, which is complete when it is not a
# stream.

sub open {
    my ($self) = @_;

    my $h = $self->{http};
    my $end = time() + slow(30);
    my $head = $h->read_head($end) // return;
    my $r = SvcTest::Http::parse_head($head) // return;

    $r->{body} = $h->read_body($r, 'GET', $end)
        if ($r->header('content-type') // '') ne 'text/event-stream';

    return $self->{answer} = $r;
}


sub take {
    my ($self) = @_;

    my $h = $self->{http};

    while ($h->{in} =~ /\A([0-9a-fA-F]+)\r\n/) {
        my ($head, $size) = (length($1) + 2, hex $1);

        last if length $h->{in} < $head + $size + 2;

        $self->{text} .= substr $h->{in}, $head, $size;
        substr $h->{in}, 0, $head + $size + 2, '';

        if ($size == 0) {
            $self->{ended} = 1;
            last;
        }
    }

    while ($self->{text} =~ s/\A(.*?)\n\n//s) {
        my %event = (at => time());

        for my $line (split /\n/, $1) {
            if ($line =~ /^:\s*(.*)/) {
                push @{ $self->{comments} }, $1;

            } elsif ($line =~ /^(\w+): ?(.*)/) {
                $event{$1} = $2;
            }
        }

        $self->{retry} = $event{retry} if defined $event{retry};

        next if !defined $event{data};

        $event{data} = $JSON->decode($event{data});

        if ($event{event} eq 'waiting') {
            push @{ $self->{waiting} }, $event{data}{waiting};
        } else {
            push @{ $self->{events} }, \%event;
        }
    }
}


# Reads what has arrived, or waits $seconds for it; returns false when nothing
# came.

sub pump {
    my ($self, $seconds) = @_;

    my $h = $self->{http};

    $self->open or return 0 if !$self->{answer};

    if ($h->{in} eq '') {
        return 0 if $h->{eof};

        IO::Select->new($h->sock)->can_read($seconds) or return 0;
        $h->fill;

    } elsif (!$h->{eof} && IO::Select->new($h->sock)->can_read(0)) {
        $h->fill;
    }

    my $before = length $h->{in};

    $self->take;

    if ($h->{in} ne '' && length $h->{in} == $before && !$h->{eof}) {
        IO::Select->new($h->sock)->can_read($seconds) or return 0;
        $h->fill;
        $self->take;
    }

    return 1;
}


# Waits until there are $n events in all; returns false when they do not come in
# time.

sub wait_for {
    my ($self, $n, $seconds) = @_;

    my $end = time() + slow($seconds // 30);

    while (@{ $self->{events} } < $n) {
        my $left = $end - time();

        return 0 if $left <= 0 || $self->{ended};
        $self->pump($left) or $self->{http}{eof} && return 0;
    }

    return 1;
}


# Waits until the server ends the stream.  Returns 'end' after the last chunk,
# 'cut' without it, or ''.

sub wait_end {
    my ($self, $seconds) = @_;

    my $end = time() + slow($seconds // 30);

    while (!$self->{ended}) {
        my $left = $end - time();

        return '' if $left <= 0;
        $self->pump($left) or $self->{http}{eof} && return 'cut';
    }

    return 'end';
}


# Returns the id that came last.

sub last_id {
    my ($self) = @_;

    my @ids = grep { defined } map { $_->{id} } @{ $self->{events} };

    return $ids[-1];
}


sub numbers {
    my ($self) = @_;

    return map { $_->{data}{details}{n} } grep { $_->{event} eq 'audit' }
           @{ $self->{events} };
}


sub close {
    $_[0]{http}->close;
}


1;
