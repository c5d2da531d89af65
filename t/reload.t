#!/usr/bin/perl

# A reload while PostgreSQL takes its time to accept the new workers'
# connections: requests wait for them, and not only as long as the queue's
# timeout.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(slow wait_for signal_pid);


my $QUEUE = slow(0.3);

my $s = SvcTest->new(workers => 2, svc => {
    svc_postgres_queue_timeout => 1000 * $QUEUE . 'ms',
    svc_postgres_connect_timeout => '1h',
});

$s->start;

my $acme = $s->tenant('acme');
my $known = $acme->create(userName => 'known@acme.test');
my $run = 0;


# Sends creates and reads to the new workers while PostgreSQL accepts no new
# connections and otherwise works.  Returns the connections that wait for their
# answers.

sub reload {
    signal_pid('STOP', $s->pg->{pid});
    $s->reload;
    $run++;

    return map {
        my $i = $_;
        my $c = $s->connection;

        $c->send($i % 2
            ? $c->format(GET => "/scim/v2/Users/$known->{id}", $acme->headers)
            : $c->format(POST => '/scim/v2/Users', [
                  @{ $acme->headers },
                  'Content-Type' => 'application/scim+json'
              ], JSON::PP::encode_json({ userName => "$run-$i\@acme.test" })));
        $c
    } 1 .. 12;
}


sub stayed {
    my ($name) = @_;

    ok((wait_for { $s->health->{status} == 200 }), "$name: well again");
}


# for a part of the connect timeout

my @waiting = reload();
my $end = time + 3 * $QUEUE;

while (time < $end) {
    last if grep { !$_->silent(0.05) } @waiting;
}

is(scalar(grep { !$_->silent(0) } @waiting), 0, 'requests wait');
signal_pid('CONT', $s->pg->{pid});

my @status = map { ($_->read // die "no answer\n")->status } @waiting;

is_deeply(\@status, [ (200, 201) x 6 ], 'and are answered as ever');
stayed('soon');

# for longer than it; even a busy machine connects within it afterwards

$s->nginx->{svc}{svc_postgres_connect_timeout} = slow(3) . 's';
@waiting = reload();

my @answers = map { $_->read // die "no answer\n" } @waiting;

is_deeply([ map { $_->status } @answers ], [ (503) x 12 ], 'not without end');
is(scalar(grep { $_->header('retry-after') } @answers), 12,
   'which says when to come again');
signal_pid('CONT', $s->pg->{pid});
stayed('late');

# when PostgreSQL refuses connections, requests fail after the queue's timeout,
# however long the connect timeout is

$s->nginx->{svc}{svc_postgres_connect_timeout} = '1h';
$s->pg->stop;
$s->reload;

is($acme->scim(POST => '/Users', { userName => 'no@acme.test' })->status, 503,
   'without PostgreSQL');
$s->pg->launch;
stayed('launched');

$s->done;

done_testing();
