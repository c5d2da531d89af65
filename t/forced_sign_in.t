#!/usr/bin/perl

# Shows domains whose people come in by one connection alone: who may say so and when,
# and that all other ways in are closed to all addresses of them, whoever has one.

use strict;
use warnings;
use utf8;

use FindBin;
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Authenticator;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Idp;
use SvcTest::Mail;
use SvcTest::Mailed;
use SvcTest::Passkey qw(register sign_in);
use SvcTest::Process qw(wait_for);
use SvcTest::Realm qw(verified saml oidc came_by force);
use SvcTest::Receiver;
use SvcTest::Signup;

my $ORIGIN = 'http://localhost';
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

my $s = SvcTest->new(workers => 1,
                     svc => { SvcTest::Signup::svc(), svc_federation => 'on',
                              svc_base_url => $ORIGIN,
                              svc_set => [ map { ("RATE_LIMIT_${_}_IP_MAX 1000",
                                                  "RATE_LIMIT_${_}_EMAIL_MAX 1000") }
                                               qw(LOGIN SIGNUP) ] });
my $idp = SvcTest::Idp->new($s, SvcTest::Receiver->new($s), base => $ORIGIN,
                            keys => [ qw(oidc-1 oidc-2) ]);
my $mail = SvcTest::Mail->new($s, port => 'plain');

$s->start;
$idp->ready;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $codes = SvcTest::Mailed->new($s, $mail);
my $up = SvcTest::Signup->new($s, $mail, $acme);

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");
$s->secret($PASSWORD);
$codes->allow($acme, $globex);
$up->allow;

my $owner = with_password($s, $acme, userName => 'owner@acme.test', role => 'owner');
my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my $admin = with_password($s, $acme, userName => 'admin@acme.test', role => 'admin');
my $bob = with_password($s, $acme, userName => 'bob@other.test');
my $dan = with_password($s, $acme, userName => 'dan@other.test');
my $cleo = with_password($s, $acme, userName => 'cleo@acme.test');
my $own = SvcTest::Authenticator->new("$FindBin::Bin/..", $ORIGIN);
my $hers = SvcTest::Authenticator->new("$FindBin::Bin/..", $ORIGIN);


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


sub signed_in {
    my ($email, %opt) = @_;

    my $b = browser(%opt);

    is($b->login($email)->status, 200, "$email signs in") or die;

    return $b;
}


