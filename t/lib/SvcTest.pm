package SvcTest;

# The system that one test uses: PostgreSQL, Redis and nginx with the modules,
# on unix sockets and a free port, in a folder below /tmp.
#
#     my $s = SvcTest->new;
#     $s->start;
#     my $acme = $s->tenant('acme');
#     my $r = $acme->scim(GET => '/Users');
#     ...
#     $s->done;
#     done_testing();
#
# Everything is stopped and removed when the test ends, however it ends.
#
# Environment: SVC_TEST_NGINX, the nginx to test; SVC_TEST_MODULES, the folder
# of the modules, empty when they are built in; SVC_TEST_SLOW, a factor for all
# time limits; SVC_TEST_VALGRIND=1 runs nginx under valgrind;
# SVC_TEST_KEEP=1 leaves the folder.

use strict;
use warnings;

use Cwd ();
use File::Basename qw(dirname);
use File::Path qw(remove_tree);
use File::Temp ();
use JSON::PP ();
use Test::More;

use SvcTest::Http;
use SvcTest::Nginx;
use SvcTest::Postgres;
use SvcTest::Process qw(wait_for run_apart run_user slurp on_exit);
use SvcTest::Redis;
use SvcTest::Tenant;


my $ROOT = Cwd::realpath(dirname(__FILE__) . '/../..');


# Options: those of SvcTest::Nginx (workers, connections, svc, scim, main, http,
# server, locations, load, http2_port); pg => 0 and redis => 0 start no
# PostgreSQL or Redis; pg_conf is text for postgresql.conf; pg_under is the
# command that PostgreSQL runs under.

sub new {
    my ($class, %opt) = @_;

    my $dir = File::Temp::tempdir('/tmp/svc.XXXXXX');
    chmod 0755, $dir;
    chown((getpwnam run_user())[2, 3], $dir) if $> == 0;

    my $self = bless { root => $ROOT, dir => $dir, secrets => [],
                       tenants => {}, opt => \%opt }, $class;

    $self->{pg} = SvcTest::Postgres->new(root => $ROOT, dir => $dir,
                                         conf => delete $opt{pg_conf},
                                         under => delete $opt{pg_under});
    $self->{redis} = SvcTest::Redis->new(dir => $dir);

    $self->key_file;
    $self->{nginx} = SvcTest::Nginx->new(root => $ROOT, dir => $dir, %opt);
    $self->{nginx}{svc_default} = $self->default_directives;

    # keeps a reference until END: a die would free the test's own before it

    on_exit(sub { $self->clean_up });

    return $self;
}


sub key_file {
    my ($self) = @_;

    my $key = unpack 'H*', random_bytes(32);

    $self->{key_file} = "$self->{dir}/svc.keys";
    $self->secret($key);

    open my $fh, '>', $self->{key_file} or die "$!\n";
    print $fh "1:$key\n";
    close $fh;
    chmod 0600, $self->{key_file};
}


sub default_directives {
    my ($self) = @_;

    return {
        svc_postgres => '"' . $self->{pg}->conninfo('svc_app') . '"',
        svc_postgres_pool => [ 'read connections=2 depth=16',
                               'write connections=4 depth=2',
                               'slow connections=1 depth=1' ],
        svc_postgres_connect_timeout => '2s',
        svc_postgres_timeout => '5s',
        svc_postgres_queue => '1024',
        svc_postgres_queue_timeout => '1s',
        svc_redis => "unix:$self->{redis}{socket}",
        svc_redis_timeout => '1s',
        svc_base_url => "http://127.0.0.1:$self->{nginx}{port}",
        svc_key_file => $self->{key_file},
    };
}


sub random_bytes {
    my ($n) = @_;

    open my $fh, '<:raw', '/dev/urandom' or die "/dev/urandom: $!\n";
    sysread($fh, my $bytes, $n) == $n or die "/dev/urandom: $!\n";

    return $bytes;
}


# Registers texts that done() must not find in any log.

sub secret {
    my ($self, @texts) = @_;

    push @{ $self->{secrets} }, @texts;
}


sub start {
    my ($self) = @_;

    $self->{pg}->create if $self->{opt}{pg} // 1;
    $self->{redis}->launch if $self->{opt}{redis} // 1;
    $self->{nginx}->launch;

    if ($self->{opt}{pg} // 1) {
        $self->wait_healthy or die 'nginx is not healthy: '
                                   . $self->log_tail . "\n";
    }

    return $self;
}


