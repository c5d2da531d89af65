#!/usr/bin/perl

# Shows how the keys that tenants sign with replace each other, on two nodes at once,
# and what is done with a revoked key. The test moves their times, and a worker sees
# it.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server application form claims);
use SvcTest::Process qw(wait_for);

my $s = oauth_server()->start;
my $node = $s->node(locations => $s->{nginx}{locations});
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $app = application($acme);

sub token {
    my ($client, $port) = @_;

    my $r = form($s, token => { grant_type => 'client_credentials' }, client => $client,
                 http => { $port ? (port => $port) : () });

    return (claims($r->json->{access_token}))[0]{kid};
}

sub published {
    my ($slug) = @_;

    return join ' ', map { $_->{kid} } @{ $s->http(GET => "/oauth/t/$slug/jwks")->json->{keys} };
}

# Returns a column of a key, or a condition of it.

sub of {
    my ($kid, $what) = @_;

    return $s->sql("SELECT $what FROM svc.oauth_key WHERE kid = '$kid'");
}

sub set {
    my ($kid, $set) = @_;

    $s->sql("UPDATE svc.oauth_key SET $set WHERE kid = '$kid'");
}

# Returns the next key, when a worker has made it.

sub next_of {
    my ($kid) = @_;
    my $next;

    wait_for {
        $next = $s->sql("SELECT k.kid FROM svc.oauth_key k, svc.oauth_key o"
                        . " WHERE o.kid = '$kid' AND k.tenant_id = o.tenant_id"
                        . ' AND k.active_from > o.active_from');
    };

    return $next;
}

sub active {
    my ($slug) = @_;

    return $s->sql('SELECT active_kid FROM svc.oauth_tenant g JOIN svc.tenant t'
                   . " ON t.id = g.tenant_id WHERE t.slug = '$slug'");
}


# --- a key that has signed for 89 days ----------------------------------------------

my $first = token($app);
my $other = token(application($globex));

is(published('acme'), $first, 'a key');

set($first, "active_from = now() - interval '89 days' - interval '1 min',"
            . " created_at = now() - interval '90 days'");

my $second = next_of($first);

like($second, qr/\A[\w-]{43}\z/, 'there is a next one');
is(of($second, "active_from > now() + interval '22 h 30 min'"
               . " AND active_from <= now() + interval '1 day'"), 't', 'which signs in a day');
is(of($first, "retired_at > now() + interval '22 h'"), 't', 'and the first one until then');
is(token($app), $first, 'it signs');
ok(wait_for { published('acme') eq "$second $first" }, 'both are published');
is(published('globex'), $other, 'another tenant keeps its own');

my $jwk = $s->http(GET => '/oauth/t/acme/jwks')->json->{keys}[0];
is_deeply([ sort keys %$jwk ], [ qw(alg crv kid kty use x y) ], 'the public part of it');

set($second, "active_from = now() - interval '1 s'");
ok(wait_for { active('acme') eq $second }, 'a day later the next one takes over');
is(token($app), $second, 'it signs, so that it could be opened');
is(token($app, $node->{port}), $second, 'on another node, too');
is(of($first, "retired_at <= now()"), 't', 'the first one has retired');
is(published('acme'), "$second $first", 'and is published');

set($first, "retired_at = now() - interval '25 h'");
ok(wait_for { published('acme') eq $second }, 'for 25 hours');
is(of($first, 'count(*)'), 1, 'but is kept');

set($first, "retired_at = now() - interval '30 days'");
ok(wait_for { !of($first, 'count(*)') }, 'for a month');

is($s->sql('SELECT count(*) FROM svc.oauth_key'), 2, 'nobody has made more keys');


# --- a key that is to retire, or is revoked ------------------------------------------

set($second, "retired_at = now() + interval '1 day'");

my $third = next_of($second);
is(of($third, 'active_from') eq of($second, 'retired_at'), 1,
   'the next one signs when the one before it retires');

