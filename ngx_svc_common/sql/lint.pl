# What is wrong with the SQL of the modules, as far as it is told without a database;
# t/statements.t asks one.  Of sql.pl, which reads it.

package Svc::Sql::Lint;

use strict;
use warnings;

my $LINES = 120;                # of a statement
my $LONG = 3;                   # statements that may have more
my $FRAGMENTS = 40;             # without constants and fragments without text


# Says what is wrong, on standard error: whether nothing is.

sub report {
    my ($root) = @_;

    my @wrong = (statements($root), fragments(), columns());

    print STDERR map { "$_\n" } @wrong;

    return !@wrong;
}


sub statements {
    my ($root) = @_;

    my $c = join '', map { slurp($_) } split /\n/, `find $root/ngx_svc_* -name '*.[ch]'`;
    my %named = map { $_ => 1 } $c =~ /\bngx_svc_(?:sql|compose)_(\w+)/g;
    my @wrong;

    for my $s (sort { $a->{name} cmp $b->{name} } values %Svc::Sql::statements) {
        my @of = (unsaid($s), unknown($s), long($s), tenant($s), letters($s),
                  unused($s));

        push @of, "nothing in C names it" if !$named{$s->{name}};
        push @wrong, map { Svc::Sql::place($s) . ": $s->{name}: $_" } @of;
    }

    my @long = grep { defined $_->{set_long} } values %Svc::Sql::statements;

    push @wrong, @long . ' statements are longer than others, and ' . $LONG . ' may be: '
                 . join ', ', sort map { $_->{name} } @long
        if @long > $LONG;

    return @wrong;
}


sub slurp {
    my ($file) = @_;

    open my $in, '<', $file or die "$file: $!\n";
    local $/;

    return <$in>;
}


# Verdicts of the header that the text does not say.

sub unsaid {
    my ($s) = @_;

    return map { "the verdict \"$_->{name}\" is never said" }
           grep { defined $_->{name} && $s->{text} !~ /'\Q$_->{name}\E[' ]/ }
           @{ $s->{verdicts} };
}


# Verdicts of the text that the header does not know, where it lists them all: one
# that C knows rows of, or a function says, cannot be told; the name of a constraint is
# one that the surface knows.

sub unknown {
    my ($s) = @_;

    my @rows = @{ $s->{verdicts} };
    my %known = map { $_->{name} => 1 } grep { defined $_->{name} } @rows;

    return if !%known || keys %known != @rows;

    my ($case) = $s->{text} =~ /^(.*\bEND) AS _verdict\b/s or return;
    $case =~ s/.*\bSELECT CASE\b//s;

    return map { "\"$_\" is said, and is no verdict" }
           grep { !$known{$_} && !/_key$/ } $case =~ /\bTHEN '(\w+)'/g;
}


# A statement that cannot be shorter says why: "long: the reason".

sub long {
    my ($s) = @_;

    my $lines = grep { $_->{text} =~ /\S/ } @{ $s->{body} };

    return "it says why it is long, and has $lines lines"
        if $lines <= $LINES && defined $s->{set_long};
    return if $lines <= $LINES || defined $s->{set_long};
    return "it has $lines lines, and may have $LINES";
}


# A row, a CTE or a column that is called by one letter.

sub letters {
    my ($block) = @_;

    my %seen;

    for my $row (@{ $block->{body} }) {
        my $text = $row->{text} =~ s/--.*//r =~ s/'[^']*'//gr;

        $seen{$1} = 1 while $text =~ /(?<![\w:])([a-z])\b/g;
    }

    return map { "\"$_\" is no name: say a word" } sort keys %seen;
}


# A row of a tenant is not stored behind a credential that was refused.

sub tenant {
    my ($s) = @_;

    return if $s->{text} !~ /INSERT INTO svc\.(?!audit_event\b)/
              || $s->{text} =~ /\bsvc\.tenant\b|tenant_id/;
    return 'it inserts, and does not ask for a tenant';
}


# --- columns of CTEs --------------------------------------------------------

# in $1 its name, in $2 names of its columns, in $3 its text in brackets
my $CTE = '(?:\bWITH (?:RECURSIVE )?|\), )(\w+)(?: ?\(([^()]*)\))? AS '
          . '(?:(?:NOT )?MATERIALIZED )?(\((?:[^()]++|(?3))*\))';


# Columns that a CTE has and that nothing behind it names.  A CTE of which all columns
# are taken at once, by "*" or as a row, is passed over, and so is a column of a fragment,
# which may be there for others.

