#!/usr/bin/perl

# Shows that mails tell users, and only them, what has happened to their accounts.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(enrolled totp);
use SvcTest::Mail;
use SvcTest::Metrics;
use SvcTest::Process qw(wait_for slurp);

my $OTHER = 'rowing past nine lanterns';
my $CHROME = 'Mozilla/5.0 (Macintosh) AppleWebKit/537.36 Chrome/140.0 Safari/537.36';

my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION,
                     http => '    set_real_ip_from 127.0.0.1;'
                             . ' real_ip_header X-Test-Address;');
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on',
                              svc_country => '$http_x_country',
                              svc_set => 'LOGIN_LOCKOUT_MAX 3');

$s->start;

my $acme = $s->tenant('acme');
my $token = $acme->token_for('members:manage,tenant:manage,users:view');
my $n = 0;
my $seen = 0;

$s->secret($PASSWORD, $OTHER);


sub browser {
    my (%opt) = @_;

    return SvcTest::Browser->new($s, tenant => 'acme', %opt);
}


sub user {
    my ($name, %more) = @_;

    return with_password($s, $acme, userName => "$name\@acme.test", %more);
}


sub from { return ('X-Test-Address' => '10.8.0.' . ++$n, 'X-Country' => 'FR') }


# Expects the mails that have come since the last call: the subject and the recipient
# of each. Redis tells that no others are on their way.

