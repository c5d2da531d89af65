#!/usr/bin/perl

# Follows the chapter about high availability: runs its commands on three hosts and a
# balancer, and its faults under creates at a rate. All that was answered with 201
# must be there once.

use strict;
use warnings;

use Cwd ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest::Documents qw(section);
use SvcTest::Hosts;
use SvcTest::Json qw(json);
use SvcTest::Process qw(run spawn wait_for wait_exit signal_pid slurp slow);
use SvcTest::Skip;

needs(program => 'curl ip make');

skip_built_in();

my $CHAPTER = 'conf/ha/README.md';
my $HOST = qr/(?:pg\d|balancer|primary|former)/;
my @PACKAGES = qw(patroni etcd-server etcd-client haproxy pgbouncer);
my $JSON = json();

if (my $why = SvcTest::Hosts::missing()) {
    skip_file($why);
}

if (my @missing = grep { system("dpkg -s $_ >/dev/null 2>&1") } @PACKAGES) {
    skip_file("packages that are not installed: @missing: conf/deps.sh ha, or"
              . ' make test-ha');
}

my @pg = qw(pg1 pg2 pg3);
my $hosts = SvcTest::Hosts->new(balancer => 10, pg1 => 11, pg2 => 12,
                                pg3 => 13);
my %up = map { $_ => 1 } @pg;
my $leader;


# --- the chapter's commands ---------------------------------------------------

# Returns the blocks below a heading: pairs of the hosts that a block is for, and its
# text.

