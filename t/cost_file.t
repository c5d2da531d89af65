#!/usr/bin/perl

# Shows how t/cost.t compares figures with those that are written down: dearer,
# cheaper, of another PostgreSQL, of another processor.

use strict;
use warnings;

use File::Path qw(make_path);
use File::Temp ();
use Test::More;

use SvcTest::Cost::File;
use SvcTest::Process qw(slurp);


my $HERE = '15.20 x86_64';
my %GET = (statements => 2, nodes => 10, triggers => 0, pages => 100,
           wal_records => 0, wal_bytes => 0, instructions => 100_000);

my $root = File::Temp->newdir;

make_path("$root/t/cost");


sub file {
    my ($here) = @_;

    return SvcTest::Cost::File->new($root, $here // $HERE);
}


# Returns how "get" compares, when some figures differ, with a file as read by $here.

sub compared {
    my ($here, %differs) = @_;
    my ($dearer, $cheaper) = file($here)->compare('get', { %GET, %differs });

    return join ' ', (map { "+ $_" } @$dearer), (map { "- $_" } @$cheaper);
}


# --- the file -----------------------------------------------------------------

like(file()->missing, qr{^no \Q$root\E/t/cost/15\.tsv: "make cost" makes it$},
     'there is none');

file()->write({ push => { %GET, instructions => undef },
                revoke => \%GET, get => \%GET });

is(file()->missing, undef, 'there is one');
is(slurp("$root/t/cost/15.tsv"), <<'EOT', 'what is in it');
# What requests cost, with PostgreSQL 15.20 x86_64: "make cost" writes it
operation	statements	nodes	triggers	pages	wal_records	wal_bytes	instructions
get	2	10	0	100	0	0	100000
push	2	10	0	100	0	0	-
revoke	2	10	0	100	0	0	100000
EOT
is(join(' ', file()->names), 'get push revoke', 'its operations');
like(file('16.1 x86_64')->missing, qr{/16\.tsv}, 'another major has its own');


# --- figures beside the file's ------------------------------------------------

is(compared($HERE), '', 'nothing differs');
is(compared($HERE, pages => 103, instructions => 103_000), '', 'by 3 %');
is(compared($HERE, pages => 104), '+ get: pages, was 100, is 104', 'by more');
is(compared($HERE, statements => 3), '+ get: statements, was 2, is 3',
   'a statement more');
is(compared($HERE, triggers => 1), '+ get: triggers, was 0, is 1',
   'the first trigger');
is(compared($HERE, wal_bytes => 1), '+ get: wal_bytes, was 0, is 1',
   'the first byte of WAL');
is(compared($HERE, instructions => 98_000), '', 'cheaper by 2 %');

{
    local @GET{qw(pages wal_records wal_bytes)} = (20, 10, 1000);

    file()->write({ get => \%GET });
    is(compared($HERE, pages => 23, wal_records => 12, wal_bytes => 1100), '',
       'three pages more by chance, in what writes');
    is(compared($HERE, pages => 24), '+ get: pages, was 20, is 24', 'not four');
}

file()->write({ push => { %GET, instructions => undef },
                revoke => \%GET, get => \%GET });

is(compared($HERE, instructions => 96_000, nodes => 9),
   '- get: nodes, was 10, is 9 - get: instructions, was 100000, is 96000',
   'cheaper by more, and a node less');

my ($wavers) = file()->compare('revoke', { %GET, nodes => 11, pages => 170 });

is("@$wavers", '', 'one that wavers');
($wavers) = file()->compare('revoke', { %GET, statements => 3, pages => 180 });
is("@$wavers", 'revoke: statements, was 2, is 3 revoke: pages, was 100, is 180',
   'does so within bounds');

my ($dearer) = file()->compare('push', { instructions => 5 });

is("@$dearer", "push: instructions, 5, are not in $root/t/cost/15.tsv",
   'a figure that is not known');
($dearer) = file()->compare('new', { pages => 1 });
is("@$dearer", "new: pages, 1, are not in $root/t/cost/15.tsv",
   'an operation that is not known');


# --- elsewhere ----------------------------------------------------------------

ok(!file()->other, 'the same PostgreSQL');
ok(file()->same_machine, 'and processor');

is(file('15.21 x86_64')->other, $HERE, 'another minor');
ok(file('15.21 x86_64')->same_machine, 'has the same processor');
is(compared('15.21 x86_64', instructions => 109_000), '',
   'instructions may be a tenth more');
is(compared('15.21 x86_64', instructions => 111_000),
   '+ get: instructions, was 100000, is 111000', 'but not more than that');
is(compared('15.21 x86_64', pages => 104), '+ get: pages, was 100, is 104',
   'pages may not');

ok(!file('15.20 aarch64')->same_machine, 'another processor');

done_testing();