sub mailed {
    my ($want, $name) = @_;

    wait_for { $mail->pending == 0 && $mail->events('mail') >= $seen + @$want };

    my @all = $mail->events('mail');
    my @new = @all[ $seen .. $#all ];

    $seen = @all;
    is_deeply([ sort map { my $got = $_;
                           my ($subject) = map { $_->[1] } grep { $_->[0] eq 'Subject' }
                                           @{ $got->{headers} };
                           "$subject: @{ $got->{to} }" } @new ],
              [ sort @$want ], $name);

    return @new;
}

my ($CHANGED, $DEVICE, $LOCKED) = ('How you sign in to Acme has changed',
    'New sign-in to Acme', 'Your account at Acme is locked for a while');


# --- a new device --------------------------------------------------------------------

my $ada = user('ada', displayName => 'Ada');
my $b = browser();

is($b->login('ada@acme.test', undef)->status, 200, 'the first sign-in');
is($b->login('ada@acme.test', undef)->status, 200, 'another one there');
is(browser()->login('ada@acme.test')->status, 200, 'and of the same kind');
mailed([], 'tell of nothing');

my $c = browser(agent => $CHROME);
my $r = $c->ask(POST => '/v1/auth/login', { email => 'ada@acme.test', tenant => 'acme',
                                            password => $PASSWORD }, from());

is($r->status, 200, 'another browser');

my ($got) = mailed([ "$DEVICE: ada\@acme.test" ], 'is told of');

like($got->{plain}, qr/From 10\.8\.0\.1\r?\nCountry: FR/, 'from where it came');
like($got->{plain}, qr{^\Q@{[ $s->base_url ]}\E/login\?tenant=\w+\r?$}m, 'with a link to here');
is($c->login('ada@acme.test')->status, 200, 'it signs in again');
is(browser(agent => $CHROME)->login('ada@acme.test', 'wrong')->status, 401,
   'a failure');
mailed([], 'which is no news');


# --- the password --------------------------------------------------------------------

is($b->post('/v1/auth/password', { currentPassword => $PASSWORD, newPassword => $OTHER })
   ->status, 200, 'a new password');
mailed([ "$CHANGED: ada\@acme.test" ], 'is told of');
is($b->post('/v1/auth/password', { currentPassword => $PASSWORD,
                                   newPassword => "$OTHER, two" })->status, 401,
   'not with the wrong one');
mailed([], 'nor is that told');

my $reset = 'resetresetresetresetresetresetresetresetres';

$s->sql('INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)'
        . " VALUES ('$acme->{id}', sha256('$reset'), '$ada->{id}',"
        . " now() + interval '1 h')");

my @reset = (POST => '/v1/auth/password/reset', [ from() ],
             { token => $reset, password => 'four quiet harbours', tenant => 'acme' });

is($s->http(@reset)->status, 204, 'a link sets one');
is($s->http(@reset)->status, 400, 'once');
mailed([ "$CHANGED: ada\@acme.test" ], 'one mail');


# --- factors -------------------------------------------------------------------------

my $eve = user('eve', locale => 'de');
my $e = browser();

is($e->login('eve@acme.test')->status, 200, 'signed in');

my $factor = enrolled($e);
my $second = enrolled($e);

($got) = mailed([ ('Ihre Anmeldung bei Acme wurde geändert: eve@acme.test') x 2 ],
                'each factor');
is($e->post('/v1/mfa/totp', {})->status, 201, 'one that is not confirmed');
is($e->post('/v1/mfa/recovery-codes', {})->status, 201, 'other codes');
is($e->ask(DELETE => "/v1/mfa/factors/$second->{id}")->status, 204, 'and one less');
is($e->ask(DELETE => "/v1/mfa/factors/$second->{id}")->status, 404, 'once');
mailed([ ('Ihre Anmeldung bei Acme wurde geändert: eve@acme.test') x 2 ],
       'are told of');


# --- administrators' changes ---------------------------------------------------------

sub admin {
    my ($method, $path, $body) = @_;

    return $acme->admin($method => "/users/$eve->{id}$path", $body, [], $token)->status;
}

is(admin(POST => '/reset-mfa'), 200, 'factors are reset');
is(admin(POST => '/reset-mfa'), 200, 'and none are left');
($got) = mailed([ 'Ihre Anmeldung bei Acme wurde geändert: eve@acme.test' ],
                'one mail');
unlike($got->{plain}, qr/^Von /m, 'from where an administrator came is not told');

is(admin(PUT => '', { displayName => 'Eve', email => 'EVE@acme.test' }), 200,
   'the same address');
is(admin(PUT => '', { email => 'ada@acme.test' }), 409, 'one that is taken');
is(admin(PUT => '', { displayName => 'E' }), 200, 'another name');
mailed([], 'nothing is told');
is(admin(PUT => '', { email => 'mallory@evil.test' }), 200, 'another address');
mailed([ 'Ihre Anmeldung bei Acme wurde geändert: EVE@acme.test' ],
       'the old one is told');


# --- a locked account ----------------------------------------------------------------

sub guess {
    my ($email) = @_;

    return [ map { $s->http(POST => '/v1/auth/login', [ from() ],
                            { email => $email, tenant => 'acme',
                              password => 'wrong' })->status } 1 .. 4 ];
}

is_deeply(guess('ada@acme.test'), [ 401, 401, 429, 429 ], 'an account is locked');
($got) = mailed([ "$LOCKED: ada\@acme.test" ], 'its user is told, once');
like($got->{plain}, qr/From 10\.8\.0\.\d+\r?\nCountry: FR/, 'who has tried');
is_deeply(guess('nobody@acme.test'), [ 401, 401, 429, 429 ],
          'an address of nobody as well');
user('gone', active => JSON::PP::false);
is_deeply(guess('gone@acme.test'), [ 401, 401, 429, 429 ], 'and who is not active');
mailed([], 'nobody is told');

my $locks = $s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'user.locked'");
is($locks, 2, 'though two accounts are locked');

# Wrong codes of a second factor lock the account, and the client has left by then.

my $joe = user('joe');
my $j = browser();

$j->login('joe@acme.test');
enrolled($j);
mailed([ "$CHANGED: joe\@acme.test" ], 'a factor');
is($j->post('/v1/mfa/step-up', { code => '000000' })->status, 401, 'a wrong code')
    for 1, 2;

my $holder = $s->connect_as('postgres');

$holder->query('BEGIN');
$holder->query("SELECT FROM svc.user_account WHERE id = '$joe->{id}' FOR UPDATE");

my $guess = $s->begin(POST => '/v1/mfa/step-up',
                      [ Cookie => $j->cookie, 'X-CSRF-Token' => $j->{csrf} ],
                      { code => '000000' });

ok((wait_for { $s->waiting == 1 }), 'one more is on its way');
$guess->close;
is($s->http(GET => '/metrics')->status, 200, 'the worker has seen that');
$holder->query('COMMIT');
mailed([ "$LOCKED: joe\@acme.test" ], 'who guesses, and hangs up, locks it too');


# --- an address that is blocked, and a logo ------------------------------------------

is($acme->admin(POST => '/ip-blocks', { ip => '10.9.9.9' }, [], $token)->status, 201,
   'an address is blocked');

for my $email ('eve@acme.test', 'nobody@acme.test') {
    my $r = $s->http(POST => '/v1/auth/password/forgot',
                     [ 'X-Test-Address' => '10.9.9.9' ],
                     { email => $email, tenant => 'acme' });

    is($r->status, 403, "$email: no link from there");
    is($r->json->{error}{code}, 'access_denied', 'its code');
}

mailed([], 'nor a mail');

my $https = $s->node(svc => { $mail->directives('tls'), svc_sign_in => 'on',
                              svc_base_url => 'https://login.acme.test' });

$s->sql("UPDATE svc.tenant SET logo_etag = 'abc', branding = branding"
        . ' || \'{"primary": "#8a1f6b"}\'');

for ([ $s->port, 0 ], [ $https->{port}, 1 ]) {
    my ($port, $logo) = @$_;

    is($s->http(POST => '/v1/auth/password/forgot', [ from() ],
                { email => 'joe@acme.test', tenant => 'acme' }, port => $port)->status,
       202, 'a link');
    ($got) = mailed([ 'Set a new password for Acme: joe@acme.test' ], 'by mail');

    my ($src) = $got->{html} =~ /<img src="([^"]+)"/;

    is($src, $logo ? 'https://login.acme.test/v1/tenants/acme/logo?v=abc' : undef,
       $logo ? 'with the logo' : 'without one that nobody would load');
    like($got->{html}, qr/#8a1f6b/, 'in the colour of the tenant');
}


