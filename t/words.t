#!/usr/bin/perl

# The glossary of ngx_svc_common/README.md has each word once and in order, and
# comments and documents use its words: the expressions that are not said for them
# are in its last column, and below.

use strict;
use warnings;

use File::Find qw(find);
use Test::More;

use SvcTest::Documents qw(documents document);
use SvcTest::Process qw(slurp);

my $GLOSSARY = 'ngx_svc_common/README.md';


# An expression, what is said instead, and an example that the expression finds.  A
# space in an expression stands for any white space, the end of a line included.  What
# is shown to people, or shown once, is not what is presented to us.

my $THING = qr/(?:token|credential|proof|assertion|cookie)s?/;
my $IS = qr/(?:is|are|was|were|has been|have been|had been)/;
my $TO_US = qr/(?! to (?!us\b)| once\b)/;
my $WHOSE = qr/(?:an?|the|its|his|no|another|that|such a|the same)/;

my @NOT_SAID = (
    [ qr/\bturns? of (?:the|an|its) (?:\w+ )?loop\b/i, 'an iteration of the event loop',
      'until the next turn of the loop' ],

    [ qr/\bwhat $IS shown\b$TO_US/i, 'what is presented',
      'before what was shown is looked at' ],
    [ qr/\b$THING (?:that|which) $IS shown\b$TO_US/i,
      'a token that the client presents', 'of tokens that are shown' ],
    [ qr/\b$THING $IS shown (?:before|again|twice)\b/i, 'a token that is presented again',
      'whether the proof was shown before' ],
    [ qr/\bshow(?:s|ed|n|ing)? $WHOSE $THING\b/i, 'to present a token',
      'it must show a proof' ],
    [ qr/\bshow(?:s|n|ing)? $WHOSE (?:second )?(?:factor|code)\b/i, 'to present a code',
      'of those that show the same code' ],

    [ qr/\brejecting\b|\brejections?\b/i, 'to refuse', 'after a rejection' ],

    [ qr/\bpush(?:es|ed|ing)? (?:\w+ )?(?:deliver(?:y|ies)|mails?|entr(?:y|ies))\b/i,
      'to queue a delivery', 'pushes one delivery for each endpoint' ],
    [ qr/\bpush(?:es|ed|ing)? (?:\w+ ){0,3}(?:in|on|to|onto|into) (?:Redis|the queue)\b/i,
      'to queue a delivery', 'mails are pushed to Redis' ],

    [ qr/\bsessions? (?:of|to) PostgreSQL\b/i, 'a connection to PostgreSQL',
      'in each session of PostgreSQL' ],

    [ qr/\b(?:in|for|after|of) so many (?:ms|milliseconds|seconds|bytes)\b/i,
      'the name of the parameter, as "after ms milliseconds"', 'Due in so many ms' ],
    [ qr/\bthere is what\b/i, 'the noun', 'there is what it asks for' ],
);


# Comments in C do not begin like this.

my @BEGINNINGS = (
    [ qr/\A(?:And|But|Then) /, 'a sentence with its subject', 'And then the risk.' ],
    [ qr/\ALikewise\b/i, 'what the thing is', 'likewise, of events' ],
    [ qr/\AOf /, 'a sentence with its subject', 'Of an op: its slot.' ],
    [ qr/\ATo whom /, 'who is told, or asked', 'To whom an answer goes.' ],
    [ qr/\AWith it(?:\z|[ ,:;])/, 'with which thing', 'With it: the key.' ],
    [ qr/\A(?:of it|that too)\z/i, 'the noun', 'of it' ],
);


# --- the glossary -------------------------------------------------------------------

my (@words, %line);
my $n = 0;
my $here = 0;

