#!/usr/bin/perl

# Compares /v1/admin/security-stats and /growth-stats with counts of the rows;
# and tests that the sweep counts each sign-in once, whatever happens to it.

use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP ();
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(slow wait_for);


my %SVC = (svc_sign_in => 'on', svc_password_hash => 'queue=1024 timeout=60s',
           svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0',
                        'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                        'LOGIN_LOCKOUT_MAX 3' ]);

my $s = SvcTest->new(workers => 2, svc => { %SVC })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $token = $acme->token_for('audit:view,users:view');
my $theirs = $globex->token_for('audit:view,users:view');
my $t = "'$acme->{id}'";

$s->secret($PASSWORD);


sub stats {
    my ($kind, $days, $tenant) = @_;

    my $r = ($tenant // $acme)->admin(GET => "/$kind-stats" . ($days ? "?days=$days" : ''),
                                      undef, [], $tenant ? $theirs : $token);

    is($r->status, 200, "$kind-stats") or diag($r->body);

    return $r->json;
}


# These functions sweep as a worker does, or wait until a worker has swept.

sub swept { ok($s->sweep, 'all is swept up') }

sub swept_by_worker {
    ok((wait_for { !$s->sql('SELECT count(*) FROM svc.sign_in_event') }),
       'a worker sweeps all up');
}


sub login {
    my ($who, $password, %opt) = @_;

    return SvcTest::Browser->new($s, tenant => 'acme', %opt)
           ->login("$who\@acme.test", $password);
}


sub day { return scalar $s->sql("SELECT to_char(now() AT TIME ZONE 'UTC' - interval '$_[0] d',"
                         . " 'YYYY-MM-DD')") }


# Returns SQL for $n events of a kind and a time, without sign-ins.

sub events {
    my ($n, $kind, $at) = @_;

    return 'INSERT INTO svc.sign_in_event (tenant_id, at, kind) SELECT'
           . " $t, @{[ $at // 'now()' ]}, '$kind' FROM generate_series(1, $n)";
}


# --- permissions, and parameters -------------------------------------------------

$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ($t, 'auditor', 'Auditor', '{audit:view}')");

with_password($s, $acme, userName => 'vera@acme.test', role => 'auditor');
with_password($s, $acme, userName => 'olga@acme.test', role => 'owner');

my %needs = ('security-stats' => 'audit:view', 'growth-stats' => 'users:view');

for my $route (sort keys %needs) {
    my $others = join ',', grep { $_ ne $needs{$route} }
                 qw(audit:view users:view tenant:manage members:manage);

    admin_error($acme->admin(GET => "/$route", undef, [], $acme->token_for($others)),
                403, 'forbidden', "$route without its permission");

    for my $days (qw(0 91 x -1 1.5 +1 1e1 99999999999999999999), '', ' 1') {
        (my $escaped = $days) =~ s/ /%20/;
        admin_error($acme->admin(GET => "/$route?days=$escaped", undef, [], $token), 400,
                    'invalid_request', "$route of '$days' days");
    }

    admin_error($acme->admin(GET => "/$route?days=1&days=2", undef, [], $token), 400,
                'invalid_request', "$route of two");
}

my $session = SvcTest::Browser->new($s, tenant => 'acme');

is($session->login('vera@acme.test')->status, 200, 'a session of an auditor');
is($session->get('/v1/admin/security-stats')->status, 200, 'is shown sign-ins');
admin_error($session->get('/v1/admin/growth-stats'), 403, 'forbidden', 'and no users');

my $owners = SvcTest::Browser->new($s, tenant => 'acme');

is($owners->login('olga@acme.test')->status, 200, 'one of an owner');
is($owners->get("/v1/admin/$_")->status, 200, $_) for sort keys %needs;

for my $days (1, 2, 30, 90) {
    my $sums = stats('security', $days);

    is_deeply($sums->{period}, { from => day($days - 1), to => day(0) }, "$days days");
    is_deeply([ map { $_->{date} } @{ $sums->{series} } ],
              [ map { day($_) } reverse 0 .. $days - 1 ], 'each of them');
}

is(scalar @{ stats('growth')->{series} }, 30, 'thirty, when nobody says');


# --- sign-ins, as there are of them ------------------------------------------------

my @users = map { with_password($s, $acme, userName => "user$_\@acme.test") } 1 .. 5;

is(login("user$_")->status, 200, "user$_") for 1, 1, 2, 3;
is(login("user$_", 'wrong')->status, 401, "user$_ fails") for 1, 2, 4, 4;
is(login('user4', 'wrong')->status, 429, 'and is locked');
is(login('nobody', 'wrong')->status, 401, 'nobody fails') for 1, 2;
is(login('nobody', 'wrong')->status, 429, 'which locks nobody');
$s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ($t, '127.0.0.7'),"
        . " ($t, '127.0.0.8')");
