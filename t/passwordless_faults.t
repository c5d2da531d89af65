#!/usr/bin/perl

# Faults around codes by mail: too many requests, names with header lines, and
# clients, PostgreSQL and Redis that disappear meanwhile.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Mail;
use SvcTest::Mailed;
use SvcTest::Process qw(wait_for);

my %OFF = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 0" } qw(IP EMAIL) ]);

# a request may wait for a lock as long as it takes Redis to stop

my $s = SvcTest->new(workers => 1, svc => { svc_sign_in => 'on', %OFF,
                                            svc_postgres_timeout => '30s',
                                            svc_postgres_queue_timeout => '30s' });
my $mail = SvcTest::Mail->new($s, port => 'plain');

$s->start;

my $limited = $s->node(workers => 1, svc => { %{ $s->nginx->{svc} },
                                              svc_set => 'SESSION_IDLE 1800' });
my $plain = $s->node(workers => 1, svc => { svc_sign_in => 'on' });
my $acme = $s->tenant('acme');
my $codes = SvcTest::Mailed->new($s, $mail);
my $ada = $acme->create(userName => 'ada@acme.test');
my @workers = $s->workers;

$codes->allow($acme);


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }
sub start { return $codes->start(@_) }
sub verify { return $codes->verify(@_) }
sub asked { return $codes->asked(@_) }
sub count { return scalar $s->sql("SELECT count(*) FROM svc.$_[0]") }


# Sends a request that waits for a lock of the user's row, or of another query.
#  Returns its connection, and the one that holds the lock.

sub waits {
    my ($path, $body, $query) = @_;

    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query($query // "SELECT FROM svc.user_account WHERE id = '$ada->{id}'"
                             . ' FOR UPDATE');

    my $c = $s->begin(POST => "/v1/auth/passwordless/$path", [], $body);

    wait_for { $s->waiting == 1 } or die "nobody waits\n";

    return ($c, $holder);
}


sub shown { return { challengeId => $_[0]{challengeId}, code => $_[0]{code} } }


# --- without mail ---------------------------------------------------------------

for my $path (qw(start verify)) {
    is($s->http(POST => "/v1/auth/passwordless/$path", [], {}, port => $plain->{port})
       ->status, 404, "$path is not there");
}

is($s->http(GET => '/v1/auth/options', [], undef, port => $plain->{port})
   ->json->{methods}{passwordless}, JSON::PP::false(), 'nor is it offered');


# --- too many -------------------------------------------------------------------

for (1 .. 3) {
    is(start(browser(), 'ada@acme.test')->status, 202, 'three in 30 seconds');
}

is($codes->settled, 1, 'are one mail');

for (1 .. 100) {
    start(browser(), 'ada@acme.test');
    $s->sql("UPDATE svc.email_challenge SET created_at = created_at"
            . " - interval '31 seconds'");
}

is($codes->settled, 10, 'and a hundred in an hour are ten');
is(count('email_challenge'), 103, 'of which each has a row');

my $in = asked(browser(), 'ada@acme.test');
my $void = start(browser(), 'ada@acme.test')->json;

is(verify(browser(), $in)->status, 200, 'one that is not sent ends none that was');
is(verify(browser(), $void, code => '123456')->status, 401, 'and no code is right of it');
$s->sql('UPDATE svc.user_account SET failed_logins = 0, failed_since = NULL');

# limits within a window; completed sign-ins are not counted

my @here = (port => $limited->{port});

for my $n (1 .. 12) {
    my $b = browser(@here);

    is(verify($b, asked($b, 'ada@acme.test'))->status, 200, "sign-in $n");
}

my @codes = map { start(browser(@here, local => "127.0.0.$_"), 'ada@acme.test')->status }
                10 .. 21;

is_deeply(\@codes, [ (202) x 10, 429, 429 ], 'ten in a window of an address');
@codes = map { verify(browser(@here, local => '127.0.0.30'),
                      { challengeId => 'x' }, code => '123456')->status } 1 .. 52;
is_deeply(\@codes, [ (400) x 50, 429, 429 ], 'fifty of a client');


