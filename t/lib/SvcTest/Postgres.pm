package SvcTest::Postgres;

# A private PostgreSQL 15 cluster on a unix socket.  A migrated cluster is made
# once and kept as a template below build/t, in one file, since reading two
# thousand takes longer; a test runs on a copy, in memory where enough is free.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Fcntl qw(:flock);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use File::Temp ();
use POSIX qw(strftime);

use SvcTest::PgClient;
use SvcTest::Process qw(wait_for spawn alive wait_exit signal_pid children
    run run_user slurp on_exit);
use SvcTest::Skip;


use constant IN_MEMORY => 8 * 1024 * 1024;   # kB that must be free

my $BIN = (reverse sort glob '/usr/lib/postgresql/*/bin')[0]
          // '/usr/local/bin';

# the real psql: Debian's is a wrapper in Perl that takes five times as long
$ENV{PATH} = "$BIN:$ENV{PATH}";

must_have(program => 'postgres psql');

my $CONF = <<'EOT';
listen_addresses = ''
fsync = off
synchronous_commit = on
max_connections = 200
shared_buffers = 32MB
max_wal_size = 1GB
autovacuum = off
unix_socket_permissions = 0777
timezone = 'UTC'
log_min_messages = warning
log_line_prefix = '%p %u '
EOT


sub new {
    my ($class, %arg) = @_;

    return bless { root => $arg{root}, dir => "$arg{dir}/pg",
                   log => "$arg{dir}/pg.log", conf => $arg{conf} // '',
                   under => $arg{under} // [], bin => $BIN },
                 $class;
}


# Returns the version, such as 15.20.

sub version {
    my ($text) = (run([ "$BIN/postgres", '--version' ]))[1] =~ /\) (\d+\.\d+)/
        or die "$BIN/postgres tells no version\n";

    return $text;
}


sub conninfo {
    my ($self, $user) = @_;

    return "host=$self->{dir} port=5432 dbname=svc user=$user";
}


# Returns the template; makes it when these migrations have none of today yet: they
# cut tables by the months and weeks of UTC that follow the day on which they run.