set($third, "revoked_at = now()");
wait_for { $s->sql("SELECT count(*) FROM svc.oauth_key WHERE revoked_at IS NULL"
                   . " AND active_from > now()") };
my $fourth = $s->sql('SELECT kid FROM svc.oauth_key WHERE revoked_at IS NULL'
                     . ' AND active_from > now()');
isnt($fourth, $third, 'of a next one that is revoked there is another one');
ok(wait_for { published('acme') eq "$fourth $second" }, 'which is published, and no other');

$s->sql("UPDATE svc.oauth_key SET revoked_at = now() WHERE kid IN ('$second', '$fourth')");
$s->sql("UPDATE svc.oauth_tenant SET active_kid = NULL WHERE active_kid = '$second'");

my $fifth = token($app);
ok(!grep({ $_ eq $fifth } $first, $second, $third, $fourth), 'after a revocation a new one');
is(published('acme'), $fifth, 'is published at once, and no other');


# --- many tenants at once, on two nodes ------------------------------------------------

my @tenants = map { $s->tenant("many$_") } 1 .. 40;
my %kid = map { $_->{slug} => token(application($_)) } @tenants;

$s->sql("UPDATE svc.oauth_key SET active_from = now() - interval '89 days 1 min'"
        . " WHERE kid IN (" . join(', ', map { "'$_'" } values %kid) . ')');

my $DUE = 'SELECT count(*) FROM svc.oauth_key k JOIN svc.tenant t ON t.id = k.tenant_id'
          . " WHERE t.slug LIKE 'many%' AND k.active_from > now()";

ok(wait_for(sub { $s->sql($DUE) == 40 }, 20), 'each has a next one');

$s->sql("UPDATE svc.oauth_key SET active_from = now() - interval '1 s' WHERE active_from > now()");
ok(wait_for(sub { !grep { active($_->{slug}) eq $kid{$_->{slug}} } @tenants }, 20),
   'which takes over');
is($s->sql("SELECT max(n) FROM (SELECT count(*) n FROM svc.oauth_key k JOIN svc.tenant t"
           . " ON t.id = k.tenant_id WHERE t.slug LIKE 'many%' GROUP BY t.id) x"), 2,
   'two nodes make one for each');

# One round does a limited number of each step; no worker does one meanwhile.

my $OLD = 'retired_at IS NOT NULL AND revoked_at IS NULL';
my $ENDS = "retired_at > now() + interval '23 h'";

sub turn {
    $s->sql("SELECT * FROM svc.oauth_key_turn('[]', 15)");

    return [ map { scalar $s->sql("SELECT count(*) FROM svc.oauth_key WHERE $_") } $OLD, $ENDS ];
}

$s->sql("SELECT pg_advisory_lock(hashtext('svc.oauth_key_turn'))");
$s->sql("DELETE FROM svc.oauth_key WHERE kid NOT IN ('" . join("', '", values %kid) . "')"
        . ' AND kid NOT IN (SELECT active_kid FROM svc.oauth_tenant WHERE active_kid IS NOT NULL)');
$s->sql("UPDATE svc.oauth_key SET retired_at = now() - interval '31 days' WHERE kid IN ('"
        . join("', '", values %kid) . "')");
$s->sql("UPDATE svc.oauth_key SET active_from = now() - interval '90 days'"
        . ' WHERE retired_at IS NULL AND tenant_id IN (SELECT id FROM svc.tenant'
        . " WHERE slug LIKE 'many%')");

my @rounds = map { turn() } 1 .. 4;

is_deeply([ map { $_->[1] } @rounds ], [ 15, 30, 40, 40 ], 'so many in a round are to retire');
is_deeply([ map { $_->[0] - $_->[1] } @rounds ], [ 25, 10, 0, 0 ], 'and so many are forgotten');
$s->sql("SELECT pg_advisory_unlock(hashtext('svc.oauth_key_turn'))");

$s->done;
done_testing;
