#!/usr/bin/perl

# What "sql.pl lint" says of files that are wrong, each in a tree of its own.

use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

require './ngx_svc_common/sql/sql.pl';
require './ngx_svc_common/sql/lint.pl';


# What it says of statements, by name, that C names.

sub said {
    my (%text) = @_;

    my $root = tempdir(CLEANUP => 1);

    mkdir "$root/ngx_svc_x" or die $!;

    write_file("$root/ngx_svc_x/x.sql",
               join "\n\n", map { "-- statement: $_\n$text{$_}" } sort keys %text);
    write_file("$root/ngx_svc_x/x.c", join ' ', map { "ngx_svc_sql_$_" } keys %text);

    Svc::Sql::read_all($root);

    my $said = '';
    local *STDERR;
    open STDERR, '>', \$said or die $!;
    Svc::Sql::Lint::report($root);

    return $said;
}


sub write_file {
    my ($file, $text) = @_;

    open my $out, '>', $file or die "$file: $!";
    print $out $text;
    close $out or die $!;
}


# --- length -----------------------------------------------------------------------

my $line = "SELECT 1 AS first_column\n";
my $short = $line . "UNION ALL\n$line" x 59;                    # 119 lines
my $long = $line . "UNION ALL\n$line" x 60;
my $because = "--\n-- long: it says so\n";

is(said(one => $short), '', 'a statement of 119 lines');
like(said(one => $long), qr/one: it has 121 lines, and may have 120/, 'one of 121');
is(said(one => $because . $long), '', 'one that says why');
like(said(one => $because . $short), qr/one: it says why it is long, and has 119 lines/,
     'one that says why, and is short');

my @long = map { $_ => $because . $long } qw(one two three);

is(said(@long), '', 'three that say why');
like(said(@long, four => $because . $long),
     qr/4 statements are longer than others, and 3 may be: four, one, three, two/, 'four');


# --- columns of CTEs ----------------------------------------------------------------

# The columns that nothing uses, of a statement.

sub unused {
    my ($text) = @_;

    return join ', ', said(one => $text) =~ /nothing uses the column (\w+ of \w+)/g;
}


my $found = 'WITH found AS (SELECT account.id, account.name FROM svc.user_account account)';

is(unused("$found SELECT found.id, found.name FROM found"), '', 'each column is used');
is(unused("$found SELECT found.id FROM found"), 'name of found', 'one is not');
is(unused("$found SELECT other.id FROM found other"), 'name of found', 'by another name');
is(unused("$found SELECT id AS name FROM found"), 'name of found',
   'what another column is called');
is(unused("$found SELECT found.id, 'name' FROM found"), 'name of found', 'quoted text');
is(unused("$found SELECT id, name FROM found"), '', 'columns without the name of the CTE');
is(unused("$found SELECT * FROM found"), '', 'all columns');
is(unused("$found SELECT found.* FROM found"), '', 'all columns, by the name of the CTE');
is(unused("$found SELECT to_jsonb(found) FROM found"), '', 'a row');
is(unused("$found, more AS MATERIALIZED (SELECT found.id, CASE WHEN true THEN 1 END AS first"
          . ' FROM found) SELECT more.id FROM more'), 'name of found, first of more',
   'of two CTEs');
is(unused('WITH deleted AS (DELETE FROM svc.role role RETURNING role.key, role.name)'
          . ' SELECT deleted.key FROM deleted'), 'name of deleted', 'of RETURNING');
is(unused('WITH made (first, second) AS (VALUES (1, 2)) SELECT made.first FROM made'),
   'second of made', 'of a list of columns');
is(unused('WITH each AS (SELECT DISTINCT account.id, account.name'
          . ' FROM svc.user_account account) SELECT each.id FROM each'), '',
   'one that tells rows apart');


# --- composed text --------------------------------------------------------------------

my $composed = "-- statement: sorted (composed)\n--\n-- parameters\n--   id   uuid\n-- parts\n"
               . "--   sort account.name\n--   direction DESC\n"
               . "SELECT account.name FROM svc.user_account account WHERE account.id = :id"
               . " ORDER BY :sort :direction, account.id :direction;\n";
my $tree = tempdir(CLEANUP => 1);

mkdir "$tree/ngx_svc_x" or die $!;
write_file("$tree/ngx_svc_x/x.sql", $composed);

my $sorted = Svc::Sql::read_all($tree)->{sorted};

Svc::Sql::part('objects.pl');

my $c = Svc::Sql::Objects::composed($sorted);

like($sorted->{text}, qr/ORDER BY account\.name DESC, account\.id DESC$/,
     'for tools and tests the examples are the parts');
like($c =~ s/"\n *"//gr, qr/account\.id = \$1 ORDER BY %V %V, account\.id %V%Z"/,
     'C has a place for each part');
like($c, qr/compose_sorted\(p, sort, direction\)/, 'a macro takes the parts');
like($c, qr/, sort, direction, direction\)/, 'and puts each where its name is');

write_file("$tree/ngx_svc_x/x.sql", $composed =~ s/ORDER BY :sort/ORDER BY account.name/r);
ok(!eval { Svc::Sql::read_all($tree) } && $@ =~ /:sort is not used/,
   'a part that is not used is none');


done_testing();
