#!/usr/bin/perl

# The SQL of the modules: files *.sql beside the C that runs them, see the README
# of this folder.
#
#   sql.pl headers FOLDER ROOT  FILE.sql.h of each, and FILE.row.h where rows are
#                               structs, in FOLDER, where they have changed, and
#                               sql.mk, which says what is compiled with them
#   sql.pl text NAME            a statement as PostgreSQL is sent it
#   sql.pl prepare NAME         the same for psql, as a prepared statement
#   sql.pl psql NAME            as it is written, with its fragments as variables
#   sql.pl at NAME POSITION     file and line of a position that an error names
#   sql.pl list                 name, bytes, parameters and place of each
#   sql.pl lint                 what is wrong with them, without a database
#
# It needs nothing but perl-base, and is the parser of the tests: package Svc::Sql.

package Svc::Sql;

use strict;
use warnings;

my $TOKEN = qr{
    (?<comment> --[^\n]* ) | (?<space> \s+ )
    | (?<quoted> ' (?:[^']|'')* ' | " [^"]+ " ) | (?<cast> :: )
    | : (?<name> [a-z][a-z0-9_]* ) | (?<word> \w+ ) | (?<other> . )
}xs;

my $COLUMNS = 100;              # of a line
my $NESTED = 2;                 # fragments in fragments

our %fragments;                 # name => a block, see read_file()
our %statements;
our @long;                      # lines that have too many columns


sub fail {
    my ($at, $why) = @_;

    die "$at->{file}:$at->{line}: $why\n";
}


# --- files ------------------------------------------------------------------

# A block begins with a line "-- statement: name" or "-- fragment: name"; the lines
# behind it that begin with "--" are its header, and what follows is its body.  Of a
# statement "(shared)" says that other files of C use it, and "(unnamed)" that it is
# not prepared under a name.

