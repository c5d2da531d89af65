# Makes the statements objects of C. Part of sql.pl, which reads them.

package Svc::Sql::Objects;

use strict;
use warnings;


# Returns the object of a statement.

sub statement {
    my ($s) = @_;

    my @members = ('.name = ' . quoted($s->{unnamed} ? '' : $s->{name}),
                   ".text =\n" . literals($s->{text}), parameters($s),
                   verdicts($s));

    push @members, '.missing = ' . text($s->{set_missing})
        if defined $s->{set_missing};
    push @members, ".when = $s->{set_when}" if defined $s->{set_when};

    return '/* ' . Svc::Sql::place($s) . " */\n" . ($s->{shared} ? '' : 'static ')
           . "const ngx_svc_pg_statement_t  ngx_svc_sql_$s->{name} = {\n    "
           . join(",\n    ", @members) . "\n};\n";
}


# Returns the text of a composed statement for ngx_sprintf(), with "%V" for each part, and a
# macro that takes the parts in the order of the header. The macro writes as many bytes as
# sizeof() of the text and the parts together.

sub composed {
    my ($s) = @_;

    my @parts = map { $_->{name} } @{ $s->{parts} };
    my %format = (%$s, part => { map { $_ => "\x01$_\x01" } @parts });

    Svc::Sql::write_text(\%format);
    my @put = $format{text} =~ /\x01(\w+)\x01/g;
    my $text = $format{text} =~ s/%/%%/gr =~ s/\x01\w+\x01/%V/gr . '%Z';

    return '/* ' . Svc::Sql::place($s) . " */\n"
           . "static const char  ngx_svc_text_$s->{name}\[] =\n" . literals($text) . ";\n\n"
           . "#define ngx_svc_compose_$s->{name}(" . join(', ', 'p', @parts) . ") \\\n"
           . '    ngx_sprintf(' . join(', ', 'p', "ngx_svc_text_$s->{name}", @put) . ")\n";
}


# Returns the sources of the parameters. When a function binds them they have none.

sub parameters {
    my ($s) = @_;

    my @parameters = @{ $s->{parameters} } or return;
    my @sources = grep { defined } map { $_->{c} } @parameters;

    return '.nparams = ' . @parameters if !@sources;

    Svc::Sql::fail($s, 'some parameters have a source, and some have none')
        if @sources != @parameters;

    return 'NGX_SVC_PARAMS(' . join(",\n        ", @sources) . ')';
}


sub verdicts {
    my ($s) = @_;

    return 'NGX_SVC_CONSTRAINT_VERDICT' . verdict_column($s)
        if ($s->{set_verdicts} // '') eq 'constraints';

    my @rows = map {
        $_->{c} // "{ \"$_->{name}\", NGX_SVC_E_\U$_->{error}\E,\n          "
                   . text($_->{detail}) . ' }'
    } @{ $s->{verdicts} };

    return if !@rows;
    return "NGX_SVC_VERDICTS(\n        " . join(",\n        ", @rows) . ')'
           . verdict_column($s);
}


sub verdict_column {
    my ($s) = @_;

    my $n = Svc::Sql::verdict_column($s);

    return $n ? ",\n    .verdict = $n" : '';
}


# Returns a text of C. A word in capitals is a macro that is a text; "%(NAME)" is the number
# that a macro is.

sub text {
    my ($text) = @_;

    return $text if $text =~ /^[A-Z][A-Z0-9_]+$/;

    return join ' ', map { /^%\((\w+)\)$/ ? "ngx_value($1)" : quoted($_) }
                     grep { length } split /(%\(\w+\))/, $text;
}


sub quoted {
    my ($text) = @_;

    return '"' . $text =~ s/([\\"])/\\$1/gr . '"';
}


# Returns literals of at most 64 bytes, unless a word is longer.

sub literals {
    my ($text) = @_;

    return join "\n", map { '        ' . quoted($_) }
                      $text =~ /\G(.{1,63}(?: |\z)|\S+ ?)/gs;
}


1;
