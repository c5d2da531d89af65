package SvcBench::Statements;

# The statements of the modules, as their C sources spell them: what pgbench
# runs and what is explained is the very text that the modules prepare.
#
# A statement is an ngx_svc_pg_statement_t whose text is string literals and
# macros of the same file or of a header.

use strict;
use warnings;

use List::Util qw(max);

use SvcTest::Process qw(slurp);


my $TOKEN = qr{
    /\*.*?\*/ | "(?:[^"\\]|\\.)*" | [A-Za-z_]\w* | \d+ | \s+ | .
}xs;


# A hash by name: { name, text, nparams }; without those that are sent unnamed.

sub read_all {
    my ($root) = @_;

    my %headers = (
        # nginx's own: a number as a string
        ngx_value_helper => { parameters => [ 'n' ], body => [ '#', 'n' ] },
        ngx_value => { parameters => [ 'n' ],
                       body => [ qw|ngx_value_helper ( n )| ] },
        map { macros(source($_)) } glob "$root/ngx_svc_*/{,*/}*.h"
    );
    my %statements;

    for my $file (sort glob "$root/ngx_svc_*/{,*/}*.c") {
        my $text = source($file);
        my %macros = (%headers, macros($text));

        while ($text =~ /\bngx_svc_pg_statement_t\s+\w+\s*=\s*(?=\{)/g) {
            my $s = statement(expand(\%macros,
                                     object(substr $text, pos $text)));

            $statements{$s->{name}} = $s if length $s->{name};
        }
    }

    die "no statements in $root\n" if !%statements;

    return \%statements;
}


# The modules that are measured must have been built from these sources.

sub check_modules {
    my ($statements, $dir) = @_;

    my $binary = join "\0", map { slurp($_) // '' } glob "$dir/*.so";

    for my $s (values %$statements) {
        index($binary, "$s->{text}\0") >= 0
            or die "the modules in $dir do not hold the statement"
                   . " \"$s->{name}\" of these sources: build them again\n";
    }
}


sub source {
    my ($file) = @_;

    my $text = slurp($file) // die "$file: $!\n";
    $text =~ s/\\\n/ /g;
    $text =~ s{("(?:[^"\\]|\\.)*")|/\*.*?\*/}{$1 // ' '}gse;

    return $text;
}


sub tokens {
    my ($text) = @_;

    return grep { !m{^(?:\s|/\*)} } $text =~ /($TOKEN)/g;
}


# name => { parameters (undef for a plain one), body }

sub macros {
    my ($text) = @_;

    my %macros;

    while ($text =~ /^\#define[ ]+(\w+)(?:\(([^)]*)\))?[ ]*(.*)$/gm) {
        my ($name, $parameters, $body) = ($1, $2, $3);

        $macros{$name} = { body => [ tokens($body) ],
                           parameters => defined $parameters
                                         ? [ $parameters =~ /\w+/g ] : undef };
    }

    return %macros;
}


# The tokens from a "{" to the "}" that closes it.

sub object {
    my ($text) = @_;

    my (@tokens, $depth);

    while ($text =~ /($TOKEN)/g) {
        my $token = $1;

        next if $token =~ m{^(?:\s|/\*)};

        push @tokens, $token;
        $depth += $token eq '{' ? 1 : $token eq '}' ? -1 : 0;

        return @tokens if $depth == 0;
    }

    die "a statement does not end\n";
}


sub expand {
    my ($macros, @in) = @_;

    my @out;

    while (@in) {
        my $token = shift @in;
        my $macro = $macros->{$token};

        # the name of one that takes arguments may itself be an argument

        if (!$macro || $macro->{parameters} && ($in[0] // '') ne '(') {
            push @out, $token;
            next;
        }

        my @body = @{ $macro->{body} };

        if ($macro->{parameters}) {
            my %value;

            @value{ @{ $macro->{parameters} } } = arguments(\@in);
            @body = substitute($macros, \%value, @body);
        }

        unshift @in, @body;
    }

    return @out;
}


# Arguments in place of parameters: expanded, or behind a "#" as a string of what
# they are.

sub substitute {
    my ($macros, $value, @in) = @_;

    my @out;

    while (@in) {
        my $token = shift @in;

        if ($token eq '#' && @in && $value->{ $in[0] }) {
            push @out, '"' . join('', @{ $value->{ shift @in } }) . '"';

        } else {
            push @out, $value->{$token}
                       ? expand($macros, @{ $value->{$token} }) : $token;
        }
    }

    return @out;
}


# Takes "( ... )" off the tokens: an array of tokens for each argument.

sub arguments {
    my ($in) = @_;

    my ($depth, @arguments) = (0, []);

    for (;;) {
        my $token = shift(@$in) // die "a macro call does not end\n";

        $depth += $token eq '(' ? 1 : $token eq ')' ? -1 : 0;

        return @arguments if $depth == 0;
        next if $depth == 1 && $token eq '(';

        if ($depth == 1 && $token eq ',') {
            push @arguments, [];

        } else {
            push @{ $arguments[-1] }, $token;
        }
    }
}


# From the tokens of an object with designated initializers.

sub statement {
    my (@tokens) = @_;

    my (%fields, $field, $depth);

    for my $i (0 .. $#tokens) {
        my $token = $tokens[$i];

        $depth += $token =~ /^[{(]$/ ? 1 : $token =~ /^[})]$/ ? -1 : 0;

        if ($depth == 1 && $token eq '.' && $tokens[$i + 2] eq '=') {
            $field = $tokens[$i + 1];

        } elsif ($field && $token =~ /^"(.*)"$/s) {
            $fields{$field} .= unescape($1);
        }
    }

    return { name => $fields{name}, text => $fields{text},
             nparams => max(0, $fields{text} =~ /\$(\d+)/g) };
}


sub unescape {
    my ($text) = @_;

    my %plain = (n => "\n", t => "\t");

    $text =~ s/\\(.)/$plain{$1} || $1/ges;

    return $text;
}


1;
