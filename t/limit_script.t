#!/usr/bin/perl

# Shows that the module's scripts that count attempts work in a real Redis.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slurp wait_for);


my $s = SvcTest->new(pg => 0);
my $redis = $s->redis;

$redis->launch;


# The texts are string literals after ".text =", up to the "}".

my %SCRIPT = slurp('ngx_svc_admin/limit/ngx_svc_limit_script.c')
             =~ /^ngx_svc_redis_script_t\s+ngx_svc_limit_(\w+)_script\ =
                 .*?\.text\ =(.*?)^\};/gmsx;

for my $text (values %SCRIPT) {
    $text = join '', map { s/\\n/\n/gr } $text =~ /"((?:[^"\\]|\\.)*)"/g;
}

is_deeply([ sort keys %SCRIPT ], [ qw(check clear give_back lock) ],
          'the scripts');

my ($IP, $EMAIL, $LOCK) = ('svc.rate.l.i.192.0.2.1', 'svc.rate.l.e.' . 'a' x 32,
                           'svc.lock.' . 'a' x 32);
my $WINDOW = 300_000;


sub script {
    my ($name, $keys, @arguments) = @_;

    return $redis->lines('EVAL', $SCRIPT{$name}, scalar @$keys, @$keys,
                         @arguments);
}


sub get { return ($redis->lines('GET', $_[0]))[0] // '' }
sub ttl { return ($redis->lines('PTTL', $_[0]))[0] }


# Returns which key is over its limit, and its hits; the ms left of both windows; the
# ms of the lock.

sub check {
    my (%arg) = @_;

    return script('check', [ $IP, $EMAIL, $LOCK ], $WINDOW, $arg{ip} // 50,
                  $arg{email} // 10);
}


sub about {
    my ($ms, $expected, $what) = @_;

    ok($ms <= $expected && $ms > $expected - 60_000, "$what: $ms ms");
}


# Sets the time that a key has left.

sub passes {
    my ($key, $left) = @_;

    $redis->lines('PEXPIRE', $key, $left);
}


sub anew { $redis->lines('FLUSHALL') }


# --- a window -------------------------------------------------------------------

my @r = check();
is_deeply([ @r[0, 1, 4] ], [ 0, 0, 0 ], 'the first hit is admitted');
is("@r[2, 3]", "$WINDOW $WINDOW", 'and begins both windows');
is(get($IP) . get($EMAIL), '11', 'both count it');

passes($_, 200_000) for $IP, $EMAIL;

for my $n (2 .. 10) {
    @r = check();
    is($r[0], 0, "hit $n is admitted");
    about($r[2], 200_000, 'and does not move the window of the address');
    about($r[3], 200_000, 'nor the other one');
}

about(ttl($_), 200_000, "$_ goes on") for $IP, $EMAIL;

@r = check();
is_deeply([ @r[0, 1, 4] ], [ 2, 11, 0 ],
          'hit 11 is over, and the first that is');
about($r[3], 200_000, 'until its window ends');
@r = check();
is_deeply([ @r[0, 1] ], [ 2, 12 ], 'the next one is not the first');
is(get($IP) . get($EMAIL), '1212', 'every attempt counts');

passes($EMAIL, 1);
wait_for { ttl($EMAIL) == -2 };
@r = check();
is($r[0], 0, 'after its end all is as at first');
is(get($EMAIL), 1, 'a new window');


# --- the client's address comes first -------------------------------------------

anew();
check(ip => 3) for 1 .. 3;
@r = check(ip => 3);
is_deeply([ @r[0, 1, 3, 4] ], [ 1, 4, 0, 0 ], 'over the limit of the address');
about($r[2], $WINDOW, 'until its window ends');
is(get($EMAIL), 3, 'the e-mail address is not counted');

$redis->lines('SET', $LOCK, 1, 'PX', 900_000);
@r = check(ip => 3, email => 1);
is_deeply([ @r[0, 4] ], [ 1, 0 ], 'nor is its lock told');


# --- one key alone ----------------------------------------------------------------

anew();
@r = script('check', [ $IP ], $WINDOW, 1);
is("@r", "0 0 $WINDOW 0 0", 'by the address alone');
@r = script('check', [ $IP ], $WINDOW, 1);
is_deeply([ @r[0, 1, 3, 4] ], [ 1, 2, 0, 0 ], 'over');

@r = script('check', [ $EMAIL, $LOCK ], $WINDOW, 1);
is("@r", "0 0 $WINDOW 0 0", 'by the e-mail address alone');
script('lock', [ $LOCK ], 900_000);
@r = script('check', [ $EMAIL, $LOCK ], $WINDOW, 1);
is_deeply([ @r[0, 1] ], [ 1, 2 ], 'over');
about($r[4], 900_000, 'and locked');


# --- a locked account -------------------------------------------------------------

anew();
script('lock', [ $LOCK ], 900_000);
is((check())[0], 0, 'a lock alone refuses nothing');
check() for 2 .. 10;
@r = check();
is_deeply([ @r[0, 1] ], [ 2, 11 ], 'over the limit');
about($r[4], 900_000, 'the lock is told');
script('lock', [ $LOCK ], 500_000);
about((check())[4], 500_000, 'the latest one');

check() for 1 .. 3;
about(ttl($EMAIL), $WINDOW, 'a window');
passes($EMAIL, 200_000);
script('clear', [ $LOCK, $EMAIL ], 10, 4);
is(ttl($LOCK), -2, 'unlocked: the lock is gone');
is(get($EMAIL), 6, 'and as many hits as were given back, with those that were refused');
about(ttl($EMAIL), 200_000, 'the window goes on');
is((check())[0], 0, 'it may be tried again');
script('clear', [ $LOCK, $EMAIL ], 10, 40);
is(get($EMAIL), 0, 'no more than there are');
is(script('clear', [ $LOCK, 'svc.none' ], 10, 4), 1, 'clearing nothing');
is(get('svc.none'), '', 'makes nothing');


# --- a counter without expiry -----------------------------------------------------

anew();
$redis->lines('SET', $IP, 7);
$redis->lines('SET', $EMAIL, 30);
@r = check();
is("@r[0, 1, 3]", "2 31 $WINDOW", 'counts on');
ok(ttl($_) > 0 && ttl($_) <= $WINDOW, "$_ has one from then on")
    for $IP, $EMAIL;


# --- hits that are given back -----------------------------------------------------

sub give_back { return script('give_back', [ $IP, $EMAIL ], @_) }

anew();
@r = check();
check();
passes($_, 250_000) for $IP, $EMAIL;
give_back(@r[2, 3]);
is(get($IP) . get($EMAIL), '11', 'one hit of each');
about(ttl($_), 250_000, "$_ ends as before") for $IP, $EMAIL;

give_back(@r[2, 3]) for 1 .. 3;
is(get($IP) . get($EMAIL), '00', 'never below 0, and they stay');
about(ttl($_), 250_000, "$_ ends as before") for $IP, $EMAIL;

@r = check();
is(get($IP) . get($EMAIL), '11', 'the next hit');
about($r[2], 250_000, 'does not begin another window');

passes($_, 100_000) for $IP, $EMAIL;
@r = check();
anew();
check();
give_back(@r[2, 3]);
is(get($IP) . get($EMAIL), '11', 'not of a window that began since');

anew();
give_back($WINDOW, $WINDOW);
is_deeply([ $redis->lines('KEYS', '*') ], [], 'of nothing: nothing');

script('check', [ $IP ], $WINDOW, 1);
script('give_back', [ $IP ], $WINDOW);
is(get($IP), 0, 'of one key alone');

$redis->stop;
done_testing();