sub unused {
    my ($s) = @_;

    # quoted text is no word, a quoted name is one, and all stays where it is
    my $text = $s->{text} =~ s/'((?:[^']|'')*)'/"'" . '0' x length($1) . "'"/ger
               =~ s/"([^"]*)"/'"' . $1 =~ s{\W}{_}gr . '"'/ger;
    my @said;

    while ($text =~ /$CTE/g) {
        my ($name, $columns, $body) = ($1, $2, substr $3, 1, -1);
        my $own = own($s, $text, $-[0], $+[0]);
        my $behind = substr $text, pos $text;

        pos($text)--;                           # the next one begins with its ")"
        $behind .= $body if $text =~ /\bRECURSIVE $name\b/;

        my @columns = defined $columns ? split /, /, $columns : columns_of($body);

        push @said, map { "nothing uses the column $_ of $name" }
                    grep { $own =~ /\b$_\b/ && !used($_, $name, $behind) } @columns;
    }

    return @said;
}


# What of a part of the text stands in the statement itself, and in no fragment.

sub own {
    my ($s, $text, $from, $to) = @_;

    my %line = map { $_->{line} => 1 } @{ $s->{body} };

    return join '', map { substr $text, $_, 1 }
                    grep { my $at = $s->{places}[$_];
                           $at->{file} eq $s->{file} && $line{ $at->{line} } }
                    $from .. $to - 1;
}


# The columns that the text of a CTE returns, where it lists them: none, if it does not,
# or if rows that are equal are left out, so that each column tells rows apart.  The only
# column of RETURNING may be there for the row alone.

sub columns_of {
    my ($body) = @_;

    my $flat = $body =~ s/\bCASE\b/(/gr =~ s/\bEND\b/)/gr =~ s/ DISTINCT FROM\b//gr;

    1 while $flat =~ s/\([^()]*\)/<>/g;

    return if $flat =~ /^SELECT DISTINCT\b|\b(?:UNION(?! ALL)|INTERSECT|EXCEPT)\b/;

    my ($list) = $flat =~ /^SELECT (.*?)(?: (?:FROM|WHERE|UNION|ORDER|LIMIT)\b.*)?$/s;

    ($list) = $flat =~ /\bRETURNING (.*, .*)$/s if $flat !~ /^SELECT\b/;

    return if !defined $list || $list =~ /(?:^|[ .])\*(?:,|$)/;
    return map { /([a-z]\w*)"?$/ ? $1 : () } split /, /, $list;
}


# Whether the text behind a CTE names a column of it, or takes all of them.

sub used {
    my ($column, $cte, $behind) = @_;

    my %names = ($cte => 1);

    $names{$1} = 1 while $behind =~ /(?:\bFROM|\bJOIN|\bUSING|,) $cte (?:AS )?([a-z]\w*)/g;

    my $names = join '|', keys %names;

    return $behind =~ /\b(?:$names)\.(?:\*|$column\b)/
           || $behind =~ /(?<![.\w])\* FROM (?:[^()]*, )?(?:$names)\b/
           || $behind =~ /\((?:$names)\)/
           || $behind =~ /(?<![.\w])(?<!\bAS )$column\b/;
}


# --- fragments --------------------------------------------------------------

sub fragments {
    my @fragments = grep { @{ $_->{body} } && !Svc::Sql::constant($_) }
                    values %Svc::Sql::fragments;
    my @wrong;

    for my $fragment (sort { $a->{name} cmp $b->{name} } values %Svc::Sql::fragments) {
        my $users = keys %{ $fragment->{users} // {} };
        my @of = (letters($fragment), needs($fragment));

        push @of, "it has $users user" if $users < 2;
        push @wrong, map { Svc::Sql::place($fragment) . ": $fragment->{name}: $_" } @of;
    }

    push @wrong, 'there are ' . @fragments . " fragments, and may be $FRAGMENTS"
        if @fragments > $FRAGMENTS;

    return @wrong;
}


# The rows that a fragment names and does not have itself are those that its header
# says that it needs.

sub needs {
    my ($fragment) = @_;

    my $text = join ' ', map { $_->{text} =~ s/--.*//r =~ s/'[^']*'//gr =~ s/"[^"]*"//gr }
                         @{ $fragment->{body} };
    my %own = map { $_ => 1 } qw(svc excluded pg_catalog),
              $text =~ /\bsvc\.\w+(?:\([^()]*\))? (?:AS )?([a-z]\w*)/g,
              $text =~ /\) (?:AS )?([a-z]\w*)/g, $text =~ /\b(\w+) AS (?:MATERIALIZED )?\(/g,
              $text =~ /\b(?:FROM|JOIN) (\w+)/g;
    my %used = map { $_ => 1 } $text =~ /(?<![\w.:])([a-z]\w*)\.(?=[a-z"*])/g;
    my %told = map { $_ => 1 } ($fragment->{set_needs} // '') =~ /\w+/g;

    return (map { "it names $_, and does not say that it needs it" }
            grep { !$told{$_} && !$own{$_} } sort keys %used),
           map { "it says that it needs $_, and does not name it" }
           grep { !$used{$_} && $text !~ /\b$_\b/ } sort keys %told;
}


sub columns {
    return map { "$_: the line has too many columns" } @Svc::Sql::long;
}


1;
