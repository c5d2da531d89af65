package SvcBench::System;

# The system that is measured: a private PostgreSQL configured for durable data,
# Redis, nginx with two workers, and ten tenants.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);

use SvcTest;
use SvcTest::Process qw(run run_user slurp wait_for);


# No checkpoint and no autovacuum runs during a measurement: seeding and
# resetting vacuum by themselves.

my $POSTGRES = <<'EOT';
listen_addresses = ''
unix_socket_permissions = 0777
max_connections = 200
shared_buffers = 512MB
fsync = on
synchronous_commit = on
full_page_writes = on
max_wal_size = 8GB
min_wal_size = 1GB
checkpoint_timeout = 1h
autovacuum = off
timezone = 'UTC'
log_min_messages = warning
log_line_prefix = '%p %u '
EOT


# On a busy machine the default timeouts are too short for many requests at
# once.

my %PATIENT = map { $_ => '30s' } qw(svc_postgres_timeout svc_postgres_queue_timeout
                                     svc_redis_timeout);


# Options: pools, an array of parameters of svc_postgres_pool, otherwise those
# are the modules' defaults; svc, more of the modules' directives; tenants, how
# many, otherwise ten; modules and sql, the folders of another build's; connections
# of a worker; main and locations, more of nginx's directives; quick: PostgreSQL is
# the tests', a copy that is in memory.