# Starts one more nginx on the same PostgreSQL and Redis; the options are those
# of SvcTest::Nginx.  Requests go to it with http(..., port => $node->{port}).

sub node {
    my ($self, %opt) = @_;

    my $dir = "$self->{dir}/node" . (1 + @{ $self->{nodes} //= [] });

    mkdir $dir or die "$dir: $!\n";
    chown((getpwnam run_user())[2, 3], $dir) if $> == 0;

    my $node = SvcTest::Nginx->new(root => $self->{root}, dir => $dir, %opt);

    $node->{svc_default} = { %{ $self->{nginx}{svc_default} } };
    push @{ $self->{nodes} }, $node;
    $node->launch;

    wait_for { $self->http(GET => '/healthz', undef, undef,
                           port => $node->{port})->status == 200 }
        or die "node is not healthy\n";

    return $node;
}


# Waits until the health location answers 200.

sub wait_healthy {
    my ($self, $seconds) = @_;

    return wait_for { $self->health->{status} == 200 } $seconds;
}


sub health {
    my ($self) = @_;

    return $self->http(GET => '/healthz');
}


sub root { return $_[0]{root} }
sub dir { return $_[0]{dir} }
sub port { return $_[0]{nginx}{port} }
sub base_url { return "http://127.0.0.1:$_[0]{nginx}{port}" }
sub pg { return $_[0]{pg} }
sub redis { return $_[0]{redis} }
sub nginx { return $_[0]{nginx} }
sub workers { return $_[0]{nginx}->worker_pids }
sub reload { return shift->{nginx}->reload(@_) }


# Returns a tenant with a SCIM token and an API token; the same one when the
# slug is asked for again.

sub tenant {
    my ($self, $slug) = @_;

    return $self->{tenants}{$slug} //= SvcTest::Tenant->new($self, $slug);
}


# Runs a query as the owner of the database.  Returns its rows as arrays of
# bytes, with undef for NULL; in scalar context the first column of the first
# row.

sub sql {
    my ($self, $query) = @_;

    my $rows;

    for my $try (1, 2) {
        $self->{client} //= $self->{pg}->connect('postgres');

        last if eval { $rows = $self->{client}->query($query); 1 };

        # the connection may have been cut since the last query

        delete $self->{client} if $@ =~ /lost|write|57P0/;
        die $@ if $try == 2 || $self->{client};
    }

    return wantarray ? @$rows : @$rows ? $rows->[0][0] : undef;
}


# Does now what a worker does every 2 s.  Returns true when no sign-in is left
# to be counted.

sub sweep {
    my ($self) = @_;

    return wait_for {
        $self->sql('SELECT svc.sign_in_sweep(1000)');
        !$self->sql('SELECT count(*) FROM svc.sign_in_event');
    };
}


# Opens a connection as another role.

sub connect_as {
    my ($self, $role) = @_;

    return $self->{pg}->connect($role);
}


# Returns how many connections of a role wait for a lock; the default is the
# role of the modules.

sub waiting {
    my ($self, $role) = @_;

    return $self->sessions("wait_event_type = 'Lock'", $role);
}


sub sessions {
    my ($self, $where, $role) = @_;

    $role //= 'svc_app';

    return scalar $self->sql("SELECT count(*) FROM pg_stat_activity WHERE"
                             . " usename = '$role' AND $where");
}


# Runs svcctl on the database.  Returns its output, its exit status and its
# errors; in scalar context its output.  Options for SvcTest::Process come
# first.

sub svcctl {
    my ($self, @args) = @_;
    my %opt = ref $args[0] eq 'HASH' ? %{ shift @args } : ();

    my ($status, $out, $err) = run_apart(
        [ "$self->{root}/conf/svcctl", @args ],
        env => { SVC_PG => $self->{pg}->conninfo('postgres') }, %opt);

    return wantarray ? ($out, $status, $err) : $out;
}


# Opens a keepalive connection (SvcTest::Http).

sub connection {
    my ($self, %arg) = @_;

    return SvcTest::Http->new(host => '127.0.0.1', port => $self->port, %arg);
}


# Sends one request on a connection of its own; a body that is a reference is
# sent as JSON.  Returns the answer, and dies when there is none.

sub http {
    my ($self, $method, $path, $headers, $body, %arg) = @_;

    my @headers = ref $headers eq 'ARRAY' ? @$headers : %{ $headers // {} };

    my %named = map { lc $headers[2 * $_] => 1 } 0 .. @headers / 2 - 1;

    push @headers, Connection => 'close' if !$named{connection};

    my $c = $self->connection(%arg);
    my $r = $c->request($method, $path, \@headers, encode($body));

    die "$method $path: no answer: " . $c->error . "\n" if !$r;

    return $r;
}


# Sends a request as http() does, and returns the connection, from which the
# answer has not been read yet.

sub begin {
    my ($self, $method, $path, $headers, $body, %arg) = @_;

    my $c = $self->connection(%arg);

    $c->send($c->format($method, $path, $headers, encode($body)));

    return $c;
}


# Sends raw bytes on a connection of its own.  Returns the answer, or undef.

sub raw {
    my ($self, $bytes, %arg) = @_;

    my $c = $self->connection(%arg);
    $c->send($bytes);

    return $c->read;
}


my $JSON = JSON::PP->new->utf8->canonical;

sub encode {
    my ($body) = @_;

    return ref $body ? $JSON->encode($body) : $body;
}


# Tests that the workers are still those in @$before, and that the service is
# healthy.

sub unharmed {
    my ($self, $before, $name) = @_;

    my $well = $self->{nginx}->are_workers(@$before)
               && $self->health->{status} == 200;

    if (!$well) {
        my @now = $self->workers;

        fail("$name: the workers are unharmed");
        diag("workers @$before, now @now");
    }

    return $well;
}


sub log_tail {
    my ($self) = @_;

    my @lines = $self->{nginx}->log_lines;
    my $err = slurp("$self->{dir}/stderr") // '';

    splice @lines, 0, -30 if @lines > 30;

    return join '', $err, @lines;
}


# Makes the checks that every test ends with.  allow: patterns of lines of the
# error log that this test provokes; shown: patterns of lines in which nginx
# itself shows a secret.  libpq's message about a column that does not exist
# counts as an alert, too.

sub done {
    my ($self, %opt) = @_;

    my $nginx = $self->{nginx};
    my @nodes = ($nginx, @{ $self->{nodes} // [] });

    for my $node (grep { $_->pid } @nodes) {
        my $status = $node->quit;

        ok(defined $status && $status == 0, 'nginx quits gracefully')
            or diag(defined $status ? "status $status" : 'not within 10 s');

        $node->stop;
    }

    my @allow = @{ $opt{allow} // [] };
    my @bad = grep { my $line = $_; !grep { $line =~ $_ } @allow }
              grep { /\[(?:alert|emerg|crit)\]|exited on signal|number -?\d+ is out of range/ }
              map { $_->log_lines } @nodes;

    is(join('', @bad), '', 'no alert in the error log');
    is(join('', map { $_->sanitizer_reports } @nodes), '',
       'no report of a sanitizer');

    my @shown = @{ $opt{shown} // [] };
    my $logs = join '', grep { my $line = $_; !grep { $line =~ $_ } @shown }
               map { split /^/, slurp($_) // '' }
               (map { @$_{qw(log err)} } @nodes), $self->{pg}{log};
    my @told = grep { index($logs, $_) >= 0 } @{ $self->{secrets} };

    is(scalar @told, 0, 'no secret in a log')
        or diag(map { $logs =~ /^(.*\Q$_\E.*)$/m ? "$1\n" : () } @told);

    $self->{checked} = 1;
    $self->clean_up;
}


sub failed {
    my ($self) = @_;

    return !$self->{checked} || !Test::More->builder->is_passing;
}


sub clean_up {
    my ($self) = @_;

    return if $self->{cleaned}++;

    delete $self->{client};

    if ($self->failed && $self->{pg}->upgraded) {
        diag("PostgreSQL was upgraded under this test's cluster: run it again");

    } elsif (!$self->{checked} && $self->{nginx}->pid) {
        diag("error log:\n" . $self->log_tail);
    }

    $_->stop for $self->{nginx}, @{ $self->{nodes} // [] };
    $self->{redis}->stop;
    $self->{pg}->stop('QUIT');

    $self->{pg}->remove;

    if ($ENV{SVC_TEST_KEEP}) {
        diag("kept: $self->{dir}");

    } else {
        remove_tree($self->{dir});
    }
}


1;
