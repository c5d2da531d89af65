#!/usr/bin/perl

# Sign-in through other servers, with OpenID Connect.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(policy);
use SvcTest::Idp;
use SvcTest::Mail;
use SvcTest::Process qw(slow slurp wait_for);
use SvcTest::Receiver;
use SvcTest::Www qw(@LEADS @ASTRAY);


my %ROOMY = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ]);
my $TRUE = JSON::PP::true();
my $CALLBACK = SvcTest::Idp::callback('oidc-one');

my $s = SvcTest->new(workers => 2, svc => { %ROOMY });
my $receiver = SvcTest::Receiver->new($s);
my $mail = SvcTest::Mail->new($s, port => 'plain');
my $idp = SvcTest::Idp->new($s, $receiver);

$s->start;
$idp->ready;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

for my $domain (qw(acme.test owned.test)) {
    $s->sql("INSERT INTO svc.domain (tenant_id, domain, token, verified_at) VALUES"
            . " ('$acme->{id}', '$domain', '" . 'x' x 43 . "', now())");
}

$idp->connect($acme, 'oidc-one', domains => "'{acme.test,other.test}'",
              jit_provisioning => 'true');
$idp->connect($acme, 'oidc-two', issuer => 1, label => "'Two'", link_by_email => "'verified'",
              jit_provisioning => 'true');
$idp->connect($globex, 'oidc-one');


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


sub user {
    my ($name, %more) = @_;

    return with_password($s, $acme, userName => "$name\@acme.test", %more);
}


sub claims {
    my ($sub, %more) = @_;

    return { sub => $sub, email => "$sub\@acme.test", email_verified => $TRUE, %more };
}


# Tests that a journey ends with a session of that user.  Returns the browser.

