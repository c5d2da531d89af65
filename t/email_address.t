#!/usr/bin/perl

# Shows how a user verifies his own address by what is mailed to it, and changes it.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(burst);
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);

my $START = '/v1/auth/email/verify/start';
my $VERIFY = '/v1/auth/email/verify';
my $CHANGE = '/v1/auth/email/change';
my $NEW = '/v1/auth/email/change/verify';
my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on',
    svc_password_hash => 'memory=7m iterations=1', svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 200',
    'RATE_LIMIT_SIGNUP_IP_MAX 1000' ]);

$s->start;

my $plain = $s->node(svc => { svc_sign_in => 'on' });
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);


sub signed_in {
    my ($email, %opt) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme', %opt);
    my $r = $b->login($email);

    is($r->status, 200, "$email signs in") or diag($r->body);

    return $b;
}


sub user {
    my ($name) = @_;

    my $user = with_password($s, $acme, userName => "$name\@acme.test",
                             displayName => ucfirst $name, locale => 'fr');

    $s->sql("UPDATE svc.user_account SET source = 'local', email_verified = false"
            . " WHERE id = '$user->{id}'");

    return (signed_in("$name\@acme.test"), $user->{id});
}


# Moves all times an hour back for the limit of mails; no code becomes too old.

sub later {
    $s->sql("UPDATE svc.email_challenge SET created_at = created_at - interval '1 h'");
    $s->sql("UPDATE svc.user_account SET valid_after = valid_after - interval '1 h'");
    $s->sql("UPDATE svc.session SET created_at = created_at - interval '1 h'");
}


my $mails = 0;

# Returns what the request has mailed: its code, and the token of the link.

