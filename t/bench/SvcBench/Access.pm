package SvcBench::Access;

# Evaluation of access policies, by a program that measures itself, on one core.

use strict;
use warnings;

use SvcTest::Process qw(run);


sub evaluate {
    my ($root, $policy, $seconds) = @_;

    my ($status, $out) = run(["$root/build/bench/access", $policy, $seconds]);
    my ($rate, $parse, $bytes) = split ' ', $out;

    die "build/bench/access: $out\n" if $status || !defined $bytes;

    return { rate => $rate, requests => $rate * $seconds, faults => [] };
}


1;