sub put {
    my ($b, $body, $domain) = @_;

    return $b->ask(PUT => '/v1/admin/domains/' . ($domain // 'acme.test') . '/sign-in', $body);
}


sub shown {
    my ($domain) = @_;

    my ($row) = grep { $_->{domain} eq ($domain // 'acme.test') }
                @{ $acme->admin(GET => '/domains')->json->{domains} };

    return $row;
}


sub events {
    return map { [ @$_ ] } $acme->events_where("action LIKE 'domain.%'",
                                               qw(action target_id details actor_type));
}


sub last_event { return (grep { $_->[0] ne 'domain.removed' } events())[-1] }


sub release {
    $s->sql("UPDATE svc.domain SET sign_in = NULL, rp_id = NULL"
            . " WHERE tenant_id = '$acme->{id}'");
}


# --- who may, and when ---------------------------------------------------------------

my $b = signed_in('owner@acme.test');

is(register($b, $own)->status, 201, 'the owner has a passkey');
is(register(signed_in('cleo@acme.test'), $hers)->status, 201, 'as a member has');

$b = browser();
is(sign_in($b, $own)->status, 200, 'the owner comes in by it');

admin_error(put($b, { connection => 'saml' }), 404, 'not_found', 'a domain that there is not');
verified($s, $acme, $_) for qw(acme.test beta.test);
is_deeply([ @{ shown() }{qw(signIn includeSubdomains)} ], [ undef, $FALSE ],
          'nobody has to come in so');

admin_error(put($b, $_), 400, 'invalid_request', JSON::PP::encode_json($_))
    for {}, { connection => 1 }, { connection => '' }, { connection => 'x' x 65 },
        { connection => undef, includeSubdomains => 'yes' },
        { connection => undef, endSessions => 1 };

admin_error(put($b, { connection => 'saml' }), 400, 'invalid_request',
            'a connection that there is not');

my $saml = saml($s, $acme);

admin_error(put($b, { connection => 'saml' }), 400, 'anti_lockout',
            'one that nobody has tried');
came_by($s, $owner, oidc($s, $acme, 'oidc'));
admin_error(put($b, { connection => 'saml' }), 400, 'anti_lockout', 'another one was tried');
came_by($s, $owner, $saml);

$s->sql("UPDATE svc.session SET auth_time = now() - interval '25 h' WHERE user_id ="
        . " '$owner->{id}'");
admin_error(put($b, { connection => 'saml' }), 400, 'anti_lockout', 'too long ago');
$s->sql("UPDATE svc.session SET auth_time = now() WHERE user_id = '$owner->{id}'");

for ([ "UPDATE svc.saml_sp SET link_by_email = 'never'",
       "UPDATE svc.saml_sp SET link_by_email = 'owned'", qr/"linkByEmail" is "never"/ ],
     [ "UPDATE svc.passkey SET rp_id = 'login.acme.test'",
       "UPDATE svc.passkey SET rp_id = 'localhost'", qr/an active owner needs a passkey/ ],
     [ "UPDATE svc.passkey SET rp_id = 'x' WHERE user_id = '$owner->{id}'",
       "UPDATE svc.passkey SET rp_id = 'localhost'", qr/an active owner needs a passkey/ ])
{
    $s->sql($_->[0]);
    my $r = put($b, { connection => 'saml' });
    admin_error($r, 400, 'anti_lockout', "$_->[2]");
    like($r->json->{error}{message}, $_->[2], 'which says what lacks');
    $s->sql($_->[1]);
}

$s->sql("UPDATE svc.domain SET verified_at = NULL WHERE domain = 'beta.test'");
admin_error(put($b, { connection => 'saml' }, 'beta.test'), 400, 'invalid_request',
            'a domain that is not verified');
$s->sql("UPDATE svc.domain SET verified_at = now() WHERE domain = 'beta.test'");

# sessions that began by it would end

$s->sql('UPDATE svc.session SET connection_id = NULL');
$s->sql('UPDATE svc.saml_sp SET enabled = false');
admin_error(put($b, { connection => 'saml' }), 400, 'invalid_request', 'one that is off');
$s->sql('UPDATE svc.saml_sp SET enabled = true');
came_by($s, $owner, $saml);

my $by_admin = signed_in('admin@acme.test');

came_by($s, $admin, $saml);
admin_error(put($by_admin, { connection => 'saml' }), 403, 'forbidden', 'an administrator');
admin_error(put(signed_in('bob@other.test'), { connection => 'saml' }), 403, 'forbidden',
            'a member');
admin_error($acme->admin(PUT => '/domains/acme.test/sign-in', { connection => 'saml' }), 403,
            'forbidden', 'a token');
with_password($s, $globex, userName => 'eve@globex.test', role => 'owner');
admin_error(put(signed_in('eve@globex.test', tenant => 'globex'), { connection => 'saml' }),
            404, 'not_found', 'another tenant');

$s->sql("UPDATE svc.session SET mfa_at = now() - interval '1 h', reauth_at = NULL"
        . " WHERE user_id = '$owner->{id}'");
admin_error(put($b, { connection => 'saml' }), 403, 'step_up_required', 'not fresh');
$s->sql("UPDATE svc.session SET mfa_at = now() WHERE user_id = '$owner->{id}'");
is_deeply([ events() ], [], 'nothing has happened yet');


# --- what is begun before ------------------------------------------------------------

sub reset_token {
    my ($email) = @_;

    my ($token) = $s->svcctl(qw(user reset-link --tenant acme --email), $email)
                  =~ /([\w-]{43})/;

    $s->secret($token);

    return $token;
}


sub reset_password {
    my ($token) = @_;

    return browser()->post('/v1/auth/password/reset',
                           { token => $token, tenant => 'acme',
                             password => 'the lighthouse of old' });
}


sub invited {
    my ($email) = @_;

    my $r = $acme->admin(POST => '/invitations', { email => $email, role => 'member' });
    my ($token) = $r->json->{inviteUrl} =~ /#token=(.*)/;

    $s->secret($token);

    return $token;
}


sub accept_it {
    return browser()->post('/v1/auth/invitations/accept',
                           { token => $_[0], password => $PASSWORD });
}


my $reset = reset_token('ada@acme.test');
my $others = reset_token('dan@other.test');
my $invitation = invited('new@acme.test');
my $other_invitation = invited('new@other.test');
my ($ada_b, $ada_c) = (signed_in('ada@acme.test'), browser());
my $asked = $codes->asked($ada_c, 'ada@acme.test');
my $signup = $up->begin('up@acme.test');
my $bob_b = signed_in('bob@other.test');

$s->sql("UPDATE svc.user_account SET source = 'local'");

my $changed = $ada_b->post('/v1/auth/email/change', { email => 'ada@other.test' });


# --- forced --------------------------------------------------------------------------

my $r = put($b, { connection => 'saml' });

is($r->status, 200, 'forced') or diag($r->body);
is_deeply($r->json, shown(), 'the answer is the domain');
is_deeply([ @{ shown() }{qw(signIn includeSubdomains)} ], [ 'saml', $FALSE ], 'which says so');
is(shown('beta.test')->{signIn}, undef, 'of this one alone');
is_deeply([ events() ], [ [ 'domain.sign_in_required', 'acme.test',
                            { connection => 'saml', includeSubdomains => $FALSE }, 'user' ] ],
          'audited');

for my $email (qw(ada@acme.test nobody@acme.test ADA@ACME.TEST owner@acme.test)) {
    for my $password ($PASSWORD, 'wrong') {
        admin_error(browser()->login($email, $password), 403, 'sso_required',
                    "$email by password");
        admin_error(browser()->login($email, $password, connection => 'local'), 403,
                    'sso_required', 'which is called local');
    }

    admin_error($codes->start(browser(), $email), 403, 'sso_required', 'a code by mail');
    admin_error(browser()->post('/v1/auth/password/forgot', { email => $email,
                                                              tenant => 'acme' }),
                403, 'sso_required', 'a forgotten password');
    admin_error($up->start($email), 403, 'sso_required', 'a sign-up');
}

is(scalar($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'user.login_failed'"
                  . " AND tenant_id = '$acme->{id}'")), 0, 'nobody was looked up');

# whoever looks at her row fails

$s->sql($_) for 'CREATE FUNCTION public.seen(name text) RETURNS boolean LANGUAGE plpgsql'
                . " COST 9999 AS 'BEGIN IF name LIKE ''ada\@%'' THEN RAISE ''seen''; END IF;"
                . " RETURN true; END'",
                'GRANT EXECUTE ON FUNCTION public.seen TO svc_app',
                'CREATE POLICY seen ON svc.user_account AS RESTRICTIVE USING'
                . ' (public.seen(user_name))';

admin_error(browser()->login('ada@acme.test'), 403, 'sso_required', 'her row is not read');
admin_error($codes->start(browser(), 'ada@acme.test'), 403, 'sso_required', 'for no mail');
$s->sql('DROP POLICY seen ON svc.user_account');

is(browser()->login('bob@other.test')->status, 200, 'others come in by password');
is(browser()->login('bob@other.test', undef, connection => 'local')->status, 200,
   'called local');
is(browser()->login('x@sub.acme.test')->status, 401, 'a subdomain is another one');
is(browser()->login('x@notacme.test')->status, 401, 'as is one that ends so');
is(browser(tenant => 'globex')->login('ada@acme.test')->status, 401, 'and another tenant');
admin_error(browser()->login('bob@other.test', undef, connection => $_), 400,
            'invalid_request', "no connection: $_") for 'saml', '', 'Local';

admin_error(reset_password($reset), 403, 'sso_required', 'a link to set a password');
admin_error(accept_it($invitation), 403, 'sso_required', 'an invitation');
is(browser()->post('/v1/auth/invitations/lookup', { token => $invitation })->status, 200,
   'which still says for whom it is');
is(reset_password($others)->status, 204, 'a link of others');
is(accept_it($other_invitation)->status, 201, 'and their invitation');

admin_error($codes->verify($ada_c, $asked, code => sprintf '%06d',
                           ($asked->{code} + 1) % 1_000_000), 401, 'invalid_code',
            'a code that was asked for before, but wrong');
admin_error($codes->verify($ada_c, $asked, code => "$asked->{code}"), 403, 'sso_required',
            'and right');
admin_error($up->verify($signup), 403, 'sso_required', 'a sign-up that was begun');
is(scalar($s->sql("SELECT count(*) FROM svc.user_account WHERE user_name LIKE 'up\@%'")), 0,
   'makes no account');

admin_error($ada_b->post('/v1/auth/email/change', { email => 'ada@third.test' }), 403,
            'sso_required', 'nobody leaves by another address');
is($changed->status, 202, 'what was begun') or diag($changed->body);

wait_for { grep { $_->{to}[0] eq 'ada@other.test' } $mail->events('mail') };

my ($to) = grep { $_->{to}[0] eq 'ada@other.test' } $mail->events('mail');
my ($code) = $to->{plain} =~ /^\s+(\d{6})\r?$/m;

admin_error($ada_b->post('/v1/auth/email/change/verify', { code => $code }), 403,
            'sso_required', 'is refused, too');


# --- passkeys --------------------------------------------------------------------------

admin_error(sign_in(browser(), $hers), 401, 'invalid_credentials', 'a passkey of a member');
is(($acme->events_where("action = 'user.login_failed'", 'details'))[-1][0]{reason},
   'sso_required', 'audited with its reason');
is(sign_in(browser(), $own)->status, 200, "an owner's is the way in");


# --- sessions ---------------------------------------------------------------------------

is($ada_b->get('/v1/auth/session')->status, 200, 'who is in stays in');

my $bobs = signed_in('bob@other.test');
my $by_saml = browser();

release();
$by_saml->login('ada@acme.test');
$s->sql("UPDATE svc.session SET connection_id = '$saml' WHERE id IN (SELECT id FROM svc.session"
        . " WHERE user_id = '$ada->{id}' ORDER BY created_at DESC LIMIT 1)");

# the password of whose sign-in is being compared does not come too late for that

my $db = $s->connect_as('postgres');

$db->query($_) for 'BEGIN', "SELECT FROM svc.user_account WHERE id = '$ada->{id}' FOR UPDATE";

my $late = $s->begin(POST => '/v1/auth/login', [ Connection => 'close' ],
                     { email => 'ada@acme.test', password => $PASSWORD, tenant => 'acme' });

ok((wait_for { $s->waiting == 1 }), 'somebody signs in meanwhile');
is(put($b, { connection => 'saml', endSessions => $TRUE })->status, 200, 'forced again');
$db->query('COMMIT');
admin_error($late->read, 401, 'invalid_credentials', 'who is refused');
is($ada_b->get('/v1/auth/session')->status, 401, 'which ends sessions');
is($by_saml->get('/v1/auth/session')->status, 200, 'but those that began by the connection');
is($bobs->get('/v1/auth/session')->status, 200, 'and those of others');
is($b->get('/v1/auth/session')->status, 200, "and the caller's");


# --- subdomains ------------------------------------------------------------------------

is(put($b, { connection => 'saml', includeSubdomains => $TRUE })->status, 200, 'all below');
is(shown()->{includeSubdomains}, $TRUE, 'is shown');
admin_error(browser()->login($_), 403, 'sso_required', $_)
    for qw(ada@acme.test x@sub.acme.test x@a.b.acme.test);
is(browser()->login('x@notacme.test')->status, 401, 'but not one that ends so');
$s->sql("UPDATE svc.domain SET verified_at = NULL WHERE domain = 'acme.test'");
is(browser()->login('x@acme.test')->status, 401, 'nor one that is not verified any more');
$s->sql("UPDATE svc.domain SET verified_at = now() WHERE domain = 'acme.test'");


# --- released ----------------------------------------------------------------------------

my $seen = () = events();

is(put($b, { connection => undef })->status, 200, 'released');
is_deeply([ @{ shown() }{qw(signIn includeSubdomains)} ], [ undef, $FALSE ], 'and so shown');
is(browser()->login('admin@acme.test')->status, 200, 'passwords are good again');
is_deeply(last_event(), [ 'domain.sign_in_released', 'acme.test',
                          { connection => 'saml', includeSubdomains => $FALSE }, 'user' ],
          'audited');
is(put($b, { connection => undef, includeSubdomains => $TRUE })->status, 200,
   'subdomains without it');
is_deeply(last_event(), [ 'domain.updated', 'acme.test', { includeSubdomains => $TRUE },
                            'user' ], 'are audited, too');
is(scalar(my @all = events()), $seen + 2, 'each once');

# sessions that began by it would end

$s->sql('UPDATE svc.session SET connection_id = NULL');

for ([ 'PUT /saml', sub { $acme->admin(PUT => '/saml', { enabled => $FALSE }) } ],
     [ 'DELETE /domains/acme.test', sub { $acme->admin(DELETE => '/domains/acme.test') } ],
     [ 'linkByEmail', sub { $s->sql("UPDATE svc.saml_sp SET link_by_email = 'never'") } ],
     [ 'another issuer', sub { $s->sql('UPDATE svc.saml_sp SET connection_id ='
                                       . ' gen_random_uuid()') } ],
     [ 'a deleted connection', sub { $s->sql('DELETE FROM svc.saml_sp') } ])
{
    my ($what, $ends) = @$_;

    $s->sql("DELETE FROM svc.domain; DELETE FROM svc.saml_sp");
    verified($s, $acme, 'acme.test');
    force($s, $acme, 'acme.test', saml($s, $acme));
    admin_error(browser()->login('admin@acme.test'), 403, 'sso_required', 'forced');
    $ends->();
    is(browser()->login('admin@acme.test')->status, 200, "$what lifts it");
    is_deeply([ @{ last_event() }[0, 2] ],
              [ 'domain.sign_in_released', { connection => 'saml',
                $what =~ /domains/ ? () : (includeSubdomains => $FALSE) } ],
              'audited, with its name');
}


# --- a test of the connection --------------------------------------------------------------

$s->sql("DELETE FROM svc.domain; DELETE FROM svc.saml_sp");
verified($s, $acme, 'acme.test');
$saml = saml($s, $acme);
admin_error(put($b, { connection => 'saml' }), 400, 'anti_lockout', 'not tried');

for ([ 'of somebody else', 'anti_lockout', user => $ada->{id} ],
     [ 'to sign in', 'anti_lockout', purpose => 'sign_in' ],
     [ 'two days ago', 'anti_lockout', at => "now() - interval '2 days'" ],
     [ 'that found nothing', 'anti_lockout', subject => 'NULL' ],
     [ 'of another connection', 'anti_lockout', connection => $ada->{id} ],
     [ 'of ours', undef ])
{
    my ($what, $error, %flow) = @$_;

    %flow = (user => $owner->{id}, purpose => 'test', at => 'now()',
             subject => "sha256('x')", connection => $saml, %flow);
    $s->sql(<<"EOT");
INSERT INTO svc.federation_flow (tenant_id, id, token_hash, connection_id, connection_version,
                                 purpose, binding_hash, host, user_id, subject_hash,
                                 used_at, tested_at, expires_at)
VALUES ('$acme->{id}', gen_random_uuid(), sha256(gen_random_uuid()::text::bytea),
        '$flow{connection}', now(), '$flow{purpose}', sha256('x'), 'localhost', '$flow{user}',
        $flow{subject}, now(), $flow{at}, now())
EOT
    $error ? admin_error(put($b, { connection => 'saml' }), 400, $error, "a flow $what")
           : is(put($b, { connection => 'saml', endSessions => $TRUE })->status, 200,
                "a flow $what");
}

is($b->get('/v1/auth/session')->status, 200, "the caller's session goes on");
is($by_admin->get('/v1/auth/session')->status, 401, "and no other one");


# --- connections ---------------------------------------------------------------------------

$s->sql('UPDATE svc.domain SET sign_in = NULL, rp_id = NULL');
verified($s, $acme, 'other.test');

for my $n (1, 2) {
    $idp->connect($acme, "oidc-$n", issuer => $n - 1, jit_provisioning => 'true',
                  domains => "'{acme.test,other.test}'");
}


sub comes_by {
    my ($key, $sub, $address) = @_;

    my $b = browser();
    my $r = $idp->journey($b, $key, { sub => $sub, email => $address, email_verified => $TRUE },
                          body => { email => $address });

    return $r->header('Location') eq '/account' ? 'in' : SvcTest::Idp::refusal($r);
}


is(comes_by('oidc-2', 'linked', 'ada@acme.test'), 'in', 'an identity is linked');
force($s, $acme, 'acme.test',
      scalar $s->sql("SELECT connection_id FROM svc.social WHERE provider = 'oidc-1'"));

for (qw(ada@acme.test ADA@acme.test fresh@acme.test)) {
    is(comes_by('oidc-2', "2-$_", $_), 'sso_required', "$_ by another connection");
}

is(comes_by('oidc-2', 'linked', 'ada@other.test'), 'sso_required',
   "who is linked by the user's address");
is_deeply(($acme->events_where("action = 'federation.denied'", 'details'))[-1][0],
          { connection => 'oidc-2', why => 'sso_required' }, 'is in the audit log');
is(comes_by('oidc-1', "1-$_", $_), 'in', "$_ by the right one") for qw(ada@acme.test
                                                                     fresh@acme.test);
is(comes_by('oidc-2', 'free', 'free@other.test'), 'in', 'others come in by any');
is(comes_by('oidc-1', 'free', 'free@other.test'), 'in', 'as by this one');

$mail->stop;
done_testing();
