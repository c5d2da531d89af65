#!/usr/bin/perl

# A worker that ends waits until its threads have ended: what they free of a library
# must be there still.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(run);
use SvcTest::Skip;

needs(program => 'cc');

my $s = SvcTest->new(svc => { svc_sign_in => 'on' });
my $so = $s->dir . '/late-threads.so';

is((run([ $ENV{CC} || 'cc', qw(-shared -fPIC -O1 -Wall -Wextra -Werror -o), $so,
          $s->root . '/t/lib/late-threads.c', '-ldl' ]))[0], 0, 'threads that are late');

$s->nginx->{env} = { LD_PRELOAD => $so };
$s->start;

my ($worker) = $s->workers;

cmp_ok(scalar(() = glob "/proc/$worker/task/*"), '>', 1, 'a worker has threads');
$s->reload;
is($s->health->{status}, 200, 'others are there after a reload');

$s->done;
done_testing();
