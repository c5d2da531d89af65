#!/usr/bin/perl

# Shows what happens when something changes between what token exchange reads and what
# it writes, and when a token is revoked while it is exchanged.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server application form basic oauth_error user_token exchange
                      delegations $EXCHANGE $ACCESS_TOKEN);
use SvcTest::Process qw(wait_for);

my $s = oauth_server(workers => 2, svc => { svc_postgres_timeout => '60s',
                                            svc_postgres_queue_timeout => '60s' })->start;
my $acme = $s->tenant('acme');
my $ada = $acme->create(userName => 'ada@acme.test')->{id};
my $n = 0;

sub app {
    my (%more) = @_;
    my $name = 'app' . ++$n;

    return application($acme, name => $name, resourceUri => "https://$name.test/",
                       requireConsent => JSON::PP::false, scopes => [ qw(read write) ], %more);
}

sub actor { return app(type => 'agent', @_) }

# Returns a user's token for an agent's resource.

sub of_ada {
    my ($web, $for) = @_;

    return user_token($acme, client => $web, user => $ada, scopes => [ 'read' ],
                      audience => "https://$for->{name}.test/");
}

sub web { return app(type => 'web', redirectUris => [ 'https://w.test/' ]) }

sub exchanging {
    my ($client, $token, %fields) = @_;
    my $c = $s->connection(timeout => 60);

    my %form = (grant_type => $EXCHANGE, subject_token => $token,
                subject_token_type => $ACCESS_TOKEN, %fields);
    my $body = join '&', map { "$_=" . $form{$_} =~ s/([^\w.~-])/sprintf '%%%02X', ord $1/ger }
                         sort keys %form;

    $c->send($c->format(POST => '/oauth/token',
        [ 'Content-Type' => 'application/x-www-form-urlencoded',
          Authorization => basic($client) ], $body));

    return $c;
}

sub holding {
    my ($sql) = @_;
    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query($sql);

    return $holder;
}

sub waits { return wait_for { $s->waiting == 1 } }

sub lives {
    my ($token, $client) = @_;

    return form($s, introspect => { token => $token }, client => $client)->json->{active} ? 1 : 0;
}

sub stored {
    my ($client) = @_;

    return $s->sql(<<"EOT");
SELECT (SELECT count(*) FROM svc.oauth_token
         WHERE grant_type = '$EXCHANGE' AND client_id = '$client->{clientId}')
       || ' ' || (SELECT count(*) FROM svc.delegation
                   WHERE outcome = 'granted' AND client_id = '$client->{clientId}')
EOT
}

# These locks let everybody read, and nobody write.

my $WRITES = 'LOCK TABLE svc.oauth_token IN SHARE MODE';
my $JOURNAL = 'LOCK TABLE svc.delegation IN SHARE MODE';

exchange($s, actor(), 'x');             # statements are prepared, connections are made


# --- changes before the write ------------------------------------------------------

sub set { return "UPDATE svc.application SET $_[1] WHERE client_id = '$_[0]{clientId}'" }

my $user = "UPDATE svc.user_account SET %s WHERE id = '$ada'";

for my $case (
    [ 'who asks is killed', sub { set($_[0], 'enabled = false, tokens_valid_after = now()') },
      'invalid_grant', 'agent_disabled' ],
    [ 'the client of the subject is killed',
      sub { set($_[1], 'enabled = false, tokens_valid_after = now()') },
      'invalid_request', 'subject_invalid' ],
    [ 'a ceiling falls', sub { set($_[0], "allowed_scopes = '{write}'") },
      'invalid_scope', 'scope_denied' ],
    [ 'the user is suspended', sub { sprintf $user, "status = 'suspended', valid_after = now()" },
      'access_denied', 'subject_inactive' ],
    [ 'the user is signed out', sub { sprintf $user, 'valid_after = clock_timestamp()' },
      'invalid_request', 'subject_invalid' ],
    [ 'the tenant is cut off',
      sub { 'UPDATE svc.oauth_tenant SET tokens_valid_after = clock_timestamp()' },
      'invalid_request', 'subject_invalid' ],
    [ 'the subject is revoked', sub { "UPDATE svc.oauth_token SET revoked_at = now()"
                                      . " WHERE jti = (SELECT jti FROM svc.oauth_token"
                                      . " WHERE client_id = '$_[1]{clientId}')" },
      'invalid_request', 'subject_invalid' ],
    [ 'who asks has a new name', sub { set($_[0], "name = 'New'") } ])
{
    my ($name, $sql, $code, $reason) = @$case;
    my ($agent, $web) = (actor(), web());
    my $token = of_ada($web, $agent);
    my $holder = holding($JOURNAL);
    my $c = exchanging($agent, $token);

    ok(waits(), "$name: it waits to write");
    $s->sql($sql->($agent, $web));
    $holder->query('COMMIT');

    my $r = $c->read;

    if ($code) {
        oauth_error($r, 400, $code, $name);
        is(stored($agent), '0 0', "$name: nothing is given");
        my ($row) = delegations($s, $agent, qw(outcome reason));
        is("$row->{outcome} $row->{reason}", "refused $reason", "$name: as in the journal");

    } else {
        is($r->status, 200, "$name: it is given");
        is(stored($agent), '1 1', "$name: once");
        is((delegations($s, $agent, 'client_name'))[0]{client_name}, 'New',
           "$name: as it is called now");
    }

    $s->sql(sprintf $user, "status = 'active', valid_after = NULL");
    $s->sql('UPDATE svc.oauth_tenant SET tokens_valid_after = NULL');
}

# A secret is retired, or a client is deleted.