for my $line (split /^/, document($GLOSSARY)) {
    $n++;
    $here = $1 eq 'Glossary' if $line =~ /^## (.*)$/;

    next if !$here || $line !~ /^\|/ || $line =~ /^\| word \||^\|---/;

    my ($word, $meaning, $not) = $line =~ /^\| (\S[^|]*) \| (\S[^|]*) \| (?:([^|]*) )?\|$/
        or fail("$GLOSSARY:$n: a row has three columns") && next;

    $line{$word} //= $n;
    push @words, $word;

    push @NOT_SAID, map { [ qr/\b$_\b$TO_US/i, "\"$word\"", $_ ] }
                    ($not // '') =~ /"([^"]+)"/g;
}

cmp_ok(scalar @words, '>=', 60, 'the glossary has its words');
is(join("\n", @words), join("\n", sort { lc $a cmp lc $b } @words), 'in order');
is_deeply([ grep { $words[$_] eq $words[$_ - 1] } 1 .. $#words ], [], 'and each once');

for my $row (@NOT_SAID, @BEGINNINGS) {
    $row->[0] = do { my $re = "$row->[0]" =~ s/ /\\s+/gr; qr/$re/ };

    my ($expression, $instead, $example) = @$row;

    like($example, $expression, "what is not said is found: $example");
}


# --- texts: a name, the line where it begins, and what it says ------------------------

# What is quoted is a name, or an answer's words: it becomes blank.

sub unquoted {
    my ($text) = @_;

    return $text =~ s{(`[^`]*`|"(?:[^"\n]|\n(?!\s*\n)){0,80}")}{$1 =~ s/[^\n]/ /gr}ger;
}


# Without blocks of code, and without the glossary.

sub prose {
    my ($path) = @_;
    my ($fenced, $code, $glossary, $blank, $text) = (0, 0, 0, 1, '');

    for my $line (split /^/, document($path)) {
        my $fence = $line =~ /^```/;

        $fenced = !$fenced if $fence;
        $glossary = $path eq $GLOSSARY && $1 eq 'Glossary'
            if !$fenced && $line =~ /^## (.*)$/;

        # what is indented below text belongs to it

        $code = $line =~ /^ {4}/ && ($blank || $code);
        $blank = $line !~ /\S/;

        $text .= $fence || $fenced || $code || $glossary ? "\n" : $line;
    }

    return $text;
}


sub comments_of_c {
    my ($text) = @_;
    my ($line, $at, @comments) = (1, 0);

    while ($text =~ m{"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*(.*?)\*/}gs) {
        next if !defined $1;

        my ($begin, $comment) = ($-[1], $1);

        $line += substr($text, $at, $begin - $at) =~ tr/\n//;
        $at = $begin;

        push @comments, [ $line, $comment =~ s/^([ \t]*)\*/$1 /mgr ];
    }

    return @comments;
}


sub comments_of_sql {
    my ($text) = @_;
    my ($n, $in, @comments) = (0, 0);

    for my $line (split /\n/, $text) {
        $n++;

        my ($code, $comment) = $line =~ /^((?:[^-']|-(?!-)|'[^']*')*)--(.*)/;
        my $alone = defined $code && $code !~ /\S/;

        if (!defined $comment) {
            $in = 0;
        } elsif ($in && $alone) {
            $comments[-1][1] .= "\n$comment";
        } else {
            push @comments, [ $n, $comment ];
            $in = $alone;
        }
    }

    return @comments;
}


my @texts;

for my $path (documents()) {
    push @texts, [ $path, 1, unquoted(prose($path)) ];
}

find({ no_chdir => 1, wanted => sub {
    my ($type) = /\.(c|h|sql)\z/ or return;
    my $text = slurp($_);

    for my $comment ($type eq 'sql' ? comments_of_sql($text) : comments_of_c($text)) {
        push @texts, [ $_, $comment->[0], unquoted($comment->[1]), $type ne 'sql' ];
    }
} }, sort glob 'ngx_svc_*');

@texts = sort { $a->[0] cmp $b->[0] || $a->[1] <=> $b->[1] } @texts;

my %count;

$count{ $_->[0] =~ s/.*\.//r }++ for @texts;
cmp_ok($count{$_} // 0, '>=', $_ eq 'md' ? 8 : 500, "texts of *.$_") for qw(c h md sql);


# --- each word is used --------------------------------------------------------------

my $all = lc join "\n", map { $_->[2] } @texts;
my %used = map { $_ => 1 } $all =~ /\w+/g;
my @unused;

for my $word (@words) {
    my $stem = $word =~ s/y\z//r;
    my $phrase = $word =~ s/\ban\b/\\w+/r =~ s/[ -]/\\W+/gr;

    push @unused, "$GLOSSARY:$line{$word}: $word"
        if $word =~ /[ -]/ ? $all !~ /\b$phrase/
                           : !grep { $used{"$stem$_"} } '', qw(y ies ied s es d ed ing);
}

is(join("\n", @unused), '', 'each word of the glossary is used');


# --- what is not said ---------------------------------------------------------------

my (@found, %seen);

for my $text (@texts) {
    my ($path, $line, $words, $c) = @$text;

    for my $row (@NOT_SAID) {
        my ($expression, $instead) = @$row;

        found($path, $line, $words, $-[0], $&, $instead) while $words =~ /$expression/g;
    }

    next if !$c || $words !~ /\S/;

    # each paragraph of a comment begins anew

    while ($words =~ /(?:\A|\n\s*\n)\s*(\S.*?)\s*(?=\n\s*\n|\z)/gs) {
        my ($paragraph, $begin) = ($1, $-[1]);

        for my $row (@BEGINNINGS) {
            found($path, $line, $words, $begin, $&, $row->[1])
                if $paragraph =~ $row->[0];
        }
    }
}

ok(!@found, 'comments and documents use the words of the glossary')
    or diag(join "\n", @found);


sub found {
    my ($path, $line, $words, $at, $said, $instead) = @_;

    return if $seen{"$path:$line:$at"}++;

    $line += substr($words, 0, $at) =~ tr/\n//;
    push @found, sprintf '%s:%d: "%s": say %s', $path, $line, $said =~ s/\s+/ /gr,
                         $instead;
}

done_testing();
