#!/usr/bin/perl

# Shows chains of agents that act for one another: who is in a token, how many there
# may be, and what a kill, a revocation and a lost database leave of them.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server application form basic oauth_error claims user_token
                      exchange delegations $EXCHANGE $ACCESS_TOKEN);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $ada = $acme->create(userName => 'ada@acme.test')->{id};

my $web = application($acme, name => 'Web', type => 'web', redirectUris => [ 'https://w.test/' ],
                      scopes => [ qw(read write admin) ]);

# Makes an agent with a resource of its name, for which users need not consent.

sub actor {
    my ($name, %more) = @_;

    return application($acme, name => $name, type => 'agent', requireConsent => JSON::PP::false,
                       resourceUri => "https://$name.test/",
                       scopes => [ qw(read write admin) ], %more);
}

my ($a, $b, $c, $d) = map { actor($_) } qw(a b c d);

sub set {
    my ($app, $set) = @_;

    $s->sql("UPDATE svc.application SET $set WHERE client_id = '$app->{clientId}'");
}

# A token's time has milliseconds only: a token issued in this millisecond is not
# older.

my $now = "date_trunc('milliseconds', now())";

sub kill_it { set($_[0], "enabled = false, tokens_valid_after = $now") }
sub revive { set($_[0], "enabled = true, tokens_valid_after = $now") }

sub ada {
    my ($for, %more) = @_;

    return user_token($acme, client => $web, user => $ada, scopes => [ qw(read write) ],
                      audience => "https://$for.test/", %more);
}

# Exchanges a token, for another agent's resource or the client's own; returns the new
# token.

sub act {
    my ($client, $token, $to, %fields) = @_;
    my $r = exchange($s, $client, $token, $to ? (resource => "https://$to.test/") : (), %fields);

    $r->status == 200 or die $r->body;

    return $r->json->{access_token};
}

