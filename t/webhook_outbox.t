#!/usr/bin/perl

# Events that are lost on their way to the queue, or in it: the audit log has
# them, and the helper queues them again, with the same ids.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP qw(decode_json);
use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for signal_pid write_file);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 2,
                     locations => $SvcTest::Metrics::LOCATION);
my $redis = $s->redis;

$redis->{persistent} = 1;

my $receiver = SvcTest::Receiver->new($s,
    svc_webhook_queue => '40 tenant=30 endpoint=40',
    svc_webhook_outbox => '700ms',
    svc_webhook_timeout => slow(60) . 's',
);

$s->start;

my $nginx = $s->nginx;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $hook = $receiver->hook($acme, '/ok');
my $n = 0;


sub metric {
    my ($name, %labels) = @_;

    return SvcTest::Metrics->get($s)->value("svc_webhook_$name", %labels);
}


# Creates users of a tenant; returns their ids.

sub users {
    my ($tenant, $count) = @_;
    my %new;

    for (1 .. $count) {
        $new{ $tenant->create(userName => 'u' . ++$n . '@load.test')->{id} } = 1;
    }

    return \%new;
}


# Returns what an endpoint has got about users: { user => [ bodies ] }.

sub of_users {
    my ($hook, $users) = @_;
    my %got;

    for my $got ($receiver->at($hook)) {
        my $body = decode_json($got->{body});
        my $user = $body->{data}{userId};

        push @{ $got{$user} }, { %$body, delivery => $got->{header}{'x-svc-delivery'} }
            if $users->{$user};
    }

    return \%got;
}


# Tests that all of them come, and that those that come again have the same ids.

sub all_come {
    my ($name, $hook, $users, $most) = @_;
    my $got;

    wait_for { $got = of_users($hook, $users); keys %$got == keys %$users };

    is(keys %$got, keys %$users, "$name: all come")
        or diag(grep { /webhook/ } $nginx->log_lines);

    my @different = grep {
        my %ids = map { ("$_->{id} $_->{delivery} $_->{createdAt}" => 1) } @{ $got->{$_} };
        keys %ids > 1;
    } keys %$got;

    is_deeply(\@different, [], "$name: with the same ids each time");

    my $doubled = 0;
    $doubled += @$_ - 1 for values %$got;
    cmp_ok($doubled, '<=', $most, "$name: so many twice, at most");

    return $got;
}


# Tests that nothing is left of any event, neither in PostgreSQL nor in Redis.

sub settled {
    my ($name) = @_;

    ok((wait_for {
        $s->sql('SELECT count(*) FROM svc.webhook_done') == 0
            && $receiver->pending == 0
            && $redis->command('ZCOUNT svc.webhook2.known inf inf') =~ /^:0\b/;
    }), "$name: nothing is left")
        or diag($s->sql('SELECT count(*) FROM svc.webhook_done'), ' ',
                $receiver->pending, ' ',
                $redis->command('ZCOUNT svc.webhook2.known inf inf'));
}


# Writes an event to the audit log that no worker queues.

sub event {
    my ($tenant, $action, $target, %arg) = @_;

    my $at = $arg{at} // 'now()';

    return scalar $s->sql("INSERT INTO svc.audit_event (tenant_id, action, target_type,"
                          . " target_id, actor_type, created_at) VALUES ('$tenant->{id}',"
                          . " '$action', 'user', '$target', 'system', $at) RETURNING id");
}


# --- without faults -------------------------------------------------------------------

ok($nginx->wait_helper, 'a helper');

my $users = users($acme, 5);
my $got = all_come('no fault', $hook, $users, 0);

for my $id (keys %$users) {
    my ($body) = @{ $got->{$id} };

    is($body->{id}, substr(sha256_hex("svc.webhook.event $acme->{id} user.created $id"),
                           0, 32), 'the id is that of the event');
    is($body->{delivery}, substr(sha256_hex("$body->{id} $hook->{id}"), 0, 32),
       'and that of the delivery');
    is($body->{createdAt},
       scalar $s->sql("SELECT to_char(created_at AT TIME ZONE 'UTC',"
                      . " 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') FROM svc.audit_event"
                      . " WHERE target_id = '$id'"), 'and its time that of the change');
}

settled('no fault');
is(metric('replayed_total'), 0, 'nothing is queued twice');
is($receiver->at($hook), 5, 'nor does it come twice');


# --- an answer of PostgreSQL that is lost ---------------------------------------------

