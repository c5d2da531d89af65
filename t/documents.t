#!/usr/bin/perl

# Shows that the documents' links lead somewhere, that README.md leads to each
# document, and that what they name exists. Other tests execute their examples.

use strict;
use warnings;

use Cwd ();
use File::Basename qw(dirname);
use File::Find ();
use Test::More;

use SvcTest::Documents qw(documents document section examples);
use SvcTest::Process qw(run slurp);
use SvcTest::Skip;

needs(program => 'make');

my @documents = documents();
my (%anchors, %linked);

cmp_ok(scalar @documents, '>=', 8, 'documents');


# Returns a document without its blocks of code, in which nothing is a link or a
# heading.

sub prose {
    my ($path) = @_;
    my ($code, $text) = (0, '');

    for my $line (split /^/, document($path)) {
        if ($line =~ /^```/) {
            $code = !$code;
        } elsif (!$code && $line !~ /^ {4}\S/) {
            $text .= $line;
        }
    }

    return $text;
}


# Returns the anchors that headings have on GitHub and GitLab.

sub anchors {
    my ($path) = @_;

    return map { lc =~ s/[^\w\- ]//gr =~ s/ /-/gr }
               prose($path) =~ /^#+ (.*)$/mg;
}


# Turns "a/b/../c" into "a/c".

sub plain {
    my ($path) = @_;
    my @parts;

    for my $part (grep { $_ ne '.' } split m{/}, $path) {
        if ($part eq '..') {
            pop @parts;
        } else {
            push @parts, $part;
        }
    }

    return join '/', @parts;
}


# --- links --------------------------------------------------------------------------

$anchors{$_} = { map { $_ => 1 } anchors($_) } for @documents;

for my $path (@documents) {
    my @names = anchors($path);

    is(scalar keys %{ $anchors{$path} }, scalar @names,
       "$path: no two headings are called the same");

    my @bad = grep { !-e plain(dirname($path) . "/$_") }
              prose($path) =~ /!\[[^\]]+\]\(([^)]+)\)/g;

    for my $link (prose($path) =~ /(?<!!)\[[^\]]+\]\(([^)]+)\)/g) {
        my ($file, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
        my $target = $file eq '' ? $path : plain(dirname($path) . "/$file");

        $linked{$path}{$target} = 1;
        push @bad, $link if !$anchors{$target}
                            || defined $anchor && !$anchors{$target}{$anchor};
    }

    is("@bad", '', "$path: its links lead to documents, and places in them, and its pictures are there");
}

# README.md leads to all documents, directly or by the README.md of their folder.

my @lost = grep {
    my $folder = dirname($_) . '/README.md';

    $_ ne 'README.md' && !$linked{'README.md'}{$_} && !$linked{$folder}{$_}
} @documents;

is("@lost", '', 'README.md leads to all of them');
cmp_ok(scalar(split /^/, document('README.md')), '<=', 200, 'and is short');


# --- files and names that documents mention -----------------------------------------

my (%file, $code);

File::Find::find({ no_chdir => 1, wanted => sub {
    my ($name) = m{([^/]+)\z};

    return if !-f;
    $file{$name} = 1;
    $code .= slurp($_) if $name =~ /\.[ch]$/;
} }, glob('ngx_svc_* t/lib t/unit'));

for my $path (@documents) {
    my $text = prose($path);
    my @missing = (
        (grep { !$file{$_} } $text =~ /`(\w+\.(?:[ch]|pm))`/g),
        (grep { $code !~ /\b\Q$_\E\(/ } $text =~ /`(ngx_svc_\w+)\(\)`/g),
        (grep { $code !~ /\b\Q$_\E\b/ } $text =~ /`(NGX_SVC_\w+)(?:\(\))?`/g),
        (grep { !grep { -e } glob } document($path) =~ m{(?<![\w/.])(t/[\w./*-]*\w)}g),
        (grep { !-e } $text =~ m{`(conf/[\w./-]+)`}g),
    );

    is("@missing", '', "$path: what it names is there");
}

my %floors = slurp('t/layers.t') =~ /^    (\w+) => \[ qw\(([\w\s*]+)\) \],$/mg;
my %told;

my $layers = section('ngx_svc_common/README.md', 'The floors');
push @{ $told{$1} }, $2 while $layers =~ /^\| (\w+) \| `([\w*]+)` \|/mg;
my %there;

for my $module (keys %floors) {
    $there{$module} = [ grep { grep { -d } glob "ngx_svc_$module/$_" }
                        split ' ', $floors{$module} ];
}

is_deeply(\%told, \%there, 'the folders, from the bottom');

my $targets = (run([ 'make', '--no-print-directory', 'help' ],
                   cwd => Cwd::getcwd()))[1];

for my $path (@documents) {
    my @wrong = grep { $targets !~ /^\Q$_\E\b/m }
                document($path) =~ /(?:^ {4}|`)make ([a-z-]+)/mg;

    is("@wrong", '', "$path: the targets of make");
}

my ($version) = slurp('conf/version') =~ /^(\S+)$/;
my ($newest) = document('README.md') =~ /^## Changes\n.*?^### (\S+)$/ms;

is($newest, $version, 'the newest changes are those of this version');


# --- nothing is said twice ------------------------------------------------------------

for my $path (@documents) {
    my (%row, %sentence, @twice);
    my $text = prose($path);

    # A table of errors has one row for each code.

    for my $table ($text =~ /((?:^\|.*\n)+)/mg) {
        my %of;

        for my $line (split /\n/, $table) {
            my ($status, $code) = $line =~ /^\| (\d{3}) \| (`\w+`) \|/;

            push @twice, $line if length $line > 60 && $row{$line}++;
            push @twice, "$status $code" if $status && $of{"$status $code"}++;
        }
    }

    for my $paragraph (split /\n\n+/, $text =~ s/^\|.*\n//mgr) {
        my @sentences = split /(?<=[.:])\s+/, $paragraph =~ s/\s+/ /gr;

        push @twice, grep { length > 60 && $sentence{$_}++ } @sentences;
    }

    is("@twice", '', "$path: nothing is said twice");
}


# --- the tests' own example, and their variables --------------------------------------

my ($example) = examples('perl', section('t/README.md', 'The harness'));

is((run([ 'perl', '-I', 't/lib', '-e',
          "use strict; use warnings; use Test::More; $example done_testing();" ],
        timeout => 120, cwd => Cwd::getcwd()))[0], 0, 'the harness, as documented');

my $harness = join '', map { slurp($_) } glob('t/*.t t/lib/*.pm t/lib/SvcTest/*.pm');

for my $name (document('t/README.md') =~ /`(SVC_TEST_\w+)/g) {
    like($harness, qr/\$ENV\{$name\}|repeated\($name =>/, $name);
}

done_testing();
