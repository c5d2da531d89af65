#!/usr/bin/perl

# Shows that the sweep finds the anomalies of agents that an oracle in another
# language finds, t/oracle/anomaly_oracle.py, in random histories and in any number of
# rounds. SVC_TEST_SEED takes other histories, SVC_TEST_AGENTS more agents.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(run_apart slurp);
use SvcTest::Skip;

needs(program => 'python3');


my $seed = $ENV{SVC_TEST_SEED} // 20261123;
my $agents = $ENV{SVC_TEST_AGENTS} // 30;

my $s = SvcTest->new(redis => 0);

$s->{pg}->create;

my $acme = $s->tenant('acme');
my $COLUMNS = 'tenant_id, jti, issued_at, client_id, user_id, chain, principals,'
              . ' grant_type, scopes, ttl, ip, country';


# Takes all tokens older than $lag, in rounds of $most. Returns how many were taken,
# and what was raised.

sub sweep {
    my ($db, $lag, $most) = @_;
    my ($taken, @raised) = (0);

    for (;;) {
        my ($first, @more) = @{ $db->query(
            "SELECT * FROM svc.agent_sweep(($lag)::bigint, $most)") };

        $taken += $first->[0];
        push @raised, map { [ @$_[1, 2] ] } @more;
        last if $first->[0] == 0;
    }

    return ($taken, @raised);
}


my @ids = map { sprintf 'agt_%032x', $_ } 0 .. $agents - 1;
my ($tokens, $cuts, $expected) = map { "$s->{dir}/$_" } qw(tokens cuts expected);
my $start = (int(time / 86400) - 231) * 86400;

$acme->add_applications(agent => @ids);
is(system('python3', $s->root . '/t/oracle/anomaly_oracle.py', $seed, $agents, $start,
          $acme->{id}, $tokens, $cuts, $expected), 0, "the oracle, with the seed $seed");

my ($status, $out, $err) = run_apart([ 'psql', '-Xqd', $s->pg->conninfo('postgres'), '-c',
                                       "\\copy svc.oauth_token ($COLUMNS) FROM $tokens" ]);

is("$status$err", '0', 'tokens');
$s->sql("UPDATE svc.agent_sweep SET swept_to = to_timestamp($start - 1)");

my $app = $s->connect_as('svc_app');
my ($taken, $rounds, @raised) = (0, 0);

srand $seed;

for my $cut (split /\n/, slurp($cuts)) {
    my ($n, @more) = sweep($app, "trunc(extract(epoch from now()) * 1000) - $cut",
                           (50, 1000, 10000)[rand 3]);

    $taken += $n;
    push @raised, @more;
    $app->query('SELECT svc.oauth_expire(1000)') if $rounds++ % 10 == 0;
}

my @got = map { join ' ', @$_ } $s->sql(
    'SELECT client_id, type, key, severity, occurrences FROM svc.agent_anomaly'
    . ' ORDER BY client_id, type, key');
my @want = sort split /\n/, slurp($expected);
my %got = map { $_ => 1 } @got;
my %want = map { $_ => 1 } @want;

is($taken, $s->sql('SELECT count(*) FROM svc.oauth_token'), 'each token was looked at');
cmp_ok(scalar @want, '>', 5 * $agents, 'and found unusual, often enough');
is_deeply([ grep { !$got{$_} } @want ], [], 'nothing is missing');
is_deeply([ grep { !$want{$_} } @got ], [], 'and nothing is there besides');
is_deeply([ map { "@$_" } sort { $a->[1] cmp $b->[1] } @raised ],
          [ map { "$acme->{id} " . (split / /)[1] }
                sort { (split / /, $a)[1] cmp (split / /, $b)[1] } @want ],
          'each was told of once');

for my $kind (qw(token_burst new_ip new_country off_hours new_subject)) {
    cmp_ok(scalar(grep { / $kind / } @want), '>', 3, "$kind is among them");
}

for my $severity (qw(low medium high)) {
    cmp_ok(scalar(grep { / $severity \d+$/ } @want), '>', 3, "$severity, too");
}

is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'agent.anomaly_raised'"
           . " AND actor_type = 'system' AND target_type = 'agent'"
           . " AND details ->> 'anomalyId' IN (SELECT id::text FROM svc.agent_anomaly)"
           . ' AND target_name = \'Name of \' || target_id'),
   scalar @want, 'and is in the audit log');
is($s->sql('SELECT count(*) FROM svc.application a JOIN (SELECT client_id,'
           . ' max(issued_at) AS at FROM svc.oauth_token GROUP BY 1) t USING (client_id)'
           . ' WHERE a.last_used_at BETWEEN t.at - interval \'1 min\' AND t.at'),
   $s->sql('SELECT count(DISTINCT client_id) FROM svc.oauth_token'),
   'applications know to a minute when they were used');
is($s->sql('SELECT count(*) FROM svc.agent_anomaly WHERE created_at > last_seen_at'
           . " OR jsonb_path_exists(details, '\$.* ? (\@ == null)')"), 0,
   'times and details are in order');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
done_testing();
