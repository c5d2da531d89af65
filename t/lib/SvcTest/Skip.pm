package SvcTest::Skip;

# What cannot be tested here.  It is a failure where nothing may be left out:
# SVC_TEST_ALL=1.  Otherwise it is said, and written to the file
# SVC_TEST_SKIPPED, of which "make test" makes a list.
#
#     skip_file('it needs root') if $> != 0;
#
#     SKIP: {
#         skip_part('it needs root', 6) if $> != 0;
#         ...
#     }

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

our @EXPORT = qw(skip_file skip_part skip_built_in);


sub say_so {
    my ($why) = @_;

    $why =~ s/\s+/ /g;

    die "not tested, and SVC_TEST_ALL is set: $why\n" if $ENV{SVC_TEST_ALL};

    diag("not tested: $why");

    my $list = $ENV{SVC_TEST_SKIPPED} // return $why;

    open my $fh, '>>', $list or die "$list: $!\n";
    print $fh "$0: $why\n";
    close $fh;

    return $why;
}


sub skip_file {
    plan(skip_all => say_so(@_));
}


sub skip_part {
    my ($why, $n) = @_;

    skip(say_so($why), $n);
}


# What installs, or runs, the modules that are built for Debian's nginx: of a
# build with sanitizers they are a part of nginx.

sub skip_built_in {
    skip_file('the modules are built into this nginx')
        if defined $ENV{SVC_TEST_MODULES} && $ENV{SVC_TEST_MODULES} eq '';
}


1;
