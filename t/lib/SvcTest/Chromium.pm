package SvcTest::Chromium;

# A page in a real browser: t/lib/chromium.mjs.
#
#     my $page = SvcTest::Chromium->new($root, "http://localhost:$port/page");
#     my $session = $page->run('signInWithPasskey()');

use strict;
use warnings;

use JSON::PP ();

use parent -norequire, 'SvcTest::Lines';

use SvcTest::Lines;
use SvcTest::Skip;

needs(program => 'chromium node');


sub new {
    my ($class, $root, $url) = @_;

    return $class->SUPER::new('node', "$root/t/lib/chromium.mjs", $url);
}


# Returns the value of an expression, or of the promise that it is.  Dies with
# its exception.

sub run {
    my ($self, $expression) = @_;

    my $r = $self->ask($expression);

    die "$r->{error}\n" if defined $r->{error};

    return $r->{value};
}


1;
