package SvcTest::Redis;

# A private Redis on a unix socket.  It stores nothing on disk, unless
# $redis->{persistent} is set before it starts; $redis->{options} are more
# options of the command line, and $redis->{data} is its folder.

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOL_SOCKET SO_RCVTIMEO);

use SvcTest::Process qw(slow wait_for alive wait_exit signal_pid run_user slurp);
use SvcTest::Skip;

must_have(program => 'redis-server');


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

    my $sock = IO::Socket::UNIX->new(Peer => $self->{socket});
    my $text = answer($sock, 60, @command) // die "@command: Redis does not answer\n";

    return split /\n/, $text;
}


# Returns an answer on a given connection as redis-cli --raw prints it, without a
# process for it; undef when there is none within $seconds.

sub answer {
    my ($sock, $seconds, @command) = @_;

    return if !$sock;

    setsockopt $sock, SOL_SOCKET, SO_RCVTIMEO, pack 'l!l!', slow($seconds), 0;

    for my $word (@command) {
        utf8::encode($word) if $word =~ /[^\x00-\xff]/;
    }

    my $text = join '', '*' . @command . "\r\n",
                        map { '$' . length($_) . "\r\n$_\r\n" } @command;

    while (length $text) {
        substr $text, 0, syswrite($sock, $text) // return, '';
    }

    my @parts = eval { parts($sock) };

    return $@ ? undef : join '', map { "$_\n" } @parts ? @parts : '';
}


# Reads an answer, with those that it consists of.  Dies when it is cut off.

sub parts {
    my ($sock) = @_;

    local $/ = "\r\n";

    my ($kind, $value) = (readline($sock) // '') =~ /\A([-+:\$*])(.*)\r\n\z/s or die;

    return map { parts($sock) } 1 .. $value if $kind eq '*';
    return $value if $kind ne '$';
    return '' if $value < 0;

    read($sock, my $bytes, $value + 2) == $value + 2 or die;

    return substr $bytes, 0, $value;
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