for my $case ([ 'retired', "UPDATE svc.oauth_login SET retired_at = now() WHERE client_id = '%s'" ],
              [ 'deleted', "DELETE FROM svc.application WHERE client_id = '%s'" ])
{
    my ($name, $sql) = @$case;
    my $agent = actor();
    my $token = of_ada(web(), $agent);
    my $holder = holding($JOURNAL);
    my $c = exchanging($agent, $token);

    ok(waits(), "$name: it waits to write");
    $s->sql(sprintf $sql, $agent->{clientId});
    $holder->query('COMMIT');
    $c->read;
    oauth_error(exchange($s, $agent, $token), 401, 'invalid_client', "$name: afterwards");
}


# --- clients that leave, and a backend that is killed -------------------------------

my @workers = $s->workers;

for my $how (qw(close abort)) {
    my $agent = actor();
    my $token = of_ada(web(), $agent);
    my $holder = holding($WRITES);
    my $c = exchanging($agent, $token);

    ok(waits(), "$how: it waits to write");
    $c->$how;
    $holder->query('COMMIT');
    ok((wait_for { $s->waiting == 0 }), "$how: nobody waits");
    like(stored($agent), qr/\A(\d) \1\z/, "$how: nothing is half done");
}

ok($s->unharmed(\@workers, 'clients that leave'), 'the workers are the same');

{
    my $agent = actor();
    my $token = of_ada(web(), $agent);
    my $holder = holding($WRITES);
    my $c = exchanging($agent, $token);

    ok(waits(), 'it waits to write');
    $s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'");
    oauth_error($c->read, 503, 'temporarily_unavailable', 'its connection is gone');
    $holder->query('ROLLBACK');
    is(stored($agent), '0 0', 'nothing is stored');
    $s->wait_healthy;
    is(exchange($s, $agent, $token)->status, 200, 'the subject is good');
}


# --- a revocation before its commit -------------------------------------------------

# A commit of a revocation waits for an advisory lock: one lock for a named token, and
# another one for the others.

$s->sql(<<'E');
CREATE TABLE svc.test_named (jti uuid);
CREATE FUNCTION svc.test_wait() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(CASE WHEN EXISTS (SELECT FROM svc.test_named named
                                                     WHERE named.jti = NEW.jti)
                                       THEN 4242 ELSE 4343 END);
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER test_wait AFTER INSERT ON svc.oauth_revoked
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION svc.test_wait();
E

sub revoking {
    my ($client, $token) = @_;
    my $c = $s->connection(timeout => 60);

    $c->send($c->format(POST => '/oauth/revoke',
        [ 'Content-Type' => 'application/x-www-form-urlencoded',
          Authorization => basic($client) ], "token=$token"));

    return $c;
}

sub act {
    my ($client, $token, $to) = @_;
    my $r = exchange($s, $client, $token, $to ? (resource => "https://$to->{name}.test/") : ());

    $r->status == 200 or die $r->body;

    return $r->json->{access_token};
}

for my $what ('the root', 'one of it') {
    for my $leaves (0, 1) {
        my ($a, $b, $c, $web) = (actor(), actor(), actor(), web());
        my $root = of_ada($web, $a);
        my $one = act($a, $root, $b);
        my ($who, $token) = $what eq 'the root' ? ($web, $root) : ($a, $one);

        $s->sql("INSERT INTO svc.test_named SELECT jti FROM svc.oauth_token"
                . " WHERE client_id = '$who->{clientId}'");

        my $holder = holding('SELECT pg_advisory_xact_lock(4242)');
        my $revoke = revoking($who, $token);

        ok(waits(), "$what: a revocation waits");

        my $two = act($b, $one, $c);
        my @three = (act($c, $two), act($c, $two));
        my $four = act($c, $three[0]);

        ok(lives($four, $c), "$what: nothing is revoked yet");
        $revoke->close if $leaves;
        $holder->query('COMMIT');

        if (!$leaves) {
            is($revoke->read->status, 200, "$what: it is");
            is(join(' ', map { lives($_, $c) } $two, @three, $four), '0 0 0 0',
               "$what: nor does anything live that was exchanged in the meantime");

        } else {
            ok((wait_for { !grep { lives($_, $c) } $two, @three, $four }),
               "$what: also when its client has left");
        }

        oauth_error(exchange($s, $c, $four), 400, 'invalid_request', "$what: it is no subject");
    }
}

# A token is exchanged while the revocation looks for those that were exchanged before
# it.

{
    my ($a, $b, $c, $web) = (actor(), actor(), actor(), web());
    my $one = act($a, of_ada($web, $a), $b);

    $s->sql("INSERT INTO svc.test_named SELECT jti FROM svc.oauth_token"
            . " WHERE client_id = '$a->{clientId}'");

    my $first = holding('SELECT pg_advisory_xact_lock(4242)');
    my $second = holding('SELECT pg_advisory_xact_lock(4343)');
    my $before = $s->sql('SELECT count(*) FROM svc.oauth_revoked');
    my $revoke = revoking($a, $one);

    ok(waits(), 'a revocation waits');

    my @tree = act($b, $one, $c);

    push @tree, act($c, $tree[-1]) for 1 .. 2;
    $first->query('COMMIT');
    ok((wait_for { $s->sql('SELECT count(*) FROM svc.oauth_revoked') > $before
                   && $s->waiting == 1 }), 'and once more, with what it has found');
    push @tree, act($c, $tree[-1]) for 1 .. 2;
    $second->query('COMMIT');
    is($revoke->read->status, 200, 'it is done');
    is(join(' ', map { lives($_, $c) } @tree), '0 0 0 0 0', 'nothing lives');
    oauth_error(exchange($s, $c, $tree[-1]), 400, 'invalid_request', 'the last is no subject');
}

$s->done(allow => [ qr/terminat|server closed|SSL|FATAL/i ]);
done_testing();
