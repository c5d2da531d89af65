#!/usr/bin/perl

# The life of the webhook helper process: when it starts, what it inherits, and
# that it ends with nginx, however nginx ends.

use strict;
use warnings;

use IO::Socket::INET;
use Socket qw(MSG_DONTWAIT);
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Nginx;
use SvcTest::Process qw(wait_for spawn run alive wait_exit children
    signal_pid subreaper slurp run_user);


subreaper();

my $s = SvcTest->new(
    svc => { svc_webhooks => 'on', svc_webhook_shutdown_timeout => '2s' },
);
my $n = $s->nginx;

# workers run on the first processor that this test may use, and only there

my ($first) = (slurp('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\d+)/m);

$n->{main} = 'worker_cpu_affinity 1' . '0' x $first . ";\n";

# the cache manager and the cache loader start no helper

$n->{http} = "    proxy_cache_path $s->{dir}/cache keys_zone=c:1m;\n";
mkdir "$s->{dir}/cache";
chown((getpwnam run_user())[2, 3], "$s->{dir}/cache") if $> == 0;

$s->start;


sub title {
    my ($pid) = @_;

    my $title = SvcTest::Nginx::command_line($pid);
    $title =~ s/\s+$//;

    return $title;
}


sub status_of {
    my ($pid, $field) = @_;

    return ((slurp("/proc/$pid/status") // '') =~ /^\Q$field\E:\s*(.*)$/m)[0];
}


# Returns the zombies among the children of nginx.

sub zombies {
    my @parents = ($n->pid, children($n->pid));
    my %ours = map { $_ => 1 } @parents;

    return grep { my ($state, $ppid) = SvcTest::Process::stat_of($_);
                  ($state // '') eq 'Z' && $ours{$ppid} }
           map { m{^/proc/(\d+)$} ? $1 : () } glob '/proc/[0-9]*';
}


sub no_helper {
    my ($name) = @_;

    ok((wait_for { !$n->helper_pids }), $name)
        or diag(map { title($_) . "\n" } $n->helper_pids);
}


sub one_helper {
    my ($name, @not) = @_;

    my $pid = $n->wait_helper(@not);
    ok($pid, $name) or diag(map { "$_ " . title($_) . "\n" } $n->helper_pids);

    return $pid // 0;
}


# Returns the log's lines about helpers that hung.

sub hung { return grep { /has hung for/ } $n->log_lines }


# Waits until Redis knows $count helpers, which are then in their event loop.

sub known {
    my ($count) = @_;

    return wait_for { ($s->redis->command('ZCOUNT svc.webhook2.helpers 1 +inf')
                       // '') eq ":$count" };
}


# --- start ------------------------------------------------------------------

my $pid = one_helper('there is a helper');
my ($worker) = grep { status_of($pid, 'PPid') == $_ } $n->worker_pids;

ok($worker, 'a worker is its parent');
is(title($pid), 'nginx: webhook helper process', 'its title');
is(status_of($pid, 'Uid'), status_of($worker, 'Uid'), 'it runs as workers do');
is(status_of($pid, 'Gid'), status_of($worker, 'Gid'), 'its group');
is(status_of($pid, 'CapEff'), status_of($worker, 'CapEff'),
   'its capabilities');
is(status_of($worker, 'Cpus_allowed_list'), $first, 'a worker has a processor');
is(status_of($pid, 'Cpus_allowed_list'),
   status_of($n->pid, 'Cpus_allowed_list'), 'the helper has all of them');
ok(known(1), 'Redis knows it');

ok((wait_for { grep { title($_) =~ /cache manager/ } children($n->pid) }),
   'there is a cache manager');


# --- what it inherits -------------------------------------------------------

# a client's connection that is open when the helper starts

my $client = $s->connection;
is($client->request(GET => '/alive')->body, 'alive', 'a client');
signal_pid('KILL', $pid);
my $next = one_helper('killed: another one starts', $pid);
ok(known(2), 'Redis knows it');

sub sockets {
    my ($of) = @_;

    return map { (readlink $_ // '') =~ /^socket:\[(\d+)\]$/ ? $1 : () }
           glob "/proc/$of/fd/*";
}

my %of_worker = map { $_ => 1 } map { sockets($_) } $n->pid, $n->worker_pids;
my @sockets = sockets($next);

cmp_ok(scalar @sockets, '>=', 3, 'it has sockets of its own');
is(scalar(grep { $of_worker{$_} } @sockets), 0, 'it shares none with nginx');
is(scalar(grep { (readlink $_ // '') =~ /eventpoll/ } glob "/proc/$next/fd/*"),
   1, 'one epoll');
is($client->request(GET => '/alive')->body, 'alive',
   'the client is served as before');
ok($s->unharmed([ $n->worker_pids ], 'fork'), 'PostgreSQL is, too');
is(scalar zombies(), 0, 'no zombie');
$pid = $next;


# --- its end, and another one -----------------------------------------------

for my $signal (qw(TERM QUIT)) {
    signal_pid($signal, $pid);
    $pid = one_helper("kill -$signal: another one starts", $pid);
}

signal_pid('KILL', $worker);
$pid = one_helper('kill -9 of the worker: another one starts', $pid);
is(scalar zombies(), 0, 'no zombie');

# a helper that hangs

signal_pid('STOP', $pid);
ok((wait_for { !-e "/proc/$pid" }), 'a helper that hangs is killed');
$pid = one_helper('it hangs: another one starts', $pid);
is(scalar zombies(), 0, 'no zombie either');

$s->reload(linger => 1);
$pid = one_helper('reload: another one', $pid);
ok((wait_for { !$n->old_worker_pids }), 'old workers end');
ok(known(1), 'the old ones have left Redis') or
    diag($s->redis->command('ZCARD svc.webhook2.helpers'));

# a helper that hangs is killed when its shutdown timeout is over

signal_pid('STOP', $pid);
my $start = time;
$s->reload(linger => 1);
ok((wait_for { !-e "/proc/$pid" }),
   'one that hangs while nginx reloads is killed');
cmp_ok(time - $start, '>=', 2.5, 'after its time is over');
ok((wait_for { !$n->old_worker_pids }), 'and its worker ends');
$pid = one_helper('there is one', $pid);

# worker_shutdown_timeout overrides the longer timeout of the helper; that it
# hung is not logged

$n->{main} = "worker_shutdown_timeout 500ms;\n";
$n->{svc}{svc_webhook_shutdown_timeout} = '60s';
$s->reload;
$pid = one_helper('with worker_shutdown_timeout', $pid);
my $hung = () = hung();
signal_pid('STOP', $pid);
$s->reload(linger => 1);
ok((wait_for { !-e "/proc/$pid" }), 'a helper that hangs is killed then');
is(scalar(() = hung()), $hung, 'which nobody has missed');
ok((wait_for { !$n->old_worker_pids }), 'and its worker ends');
$n->{svc}{svc_webhook_shutdown_timeout} = '2s';
$pid = one_helper('there is one', $pid);

# log files are reopened

rename "$n->{log}", "$n->{log}.1";
signal_pid('USR1', $n->pid);
ok((wait_for { grep { (readlink $_ // '') eq $n->{log} }
               glob "/proc/$pid/fd/*" }), 'its log is reopened');
is(scalar(grep { (readlink $_ // '') eq "$n->{log}.1" } glob "/proc/$pid/fd/*"),
   0, 'all of it');

# switched off, and on again

$n->{svc}{svc_webhooks} = 'off';
$s->reload;
no_helper('svc_webhooks off: no helper');
$n->{svc}{svc_webhooks} = 'on';
$s->reload;
$pid = one_helper('on again');

my ($status, $text) = $n->test_configuration;
is($status, 0, 'nginx -t') or diag($text);
is(scalar(my @now = $n->helper_pids), 1, 'leaves nothing behind');


# --- nginx ends -------------------------------------------------------------

# Starts nginx, as a daemon or with a parent that watches the master.

sub start_as {
    my ($directives, $events) = @_;

    my $conf = $n->configuration;
    $conf =~ s/^daemon off;$/$directives/m or die;
    $conf =~ s/^events \{$/events {\n    $events/m or die if $events;
    $n->write_configuration($conf);
    unlink "$s->{dir}/nginx.pid";

    my $starter = spawn($n->command, out => $n->{err}, env => $n->environment);

    $n->take_pid(wait_for { master() });

    # a daemon ignores USR2 while the process that has started it is there

    wait_exit($starter) if $starter != $n->pid;
}


sub master {
    my $text = slurp("$s->{dir}/nginx.pid") // '';

    return $text =~ /^(\d+)\n/ && $1;
}


sub ends {
    my ($signal, $name) = @_;

    signal_pid($signal, $n->pid);
    ok(defined wait_exit($n->pid), "$name: ends on $signal");
    ok(!$n->helper_pids, "$name: no helper outlives it")
        or diag(map { title($_) . "\n" } $n->helper_pids);
}


ends('TERM', 'as ever');
$n->{workers} = 1;

for my $row ([ 'daemon on', 'daemon on;', 'QUIT' ],
             [ 'daemon on', 'daemon on;', 'TERM' ],
             [ 'one process', 'daemon off; master_process off;', 'QUIT' ],
             [ 'one process', 'daemon off; master_process off;', 'TERM' ],
             [ 'one worker', 'daemon off;', 'QUIT' ],
             [ 'timer_resolution', 'daemon off; timer_resolution 50ms;',
               'QUIT', 'accept_mutex on;' ])
{
    my ($name, $directives, $signal, $events) = @$row;

    start_as($directives, $events);

    ok($s->wait_healthy, "$name: healthy");
    one_helper("$name: there is a helper");
    ok(known(1), "$name: it works");
    is(scalar zombies(), 0, "$name: no zombie");
    ends($signal, $name);
}


# --- a log that is a socket -------------------------------------------------

my $syslog = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1')
    or die "$!\n";

sub syslog_says {
    my ($text) = @_;

    return wait_for {
        $syslog->recv(my $line, 4096, MSG_DONTWAIT);
        ($line // '') =~ /$text/;
    };
}

$n->{main} = 'error_log syslog:server=127.0.0.1:' . $syslog->sockport
             . " info;\n";
start_as('daemon off;');
$pid = one_helper('with syslog');
ok(syslog_says("$pid#$pid: webhook helper process started"),
   'syslog: the helper starts');
$s->redis->command('RPUSH svc.webhook2.queue x');
ok(syslog_says("$pid#$pid: a damaged webhook delivery"), 'and goes on');
ends('QUIT', 'syslog');
ok(syslog_says("$pid#$pid: webhook helper process ends"), 'and ends');
delete $n->{main};


# --- binary upgrade, of a daemon --------------------------------------------

start_as('daemon on;');
$pid = one_helper('a helper of the old binary');

my $old = $n->pid;

signal_pid('USR2', $old);

my $new = wait_for { master() && master() != $old && master() };

ok($new, 'a new master');
ok((wait_for { $n->helper_pids == 2 }), 'two helpers meanwhile');
signal_pid('WINCH', $old);
$pid = one_helper('the old one ends with its workers', $pid);
signal_pid('QUIT', $old);
is(wait_exit($old), 0, 'the old master ends');
$n->take_pid($new);
is(one_helper('the helper stays'), $pid, 'it is that one');
ends('QUIT', 'after the upgrade');
delete $n->{pid};


# --- more webhooks at a time than connections ---------------------------------

# an error_log without a level, as in Debian's configuration, hides warnings

$n->{connections} = 100;
(my $conf = $n->configuration) =~ s/^(error_log \S+) info;$/$1;/m or die;
$n->write_configuration($conf);
($status, $text) = $n->test_configuration;
is($status, 0, 'few worker_connections: a warning');
like($text, qr/"svc_webhook_concurrency 512" needs "worker_connections" of 544/,
     'that says how many are needed');

$s->done(allow => [
    qr/\[alert\] .* (?:unknown|worker) process \d+ exited on signal 9/,
    qr/\[alert\] .* webhook helper process \d+ has hung for 15 s/
]);
done_testing();