# --- without Redis -------------------------------------------------------------------

sub dropped {
    return SvcTest::Metrics->get($s)->value('svc_mail_total', outcome => 'dropped') // 0;
}

my $bob = user('bob');
my $d = browser();

is($d->login('bob@acme.test')->status, 200, 'signed in');
is(dropped(), 0, 'none is dropped');

$s->redis->stop;
wait_for { slurp($s->nginx->{log}) =~ /Redis.*(?:lost|closed|refused|connect)/i };
is($d->post('/v1/auth/password', { currentPassword => $PASSWORD, newPassword => $OTHER })
   ->status, 200, 'nothing waits for a mail');
ok((wait_for { dropped() == 1 }), 'which is dropped, and counted');

unlike(slurp($s->nginx->{log}), qr/\w\@acme\.test/, 'the log names nobody');
$s->redis->launch;


# --- the methods of sign-in that a page offers ---------------------------------------

sub offered {
    my $methods = $s->http(GET => '/v1/auth/options?tenant=acme')->json->{methods};

    return join ' ', map { $methods->{$_} ? 1 : 0 } qw(passwordless passwordReset);
}

is(offered(), '0 1', 'with mail, a link for a forgotten password');
is($acme->admin(PATCH => '/tenant', { branding => { allowPasswordless => JSON::PP::true } },
                [], $token)->status, 200, 'a tenant that wants no passwords');
ok((wait_for { offered() eq '1 1' }), 'none is needed');

delete @{ $s->nginx->{svc} }{ grep { /^svc_mail/ } keys %{ $s->nginx->{svc} } };
$s->nginx->reload;
is(offered(), '0 0', 'without mail neither, from the first request on');

$mail->stop;
$s->done;
done_testing();