sub blocks {
    my ($heading) = @_;

    my $text = section($CHAPTER, $heading);
    my @found;

    while ($text =~ /^((?: {4}.*\n|\n(?= {4}))+)/mg) {
        for my $block (split /^\n(?= {4}# $HOST\b)/m, $1) {
            my ($for) = $block =~ /\A {4}# ((?:$HOST\b ?)+)\n/ or next;

            push @found, [ [ split ' ', $for ], $block =~ s/^ {4}//mgr ];
        }
    }

    return @found;
}


# Does "Copy `/root/a` and `/root/b` to ...", which the document leaves to its reader.

sub copies {
    my ($heading) = @_;

    return map { m{`(/root/[\w.]+)`}g } grep { /^Copy / }
           split /\n\n/, section($CHAPTER, $heading);
}


sub copy {
    my ($from, $file) = @_;

    my ($status, $text) = $hosts->{$from}->sh("cat $file 2>/dev/null");

    return if $status != 0;

    for my $name (grep { $_ ne $from } @{ $hosts->{names} }) {
        SvcTest::Process::write_file("$hosts->{$name}{share}/copy", $text);
        $hosts->{$name}->passes("umask 077; cp /mnt/copy $file",
                                "$file, $name");
    }

    return 1;
}


# Runs block after block, each on its hosts at once, or with "each" on one after
# another. "primary" and "former" are the hosts that have these roles now.

sub follow {
    my ($heading, %opt) = @_;

    my @files = copies($heading);
    my @said;

    for my $block (blocks($heading)) {
        my ($names, $script) = @$block;
        $names = [ map { $opt{$_} // $_ } @$names ];

        my $primary = $hosts->{address}{ $opt{primary} // '' };
        $script =~ s/(?<=host=)10\.1\.0\.11(?= )/$primary/ if $opt{former};

        my ($title) = $script =~ /\A.*\n(.{1,50})/;
        my @rounds = $opt{each} ? map { [ $_ ] } @$names : $names;
        my $said = eval {
            +{ map { %{ $hosts->all("set -e\n$script", @$_) } } @rounds };
        };

        ok($said, "$heading, @$names: $title") or diag($@);
        die "the chapter cannot be followed\n" if !$said;

        push @said, values %{ $said // {} };
        @files = grep { !copy($names->[0], $_) } @files;
    }

    return join '', @said;
}


# --- what Patroni says --------------------------------------------------------

sub members {
    for my $name (grep { $up{$_} } @pg) {
        my ($status, $text) = $hosts->{$name}->sh(
            "curl -sm 2 http://$hosts->{address}{$name}:8008/cluster");

        return @{ $JSON->decode($text)->{members} }
            if $status == 0 && $text =~ /\A\{/;
    }

    return;
}


sub who {
    my ($role) = @_;

    return (map { $_->{name} } grep { $_->{role} eq $role } members())[0];
}


# Checks that one server leads, one confirms, and another one follows, on one
# timeline.

sub whole {
    my @members = members();
    my %role;

    for my $member (@members) {
        $role{ $member->{role} }++ if $member->{state} eq 'running';
        return if ($member->{timeline} // 0) != ($members[0]{timeline} // -1);
    }

    return ($role{leader} // 0) == 1 && ($role{sync_standby} // 0) == 1
           && ($role{replica} // 0) == 1;
}


sub sql {
    my ($name, $sql) = @_;

    my ($status, $text) = $hosts->{$name}->sh(
        "cd /; runuser -u postgres -- psql -XAtd svc -c \"$sql\" 2>&1");

    chomp $text;

    return $status == 0 ? $text : "failed: $text";
}


# Runs a command as PgBouncer's administrator.

sub admin {
    my ($command, $seconds) = @_;

    return $hosts->{balancer}->sh('cd /; timeout ' . ($seconds // 20)
        . ' runuser -u postgres -- psql -XAt -h /run/postgresql -p 6432'
        . " -U pgbouncer -c '$command' pgbouncer");
}


# --- creates ------------------------------------------------------------------

my ($creates, $file);

sub start_creates {
    my ($token) = @_;

    $file = "$hosts->{balancer}{dir}/creates";
    $creates = spawn([ 'nsenter', "--net=/proc/$hosts->{balancer}{init}/ns/net",
                       $^X, Cwd::getcwd() . '/t/lib/creates', '10.1.0.10', 80,
                       $token, 60, 6, $file ], out => "$file.log");
}


# Returns all creates up to now: user, status, begin, end, id.

sub attempts {
    return map {
        map { [ split ' ' ] } grep { /\n\z/ } split /(?<=\n)/, slurp($_) // ''
    } glob "$file.[0-9]*";
}


sub going {
    my ($since) = @_;

    return wait_for {
        10 <= grep { $_->[1] eq '201' && $_->[3] > $since } attempts();
    } 60;
}


# Prints what clients saw since $from: the seconds without a write, and the number of
# each status.

sub seen {
    my ($what, $from) = @_;

    my $now = time;
    my (%status, @good, $gap);

    for my $attempt (attempts()) {
        my (undef, $status, undef, $end) = @$attempt;

        next if $end < $from || $end > $now;
        $status{$status}++;
        push @good, $end if $status eq '201';
    }

    my $last = $from;

    for my $end (sort { $a <=> $b } @good) {
        $gap = $end - $last if $end - $last > ($gap // 0);
        $last = $end;
    }

    note(sprintf '%s: %.1f s without a write, of %.1f; %s', $what, $gap,
         $now - $from, join ', ', map { "$status{$_} x $_" } sort keys %status);

    return ($gap, \%status);
}


# --- setting up ---------------------------------------------------------------

my $began = time;
my $root = "$hosts->{balancer}{dir}/root";
my ($status, $text) = run([ 'make', '--no-print-directory', 'install',
                            "DESTDIR=$root" ], cwd => Cwd::getcwd());

is($status, 0, 'make install') or diag($text);

# The chapter counts with this number of workers, on whatever machine this is.
my $few = 'sed -i "s/^worker_processes .*/worker_processes 2;/"'
          . ' /etc/nginx/nginx.conf';

for my $name (@{ $hosts->{names} }) {
    run([ 'cp', '-a', $root, "$hosts->{$name}{share}/root" ]);
}

$hosts->all("set -e; cp -a /mnt/root/. /; $few", @{ $hosts->{names} });

$text = follow('Setting up');
my ($token) = $text =~ /\b(scim_[\w-]{43})\b/ or die "no token: $text\n";

# A worker that has just started may have one pool's connections before the other's.

sub well {
    my ($url, @names) = @_;

    my $said = $hosts->all("curl -sS $url/healthz", @names);

    return !grep { !/"status":"ok","postgres":"up","redis":"up"/ } values %$said;
}

ok((wait_for { well('http://localhost:8080', qw(pg2 pg3)) && well('http://localhost',
                                                                  'balancer') }),
   'all nodes are well, and so is the balancer');
ok((wait_for { whole() } 60), 'one leads, one confirms, one follows');

my $first = who('leader');
is($first, 'pg1', 'pg1 leads');
note(sprintf 'set up in %.1f s', time - $began);

my $start = time;
start_creates($token);
ok(going($start), 'users are created');


# --- nodes, one after another -------------------------------------------------

my $from = time;

follow('Reloading and upgrading nodes', each => 1);
going(time);
my ($gap, $seen) = seen('nodes reloaded and restarted', $from);
is_deeply([ keys %$seen ], [ 201 ],
          'of nodes that are reloaded nobody notices');


# --- the standby that confirms is silent --------------------------------------

my $standby = who('sync_standby');

$from = time;
$hosts->freeze($standby);
$up{$standby} = 0;
ok((wait_for { (who('sync_standby') // $standby) ne $standby } 60),
   'another standby confirms');
ok(going(time), 'and users are created');
my ($waited) = seen('the synchronous standby silent', $from);
cmp_ok(sql($first, 'SELECT count(*) FROM pg_stat_activity'), '<', 200,
       'PostgreSQL has connections left');
$hosts->thaw($standby);
$up{$standby} = 1;
ok((wait_for { whole() } 60), 'it is back');


# --- switchover ---------------------------------------------------------------

$from = time;
follow('Switchover');
ok((wait_for { (who('leader') // $first) ne $first } 60), 'another one leads');
ok(going(time), 'and users are created');
seen('switchover', $from);
ok((wait_for { whole() } 60), 'all are there');


# --- failover -----------------------------------------------------------------

my $second = who('leader');

$from = time;
$hosts->power_off($second);
$up{$second} = 0;
ok((wait_for { (who('leader') // $second) ne $second } 90),
   'the host of the primary is lost: another one leads');
ok(going(time), 'and users are created');
seen("$second powered off", $from);

$hosts->power_on($second);
$hosts->all('service etcd start; service nginx start', $second);
note(follow('Failover', primary => who('leader'), former => $second));
$up{$second} = 1;
ok((wait_for { whole() } 60), 'it comes back, and follows');


# --- fencing ------------------------------------------------------------------

my $third = who('leader');

$from = time;
$hosts->freeze($third);
$up{$third} = 0;
ok((wait_for { (who('leader') // $third) ne $third } 90),
   'the primary\'s host stands still: another one leads');
ok(going(time), 'and users are created');
$hosts->thaw($third);
$up{$third} = 1;
ok((wait_for { sql($third, 'SELECT pg_is_in_recovery()') eq 't' } 60),
   'it goes on, and is no primary any more');
ok(going(time), 'users are created');
seen("$third frozen, and thawed", $from);
ok((wait_for { whole() } 60), 'it follows');


# --- PgBouncer ----------------------------------------------------------------

my $fourth = who('leader');

follow('PgBouncer', primary => $fourth);
ok((wait_for {
        my ($status, $pool) = admin('SHOW POOLS');
        (($pool =~ /^svc\|svc_app\|(\d+)\|/m)[0] // 0) >= 2 * 18;
    } 60), 'nodes are connected through PgBouncer');
ok(going(time), 'users are created');

$from = time;
is((admin('PAUSE svc', 2))[0] >> 8, 124, 'PAUSE does not end');
is((admin($_))[0], 0, $_) for 'RESUME svc', 'KILL svc', 'RESUME svc';
ok(going(time), 'KILL does, and users are created');
seen('KILL and RESUME', $from);

$from = time;
follow('Switchover');
ok((wait_for { (who('leader') // $fourth) ne $fourth } 60),
   'another one leads');
ok(going(time), 'and users are created, through PgBouncer');
seen('switchover with PgBouncer', $from);
ok((wait_for { whole() } 60), 'all are there');


# --- either standby may confirm -----------------------------------------------

follow('Standbys that confirm');
$leader = who('leader');
ok((wait_for {
        sql($leader, q{SELECT count(*) FROM pg_stat_replication
                        WHERE sync_state = 'quorum'}) eq '2'
    } 60), 'either of two standbys confirms');
going(time);

($standby) = grep { $_ ne $leader } @pg;
$from = time;
$hosts->freeze($standby);
$up{$standby} = 0;
ok((wait_for {
        sql($leader, 'SELECT count(*) FROM pg_stat_replication') eq '1'
    } 60), 'one is silent, until it is given up');
going(time);
($gap, $seen) = seen('one of two silent', $from);
cmp_ok($gap, '<', $waited, 'and nobody has waited for it as before');
$hosts->thaw($standby);
$up{$standby} = 1;


# --- nothing lost, nothing twice ----------------------------------------------

signal_pid('TERM', $creates);
ok(defined wait_exit($creates), 'the senders end');
is(slurp("$file.log"), '', 'without a word');

my %there = map { $_ => 1 } split /\n/, sql($leader, <<'EOT');
SELECT id FROM svc.user_account WHERE user_name LIKE '%@load.test'
EOT
my @good = map { $_->[4] } grep { $_->[1] eq '201' } attempts();

cmp_ok(scalar @good, '>', 500, 'many were acknowledged: ' . @good);
is(scalar(grep { !$there{$_} } @good), 0, 'none of them is lost');
is(sql($leader, <<'EOT'), 0, 'and none was made twice');
SELECT count(*) - count(DISTINCT target_id) FROM svc.audit_event
 WHERE target_type = 'user' AND action LIKE '%create%'
EOT
is(sql($leader, <<'EOT'), scalar keys %there, 'each has its audit event');
SELECT count(*) FROM svc.audit_event e JOIN svc.user_account u
    ON u.tenant_id = e.tenant_id AND u.id::text = e.target_id
 WHERE action LIKE '%create%' AND user_name LIKE '%@load.test'
EOT

note(sprintf 'all of it in %.1f s', time - $began);

done_testing();
