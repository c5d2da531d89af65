#!/usr/bin/perl

# Sign-up: many at once, clients that leave, servers that stop, and no mail at
# all.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);
use SvcTest::Signup;

my %SVC = SvcTest::Signup::svc();

my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s, port => 'plain', %SVC);

$s->start;

my $plain = $s->node(svc => { %SVC });
my $acme = $s->tenant('acme');
my $n = 0;
my @workers = $s->workers;

$s->secret($PASSWORD);

my $up = SvcTest::Signup->new($s, $mail, $acme);

$up->allow;

sub fresh { return 'new' . ++$n . '@acme.test' }
sub body { return { email => $_[0], password => $PASSWORD, tenant => 'acme' } }


sub verifying {
    my ($in) = @_;

    return $s->begin(POST => "$up->{path}/verify", [], $up->shown($in));
}


# --- many at once -------------------------------------------------------------------------

my $in = $up->begin(fresh());
my %status;

$status{ $_->read->status }++ for map { verifying($in) } 1 .. 20;

is_deeply(\%status, { 201 => 1, 400 => 19 }, 'one of twenty');
is($up->users($in->{email}), 1, 'one account');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'user.created'"
           . " AND target_id = (SELECT id::text FROM svc.user_account"
           . " WHERE user_name = '$in->{email}')"), 1, 'made once');

$in = $up->begin(fresh());

my $wrong = $in->{code} eq '123456' ? '654321' : '123456';

%status = ();
$status{ $_->read->status }++
    for map { verifying({ %$in, code => $wrong }) } 1 .. 20;
is_deeply(\%status, { 401 => 5, 400 => 15 }, 'five guesses of twenty');

# two sign-ups for one address

my $first = $up->begin(fresh());

$s->sql("UPDATE svc.email_challenge SET created_at = created_at - interval '1 minute'");

my $second = $up->begin($first->{email}, password => 'rowing past nine lanterns');

is($up->verify($second)->status, 201, 'the second one is shown first');
admin_error($up->verify($first), 400, 'challenge_expired', 'the address is taken now');
admin_error(SvcTest::Browser->new($s, tenant => 'acme')->login($first->{email}), 401,
            'invalid_credentials', 'and has the password of the second');

# another user gets the address between the read and the write

$in = $up->begin(fresh());

my $holder = $s->connect_as('postgres');

$holder->query('BEGIN');
$holder->query('SELECT FROM svc.email_challenge WHERE id ='
               . " '$in->{challengeId}' FOR UPDATE");

my $c = verifying($in);

ok((wait_for { $s->waiting == 1 }), 'it waits');
$holder->query('INSERT INTO svc.user_account (tenant_id, id, user_name) VALUES ('
               . "'$acme->{id}', gen_random_uuid(), upper('$in->{email}'))");
$holder->query('COMMIT');
admin_error($c->read, 400, 'challenge_expired', 'taken meanwhile');
is($up->users($in->{email}), 1, 'by the other one alone');
is($s->sql('SELECT count(*) FROM svc.session s JOIN svc.user_account u ON u.id ='
           . " s.user_id WHERE u.user_name_key = '$in->{email}'"), 0, 'with no session');


# --- clients that leave --------------------------------------------------------------------

for my $how (qw(close abort)) {
    my @left = map { $up->begin(fresh()) } 1 .. 5;

    $_->$how for map { $s->begin(POST => $up->{path}, [], body(fresh())) } 1 .. 10;
    $_->$how for map { verifying($_) } @left;

    $in = $up->begin(fresh());
    is($up->verify($in)->status, 201, "$how: others go on");
    ok((wait_for { $mail->pending == 0 }), "$how: the mails go out");
}

ok($s->unharmed(\@workers, 'clients that leave'), 'the worker is the same');
is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');
is($s->sql('SELECT count(*) FROM svc.user_account u WHERE NOT EXISTS (SELECT FROM'
           . ' svc.password p WHERE p.user_id = u.id)'
           . " AND u.user_name LIKE 'new%'"), 0, 'no account is half made');


# --- without mail ------------------------------------------------------------------------------

sub at_once {
    my ($email, %more) = @_;

    my $b = delete $more{browser} // SvcTest::Browser->new($s, port => $plain->{port});

    return $b->post($up->{path}, { %{ body($email) }, %more });
}

my $b = SvcTest::Browser->new($s, port => $plain->{port});
my $email = fresh();