$s->sql("INSERT INTO svc.ip_block (tenant_id, ip, expires_at) VALUES ($t, '127.0.0.9',"
        . " now() - interval '1 s')");
is(login('user5', $PASSWORD, local => '127.0.0.7')->status, 403, 'denied');
$s->sql("UPDATE svc.user_account SET mfa_enrolled = true WHERE user_name LIKE 'user_@%'"
        . " AND user_name > 'user4'");
swept_by_worker();

# counts the sign-ins themselves, of any day

sub oracle {
    my ($outcome, $where) = @_;

    return scalar $s->sql("SELECT count(*) FROM svc.sign_in WHERE tenant_id = $t"
                   . " AND outcome = '$outcome'" . ($where ? " AND $where" : ''));
}

my $sums = stats('security', 1);

is($sums->{signIns}{success}, oracle('success'), 'successes');
is($sums->{signIns}{success}, 6, 'which were six');
is($sums->{signIns}{failure}, oracle('failure'), 'failures');
is($sums->{signIns}{failure}, 8, 'which were eight');
is($sums->{lockouts}, 1, 'an account was locked');
is($sums->{denied}, 1, 'one was denied');
is($sums->{blockedIps}, 2, 'addresses are blocked');
is($sums->{rateLimited}, 0, 'nobody has come to a limit');
is($sums->{openAnomalies}, 0, 'no anomalies');
is_deeply($sums->{mfa}, { enrolled => 2, total => 7 }, 'second factors');
is_deeply($sums->{series}, [ { date => day(0), success => 6, failure => 8 } ], 'today');

my $none = stats('security', 1, $globex);

is_deeply($none->{signIns}, { success => 0, failure => 0 }, 'of another tenant nothing');
is_deeply($none->{mfa}, { enrolled => 0, total => 0 }, 'nor users');

# known values, from which the risk of the next sign-in is computed

is_deeply([ map { "@$_" } $s->sql('SELECT kind, value FROM svc.user_seen WHERE user_id ='
                                  . " '$users[0]{id}' ORDER BY kind") ],
          [ 'agent firefox linux', 'network 127.0.0.0/24' ], 'known are');
is($s->sql("SELECT string_agg(host(ip), ' ') FROM svc.sign_in_address"), '127.0.0.1',
   'and of the tenant');

# sign-ins are deleted, and their counts stay

$s->sql("UPDATE svc.sign_in SET at = at - interval '91 days'");
$s->sql('SELECT svc.sign_in_expire(1000, 900)');
is(oracle('success'), 0, 'sign-ins are deleted');
is_deeply(stats('security', 1)->{signIns}, $sums->{signIns}, 'they are counted still');


# --- users: new ones, and active ones ---------------------------------------------

# counts the users who have signed in within the last days

sub active {
    my ($days) = @_;

    return scalar $s->sql("SELECT count(*) FROM svc.user_account WHERE tenant_id = $t AND"
                   . " last_active_day > (now() AT TIME ZONE 'UTC')::date - $days");
}


