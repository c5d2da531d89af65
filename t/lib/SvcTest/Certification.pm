package SvcTest::Certification;

# The table of what the conformance suite of the OpenID Foundation tests, and
# its tests here: each is in both.
#
#     tried($s, qr/\Aoidcc-/, 'basic oidcc-server', ...);

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

use SvcTest::Process qw(slurp);

our @EXPORT = qw(tried);


# Tests that the table lists exactly those modules whose names match that were
# tried.  Each is given as the short name of its profile, as in the heading, and
# its own name.

sub tried {
    my ($s, $like, @tried) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $profile = '';
    my @listed;

    for (split /\n/, slurp($s->root . '/ngx_svc_admin/oauth/certification.md')) {
        $profile = $1 if /^## .*\(`([\w-]+)`\)$/;

        my ($module) = /^\| `([\w-]+)` \|/ or next;

        push @listed, "$profile $module" if $module =~ $like;
    }

    is_deeply([ sort @listed ], [ sort @tried ], 'the table lists what is tried here');
}


1;
