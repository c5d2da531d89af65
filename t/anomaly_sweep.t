#!/usr/bin/perl

# Shows that the sweep takes each token of an agent once, whoever sweeps, and tells
# those who follow the audit log; that refused requests raise anomalies; and that
# expired rows are deleted.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest;
use SvcTest::Admin;
use SvcTest::Metrics;
use SvcTest::OAuth qw(oauth_server application form oauth_error);
use SvcTest::Process qw(wait_for);
use SvcTest::Sse;


my $s = oauth_server(locations => "        location = /metrics { svc_metrics; }\n");

# nginx is not started yet: it sweeps by its own clock.

$s->{pg}->create;
$s->{redis}->launch;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my ($one, $other) = map { $s->connect_as('svc_app') } 1, 2;


# Stores $n tokens of an agent, issued at a time such as "now()".

sub tokens {
    my ($n, $at, %more) = @_;
    my %row = (tenant_id => "'$acme->{id}'", jti => 'gen_random_uuid()', issued_at => $at,
               client_id => "'agt_1'", principals => "'{agt_1}'", grant_type => "'x'",
               scopes => "'{}'", ttl => 60, country => "'FR'", %more);

    $s->sql('INSERT INTO svc.oauth_token (' . join(', ', sort keys %row) . ') SELECT '
            . join(', ', map { $row{$_} } sort keys %row)
            . " FROM generate_series(1, $n) i");
}


# Sweeps, and returns the number of tokens taken.

sub swept { return $_[0]->query('SELECT * FROM svc.agent_sweep(0, 10000)')->[0][0] }

sub raised {
    return join '|', map { "@$_" } $s->sql(
        'SELECT type, severity, occurrences FROM svc.agent_anomaly'
        . " WHERE client_id = '$_[0]' ORDER BY type, key");
}

# Sets the time from which the next sweep takes tokens.

sub since { $s->sql("UPDATE svc.agent_sweep SET swept_to = $_[0]") }

sub pid { return $_[0]->query('SELECT pg_backend_pid()')->[0][0] }


$acme->add_applications(agent => map { "agt_$_" } 1 .. 9);
$acme->add_applications(m2m => 'app_1');
$globex->add_applications(agent => 'agt_g');


# --- each token is taken once --------------------------------------------------------

my $AT = 'timestamptz \'' . $s->sql("SELECT date_trunc('hour', now()) - interval '30 min'")
         . "'";

is(swept($one), 0, 'there is nothing');
since("$AT - interval '1 s'");

tokens(300, $AT);
tokens(2, $AT, client_id => "'app_1'");
$one->query('BEGIN');
is(swept($one), 302, 'one takes them');
is(swept($other), 0, 'while another one finds nothing to do');

my $cut = pid($one);