sub active_ok {
    my ($name, $daily, $weekly, $monthly) = @_;
    my $growth = stats('growth', 1);

    is_deeply($growth->{activeUsers}, { daily => active(1), weekly => active(7),
                                        monthly => active(30) }, $name);
    is_deeply($growth->{activeUsers}, { daily => $daily, weekly => $weekly,
                                        monthly => $monthly }, "$name: so many");
    is($growth->{series}[0]{activeUsers}, $daily, 'today');
}

active_ok('five have signed in today', (5) x 3);

# as if some users had signed in before

for my $before ([ user1 => 3 ], [ user2 => 6 ], [ user3 => 7 ], [ vera => 30 ]) {
    my ($who, $days) = @$before;

    $s->sql("UPDATE svc.user_account SET last_active_day = last_active_day - $days"
            . " WHERE user_name = '$who\@acme.test'");
    $s->sql("UPDATE svc.active_day SET users = users - 1 WHERE tenant_id = $t AND"
            . " day = (now() AT TIME ZONE 'UTC')::date");
    $s->sql('UPDATE svc.stat_day SET active_users = active_users - 1 WHERE tenant_id'
            . " = $t AND day = (now() AT TIME ZONE 'UTC')::date AND shard = -1");
    $s->sql('INSERT INTO svc.active_day VALUES'
            . " ($t, (now() AT TIME ZONE 'UTC')::date - $days, 1)");
}

active_ok('who was here, and when', 1, 3, 4);
is(login("user$_")->status, 200, "user$_ is here again") for 1, 1, 3;
swept();
active_ok('who comes again is counted today', 3, 4, 4);

# counts the users by the day of their creation

sub created {
    my ($days) = @_;

    return scalar $s->sql("SELECT count(*) FROM svc.user_account WHERE tenant_id = $t AND"
                   . " created_at >= date_trunc('day', now(), 'UTC')"
                   . " - make_interval(days => $days - 1)");
}


sub added_ok {
    my ($name) = @_;
    my $growth = stats('growth', 90);

    is_deeply($growth->{newUsers}, { today => created(1), last7Days => created(7),
                                     last30Days => created(30) }, "$name: new users");
    is($growth->{totalUsers}, $s->sql('SELECT count(*) FROM svc.user_account WHERE'
                                      . " tenant_id = $t"), "$name: all");
    is_deeply({ map { $_->{newUsers} ? ($_->{date} => $_->{newUsers}) : () }
                    @{ $growth->{series} } },
              { map { @$_ } $s->sql(
                    "SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'),"
                    . " count(*)::int FROM svc.user_account WHERE tenant_id = $t AND"
                    . " created_at >= date_trunc('day', now(), 'UTC')"
                    . " - interval '89 days' GROUP BY 1") }, "$name: each day");
}

added_ok('those who were made');

# over midnight, in both directions, in transactions of their own and in one

my $midnight = "date_trunc('day', now(), 'UTC')";
my @times = ("$midnight - interval '2 days 1 ms'", "$midnight - interval '2 days'",
             "$midnight - interval '1 ms'", $midnight, "$midnight - interval '7 days'",
             "$midnight - interval '7 days'", "$midnight - interval '6 days'",
             "$midnight - interval '200 days'", 'now()', 'now()');
my @sessions = map { $s->connect_as('postgres') } 1 .. 4;

for my $i (0 .. 2 * $#times) {
    $sessions[$i % 4]->query('INSERT INTO svc.user_account (tenant_id, id, user_name,'
        . " created_at) VALUES ($t, gen_random_uuid(), 'made$i',"
        . " $times[$i % @times])");
}

added_ok('at any time');
$s->sql('SELECT svc.user_recount()');
added_ok('counted again');
is(stats('security', 1)->{mfa}{enrolled}, 2, 'with their factors');
$s->sql("DELETE FROM svc.user_account WHERE user_name = 'user5\@acme.test'");
is(stats('security', 1)->{mfa}{enrolled}, 1, 'one has gone');
is($acme->create(userName => 'last@acme.test')->{active}, JSON::PP::true(), 'one more');
is(stats('growth', 1)->{newUsers}{today}, created(1) + 1, 'who has gone was new');


# --- over midnight ------------------------------------------------------------------