my $r = at_once($email, browser => $b, displayName => 'Ada', role => 'owner');

is($r->status, 201, 'an account at once') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'not kept');
is($r->json->{user}{email}, $email, 'whose it is');
is($r->json->{user}{displayName}, 'Ada', 'with a name');
is($r->json->{role}, 'member', 'a member');
is($b->get('/v1/auth/session')->status, 200, 'signed in');
is($s->sql("SELECT email_verified || ' ' || source FROM svc.user_account"
           . " WHERE user_name = '$email'"), 'false local', 'nobody has proved it');
is_deeply([ map { $_->[0] } $acme->events_where("target_id = '" . $r->json->{user}{id} . "'",
                                                'action') ],
          [ qw(user.created user.login) ], 'audited');

admin_error(at_once(uc $email), 409, 'email_taken', 'and again');
is($up->users($email), 1, 'one account');
admin_error(at_once($email, password => 'password1234'), 400, 'password_rejected',
            'the password comes first');
admin_error(SvcTest::Browser->new($s, port => $plain->{port})
                ->post("$up->{path}/verify", { token => 'x' }), 404, 'not_found',
            'there is nothing to verify');

$email = fresh();
%status = ();
$status{ $_->read->status }++
    for map { $s->begin(POST => $up->{path}, [], body($email),
                        port => $plain->{port}) } 1 .. 5;
is_deeply(\%status, { 201 => 1, 409 => 4 }, 'one of five');
is(at_once($email)->status, 429, 'five an hour of an address, whatever came of it');

$s->sql("UPDATE svc.governance SET access_number = access_number + 1,"
        . " access_policy = '{\"rules\":[],\"defaultAction\":\"mfa\"}'");
$b = SvcTest::Browser->new($s, port => $plain->{port});
admin_error(at_once(fresh(), browser => $b), 403, 'mfa_enrollment_required',
            'the policy wants a factor');
admin_error($b->get('/v1/auth/session'), 403, 'mfa_enrollment_required',
            'the session waits');
$s->sql("UPDATE svc.governance SET access_number = access_number + 1,"
        . " access_policy = '{\"rules\":[],\"defaultAction\":\"allow\"}'");

$up->allow(0);
admin_error(at_once(fresh()), 403, 'signup_disabled', 'not allowed');
$up->allow;


# --- Redis is away -------------------------------------------------------------------------------

my $later = $up->begin(fresh());
my $rows = $s->sql('SELECT count(*) FROM svc.email_challenge');

$s->redis->stop;

ok((wait_for { $up->start(fresh())->status == 503 }), '503 while Redis is down');
with_password($s, $acme, userName => 'known@acme.test');

for my $email (fresh(), 'known@acme.test') {
    admin_error($up->start($email), 503, 'unavailable', 'whose address it ever is')
        for 1 .. 6;
}

is($s->sql('SELECT count(*) FROM svc.email_challenge'), $rows, 'nothing is looked up');
is($up->verify($later)->status, 201, 'what has been mailed is good');
is(at_once(fresh())->status, 201, 'who mails nothing goes on');

$s->redis->launch;
ok((wait_for { $up->start(fresh())->status == 202 }), 'and then again');

# between the hash and the mail

$holder->query('BEGIN');
$holder->query('LOCK svc.email_challenge');
$c = $s->begin(POST => $up->{path}, [], body(fresh()));
ok((wait_for { $s->waiting == 1 }), 'one is about to be written');
$s->redis->stop;
wait_for { $up->start(fresh())->status == 503 };
$holder->query('COMMIT');
admin_error($c->read, 503, 'unavailable', 'no code that never comes');
$s->redis->launch;
ok((wait_for { $up->start(fresh())->status == 202 }), 'and again');


# --- PostgreSQL is --------------------------------------------------------------------------------

$in = $up->begin(fresh());
$holder->query('BEGIN');
$holder->query('LOCK svc.user_account');
$c = verifying($in);
ok((wait_for { $s->waiting == 1 }), 'an account is about to be written');
$s->pg->stop('QUIT');
$r = $c->read;
admin_error($r, 503, 'unavailable', 'PostgreSQL is gone at the write');
is($r->header('Set-Cookie'), undef, 'there is no cookie');

$s->pg->launch;
$s->wait_healthy;
is($up->users($in->{email}), 0, 'no account');
is($up->verify($in)->status, 201, 'and the code is as good as it was');

$s->done;
done_testing();
