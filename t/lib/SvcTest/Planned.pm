package SvcTest::Planned;

# Measures the execution of a prepared statement by EXPLAIN.  A class that
# inherits from this one has: s, the server; id, a tenant's; owner(), a user of
# the tenant; values(), the parameters of statements; and first_changes(),
# statements.

use strict;
use warnings;

use List::Util qw(max);

use SvcTest::Governance;


my $TIMEOUT = 60_000;           # ms: some statements would never end


# Executes a statement as svc_app with the tenant set, and rolls it back.  kind,
# of its plan: custom; generic; refused, a generic plan made for a request
# without a tenant; early, one made so when the tables were empty.  Returns what
# does not depend on the load of the machine: rows, of the node that has most of
# them in all its loops; pages; removed, the rows that were read in vain; and
# the plan.

sub execute {
    my ($self, $name, $text, $kind, $values) = @_;

    return $self->explain($self->{early}, "early_$name", $values)
        if $kind eq 'early';

    return $self->without_tenant($text, $values) if $kind eq 'refused';

    my $db = $self->{db} //= $self->connect($self->settings);

    prepare($db, $text, $kind);

    my $work = $self->explain($db, 's', $values);

    $self->{last} = { text => $text, shape => shape($db, $values), work => $work }
        if $kind eq 'generic';

    return $work;
}


# Executes with a plan made without a tenant.  It does not execute when the plan
# is the one that was executed last; EXPLAIN alone does not show the plans
# inside the functions that a statement calls.

sub without_tenant {
    my ($self, $text, $values) = @_;

    my $db = $self->{without} //= $self->connect;

    prepare($db, $text, 'generic');

    my $shape = shape($db, $values);
    my $last = $self->{last};

    return $last->{work}
        if $last && $last->{text} eq $text && $last->{shape} eq $shape;

    $db->query($self->settings);

    my $work = $self->explain($db, 's', $values);

    delete $self->{without};

    return $work;
}


sub prepare {
    my ($db, $text, $kind) = @_;

    my $new = ($db->{text} // '') ne $text;

    $db->query("SET plan_cache_mode = force_${kind}_plan"
               . ($new ? "; DEALLOCATE ALL; PREPARE s AS $text" : ''));
    $db->{text} = $text;
}


sub shape {
    my ($db, $values) = @_;

    return join "\n", map { $_->[0] }
           @{ $db->query('EXPLAIN (COSTS OFF) EXECUTE s' . arguments($values)) };
}


# Makes plans as the first requests after an installation do, on a connection
# that stays open.

sub plan_early {
    my ($self, $text) = @_;

    my $values = $self->values;
    my $db = $self->{early} = $self->connect;

    $db->query('SET plan_cache_mode = force_generic_plan');

    for my $name (grep { $text->{$_} } sort keys %$values) {
        $db->query("PREPARE early_$name AS $text->{$name}");
        $db->query("EXPLAIN EXECUTE early_$name"
                   . arguments($values->{$name}));
    }

    $db->query($self->settings);
    $db->query('BEGIN');
    $db->query($_) for $self->first_changes;
    $db->query('ROLLBACK');
}


# Returns the settings of a request, which here hold for the whole connection,
# while each execution is rolled back.

sub settings {
    my ($self) = @_;

    my $owner = $self->owner;

    return "SELECT set_config('svc.tenant', '$self->{id}', false),"
           . " set_config('svc.actor_type', 'user', false),"
           . " set_config('svc.actor_id', '$owner', false),"
           . " set_config('svc.permissions', '{$ALL}', false),"
           . " set_config('svc.verdict', '', false)";
}


sub explain {
    my ($self, $db, $prepared, $values) = @_;

    my @lines = eval {
        map { $_->[0] } @{ $db->query('BEGIN; EXPLAIN (ANALYZE, BUFFERS, TIMING OFF)'
                                      . " EXECUTE $prepared" . arguments($values)
                                      . '; ROLLBACK') };
    };
    my $failed = $@;

    $db->query('ROLLBACK') if $failed;

    die $failed if !@lines && $failed !~ /^PostgreSQL: 57014/;

    return { rows => 1e9, pages => 0, removed => 0, plan => 'canceled' }
        if !@lines;

    return { work(@lines), plan => join "\n", @lines };
}


sub work {
    my (@lines) = @_;

    my %work = (rows => 0, removed => 0, pages => 0);
    my $loops;

    for (@lines) {
        $loops = $1 if /\bloops=(\d+)/;
        $work{rows} = max($work{rows}, $1 * $loops)
            if /\bactual .*\brows=([\d.]+) loops=/;
        $work{removed} += $1 * $loops if /Rows Removed by [\w ]+: (\d+)/;
    }

    # of the first node, which includes those below it

    my ($buffers) = grep { /Buffers:/ } @lines;

    $work{pages} += $1 while ($buffers // '') =~ /\b(?:hit|read)=(\d+)/g;

    return %work;
}


sub connect {
    my ($self, @settings) = @_;

    my $db = $self->{s}->connect_as('svc_app');

    $db->query("SET $_") for q(TimeZone = 'UTC'), 'search_path = pg_catalog',
                             "statement_timeout = $TIMEOUT";
    $db->query($_) for @settings;

    return $db;
}


sub arguments {
    my ($values) = @_;

    return @$values ? '(' . join(', ', map { quoted($_) } @$values) . ')' : '';
}


sub quoted {
    my ($value) = @_;

    return 'NULL' if !defined $value;

    return "'" . $value =~ s/'/''/gr . "'";
}

1;
