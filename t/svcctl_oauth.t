#!/usr/bin/perl

# svcctl: the keys that sign tokens, and the partitions of tokens and of the
# delegation journal.

use strict;
use warnings;

use Test::More;

use SvcTest;


my $s = SvcTest->new(redis => 0);

$s->{pg}->create;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $TIME = qr/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00/;


sub works {
    my (@args) = @_;
    my ($out, $rc, $err) = $s->svcctl({}, @args);

    is("$rc$err", '0', "svcctl @args");

    return $out;
}


sub fails {
    my ($message, @args) = @_;
    my ($out, $rc, $err) = $s->svcctl({}, @args);

    is($rc >> 8, 1, "svcctl @args");
    is($out, '', 'shows nothing');
    like($err, qr/\Asvcctl: $message\n\z/, 'says why');
}


# Makes a key, with other columns.

sub key {
    my ($kid, %more) = @_;
    my %row = (tenant_id => "'$acme->{id}'", kid => "'$kid'", public => "'{}'",
               sealed => "'x'", %more);

    $s->sql('INSERT INTO svc.oauth_key (' . join(', ', sort keys %row) . ') VALUES ('
            . join(', ', map { $row{$_} } sort keys %row) . ')');
}


sub active {
    my ($kid) = @_;

    $s->sql('UPDATE svc.oauth_tenant SET active_kid = ' . ($kid ? "'$kid'" : 'NULL')
            . " WHERE tenant_id = '$acme->{id}'") if @_;

    return $s->sql('SELECT active_kid FROM svc.oauth_tenant'
                   . " WHERE tenant_id = '$acme->{id}'");
}


sub events {
    return join ' ', map { "@$_" } $acme->events_where(
        "action = '$_[0]' AND target_type = 'oauthKey' AND actor_type = 'system'"
        . " AND details = '{\"source\": \"svcctl\"}'", 'target_id');
}


# --- keys ----------------------------------------------------------------------------

my @acme = qw(--tenant acme);
my $first = 'a' x 43;
my $next = '-b_' . 'b' x 40;

is(works(qw(oauth key list), @acme), '', 'there are none');
is(works(qw(oauth key rotate), @acme), "acme has no key: its first token makes one\n",
   'none is replaced');
is(works(qw(oauth key revoke), @acme), "acme has no key\n", 'nor withdrawn');
fails('there is no tenant "nope"; see svcctl tenant list', qw(oauth key), $_,
      qw(--tenant nope)) for qw(list rotate revoke);

key($first);
key('g' x 43, tenant_id => "'$globex->{id}'");
active($first);
like(works(qw(oauth key list), @acme), qr/\A$first  ES256  active  made $TIME\n\z/, 'its own');
is(works(qw(oauth key rotate), @acme),
   "$first signs for a day more, and is replaced then\n", 'replaced');
is($s->sql("SELECT retired_at - now() BETWEEN interval '23 hours' AND interval '1 day'"
           . " FROM svc.oauth_key WHERE kid = '$first'"), 't', 'in a day');
is(active(), $first, 'and signs until then');
is(works(qw(oauth key rotate), @acme), "$first is being replaced already\n", 'again');
is(events('oauth.key_rotated'), $first, 'audited once');
like(works(qw(oauth key list), @acme),
     qr/\A$first  ES256  active  made $TIME, signs until $TIME\n\z/, 'is shown');

key($next, active_from => "now() + interval '1 day'",
    created_at => "now() + interval '1 second'");
like(works(qw(oauth key list), @acme), qr/^$next  ES256  next  made $TIME, signs from $TIME$/m,
     'the next one');

is(works(qw(oauth key revoke), @acme), "revoked $first; $next signs from now on\n",
   'withdrawn');
is(active(), $next, 'the next one signs');
is($s->sql("SELECT active_from <= now() FROM svc.oauth_key WHERE kid = '$next'"), 't',
   'from now on');
my @lines = split /\n/, works(qw(oauth key list), @acme);

like($lines[0], qr/\A$first  ES256  revoked  made $TIME, revoked $TIME\z/, 'it is revoked');
like($lines[1], qr/\A$next  ES256  active  made $TIME\z/, 'and the other one active');
is(works(qw(oauth key revoke), @acme, '--kid', $first), "revoked $first\n", 'again');
is(events('oauth.key_revoked'), $first, 'audited once');
is(active(), $next, 'and no more');

key('c' x 43, retired_at => "now() - interval '1 hour'");
like(works(qw(oauth key list), @acme), qr/^c{43}  ES256  retired  made $TIME, retired $TIME$/m,
     'one of before');
is(works(qw(oauth key revoke), @acme, '--kid', 'c' x 43), 'revoked ' . 'c' x 43 . "\n",
   'is withdrawn');
is(active(), $next, 'which does not change who signs');

for my $kid ('g' x 43, 'nothing') {
    fails("tenant \"acme\" has no key \"$kid\"; see svcctl oauth key list --tenant acme",
          qw(oauth key revoke), @acme, '--kid', $kid);
}

fails('--kid is a key\'s, as "oauth key list" shows it, not ".*"',
      qw(oauth key revoke), @acme, '--kid', $_) for "x' OR true --", 'a b';
is($s->sql("SELECT revoked_at IS NULL FROM svc.oauth_key WHERE tenant_id ="
           . " '$globex->{id}'"), 't', 'those of others stay');

