package SvcTest::Sentinel;

# Two Redis servers, a master and its replica, and three sentinels that watch
# them, all on the loopback, each on a port of its own.
#
#     my $redis = SvcTest::Sentinel->new($s->dir);
#     $redis->launch;
#     $redis->end($redis->server(0), 'KILL');
#     $redis->wait_promoted(1);
#
# All of them end with the test.

use strict;
use warnings;

use IO::Socket::INET;

use SvcTest::Nginx;
use SvcTest::Process qw(slow wait_for alive wait_exit signal_pid run_user slurp
    on_exit);
use SvcTest::Redis;


my $NAME = 'mymaster';


sub new {
    my ($class, $dir) = @_;

    my $self = bless { dir => $dir, servers => [], sentinels => [] }, $class;

    push @{ $self->{servers} }, $self->process("server$_") for 0, 1;
    push @{ $self->{sentinels} }, $self->process("sentinel$_") for 0 .. 2;

    on_exit(sub { $self->stop });

    return $self;
}


sub process {
    my ($self, $name) = @_;

    return { name => $name, port => SvcTest::Nginx::free_port(),
             dir => "$self->{dir}/$name", log => "$self->{dir}/$name.log" };
}


# Returns the arguments of svc_redis.

sub directive {
    my ($self) = @_;

    return join ' ', "sentinel=$NAME",
           map { "127.0.0.1:$_->{port}" } @{ $self->{sentinels} };
}


sub launch {
    my ($self) = @_;

    $self->spawn_server($_) for 0, 1;
    $self->spawn_sentinel($_) for 0 .. 2;

    wait_for {
        !grep { my %is = $self->told($_);
                ($is{'num-slaves'} // 0) != 1
                || ($is{'num-other-sentinels'} // 0) != 2
                || ($is{flags} // '') ne 'master' } 0 .. 2
    } or die 'the sentinels do not find each other: '
                . slurp($self->{sentinels}[0]{log});

    wait_for { $self->in_sync } or die "the replica does not follow\n";
}


# Starts a server; the second one begins as the replica of the first one.

sub spawn_server {
    my ($self, $n, @options) = @_;

    my $server = $self->{servers}[$n];

    push @options, '--replicaof', "127.0.0.1 $self->{servers}[0]{port}"
        if $n == 1 && !-d $server->{dir};

    $self->spawn($server, [ 'redis-server', '--port', $server->{port},
        '--bind', '127.0.0.1', '--save', '', '--dir', $server->{dir},
        '--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1',
        @options ]);
}


sub spawn_sentinel {
    my ($self, $n) = @_;

    my $sentinel = $self->{sentinels}[$n];
    my $conf = "$sentinel->{dir}/sentinel.conf";

    if (!-d $sentinel->{dir}) {
        $self->folder($sentinel);

        SvcTest::Process::write_file($conf, <<"EOT");
port $sentinel->{port}
bind 127.0.0.1
dir $sentinel->{dir}
sentinel monitor $NAME 127.0.0.1 $self->{servers}[0]{port} 2
sentinel down-after-milliseconds $NAME @{[ slow(2000) ]}
sentinel failover-timeout $NAME @{[ slow(5000) ]}
EOT
        chown((getpwnam run_user())[2, 3], $conf) if $> == 0;
    }

    $self->spawn($sentinel, [ 'redis-server', $conf, '--sentinel' ]);
}


sub folder {
    my ($self, $process) = @_;

    return if -d $process->{dir};

    mkdir $process->{dir} or die "$process->{dir}: $!\n";
    chown((getpwnam run_user())[2, 3], $process->{dir}) if $> == 0;
}


sub spawn {
    my ($self, $process, $command) = @_;

    $self->folder($process);

    $process->{pid} = SvcTest::Process::spawn($command, user => run_user(),
                                              out => $process->{log});

    wait_for { ($self->command($process->{port}, 'PING') // '') eq '+PONG'
               || !alive($process->{pid}) };

    die "$process->{name} does not start: " . slurp($process->{log})
        if !alive($process->{pid});
}


sub server { return $_[0]{servers}[$_[1]] }
sub sentinel { return $_[0]{sentinels}[$_[1]] }


# Returns the first line of the answer to an inline command; undef when there is
# none.

sub command {
    my ($self, $port, $text) = @_;

    return SvcTest::Redis::first_line(
        IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port"), $text);
}


# Returns a whole answer, one line for each of its parts; nothing when nobody
# answers.

sub lines {
    my ($self, $port, @command) = @_;

    my $text = SvcTest::Redis::answer(
        IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port"), 5, @command);

    return defined $text ? split /\n/, $text, -1 : ();
}


# Returns what a sentinel says about the master.

sub told {
    my ($self, $n) = @_;

    my @lines = $self->lines($self->{sentinels}[$n]{port}, 'SENTINEL',
                             'master', $NAME);

    return @lines % 2 ? @lines[0 .. $#lines - 1] : @lines;
}


# Returns the server that says it is in this role.

sub in_role {
    my ($self, $role) = @_;

    my @found = grep { $self->role($_) eq $role } 0, 1;

    return @found == 1 ? $found[0] : undef;
}


# Returns the role of server $n: master, slave, or nothing while it is down.

sub role {
    my ($self, $n) = @_;

    my $server = $self->{servers}[$n];

    return '' if !alive($server->{pid});

    return ($self->lines($server->{port}, 'ROLE'))[0] // '';
}


sub in_sync {
    my ($self) = @_;

    my ($master, $replica) = map { $self->in_role($_) } qw(master slave);

    return if !defined $master || !defined $replica;

    my @role = $self->lines($self->{servers}[$replica]{port}, 'ROLE');

    return ($role[3] // '') eq 'connected';
}


# Waits until all live sentinels name server $n, and it is the master.

sub wait_promoted {
    my ($self, $n) = @_;

    return wait_for {
        my @behind = grep {
            my %is = $self->told($_);
            ($is{port} // 0) != $self->{servers}[$n]{port}
        } grep { alive($self->{sentinels}[$_]{pid}) } 0 .. 2;

        !@behind && $self->role($n) eq 'master'
    } 60;
}


sub end {
    my ($self, $process, $signal) = @_;

    return if !$process->{pid} || !alive($process->{pid});

    signal_pid('CONT', $process->{pid});
    signal_pid($signal // 'TERM', $process->{pid});

    if (!defined wait_exit($process->{pid})) {
        signal_pid('KILL', $process->{pid});
        wait_exit($process->{pid});
    }

    delete $process->{pid};
}


sub stop {
    my ($self) = @_;

    $self->end($_, 'KILL') for @{ $self->{sentinels} }, @{ $self->{servers} };
}


1;
