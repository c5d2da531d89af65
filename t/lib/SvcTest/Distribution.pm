package SvcTest::Distribution;

# Tells whether a statement names the tenant for each tenant's table that it
# reads or writes.  It looks at the plan that PostgreSQL makes for a role to
# which no policy applies, so that only the statement's own text separates
# tenants.

use strict;
use warnings;

use JSON::PP ();


my $JSON = JSON::PP->new->utf8;

# What a tenant is compared with: a parameter, or the setting of the
# transaction; or the tenant of another row, which is checked by itself.

my $GIVEN = qr{ \(* (?: \$\d+ \b
                      | (?:GREATEST|NULLIF)\(current_setting\('svc\.tenant'::text ) }x;
my $OTHER = qr{ \(? ( \w+ | "\*SELECT\*" ) \. (?:tenant|tenant_id|id) \)? }x;

# from a parenthesis to the one that closes it
my $NESTED = qr{ (?<nested> \( (?> ' [^']* ' | [^()']+ | (?&nested) )* \) ) }x;

my @ROWS = ('Index Cond', 'Recheck Cond', 'Filter');
my @JOINS = ('Hash Cond', 'Merge Cond', 'Join Filter');


# db: a superuser's connection, which the object keeps.

sub new {
    my ($class, $db) = @_;

    my $self = bless { db => $db, tables => tables($db) }, $class;

    $db->query("SET $_") for q(TimeZone = 'UTC'), 'search_path = pg_catalog',
                             'plan_cache_mode = force_generic_plan',
                             'enable_partition_pruning = off';

    return $self;
}


# Returns the tables of tenants and their partitions by name: { table, key,
# column }: the name of the table, the name of its tenant's column, and the
# position of this.

sub tables {
    my ($db) = @_;

    my @names = qw(table key column);

    return { map { my ($name, @row) = @$_; my %t; @t{@names} = @row; ($name => \%t) }
             @{ $db->query(<<'SQL') } };
SELECT c.relname, coalesce(p.relname, c.relname), a.attname, a.attnum
  FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
  LEFT JOIN pg_class p ON p.oid = i.inhparent
  JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
   AND a.attname = CASE c.relname WHEN 'tenant' THEN 'id' ELSE 'tenant_id' END
SQL
}


# Returns the tables that a statement uses without naming the tenant.  types:
# those of its parameters, when PostgreSQL cannot infer them.

sub unnamed {
    my ($self, $text, @types) = @_;

    my @nodes = nodes($self->plan($text, @types));
    my %found;

    $self->{aliases} = {};
    $self->{aliases}{ $_->{Alias} }++ for grep { $_->{Alias} } @nodes;
    $self->{joins} = [ conditions(\@JOINS, @nodes) ];

    $found{$_} = 1 for map { $self->offends($_) } @nodes;

    return sort keys %found;
}


sub plan {
    my ($self, $text, @types) = @_;

    my $db = $self->{db};
    my $types = @types ? '(' . join(', ', @types) . ')' : '';

    $db->query('DEALLOCATE ALL');
    $db->query("PREPARE s$types AS $text");

    my $n = $db->query('SELECT cardinality(parameter_types)'
                       . " FROM pg_prepared_statements WHERE name = 's'")->[0][0];
    my $values = $n ? '(' . join(', ', ('NULL') x $n) . ')' : '';
    my $rows = $db->query("EXPLAIN (FORMAT JSON, VERBOSE, COSTS OFF) EXECUTE s$values");

    return map { $_->{Plan} } @{ $JSON->decode(join '', map { $_->[0] } @$rows) };
}


sub nodes {
    return map { $_, nodes(@{ $_->{Plans} // [] }) } @_;
}


# Returns the conditions that hold for all rows of the nodes: none of them is an
# alternative.

sub conditions {
    my ($kinds, @nodes) = @_;

    return map { conjuncts($_) } grep { defined } map { @$_{@$kinds} } @nodes;
}


# Splits "((a) AND (b))" into "a" and "b".

sub conjuncts {
    my ($text) = @_;

    my @parts = '';

    $text = substr $text, 1, -1 if $text =~ /^$NESTED$/;

    while ($text =~ /\G(?: $NESTED | '[^']*' | (?<and>[ ]AND[ ]) | . )/gsx) {
        if (defined $+{and}) {
            push @parts, '';

        } else {
            $parts[-1] .= $&;
        }
    }

    return @parts > 1 ? map { conjuncts($_) } @parts : $parts[0];
}


# Returns the name of a node's table when its rows are not limited to one
# tenant.

sub offends {
    my ($self, $node) = @_;

    my $of = $self->{tables}{ $node->{'Relation Name'} // '' } or return;

    if ($node->{'Node Type'} eq 'ModifyTable') {
        return $node->{Operation} ne 'Insert' || inserts($node, $of) ? () : $of->{table};
    }

    my $column = qr/\Q$node->{Alias}.$of->{key}\E/;
    my @given = conditions(\@ROWS, $node);

    return if grep { /^$column = $GIVEN/ } @given;
    return if grep { /^(?:$column = $OTHER|$OTHER = $column)$/ } @{ $self->{joins} };

    # another row of the same table may have the same name

    return if grep { ($self->{aliases}{$_} // 0) > ($_ eq $node->{Alias}) }
              map { /^$column = $OTHER$/ ? $1 : () } @given;

    return $of->{table};
}


sub inserts {
    my ($node, $of) = @_;

    my ($rows) = grep { $_->{'Parent Relationship'} eq 'Outer' } @{ $node->{Plans} };

    return ($rows->{Output}[$of->{column} - 1] // '') =~ /^(?:$GIVEN|$OTHER$)/;
}

1;