sub new {
    my ($class, %opt) = @_;

    # without "reuseport" an idle worker accepts all connections of a run, and the
    # other one has nothing to do

    my $s = SvcTest->new(
        workers => 2, listen => 'reuseport', connections => $opt{connections} // 4096,
        (map { $_ => $opt{$_} } qw(main locations)),
        http => "    keepalive_requests 100000000;\n    keepalive_timeout 1h;\n",
        svc => { svc_postgres_pool => $opt{pools}, $opt{quick} ? %PATIENT : (),
                 %{ $opt{svc} // {} } },
        module_dir => $opt{modules}, pg_conf => $opt{quick} && $POSTGRES,
    );

    # what a test shows of the error log when it fails: see complaints()

    $s->{checked} = 1;

    my $bin = (reverse sort glob '/usr/lib/postgresql/*/bin')[0]
        or die "PostgreSQL's server is not installed\n";

    return bless { s => $s, bin => $bin, dir => $s->dir, users => 0,
                   count => $opt{tenants} // 10, sql => $opt{sql},
                   quick => $opt{quick},
                   here => $s->root . '/t/bench' }, $class;
}


sub start {
    my ($self) = @_;

    $self->{quick} ? $self->{s}->pg->create : $self->start_postgres;
    $self->{s}->redis->launch;

    $self->{tenants} = [ map { $self->{s}->tenant("bench$_") }
                         0 .. $self->{count} - 1 ];
    $self->{tokens} = $self->token_file('tokens', @{ $self->{tenants} });
    $self->psql('postgres', '-f', "$self->{here}/sql/tokens.sql");

    $self->{s}->nginx->launch;
    $self->{s}->wait_healthy
        or die 'nginx is not healthy: ' . $self->{s}->log_tail . "\n";
}


sub start_postgres {
    my ($self) = @_;

    my $pg = $self->{s}->pg;

    $pg->sh("$self->{bin}/initdb", '-D', $pg->{dir}, '-U', 'postgres',
            '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8');

    open my $fh, '>>', "$pg->{dir}/postgresql.conf" or die "$!\n";
    print $fh $POSTGRES;
    close $fh;

    $pg->launch;
    $pg->connect('postgres', 'postgres')->query('CREATE DATABASE svc');
    $pg->migrate($self->{sql} ? ('--sql', $self->{sql}) : ());
}


# Writes a file for lua/common.lua with the SCIM tokens of tenants.

sub token_file {
    my ($self, $name, @tenants) = @_;

    my $file = "$self->{dir}/$name.lua";

    open my $fh, '>', $file or die "$file: $!\n";
    chmod 0600, $file;
    print $fh 'return { ', join(', ', map { "\"$_->{scim_token}\"" }
                                      @tenants), " }\n";
    close $fh;

    return $file;
}


# Returns the digest of a tenant's token, of kind "scim" or "api", as text for
# bytea.

sub hash {
    my ($self, $tenant, $kind) = @_;

    return '\x' . sha256_hex($self->{tenants}[$tenant]
                              {($kind // 'scim') . '_token'});
}


sub psql_command {
    my ($self, $role, @arg) = @_;

    return ["$self->{bin}/psql", '-XAtq', '-v', 'ON_ERROR_STOP=1',
            '-d', $self->{s}->pg->conninfo($role), @arg];
}


sub psql {
    my ($self, $role, @arg) = @_;

    my ($status, $text) = run($self->psql_command($role, @arg),
                              timeout => 600);

    die "psql @arg: $text\n" if $status != 0;

    return $text;
}


# Adds users to the database until it has so many.

sub seed {
    my ($self, $users) = @_;

    $self->add_users('bench', $self->{count}, $self->{users}, $users - 1);
    $self->{users} = $users;

    my $n = $self->{s}->sql('SELECT count(*) FROM svc.user_account');
    die "$n users instead of $users\n" if $n != $users;

    # writes everything out now, and not while others are measured

    $self->{s}->sql('CHECKPOINT');
}


# Adds users with these numbers to so many tenants, which have this name and a
# number.

sub add_users {
    my ($self, $name, $tenants, $first, $last) = @_;

    $self->psql('postgres', '-f', "$self->{here}/sql/seed.sql",
                '-v', "tenant=$name", '-v', "tenants=$tenants",
                '-v', "first=$first", '-v', "last=$last");
}


sub reset {
    my ($self) = @_;

    $self->psql('postgres', '-f', "$self->{here}/sql/reset.sql");
}


# Deletes what a measurement may have left that did not come to its end.

sub mend {
    my ($self) = @_;

    $self->psql('postgres', '-c', 'DELETE FROM svc.webhook_endpoint',
                '-c', 'DELETE FROM svc.scim_target');
    $self->reset;
}


# Returns how many users were created.  Other events, as of an anomaly that is
# found meanwhile, do not count.

sub created {
    my ($self) = @_;

    my ($row) = $self->{s}->sql(
        "SELECT (SELECT count(*) FROM svc.user_account WHERE source = 'scim'),"
        . " (SELECT count(*) FROM svc.audit_event WHERE action = 'user.created')");

    die "$row->[0] users were created, $row->[1] events written\n"
        if $row->[0] != $row->[1];

    return $row->[0];
}


# Returns how many events the audit log has.

sub events {
    my ($self) = @_;

    return scalar $self->{s}->sql('SELECT count(*) FROM svc.audit_event');
}


# Returns the numbers of the users who are not active.

sub inactive {
    my ($self) = @_;

    return map { $_->[0] } $self->{s}->sql(
        'SELECT right(id::text, 12)::bigint FROM svc.user_account'
        . " WHERE status <> 'active'");
}


sub base_url {
    my ($self) = @_;

    return $self->{s}->base_url;
}


sub user_id {
    my ($i) = @_;

    return sprintf '018f3a5c-7d7e-7100-8000-%012d', $i;
}


# Returns the bytes of one answer: head and body.

sub answer {
    my ($self, $path, $user) = @_;

    my $tenant = $self->{tenants}[$user % $self->{count}];

    return $self->plain($path, $tenant->headers);
}


sub plain {
    my ($self, $path, $headers) = @_;

    my $c = $self->{s}->connection;
    my $text = $c->format('GET', $path, $headers // []);

    $c->send($text);
    my $r = $c->read or die "GET $path: " . $c->error . "\n";

    die "GET $path: $r->{status} $r->{body}\n" if $r->status != 200;

    my $head = "HTTP/1.1 $r->{status} $r->{reason}\r\n"
               . join('', map { "$_->[0]: $_->[1]\r\n" } @{ $r->{raw} })
               . "\r\n";

    return { head => $head, body => $r->body, json => $r->json,
             size => length($head) + length $r->body };
}


# Checks that the load generators will get the right answers, for some users of
# each tenant.  Returns the size of one answer of each kind.

sub check_answers {
    my ($self) = @_;

    my ($get, $filter);

    for (1 .. 50) {
        my $user = int rand $self->{users};
        my $id = user_id($user);
        my $name = "user$user\@bench" . $user % $self->{count} . '.test';

        $get = $self->answer("/scim/v2/Users/$id", $user);
        $filter = $self->answer('/scim/v2/Users?filter=userName%20eq%20%22'
                                . $name =~ s/@/%40/r . '%22', $user);

        die "GET of $id gives $get->{body}\n"
            if $get->{json}{userName} ne $name;
        die "the filter for $name gives $filter->{body}\n"
            if $filter->{json}{totalResults} != 1
               || $filter->{json}{Resources}[0]{id} ne $id;
    }

    return { get => $get->{size}, filter => $filter->{size},
             list => $self->answer('/scim/v2/Users', 0)->{size} };
}


# Adds a location below /static that returns as many bytes as a GET of a user
# does: what its head is shorter is added to the body.

sub add_static {
    my ($self) = @_;

    my $nginx = $self->{s}->nginx;
    my $before = $nginx->{locations} // '';
    my $get = $self->answer('/scim/v2/Users/' . user_id(0), 0);
    my $body = $get->{body} =~ s/([\\'])/\\$1/gr;
    my $pad = '';

    for (1 .. 2) {
        $nginx->{locations} = $before . <<"EOT";
        location /static {
            default_type application/scim+json;
            return 200 '$body$pad';
        }
EOT
        $self->{s}->reload;
        $self->{s}->wait_healthy or die "nginx is not healthy\n";

        my $size = $self->answer('/static', 0)->{size};

        return $size if $size == $get->{size};

        die "a static answer has $size bytes\n" if $size > $get->{size};

        $pad = ' ' x ($get->{size} - $size);
    }

    die "no static answer of $get->{size} bytes\n";
}


# --- processes --------------------------------------------------------------

sub workers {
    my ($self) = @_;

    return $self->{s}->workers;
}


# Returns the processes whose CPU a measurement counts: see SvcBench::Cpu.

sub processes {
    my ($self) = @_;

    return (postgres => { root => $self->{s}->pg->pid },
            server => { pids => [ $self->workers ] },
            helper => { pids => [ $self->{s}->nginx->helper_pids ] });
}


# Returns the resident memory of the biggest worker, in KB: all of it, and the
# part that is not backed by a file.

sub rss {
    my (@pids) = @_;

    my ($all, $anonymous) = (0, 0);

    for my $pid (@pids) {
        my $status = slurp("/proc/$pid/status") // next;
        my ($rss) = $status =~ /^VmRSS:\s+(\d+)/m;
        my ($anon) = $status =~ /^RssAnon:\s+(\d+)/m;

        ($all, $anonymous) = ($rss, $anon) if $rss > $all;
    }

    return ($all, $anonymous);
}


# Returns lines of logs that should not be there.

sub complaints {
    my ($self) = @_;

    return (grep { /\[(?:alert|emerg|crit|error)\]|exited on signal/ }
                 $self->{s}->nginx->log_lines),
           (grep { !/FATAL:  the database system is starting up/ }
                 $self->{s}->pg->errors);
}


1;
