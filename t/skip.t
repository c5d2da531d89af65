#!/usr/bin/perl

# What cannot be tested is said, and listed; where nothing may be left out it is
# a failure.

use strict;
use warnings;

use Cwd ();
use Test::More;

use SvcTest::Process qw(on_exit run slurp);


my $list = "/tmp/svc-skipped.$$";

on_exit(sub { unlink $list });


# t/install.t as if the modules were built into nginx, by prove.

sub install {
    return run([ 'prove', '-I', 't/lib', 't/install.t' ], cwd => Cwd::getcwd(),
               env => { SVC_TEST_MODULES => '', SVC_TEST_SKIPPED => $list,
                        SVC_TEST_ALL => '', @_ });
}


my $why = 'the modules are built into this nginx';
my ($status, $text) = install();

is($status, 0, 'a file that is left out');
like($text, qr/not tested: $why/, 'is named with the reason');
is(slurp($list), "t/install.t: $why\n", 'and listed');

($status, $text) = install(SVC_TEST_ALL => 1);

isnt($status, 0, 'where all is tested it is a failure');
like($text, qr/not tested, .*: $why/, 'with the reason');

# nobody leaves out anything otherwise

my @others = grep { $_ ne $0 && slurp($_) =~ /\bskip_all\b|^\s*skip\b/m }
             glob 't/*.t';

is("@others", '', 'all say so');

done_testing();
