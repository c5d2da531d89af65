package SvcTest::Cost::File;

# What operations cost at a commit: t/cost/15.tsv, and other files for other
# majors of PostgreSQL.  A line for each operation; a figure that is not known
# is "-".

use strict;
use warnings;

use List::Util qw(max);
use POSIX ();

use SvcTest::Postgres;
use SvcTest::Process qw(slurp write_file);

my @KINDS = qw(statements nodes triggers pages wal_records wal_bytes instructions);

# Kinds in which one more is already dearer.
my %EXACT = map { $_ => 1 } qw(statements nodes triggers);

my $BOUND = 1.03;

# How many more are chance and no cost, where WAL is written: the page of an
# index that a row goes to, and how full it is, differ.
my %CHANCE = (pages => 3, wal_records => 2, wal_bytes => 100);

# Bounds of operations whose figures waver.  revoke: PostgreSQL chooses between
# two plans of nearly the same cost while the tables fill; one has one node
# more, the other two thirds more instructions.
my %WAVERS = (revoke => 1.75);

# The bound of instructions with another minor of PostgreSQL, which is another
# build.
my $OTHER = 1.10;


# Reads the file in t/cost below a folder.  here: a version of PostgreSQL and a
# processor; the default is those in use.

sub new {
    my ($class, $root, $here) = @_;

    $here //= SvcTest::Postgres::version() . ' ' . (POSIX::uname())[4];

    my ($major) = $here =~ /^(\d+)/;
    my $self = bless { path => "$root/t/cost/$major.tsv", here => $here }, $class;
    my $text = slurp($self->{path}) // return $self;

    my ($head, @lines) = grep { length } split /\n/, $text;
    my (undef, @kinds) = split /\t/, shift @lines;

    ($self->{of}) = $head =~ /PostgreSQL (\S+ \w+):/ or die "$self->{path}: $head\n";

    for (@lines) {
        my ($name, @n) = split /\t/;
        my %is;

        @is{@kinds} = @n;
        $self->{was}{$name} = { map { $_ => $is{$_} }
                                grep { $is{$_} ne '-' } @kinds };
    }

    return $self;
}


# Returns why there are no figures to compare with; undef when there are.

sub missing {
    my ($self) = @_;

    return $self->{was} ? undef : "no $self->{path}: \"make cost\" makes it";
}


sub names {
    my ($self) = @_;

    return sort keys %{ $self->{was} // {} };
}


# Returns what is dearer now, and what is cheaper, as lines for people.

sub compare {
    my ($self, $name, $is) = @_;

    my $was = $self->{was}{$name} // {};
    my (@dearer, @cheaper);

    for my $kind (grep { defined $is->{$_} } @KINDS) {
        my $n = $is->{$kind};

        if (!defined $was->{$kind}) {
            push @dearer, "$name: $kind, $n, are not in $self->{path}";
            next;
        }

        my $bound = $self->bound($name, $kind);
        my $chance = $was->{wal_records} && $CHANCE{$kind} || 0;
        my $text = "$name: $kind, was $was->{$kind}, is $n";

        push @dearer, $text if $n > max($bound * $was->{$kind}, $was->{$kind} + $chance);
        push @cheaper, $text if max($bound * $n, $n + $chance) < $was->{$kind};
    }

    return (\@dearer, \@cheaper);
}


sub bound {
    my ($self, $name, $kind) = @_;

    return $WAVERS{$name} if $WAVERS{$name} && $kind ne 'statements';
    return 1 if $EXACT{$kind};
    return $kind eq 'instructions' && $self->other ? $OTHER : $BOUND;
}


# Returns the version and the processor of the figures when these are others
# than those in use.

sub other {
    my ($self) = @_;

    return $self->{of} ne $self->{here} && $self->{of};
}


# Returns whether instructions can be compared: only those of one kind of
# processor can.

sub same_machine {
    my ($self) = @_;

    return !$self->{was} || processor($self->{of}) eq processor($self->{here});
}


sub processor {
    my ($text) = @_;

    return (split / /, $text)[1];
}


# Writes the figures of all operations, by name.

sub write {
    my ($self, $figures) = @_;

    write_file($self->{path}, join '',
        "# What requests cost, with PostgreSQL $self->{here}:",
        " \"make cost\" writes it\n",
        map { join("\t", @$_) . "\n" } [ 'operation', @KINDS ],
        map { my $name = $_; [ $name, map { $figures->{$name}{$_} // '-' } @KINDS ] }
            sort keys %$figures);
}


1;
