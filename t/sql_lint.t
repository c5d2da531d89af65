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


done_testing();
