package SvcBench::Statements;

# The statements of the modules, as sql.pl reads them: pgbench runs, and EXPLAIN
# gets, the very text that the modules prepare.

use strict;
use warnings;

use SvcTest::Process qw(slurp);


# Returns a hash by name: { name, text, nparams }, without the statements that
# are sent unnamed.

sub read_all {
    my ($root) = @_;

    require "$root/ngx_svc_common/sql/sql.pl";

    my %statements = map { $_->{name} => { name => $_->{name}, text => $_->{text},
                                           nparams => scalar @{ $_->{parameters} } } }
                     grep { !$_->{unnamed} } values %{ Svc::Sql::read_all($root) };

    die "no statements in $root\n" if !%statements;

    return \%statements;
}


# Checks that the measured modules have been built from these sources.

sub check_modules {
    my ($statements, $dir) = @_;

    my $binary = join "\0", map { slurp($_) // '' } glob "$dir/*.so";

    for my $s (values %$statements) {
        index($binary, "$s->{text}\0") >= 0
            or die "the modules in $dir do not hold the statement"
                   . " \"$s->{name}\" of these sources: build them again\n";
    }
}


# Returns a C source without its comments, and with continued lines joined.

sub source {
    my ($file) = @_;

    my $text = slurp($file) // die "$file: $!\n";
    $text =~ s/\\\n/ /g;
    $text =~ s{("(?:[^"\\]|\\.)*")|/\*.*?\*/}{$1 // ' '}gse;

    return $text;
}


1;