my %before = %{ stats('security', 2)->{signIns} };

$s->sql(events(3, 'success', "$midnight - interval '1 ms'"));
$s->sql(events(5, 'success', $midnight));
$s->sql(events(7, 'failure', "$midnight - interval '1 day'"));
$s->sql(events(9, 'failure', "$midnight - interval '1 day 1 ms'"));
$s->sql(events(2, 'rate_limited', $midnight));
swept();
$sums = stats('security', 2);
is($sums->{signIns}{success}, $before{success} + 8, 'each on its day');
is($sums->{signIns}{failure}, $before{failure} + 7, 'and none of before');
is_deeply([ @{ $sums->{series}[0] }{qw(success failure)} ], [ 3, 7 ], 'yesterday');
is($sums->{rateLimited}, 2, 'limits');


# --- each event counts once ------------------------------------------------------------

sub counted { return stats('security', 1)->{signIns}{success} }


sub more_ok {
    my ($n, $before, $name) = @_;

    is(counted() - $before, $n, $name);
}

# one commits late, when later events have been swept already

my $late = $s->connect_as('svc_app');
my $before = counted();

$late->query('BEGIN');
$late->query("SELECT set_config('svc.tenant', $t, true)");
$late->query(events(1, 'success'));
$s->sql(events(10, 'success'));
swept();
more_ok(10, $before, 'those that are committed');
$late->query('COMMIT');
swept();
more_ok(11, $before, 'and the one that is late');

# a worker, or its connection, is killed in the middle of a sweep