$s->sql("SELECT pg_terminate_backend($cut)");
ok(wait_for(sub { !$s->sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $cut") }),
   'it dies');
$one = $s->connect_as('svc_app');
is(raised('agt_1'), '', 'nothing of it is left');
is(swept($other), 302, 'another one takes them');
is(raised('agt_1'), 'token_burst medium 1', 'and raises');
is(swept($other), 0, 'once');
is($s->sql("SELECT tokens FROM svc.agent_use WHERE client_id = 'agt_1'"), 300, 'counted once');
is($s->sql("SELECT count(*) FROM svc.agent_use WHERE client_id = 'app_1'"), 0,
   'and what is no agent not at all');
is($s->sql("SELECT count(*) FROM svc.application WHERE last_used_at = $AT"), 2,
   'but both were used');

# An acknowledged anomaly occurs again.

$s->sql("UPDATE svc.agent_anomaly SET acknowledged_at = now() WHERE client_id = 'agt_1'");
tokens(700, "$AT + interval '1 min'");
since($AT);
swept($one);
is(raised('agt_1'), 'token_burst high 2', 'it counts on');
is($s->sql('SELECT count(*) FROM svc.agent_anomaly WHERE acknowledged_at IS NULL'), 0,
   'and stays acknowledged');
is(scalar(() = $acme->events_where("action = 'agent.anomaly_raised'", 'id')), 1,
   'told of once');


# --- applications that are deleted or changed meanwhile --------------------------------

my $admin = $s->connect_as('postgres');

tokens(300, "$AT + interval '2 min'", client_id => "'$_'")
    for qw(agt_2 agt_3 agt_gone);
tokens(300, "$AT + interval '2 min'", client_id => "'agt_g'",
       tenant_id => "'$globex->{id}'");
since("$AT + interval '1 min'");
$admin->query('BEGIN');
$admin->query("DELETE FROM svc.application WHERE client_id = 'agt_2'");
$admin->query("DELETE FROM svc.tenant WHERE slug = 'globex'");
is(swept($one), 1200, 'nobody waits for who is deleted');
$admin->query('ROLLBACK');
is(raised('agt_3'), 'token_burst medium 1', 'others are looked at');
is(raised('agt_2') . raised('agt_g') . raised('agt_gone'), '',
   'those are not');

tokens(1, "$AT + interval '4 min'", client_id => "'agt_4'");
since("$AT + interval '3 min'");
$admin->query('BEGIN');
$admin->query("SELECT FROM svc.application WHERE client_id = 'agt_4' FOR NO KEY UPDATE");
is(swept($one), 1, 'nobody waits for who is changed');
$admin->query('ROLLBACK');
is($s->sql("SELECT last_used_at IS NULL FROM svc.application"
           . " WHERE client_id = 'agt_4'"), 't', 'whose use the next token tells');


# --- anomalies of refused requests -------------------------------------------------------

my $inline = SvcBench::Statements::read_all($s->root)->{oauth_anomaly};

$one->query("PREPARE oauth_anomaly (text, text, text) AS $inline->{text}");

sub refused {
    my ($id, $type, $tenant) = @_;

    $one->query('BEGIN');
    $one->query("SELECT set_config('svc.tenant', '" . ($tenant // $acme)->{id} . "', true)");

    my $rows = $one->query("EXECUTE oauth_anomaly ('$id', '$type',"
                           . " '{\"ip\":\"192.0.2.7\",\"country\":null}')");

    $one->query('COMMIT');

    return join '|', map { $_->[1] } @$rows;
}

$s->sql('DELETE FROM svc.agent_anomaly');

for my $row ([ scope_denied => 'low', qr/\A[-\d]{10}T\d\d\z/ ],
             [ audience_denied => 'low', qr/\A[-\d]{10}T\d\d\z/ ],
             [ disabled_use => 'high', qr/\A[-\d]{10}T\d\d\z/ ],
             [ expired_use => 'medium', qr/\A[-\d]{10}\z/ ],
             [ secret_reuse => 'high', qr/\A[-\d]{10}T\d\d\z/ ])
{
    my ($type, $severity, $key) = @$row;
    my $of = "FROM svc.agent_anomaly WHERE client_id = 'agt_5' AND type = '$type'";

    is(refused('agt_5', $type), 't', "$type: a new one");
    like($s->sql("SELECT key $of"), $key, 'of its time');
    is($s->sql("SELECT severity || details $of"), "$severity\{\"ip\": \"192.0.2.7\"}",
       'what it says');

    # An hour may begin between two requests: the key is set to this hour before each
    # of them.

    $s->sql("UPDATE svc.agent_anomaly SET key = 'x' WHERE client_id = 'agt_5'");

    for my $n (2, 4, 5, 19, 20) {
        my $denied = $type =~ /_denied$/;

        $s->sql("UPDATE svc.agent_anomaly SET occurrences = $n - 1, key = to_char(now(),"
                . " CASE type WHEN 'expired_use' THEN 'YYYY-MM-DD'"
                . " ELSE 'YYYY-MM-DD\"T\"HH24' END) WHERE client_id = 'agt_5'");
        is(refused('agt_5', $type), 'f', "one of $n");
        is($s->sql("SELECT severity || occurrences $of"),
           (!$denied ? $severity : $n < 5 ? 'low' : $n < 20 ? 'medium' : 'high') . $n,
           'its weight');
    }

    is(scalar(() = $acme->events_where("action = 'agent.anomaly_raised' AND target_id ="
                                       . " 'agt_5' AND details ->> 'type' = '$type'",
                                       'id')), 1, 'told of once');
}

is(refused('app_1', 'scope_denied'), '', 'none of an application that is no agent');
is(refused('agt_none', 'scope_denied'), '', 'nor of one that is not there');
is(refused('agt_5', 'scope_denied', $globex), '', 'nor of another tenant\'s');
is(raised('app_1'), '', 'nothing is stored');


# --- expired rows ------------------------------------------------------------------------

$s->sql(<<"EOT");
INSERT INTO svc.oauth_once (tenant_id, digest, expires_at)
SELECT '$acme->{id}', i::text::bytea, now() + i * interval '1 h' FROM generate_series(-3, 3) i
 WHERE i <> 0;
INSERT INTO svc.oauth_revoked (tenant_id, jti, expires_at)
SELECT '$acme->{id}', gen_random_uuid(), now() + i * interval '23 h'
  FROM generate_series(-3, 1) i;
INSERT INTO svc.user_account (tenant_id, id, user_name)
VALUES ('$acme->{id}', '$acme->{id}', 'ada\@acme.test');
INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,
                             resource_keys, session_id, auth_time, methods, expires_at)
SELECT '$acme->{id}', ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'app_1',
       '$acme->{id}', '{}', '{}', '{}', gen_random_uuid(), now(), '{}',
       now() + (i - 2) * interval '23 h' FROM generate_series(0, 3) i;
INSERT INTO svc.oauth_code (tenant_id, digest, grant_id, client_id, redirect_uri, challenge,
                            expires_at)
SELECT tenant_id, id::text::bytea, id, client_id, 'x', 'x', expires_at FROM svc.oauth_grant;
INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, expires_at)
SELECT tenant_id, id::text::bytea, id, expires_at FROM svc.oauth_grant;
INSERT INTO svc.agent_minute (tenant_id, client_id, minute, tokens)
SELECT '$acme->{id}', 'agt_6', date_trunc('hour', now()) - i * interval '1 day', 1
  FROM generate_series(25, 35) i;
INSERT INTO svc.agent_seen (tenant_id, client_id, kind, value, first_at, last_at)
SELECT '$acme->{id}', 'agt_6', 'country', i::text, now() - interval '200 days',
       date_trunc('hour', now()) - i * interval '1 day' FROM generate_series(175, 185) i;
EOT
since('now()');
is($one->query('SELECT svc.oauth_expire(2)')->[0][0], 9,
   'two of each at most: once, revoked, minutes and values, and a grant with what it has');
1 while $one->query('SELECT svc.oauth_expire(2)')->[0][0];
is($s->sql("SELECT count(*) FROM svc.$_->[0]"), $_->[1], "$_->[0]: what counts stays")
    for [ oauth_once => 3 ], [ oauth_revoked => 3 ], [ oauth_grant => 3 ],
        [ oauth_code => 3 ], [ oauth_refresh => 3 ];
is($s->sql("SELECT count(*) FROM svc.agent_minute WHERE client_id = 'agt_6'"), 4,
   'the minutes of 28 days');
is($s->sql("SELECT count(*) FROM svc.agent_seen WHERE client_id = 'agt_6'"), 6,
   'what was seen in 180');


# --- how much one round does ---------------------------------------------------------------

# Returns how many pages a round touches; they do not depend on what was there before.

sub pages {
    my ($explained) = $admin->query('EXPLAIN (ANALYZE, BUFFERS, TIMING off) SELECT'
                                    . ' * FROM svc.agent_sweep(0, 100)');

    return (join "\n", map { @$_ } @$explained) =~ /shared hit=(\d+)/ ? $1 : die;
}

since('now()');
tokens(100, 'clock_timestamp()', client_id => "'agt_7'");

my @pages = pages();

tokens(40_000, "now() - interval '2 hours' + i * interval '10 ms'", client_id => "'agt_7'");
tokens(40_000, "now() - interval '2 hours' + i * interval '10 ms'", client_id => "'app_1'");
tokens(1000, 'clock_timestamp()', client_id => "'agt_8'");
push @pages, pages();
cmp_ok($pages[1], '<', 4 * $pages[0] + 200, "a round touches $pages[0] and $pages[1] pages");


# --- nginx sweeps --------------------------------------------------------------------

$s->{nginx}->launch;
ok($s->wait_healthy, 'nginx');
$s->sql('DELETE FROM svc.agent_anomaly');
$s->sql('TRUNCATE svc.oauth_token');

my $viewer = $acme->token_for('audit:view');
my $follower = SvcTest::Sse->new($s, $viewer,
                                 '/v1/admin/audit/stream?action=agent.anomaly_raised');

$follower->open or die 'no stream';

$acme->add_applications(m2m => 'app_2');
tokens(300, "now() - interval '30 s'", ip => "'192.0.2.7'", client_id => "'agt_9'");
tokens(1, "now() - interval '30 s'", client_id => "'app_2'");
since("now() - interval '1 min'");
ok($follower->wait_for(1), 'who follows the audit log hears of it');

my $event = $follower->{events}[0]{data};

is_deeply([ @$event{qw(action outcome)}, @{ $event->{actor} }{qw(type)},
            @{ $event->{target} }{qw(type id name)} ],
          [ 'agent.anomaly_raised', 'success', 'system', 'agent', 'agt_9',
            'Name of agt_9' ], 'of what');
is_deeply([ @{ $event->{details} }{qw(type severity tokens threshold ip country)} ],
          [ 'token_burst', 'medium', 300, 300, '192.0.2.7', 'FR' ], 'and why');
is(raised('agt_9'), 'token_burst medium 1', 'the row');
is($s->sql('SELECT id FROM svc.agent_anomaly'), $event->{details}{anomalyId}, 'is that');
ok(wait_for(sub { $s->sql("SELECT last_used_at IS NOT NULL FROM svc.application"
                          . " WHERE client_id = 'app_2'") eq 't' }, 30),
   'other clients know when they were used');

my $metrics = SvcTest::Metrics->get($s);

is($metrics->value('svc_oauth_anomalies_total', type => 'token_burst'), 1, 'counted');
is($metrics->value('svc_oauth_anomalies_total', type => 'new_ip'), 0, 'as that');


# Tokens are issued, and requests refused.

my %CC = (grant_type => 'client_credentials');
my $agent = application($acme, type => 'agent');
my $unused = application($acme, type => 'agent');

is(form($s, token => { %CC }, client => $agent)->status, 200, 'a token');
$s->sql("UPDATE svc.oauth_token SET issued_at = now() - interval '20 s' WHERE client_id ="
        . " '$agent->{clientId}'");
since("now() - interval '25 s'");
ok(wait_for(sub { $s->sql("SELECT tokens FROM svc.agent_use WHERE client_id ="
                          . " '$agent->{clientId}'") }, 30), 'is counted');
is($s->sql("SELECT a.last_used_at = t.issued_at FROM svc.application a"
           . ' JOIN svc.oauth_token t USING (tenant_id, client_id)'
           . " WHERE client_id = '$agent->{clientId}'"), 't', 'and says when it was used');
is($s->sql("SELECT last_used_at FROM svc.application WHERE client_id ="
           . " '$unused->{clientId}'"), undef, 'of one that was not nothing does');

$s->sql("UPDATE svc.application SET enabled = false WHERE client_id = '$agent->{clientId}'");
oauth_error(form($s, token => { %CC }, client => $agent), 400, 'invalid_grant',
            'switched off') for 1, 2;
is(SvcTest::Metrics->get($s)->value('svc_oauth_anomalies_total', type => 'disabled_use'), 1,
   'that it was used is counted once');
is(raised($agent->{clientId}), 'disabled_use high 2', 'and there twice');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
