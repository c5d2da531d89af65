#!/usr/bin/perl

# The statements of the modules in PostgreSQL: each can be prepared by the
# modules' role, and its parameters and columns are those in its header.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slurp);

require './ngx_svc_common/sql/sql.pl';


# types as headers spell them
my %SHORT = (bigint => 'int8', integer => 'int4', smallint => 'int2', boolean => 'bool');

my $s = SvcTest->new(workers => 1)->start;
my $db = $s->connect_as('svc_app');
my $statements = Svc::Sql::read_all($s->root);

$db->query('SET search_path = pg_catalog');

my %failed;

for my $name (sort keys %$statements) {
    eval { $db->query("PREPARE \"$name\" AS $statements->{$name}{text}"); 1 }
        or $failed{$name} = $@;
}

cmp_ok(scalar keys %$statements, '>', 400, 'there are statements');
is_deeply(\%failed, {}, 'each is prepared');


# --- the README's example -------------------------------------------------------------

my ($walked) = slurp('ngx_svc_common/sql/README.md') =~ /^```sql\n(.*?)^```$/ms;
my ($name) = $walked =~ /^-- statement: (\w+)$/m;

ok(index(slurp($statements->{$name}{file}), $walked) >= 0, "$name is as the README has it");


# --- parameters ---------------------------------------------------------------------

my %types = map { $_->[0] => $_->[1] }
            @{ $db->query("SELECT name, array_to_string(parameter_types, ' ')"
                          . ' FROM pg_prepared_statements') };

my %told = map { my $name = $_;
                 $name => join ' ', map { $_->{type} } @{ $statements->{$name}{parameters} } }
           keys %types;

is_deeply(\%told, { map { my $name = $_;
                          $name => join ' ', map { $SHORT{$_} // $_ } split / /, $types{$name} }
                    keys %types },
          'the parameters are of the types that headers tell of');


# --- columns ------------------------------------------------------------------------

# Where a header lists columns they are those that PostgreSQL returns, in this order: C
# reads them by their places, as values of these types.

my @listed = sort grep { @{ $statements->{$_}{columns} } } keys %$statements;
my %type = map { $_->[0] => $_->[1] =~ s/^_(.*)/$1\[]/r }
           @{ $db->query('SELECT oid, typname FROM pg_type') };

cmp_ok(scalar @listed, '>', 0, 'there are headers with columns');
is_deeply({ map { my $name = $_;
                  $name => [ map { "$_->{name} $_->{type}" }
                             Svc::Sql::columns($statements->{$name}) ] } @listed },
          { map { $_ => [ map { "$_->[0] $type{ $_->[1] }" } $db->described($_) ] } @listed },
          'the columns are those that headers tell of');


# --- verdicts -----------------------------------------------------------------------

# A verdict is in the first column, or where the header says.

my @verdicts = grep { $statements->{$_}{set_verdicts} || @{ $statements->{$_}{verdicts} } }
               sort keys %$statements;

cmp_ok(scalar @verdicts, '>', 50, 'statements say verdicts');
is_deeply([ grep { verdict_column($_) !~ /^_?verdict$|^_constraint$/ } @verdicts ], [],
          'in a column that is called so');


# Returns the name of the column that the C code looks at.

sub verdict_column {
    my ($name) = @_;

    my $n = Svc::Sql::verdict_column($statements->{$name});

    return ($db->columns($name))[$n] // 'none';
}


$s->done;
done_testing();
