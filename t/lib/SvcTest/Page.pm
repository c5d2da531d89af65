package SvcTest::Page;

# Pages in a real browser, by playwright: t/npm/browser.mjs says what there is.
#
#     my $page = SvcTest::Page->new($root);
#     $page->do(go => "$origin/login");
#     $page->do(type => 'Password', $password);
#     $page->do(press => 'Sign in');

use strict;
use warnings;

use parent -norequire, 'SvcTest::Lines';

use SvcTest::Lines;
use SvcTest::Npm;
use SvcTest::Process qw(run slow);
use SvcTest::Skip;

needs(program => 'chromium');

my ($NODE) = (run([ 'node', '--version' ]))[1] =~ /^v(\d+)/;

skip_file('playwright needs Node.js 20 or newer') if ($NODE // 0) < 20;


sub new {
    my ($class, $root) = @_;

    my $self = $class->SUPER::new('node', npm_install($root) . '/browser.mjs',
                                  slow(30));

    $self->do('open');

    return $self;
}


# What it gives.  Dies when it fails.

sub do {
    my ($self, @action) = @_;

    my $r = $self->ask(\@action);

    die "$r->{error}\n" if defined $r->{error};

    return $r->{value};
}


1;
