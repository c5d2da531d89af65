#!/usr/bin/perl

# The picture of the console in README.md, with the people of the demo: it is made anew, and
# the one that is there must be like it, and show the same words, which it has in it.
# SVC_TEST_PICTURE=write puts the new one there.

use strict;
use warnings;

use Cwd ();
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::Documents qw(document);
use SvcTest::Image qw(png_with_words png_words);
use SvcTest::Process qw(run slurp wait_for write_file);

my $PICTURE = '.github/console.png';
my $MOST = 100_000;             # bytes

my $s = SvcTest->new;
my $c = SvcTest::Console->new($s, open => { viewport => { width => 1280, height => 430 } });
my $page = $c->{page};
my $made = $s->dir . '/console.png';


# Returns the size in pixels that a PNG says it has.

sub pixels {
    my ($path) = @_;

    return join ' x ', unpack 'x16 N N', slurp($path);
}


$c->admin(POST => '/roles', { key => $_, name => ucfirst, permissions => [] })
    for qw(helpdesk internal-audit);

my ($status, $said) = run([ 'psql', '-XAqt', '-v', 'ON_ERROR_STOP=1', '-v', 'slug=acme',
                            '-d', $s->pg->conninfo('postgres'),
                            '-f', 'conf/demo.d/people.sql' ], cwd => Cwd::getcwd());

is($status, 0, 'the people of the demo') or diag($said);
$c->opens('users', 'Users');
ok(wait_for(sub { $page->do(count => 'tbody tr') == 26 }), 'they are listed');
$page->do(shot => $made, { clip => { x => 0, y => 0, width => 1280, height => 430 } });

my $words = $page->do(run => '[...document.querySelectorAll("#nav a, main h1, main label, th")]'
                             . '.map(({ innerText }) => innerText.trim()).join("; ")');

write_file($PICTURE, png_with_words(slurp($made), $words))
    if ($ENV{SVC_TEST_PICTURE} // '') eq 'write';

is(pixels($PICTURE), pixels($made), 'the picture is as large as a new one');
is(png_words(slurp($PICTURE)), $words, '... shows the same');
cmp_ok(-s $PICTURE, '<=', $MOST, '... and short');
like(document('README.md'), qr/!\[[^\]]+\]\(\Q$PICTURE\E\)/, 'README.md shows it');

done_testing;