sub mailed {
    my ($r, $to, $name) = @_;

    is($r->status, 202, "$name: it is accepted") or diag($r->body);
    like($r->json->{expiresAt}, $TIME, "$name: until when");

    my $got = ($mail->wait(++$mails))[-1] // {};

    is_deeply($got->{to}, [ $to ], "$name: a mail comes");

    my ($code) = ($got->{plain} // '') =~ /^\s*(\d{6})\r?$/m;
    my ($token) = ($got->{plain} // '') =~ m{/account\?tenant=acme#(?:verify|change)=([\w-]{43})\r?$}m;

    $s->secret($token) if $token;

    return { code => $code, token => $token, mail => $got };
}


sub wrong { return { code => sprintf '%06d', ($_[0]{code} + 1) % 1_000_000 } }
sub code { return { code => "$_[0]{code}" } }
sub token { return { token => $_[0]{token} } }


sub verified {
    my ($id) = @_;

    return $s->sql("SELECT email_verified FROM svc.user_account WHERE id = '$id'") eq 't';
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'actor_id');
}


# --- verifying the address --------------------------------------------------------

my ($ada, $ada_id) = user('ada');
my $other = signed_in('ada@acme.test');
my $sent = mailed($ada->post($START), 'ada@acme.test', 'verify');

like($sent->{mail}{html}, qr/lang="fr"/, "in the user's language");
is($ada->post($START)->status, 202, 'and again');
admin_error($other->post($VERIFY, code($sent)), 400, 'challenge_expired',
            'a code of another session');
admin_error($other->post($VERIFY, token($sent)), 400, 'invalid_token',
            'a link of another session');
admin_error($ada->post($NEW, code($sent)), 400, 'challenge_expired',
            'a code for something else');
admin_error($ada->post($VERIFY, wrong($sent)), 401, 'invalid_code', 'a wrong one');
ok(!verified($ada_id), 'is nothing');

my $r = $ada->post($VERIFY, code($sent));

is($r->status, 200, 'the right one') or diag($r->body);
is_deeply($r->json, { email => 'ada@acme.test', emailVerified => JSON::PP::true },
          'what it is now');
is($r->header('Cache-Control'), 'no-store', 'it is stored nowhere');
ok(verified($ada_id), 'verified');
is_deeply([ events('email.verified') ], [ $ada_id ], 'audited');
admin_error($ada->post($VERIFY, code($sent)), 400, 'challenge_expired',
            'a code is good once');
ok((wait_for { $mail->pending == 0 }), 'nothing is left');
is(scalar($mail->events('mail')), $mails, 'one mail in 30 seconds');

later();
$sent = mailed($ada->post($START), 'ada@acme.test', 'once more');
is($ada->post($VERIFY, token($sent))->status, 200, 'a link');
admin_error($ada->post($VERIFY, token($sent)), 400, 'challenge_expired',
            'which is good once');
is(scalar(events('email.verified')), 1, 'is no change');

for my $body ({}, { code => '12345' }, { code => '123456', token => 'x' }, { token => '' },
              { token => 'x' x 129 }, { code => 123456 }, { code => "\x{661}" x 6 })
{
    admin_error($ada->post($VERIFY, $body), 400, 'invalid_request',
                'a body that is none');
}


# --- guesses ----------------------------------------------------------------------

sub attempts { return $s->sql('SELECT max(attempts) FROM svc.email_challenge'
                              . ' WHERE used_at IS NULL') }

my ($bob, $bob_id) = user('bob');

$sent = mailed($bob->post($START), 'bob@acme.test', 'to be guessed');
admin_error($bob->post($VERIFY, wrong($sent)), 401, 'invalid_code',
            "guess $_") for 1 .. 5;
admin_error($bob->post($VERIFY, code($sent)), 400, 'challenge_expired', 'the sixth');
is(attempts(), 5, 'five');

later();
$sent = mailed($bob->post($START), 'bob@acme.test', 'many guesses');

my %seen;

$seen{ join ' ', $_->status, $_->json->{error}{code} }++
    for burst($bob, 30, $VERIFY, wrong($sent));
is_deeply(\%seen, { '401 invalid_code' => 5, '400 challenge_expired' => 25 },
          'of thirty at once five are compared');

later();
$sent = mailed($bob->post($START), 'bob@acme.test', 'too old');
$s->sql("UPDATE svc.email_challenge SET expires_at = now() - interval '1 ms' WHERE used_at IS NULL");
admin_error($bob->post($VERIFY, code($sent)), 400, 'challenge_expired', 'ten minutes');
admin_error($bob->post($VERIFY, token($sent)), 400, 'challenge_expired',
            'of a link, too');
ok(!verified($bob_id), 'all of that is nothing');

later();
$sent = mailed($bob->post($START), 'bob@acme.test', 'at once');
is_deeply([ sort map { $_->status } burst($bob, 4, $VERIFY, code($sent)) ],
          [ 200, 400, 400, 400 ], 'the right one is good once, whoever is faster');


# --- changing the address ---------------------------------------------------------

my ($eve, $eve_id) = user('eve');
my $second = signed_in('eve@acme.test');

sub change { return $_[0]->post($CHANGE, { email => $_[1] }) }

$s->sql('INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)'
        . " VALUES ('$acme->{id}', sha256('link'), '$eve_id', now() + interval '1 h')");

my $old = mailed($eve->post($START), 'eve@acme.test', 'for the old address');

later();
$sent = mailed(change($eve, 'Eve@new.test'), 'Eve@new.test', 'change');

unlike($s->sql("SELECT encode(data, 'escape') FROM svc.email_challenge"
               . " WHERE kind = 'change'"), qr/new\.test/, 'the new address is sealed');
is($eve->get('/v1/auth/profile')->json->{email}, 'eve@acme.test',
   'nothing is changed yet');
admin_error($eve->post($NEW, wrong($sent)), 401, 'invalid_code', 'a wrong code');
admin_error($second->post($NEW, code($sent)), 400, 'challenge_expired',
            'the code of another session');
admin_error($second->post($NEW, token($sent)), 400, 'invalid_token', 'and its link');

my $before = $eve->{cookies}{svc_session};

$r = $eve->post($NEW, code($sent));
is($r->status, 200, 'the right one') or diag($r->body);
is_deeply($r->json, { email => 'Eve@new.test', emailVerified => JSON::PP::true },
          'is it');
isnt($eve->{cookies}{svc_session}, $before, 'the session goes on under another key');
is($eve->get('/v1/auth/session')->json->{user}{email}, 'Eve@new.test',
   'as somebody else');
admin_error($second->get('/v1/auth/session'), 401, 'unauthenticated',
            'others have ended');
admin_error(SvcTest::Browser->new($s)->get('/v1/auth/session', undef,
                                           Cookie => "svc_session=$before"),
            401, 'unauthenticated', 'the old key has, too');
ok(verified($eve_id), 'it is verified');
is_deeply([ events('email.changed') ], [ $eve_id ], 'audited');
is_deeply([ $acme->events_where("action = 'user.updated'", 'details') ],
          [ [ { changed => [ 'email' ] } ] ], 'as any change of a user');

my $notice = ($mail->wait(++$mails))[-1] // {};

is_deeply($notice->{to}, [ 'eve@acme.test' ], 'the old address hears of it');
like($notice->{html}, qr/lang="fr"/, "in the user's language");
admin_error($eve->post($VERIFY, code($old)), 400, 'challenge_expired',
            'what was mailed to it is good for nothing');
admin_error($s->http(POST => '/v1/auth/password/reset', [],
                     { token => 'link', password => 'rowing past nine lanterns',
                       tenant => 'acme' }), 400, 'invalid_token', 'nor is a link to it');
is(signed_in('eve@NEW.test')->get('/v1/auth/session')->status, 200,
   'signs in with the new one');
is_deeply([ map { $_->{id} } @{ $acme->admin(GET => '/users?q=Eve@new')->json->{users} } ],
          [ $eve_id ], 'and is found by it');


# --- an address that another user has ---------------------------------------------

later();
$r = change($eve, 'BOB@acme.test');
is($r->status, 202, 'taken: the same answer');
like($r->json->{expiresAt}, $TIME, 'until when');

$sent = ($mail->wait(++$mails))[-1] // {};
is_deeply($sent->{to}, [ 'bob@acme.test' ], 'its owner hears of it');
unlike($sent->{plain} // '', qr/\b\d{6}\b|#change=/, 'and gets no code');
admin_error($eve->post($NEW, { code => '123456' }), 401, 'invalid_code',
            'a guess says as much as of a free one');

later();
$sent = mailed(change($eve, 'free@new.test'), 'free@new.test', 'free as yet');
with_password($s, $acme, userName => 'Free@new.test');
admin_error($eve->post($NEW, code($sent)), 400, 'challenge_expired', 'taken meanwhile');
is($eve->get('/v1/auth/profile')->json->{email}, 'Eve@new.test', 'nothing is changed');

# Another user takes the address at the same moment.

later();
$sent = mailed(change($eve, 'race@new.test'), 'race@new.test', 'a race');

my $db = $s->connect_as('postgres');

$db->query($_) for 'BEGIN', "UPDATE svc.user_account SET user_name = 'race\@new.test',"
    . " user_name_key = 'race\@new.test' WHERE id = '$bob_id'";

my $c = $s->begin(POST => $NEW, [ Cookie => $eve->cookie,
                  'X-CSRF-Token' => $eve->{csrf} ],
                  code($sent));

ok((wait_for { $s->waiting == 1 }), 'it waits for who is faster');
$db->query('COMMIT');
admin_error($c->read, 400, 'challenge_expired', 'and is too late');
is($eve->get('/v1/auth/session')->status, 200, 'the session goes on');


# --- what is refused --------------------------------------------------------------

admin_error(change($eve, 'eve@NEW.test'), 400, 'invalid_request', 'the same one');
admin_error(change($eve, $_), 400, 'invalid_request', 'no address') for 'x',
            "a\@b\r\nTo: c";

$s->sql("UPDATE svc.user_account SET source = 'scim' WHERE id = '$eve_id'");
admin_error(change($eve, 'scim@new.test'), 403, 'forbidden', 'of an identity provider');
$s->sql("UPDATE svc.user_account SET source = 'local' WHERE id = '$eve_id'");

later();
$sent = mailed(change($eve, 'late@new.test'), 'late@new.test', 'not a provider yet');
$s->sql("UPDATE svc.user_account SET source = 'scim' WHERE id = '$eve_id'");
admin_error($eve->post($NEW, code($sent)), 400, 'challenge_expired', 'and then of one');
$s->sql("UPDATE svc.user_account SET source = 'local' WHERE id = '$eve_id'");

$s->sql("UPDATE svc.session SET reauth_at = now() - interval '601 s'");
admin_error(change($eve, 'stale@new.test'), 403, 'step_up_required', 'who is not fresh');
$s->sql('UPDATE svc.session SET reauth_at = now()');

my @node = (port => $plain->{port});

for my $path ($START, $VERIFY, $CHANGE, $NEW) {
    is($s->http(POST => $path, { Cookie => $eve->cookie, 'X-CSRF-Token' => $eve->{csrf} },
                $path eq $CHANGE ? { email => 'x@new.test' } : { code => '123456' },
                @node)->status, 404, "$path: 404 without svc_mail");
    is(SvcTest::Browser->new($s)->post($path, {})->status, 401,
       "$path: without a session");
}

later();
my @statuses = map { change($eve, 'much@new.test')->status } 1 .. 6;

is_deeply(\@statuses, [ (202) x 5, 429 ], 'five an hour for an address');
is_deeply([ map { $_->{to}[0] } ($mail->wait(++$mails))[-1] ], [ 'much@new.test' ],
          'and one mail');


# --- clients that leave -----------------------------------------------------------

later();
$sent = mailed(change($eve, 'gone@new.test'), 'gone@new.test', 'a client that goes');
$db->query($_) for 'BEGIN', "SELECT FROM svc.user_account WHERE id = '$eve_id' FOR UPDATE";
$c = $s->begin(POST => $NEW, [ Cookie => $eve->cookie, 'X-CSRF-Token' => $eve->{csrf} ],
               code($sent));
ok((wait_for { $s->waiting == 1 }), 'it waits');
$c->close;
$db->query('COMMIT');
ok((wait_for { $s->sql("SELECT user_name FROM svc.user_account WHERE id = '$eve_id'")
               eq 'gone@new.test' }), 'it is changed all the same');
is_deeply([ map { $_->{to}[0] } ($mail->wait(++$mails))[-1] ], [ 'Eve@new.test' ],
          'and the old address hears of it');

$eve = signed_in('gone@new.test');
later();
$sent = mailed(change($eve, 'lost@new.test'), 'lost@new.test', 'a database that goes');
$db->query($_) for 'BEGIN', "SELECT FROM svc.user_account WHERE id = '$eve_id' FOR UPDATE";
$c = $s->begin(POST => $NEW, [ Cookie => $eve->cookie, 'X-CSRF-Token' => $eve->{csrf} ],
               code($sent));
ok((wait_for { $s->waiting == 1 }), 'it waits');
$s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'");
$r = $c->read;
is($r->status, 503, 'what is lost is 503');
is($r->header('Set-Cookie'), undef, 'without a cookie');
$db->query('COMMIT');
is($eve->post($NEW, code($sent))->status, 200, 'and the code is as good as it was');
$mail->wait(++$mails);

$s->redis->stop;
later();

my $rows = $s->sql('SELECT count(*) FROM svc.email_challenge');

ok((wait_for { $eve->post($START)->status == 503 }), '503 while Redis is away');
admin_error(change($eve, 'redis@new.test'), 503, 'unavailable', 'of a change, too');
is($s->sql('SELECT count(*) FROM svc.email_challenge'), $rows, 'and nothing is written');

$mail->stop;
$s->done;
done_testing();
