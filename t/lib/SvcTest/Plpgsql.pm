package SvcTest::Plpgsql;

# The statements of the functions of schema svc, with parameters instead of
# variables: those of SQL functions as they are stored, those of PL/pgSQL as its
# compiler writes them to the server's log ("#option dump").

use strict;
use warnings;

use SvcTest::Process qw(slurp wait_for);


my $QUERY = qr/\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b/i;
my $TABLE = qr/\bsvc\.\w+\b(?!\()/;

# a word of SQL, or a token in which no variable can be
my $WORD = qr/ ' (?:[^']|'')* ' | \$?\b[A-Za-z_]\w*(?:\.\w+)* | \$\d+ /x;

# where a name is a column's, even if there is a variable of this name
my $COLUMNS = qr/ \bINSERT\s+INTO\s+[\w.]+(?:\s+AS\s+\w+)?\s*\([^()]*\)
                | \bSET\s+\w+\s+= /x;


# db: a superuser's connection, which gets temporary tables; log: the server's
# log.

sub new {
    my ($class, $db, $log) = @_;

    return bless { db => $db, log => $log,
                   types => pairs($db, 'SELECT oid, format_type(oid, NULL) FROM pg_type'),
                   columns => pairs($db, <<'SQL') }, $class;
SELECT attrelid::regclass || '.' || attname, format_type(atttypid, NULL)
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
 WHERE c.relnamespace = 'svc'::regnamespace AND attnum > 0 AND NOT attisdropped
SQL
}


sub pairs {
    my ($db, $query) = @_;

    return { map { $_->[0] => $_->[1] } @{ $db->query($query) } };
}


# Returns the statements that use a table, as { function, text, types }, and
# those whose text is made at run time, as { function, made }, with the
# expression that makes it.

sub statements {
    my ($self) = @_;

    return map { my $f = $_;
                 map { { function => $f->{name}, %$_ } }
                 $f->{language} eq 'sql' ? sql($f) : $self->plpgsql($f) }
           $self->functions;
}


sub functions {
    my ($self) = @_;

    my @names = qw(name language source arguments types definition table new old);

    return map { my %f; @f{@names} = @$_; \%f } @{ $self->{db}->query(<<'SQL') };
SELECT p.proname, l.lanname, coalesce(p.prosrc, ''),
       array_to_string(p.proargnames[:p.pronargs], ' '),
       (SELECT string_agg(format_type(u, NULL), ', ' ORDER BY i)
          FROM unnest(p.proargtypes) WITH ORDINALITY a (u, i)),
       pg_get_functiondef(p.oid), t.tgrelid::regclass, t.tgnewtable, t.tgoldtable
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
  LEFT JOIN LATERAL (SELECT tgrelid, max(tgnewtable) AS tgnewtable,
                            max(tgoldtable) AS tgoldtable
                       FROM pg_trigger WHERE tgfoid = p.oid
                      GROUP BY tgrelid ORDER BY tgrelid LIMIT 1) t ON true
 WHERE p.pronamespace = 'svc'::regnamespace ORDER BY p.proname, p.oid
SQL
}


sub sql {
    my ($f) = @_;

    my $i = 0;
    my %n = map { $_ => '$' . ++$i } split ' ', $f->{arguments} // '';
    my $text = $f->{source} =~ s/\s*;\s*\z//r;

    $text =~ s/($WORD)/$n{$1} \/\/ $1/ge;

    return map { { text => $_, types => [ $f->{types} // () ] } }
           grep { /$TABLE/ && /^$QUERY/ } split /;\s*\n/, $text;
}


# Adds to f what the compiler knows of a function: variables and records.

sub plpgsql {
    my ($self, $f) = @_;

    my (undef, $data, $tree) = split /^Function's (?:data area|statements):\n/m,
                                     $self->dump_of($f);

    while ($data =~ /^ +entry \d+: VAR (\S+) +type .*\(typoid (\d+)\)/gm) {
        $f->{variables}{$1} = $f->{variables}{"$f->{name}.$1"} = $self->{types}{$2};
    }

    $f->{records} = { map { $_ => 1 } $data =~ /^ +entry \d+: REC (\S+) /gm };

    $self->{db}->query("CREATE TEMP TABLE IF NOT EXISTS $_ (LIKE $f->{table})")
        for grep { $_ } @$f{qw(new old)};

    return map { $self->prepared($f, $_) } expressions($data . $tree);
}


# Returns what the compiler has written about a function.

sub dump_of {
    my ($self, $f) = @_;

    my ($db, $log) = @$self{qw(db log)};
    my $from = length(slurp($log) // '');
    my $text;

    $db->query('BEGIN');
    $db->query($f->{definition} =~ s/^AS \$function\$/AS \$function\$#option dump\n/mr);
    $db->query('ROLLBACK');

    wait_for {
        $text = substr slurp($log), $from;
        $text =~ /^End of execution tree of function/m;
    } or die "$f->{name}: the log has nothing of it\n";

    return $text;
}


# Returns the expressions in a dump, each with the text before it in its line.
#  They are between quotes; the last quote is the one after which no literal can
# go on.

sub expressions {
    my ($text) = @_;

    my $end = qr/(?: THEN)?$/m;
    my @found;

    $text =~ s{^([^'\n]*)'((?>'(?!$end)[^']*'|[^']+)*+)'$end}{
        push @found, { before => $1, text => $2 };
        '';
    }gme;

    die "no expression: $&\n" if $text =~ /^.*$TABLE.*/m;

    return @found;
}


sub prepared {
    my ($self, $f, $expression) = @_;

    my $text = $expression->{text};

    if ($expression->{before} =~ /\bEXECUTE $/) {
        my $sql = eval { $self->{db}->query("SELECT $text")->[0][0] };

        return defined $sql ? { text => $sql, types => [] } : { made => $text };
    }

    return if $text !~ $TABLE || $text =~ /^\s*(?:LOCK|ALTER)\b/;

    $text =~ s/^\s*[\w.\[\]]+ := //;
    $text = "SELECT $text" if $text !~ /^$QUERY/;

    my (@types, %n);

    $text =~ s{($COLUMNS)|($WORD)}{
        my $type = defined $1 ? undef : $self->type($f, lc $2);

        defined $type ? '$' . ($n{lc $2} //= push @types, $type) : $1 // $2
    }gex;

    return { text => $text, types => \@types };
}


# Returns the type of a variable, or of a field of a record: "unknown" when
# PostgreSQL is to infer it.

sub type {
    my ($self, $f, $word) = @_;

    return $f->{variables}{$word} if $f->{variables}{$word};
    return if $word !~ /^(\w+)\.(\w+)$/ || !$f->{records}{$1};

    return $1 eq 'new' || $1 eq 'old' ? $self->{columns}{"$f->{table}.$2"} : 'unknown';
}

1;
