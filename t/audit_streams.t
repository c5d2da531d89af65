#!/usr/bin/perl

# Shows that a thousand clients can follow audit logs: ten in each of a hundred
# tenants.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(slow wait_for resident);
use SvcTest::Sse;


use constant { TENANTS => 100, EACH => 10, EVENTS => 30 };

# Closing a thousand streams at once may take long on a busy machine.

my $s = SvcTest->new(workers => 2, connections => 4096,
                     svc => { svc_postgres_timeout => '60s',
                              svc_postgres_queue_timeout => '60s' })->start;

my @tenants = map { $s->tenant("t$_") } 1 .. TENANTS;
my @tokens = map { $_->token(kind => 'api', name => 'viewer',
                             permissions => 'audit:view')->{token} } @tenants;
my @e;


# Reads what has come on all streams; returns the smallest number of events of one.

sub least {
    my $least = 1e9;

    for my $e (@e) {
        $e->{http}->fill if !$e->{http}{eof};
        $e->take;

        my $n = @{ $e->{events} };
        $least = $n if $n < $least;
    }

    return $least;
}

my $before = resident($s->workers);

for my $i (0 .. TENANTS * EACH - 1) {
    push @e, SvcTest::Sse->new($s, $tokens[$i % TENANTS],
                               '/v1/admin/audit/stream');
    next if $i % 100 != 99;
    $_->open for grep { !$_->{answer} } @e;
}

is(scalar(grep { $_->{answer}->status == 200 } @e), TENANTS * EACH,
   'a thousand streams');
ok((wait_for { least(); !grep { !@{ $_->{comments} } } @e }),
   'all are connected');
is($s->sql('SELECT count(*) FROM svc.audit_stream'), TENANTS * EACH,
   'as many leases');

my $each = (resident($s->workers) - $before) / (TENANTS * EACH);
cmp_ok($each, '<', slow(30), 'with little memory each');
diag(sprintf 'memory: %.1f kB a stream', $each) if $ENV{SVC_TEST_SHOW};

# The last events are timed one by one, while all listen.

my (%sent, @late);

for my $i (1 .. EVENTS) {
    my $t = $i % TENANTS;

    $tenants[$t]->create(userName => "u$i\@x.test");
    $sent{$t} = time();

    my @mine = map { $e[$t + $_ * TENANTS] } 0 .. EACH - 1;

    wait_for { $_->pump(0) for @mine; !grep { !@{ $_->{events} } } @mine };
    push @late, map { ($_->{events}[0]{at} // 1e9) - $sent{$t} } @mine;
}

@late = sort { $a <=> $b } @late;
my $p99 = $late[ int 0.99 * @late ];
cmp_ok($late[@late / 2], '<', 5,
       'who is told of an event looks for it before the 15 seconds are over');
diag(sprintf 'p50 %.1f ms, p99 %.1f ms', 1000 * $late[@late / 2], 1000 * $p99)
    if $ENV{SVC_TEST_SHOW};

# All tenants have an event at once.

for my $t (0 .. $#tenants) {
    $tenants[$t]->create(userName => "all$t\@x.test");
}

my %want = map { $_ => 1 + ($_ >= 1 && $_ <= EVENTS ? 1 : 0) } 0 .. $#tenants;

ok((wait_for {
    least();
    !grep { @{ $e[$_]{events} } < $want{ $_ % TENANTS } } 0 .. $#e
}), 'every stream gets its tenant\'s event');

my @wrong = grep {
    my $e = $e[$_];
    my $slug = 't' . ($_ % TENANTS + 1);

    @{ $e->{events} } != $want{ $_ % TENANTS }
        || grep { $_->{data}{actor}{name} ne "$slug directory" }
           @{ $e->{events} }
} 0 .. $#e;

is(scalar @wrong, 0, 'once, and no other tenant\'s');

# Leases are renewed with the pings; a stream that has lost its lease ends.

$s->sql("DELETE FROM svc.audit_stream WHERE tenant_id ="
        . " '$tenants[50]{id}'");
my $oldest = 'SELECT min(expires_at) FROM svc.audit_stream';
my $expires = $s->sql($oldest);

ok((wait_for { least(); !grep { !grep { $_ eq 'ping' } @{ $_->{comments} } } @e }),
   'every 15 seconds a ping');
ok((wait_for {
    $s->redis->command('PUBLISH svc.audit *');
    $s->sql($oldest) gt $expires;
}), 'leases are renewed');
ok((wait_for {
    $s->redis->command('PUBLISH svc.audit *');
    least();
    EACH == grep { $_->{ended} } @e;
}),
   'without them streams end');
is(scalar(grep { $e[50 + $_ * TENANTS]{ended} } 0 .. EACH - 1), EACH,
   'those of that tenant');

# A reload ends all streams.

$s->reload;
ok((wait_for { least(); !grep { !$_->{ended} } @e }), 'ends them all');
ok((wait_for { $s->sql('SELECT count(*) FROM svc.audit_stream') == 0 }),
   'and their leases') or diag(scalar $s->sql('SELECT count(*) FROM svc.audit_stream'));

$s->done;
done_testing();
