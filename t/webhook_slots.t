#!/usr/bin/perl

# Tenants whose receivers hold on to attempts: a tenant with few attempts under
# way always finds a place beside them.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;


my $SLOTS = 64;

my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_concurrency => "$SLOTS tenant=16 endpoint=4",
    svc_webhook_connect_timeout => '10s',
    svc_webhook_timeout => '10s',
    svc_webhook_shutdown_timeout => '1s',
);

$s->start;

my $globex = $s->tenant('globex');
my $fine = $receiver->hook($globex, '/ok');
my $crowds = 0;


# Returns the highest number of attempts that were seen under way, and the
# delays of $count webhooks, in ms, sorted.

sub delays {
    my ($count) = @_;

    my $most = 0;

    my @delays = $receiver->delays($fine, $count, sub { $globex->new_user },
                                   sub {
        my $now = SvcTest::Metrics->get($s)->value('svc_webhook_in_flight');
        $most = $now if $now > $most;
    });

    return ($most, @delays);
}


# Makes tenants with an endpoint at each of the paths, and events of theirs.

sub crowd {
    my ($tenants, $events, @paths) = @_;

    $crowds++;

    my @tenants = map { $s->tenant("crowd$crowds-$_") } 1 .. $tenants;
    my @hooks;

    for my $tenant (@tenants) {
        push @hooks, map { $receiver->hook($tenant, $_) } @paths;
    }

    for my $i (1 .. $events) {
        $_->new_user for @tenants;
    }

    return @hooks;
}


sub gone {
    my (@hooks) = @_;

    $_->{tenant}->admin(DELETE => "/webhooks/$_->{id}") for @hooks;
    wait_for { $receiver->pending == 0 };
}


$globex->new_user;
$receiver->wait($fine, 1);

my (undef, @alone) = delays(20);

# --- a head at once, and a body that never ends -------------------------------

my @hooks = crowd(8, 6, map { "/body-drip/$_" } 1 .. 4);
my ($most, @beside) = delays(20);

cmp_ok($beside[10], '<', slow(3000), 'beside bodies that never end')
    or diag("alone: @alone\nbeside: @beside");
cmp_ok($most, '<', $SLOTS, 'places are left');
note(sprintf 'median alone %.1f ms, beside %.1f ms, in flight %d', $alone[10],
     $beside[10], $most);

for my $hook (@hooks[0, 9, 31]) {
    my @log = $receiver->deliveries($hook, 6);

    is(join(' ', map { $_->{outcome} } @log), join(' ', ('acknowledged') x 6),
       'the head counts');
    is(scalar(grep { $_->{durationMs} >= 9000 } @log), 0,
       'and ends the attempt before its time is over');
}

gone(@hooks);

# --- again: each costs the next attempt a connection ----------------------------

my $tenant = $s->tenant('slowly');
my $hook = $receiver->hook($tenant, '/body-drip/slowly');

$tenant->new_user for 1 .. 9;

my @at = map { $_->{time} } $receiver->wait('/body-drip/slowly', 9);

cmp_ok($at[8] - $at[7], '>', $at[7] - $at[0],
       'four and four, then there is a pause that has grown');
note("ms: @{[ map { $_ - $at[0] } @at ]}");

gone($hook);

# --- no answer at all ---------------------------------------------------------

@hooks = crowd(9, 3, map { "/hang/$_" } 1 .. 12);
wait_for { $receiver->at('/hang/12') >= 9 };
($most, @beside) = delays(20);

cmp_ok($beside[10], '<', slow(3000), 'beside receivers that hang')
    or diag("alone: @alone\nbeside: @beside");
cmp_ok($most, '<', $SLOTS, 'places are left');
cmp_ok($most, '>', $SLOTS / 2, 'and are not wasted');
note(sprintf 'median alone %.1f ms, beside %.1f ms, in flight %d', $alone[10],
     $beside[10], $most);

gone(@hooks);

$s->done;

done_testing();
