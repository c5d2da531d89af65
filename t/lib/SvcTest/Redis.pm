package SvcTest::Redis;

# A private Redis on a unix socket.  It stores nothing on disk, unless
# $redis->{persistent} is set before it starts; $redis->{options} are more
# options of the command line, and $redis->{data} is its folder.

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;

use SvcTest::Process qw(slow wait_for alive wait_exit signal_pid run_apart
    run_user slurp);
use SvcTest::Skip;

must_have(program => 'redis-server redis-cli');


sub new {
    my ($class, %arg) = @_;

    return bless { data => "$arg{dir}/redis", options => [], socket => "$arg{dir}/redis.sock",
                   log => "$arg{dir}/redis.log" }, $class;
}


sub launch {
    my ($self) = @_;

    $self->spawn;

    wait_for { ($self->command('PING') // '') eq '+PONG'
               || !alive($self->{pid}) };

    die 'Redis does not start: ' . slurp($self->{log})
        if !alive($self->{pid});
}


# Starts it, without waiting until it takes commands.

sub spawn {
    my ($self) = @_;

    die "Redis runs already\n" if alive($self->{pid});

    if (!-d $self->{data}) {
        mkdir $self->{data} or die "$self->{data}: $!\n";
        chown((getpwnam run_user())[2, 3], $self->{data}) if $> == 0;
    }

    $self->{pid} = SvcTest::Process::spawn(
        ['redis-server', '--port', '0', '--unixsocket', $self->{socket},
         '--unixsocketperm', '777', '--save', '', '--appendfsync', 'always',
         '--appendonly', $self->{persistent} ? 'yes' : 'no',
         '--dir', $self->{data}, @{ $self->{options} }],
        user => run_user(), out => $self->{log}
    );
}


# Returns the first line of the answer to an inline command; undef when there is
# none.

sub command {
    my ($self, $text) = @_;

    return first_line(IO::Socket::UNIX->new(Peer => $self->{socket}), $text);
}


# Does the same on a given connection; undef when this is undef.

sub first_line {
    my ($sock, $text) = @_;

    return if !$sock;

    syswrite $sock, "$text\r\n" or return;
    IO::Select->new($sock)->can_read(slow(5)) or return;
    sysread $sock, my $line, 4096 or return;

    $line =~ s/\r\n.*//s;

    return $line;
}


# Returns a whole answer, one line for each of its parts.

sub lines {
    my ($self, @command) = @_;

    my ($status, $text, $error) = run_apart(
        [ 'redis-cli', '-s', $self->{socket}, '--raw', @command ]);

    die "@command: $text$error\n" if $status != 0;

    return split /\n/, $text;
}


sub pid {
    return $_[0]{pid};
}


sub stop {
    my ($self, $signal) = @_;

    return if !alive($self->{pid});

    signal_pid('CONT', $self->{pid});
    signal_pid($signal // 'TERM', $self->{pid});

    if (!defined wait_exit($self->{pid})) {
        signal_pid('KILL', $self->{pid});
        wait_exit($self->{pid});
    }

    delete $self->{pid};
    unlink $self->{socket};
}


1;
