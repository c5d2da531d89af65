#!/usr/bin/perl

# A hundred servers of one tenant that hang do not delay another's, neither while they
# hang nor while their time is up and others of them begin.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Fetch;
use SvcTest::Process qw(signal_pid slow wait_for);
use SvcTest::Receiver;


my $OTHER = '00000000-0000-7000-8000-000000000002';

my $s = SvcTest->new(workers => 1, connections => 2048);
my $receiver = SvcTest::Receiver->new($s, svc_webhooks => 'off',
                                      svc_webhook_allow => undef);
my $fetch = SvcTest::Fetch->new($s);

$s->start;
$fetch->helper;


# Returns the time of 99 of 100 fetches over a kept connection, in ms, and checks that
# all are answered.

sub p99 {
    my ($n, $name) = @_;
    my $c = $s->connection;
    my $path = SvcTest::Fetch::path($receiver->url('/ok'), tenant => $OTHER);
    my (@times, %outcomes);

    for (1 .. $n) {
        my $since = time;

        $outcomes{ SvcTest::Fetch::parsed($c->request(GET => $path))->{outcome} }++;
        push @times, 1000 * (time - $since);
    }

    is_deeply(\%outcomes, { answered => $n }, "$name: all are answered");

    return (sort { $a <=> $b } @times)[0.99 * $n - 1];
}


my $idle = p99(300, 'alone');
my $limit = 5 * $idle + 1000 * slow(0.05);

my @hung = map { $fetch->begin($receiver->url("/hang/$_")) } 1 .. 100;

ok((wait_for { $fetch->pending == 100 }), 'a hundred hang');
cmp_ok(p99(300, 'beside them'), '<', $limit, 'in a moment');

my @more = map { $fetch->begin($receiver->url("/hang/$_"), timeout => 100 + 10 * $_) }
           1 .. 150;

cmp_ok(p99(600, 'beside those that end'), '<', $limit, 'in a moment');

is((grep { $fetch->read($_)->{outcome} ne 'late' } @more), 0, 'and those are late');

# with their server, those that hang still end, and nginx need not wait for them

$_->close for @hung;
signal_pid('KILL', $receiver->{pid});
$s->done;

done_testing();
