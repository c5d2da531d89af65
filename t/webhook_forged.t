#!/usr/bin/perl

# Nobody who can write to Redis can have anything signed with a tenant's secret:
# every entry that a helper reads there, wherever it does, has a MAC under the
# key file.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Entry qw(signed);
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $redis = $s->redis;
my $nginx = $s->nginx;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $hook = $receiver->hook($acme, '/ok');
my $other = $receiver->hook($acme, '/other');
my $theirs = $receiver->hook($globex, '/theirs');
my ($n, $forged, $damaged) = (0, 0, 0);


sub id { return sprintf '%032x', ++$n }

sub text {
    my (%set) = @_;

    my %e = (attempts => 0, id => id(), event_id => id(),
             tenant => $acme->{id}, endpoint => $hook->{id},
             event => 'user.created', body => '{"a":1}', %set);

    return "@e{qw(attempts id event_id tenant endpoint event)}\n$e{body}";
}


sub entry {
    return signed($s->{key_file}, text(@_));
}


sub dropped {
    return SvcTest::Metrics->get($s)->value('svc_webhook_dropped_total',
                                            reason => $_[0]);
}


sub helper_id {
    return wait_for { ($redis->lines('ZRANGE', 'svc.webhook2.helpers', 1,
                                     '+inf', 'BYSCORE'))[0] };
}


# Puts an entry into each place where a helper looks, and counts it as pending.

my %PLACES = (
    queue => sub { $redis->lines('RPUSH', 'svc.webhook2.queue', $_[0]) },
    'a dead helper' => sub {
        my ($entry) = @_;

        $redis->lines('HSET', 'svc.webhook2.own.dead', name($entry), $entry);
        $redis->lines('ZADD', 'svc.webhook2.helpers', 1, 'dead');
    },
    'a living helper' => sub {
        my ($entry) = @_;

        $redis->lines('HSET', 'svc.webhook2.own.' . helper_id(), name($entry),
                      $entry);
    },
);

sub name {
    my ($entry) = @_;

    return $entry =~ /^\S+ \S ([0-9a-f]{32}) / ? $1 : id();
}


sub put {
    my ($place, $entry) = @_;

    $redis->lines('HINCRBY', 'svc.webhook2.pending', 'total', 1);
    $PLACES{$place}->($entry);
}


sub gone {
    my ($name) = @_;

    ok((wait_for { $receiver->pending == 0
                   && !$redis->lines('HKEYS', 'svc.webhook2.own.'
                                              . helper_id()) }),
       "$name: nothing of it stays");
}


ok($nginx->wait_helper, 'a helper');
ok(helper_id(), 'which Redis knows');


# --- each field, in each place ------------------------------------------------------

