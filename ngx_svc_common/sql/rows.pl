# Makes the rows of results structs of C, for each statement and each fragment whose
# header lists the columns. Part of sql.pl, which reads them.

package Svc::Sql::Rows;

use strict;
use warnings;

# the types of C by PostgreSQL's; all other types are texts
my %INT = (int2 => 'ngx_int_t', int4 => 'ngx_int_t', int8 => 'int64_t');


# Returns a header with the structs of one file of SQL. Several files of C may include it.

sub header {
    my ($name, @blocks) = @_;

    my %files = map { Svc::Sql::base($_->{file}) => 1 } map { fragments($_) } @blocks;
    my $guard = '_' . uc($name) . '_ROW_H_INCLUDED_';

    delete $files{$name};
    @blocks = grep { members($_) } @blocks;

    # a struct comes before those that have it as a member
    @blocks = sort { depth($a) <=> depth($b) || $a->{line} <=> $b->{line} } @blocks;

    return "/* Made by sql.pl. */\n\n#ifndef $guard\n#define $guard\n\n\n"
           . "#include \"ngx_svc_pg_value.h\"\n"
           . join('', map { "#include \"$_.row.h\"\n" } sort keys %files)
           . "\n\n" . join("\n\n", map { row($_) } @blocks)
           . "\n\n#endif /* $guard */\n";
}


# Returns the fragments whose columns are among a block's.

sub fragments {
    my ($block) = @_;

    return map { Svc::Sql::embedded($block, $_) }
           grep { defined $_->{embedded} } @{ $block->{columns} };
}


# Returns how deep structs are nested in the struct of a block.

sub depth {
    my ($block) = @_;

    my ($deepest) = sort { $b <=> $a } map { 1 + depth($_) } fragments($block);

    return $deepest // 0;
}


# A struct, and the function that fills it. The function of a fragment is told where the
# fragment's columns begin in the row: the function of a statement, whose struct has the
# fragment's as a member, knows that.

my $ROW = <<'END';
/*
 * A row of %1$s.  Texts point into the result: they live
 * until the handler returns.  NULL is { 0, NULL }, of booleans 0, and of
 * integers -1; all are NULL in a row that the result does not have.
 */

typedef struct {
%2$s} ngx_svc_row_%1$s_t;


static ngx_inline void
ngx_svc_row_%1$s(ngx_svc_row_%1$s_t *row,
    PGresult *res, int n%3$s)
{
    if (n >= PQntuples(res)) {
        res = NULL;
    }

%4$s}
END

sub row {
    my ($block) = @_;

    my @members = members($block);

    return sprintf $ROW, $block->{name},
           join('', map { "    $_->{type}  $_->{member};\n" } @members),
           $block->{kind} eq 'fragment' ? ', int first' : '',
           join('', map { "    $_->{fill};\n" } @members);
}


# Returns what C reads: all columns but those for the answer alone, and those that are unread.

sub members {
    my ($block) = @_;

    my $place = 0;
    my $offset = $block->{kind} eq 'fragment' ? 'first + ' : '';
    my (@members, %taken);

    for my $column (@{ $block->{columns} }) {
        my $at = "$offset$place";

        if (defined $column->{embedded}) {
            my $fragment = Svc::Sql::embedded($block, $column);

            push @members, embedded($column->{embedded}, $at) if members($fragment);
            $place += Svc::Sql::columns($fragment);

        } else {
            push @members, member($column, $at) if $column->{about} !~ /^(?:answer|unread)\b/;
            $place++;
        }
    }

    $taken{ $_->{member} }++ and Svc::Sql::fail($block, "two members are called $_->{member}")
        for @members;

    return @members;
}


sub embedded {
    my ($name, $at) = @_;

    return { type => "ngx_svc_row_${name}_t", member => $name,
             fill => "ngx_svc_row_$name(&row->$name, res, n, $at)" };
}


sub member {
    my ($column, $at) = @_;

    my $member = identifier($column->{name});
    my ($type, $read) = ('ngx_str_t', 'value');

    if ($column->{about} =~ /^as text\b/) {
        # as PostgreSQL writes it: C passes it on, or only looks whether it is NULL

    } elsif ($column->{type} eq 'bool') {
        ($type, $read) = ('ngx_uint_t', 'true');

    } elsif ($INT{ $column->{type} }) {
        ($type, $read) = ($INT{ $column->{type} }, 'int');
    }

    return { type => $type, member => $member,
             fill => "row->$member = ngx_svc_pg_$read(res, n, $at)" };
}


# Returns the name of a member: "createdBy.id" is created_by_id, and "_verdict" verdict.

sub identifier {
    my ($name) = @_;

    return lc $name =~ s/^_+//r =~ s/([a-z0-9])([A-Z])/$1_$2/gr =~ s/\W/_/gr;
}


1;
