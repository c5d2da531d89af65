package SvcTest::Cost;

# Measures what one request costs PostgreSQL, in figures that do not depend on
# the load of the machine: statements, plan nodes, triggers that ran, pages,
# WAL.
#
#     my $s = SvcTest->new(SvcTest::Cost::server(counted => 1), ...)->start;
#     my $figures = SvcTest::Cost::measure($operation, SvcTest::Cost->new($s));
#
# An operation is a hash: name; ask, the code that sends a request and returns
# the answer; status, the one that this must have; before, the code that
# prepares a request: it is not counted, and ask gets its value; until, texts of
# the helper's statements that follow a request.

use strict;
use warnings;

use List::Util qw(min);

use SvcTest::Process qw(signal_pid slurp wait_for);

# PostgreSQL uses generic plans from the sixth execution on.
my $WARM = 7;

# Statements that the modules run at any time, whatever the requests are.
my $BESIDE = 'svc\.(agent_sweep|sealed_keys|sign_in_sweep|sign_in_expire|oauth_expire'
             . '|oauth_key_turns|user_index|webhook_outbox_(take|rest)|scim_claim'
             . '|oauth_logout_take|application_jwks_take'
             . '|webhook_(attempt|done)_expire|webhook_attempt_delete)\(';

# Statements by which the helper looks for work: some of them find none.
my $LOOKS = 'svc\.webhook_outbox outbox CROSS JOIN|target\.next_at - clock_timestamp'
            . '|bool_or\(event\.relevant\)|AS held';

# Nothing that runs by the clock writes WAL, or evicts a page from memory.

my $STEADY = <<'EOT';
shared_buffers = 256MB
checkpoint_timeout = 1d
max_wal_size = 4GB
full_page_writes = off
jit = off
track_counts = off
EOT

# The log shows each bind, and each plan when its portal is closed;
# pg_stat_statements counts pages and WAL, with those of triggers.

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


# Returns the options of a server whose figures are steady: each worker has one
# connection of each kind.  counted: with the settings that this module's meter
# needs.  svc: more directives.

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


# Restarts PostgreSQL, under a command if one is given, and waits until one
# worker has its connections alone, or until there are as many as given, with
# those of the helper.  The first worker, which sweeps at any time, is stopped
# from here on.  All pages are read into memory before the first request.

sub alone {
    my ($s, %arg) = @_;

    my $sessions = $arg{sessions} // 3;

    signal_pid('STOP', ($s->workers)[0]);
    delete $s->{client};
    $s->pg->stop;
    $s->pg->{under} = $arg{under} // [];
    $s->pg->launch;
    $s->sql('CREATE EXTENSION IF NOT EXISTS pg_prewarm');
    $s->sql("SELECT pg_prewarm(oid) FROM pg_class WHERE relkind IN ('r', 'i', 't')");
    wait_for { $s->sessions("state = 'idle' AND query <> ''") >= $sessions } 120
        or die "no sessions\n";
    $s->wait_healthy(60) or die "nginx is not healthy\n";
}


# Lets the workers go on, and ends as SvcTest does.

sub done {
    my ($s) = @_;

    signal_pid('CONT', $s->workers);
    $s->done;
}


# Returns what requests of an operation cost by a meter, the least of each kind,
# because a page that has just become full, or other work, only adds.  What the
# requests need is made before the first of them.  A connection may still be at
# the end of a transaction when the client has the answer.

sub measure {
    my ($op, $meter) = @_;

    my $last = $WARM + $meter->times;
    my $first = $op->{until} ? 1 : $WARM + 1;
    my @given = map { $op->{before} ? $op->{before}->() : undef } 1 .. $last;
    my @took;

    for my $i (1 .. $last) {
        $meter->begin if $i == $first;

        my $r = $op->{ask}->($given[$i - 1]);

        die "$op->{name}: " . $r->status . ", not $op->{status}: " . $r->body . "\n"
            if $r->status != $op->{status};

        wait_for { !$meter->{s}->sessions("state <> 'idle'") } or die "not idle\n";
        push @took, $meter->took(@{ $op->{until} // [] }) if $i >= $first;
    }

    @took = @took[-$meter->times .. -1];

    return { map { my $kind = $_; $kind => min(map { $_->{$kind} } @took) }
             keys %{ $took[0] } };
}


# --- the meter ----------------------------------------------------------------

sub new {
    my ($class, $s) = @_;

    $s->sql('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');

    return bless { s => $s, log => $s->pg->{log} }, $class;
}


# How many requests are measured.

sub times { return 9 }


sub begin {
    my ($self) = @_;

    truncate $self->{log}, 0 or die "$self->{log}: $!\n";
    $self->{sums} = $self->sums;
}


# Returns the figures since the meter began, or since the last time.  With
# texts, it waits until a statement with each of them has run, and counts each
# statement once: how often the helper runs one depends on the time.

sub took {
    my ($self, @until) = @_;

    for my $text (@until) {
        wait_for { (slurp($self->{log}) // '') =~ /"Query Text": ".*\Q$text\E/ }
            or die "no statement with $text\n";
    }

    my $now = $self->sums;
    my %n = %{ logged(slurp($self->{log}), scalar @until) };

    for my $id (keys %$now) {
        my %more = map { $_ => $now->{$id}{$_} - ($self->{sums}{$id}{$_} // 0) }
                   qw(calls pages wal_records wal_bytes);

        next if !$more{calls} || @until && $now->{$id}{looks} eq 't';

        $n{$_} += @until ? $more{$_} / $more{calls} : $more{$_}
            for qw(pages wal_records wal_bytes);
    }

    $self->begin;

    return \%n;
}


sub sums {
    my ($self) = @_;

    my @kinds = qw(calls pages wal_records wal_bytes looks);
    my %sums;

    for ($self->{s}->sql(<<"EOT")) {
SELECT queryid, calls, shared_blks_hit + shared_blks_read, wal_records, wal_bytes,
       query ~ '$LOOKS'
FROM pg_stat_statements
WHERE userid = 'svc_app'::regrole AND query !~ '$BESIDE'
EOT
        my ($id, @n) = @$_;

        @{ $sums{$id} }{@kinds} = @n;
    }

    return \%sums;
}


# Counts from the lines of the log: after the line of a statement's bind come
# the plans of what runs inside it, as in triggers, and its own plan.

sub logged {
    my ($text, $once) = @_;

    my %n = map { $_ => 0 } qw(statements nodes triggers
                               pages wal_records wal_bytes);
    my (%counts, %seen);

    for my $entry (split /^(?=\d+ \S* LOG:)/m, $text // '') {
        my ($pid, $what) = $entry =~ /\A(\d+) svc_app LOG:  duration: \S+ ms  (.*)/s
            or next;

        if ($what =~ /\Abind ([^:]*): (.*)/s) {
            $counts{$pid} = $2 !~ /$BESIDE/ && !($once && $seen{$1}++);
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