for my $fault (qw(worker connection)) {
    $before = counted();

    my $lock = $s->connect_as('postgres');

    $lock->query('BEGIN');
    $lock->query("SELECT FROM svc.stat_day WHERE tenant_id = $t FOR UPDATE");
    $s->sql(events(1000, 'success'));

    my $who = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%sign_in_sweep(%'"
              . " AND wait_event_type = 'Lock' AND usename = 'svc_app'";

    ok((wait_for { $s->sql($who) }), 'a sweep is under way');

    if ($fault eq 'worker') {
        $s->nginx->kill_worker('KILL', $_) for $s->workers;
    } else {
        $s->sql("SELECT pg_terminate_backend(($who))");
    }

    $lock->query('ROLLBACK');
    swept_by_worker();
    more_ok(1000, $before, "a $fault is killed: each once");
}

# two nodes, and more events than one round takes

my $node = $s->node(svc => { %SVC });

$before = counted();
$s->sql(events(1500, 'success')) for 1 .. 3;
swept_by_worker();
more_ok(4500, $before, 'two nodes');
$node->quit;

# of the hits of a limit only the first one is written to PostgreSQL

my $tight = $s->node(svc => { %SVC, svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 2' ] });
my $limits = stats('security', 1)->{rateLimited};

is(login('user3', $PASSWORD, port => $tight->{port}, local => '127.0.0.5')->status, $_,
   "with a limit: $_") for 200, 200;
login('nobody', 'wrong', port => $tight->{port}, local => '127.0.0.5') for 1 .. 6;
ok((wait_for { $acme->events_where("action = 'rate_limit.exceeded'", 'id') }),
   'is written down');
swept_by_worker();
is(stats('security', 1)->{rateLimited}, $limits + 1, 'once in its window');
$tight->quit;

# events of a user who is locked wait, and those of others do not

$before = counted();

my $busy = $s->connect_as('postgres');

$busy->query('BEGIN');
$busy->query("SELECT FROM svc.user_account WHERE id = '$users[1]{id}' FOR UPDATE");
$s->sql('INSERT INTO svc.sign_in_event (tenant_id, at, kind, user_id, network) VALUES'
        . " ($t, now(), 'success', '$users[1]{id}', '192.0.2.0/24')");
$s->sql(events(2, 'success'));
ok((wait_for { $s->sql('SELECT count(*) FROM svc.sign_in_event') == 1 }),
   'one waits');
more_ok(2, $before, 'others do not');
$busy->query('ROLLBACK');
swept();
more_ok(3, $before, 'until it may go');
is($s->sql("SELECT count(*) FROM svc.user_seen WHERE user_id = '$users[1]{id}'"
           . " AND value = '192.0.2.0/24'"), 1, 'with what is known of it');

# the sign-in of a deleted user counts; for a deleted tenant nothing does

$s->sql('INSERT INTO svc.sign_in_event (tenant_id, at, kind, user_id, ip, network)'
        . " VALUES ($t, now(), 'success', gen_random_uuid(), '192.0.2.9', '192.0.2.0/24'),"
        . " (gen_random_uuid(), now(), 'success', NULL, NULL, NULL)");
swept();
more_ok(4, $before, 'a sign-in of who has gone');
is($s->sql("SELECT count(*) FROM svc.sign_in_address WHERE ip = '192.0.2.9'"), 0,
   'leaves nothing else');


# --- what it costs -----------------------------------------------------------------------

# The pages that a statement reads, however many sign-ins and users there are.

my $texts = SvcBench::Statements::read_all($s->root);
my $db = $s->connect_as('svc_app');

$db->query("SELECT set_config('svc.tenant', $t, false)");
$db->query("PREPARE $_ (int) AS $texts->{$_}{text}")
    for qw(admin_security_stats admin_growth_stats);

sub cost {
    my ($name) = @_;

    $db->query("EXECUTE $name (90)");

    my $plan = join "\n", map { $_->[0] } @{ $db->query(
        "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE $name (90)") };
    my ($buffers) = $plan =~ /Buffers: (.*)/;
    my $pages = 0;

    $pages += $1 while ($buffers // '') =~ /\b(?:hit|read)=(\d+)/g;

    return ($pages, grep { /\A(?:sign_in|sign_in_event|user_account)\z/ }
                    $plan =~ / on (\w+)/g);
}

my %few = map { $_ => (cost($_))[0] } qw(admin_security_stats admin_growth_stats);

$s->sql("INSERT INTO svc.sign_in (tenant_id, at, ip) SELECT $t, now()"
        . " - i * interval '1 minute', '192.0.2.1' FROM generate_series(1, 20000) i");
$s->sql('SET session_replication_role = replica; INSERT INTO svc.user_account'
        . " (tenant_id, id, user_name) SELECT $t,"
        . " gen_random_uuid(), 'more' || i FROM"
        . " generate_series(1, 20000) i; SET session_replication_role = origin;"
        . ' SELECT svc.user_recount()');

for my $name (sort keys %few) {
    my ($pages, @tables) = cost($name);

    cmp_ok($pages, '<=', $few{$name} * 1.3 + 8, "$name of 20,000 more of each");
    is_deeply(\@tables, [], 'it looks at none of them');
}


# --- when it cannot be done -------------------------------------------------------------

sub lines {
    my ($pattern) = @_;

    return scalar(() = grep { /$pattern/ } $s->nginx->log_lines);
}

my $failed = lines('sign-ins cannot be counted: ');

my $rounds = () = $s->pg->errors;

$s->sql('REVOKE EXECUTE ON FUNCTION svc.sign_in_sweep FROM svc_app');
ok((wait_for { lines('sign-ins cannot be counted: .*permission') }), 'is logged');
$s->sql(events(1, 'success'));
ok((wait_for { (() = $s->pg->errors) >= $rounds + 3 }), 'two more rounds');
is(lines('sign-ins cannot be counted: ') - $failed, 1, 'once');
$s->sql('GRANT EXECUTE ON FUNCTION svc.sign_in_sweep TO svc_app');
ok((wait_for { lines('no longer: sign-ins cannot be counted') }),
   'and that it can again');
swept_by_worker();

$s->reload;
$s->sql(events(1, 'success'));
swept_by_worker();
is(lines('sign-ins cannot be counted: ') - $failed, 1, 'a reload is no failure');

$s->done(allow => [ qr/sign-ins cannot be counted/,
                    qr/connection to PostgreSQL was lost/, qr/signal 9/ ]);
done_testing();
