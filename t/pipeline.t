#!/usr/bin/perl

# What was queued for PostgreSQL, and is not sent yet or only in part, when its
# connection is lost or the worker ends.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(wait_for signal_pid);


# one worker, and one connection of each kind, so that all requests share it

my $s = SvcTest->new(
    workers => 1,
    svc => {
        svc_postgres_pool => [ 'read connections=1 depth=32',
                               'write connections=1 depth=64',
                               'slow connections=1 depth=1' ],
        svc_postgres_timeout => '15s',
        svc_postgres_queue_timeout => '10s',
    },
    locations => $SvcTest::Metrics::LOCATION,
)->start;

my $acme = $s->tenant('acme');
my @users = map { $acme->create(userName => "user$_\@acme.test")->{id} } 1 .. 24;
my $creates = 0;


# Returns how many users of this name are stored, as soon as PostgreSQL answers
# again.

sub stored {
    my ($user) = @_;
    my $n;

    wait_for {
        defined($n = eval { $s->sql("SELECT count(*) FROM svc.user_account"
                                    . " WHERE user_name = '$user'") })
    } or die "PostgreSQL does not come back\n";

    return $n;
}


# Sends a request on a connection of its own, without waiting.

sub ask {
    my ($method, $path, $body) = @_;

    return $s->begin($method, $path,
                     [ @{ $acme->headers }, Connection => 'close' ], $body);
}


sub reads {
    return map { [ $_, ask(GET => "/scim/v2/Users/$_") ] } @users;
}


sub creates {
    my ($n, $text) = @_;
    my %more = (displayName => $text, title => $text,
                name => { givenName => $text, familyName => $text });

    return map { [ $_, ask(POST => '/scim/v2/Users',
                           SvcTest::encode({ userName => $_, %more })) ] }
           map { 'new' . ++$creates . '@acme.test' } 1 .. $n;
}


# Tests that each read is answered with its own user.

sub answered {
    my ($name, @reads) = @_;
    my @wrong = grep { my $r = $_->[1]->read;
                       !$r || $r->status != 200 || $r->json->{id} ne $_->[0] }
                @reads;

    is(scalar @wrong, 0, "$name: each read is answered with its user");
}


# Tests that each create is stored, or, when this is unknown, answered with 503.

sub created {
    my ($name, @created) = @_;

    my %answer = map { $_->[0] => $_->[1]->read } @created;
    my @wrong = grep { my $r = $answer{$_};
                       !$r || !($r->status == 201 && stored($_) == 1
                                || $r->status == 503 && stored($_) <= 1
                                   && defined $r->header('retry-after')) }
                keys %answer;

    is(join(' ', map { $answer{$_} ? $answer{$_}->status : 'none' } @wrong), '',
       "$name: each create is stored, or its answer is 503");
}


sub end_backends {
    $s->sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            . " WHERE usename = 'svc_app'");
}


# --- in one turn of the event loop ------------------------------------------------

# Stops the worker meanwhile, so that it finds all requests at once.

sub at_once {
    my ($code) = @_;
    my ($worker) = $s->workers;

    signal_pid('STOP', $worker);
    my @result = $code->();
    signal_pid('CONT', $worker);

    return @result;
}

answered('at once', at_once(\&reads));

for my $first ('requests', 'the loss') {
    my $name = "$first before the other";
    my @asked = at_once(sub {
        end_backends() if $first ne 'requests';
        my @asked = (reads(), creates(3, 'x'));
        end_backends() if $first eq 'requests';

        return @asked;
    });

    answered($name, @asked[0 .. $#users]);
    created($name, @asked[@users .. $#asked]);
    ok($s->wait_healthy, "$name: healthy");
}


# --- more than the socket takes ------------------------------------------------------

# Stops the backends until all requests are on their way to one of them.

sub stuck {
    my ($name) = @_;

    $s->pg->freeze;
    my @creates = creates(64, 'x' x 1000);

    ok((wait_for { SvcTest::Metrics->get($s)->sum('svc_postgres_requests',
                       pool => 'write', state => 'in_flight') == 64 }),
       "$name: 64 creates on one connection");
    is($s->http(GET => '/alive')->status, 200, "$name: nothing else waits");

    return @creates;
}


sub done {
    my ($name, @creates) = @_;
    my @wrong = grep { my $r = $_->[1]->read; !$r || $r->status != 201 }
                @creates;

    is(scalar @wrong, 0, "$name: all are done");
}


my @stuck = stuck('it goes on');
$s->pg->thaw;
done('it goes on', @stuck);

@stuck = stuck('a reload');
my ($old) = $s->workers;
$s->reload(linger => 1);
$s->pg->thaw;
done('a reload', @stuck);
ok((wait_for { !grep { $_ == $old } $s->nginx->old_worker_pids }),
   'and the old worker ends');
done('a reload', creates(1, 'x'));

@stuck = stuck('a crash');
signal_pid('KILL', $s->pg->app_backends);
$s->pg->thaw;
created('a crash', @stuck);
ok($s->wait_healthy, 'healthy again');
answered('a crash', reads());
done('a crash', creates(3, 'x'));

$s->done;
done_testing();