# The commit waits for a standby that does not exist; then its connection is
# cut.

$s->sql("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'");
$s->sql('SELECT pg_reload_conf()');

my $waits = "SELECT pid FROM pg_stat_activity WHERE usename = 'svc_app'"
            . " AND wait_event = 'SyncRep'";
my ($r, $name);

# until all of PostgreSQL's processes know of the setting

for my $i (1 .. 20) {
    $name = "lost$i\@load.test";
    $r = $s->begin(POST => '/scim/v2/Users', [ @{ $acme->headers },
                   'Content-Type', 'application/scim+json' ], { userName => $name });

    last if wait_for { $s->sql($waits) } slow(0.5);

    $r->read;
}

ok($s->sql($waits), 'a commit waits');

my $replayed = metric('replayed_total');

$s->sql("SELECT pg_terminate_backend(pid) FROM ($waits) w");
is($r->read->status, 503, 'nobody knows what became of it');
$s->sql('ALTER SYSTEM RESET synchronous_standby_names');
$s->sql('SELECT pg_reload_conf()');
$s->wait_healthy;

my $lost = $s->sql("SELECT id FROM svc.user_account WHERE user_name = '$name'");
ok($lost, 'it was committed');
all_come('lost answer', $hook, { $lost => 1 }, 0);
is(metric('replayed_total'), $replayed + 1, 'from the audit log');


# --- Redis away -----------------------------------------------------------------------

$nginx->mark_log;
$redis->stop;
$users = users($acme, 6);
ok((wait_for { $nginx->said(qr/\[warn\].* deliveries wait in the outbox, .* Redis/) }),
   'the log says where they are');
$redis->launch;
$s->wait_healthy;
all_come('Redis away', $hook, $users, 0);
settled('Redis away');


# --- PostgreSQL is away for longer than Redis keeps outcomes ---------------------------

# The deliveries end while PostgreSQL is away.  When it is back they cannot be
# noted before the outbox has looked at the log.  The error of these notes is
# one that may pass: after ten errors of the other kind the helper would give
# up.

my $open = "$receiver->{dir}/open";
my $until = $receiver->hook($acme, '/until/open');