sub template {
    my ($self) = @_;

    my $build = "$self->{root}/build/t";
    my @sql = sort glob "$self->{root}/sql/*.sql";

    die "no migrations in $self->{root}/sql\n" if !@sql;

    my $key = substr sha256_hex(join "\0", $CONF, $BIN, strftime('%F', gmtime),
                                map { slurp($_) // '' } @sql,
                                "$self->{root}/conf/svcctl"), 0, 16;

    make_path($build);
    open my $lock, '>', "$build/pg-template.lock" or die "$build: $!\n";
    flock $lock, LOCK_EX or die "flock: $!\n";

    my $template = "$build/pg-template-$key.tar";

    if (!-e $template) {
        remove_tree(glob "$build/pg-template-*");
        $self->make_template($template);
    }

    return $template;
}


sub make_template {
    my ($self, $template) = @_;

    # made in /tmp, because the user that it runs as may not be able to read the
    # checkout

    my $tmp = File::Temp->newdir('/tmp/svct.XXXXXX');
    chown((getpwnam run_user())[2, 3], $tmp) if $> == 0;

    my $pg = bless { %$self, dir => "$tmp/pg", log => "$tmp/log",
                     conf => '', under => [] }, ref $self;

    $pg->sh("$BIN/initdb", '-D', $pg->{dir}, '-U', 'postgres', '-N',
            '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8',
            '--wal-segsize=1');

    open my $fh, '>>', "$pg->{dir}/postgresql.conf" or die "$!\n";
    print $fh $CONF;
    close $fh;

    $pg->launch;
    $pg->connect('postgres', 'postgres')->query('CREATE DATABASE svc');
    $pg->migrate;
    $pg->forget_wal;
    $pg->stop;

    $pg->sh('tar', '-C', $pg->{dir}, '-cf', "$tmp/done", '.');
    copy("$tmp/done", "$template.new") or die "$template.new: $!\n";
    rename "$template.new", $template or die "rename $template: $!\n";
}


# Removes the segments of WAL that it keeps to write them anew: a fifth of a copy.

sub forget_wal {
    my ($self) = @_;

    my $client = $self->connect('postgres', 'postgres');

    $client->query("ALTER SYSTEM SET $_ = '2MB'") for qw(min_wal_size max_wal_size);
    $client->query('SELECT pg_reload_conf()');

    wait_for { $self->connect('postgres', 'postgres')
                    ->query('SHOW max_wal_size')->[0][0] eq '2MB' }
        or die "PostgreSQL does not reload\n";

    $client->query('CHECKPOINT') for 1, 2;
    $client->query('ALTER SYSTEM RESET ALL');
}


sub sh {
    my ($self, @cmd) = @_;

    my ($status, $text) = run([@cmd], user => run_user(), timeout => 120);

    die "$cmd[0] failed: $text\n" if $status != 0;
}


# Runs "svcctl migrate", with options.

sub migrate {
    my ($self, @options) = @_;

    my ($status, $text) = run(["$self->{root}/conf/svcctl", 'migrate', @options],
                              env => { SVC_PG => $self->conninfo('postgres') },
                              timeout => 120);

    die "svcctl migrate failed: $text\n" if $status != 0;
}


sub connect {
    my ($self, $user, $database) = @_;

    return SvcTest::PgClient->new(dir => $self->{dir}, user => $user,
                                  database => $database // 'svc');
}


# Copies the template and starts the server.

sub create {
    my ($self) = @_;

    my $template = $self->template;

    if ($self->{memory} = in_memory()) {
        symlink $self->{memory}, $self->{dir} or die "$self->{dir}: $!\n";

    } else {
        mkdir $self->{dir} or die "$self->{dir}: $!\n";
    }

    system('tar', '-C', $self->{dir}, '-xf', $template) == 0
        or die "copy of $template failed\n";

    open my $fh, '>>', "$self->{dir}/postgresql.conf" or die "$!\n";
    print $fh $self->{conf};
    close $fh;

    $self->launch;
}


# Returns a folder in memory for the data; undef where less than 8 GB are free.
#  On ext4, making a cluster's files when many others have just been removed
# takes longer than the rest of most tests.

sub in_memory {
    my ($free) = (slurp('/proc/meminfo') // '') =~ /^MemAvailable: +(\d+) kB/m;
    my ($room) = `df -kP /dev/shm 2>/dev/null` =~ /^tmpfs +\d+ +\d+ +(\d+) /m;

    return if $ENV{SVC_TEST_KEEP}
              || grep { ($_ // 0) < IN_MEMORY } $free, $room;

    return File::Temp::tempdir('/dev/shm/svc.XXXXXX');
}


sub remove {
    my ($self) = @_;

    local $?;

    system('rm', '-rf', $self->{memory}) if $self->{memory};
}


# Starts the server on the existing data, and waits until it answers.

sub launch {
    my ($self) = @_;

    die "PostgreSQL runs already\n" if alive($self->{pid});

    unlink "$self->{dir}/postmaster.pid";

    $self->{pid} = spawn(
        [ @{ $self->{under} }, "$self->{bin}/postgres", '-D', $self->{dir}, '-k',
          $self->{dir} ],
        user => run_user(), out => $self->{log}, deathsig => 'QUIT'
    );

    wait_for {
        eval { $self->connect('postgres', 'postgres')->query('SELECT 1') }
            || !alive($self->{pid})
    } undef, 0.01;

    die 'PostgreSQL does not start: ' . slurp($self->{log})
        if !alive($self->{pid});
}


# Starts a standby of this running server, which answers reads.  $name is its
# name in synchronous_standby_names.

sub standby {
    my ($self, $name) = @_;

    my $standby = bless { %$self, dir => "$self->{dir}-$name",
                          log => "$self->{log}-$name" }, ref $self;

    delete @$standby{qw(pid memory)};
    $standby->sh("$BIN/pg_basebackup", '-D', $standby->{dir}, '-R', '-c', 'fast',
                 '-d', "host=$self->{dir} user=postgres"
                       . " application_name=$name");
    unlink glob "$standby->{dir}/.s.PGSQL.*";    # the other server's
    on_exit(sub { $standby->stop('QUIT') });
    $standby->launch;

    return $standby;
}


# Promotes it: it takes writes from now on, on a timeline of its own.

sub promote {
    my ($self) = @_;

    $self->connect('postgres', 'postgres')->query('SELECT pg_promote(true, 60)')
         ->[0][0] eq 't' or die "the standby is not promoted\n";
}


# Makes commits wait for standbys of these names; '' for none.

sub synchronous {
    my ($self, $names) = @_;

    my $client = $self->connect('postgres', 'postgres');

    $client->query("ALTER SYSTEM SET synchronous_standby_names = '$names'");
    $client->query('SELECT pg_reload_conf()');

    wait_for {
        $self->connect('postgres', 'postgres')
             ->query("SELECT current_setting('synchronous_standby_names')")
             ->[0][0] eq $names
            && ($names eq '' || $client->query("SELECT count(*) FROM"
                   . " pg_stat_replication WHERE sync_state = 'sync'")->[0][0])
    } or die "no synchronous standby\n";
}


sub pid {
    return $_[0]{pid};
}


# Returns whether its program, or a library that it had not loaded yet, is now
# another one, as after an upgrade of the package.

sub upgraded {
    my ($self) = @_;

    return 1 if alive($self->{pid})
                && (readlink "/proc/$self->{pid}/exe" // '') =~ / \(deleted\)\z/;
    return (slurp($self->{log}) // '')
           =~ /could not load library ".*": .*: undefined symbol/;
}


# Shuts down: INT fast, QUIT immediate, KILL -9.  Waits until all its processes
# are gone.

sub stop {
    my ($self, $signal) = @_;

    return if !alive($self->{pid});

    my @backends = children($self->{pid});

    signal_pid('CONT', $self->{pid}, @backends);
    signal_pid($signal // 'INT', $self->{pid});

    if (!defined wait_exit($self->{pid})) {
        signal_pid('KILL', $self->{pid});
        wait_exit($self->{pid});
    }

    # orphans end by themselves once the postmaster is gone

    wait_for { !grep { -e "/proc/$_" } @backends } undef, 0.004
        or die "PostgreSQL left backends behind\n";

    delete $self->{pid};
}


# Returns the backends of svc_app's connections.

sub app_backends {
    my ($self) = @_;

    return grep { (slurp("/proc/$_/cmdline") // '')
                  =~ /^postgres: svc_app svc / } children($self->{pid});
}


# Stops every process where it is: connections are still accepted, and never
# answered.

sub freeze {
    my ($self) = @_;

    signal_pid('STOP', $self->{pid});
    signal_pid('STOP', children($self->{pid}));
}


sub thaw {
    my ($self) = @_;

    signal_pid('CONT', children($self->{pid}), $self->{pid});
}


# Returns the lines of its log at ERROR or above, without those about starting
# and stopping.

sub errors {
    my ($self) = @_;

    return grep { / (?:ERROR|FATAL|PANIC): /
                  && !/: +the database system is /
                  && !/: +connection to client lost/
                  && !/terminating connection due to administrator/ }
           split /^/, slurp($self->{log}) // '';
}


1;