is(works(qw(oauth key revoke), @acme, "--kid=$next"), "revoked $next\n", 'the last one');
is(active(), undef, 'nobody signs');
is(events('oauth.key_revoked'), join(' ', $first, 'c' x 43, $next), 'all audited');
is($globex->events_where("action LIKE 'oauth.%'", 'id'), 0, 'for their tenant');


# --- RSA keys --------------------------------------------------------------------------

my ($ec, $rsa, $rsa_next) = map { $_ x 43 } qw(e r n);

key($ec);
key($rsa, alg => "'RS256'");
active($ec);
$s->sql("UPDATE svc.oauth_tenant SET active_rsa_kid = '$rsa' WHERE tenant_id = '$acme->{id}'");

sub active_rsa {
    return $s->sql('SELECT active_rsa_kid FROM svc.oauth_tenant'
                   . " WHERE tenant_id = '$acme->{id}'");
}

like(works(qw(oauth key list), @acme), qr/^$rsa  RS256  active  made $TIME$/m, 'of RSA, too');
is(works(qw(oauth key rotate), @acme),
   join('', map { "$_ signs for a day more, and is replaced then\n" } $ec, $rsa),
   'both are replaced');
is(works(qw(oauth key rotate), @acme),
   join('', map { "$_ is being replaced already\n" } $ec, $rsa), 'again');
key($rsa_next, alg => "'RS256'", active_from => "now() + interval '1 day'");
is(works(qw(oauth key revoke), @acme, '--kid', $rsa),
   "revoked $rsa; $rsa_next signs from now on\n", 'one is withdrawn');
is_deeply([ scalar active(), scalar active_rsa() ], [ $ec, $rsa_next ], 'and one signs still');
is(join('', sort split /^/, works(qw(oauth key revoke), @acme)),
   join('', map { "revoked $_\n" } $ec, $rsa_next), 'those that sign');
is_deeply([ scalar active(), scalar active_rsa() ], [ undef, undef ], 'nobody does');


# --- partitions ------------------------------------------------------------------------

for my $row ([ oauth_token => 'oauth', 'weeks', 'week', 2, 'days 30', 'days 3' ],
             [ delegation => 'delegations', 'months', 'month', 12, 'months 3', 'months 1' ])
{
    my ($table, $word, $unit, $step, $ahead, $long, $short) = @$row;
    my $made = qr/made ${table}_\d{4}_\d\d_\d\d/;

    is(works($word, 'partitions'), '', 'they are there');
    like(works($word, 'partitions', "--$unit", $ahead + 2), qr/\A(?:$made\n){2}\z/,
         "two $unit more");
    is(works($word, 'partitions', "--$unit=0"), '', 'fewer');

    # an old row, in the default partition

    my $insert = $table eq 'oauth_token'
        ? 'INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals,'
          . " grant_type, scopes, ttl) SELECT '$acme->{id}', gen_random_uuid(), t, 'x',"
          . " '{x}', 'x', '{}', 60"
        : 'INSERT INTO svc.delegation (tenant_id, id, created_at, client_id, client_name,'
          . " chain, grant_type, scopes, outcome) SELECT '$acme->{id}', gen_random_uuid(),"
          . " t, 'x', 'x', '{}', 'x', '{}', 'granted'";

    $s->sql("$insert FROM unnest(ARRAY[now(), now() - interval '10 weeks',"
            . " now() - interval '20 weeks', now() + interval '20 years']) t");

    like(works($word, 'partitions'), qr/\A(?:$made, moved 1 rows\n){2}\z/,
         'those that have rows');
    is($s->sql("SELECT count(*) FROM svc.${table}_default"), 1, 'what is ahead stays');
    is($s->sql("SELECT count(*) FROM svc.$table"), 4, 'none is lost');

    my ($name, $n) = split / /, $short;

    is(works($word, 'retain', '--' . ($long =~ s/ .*//r), 200), '', 'nothing is that old');

    my $lock = $s->connect_as('postgres');

    $lock->query('BEGIN');
    $lock->query("SELECT FROM svc.$table LIMIT 1");
    fails("$table is in use: nothing was done, try again", $word, 'retain', "--$name", $n);
    $lock->query('ROLLBACK');

    like(works($word, 'retain', "--$name", $n), qr/\A(?:dropped ${table}_[\d_]+\n){2}\z/,
         'old ones go');
    is($s->sql("SELECT count(*) FROM svc.$table"), 2, 'with what they have');
    is(works($word, 'retain', "--$name", $n), '', 'once');

    # a row that no other partition holds

    $s->sql("$insert FROM unnest(ARRAY[now() - interval '3 years']) t");
    is(works($word, 'retain', "--$name", $n), "deleted 1 rows of ${table}_default\n",
       'or are deleted');

    fails("--$name is a number from 1 to 9999, not \"$_\"", $word, 'retain', "--$name=$_")
        for 0, 'x', '1; DROP TABLE svc.tenant', -1, 12345;
    fails("--$unit is a number from 0 to 9+, not \"$_\"", $word, 'partitions', "--$unit=$_")
        for 'x', -1;
    fails("--$name is missing; see svcctl $word retain --help", $word, 'retain');
}

is(join('', grep { !/due to lock timeout/ } $s->pg->errors), '',
   'no error in the log of PostgreSQL');
done_testing();