# --- a name ---------------------------------------------------------------------

$s->sql("UPDATE svc.user_account SET display_name ="
        . " E'Ada\\r\\nBcc: eve\@evil.test\\r\\n\\r\\nHello' WHERE id = '$ada->{id}'");
asked(browser(), 'ada@acme.test');

my ($got) = ($mail->wait(1))[-1];

is_deeply($got->{to}, [ 'ada@acme.test' ], 'one recipient');
is_deeply([ grep { $_->[0] =~ /^bcc$/i } @{ $got->{headers} } ], [],
          'and no other header');
$s->sql("UPDATE svc.user_account SET display_name = 'Ada' WHERE id = '$ada->{id}'");


# --- an address that changes ----------------------------------------------------

$codes->rested;

my $mails = $codes->settled;
my ($c, $holder) = waits(start => { email => 'ada@acme.test', tenant => 'acme' },
    "UPDATE svc.user_account SET user_name = 'moved\@acme.test',"
    . " user_name_key = 'moved\@acme.test', valid_after = clock_timestamp()"
    . " WHERE id = '$ada->{id}'");

$holder->query('COMMIT');
is($c->read->status, 202, 'whose address is just being changed');
is($codes->settled, $mails, 'gets no mail at the old one');
$s->sql("UPDATE svc.user_account SET user_name = 'ada\@acme.test',"
        . " user_name_key = 'ada\@acme.test', valid_after = NULL"
        . " WHERE id = '$ada->{id}'");


# --- clients that leave ---------------------------------------------------------

for my $how (qw(close abort)) {
    $in = asked(browser(), 'ada@acme.test');

    my $before = count('session');
    my ($c, $holder) = waits(verify => shown($in));

    $c->$how;
    $holder->query('COMMIT');
    ok((wait_for { count("email_challenge WHERE id = '$in->{challengeId}'"
                         . ' AND used_at IS NOT NULL') }),
       "$how: what was sent is done");
    cmp_ok(count('session'), '<=', $before + 1, 'once');
    is(verify(browser(), $in)->json->{error}{code}, 'challenge_expired',
       'and not again');
}

ok($s->unharmed(\@workers, 'clients that leave'), 'the worker is the same');


# --- PostgreSQL is gone between the round trips ---------------------------------

$in = asked(browser(), 'ada@acme.test');

my $sessions = count('session');

($c, $holder) = waits(verify => shown($in));
$s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'");

my $r = $c->read;

admin_error($r, 503, 'unavailable', 'behind the code');
is($r->header('Set-Cookie'), undef, 'without a cookie');
$holder->query('ROLLBACK');
is(count('session'), $sessions, 'and a session');
$s->wait_healthy;
is(verify(browser(), $in)->status, 200, 'the code is still good');


# --- without Redis --------------------------------------------------------------

$in = asked(browser(), 'ada@acme.test');

my $rows = count('email_challenge');

$codes->settled;

# Redis is gone between the read and the write: the row is stored, and no mail
# is queued

for my $email (qw(ada@acme.test nobody@acme.test)) {
    ($c, $holder) = waits(start => { email => $email, tenant => 'acme' },
                          "SELECT FROM svc.tenant WHERE id = '$acme->{id}' FOR UPDATE");
    $s->redis->stop;
    wait_for { $s->health->json->{redis} ne 'up' } or die "Redis is not away\n";
    $holder->query('COMMIT');
    admin_error($c->read, 503, 'unavailable', "$email, while it is written");
    is(count('email_challenge'), ++$rows, 'which it is');
    admin_error(start(browser(), $email), 503, 'unavailable', 'and before that');
    is(count('email_challenge'), $rows, 'nothing is');

    if ($email eq 'ada@acme.test') {
        is(verify(browser(), $in)->status, 200, 'a code that has come is good');
    }

    $s->redis->launch;
    wait_for { $s->health->json->{redis} eq 'up' } or die "Redis is away\n";
}

ok((wait_for { start(browser(), 'ada@acme.test')->status == 202 }),
   'and then again');

$mail->stop;
$s->done;
done_testing();
