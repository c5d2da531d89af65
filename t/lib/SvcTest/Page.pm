package SvcTest::Page;

# The pages of conf/www in a real browser, by playwright: t/npm/browser.mjs
# lists the actions.
#
#     my $origin = with_pages($s);
#     my $page = SvcTest::Page->new($s->root);
#     $page->do(go => "$origin/login");
#     $page->do(type => 'Password', $password);
#     $page->do(press => 'Sign in');

use strict;
use warnings;

use Exporter qw(import);

use parent -norequire, 'SvcTest::Lines';

use SvcTest::Lines;
use SvcTest::Npm;
use SvcTest::Process qw(run slow);
use SvcTest::Skip;
use SvcTest::Www qw(with_pages);

our @EXPORT_OK = qw(with_pages);    # of SvcTest::Www

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


# Does an action and returns its value.  Dies when it fails.

sub do {
    my ($self, @action) = @_;

    my $r = $self->ask(\@action);

    die "$r->{error}\n" if defined $r->{error};

    return $r->{value};
}


1;