my %CHANGED = (
    attempts => sub { s/^(\S+) 0/$1 1/ },
    'delivery id' => sub { s/^(\S+ 0 )[0-9a-f]{32}/$1 . 'f' x 32/e },
    'event id' => sub { s/^(\S+ 0 \S+ )[0-9a-f]{32}/$1 . 'f' x 32/e },
    tenant => sub { s/$acme->{id}/$globex->{id}/ },
    endpoint => sub { s/$hook->{id}/$other->{id}/ },
    event => sub { s/user\.created/user.deleted/ },
    body => sub { s/"a":1/"a":2/ },
    'more body' => sub { $_ .= ' ' },
    'the MAC' => sub { s/^(\S+:)../${1}00/ },
    'the key' => sub { s/^1:/2:/ },
    'no MAC, as older versions' => sub { s/^\S+ // },
    'an empty MAC' => sub { s/^1:\S+/1:/ },
);

for my $place (sort keys %PLACES) {
    my $before = $receiver->at($hook);

    put($place, entry());
    is(scalar($receiver->wait($hook, $before + 1)), $before + 1,
       "$place: an entry is delivered");
    gone($place);

    # all at once, because a helper looks at another helper's entries, and at
    # its own, only now and then

    my %changed = map { $_ => entry() } keys %CHANGED;

    for my $what (sort keys %CHANGED) {
        for ($changed{$what}) { $CHANGED{$what}->() }

        put($place, $changed{$what});
    }

    gone("$place, whatever is changed")
        or diag(map { "$_: $changed{$_}\n" } sort keys %changed);

    # entries that were under way have come when a later one has

    put($place, entry());
    is(scalar($receiver->wait($hook, $before + 2)), $before + 2,
       "$place: nothing that is changed is delivered");
    gone($place);
}

is(scalar($receiver->at($_)), 0, 'nor elsewhere') for $other, $theirs;
$forged = dropped('not_authentic');
$damaged = dropped('damaged');
cmp_ok($forged, '>=', 10, 'they are counted');
cmp_ok($damaged, '>=', 2, 'and what is no entry at all');

my @lines = grep { /\[error\] .* it is not authentic, or its key is not in/ }
            $nginx->log_lines;
cmp_ok(scalar(@lines), '>', 0, 'the log says so');

# any number of them, with few lines in the log

$redis->lines('EVAL', "for i = 1, 3000 do
                           redis.call('RPUSH', KEYS[1], ARGV[1] .. i)
                       end", 1, 'svc.webhook2.queue', entry());
ok((wait_for { dropped('not_authentic') == $forged + 3000 }), 'three thousand');
cmp_ok(scalar(grep { /\[error\] .* not authentic/ } $nginx->log_lines)
       - @lines, '<=', 30, 'with few lines in the log');


# --- attempts are the helper's -----------------------------------------------------

my $bad = $receiver->hook($acme, '/status/500');
my $pid = $nginx->wait_helper;

put(queue => entry(endpoint => $bad->{id}));
is(scalar($receiver->wait($bad, 3)), 3, 'what it tells Redis is signed');
gone('three attempts');

put(queue => entry(endpoint => $bad->{id}));
ok((wait_for { grep { /^\S+ 1 / } $redis->lines('HVALS',
                        'svc.webhook2.own.' . helper_id()) }),
   'one attempt has failed');
signal_pid('KILL', $pid);
$nginx->wait_helper($pid);
is(scalar($receiver->wait($bad, 6)), 6, 'its successor can read that');
gone('the successor');


# --- a new key -----------------------------------------------------------------------

sub keys_are {
    open my $fh, '>', $s->{key_file} or die "$!\n";
    print $fh @_;
    close $fh;
    $s->reload;
    $nginx->wait_helper or die "no helper\n";
}

open my $fh, '<', $s->{key_file} or die "$!\n";
my $old = readline $fh;
my $new = 'next:' . unpack('H*', SvcTest::random_bytes(32)) . "\n";

my $before = $receiver->at($hook);
my $under_old = entry();

# an entry of a node that already uses the next key

keys_are($old, $new);
put(queue => signed($s->{key_file}, text(), 1));
is(scalar($receiver->wait($hook, $before + 1)), $before + 1,
   'an entry under a key that comes is delivered');
$before++;

keys_are($new, $old);
put(queue => $under_old);
is(scalar($receiver->wait($hook, $before + 1)), $before + 1,
   'an entry under the old key is delivered');

put(queue => signed($s->{key_file}, text(endpoint => $bad->{id}), 1));
is(scalar($receiver->wait($bad, 9)), 9, 'and tried again');

my $helper = $nginx->wait_helper;

signal_pid('STOP', $helper);
$acme->create(userName => 'new@acme.test');
ok((wait_for { ($redis->lines('LLEN', 'svc.webhook2.queue'))[0] >= 3 }),
   'an event');
is(scalar(grep { /^next:/ } $redis->lines('LRANGE', 'svc.webhook2.queue', 0,
                                          -1)), 3, 'is under the new one');
signal_pid('CONT', $helper);
is(scalar($receiver->wait($hook, $before + 2)), $before + 2, 'and delivered');

$forged = dropped('not_authentic');
$under_old = signed($s->{key_file}, text(), 1);
keys_are($new);
put(queue => $under_old);
ok((wait_for { dropped('not_authentic') == $forged + 1 }),
   'a key that is gone is good for nothing');
is(scalar($receiver->at($hook)), $before + 2, 'nothing comes of it');

$s->done(allow => [ qr/exited on signal 9/,
                    qr/\[alert\] .* secret .* cannot be opened/ ]);

done_testing();
