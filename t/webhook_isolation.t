#!/usr/bin/perl

# A receiver that hangs, a name whose resolution hangs, and a tenant with a long
# queue: none of them delays the webhooks of others.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Entry qw(signed);
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;
use SvcTest::Resolver;


my $s = SvcTest->new(workers => 2);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_concurrency => '24 tenant=12 endpoint=4',
    svc_webhook_timeout => '4s',
    svc_webhook_connect_timeout => '2s',
);
my $resolver = SvcTest::Resolver->new($s);

$s->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');


# Returns the delays, in ms, of $n events of a tenant, one after the other,
# sorted.

sub delays {
    my ($tenant, $hook, $n) = @_;

    return $receiver->delays($hook, $n, sub { $tenant->new_user });
}


# --- alone -------------------------------------------------------------------

my $fine = $receiver->hook($globex, '/ok');

delays($globex, $fine, 2);
my @alone = delays($globex, $fine, 20);

# --- with receivers that hang ------------------------------------------------

$resolver->set('lost.hooks.example.com' => 'hang');

my @bad = ($receiver->hook($acme, '/hang'),
           $receiver->hook($acme, '/ok/lost', host => 'lost.hooks.example.com'),
           $receiver->hook($acme, '/ok/stall', server => 'stall'));
my $same = $receiver->hook($acme, '/ok/same');

$acme->new_user for 1 .. 40;

# four attempts at a time hang, for four seconds; an endpoint of the same tenant
# has a share of its own

is(scalar($receiver->wait($same, 40)), 40,
   'an endpoint of the same tenant gets all of its deliveries');

my @times = map { $_->{time} } $receiver->at($bad[0]);
my @crowd = grep { $times[$_ + 4] - $times[$_] < 2000 } 0 .. $#times - 4;
is(@crowd, 0, 'while four at a time hang') or diag("@times");

my @beside = delays($globex, $fine, 20);

cmp_ok($beside[10], '<', 4 * $alone[10] + slow(1500),
       'other tenants do not wait')
    or diag("alone: @alone\nbeside: @beside");
note(sprintf 'median alone %.1f ms, beside %.1f ms', $alone[10], $beside[10]);

# a receiver that hangs gets one attempt at a time

wait_for { $receiver->at($bad[0]) >= 9 };
my @hung = map { $_->{time} } $receiver->at($bad[0]);
my $apart = $hung[8] - $hung[7];
cmp_ok($apart, '>', 2000, 'what does not answer is tried once at a time')
    or diag("@hung");

# --- with a long queue -------------------------------------------------------

my $initech = $s->tenant('initech');
my $slow = $receiver->hook($initech, '/slow/200');
my @id = $initech->add_users(1);

my $body = '{"id":"' . 'ab' x 16 . '","event":"user.created"}';

# what 2,000 events would have queued, counted in the same step: a delivery that
# ended before it was counted would be counted for ever

for (1 .. 2000) {
    my $entry = signed($s->{key_file},
                       sprintf("0 %032x %s %s %s user.created\n%s", $_,
                               'ab' x 16, $initech->{id}, $slow->{id}, $body));

    $entry =~ s/"/\\"/g;
    $entry =~ s/\n/\\n/g;
    $s->redis->command("RPUSH entries \"$entry\"");
}

my $put = <<"EOT" =~ s/\n/ /gr;
redis.call('RPUSH', 'svc.webhook2.queue', unpack(redis.call('LRANGE', 'entries', 0, -1)))
redis.call('HINCRBY', 'svc.webhook2.pending', 'total', 2000)
redis.call('HINCRBY', 'svc.webhook2.pending', '$initech->{id}', 2000)
redis.call('PUBLISH', 'svc.webhook2.wake', 1)
return redis.call('DEL', 'entries')
EOT

is($s->redis->command("EVAL \"$put\" 0"), ':1', '2,000 deliveries');

ok($receiver->wait($slow, 8) >= 8, 'a long queue');
@beside = delays($globex, $fine, 20);
cmp_ok($beside[10], '<', 4 * $alone[10] + slow(1500),
       'nor do they behind a long queue')
    or diag("@beside");
cmp_ok($receiver->at($slow), '<', 2000, 'which is still there');

# an endpoint's deliveries are dropped when it is deleted, at once

$initech->admin(DELETE => "/webhooks/$slow->{id}");
my $count = "HINCRBY svc.webhook2.pending $initech->{id} 0";
ok((wait_for { $s->redis->command($count) eq ':0' }),
   'an endpoint that is deleted takes its queue along');

# --- at a reload -------------------------------------------------------------

my $hang = $receiver->hook($initech, '/hang/reload');
my $again = $receiver->hook($globex, '/status/500/reload');

$initech->new_user;
$receiver->wait($hang, 1);
$globex->new_user;
$receiver->deliveries($again, 1);

my ($old) = $s->nginx->helper_pids;

$s->reload(linger => 1);
$receiver->wait($again, 2);
ok(-e "/proc/$old", 'others do not wait for what is in flight');
is($receiver->at($hang), 1, 'which nobody else sends meanwhile');

$s->done;

done_testing();
