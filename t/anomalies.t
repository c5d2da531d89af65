#!/usr/bin/perl

# What is unusual of agents: random histories against an oracle in another language,
# t/oracle/anomaly_oracle.py; and how the sweep goes.  SVC_TEST_SEED takes other
# histories, SVC_TEST_CASES more agents.

use strict;
use warnings;

use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Process qw(run_apart slow slurp wait_for);


my $seed = $ENV{SVC_TEST_SEED} // 20261123;
my $agents = $ENV{SVC_TEST_CASES} // 40;

my $s = SvcTest->new(svc => { svc_postgres_timeout => '1s' })->start;
my $acme = $s->tenant('acme');
my $COLUMNS = 'tenant_id, jti, issued_at, client_id, user_id, chain, principals,'
              . ' grant_type, scopes, ttl, ip, country';


sub agents {
    my ($tenant, $type, @ids) = @_;

    $s->sql('INSERT INTO svc.application (tenant_id, client_id, name, type, enabled,'
            . ' assignment, redirect_uris, scopes, grant_types, auth_method,'
            . ' access_token_format, access_token_ttl, require_consent, require_dpop)'
            . " SELECT '$tenant->{id}', id, 'Agent ' || id, '$type', true, 'everyone',"
            . " '{}', '{}', '{client_credentials}', 'client_secret_basic', 'jwt', 900,"
            . " false, false FROM unnest('{" . join(',', @ids) . "}'::text[]) id");
}


# Tokens of an agent, $n at a time, like "now() - interval '1 hour'".

sub tokens {
    my ($id, $at, $n, %more) = @_;
    my %row = (tenant_id => "'$acme->{id}'", jti => 'gen_random_uuid()', issued_at => $at,
               client_id => "'$id'", principals => "'{$id}'", grant_type => "'x'",
               scopes => "'{}'", ttl => 60, %more);

    $s->sql('INSERT INTO svc.oauth_token (' . join(', ', sort keys %row) . ') SELECT '
            . join(', ', map { $row{$_} } sort keys %row)
            . " FROM generate_series(1, $n) i");
}


# All tokens that are older, in rounds of $most; how many it took, and what it raised.

sub sweep {
    my ($lag, $most, $db) = @_;
    my ($taken, @raised) = (0);

    for (;;) {
        my ($first, @more) = @{ ($db // $s->{pg}->connect('svc_app'))->query(
            "SELECT * FROM svc.agent_sweep(($lag)::bigint, $most)") };

        $taken += $first->[0];
        push @raised, map { [ @$_[1, 2] ] } @more;
        last if $first->[0] == 0;
    }

    return ($taken, @raised);
}


sub anomalies {
    return map { join ' ', @$_ } $s->sql(
        'SELECT client_id, type, key, severity, occurrences FROM svc.agent_anomaly '
        . ($_[0] // '') . ' ORDER BY client_id, type, key');
}


# nginx sweeps as well: not before there is something, and then by its own clock

my $hold = $s->connect_as('postgres');

$hold->query("SELECT pg_advisory_lock(hashtext('svc.agent_sweep'))");


# --- as the oracle says ---------------------------------------------------------------

my @ids = map { sprintf 'agt_%032x', $_ } 0 .. $agents - 1;
my ($tokens, $cuts, $expected) = map { "$s->{dir}/$_" } qw(tokens cuts expected);
my $start = (int(time / 86400) - 231) * 86400;

agents($acme, 'agent', @ids);
is(system('python3', $s->root . '/t/oracle/anomaly_oracle.py', $seed, $agents, $start,
          $acme->{id}, $tokens, $cuts, $expected), 0, "the oracle, with the seed $seed");

my ($status, $out, $err) = run_apart([ 'psql', '-Xqd', $s->pg->conninfo('postgres'), '-c',
                                       "\\copy svc.oauth_token ($COLUMNS) FROM $tokens" ]);

is("$status$err", '0', 'tokens');
$s->sql("UPDATE svc.agent_sweep SET swept_to = to_timestamp($start - 1)");
$hold->query("SELECT pg_advisory_unlock(hashtext('svc.agent_sweep'))");

my $app = $s->connect_as('svc_app');
my ($taken, $rounds, @raised) = (0, 0);

srand $seed;

for my $cut (split /\n/, slurp($cuts)) {
    my ($n, @more) = sweep("trunc(extract(epoch from now()) * 1000) - $cut",
                           (50, 1000, 10000)[rand 3], $app);

    $taken += $n;
    push @raised, @more;
    $app->query('SELECT svc.oauth_expire(1000)') if $rounds++ % 10 == 0;
}

my @got = anomalies();
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
           . ' AND target_name = \'Agent \' || target_id'),
   scalar @want, 'and is in the audit log');
is($s->sql('SELECT count(*) FROM svc.application a JOIN (SELECT client_id,'
           . ' max(issued_at) AS at FROM svc.oauth_token GROUP BY 1) t USING (client_id)'
           . ' WHERE a.last_used_at BETWEEN t.at - interval \'1 min\' AND t.at'),
   $s->sql('SELECT count(DISTINCT client_id) FROM svc.oauth_token'),
   'applications know to a minute when they were used');
is($s->sql('SELECT count(*) FROM svc.agent_anomaly WHERE created_at > last_seen_at'
           . " OR jsonb_path_exists(details, '\$.* ? (\@ == null)')"), 0,
   'times and details are in order');

done($s);


sub done {
    is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
    $s->done;
    done_testing();
}
