package SvcTest::Cost;

# What one request costs PostgreSQL, in figures that do not depend on what else
# the machine does: statements, plan nodes, triggers that ran, pages, WAL.
#
#     my $s = SvcTest->new(SvcTest::Cost::server(counted => 1), ...)->start;
#     my $figures = SvcTest::Cost::measure($operation, SvcTest::Cost->new($s));
#
# An operation is a hash: name; ask, the code of a request, which returns the
# answer; status, what this must be; before, the code of what it takes, which is
# not counted and whose value ask is given.

use strict;
use warnings;

use SvcTest::Process qw(signal_pid slurp wait_for);

# A connection has generic plans from the sixth time on.
my $WARM = 7;
my $TIMES = 9;

# What the modules do at any time, whoever asks.
my $BESIDE = 'svc\.(agent_sweep|sign_in_sweep|sign_in_expire|oauth_expire'
             . '|oauth_key_turn|user_index|webhook_outbox_take)\(';

# Whatever comes and goes by the clock writes no WAL, and takes no page from
# memory.

my $STEADY = <<'EOT';
shared_buffers = 256MB
checkpoint_timeout = 1d
max_wal_size = 4GB
full_page_writes = off
jit = off
track_counts = off
EOT

# The log has each bind, and each plan when its portal is closed;
# pg_stat_statements has pages and WAL, those of triggers included.

my $COUNTED = <<'EOT';
shared_preload_libraries = 'auto_explain,pg_stat_statements'
auto_explain.log_min_duration = 0
auto_explain.log_format = json
auto_explain.log_analyze = on
auto_explain.log_timing = off
auto_explain.log_triggers = on
auto_explain.log_nested_statements = on
log_min_duration_statement = 0
log_parameter_max_length = 0
pg_stat_statements.track = top
EOT


# The options of a server whose figures are steady: each worker has one connection
# of each kind.  counted: with what this module reads.  svc: more directives.

sub server {
    my (%arg) = @_;

    return (workers => 2,
            pg_conf => $STEADY . ($arg{counted} ? $COUNTED : ''),
            svc => {
                svc_postgres_pool => [ map { "$_ connections=1 depth=32" }
                                           qw(read write slow) ],
                svc_postgres_fence => 'off',
                map({ ("svc_postgres_$_" => '60s') } qw(timeout connect_timeout
                                                        queue_timeout)),
                %{ $arg{svc} // {} } });
}


# The first worker sweeps at any time: it stands still from here on, without its
# sessions, and the other one answers all requests.

sub alone {
    my ($s) = @_;

    my @workers = $s->workers;

    signal_pid('STOP', $workers[0]);
    $s->sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            . " WHERE usename = 'svc_app'");
    wait_for { $s->sessions("state = 'idle' AND query <> ''") == 3 } 120
        or die "no sessions\n";
    $s->wait_healthy(60) or die "nginx is not healthy\n";
}


# The end of it, as of SvcTest.

sub done {
    my ($s) = @_;

    signal_pid('CONT', $s->workers);
    $s->done;
}


# What requests of an operation took by a meter, one figure of each kind: the lower
# quartile, since a page that has just become full, or work beside it, only adds.

sub measure {
    my ($op, $meter) = @_;

    my %took;

    for my $i (1 .. $WARM + $TIMES) {
        my $given = $op->{before} ? $op->{before}->() : undef;
        my $counts = $i > $WARM;

        $meter->begin if $counts;

        my $r = $op->{ask}->($given);
        my $n = $counts ? $meter->end : {};

        die "$op->{name}: " . $r->status . ", not $op->{status}: " . $r->body . "\n"
            if $r->status != $op->{status};

        push @{ $took{$_} }, $n->{$_} for keys %$n;
    }

    return { map { $_ => quartile(@{ $took{$_} }) } keys %took };
}


sub quartile {
    my (@n) = @_;

    return (sort { $a <=> $b } @n)[$#n / 4];
}


# --- the meter ----------------------------------------------------------------

sub new {
    my ($class, $s) = @_;

    $s->sql('CREATE EXTENSION pg_stat_statements');

    return bless { s => $s, log => $s->pg->{log} }, $class;
}


sub begin {
    my ($self) = @_;

    truncate $self->{log}, 0 or die "$self->{log}: $!\n";
    $self->{sums} = $self->sums;
}


sub end {
    my ($self) = @_;

    my $now = $self->sums;
    my %n = map { $_ => $now->{$_} - $self->{sums}{$_} } keys %$now;

    return { %n, %{ logged(slurp($self->{log})) } };
}


sub sums {
    my ($self) = @_;

    my %sum;

    @sum{qw(pages wal_records wal_bytes)} = @{ ($self->{s}->sql(<<"EOT"))[0] };
SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0),
       coalesce(sum(wal_records), 0), coalesce(sum(wal_bytes), 0)
FROM pg_stat_statements
WHERE userid = 'svc_app'::regrole AND query !~ '$BESIDE'
EOT

    return \%sum;
}


# What lines of the log tell: behind the one of a statement's bind come the plans
# of what it runs inside, as in triggers, and its own.

sub logged {
    my ($text) = @_;

    my %n = map { $_ => 0 } qw(statements nodes triggers);
    my %counts;

    for my $entry (split /^(?=\d+ \S* LOG:)/m, $text // '') {
        my ($pid, $what) = $entry =~ /\A(\d+) svc_app LOG:  duration: \S+ ms  (.*)/s
            or next;

        if ($what =~ /\Abind [^:]*: (.*)/s) {
            $counts{$pid} = $1 !~ /$BESIDE/;
            $n{statements}++ if $counts{$pid};

        } elsif ($counts{$pid} && $what =~ /\Aplan:/) {
            my ($triggers) = $what =~ /"Triggers": \[(.*)/s;

            $n{nodes} += () = $what =~ /^\s+"Node Type": /mg;
            $n{triggers} += $_ for ($triggers // '') =~ /^\s+"Calls": (\d+)/mg;
        }
    }

    return \%n;
}


1;