sub read_file {
    my ($file) = @_;

    open my $in, '<', $file or die "$file: $!\n";

    my $block;

    while (my $line = <$in>) {
        chomp $line;

        push @long, place({ file => $file, line => $. }) if length $line > $COLUMNS;

        if ($line =~ /^-- (statement|fragment): (\w+)(?: \((.+)\))?$/) {
            $block = block($1, $2, $3 // '', $file, $.);

        } elsif (!$block) {
            next;

        } elsif (!@{ $block->{body} } && $line =~ /^--(.*)$/) {
            read_header($block, $1, $.);

        } elsif ($line =~ /\S/ || @{ $block->{body} }) {
            push @{ $block->{body} }, { line => $., text => $line };
        }
    }
}


sub block {
    my ($kind, $name, $flags, $file, $line) = @_;

    my $all = $kind eq 'fragment' ? \%fragments : \%statements;
    my $block = { kind => $kind, name => $name, file => $file, line => $line,
                  shared => scalar $flags =~ /\bshared\b/,
                  unnamed => scalar $flags =~ /\bunnamed\b|\bcomposed\b/,
                  composed => scalar $flags =~ /\bcomposed\b/,
                  section => 'about', body => [], about => [],
                  parameters => [], parts => [], verdicts => [], columns => [] };

    fail($block, "$all->{$name}{file} has a $kind $name, too") if $all->{$name};

    return $all->{$name} = $block;
}


# A line of a header: a section begins, or "missing: NAME", or free words, or a row
# of a section.

sub read_header {
    my ($block, $text, $line) = @_;

    my $section = $block->{section};

    if ($text =~ /^ (parameters|parts|verdicts|columns)$/) {
        $block->{section} = $1;

    } elsif ($text =~ /^ (missing|when|needs|verdicts|long): (\S.*)$/) {
        $block->{"set_$1"} = $2;

    } elsif ($text =~ /^ ?$/) {
        $block->{section} = 'about';

    } elsif ($section eq 'about') {
        push @{ $block->{about} }, $text;

    } else {
        row($block, $section, $text)
            or fail({ %$block, line => $line }, "no row of \"$section\":$text");
    }
}


my %ROW = (
    parameters => sub {
        my ($rows, $text) = @_;

        return push @$rows, { name => $1, type => $2, c => $3 }
            if $text =~ /^ {3}(\w+) +(\S+)(?: +(\S.*))?$/;

        return continued($rows, 'c', $text);
    },

    # what C may put there, for who reads or tests the text
    parts => sub {
        my ($rows, $text) = @_;

        return push @$rows, { name => $1, example => $2 } if $text =~ /^ {3}(\w+) +(\S.*)$/;

        return continued($rows, 'example', $text);
    },

    verdicts => sub {
        my ($rows, $text) = @_;

        return push @$rows, { c => $1 } if $text =~ /^ {3}(\w+)$/;
        return push @$rows, { name => $1, error => $2, detail => $3 // '' }
            if $text =~ /^ {3}(\w+) +([a-z0-9_]+)(?: +(\S.*))?$/;

        return continued($rows, 'detail', $text);
    },

    columns => sub {
        my ($rows, $text) = @_;

        return push @$rows, { embedded => $1 } if $text =~ /^ {3}:(\w+)$/;
        return push @$rows, { name => $1, type => $2, about => $3 // '' }
            if $text =~ /^ {3}(\S+) +([a-z0-9_\[\]]+)(?: +(\S.*))?$/;

        return continued($rows, 'about', $text);
    },
);

sub row {
    my ($block, $section, $text) = @_;

    return $ROW{$section}->($block->{$section}, $text);
}


# A line that is indented further goes on with the row before it.

sub continued {
    my ($rows, $what, $text) = @_;

    return 0 if !@$rows || $text !~ /^ {7,}(\S.*)$/;

    $rows->[-1]{$what} .= length $rows->[-1]{$what} // '' ? " $1" : $1;

    return 1;
}


# --- the text ---------------------------------------------------------------

# As it is sent: one line, no comments, $1 for the first parameter, and for each part its
# example.  "places" has for each of its characters the file and the line that it comes
# from.

sub text {
    my ($s) = @_;

    return $s->{text} if defined $s->{text};

    my %number;

    for my $p (@{ $s->{parameters} }) {
        fail($s, "two parameters are called :$p->{name}") if $number{$p->{name}};
        fail($s, "a fragment is called :$p->{name}, too")
            if $fragments{$p->{name}};

        $number{$p->{name}} = 1 + keys %number;
    }

    $s->{number} = \%number;
    $s->{part} = { map { $_->{name} => $_->{example} } @{ $s->{parts} } };
    write_text($s);

    my ($unused) = grep { !$s->{used}{$_} } sort keys %number, keys %{ $s->{part} };
    fail($s, ":$unused is not used") if $unused;

    return $s->{text};
}


sub write_text {
    my ($s) = @_;

    $s->{text} = '';
    $s->{places} = [];
    put($s, $s, $s->{number}, 0);
    $s->{text} =~ s/ ?;? *$//;
}


# Adds the body of a block.

sub put {
    my ($s, $block, $number, $depth) = @_;

    fail($block, "fragments are nested more than $NESTED deep in $s->{name}")
        if $depth > $NESTED;

    for my $row (@{ $block->{body} }) {
        my $at = { file => $block->{file}, line => $row->{line} };

        while ($row->{text} =~ /\G$TOKEN/g) {
            last if defined $+{comment};

            if (defined $+{space}) {
                add($s, ' ', $at);

            } elsif (defined $+{name}) {
                put_name($s, $+{name}, $at, $number, $depth);

            } else {
                add($s, $&, $at);
            }
        }

        add($s, ' ', $at);
    }

    $s->{text} =~ s/ $//;
}


sub put_name {
    my ($s, $name, $at, $number, $depth) = @_;

    my $fragment = $fragments{$name};

    if ($number->{$name}) {
        $s->{used}{$name} = 1;
        add($s, "\$$number->{$name}", $at);

    } elsif (defined $s->{part}{$name}) {
        $s->{used}{$name} = 1;
        add($s, $s->{part}{$name}, $at);

    } elsif ($fragment) {
        $fragment->{users}{$s->{name}} = 1;
        put($s, $fragment, $number, $depth + !constant($fragment));

    } else {
        fail($at, "there is no parameter and no fragment :$name");
    }
}


# A constant is one line that needs no row.

sub constant {
    my ($fragment) = @_;

    return !defined $fragment->{set_needs}
           && 1 == grep { $_->{text} =~ /\S/ } @{ $fragment->{body} };
}


# Of several spaces one is left, and none behind "(" or in front of ")" and ",".

sub add {
    my ($s, $piece, $at) = @_;

    if ($piece eq ' ') {
        return if $s->{text} =~ /(?:^|[ (])$/;

    } elsif ($piece =~ /^[),]/) {
        $s->{text} =~ s/ $//;
    }

    $s->{text} .= $piece;

    $#{ $s->{places} } = length($s->{text}) - 1;
    $_ //= $at for @{ $s->{places} }[-length $piece .. -1];
}


# Reads all files below a root: their statements by name.

sub read_all {
    my ($root) = @_;

    (%statements, %fragments, @long) = ();

    read_file($_) for sort split /\n/, `find $root/ngx_svc_* -name '*.sql'`;
    text($_) for values %statements;

    for my $block (values %statements, values %fragments) {
        embedded($block, $_)->{users}{$block->{name}} = 1
            for grep { defined $_->{embedded} } @{ $block->{columns} };
    }

    return \%statements;
}


# Folder and file within the tree, and the line.

sub place {
    my ($block) = @_;

    return $block->{file} =~ s{.*/(?=ngx_svc_\w+/)}{}r . ":$block->{line}";
}


# --- C ----------------------------------------------------------------------

sub headers {
    my ($folder, $root) = @_;

    read_all($root);

    my (%by_file, %made);
    push @{ $by_file{$_->{file}} }, $_ for values %statements, values %fragments;

    for my $file (sort keys %by_file) {
        my @own = sort { $a->{line} <=> $b->{line} } @{ $by_file{$file} };

        %made = (%made, c_files(base($file), @own));
    }

    write_changed("$folder/$_", $made{$_}) for sort keys %made;
    write_changed("$folder/sql.mk", "include objs/Makefile\n" . rules($root, \%made));
}


# Loads a part of this program, which is a file beside it.

sub part {
    my ($name) = @_;

    require(__FILE__ =~ s{[^/]*$}{$name}r =~ s{^(?!/)}{./}r);
}


# Returns the name of a file without its folder and without ".sql".

sub base {
    my ($file) = @_;

    return $file =~ s{.*/}{}r =~ s/\.sql$//r;
}


# Returns the headers for a file of SQL, by their names: one with its statements, and one
# with the structs of rows where columns are listed.

sub c_files {
    my ($name, @own) = @_;

    my @rows = grep { @{ $_->{columns} } } @own;
    my @statements = grep { $_->{kind} eq 'statement' } @own;
    my $include = @rows ? "#include \"$name.row.h\"\n\n\n" : '';
    my %made;

    part('rows.pl');
    part('objects.pl');

    $made{"$name.row.h"} = Svc::Sql::Rows::header($name, @rows) if @rows;
    $made{"$name.sql.h"} = "/* Made by sql.pl. */\n\n$include"
                           . join "\n\n", map { $_->{composed} ? Svc::Sql::Objects::composed($_)
                                                             : Svc::Sql::Objects::statement($_) }
                                            @statements
        if @statements;

    return %made;
}


# Returns rules for make: which of these headers each file of C includes, by itself or
# through other headers.

sub rules {
    my ($root, $made) = @_;

    my %includes = map { $_ => [ included($made->{$_}) ] } keys %$made;
    my @files = sort split /\n/, `find $root/ngx_svc_* -name '*.[ch]'`;

    for my $file (@files) {
        open my $in, '<', $file or die "$file: $!\n";
        local $/;
        $includes{ base($file) } = [ included(<$in>) ];
    }

    return join '', map { rule($_, $made, \%includes) } grep { /\.c$/ } @files;
}


sub included {
    my ($text) = @_;

    return $text =~ /^#include "(ngx_svc_\w+(?:\.\w+)+)"/mg;
}


sub rule {
    my ($file, $made, $includes) = @_;

    my @seen = base($file);
    my %seen = map { $_ => 1 } @seen;

    for my $name (@seen) {
        push @seen, grep { !$seen{$_}++ } @{ $includes->{$name} // [] };
    }

    my @needed = map { "objs/$_" } grep { $made->{$_} } @seen or return '';
    my ($object) = $file =~ m{([^/]+/[^/]+)\.c$};

    return "objs/addon/$object.o: @needed\n";
}


# What has not changed keeps its time, so that nothing is compiled again.

sub write_changed {
    my ($file, $text) = @_;

    if (open my $old, '<', $file) {
        local $/;
        return if <$old> eq $text;
    }

    open my $new, '>', $file or die "$file: $!\n";
    print $new $text;
    close $new or die "$file: $!\n";
}


# Which column says the verdict: the first one, unless the header lists them.

sub verdict_column {
    my ($s) = @_;

    my @columns = map { $_->{name} } columns($s);
    my ($n) = grep { $columns[$_] eq '_verdict' } 0 .. $#columns;

    return $n // 0;
}


# Returns the columns that a header lists, with those of its fragments in their places.

sub columns {
    my ($block) = @_;

    return map { defined $_->{embedded} ? columns(embedded($block, $_)) : $_ }
           @{ $block->{columns} };
}


# Returns the fragment that a row of "columns" names.

sub embedded {
    my ($block, $row) = @_;

    my $fragment = $fragments{$row->{embedded}};

    fail($block, "no fragment :$row->{embedded} has columns")
        if !$fragment || !@{ $fragment->{columns} };

    return $fragment;
}


# --- for people -------------------------------------------------------------

sub prepare {
    my ($s) = @_;

    my $types = join ', ', map { $_->{type} } @{ $s->{parameters} };

    return "PREPARE $s->{name}" . ($types ? "($types)" : '') . " AS $s->{text};";
}


# Fragments are variables, in whose values psql looks for others; parameters are
# variables too, NULL until somebody sets them: \set ip '\'192.0.2.1\''

sub psql {
    my ($s) = @_;

    my %set = ((map { $_->{name} => 'NULL' } @{ $s->{parameters} }),
               map { $_->{name} => "'" . $_->{example} =~ s/([\\'])/\\$1/gr . "'" }
               @{ $s->{parts} });

    for my $fragment (grep { $_->{users}{$s->{name}} } values %fragments) {
        my $text = join ' ', map { $_->{text} =~ s/--.*//r } @{ $fragment->{body} };

        $set{$fragment->{name}} = "'" . $text =~ s/\s+/ /gr =~ s/([\\'])/\\$1/gr . "'";
    }

    return join('', map { "\\set $_ $set{$_}\n" } sort keys %set)
           . join('', map { "$_->{text}\n" } @{ $s->{body} });
}


sub at {
    my ($s, $position) = @_;

    my $place = $s->{places}[$position - 1]
        or die "the text of $s->{name} is shorter\n";

    return place($place);
}


sub list {
    return map { sprintf "%-40s %6d bytes %2d parameters %s\n", $_->{name},
                 length $_->{text}, scalar @{ $_->{parameters} }, place($_) }
           sort { $a->{name} cmp $b->{name} } values %statements;
}


sub main {
    my ($root, $what, @rest) = @_;

    $what //= '';

    return headers(@rest) if $what eq 'headers';

    read_all($root);

    return print list() if $what eq 'list';

    if ($what eq 'lint') {
        part('lint.pl');
        exit !Svc::Sql::Lint::report($root);
    }

    my $s = $statements{$rest[0] // ''} or die "there is no statement of that name\n";
    my %print = (text => sub { text($s) }, prepare => sub { prepare($s) },
                 psql => sub { psql($s) }, at => sub { at($s, $rest[1]) });
    my $print = $print{$what} or die "sql.pl does not know \"$what\"\n";

    print $print->(), "\n";
}


main(__FILE__ =~ s{[^/]*$}{}r . '../..', @ARGV)
    if !caller;

1;