$users = users($acme, 4);
is(scalar($receiver->wait($until, 4)), 4, 'they are being delivered');
$s->sql(q{CREATE FUNCTION public.later() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN RAISE ''later'' USING ERRCODE = ''query_canceled''; END'});
$s->sql('CREATE TRIGGER later BEFORE INSERT ON svc.webhook_done'
        . ' EXECUTE FUNCTION public.later()');
$s->{pg}->stop;
write_file($open, '');
ok((wait_for { $receiver->pending == 0 }), 'they have ended, without PostgreSQL');

my @ids = map { $_->{header}{'x-svc-delivery'} } $receiver->at($until);

$redis->command('DEL svc.webhook2.known');      # as happens after a minute
ok((wait_for { @ids == grep { $_ } $redis->lines('ZMSCORE', 'svc.webhook2.known', @ids) }),
   'Redis is told of what is not noted yet');

$s->{pg}->launch;
$s->wait_healthy;

for (1 .. 3) {
    my $due = "SELECT due_at FROM svc.webhook_outbox WHERE tenant_id = '$acme->{id}'";
    my $last = $s->sql($due);

    ok((wait_for { $s->sql($due) ne $last }), 'the log is looked at');
}

$s->sql('DROP FUNCTION public.later CASCADE');
all_come('PostgreSQL away', $until, $users, 0);
settled('PostgreSQL away');
is(scalar($receiver->at($until)), 4, 'PostgreSQL away: and none comes twice');
$acme->admin(DELETE => "/webhooks/$until->{id}");


# --- workers killed before Redis has answered them ------------------------------------

signal_pid('STOP', $redis->pid);
$users = users($acme, 6);
my @workers = $s->workers;
signal_pid('KILL', @workers);
signal_pid('CONT', $redis->pid);
$s->wait_healthy;
all_come('workers killed', $hook, $users, 6);
settled('workers killed');


# --- Redis loses what it has ----------------------------------------------------------

my $helper = $nginx->wait_helper or die "no helper\n";

signal_pid('STOP', $helper);
$users = users($acme, 6);
ok((wait_for { $receiver->pending == 6 }), 'they are queued');
$redis->command('FLUSHALL');
signal_pid('CONT', $helper);
all_come('FLUSHALL', $hook, $users, 0);
settled('FLUSHALL');


# --- the helper is killed before it has noted what it has sent ------------------------

$s->sql('BEGIN');
$s->sql('LOCK TABLE svc.webhook_done IN SHARE ROW EXCLUSIVE MODE');
$users = users($acme, 4);
ok((wait_for { keys %{ of_users($hook, $users) } == 4 }), 'they come');
$helper = $nginx->wait_helper or die "no helper\n";
signal_pid('KILL', $helper);
$s->sql('COMMIT');
ok($nginx->wait_helper($helper), 'another helper');
all_come('helper killed', $hook, $users, 4);
$redis->command('DEL svc.webhook2.known');
settled('helper killed');
all_come('helper killed, at the end', $hook, $users, 4);


# --- what each event is, and who takes it ---------------------------------------------

my $login = $receiver->hook($acme, '/login', events => [ 'user.login' ]);
my $late = '00000000-0000-4000-8000-000000000001';
my $gone = '00000000-0000-4000-8000-000000000002';

my $number = event($acme, 'user.login', $late);
event($acme, 'user.deleted', $late);
event($acme, 'user.created', $gone);

$got = all_come('a login', $login, { $late => 1 }, 0);
is($got->{$late}[0]{id},
   substr(sha256_hex("svc.webhook.event $acme->{id} user.login $number"), 0, 32),
   'its id is of the audit event');

$got = all_come('a user that is gone', $hook, { $gone => 1 }, 0);
is_deeply($got->{$gone}[0]{data}, { userId => $gone }, 'has no address any more');
is($receiver->at($login), 1, 'an endpoint gets what it takes');

# events of another kind come from the time on at which they were asked for, and
# so do those for an endpoint that is enabled again

my $old = '00000000-0000-4000-8000-000000000003';
my $new = '00000000-0000-4000-8000-000000000004';
my $before = "now() - interval '10 ms'";      # times have milliseconds

event($acme, 'user.deleted', $old, at => $before);
$acme->admin(PATCH => "/webhooks/$login->{id}",
             { events => [ 'user.login', 'user.deleted' ] });
event($acme, 'user.deleted', $new);
all_come('a kind that is new', $login, { $new => 1 }, 0);
is_deeply(of_users($login, { $old => 1 }), {}, 'what came before it does not');

$acme->admin(PATCH => "/webhooks/$login->{id}", { enabled => JSON::PP::false });
event($acme, 'user.login', $old, at => $before);
$acme->admin(PATCH => "/webhooks/$login->{id}", { enabled => JSON::PP::true });
event($acme, 'user.login', $gone);
all_come('enabled again', $login, { $gone => 1 }, 0);
is_deeply(of_users($login, { $old => 1 }), {}, 'what came meanwhile does not');

# an event that is too old is given up, and counted

my $since = metric('dropped_total', reason => 'expired');

$s->sql("UPDATE svc.webhook_endpoint SET since = array_fill(now() - interval '2 days',"
        . " ARRAY[2]) WHERE id = '$login->{id}'");
event($acme, 'user.login', $old, at => "now() - interval '25 hours'");
ok((wait_for { metric('dropped_total', reason => 'expired') == $since + 1 }),
   'one that is a day old is given up, and counted');
is_deeply(of_users($login, { $old => 1 }), {}, 'and not sent');


# --- a queue that is full -------------------------------------------------------------

$helper = $nginx->wait_helper or die "no helper\n";
signal_pid('STOP', $helper);
$nginx->mark_log;
$users = users($acme, 35);
ok((wait_for { $nginx->said(qr/deliveries dropped.*share of the queue is full/) }),
   'the share of the tenant is full');
signal_pid('CONT', $helper);
all_come('full', $hook, $users, 0);
settled('full');


# --- two nodes ------------------------------------------------------------------------

my $other = $s->node(workers => 1, svc => { %{ $nginx->{svc} } });
$other->wait_helper or die "no helper\n";

my %all;

for my $i (1 .. 20) {
    my $user = sprintf '00000000-0000-4000-8000-1%011d', $i;

    event($i % 2 ? $acme : $globex, 'user.created', $user);
    $all{$user} = 1 if $i % 2;
}

all_come('two nodes', $hook, \%all, 0);
settled('two nodes');

is($s->sql('SELECT count(*) FROM svc.webhook_outbox'), 1,
   'there is one row for each tenant with endpoints');

$s->done(allow => [ qr/exited on signal 9/ ]);

done_testing();