sub refused {
    my ($r, $code, $reason, $name, $client) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    oauth_error($r, 400, $code, $name);
    my ($row) = delegations($s, $client, qw(outcome reason));
    is("$row->{outcome} " . ($row->{reason} // ''), "refused $reason", "$name: journaled");
}

sub lives {
    my ($token) = @_;

    return form($s, introspect => { token => $token }, client => $d)->json->{active} ? 1 : 0;
}

# Returns the names of the actors, the current one first.

sub actors {
    my ($act) = (claims($_[0]))[1]{act};
    my %name = map { $_->{clientId} => $_->{name} } $a, $b, $c, $d;
    my $text = '';

    for ( ; $act; $act = $act->{act}) {
        $text .= $name{$act->{sub}};
    }

    return $text;
}


# --- the actors of a token ---------------------------------------------------------

my $first = ada('a');
my $one = act($a, $first, 'b');
my $two = act($b, $one, 'c');
my $three = act($c, $two);

is(actors($one), 'a', 'one acts');
is(actors($two), 'ba', 'two');
is(actors($three), 'cba', 'three, the latest outermost');
is((claims($three))[1]{sub}, $ada, 'for the one subject');
is((claims($three))[1]{client_id}, $c->{clientId}, 'the client is the latest');

my ($row) = delegations($s, $c, qw(chain root_jti parent_jti));
my $jti = (claims($two))[1]{jti};
my $root = $s->sql("SELECT jti FROM svc.oauth_token WHERE user_id = '$ada' AND chain IS NULL");

is_deeply($row, { chain => '{' . join(',', map { $_->{clientId} } $c, $b, $a) . '}',
                  root_jti => $root, parent_jti => $jti }, 'as in the journal');
is($s->sql("SELECT count(*) FROM svc.delegation WHERE root_jti = '$root'"), 3,
   'the whole tree has one root');

# A fourth actor is one too many, unless the tenant allows it; nobody acts twice in a
# chain.

$first = ada('a');
$three = act($c, act($b, act($a, $first, 'b'), 'c'), 'd');
refused(exchange($s, $d, $three), 'invalid_request', 'chain_too_long', 'a fourth actor', $d);
$s->sql("UPDATE svc.oauth_tenant SET max_delegation_depth = 4 WHERE tenant_id = '$acme->{id}'");
is(actors(act($d, $three)), 'dcba', 'where the tenant allows four');
$s->sql("UPDATE svc.oauth_tenant SET max_delegation_depth = 3 WHERE tenant_id = '$acme->{id}'");

refused(exchange($s, $a, act($b, act($a, $first, 'b'), 'a')), 'invalid_request',
        'chain_cycle', 'A, B and A again', $a);
refused(exchange($s, $b, act($c, act($b, act($a, $first, 'b'), 'c'), 'b')),
        'invalid_request', 'chain_cycle', 'A, B, C and B again', $b);

# The outermost actor exchanges once more: for less, with the same chain.

my $mine = act($b, act($a, $first, 'b'));
my $less = act($b, $mine, undef, scope => 'read');

is(actors($less), 'ba', 'without an actor_token the chain stays');
is((claims($less))[1]{scope}, 'read', 'with less');
is(actors(act($b, $less)), 'ba', 'and stays');
is(exchange($s, $b, $less, scope => 'write')->json->{error}, 'invalid_scope',
   'what is gone is gone');
$s->sql("UPDATE svc.oauth_tenant SET max_delegation_depth = 1 WHERE tenant_id = '$acme->{id}'");
refused(exchange($s, $b, $less), 'invalid_request', 'chain_too_long',
        'a chain that is too long now', $b);
$s->sql("UPDATE svc.oauth_tenant SET max_delegation_depth = 3 WHERE tenant_id = '$acme->{id}'");

# A client for which others act is not an actor itself.

my $own = form($s, token => { grant_type => 'client_credentials',
                              resource => 'https://b.test/' }, client => $a)
          ->json->{access_token};
my $back = act($b, $own, 'a');

is((claims($back))[1]{sub}, $a->{clientId}, 'for an agent');
refused(exchange($s, $a, $back), 'invalid_request', 'subject_not_for_actor',
        'which is the subject itself', $a);


# --- the ceilings of all actors -----------------------------------------------------

set($a, "allowed_scopes = '{read}', max_token_ttl = 60");
$first = ada('a');
$one = act($a, $first, 'b');
$two = act($b, $one, 'c');
is((claims($two))[1]{scope}, 'read', 'the ceiling of one is that of all behind it');
cmp_ok((claims($two))[1]{exp} - (claims($two))[1]{iat}, '<=', 60, 'in time, too');
refused(exchange($s, $b, $one, scope => 'write'), 'invalid_scope', 'scope_denied',
        'above it', $b);

# The ceiling was raised and lowered since: the first token was issued without it.

set($a, "allowed_scopes = NULL, max_token_ttl = NULL");
$one = act($a, $first, 'b');
set($a, "allowed_scopes = '{read}'");
is((claims(act($b, $one)))[1]{scope}, 'read', 'a ceiling that was lowered since');
set($a, "allowed_scopes = NULL, allowed_audiences = '{https://b.test/}',"
        . " allowed_audience_keys = '{https://b.test/}'");
is(exchange($s, $b, act($a, $first, 'b'), resource => 'https://c.test/')->json->{error},
   'invalid_target', 'targets of one are those of all behind it');
set($a, 'allowed_audiences = NULL, allowed_audience_keys = NULL');


# --- a kill ------------------------------------------------------------------------

$one = act($a, $first, 'b');
$two = act($b, $one, 'c');
$three = act($c, $two, 'd');

ok(lives($three), 'C acts for A and B');
kill_it($b);
ok(!lives($three), 'B is killed: C\'s is dead');
refused(exchange($s, $c, $two), 'invalid_request', 'subject_invalid', 'nor exchanged', $c);
refused(exchange($s, $c, $three), 'invalid_request', 'subject_invalid', 'nor C\'s own', $c);
refused(exchange($s, $b, $one), 'invalid_grant', 'agent_disabled', 'nor by B', $b);
ok($s->sql('SELECT count(*) FROM svc.agent_anomaly WHERE type = \'disabled_use\''
           . " AND client_id = '$b->{clientId}'"), 'which is unusual');
ok(act($a, $first), 'A acts still');
revive($b);
ok(!lives($three), 'B is back: C\'s is dead');
refused(exchange($s, $c, $two), 'invalid_request', 'subject_invalid', 'and not exchanged', $c);
ok(lives(act($c, act($b, $one, 'c'), 'd')), 'what is new lives');

# The same goes for a token whose subject is a client.

$back = act($b, form($s, token => { grant_type => 'client_credentials',
                                     resource => 'https://b.test/' }, client => $a)
                 ->json->{access_token}, 'd');
ok(lives($back), 'B acts for A');
kill_it($a);
ok(!lives($back), 'A is killed: B\'s is dead');
revive($a);


# --- revocation ----------------------------------------------------------------------

sub revoke {
    my ($client, $token) = @_;

    is(form($s, revoke => { token => $token }, client => $client)->status, 200, 'revoked');
}

$first = ada('a');
$one = act($a, $first, 'b');
my @two = map { act($b, $one, $_) } qw(c d);
$three = act($c, $two[0], 'd');
revoke($b, $two[0]);
ok(!lives($three) && lives($two[1]), 'what was exchanged from it');
refused(exchange($s, $c, $two[0]), 'invalid_request', 'subject_invalid', 'is no subject', $c);
revoke($web, $first);
ok(!lives($two[1]), 'all that was');

# A token is revoked in the midst of exchanges: no token that comes of them lives.

my $rounds = 20;
my $each = 50;
my ($granted, $after, $living) = (0, 0, 0);

# In turns the first token is revoked, and one in the middle of a chain.

for my $round (1 .. $rounds) {
    my $first = ada('a');
    my $one = act($a, $first, 'b');
    my $two = act($b, $one, 'c');
    my @of = $round % 2 ? ([ $a, $first ], [ $b, $one ]) : ([ $b, $one ], [ $c, $two ]);
    my ($who, $what) = $round % 2 ? ($web, $first) : ($a, $one);
    my @open = map { $s->connection(timeout => 60) } 1 .. $each;
    my $body = 'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange'
               . "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token";

    for my $i (0 .. $#open) {
        my ($client, $token) = @{ $of[$i % 2] };

        $open[$i]->send($open[$i]->format(POST => '/oauth/token',
            [ 'Content-Type' => 'application/x-www-form-urlencoded',
              Authorization => basic($client) ], "$body&subject_token=$token"));

        if ($i == int($each * $round / ($rounds + 1))) {
            $open[0]{revoke} = $s->connection(timeout => 60);
            $open[0]{revoke}->send($open[0]{revoke}->format(POST => '/oauth/revoke',
                [ 'Content-Type' => 'application/x-www-form-urlencoded',
                  Authorization => basic($who) ], "token=$what"));
        }
    }

    my @r = map { $_->read } @open;
    $open[0]{revoke}->read->status == 200 or die 'not revoked';

    $granted += grep { $_->status == 200 } @r;
    $after += grep { $_->status == 400 } @r;
    $living += grep { $_->status == 200 && lives($_->json->{access_token}) } @r;
}

is($granted + $after, $rounds * $each, 'each is answered');
ok($granted && $after, "some before, some after: $granted, $after");
is($living, 0, 'none lives');


# --- a client that leaves, a database that stops --------------------------------------------

sub halves {
    return $s->sql('SELECT (SELECT count(*) FROM svc.oauth_token WHERE grant_type ='
                   . " '$EXCHANGE' AND jti NOT IN (SELECT token_jti FROM svc.delegation"
                   . ' WHERE token_jti IS NOT NULL))'
                   . " || ' ' || (SELECT count(*) FROM svc.delegation WHERE outcome = 'granted'"
                   . ' AND token_jti NOT IN (SELECT jti FROM svc.oauth_token))');
}

$first = ada('a');
my $begun = $s->sql('SELECT count(*) FROM svc.delegation');

for my $i (1 .. 20) {
    my $http = $s->connection;
    my $token = $i % 2 ? $first : 'x';

    $http->send($http->format(POST => '/oauth/token',
        [ 'Content-Type' => 'application/x-www-form-urlencoded', Authorization => basic($a) ],
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
        . "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
        . "&subject_token=$token"));
    $http->abort;
}

is(exchange($s, $a, $first)->status, 200, 'clients that go leave others alone');
is(halves(), '0 0', 'and nothing half done');

$s->pg->stop;
my $r = exchange($s, $a, $first);
oauth_error($r, 503, 'temporarily_unavailable', 'without PostgreSQL');
ok($r->header('retry-after'), 'later, perhaps');
oauth_error(exchange($s, $a, 'x'), 503, 'temporarily_unavailable', 'nor is one refused');
$s->pg->launch;
$s->wait_healthy;
is(exchange($s, $a, $first)->status, 200, 'and again with it');
is(halves(), '0 0', 'nothing half done');

$s->done(allow => [ qr/PostgreSQL|server closed|connect\(\)|postgres/i ]);
done_testing();