sub comes {
    my ($key, $account, $email, $name, %opt) = @_;
    my $b = $opt{browser} // browser();
    my $r = $idp->journey($b, $key, $account, %opt);
    my $session = $b->get('/v1/auth/session');

    is($r->status . ' ' . ($r->header('Location') // ''), '303 ' . ($opt{to} // '/account'),
       $name);
    is($session->status, 200, 'with a session') or diag($session->body);
    is(($session->json->{user} // {})->{email}, $email, "of $email");

    return $b;
}


sub refused {
    my ($r, $code, $name) = @_;

    is($r->status, 303, $name);
    is(SvcTest::Idp::refusal($r), $code, "says $code")
        or diag($r->header('Location') // $r->body);
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


# The last event's reason.

sub why { return (events("federation.$_[0]"))[-1]{why} }


# --- a user who is new -------------------------------------------------------------

my $r = $idp->start(browser(), 'oidc-one');

is($r->status, 200, 'start') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'is not stored');
like($r->header('Set-Cookie'),
     qr/^svc_fed=[\w-]{43}; Path=\/; (?=.*HttpOnly)(?=.*SameSite=Lax).*Max-Age=600/,
     'the browser is known by a cookie');
like($r->json->{redirectTo},
     qr/^\Q$idp->{issuers}[0]\E\/auth\?response_type=code&client_id=svc&
        redirect_uri=[^&]+%2Ftenants%2Facme%2Ffederation%2Foidc-one%2Fcallback&/x,
     'where it goes');

for my $parameter (qw(state nonce code_challenge)) {
    like($r->json->{redirectTo}, qr/[?&]$parameter=[\w-]{43}(?:&|\z)/, "with $parameter");
}

my $b = comes('oidc-one', claims('ada', name => 'Ada', given_name => 'A',
                                 family_name => 'Lovelace', locale => 'fr'),
              'ada@acme.test', 'a new user');
my ($ada) = $s->sql('SELECT id, source, email_verified, role, first_name, last_name,'
                    . ' display_name FROM svc.user_account'
                    . " WHERE tenant_id = '$acme->{id}' AND user_name = 'ada\@acme.test'");

is("@$ada[1 .. 6]", 'social t member A Lovelace Ada', 'is a member, whose address is proved');
is(scalar($s->sql("SELECT count(*) FROM svc.password WHERE user_id = '$ada->[0]'")), 0,
   'without a password');
is_deeply([ events('user.created') ], [ { source => 'social', connection => 'oidc-one' } ],
          'user.created');
is_deeply([ events('federation.linked') ], [ { connection => 'oidc-one' } ],
          'federation.linked');
is_deeply([ events('user.login') ], [ { score => 0, signals => [], methods => [ 'social' ],
                                        connection => 'oidc-one' } ], 'user.login');
is_deeply($b->get('/v1/auth/sessions')->json->{sessions}[0]{methods}, [ 'social' ],
          'its method');
ok($b->{cookies}{svc_device}, 'the device is known');

my $first = $b->cookie;

comes('oidc-one', claims('ada', email => 'new@elsewhere.test'), 'ada@acme.test',
      'once more, with another address', browser => $b,
      body => { returnTo => '/console/users' }, to => '/console/users');
is($s->http(GET => '/v1/auth/session', [ Cookie => $first ])->status, 401,
   'the former session has ended');
is(scalar(events('federation.linked')), 1, 'nothing is linked again');
is(scalar($s->sql('SELECT email_seen FROM svc.federated_identity')), 'new@elsewhere.test',
   'what its issuer says is kept');

comes('oidc-one', claims('ada'), 'ada@acme.test', 'while it is locked')
    if $s->sql("UPDATE svc.user_account SET locked_until = now() + interval '1 hour'"
               . " WHERE id = '$ada->[0]' RETURNING id");


# --- what a page offers -----------------------------------------------------------------

sub offered { return browser()->get('/v1/auth/options?tenant=acme')->json->{methods}{connections} }

is_deeply(offered(), [ { connection => 'oidc-one', kind => 'social', label => 'oidc-one' },
                       { connection => 'oidc-two', kind => 'social', label => 'Two' } ],
          'the connections');
$s->sql("UPDATE svc.social SET show_on_page = false WHERE provider = 'oidc-one'");
is(scalar @{ offered() }, 2, 'are kept until something changes');


# --- 1: what start takes ------------------------------------------------------------

admin_error($idp->start(browser(), 'oidc-none'), 404, undef, 'a connection that is none');
admin_error($idp->start(browser(), "oidc-\x{e9}"), 404, undef, 'nor could be');
$s->sql("UPDATE svc.social SET enabled = false WHERE provider = 'oidc-two'");
admin_error($idp->start(browser(), 'oidc-two'), 404, undef, 'one that is off');
$s->sql("UPDATE svc.social SET enabled = true WHERE provider = 'oidc-two'");
admin_error(browser()->post('/v1/auth/federation/start', { connection => 'oidc-one' },
                            Origin => 'https://evil.test'), 403, 'csrf_failed',
            'from another site');
comes('oidc-one', claims('ada'), 'ada@acme.test', "returnTo $_", body => { returnTo => $_ })
    for '//evil', 'https://evil.test/', '/account\\evil', '/elsewhere';

# Only a path that the page would go to is kept.

sub kept {
    my ($path) = @_;

    $s->sql('DELETE FROM svc.federation_flow');
    $idp->start(browser(), 'oidc-one', returnTo => $path);

    return scalar $s->sql("SELECT coalesce(return_to, '') FROM svc.federation_flow");
}

is(kept($_), $_, "leads to $_") for @LEADS;
is(kept($_), '', "does not lead to $_") for @ASTRAY;


# --- 2: what the callback takes ------------------------------------------------------

sub begun {
    my ($b, $key, %opt) = @_;
    my $r = $idp->start($b, $key // 'oidc-one', %opt);

    return $idp->away($r->json->{redirectTo}, claims('ada'));
}

# A provider that never answers is waited for while all else is tested (6).

sub asks_at {
    my ($url) = @_;

    $s->sql("UPDATE svc.federation_meta SET document = document || '{\"token_endpoint\":\"$url\"}'"
            . ' WHERE connection_id = (SELECT connection_id FROM svc.social WHERE tenant_id ='
            . " '$acme->{id}' AND provider = 'oidc-one')");
}

my $waiter = browser();
my $away = begun($waiter);

asks_at($receiver->url('/hang/token'));

my $hung = $s->begin(GET => $away, [ Cookie => $waiter->cookie, Connection => 'close' ]);

ok((wait_for { $receiver->at('/hang/token') }), 'a provider that does not answer');
asks_at("$idp->{issuers}[0]/token");

my $tokens = $idp->tokens;

$b = browser();

my $back = begun($b);
my ($state) = $back =~ /[?&]state=([\w-]{43})/;

refused($b->get($_->[0]), 'flow_expired', $_->[1])
    for [ "$CALLBACK", 'no state' ],
        [ "$CALLBACK?code=x&state=" . 'x' x 43, 'another state' ],
        [ "$back&state=$state", 'the state twice' ],
        [ "$CALLBACK?state=%zz", 'no form' ];
admin_error($b->get($back =~ s{/oidc-one/callback\?}{$_?}r), 404, undef,
            "the path of no connection: '$_'")
    for '', '/callback', '//callback', '/oidc-one', '/oidc-one/x', '/oidc-one/callback/x';
refused(browser()->get($back), 'flow_expired', 'no cookie');

my $other = browser();

begun($other);
refused($other->get($back), 'flow_expired', "another browser's cookie");
refused($b->ask(GET => $back, undef, Host => 'login.acme.test'), 'flow_expired', 'another host');
is($idp->tokens, $tokens, 'no token was asked for');

$r = $b->get($back);
is($r->header('Location'), '/account', 'the right browser, here');
is($r->header('Referrer-Policy'), 'no-referrer', 'no Referer');
is($r->header('Cache-Control'), 'no-store', 'is not stored');
is($idp->tokens, $tokens + 1, 'one token');
refused($b->get($back), 'flow_expired', 'a second time');
like($b->get($back)->header('Location'), qr{^/login\?tenant=acme#error=flow_expired&id=\w+\z},
     'back to the page');
$b = browser();
$back = begun($b, 'oidc-one', returnTo => '/oauth/authorize?a=b&c');
$s->sql("UPDATE svc.federation_flow SET expires_at = now() - interval '1 s'"
        . ' WHERE used_at IS NULL');
refused($b->get($back), 'flow_expired', 'too late');


# --- 3: what comes with it ----------------------------------------------------------

sub presents {
    my ($change, $code, $why, $name) = @_;
    my $b = browser();
    my $back = begun($b, 'oidc-one', returnTo => '/oauth/authorize?a=b&c') =~ s/$change->[0]/$change->[1]/r;
    my $r = $b->get($back);

    refused($r, $code, $name);
    like($r->header('Location'), qr{\?tenant=acme&return_to=%2Foauth%2Fauthorize%3Fa%3Db%26c#},
         'and goes on from there');
    is(why($code =~ /denied/ ? 'denied' : 'failed'), $why, "why");
    refused($b->get($back), 'flow_expired', 'the flow is spent');
}

$tokens = $idp->tokens;
presents([ qr/iss=[^&]*/, "iss=$idp->{issuers}[1]" ], 'federation_failed',
         '"iss" is not the issuer', "another one's iss");
presents([ qr/&iss=[^&]*/, '' ], 'federation_failed', '"iss" is not the issuer', 'no iss');
presents([ qr{/oidc-one/}, "/$_/" ], 'federation_failed',
         'the redirect URI is that of another connection', "the path of $_")
    for qw(oidc-two OIDC-ONE oidc-on oidc-none %C3%A9);
presents([ qr{/acme/}, "/$_/" ], 'federation_failed',
         'the redirect URI is that of another connection', "the path of the tenant $_")
    for qw(globex ACME acm nobody);
presents([ qr/code=[^&]*/, 'code=' . 'x' x 4096 ], 'federation_failed',
         'there is no "code" of at most 2048 bytes', 'a long code');
presents([ qr/code=[^&]*/, 'error=x"><script>&error_description=%c3%a9' ], 'federation_failed',
         'x"><script>: ??', 'an error');
presents([ qr/code=[^&]*/, "error=$_" ], 'federation_denied', "$_: ", $_)
    for qw(access_denied login_required interaction_required);
is($idp->tokens, $tokens, 'no token was asked for');
presents([ qr/code=[^&]*/, 'code=x' ], 'federation_failed',
         'the token endpoint: status 400, invalid_grant', 'a code that is none');


# --- 4: at the same time --------------------------------------------------------------

$b = browser();
$back = begun($b);
$tokens = $idp->tokens;

my @c = map { $s->begin(GET => $back, [ Cookie => $b->cookie, Connection => 'close' ]) } 1 .. 6;
my @to = sort map { $_->read->header('Location') =~ s/&id=.*//r } @c;

is_deeply(\@to, [ '/account', ('/login?tenant=acme#error=flow_expired') x 5 ], 'one wins');
is($idp->tokens, $tokens + 1, 'one token');


# --- who is found, and who is not ------------------------------------------------------

refused($idp->journey(browser(), 'oidc-one', claims('x', email => 'x@other.test')),
        'no_account', 'a domain that is not verified');
refused($idp->journey(browser(), 'oidc-one', claims('x', email_verified => JSON::PP::false())),
        'email_unverified', 'an address that is not proved');
refused($idp->journey(browser(), 'oidc-one', claims('x', email_verified => 'false')),
        'email_unverified', 'nor "false"');
refused($idp->journey(browser(), 'oidc-one', { sub => 'x' }), 'email_unverified', 'no address');
refused($idp->journey(browser(), 'oidc-two', claims('x', email => 'x@free.test')),
        'no_account', 'no sign-up');
is(why('denied'), 'no_account', 'which is in the audit log');
$s->sql("UPDATE svc.tenant SET branding = branding || '{\"allowSelfSignup\":true}'");
comes('oidc-two', claims('x', email => 'x@free.test'), 'x@free.test', 'with sign-up');

user('bob');
comes('oidc-one', claims('bob-1', email => 'BOB@acme.test'), 'bob@acme.test',
                'a user by a domain of the tenant');

comes('oidc-two', claims('bob-2', email => 'bob@acme.test'), 'bob@acme.test',
      'the same by another connection');
refused($idp->journey(browser(), 'oidc-one', claims('bob-3', email => 'bob@acme.test')),
        'link_required', 'another identity of the same connection');
$s->sql("UPDATE svc.social SET link_by_email = 'never' WHERE provider = 'oidc-one'");
user('never');
refused($idp->journey(browser(), 'oidc-one', claims('never')), 'link_required', 'never by mail');
$s->sql("UPDATE svc.social SET link_by_email = 'owned' WHERE provider = 'oidc-one'");


# --- 8: an account that somebody has made beforehand -----------------------------------

user('victim');
$s->sql("UPDATE svc.user_account SET email_verified = false WHERE user_name = 'victim\@acme.test'");

my $thief = browser();

is($thief->login('victim@acme.test')->status, 200, 'whoever made the account is there');

# Whatever has the user's id, but for what an administrator, or the log, has of him.

my ($victim) = map { $_->[0] } $s->sql("SELECT id FROM svc.user_account WHERE user_name ="
                                       . " 'victim\@acme.test'");
my $client = $s->http(POST => '/v1/applications',
                      [ Authorization => 'Bearer ' . $acme->token_for('apps:manage') ],
                      { name => 'Clues', type => 'm2m', scopes => [ 'a' ] })->json;

$s->secret($client->{clientSecret});

$s->sql("INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources)"
        . " VALUES ('$acme->{id}', '$victim', '$client->{clientId}', '{openid}', '{}')");
$s->sql('INSERT INTO svc.user_seen (tenant_id, user_id, kind, value, last_at)'
        . " VALUES ('$acme->{id}', '$victim', 'network', '10.0.0.0/24', now())");


sub told {
    my ($name) = @_;

    return wait_for {
        grep { $_->{to}[0] eq "$name\@acme.test" && slurp($_->{file}) =~ /changed/ }
             $mail->events('mail');
    };
}


sub past {
    my @tables = map { $_->[0] } $s->sql(<<'EOT');
SELECT attrelid::regclass FROM pg_attribute
  JOIN pg_class ON pg_class.oid = attrelid AND relkind IN ('r', 'p') AND NOT relispartition
 WHERE attname = 'user_id' AND relnamespace = 'svc'::regnamespace
EOT

    return join ' ', sort grep {
        !/sign_in|oauth_logout|session|federated/
        && $s->sql("SELECT EXISTS (SELECT FROM $_ WHERE user_id = '$victim')") eq 't'
    } @tables;
}


is(past(), 'svc.oauth_consent svc.password svc.user_device svc.user_seen', 'what there is of it');
comes('oidc-one', claims('victim'), 'victim@acme.test', 'and its owner comes');
is(past(), 'svc.user_device svc.user_seen', 'is gone, but for what is of now');
is(scalar($s->sql("SELECT count(*) FROM svc.user_device WHERE user_id = '$victim'")), 1,
   'one device');
is(scalar($s->sql("SELECT count(*) FROM svc.user_seen WHERE user_id = '$victim'"
                  . " AND kind = 'network' AND value = '10.0.0.0/24'")), 0, 'no network');
is_deeply((events('federation.linked'))[-1], { connection => 'oidc-one', purged => $TRUE },
          'which is in the audit log');

ok(told('victim'), 'and its owner is told by mail');
is($thief->get('/v1/auth/session')->status, 401, 'the session has ended');
is(browser()->login('victim@acme.test')->status, 401, 'the password is gone');

user('kept');
comes('oidc-one', claims('kept'), 'kept@acme.test', 'one whose address was proved');
is_deeply((events('federation.linked'))[-1], { connection => 'oidc-one' }, 'keeps its past');
ok(told('kept'), 'and is told');
is(browser()->login('kept@acme.test')->status, 200, 'has its password still');


# --- 9: who may do more ------------------------------------------------------------------

my %role = (admin => 'admin', owner => 'owner');

user($_, role => $_) for qw(admin owner);

refused($idp->journey(browser(), 'oidc-two', claims($_)), 'link_required',
        "$_, by a provider that owns no domain")
    for qw(admin owner);
refused($idp->journey(browser(), 'oidc-one', claims($_)), 'access_denied',
        "$_, that nobody has vouched for")
    for qw(admin owner);
is(why('denied'), 'uncovered', 'is in the audit log');
$s->sql("UPDATE svc.social SET vouched = '{apps:manage,audit:view,groups:manage,members:manage,"
        . "roles:manage,tenant:manage,users:view}' WHERE provider = 'oidc-one'");
comes('oidc-one', claims('admin'), 'admin@acme.test', 'an administrator has');
refused($idp->journey(browser(), 'oidc-one', claims('owner')), 'access_denied', 'no owner has');
$s->sql("UPDATE svc.social SET vouched_owner = true WHERE provider = 'oidc-one'");
comes('oidc-one', claims('owner'), 'owner@acme.test', 'an owner has');
$s->sql("UPDATE svc.social SET vouched_owner = false WHERE provider = 'oidc-one'");
refused($idp->journey(browser(), 'oidc-one', claims('owner')), 'access_denied',
        'also of who is linked');


# --- 11: what changes meanwhile ------------------------------------------------------------

for my $change ('enabled = false', 'updated_at = clock_timestamp()') {
    $b = browser();
    $back = begun($b);
    $s->sql("UPDATE svc.social SET $change WHERE provider = 'oidc-one'");
    refused($b->get($back), 'flow_expired', $change);
    $s->sql("UPDATE svc.social SET enabled = true WHERE provider = 'oidc-one'");
}

$b = browser();
$back = begun($b);
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada->[0]'");
refused($b->get($back), 'access_denied', 'a user who is suspended');
is(why('denied'), 'inactive', 'is in the audit log');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$ada->[0]'");


# --- what an issuer publishes ----------------------------------------------------------------

sub meta {
    my ($set) = @_;

    $s->sql("UPDATE svc.federation_meta meta SET $set FROM svc.social social"
            . " WHERE social.tenant_id = '$acme->{id}' AND social.provider = 'oidc-one'"
            . ' AND meta.connection_id = social.connection_id');
}


sub shown {
    my ($row) = grep { $_->{provider} eq 'oidc-one' }
                @{ $acme->admin(GET => '/social/connections')->json->{connections} };

    return @$row{qw(status statusError)};
}


my $MINUTE = "asked_at = now() - interval '1 minute'";

ok((wait_for { $s->sql('SELECT count(*) FROM svc.federation_meta WHERE fetched_at IS NULL') == 0 }),
   'what other issuers publish is there');

my $keys = $idp->jwks;

is_deeply([ shown() ], [ 'ready', undef ], 'is there');
$idp->rotate(0);
meta($MINUTE);
comes('oidc-one', claims('ada'), 'ada@acme.test', 'a key that is new');
is($idp->jwks, $keys + 1, 'was fetched');
comes('oidc-one', claims('ada'), 'ada@acme.test', 'again');
is($idp->jwks, $keys + 1, 'which fetches nothing');

$idp->rotate(0);
refused($idp->journey(browser(), 'oidc-one', claims('ada')), 'federation_failed',
        'another one in the same minute');
is(why('failed'), 'the ID token has a \'kid\' that no key has', 'is not known');
is($idp->jwks, $keys + 1, 'and nothing is fetched');

meta($MINUTE);

my @two = map { my $b = browser(); [ $b, begun($b) ] } 1, 2;
my @both = map { $s->begin(GET => $_->[1], [ Cookie => $_->[0]->cookie, Connection => 'close' ]) }
               @two;

is_deeply([ map { $_->read->header('Location') } @both ], [ ('/account') x 2 ],
          'two that come at the same time');
is($idp->jwks, $keys + 2, 'wait for one fetch');

# The sweep of a worker fetches what is due.

$idp->rotate(0);
meta("$MINUTE, due_at = now()");
ok((wait_for { $idp->jwks == $keys + 3 } slow(20)), 'what is due is fetched');
ok((wait_for { $s->sql("SELECT due_at > now() + interval '50 minutes' FROM svc.federation_meta"
                       . ' JOIN svc.social USING (tenant_id, connection_id)'
                       . " WHERE tenant_id = '$acme->{id}' AND provider = 'oidc-one'") eq 't' }),
   'and is due again in an hour');
comes('oidc-one', claims('ada'), 'ada@acme.test', 'its keys are good');
is($idp->jwks, $keys + 3, 'and were there');

# The issuer is away.

my $issuer = $idp->{issuers}[0];

$s->sql("UPDATE svc.social SET issuer = 'https://127.0.0.1:9' WHERE provider = 'oidc-one'"
        . " AND tenant_id = '$acme->{id}'");
meta("$MINUTE, due_at = now()");
ok((wait_for { (shown())[0] eq 'failed' } slow(20)), 'an issuer that is away');
like((shown())[1], qr/\w/, 'says why');
$s->sql("UPDATE svc.social SET issuer = '$issuer' WHERE provider = 'oidc-one'"
        . " AND tenant_id = '$acme->{id}'");
comes('oidc-one', claims('ada'), 'ada@acme.test', 'what there is serves');
meta("fetched_at = now() - interval '8 days', asked_at = now()");
admin_error($idp->start(browser(), 'oidc-one'), 401, 'federation_failed', 'for seven days');
meta($MINUTE);
comes('oidc-one', claims('ada'), 'ada@acme.test', 'then it is fetched first');
is_deeply([ shown() ], [ 'ready', undef ], 'and is there');


# --- 6: silence -----------------------------------------------------------------------------------

refused($hung->read, 'unavailable', 'who waits for an answer is told that there is none');
is($receiver->at('/hang/token'), 1, 'the code was sent once');
refused($waiter->get($away), 'flow_expired', 'the flow is spent');
is($waiter->get('/v1/auth/session')->status, 401, 'no session');


# --- how many may be open ----------------------------------------------------------------------

sub open_flows {
    my ($n, $address) = @_;

    $s->sql('INSERT INTO svc.federation_flow (tenant_id, id, token_hash, connection_id,'
            . ' connection_version, purpose, binding_hash, address, host, expires_at)'
            . " SELECT '$acme->{id}', gen_random_uuid(), sha256((($address)::text || i || clock_timestamp())::bytea),"
            . " gen_random_uuid(), now(), 'sign_in', sha256('x'), $address, 'x',"
            . " now() + interval '10 minutes' FROM generate_series(1, $n) i");
}

$s->sql('UPDATE svc.federation_flow SET used_at = now() WHERE used_at IS NULL');
open_flows(10_000, "'192.0.2.0'::inet + i % 200");
is($idp->start(browser(), 'oidc-one')->status, 200, 'where all of a tenant have begun');
open_flows(4, "'127.0.0.1'::inet");
admin_error($idp->start(browser(), 'oidc-one'), 429, 'rate_limited', 'who has few goes on');
$s->sql("UPDATE svc.federation_flow SET used_at = now() WHERE address << '192.0.2.0/24'");
is($idp->start(browser(), 'oidc-one')->status, 200, 'where few have');
open_flows(94, "'127.0.0.1'::inet + 0");
admin_error($idp->start(browser(), 'oidc-one'), 429, 'rate_limited', 'an address has a limit, too');


$s->done;
done_testing;
