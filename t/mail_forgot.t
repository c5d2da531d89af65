#!/usr/bin/perl

# Shows the mail of a forgotten password, its link, and that nobody learns which users
# exist.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Mail;
use SvcTest::Process qw(wait_for slurp);


my $s = SvcTest->new(workers => 1, http => '    set_real_ip_from 127.0.0.1;'
                                           . ' real_ip_header X-Test-Address;');
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on',
                              svc_set => 'RATE_LIMIT_SIGNUP_EMAIL_MAX 9');

$s->start;

my $plain = $s->node(svc => { svc_sign_in => 'on' });
my $acme = $s->tenant('acme');
my $n = 0;
my $mails = 2;                  # mails that have come when the first ones are read

$s->secret($PASSWORD);


sub post {
    my ($path, $body, %opt) = @_;

    return $s->http(POST => "/v1/auth/password/$path",
                    [ 'X-Test-Address' => $opt{from} // '10.7.0.' . ++$n ],
                    $body, $opt{port} ? (port => $opt{port}) : ());
}


sub forgot { return post(forgot => { email => $_[0], tenant => 'acme' }) }


sub link_of {
    my ($got) = @_;

    return ($got->{plain} // '') =~ /(\S+)\/reset\?tenant=acme#token=([\w-]{43})\r?$/m;
}


# Waits until all that was asked for is done: requests are handled one after the
# other, and the last one has a mail.

sub after {
    forgot('last@acme.test');
    $mail->wait(++$mails);
    ok((wait_for { $mail->pending == 0 }), 'nothing is left');
    $s->sql("DELETE FROM svc.password_reset r USING svc.user_account u WHERE u.id ="
            . " r.user_id AND u.user_name = 'last\@acme.test'");
}


with_password($s, $acme, userName => 'last@acme.test');
with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada',
              locale => 'de-AT');


# --- the mail, and the link -------------------------------------------------------

my $r = forgot('ADA@acme.test');

is($r->status, 202, 'it is accepted');
is($r->body, '{}', 'and nothing is said');
is($r->header('Cache-Control'), 'no-store', 'it is stored nowhere');

my ($got) = $mail->wait(1);
my ($base, $token) = link_of($got // {});

is_deeply($got->{to}, [ 'ada@acme.test' ], 'a mail comes');
is($base, $s->base_url, 'with a link to here');
like($got->{html}, qr/lang="de"/, "in the user's language");
$s->secret($token) if $token;

is(post(reset => { token => $token, password => 'rowing past nine lanterns',
                   tenant => 'acme' })->status, 204, 'which sets a password');
is(post(reset => { token => $token, password => 'rowing past ten lanterns',
                   tenant => 'acme' })->status, 400, 'once');
is(SvcTest::Browser->new($s, tenant => 'acme')
       ->login('ada@acme.test', 'rowing past nine lanterns')->status, 200,
   'and it is good');
is(scalar(@{ [ $mail->wait(2) ] }), 2, 'of which another mail tells');

is_deeply([ map { $_->[0]{source} }
            $acme->events_where("action = 'password.reset_requested'",
                                'details') ], [ 'mail' ], 'it is audited');


# --- by an administrator -------------------------------------------------------------------

my $bo = with_password($s, $acme, userName => 'bo@acme.test', locale => 'de')->{id};
my $chief = with_password($s, $acme, userName => 'chief@acme.test', role => 'admin')->{id};
my $manages = $acme->token_for('members:manage');
my $MADE = "SELECT count(*) FROM svc.password_reset WHERE user_id = '$bo'";

sub send_link {
    my ($id, $token, %opt) = @_;

    return $s->http(POST => "/v1/admin/users/$id/reset-link",
                    [ Authorization => 'Bearer ' . ($token // $manages) ], undef, %opt);
}

$r = send_link($bo);
is_deeply([ $r->status, $r->body ], [ 202, '{}' ], 'an administrator has a link sent');
$got = ($mail->wait(++$mails))[-1];
($base, $token) = link_of($got);
is_deeply($got->{to}, [ 'bo@acme.test' ], 'to the user');
is($base, $s->base_url, 'it leads here');
like($got->{html}, qr/lang="de"/, "in the user's language");
unlike($got->{plain}, qr/^\S+ 127\.0\.0\.1/m, 'and does not tell where the administrator is');
$s->secret($token) if $token;
is_deeply([ $acme->events_where("target_id = '$bo' AND action = 'password.reset_requested'",
                                'actor_type', 'details') ],
          [ [ 'apiToken', { source => 'administrator' } ] ], 'it is audited');
is(post(reset => { token => $token, password => 'rowing past nine lanterns',
                   tenant => 'acme' })->status, 204, 'it sets a password');
$mail->wait(++$mails);

$s->sql('INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at) SELECT'
        . " '$acme->{id}', sha256(i::text::bytea), '$bo', now() + interval '20 minutes'"
        . ' FROM generate_series(1, 9) i');
is_deeply([ map { send_link($bo)->status } 1 .. 6 ], [ (202) x 5, 429 ],
          'five may be good, beside what others have asked for');
$mails += 5;
$mail->wait($mails);
is($s->sql($MADE), 14, 'the sixth one is not made');
$r = send_link($bo);
is($r->json->{error}{code}, 'rate_limited', 'why');
like($r->header('Retry-After'), qr/\A1[78]\d\d\z/, 'until one of them is over');
is(send_link($chief)->status, 403, 'not to an administrator, by who may less');
is(send_link($bo, $acme->token_for('users:view'))->status, 403, 'nor without members:manage');
is(send_link('0197f3a2-0000-7000-8000-000000000000')->status, 404, 'nor to nobody');
is(send_link($bo, undef, port => $plain->{port})->status, 404, 'nor without svc_mail');
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$bo'");
is(send_link($bo)->status, 409, 'nor to who is suspended');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$bo'");
$s->sql("UPDATE svc.tenant SET sign_in_forced = true WHERE slug = 'acme'");
$s->sql('INSERT INTO svc.domain (tenant_id, domain, verified_at, sign_in, rp_id) VALUES'
        . " ('$acme->{id}', 'acme.test', now(), gen_random_uuid(), 'acme.test')");
is(send_link($bo)->json->{error}{code}, 'sso_required', 'nor to who comes in by a connection');
$s->sql('DELETE FROM svc.domain');
$s->sql("UPDATE svc.tenant SET sign_in_forced = false WHERE slug = 'acme'");
$s->sql('DELETE FROM svc.password_reset');

# An address is counted, whoever has it: erasing its user makes no more room.

for my $round ([ 5, 'five', 202 ], [ 4, 'four', 202 ], [ 1, 'the tenth', 429 ]) {
    my ($times, $how_many, $status) = @$round;
    my $again = $acme->create(userName => 'again@acme.test')->{id};

    is_deeply([ map { ($r = send_link($again))->status } 1 .. $times ], [ ($status) x $times ],
              "$how_many in an hour: $status");
    is($acme->admin(DELETE => "/users/$again", undef, undef, $manages)->status, 204, 'the user is erased');
}

$mails += 9;
$mail->wait($mails);
is($r->json->{error}{code}, 'rate_limited', 'why');
like($r->header('Retry-After'), qr/\A3[0-9]{3}\z/, 'for the rest of the hour');
is(scalar($s->sql("SELECT count(*) FROM svc.password_reset")), 0, 'no link is made');
is_deeply([ $acme->events_where("action = 'rate_limit.exceeded'", 'details') ],
          [ [ { family => 'link', key => 'email', limit => 9, window => 3600 } ] ],
          'it is audited');
is(forgot('again@acme.test')->status, 202, 'whoever asks for one is admitted');


# --- the language --------------------------------------------------------------------

# The page's language counts for a user without one, and the best match of the
# tenant's templates is taken.

with_password($s, $acme, userName => 'eva@acme.test');
with_password($s, $acme, userName => 'ida@acme.test', locale => 'es');

for my $case ([ 'eva', 'fr', 'fr' ], [ 'eva', 'es, fr;q=0.5, de;q=0.7', 'de' ],
              [ 'eva', 'es', 'en' ], [ 'eva', 'en-GB,de;q=0.9', 'en' ],
              [ 'eva', 'de;q=0, *', 'en' ], [ 'eva', undef, 'en' ],
              [ 'eva', "de\x{7f}, ;;q=, fr;q=0.1" . ', x' x 500, 'fr' ],
              [ 'ada', 'fr', 'de' ], [ 'ida', 'fr', 'fr' ], [ 'ida', 'de-CH', 'de' ])
{
    my ($who, $accept, $language) = @$case;

    $s->sql('DELETE FROM svc.password_reset');

    my $r = $s->http(POST => '/v1/auth/password/forgot',
                     { 'X-Test-Address' => '10.7.1.' . ++$n,
                       defined $accept ? ('Accept-Language' => $accept) : () },
                     { email => "$who\@acme.test", tenant => 'acme' });
    is($r->status, 202, "$who: " . substr $accept // 'none', 0, 30);

    my $got = ($mail->wait(++$mails))[-1];
    like($got->{html}, qr/lang="$language"/, "in $language");
    $s->secret((link_of($got))[1] // ());
    $s->sql('DELETE FROM svc.password_reset');
}


# --- the only tenant ---------------------------------------------------------------------

$s->sql('DELETE FROM svc.password_reset');
is(post(forgot => { email => 'ada@acme.test' })->status, 202, 'nobody has to name it');
$got = ($mail->wait(++$mails))[-1];
is_deeply($got->{to}, [ 'ada@acme.test' ], 'and the mail comes');
$s->secret((link_of($got))[1] // ());
$s->sql('DELETE FROM svc.password_reset');


# --- unknown users, and those who may not sign in ----------------------------------------

with_password($s, $acme, userName => 'gone@acme.test', active => JSON::PP::false);

for my $email ('nobody@acme.test', 'gone@acme.test') {
    my $r = forgot($email);

    is($r->status, 202, "$email: the same");
    is($r->body, '{}', 'answer');
}

is(post(forgot => { email => 'ada@acme.test', tenant => 'nowhere' })->status,
   202, 'an unknown tenant, too');
after();
is(scalar($mail->events('mail')), $mails, 'no mail comes');
is(scalar($s->sql('SELECT count(*) FROM svc.password_reset')), 0,
   'and there is no token');


# --- an address that changes meanwhile ---------------------------------------------------

# An uncommitted change may take the mailbox away from whoever asks for the link: the
# link goes to the address after the change.

with_password($s, $acme, userName => 'moves@acme.test');

my $holder = $s->connect_as('postgres');

$holder->query('BEGIN');
$holder->query("SELECT FROM svc.user_account WHERE user_name = 'moves\@acme.test'"
               . ' FOR UPDATE');
$holder->query("UPDATE svc.user_account SET user_name = 'moved\@acme.test',"
               . " user_name_key = 'moved\@acme.test', valid_after = clock_timestamp()"
               . " WHERE user_name = 'moves\@acme.test'");

my $c = $s->begin(POST => '/v1/auth/password/forgot', [ 'X-Test-Address' => '10.7.9.9' ],
                  { email => 'moves@acme.test', tenant => 'acme' });

ok((wait_for { $s->waiting == 1 }), 'it waits for who changes the user');
$holder->query('COMMIT');
is($c->read->status, 202, 'the answer is the same');
after();
is(scalar($mail->events('mail')), $mails, 'no mail goes to the old address');
is(scalar($s->sql('SELECT count(*) FROM svc.password_reset')), 0,
   'and there is no token');


# --- what is refused ------------------------------------------------------------------------

for my $body ({ tenant => 'acme' }, { email => 'a b@c', tenant => 'acme' },
              { email => "a\@b\r\nBcc: c\@d", tenant => 'acme' },
              { email => [ 'a@b' ], tenant => 'acme' },
              { email => 'x' x 250 . '@b.test', tenant => 'acme' },
              { email => 'a@b', tenant => 'A B' })
{
    is(post(forgot => $body)->status, 400, 'a body that is none');
}

is(post(forgot => { email => 'ada@acme.test', tenant => 'acme' },
        port => $plain->{port})->status, 404, '404 without svc_mail');

my @codes = map { forgot('eve@acme.test')->status } 1 .. 11;
is_deeply(\@codes, [ (202) x 9, 429, 429 ], 'so many an hour of an address');

$acme->{system}->sql("UPDATE svc.tenant SET suspended_at = now()");
is(forgot('ada@acme.test')->status, 403, 'a suspended tenant');
$acme->{system}->sql("UPDATE svc.tenant SET suspended_at = NULL");


# --- without Redis ------------------------------------------------------------------------------

$s->redis->stop;
ok((wait_for { forgot('ada@acme.test')->status == 503 }),
   '503 while Redis is down');
is(forgot('nobody@acme.test')->status, 503, 'whoever it is for');
is(forgot('nobody@acme.test')->json->{error}{code}, 'unavailable', 'its code');
is(scalar($s->sql('SELECT count(*) FROM svc.password_reset')), 0,
   'nothing was looked up');

$s->redis->launch;
ok((wait_for { forgot('ada@acme.test')->status == 202 }), 'and then again');
ok((wait_for { (() = $mail->events('mail')) > $mails }), 'with a mail');

$mail->stop;
$s->done;
done_testing();
