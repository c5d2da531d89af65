#!/usr/bin/perl

# Shows that the server's answers are those of the published contract: each operation,
# each status, each header, and each member of a body.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Authenticator;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(link_to verified);
use SvcTest::Contract;
use SvcTest::Dns;
use SvcTest::Factor qw(totp);
use SvcTest::Governance qw($ALL);
use SvcTest::Image qw(png svg);
use SvcTest::Idp;
use SvcTest::Mail;
use SvcTest::Npm;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;
use SvcTest::Session qw(add_addresses session_of);
use SvcTest::Sse;
use SvcTest::Valid qw(bodies);

my $ORIGIN = 'http://localhost';

# Four nodes, with few connections each.

my @SMALL = (svc_postgres_pool => [ 'read connections=1 depth=16',
                                    'write connections=2 depth=2',
                                    'slow connections=1 depth=1' ]);
my $s = SvcTest->new(workers => 1, svc => {
    @SMALL, svc_sign_in => 'on', svc_scim_targets => 'on', svc_base_url => $ORIGIN,
    svc_organization_signup => 'on', svc_federation => 'on', svc_set => [
    'RATE_LIMIT_SIGNUP_WINDOW 0',
    'RATE_LIMIT_LOGIN_EMAIL_MAX 1000', 'RATE_LIMIT_LOGIN_IP_MAX 1000' ] },
    locations => 'location /oauth { svc_oauth on; }');
my $receiver = SvcTest::Receiver->new($s);
my $idp = SvcTest::Idp->new($s, $receiver, n => 1, lies => 1);
my $dns = SvcTest::Dns->new($s);
my $mail = SvcTest::Mail->new($s, port => 'plain');

$s->start;

my $acme = $s->tenant('acme');
my $token = $acme->{api_token};
my $none = '00000000-0000-4000-8000-000000000000';

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}'"
        . " WHERE id = '$acme->{api_id}'");

my $c = SvcTest::Contract->new($acme);

$s->secret($PASSWORD);


# Returns a browser with a session.

sub signed_in {
    my ($email) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');
    my $r = $b->login($email);

    is($r->status, 200, "$email signs in") or diag($r->body);

    return $b;
}



sub is_status {
    my ($status, $id, %arg) = @_;
    my $r = $c->call($id, %arg);

    is($r->status, $status, "$id: $status") or diag($r->body);

    return $r;
}


# --- making what is needed ----------------------------------------------------------

my $user = $acme->create(userName => 'full@acme.test', externalId => 'e1',
                         title => 't', displayName => 'A B', locale => 'fr',
                         name => { givenName => 'A', familyName => 'B' })->{id};
my $bare = $acme->create(userName => 'bare@acme.test')->{id};
my $owner = $acme->create(userName => 'owner@acme.test')->{id};

$s->sql("UPDATE svc.user_account SET role = 'owner' WHERE id = '$owner'");
$s->sql('INSERT INTO svc.sign_in (tenant_id, at, ip, country, user_id)'
        . " VALUES ('$acme->{id}', now() - interval '1 day', '203.0.113.7',"
        . " 'FR', '$user')");
add_addresses($s);

my $group = is_status(201, 'createGroup', body => { name => 'Staff' },
                      headers => [ 'Idempotency-Key' => 'g' ])->json->{id};
my $made = is_status(201, 'createApiToken',
                     headers => [ 'Idempotency-Key' => 't' ],
                     body => { name => 'ci', scopes => [ 'users:view' ] })
           ->json;
my $hook = is_status(201, 'createWebhook',
    headers => [ 'Idempotency-Key' => 'w' ],
    body => { url => $receiver->url('/ok'), events => [ 'user.created',
                                                        'user.login',
                                                        'user.deleted' ] })
    ->json;

$s->sql("UPDATE svc.credential SET created_by_type = 'user',"
        . " created_by_id = '$owner' WHERE id = '$made->{id}'");

is_status(201, 'createRole', headers => [ 'Idempotency-Key' => 'r' ], body =>
    { key => 'auditor', name => 'Auditor', permissions => [ 'audit:view' ] });

my $in = is_status(201, 'createInvitation', headers => [ 'Idempotency-Key' => 'i' ],
                   body => { email => 'in@acme.test', role => 'auditor' })->json;
my $accept = { token => $in->{inviteUrl} =~ s/.*#token=//r,
               password => 'a quiet harbour before seven' };

$c->stands('admin/members/{userId}' => $user, 'admin/invitations/{id}' => $in->{id});
$c->stands('admin/users/{userId}' => $user, 'admin/groups/{id}' => $group,
           'admin/groups/{id}/members/{userId}' => $user,
           'admin/api-tokens/{id}' => $made->{id}, 'tenants/{slug}' => 'acme',
           'admin/webhooks/{id}' => $hook->{id},
           'admin/roles/{key}' => 'auditor',
           'admin/password-policy/groups/{groupId}' => $group);

with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada',
              role => 'owner');
$s->sql("UPDATE svc.user_account SET source = 'local' WHERE user_name_key = 'ada\@acme.test'");

my $login = { email => 'ada@acme.test', password => $PASSWORD,
              tenant => 'acme' };
my $new = { currentPassword => $PASSWORD,
            newPassword => 'a quiet harbour before seven' };
my $link = { token => 'reset' x 8, password => $new->{newPassword},
             tenant => 'acme' };
my $forgot = { email => 'bob@acme.test', tenant => 'acme' };

with_password($s, $acme, userName => 'bob@acme.test');
$s->secret($new->{newPassword}, $link->{token});
$s->sql('INSERT INTO svc.password_reset (tenant_id, token_hash, user_id,'
        . " expires_at) VALUES ('$acme->{id}', '\\x" . sha256_hex($link->{token})
        . "', '$owner', now() + interval '1 day')");
is_status(204, 'resetPassword', body => $link);
is_status(202, 'forgotPassword', body => $forgot);

# A mailed link, for this browser.

my $mailed = { token => 'mailed' x 7 };
my $asked = 'c' x 43;
my @asked = (headers => [ Cookie => "svc_login=$asked" ]);

$s->secret($mailed->{token});
$s->sql("UPDATE svc.tenant SET branding = branding || '{\"allowPasswordless\":true}'");

my $challenge = $s->sql('INSERT INTO svc.email_challenge (tenant_id, id, kind, user_id,'
    . ' email_mac, code_mac, token_hash, binding_hash, void, expires_at)'
    . " SELECT tenant_id, gen_random_uuid(), 'sign_in', id, substr(sha256('x'), 1, 16),"
    . " substr(sha256('x'), 1, 16), sha256('$mailed->{token}'), sha256('$asked'), false,"
    . " now() + interval '1 day' FROM svc.user_account"
    . " WHERE user_name_key = 'bob\@acme.test' RETURNING id");

$idp->connect($acme, 'oidc-acme');
is_status(200, 'startFederation', body => { connection => 'oidc-acme', tenant => 'acme' });
is_status(404, 'startFederation', body => { connection => 'oidc-other', tenant => 'acme' });
$idp->connect($acme, 'oidc-wrong', issuer_url => $receiver->url('/html'));
is_status(401, 'startFederation', body => { connection => 'oidc-wrong', tenant => 'acme' });
is_status(503, 'federationLogout', body => 'logout_token=x', path => { connection => 'oidc-wrong' });
is_status(404, 'federationLogout', body => 'logout_token=x', path => { connection => 'oidc-none' });
$c->stands('tenants/{slug}/federation/{connection}' => 'oidc-acme',
           'admin/federation/{connection}' => 'oidc-none',
           'admin/federation/tests/{id}' => '00000000-0000-0000-0000-000000000000');
is_status(303, 'initiateFederation', query => 'iss=x');
is_status(303, 'initiateFederationByForm', body => 'iss=x');
is_status(400, 'federationLogout', body => 'logout_token=x');
is_status(413, 'federationLogout', body => 'x' x 65537);

my $claims = { iss => $idp->{issuers}[0], aud => 'svc', jti => 'j', sid => 's', iat => time,
               exp => time + 60,
               events => { 'http://schemas.openid.net/event/backchannel-logout' => {} } };

is_status(200, 'federationLogout', body => 'logout_token=' . $idp->ask(sign => $claims)->{token});
is_status(303, $_) for qw(endFederation endFederationByForm finishFederation);
is_status(413, 'endFederationByForm', body => 'x' x 65537);
$s->sql("DELETE FROM svc.social WHERE provider LIKE 'oidc-%'");
is_status(202, 'startPasswordless', body => $forgot);
is_status(401, 'passwordlessSignIn', body => { challengeId => $challenge,
                                               code => '123456' });
is_status(400, 'passwordlessSignIn', body => $mailed);
is_status(200, 'passwordlessSignIn', body => $mailed, @asked);
is_status(400, 'passwordlessSignIn', body => $mailed, @asked);

my ($leaving, $other, $ada) = map { signed_in("$_\@acme.test") }
                                  qw(bob ada ada);

# What is on.

my ($yes, $no) = (JSON::PP::true, JSON::PP::false);
my $console = is_status(200, 'getConsole')->json;

is_deeply($console, {
    version => $c->document->{info}{version}, baseUrl => $ORIGIN,
    issuerPrefix => "$ORIGIN/oauth/t/",
    features => { (map { $_ => $yes } qw(signIn passwordReset passkey organizationSignup mail
                                         oauth federation ldap scim scimTargets webhooks)),
                  map { $_ => $no } qw(backchannelLogout breachedPasswords country
                                       coordinates) },
    session => { idleSeconds => 1800, absoluteSeconds => 43200, stepUpSeconds => 600 },
    lockout => { attempts => 10, windowSeconds => 900, durationSeconds => 900 },
    limits => { pageSize => 500, bodyBytes => 1048576, imageBytes => 524288 } }, 'what is on');

is($leaving->get('/v1/admin/console')->json->{error}{code}, 'forbidden',
   'a role without a permission is not told');
$s->sql("UPDATE svc.user_account SET role = 'owner' WHERE user_name = 'bob\@acme.test'");
is_deeply($leaving->get('/v1/admin/console')->json, $console, 'one with some is');
$s->sql("UPDATE svc.user_account SET role = 'member' WHERE user_name = 'bob\@acme.test'");

my ($own) = grep { $_->{current} }
            @{ $other->get('/v1/auth/sessions')->json->{sessions} };

is_status(200, 'login', body => $login);
$c->signs_in($leaving);
is_status(200, 'changePassword', body => $new);

# A user's own address.

my $CODE = qr/^\s*(\d{6})\r?$/m;

wait_for { $mail->pending == 0 };

my $codes = grep { $_->{plain} =~ $CODE } $mail->events('mail');

sub mailed {
    my ($status, $id, %arg) = @_;

    my $r = is_status($status, $id, %arg);
    my @got;

    wait_for { (@got = grep { $_->{plain} =~ $CODE } $mail->events('mail')) > $codes } 20;
    $codes = @got;

    return ($r, $got[-1]{plain} =~ $CODE);
}

my $change = { email => 'bob@new.test' };

$s->sql("UPDATE svc.user_account SET source = 'local' WHERE user_name_key = 'bob\@acme.test'");

for my $ids ([ qw(startEmailVerification verifyEmail) ], [ qw(startEmailChange changeEmail) ]) {
    my ($start, $show) = @$ids;
    my ($r, $code) = mailed(202, $start, $start eq 'startEmailChange' ? (body => $change) : ());

    is_status(401, $show, body => { code => sprintf '%06d', ($code + 1) % 1_000_000 });
    is_status(200, $show, body => { code => "$code" });
    is_status(400, $show, body => { code => "$code" });
}

is_status(204, 'logout');
is_status(204, 'logout', session => 0);
is_status(400, 'endSession', body => { request => 'client_id=x' });
is_status(200, 'endSession', body => { request => 'state=x' });
$c->signs_in($ada);
$c->stands('auth/sessions/{id}' => $own->{id});
is_status(204, 'revokeSession');

# Applications that ask a user.

my $ada_id = $s->sql("SELECT id FROM svc.user_account WHERE user_name_key = 'ada\@acme.test'");

my $asking = $s->http(POST => '/v1/applications',
    [ Authorization => "Bearer $acme->{api_token}" ],
    { name => 'Asks', type => 'web', redirectUris => [ 'https://asks.test/cb' ] })->json;
my $asks = "client_id=$asking->{clientId}&redirect_uri=https%3A%2F%2Fasks.test%2Fcb"
           . '&response_type=code&scope=openid&code_challenge_method=S256&code_challenge='
           . 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

is_status(200, 'getAuthorization', query => $_) for $asks, "$asks&login_hint=ada";
is_status(400, 'getAuthorization', query => $asks =~ s/scope=openid/scope=x/r);
is_status(200, 'decideAuthorization',
          body => { request => $asks, decision => 'approve', userId => $ada_id,
                    scopes => [ 'openid' ], resources => [] });
is_status(409, 'decideAuthorization',
          body => { request => $asks, decision => 'approve', scopes => [ 'openid' ], resources => [],
                    userId => '01a00000-0000-7000-8000-000000000000' });
is_status(200, 'listConsents');
$c->stands('oauth/consents/{clientId}' => $asking->{clientId});
is_status(204, 'revokeConsent');
is_status(404, 'revokeConsent');

# A user's identities of other servers.

$idp->connect($acme, 'oidc-acme');

my $me = $ada->get('/v1/auth/session')->json->{user}{id};

sub linked {
    my ($user) = @_;

    link_to($s, $acme, "social WHERE provider = 'oidc-acme'", $user);

    return scalar $s->sql("SELECT id FROM svc.federated_identity WHERE user_id = '$user'");
}

my $mine = linked($me);

$c->stands('auth/identities/{id}' => $mine);
$s->sql("UPDATE svc.tenant SET branding = branding - 'allowPasswordless'");
$s->sql("DELETE FROM svc.password WHERE user_id = '$me'");
is_status(400, 'removeOwnLink');
$c->record(removeUserLink => $ada->ask(DELETE => "/v1/admin/users/$me/links/$mine"));
$s->sql("INSERT INTO svc.password (tenant_id, user_id, hash) VALUES ('$acme->{id}', '$me',"
        . " '$SvcTest::Browser::HASH')");
is_status(200, 'listOwnLinks');
is_status(204, 'removeOwnLink');
is_status(404, 'removeOwnLink');
$c->stands('admin/users/{userId}/links/{linkId}' => linked($user));
is_status(200, 'listUserLinks');
$c->stands('admin/users/{userId}/sessions/{sessionId}' =>
           scalar $s->sql(session_of($user) . ' RETURNING id'));
is_status(200, $_) for qw(listUserGroups listUserSessions listUserFactors);
is_status(204, 'endUserSession');
is_status(202, 'mailResetLink');
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$user'");
is_status(409, 'mailResetLink');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$user'");
is_status(200, 'listNames', query => "type=$_&q=ad") for qw(user group role application);
is_status(200, 'listNames', query => 'type=role&ids=owner');
is_status(403, 'listNames', query => 'type=user&q=ad',
          token => $acme->token_for('roles:manage'));
is_status(204, 'removeUserLink');
is_status(404, 'removeUserLink');
$s->sql("DELETE FROM svc.social WHERE provider LIKE 'oidc-%'");

# A code by mail that proves an address.

$idp->connect($acme, 'oidc-acme');

my $holder = SvcTest::Browser->new($s, tenant => 'acme');
$idp->ask(claims => { sub => 'full', email => 'full@acme.test',
                      email_verified => JSON::PP::true() });

my $asked_for = $idp->start($holder, 'oidc-acme')->json->{redirectTo};
my $led = $idp->ask(walk => $asked_for)->{location} =~ s{^https?://[^/]*}{}r;
my ($flow) = $holder->get($led)->header('Location') =~ /&flow=([\w-]{43})\z/;
my @holder = (headers => [ Cookie => $holder->cookie ]);
my ($proof, $proved) = mailed(202, 'startFederationMail', body => { flow => $flow }, @holder);
my $shows = sub { return { flow => $flow, challengeId => $proof->json->{challengeId},
                           code => sprintf '%06d', ($proved + $_[0]) % 1_000_000 } };

is_status(401, 'endFederationMail', body => $shows->(1), @holder);
is_status(200, 'endFederationMail', body => $shows->(0), @holder);
is_status(400, 'endFederationMail', body => $shows->(0), @holder);
is_status(400, 'startFederationMail', body => { flow => $flow });
$s->sql('DELETE FROM svc.federated_identity');
$s->sql("DELETE FROM svc.social WHERE provider LIKE 'oidc-%'");

# A user's own second factors.

is_status(400, 'createRecoveryCodes');
is_status(200, 'getSignInOptions');
is_status(200, 'createChallenge', body => {});

my @totp = map { is_status(201, 'addTotp', body => { name => 'Phone' })->json } 1, 2;

for my $factor (@totp) {
    my ($right, $wrong) = map { totp($factor->{secret}, $_) } -1, 99;

    $s->secret($factor->{secret});
    $c->stands('mfa/totp/{id}' => $factor->{id}, 'mfa/factors/{id}' => $factor->{id});
    is_status(401, 'confirmTotp', body => { code => $wrong });
    is_status(200, 'confirmTotp', body => { code => $right });
}

my $shown = { code => totp($totp[0]{secret}) };

is_status(200, 'createChallenge', body => { method => 'recovery' });
is_status(401, 'stepUp', body => { code => totp($totp[0]{secret}, 99) });
is_status(200, 'stepUp', body => $shown);
is_status(201, 'createRecoveryCodes');
is_status(200, 'listFactors');
is_status(200, 'renameFactor', body => { name => 'Tablet' });

my ($sent, $code) = mailed(202, 'addEmailFactor');
my $by_mail = $sent->json->{id};

$c->stands('mfa/email/{id}' => $by_mail);
is_status(401, 'confirmEmailFactor',
          body => { code => sprintf '%06d', ($code + 1) % 1_000_000 });
is_status(200, 'confirmEmailFactor', body => { code => "$code" });
is_status(409, 'addEmailFactor');
is_status(200, 'createChallenge', body => { method => 'email' });
is_status(200, 'listFactors');
is_status(200, 'getSession');
is_status(204, 'removeFactor', path => { id => $by_mail });
$s->sql("UPDATE svc.user_account SET email_verified = false WHERE user_name_key = 'ada\@acme.test'");
is_status(400, 'addEmailFactor');
$s->sql("UPDATE svc.user_account SET email_verified = true WHERE user_name_key = 'ada\@acme.test'");
is_status(200, 'putAccessPolicy', body => { rules => [], defaultAction => 'mfa' });

# The address is proved before the first factor.

my $carl = SvcTest::Browser->new($s, tenant => 'acme');

with_password($s, $acme, userName => 'carl@acme.test');
is($carl->login('carl@acme.test')->status, 403, 'a session that waits');
is_status(403, $_, token => undef, headers => [ Cookie => $carl->cookie ])
    for qw(getTenant getConsole);
$c->signs_in($carl);
($sent, $code) = mailed(200, 'createChallenge', body => { method => 'email' });
is_status(200, 'stepUp', body => { code => "$code" });
$c->signs_in($ada);
is_status(204, 'removeFactor');
$c->stands('mfa/factors/{id}' => $totp[0]{id});
is_status(400, 'removeFactor');
is_status(200, 'putAccessPolicy', body => { rules => [], defaultAction => 'allow' });
is_status(204, 'removeFactor');

my $passkeys = SvcTest::Authenticator->new($s->root, $ORIGIN);

sub asked {
    my ($id) = @_;

    return is_status(200, $id, body => {})->json->{publicKey};
}

my $added = { credential => $passkeys->answer(asked('newPasskeyOptions')) };
my $second = SvcTest::Authenticator->new($s->root, $ORIGIN);

$c->stands('mfa/factors/{id}' => is_status(201, 'addPasskey', body => $added)
                                 ->json->{factor}{id});
is_status(409, 'addPasskey', body => { credential => $second->answer(
    asked('newPasskeyOptions'), id => $added->{credential}{id}) });
is_status(200, 'listFactors');

my $passkey = $passkeys->answer(asked('passkeyOptions'));

is_status(200, 'passkeySignIn', body => { credential => $passkey });
is_status(401, 'passkeySignIn', body => { credential => $passkey });
is_status(204, 'removeFactor');


# --- answers of success -------------------------------------------------------------

my %theme = ((map { $_ => '#0a66c2' } qw(primary primaryHover primaryFg bg
                                         surface fg muted border danger)),
             radius => 8, private => { a => 1 });
my $image = png(8, 8);
my $policy = { rules => [ { name => 'Night', action => 'mfa',
                            networks => [ '203.0.113.0/24' ],
                            timeWindows => [ { start => '22:00',
                                               end => '06:00' } ] } ],
               defaultAction => 'allow' };
my $bundle = { version => 1, groupPasswordPolicies => [], roles =>
    [ { key => 'new', name => 'New', permissions => [ 'apps:manage' ] } ],
    accessPolicy => { %$policy, defaultAction => 'mfa' },
    riskPolicy => { enabled => JSON::PP::true(), mfaThreshold => 40,
                    denyThreshold => 90 } };

# Good bodies: those of all tests, and some for this test.

my %body = (
    federationLogout => 'logout_token=x',
    bodies(slug => 'acme', self => 'ada@acme.test', self_id => $ada_id,
           password => $PASSWORD, user => $user, email => 'full@acme.test',
           group => $group, role => 'auditor', domain => 'verified.example',
           map { $_ => 'x' } qw(application agent target other)),
    changePassword => $new,
    startEmailChange => $change,
    resetPassword => $link,
    forgotPassword => $forgot,
    startPasswordless => $forgot,
    passwordlessSignIn => $mailed,
    passkeySignIn => { credential => $passkey },
    updateTenant => { branding => \%theme },
    putTenantLogo => $image,
    createApiToken => { name => 'two', scopes => [ 'users:view' ] },
    createInvitation => { email => 'second@acme.test', role => 'member',
                          groupIds => [ $group ] },
    signUp => { %$forgot, email => 'dora@acme.test', password => $new->{newPassword} },
    verifySignUp => { token => 'x' x 43 },
    signUpOrganization => { slug => 'initech', name => 'Initech', email => 'dora@acme.test',
                            password => $new->{newPassword} },
    verifyOrganization => { token => 'x' x 43 },
    lookupInvitation => { token => $accept->{token} },
    acceptInvitation => $accept,
    createSocialConnection => { provider => 'google', clientId => 'x',
                                clientSecret => 'x' },
    createApplication => { name => 'Robot', type => 'm2m' },
    updateApplication => { name => 'Books', resourceUri => 'urn:books' },
    updateSamlApp => { name => 'CRM 2' },
    putAgentSettings => { orphanAction => 'disable' },
    putAgentPolicy => { maxTokenTtlSeconds => 900, allowedScopes => [ 'invoices:read' ],
                        allowedAudiences => [ 'https://api.test/' ] },
    simulateAgentPolicy => { allowedScopes => [] },
    putAgentIdentity => { expiresAt => '2099-01-01T00:00:00Z' },
    rotateAgentSecret => { revokeTokens => JSON::PP::true() },
    addGroupApps => { clientIds => [] },
    setGroupApps => { clientIds => [] },
    putSaml => { idpEntityId => 'urn:x', attributeMapping => { map { $_ => $_ }
                 qw(email firstName lastName displayName title department locale
                    externalId) } },
    putLdap => { url => 'ldaps://x.test', baseDn => 'dc=x',
                 userFilter => '(mail={email})', domains => [ 'verified.example' ] },
    syncLdap => { force => JSON::PP::true() },
    testLdap => { email => 'ada@acme.test' },
    createGroup => { name => 'Plant B' },
    updateGroup => { description => 'All of them' },
    addGroupMembers => { userIds => [ $user, $bare ], emails => [ 'nobody@acme.test' ] },
    setGroupMembers => { userId => $user },
    createRole => { name => 'Night shift', permissions => [] },
    putAccessPolicy => $policy,
    simulateAccessPolicy => { rules => [], defaultAction => 'mfa' },
    putRiskPolicy => { mfaThreshold => 50 },
    putPasswordPolicy => { minLength => 14 },
    createGroupPasswordPolicy => { groupId => $group, minLength => 20 },
    putGroupPasswordPolicy => { maxAgeDays => 90 },
    planConfig => $bundle,
    applyConfig => $bundle,
    createWebhook => { url => $receiver->url('/two'),
                       events => [ 'user.created' ] },
    updateWebhook => { enabled => JSON::PP::true() },
    createScimTarget => { clientId => 'x', name => 'x', token => 'x',
                          baseUrl => 'https://a.example.com' },
    updateScimTarget => { name => 'Bills' },
);

verified($s, $acme, 'verified.example');
is_status(200, 'putTenantLogo', body => $image);
is_status(200, 'getAccessPolicy');
is_status(200, 'getLdap');
is_status(404, $_, body => {}) for qw(testLdap syncLdap);
is_status(200, 'putAccessPolicy', body => $policy);
is_status(200, 'putAccessPolicy', body => { rules => [],
                                            defaultAction => 'allow' });

my $versions = is_status(200, 'listAccessPolicyVersions')->json->{versions};

$c->stands('admin/access-policy/versions/{id}' => $versions->[1]{id});

is_status(201, 'putGroupPasswordPolicy', body => { minLength => 16 });
is_status(200, $_) for qw(listApiTokens listIdentities);
is_status(200, 'listUsers', query => 'q=acme&status=active&limit=2');
is_status(200, 'planConfig', body => $bundle, query => 'detail=true');
is_status(202, 'testWebhook');
$c->stands('admin/webhooks/{id}/deliveries/{deliveryId}' => 'f' x 32);

$c->stands('admin/ip-blocks/{ip}' => '198.51.100.9',
           'admin/domains/{domain}' => 'login.acme.example',
           'admin/scim/tokens/{id}' => $acme->{scim_id},
           'admin/audit/{id}' => scalar $s->sql('SELECT max(id) FROM svc.audit_event'
                                                . " WHERE tenant_id = '$acme->{id}'"),
           'admin/social/connections/{provider}' => 'google',
           'integrations/{key}' => 'slack');

my $incident = $s->sql('INSERT INTO svc.incident (tenant_id, id, type, subject,'
    . ' severity, title, details, count, last_seen_at) VALUES'
    . " ('$acme->{id}', gen_random_uuid(), 'account_lockouts', '', 'medium',"
    . " 'Several accounts have been locked.', '{\"lockouts\": 5}', 1, now())"
    . ' RETURNING id');

$c->stands('admin/security-incidents/{id}' => $incident);
is_status(200, 'listSecurityIncidents', query => 'all=true');

my $record = is_status(201, 'addDomain',
                       body => { domain => 'login.acme.example' })->json->{verification};

is_status(400, 'verifyDomain');
$dns->set($record->{name} => { txt => [ [ $record->{value} ] ] });

$c->stands('admin/saml-idp/apps/{id}' =>
           is_status(201, 'createSamlApp',
                     body => { name => 'CRM', spEntityId => 'https://crm.test',
                               acsUrl => 'https://crm.test' })->json->{id});

my $client = is_status(201, 'createApplication', headers => [ 'Idempotency-Key' => 'c' ],
    body => { name => 'Billing', type => 'web', redirectUris => [ 'https://a.test/' ] })
    ->json->{clientId};

$c->stands('applications/{clientId}' => $client,
           'applications/{clientId}/groups' => $client,
           'applications/{clientId}/usage' => $client,
           'applications/{clientId}/consents' => $client,
           'admin/groups/{id}/apps/{clientId}' => $client);
$body{$_}{clientIds} = [ $client ] for qw(addGroupApps setGroupApps);

# A trigger makes the test of a SCIM target succeed at once.

$s->sql($_) for
    'CREATE FUNCTION public.tested() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN'
    . ' NEW.test_done := NEW.test_id; NEW.test_status := 200; NEW.test_patch := true;'
    . ' RETURN NEW; END $$',
    'CREATE TRIGGER tested BEFORE UPDATE OF test_id ON svc.scim_target FOR EACH ROW'
    . ' EXECUTE FUNCTION public.tested()';

my $target = is_status(201, 'createScimTarget', headers => [ 'Idempotency-Key' => 's' ],
                       body => { clientId => $client, name => 'Billing', token => 'x',
                                 baseUrl => 'https://a.example.com/scim' })->json->{id};

$c->stands('admin/scim-targets/{id}' => $target,
           'admin/scim-targets/{id}/users/{userId}' => $user);
$s->sql('INSERT INTO svc.scim_item (tenant_id, target_id, user_id) VALUES'
        . " ('$acme->{id}', '$target', '$user')");
is_status(409, 'createScimTarget', body => { clientId => $client, name => 'x', token => 'x',
                                             baseUrl => 'https://a.example.com' });
is_status(409, 'deleteApplication');
is_status(200, 'listScimTargetUsers', query => 'state=pending');
is_status(202, 'syncScimTarget');
is_status(409, 'syncScimTarget');
$s->sql("UPDATE svc.scim_target SET sync_status = 'held'");
is_status(400, 'syncScimTarget', query => 'confirm=x');
is_status(409, 'syncScimTargetUser');
$s->sql('UPDATE svc.scim_target SET enabled = false');
is_status(400, 'syncScimTargetUser');
$s->sql('UPDATE svc.scim_target SET enabled = true, sync_status = NULL');
is_status(202, 'syncScimTargetUser');
$s->sql('ALTER TABLE svc.scim_target DISABLE TRIGGER tested');
$s->sql("UPDATE svc.scim_target SET test_id = id, test_done = NULL, test_at = now()");
is_status(409, 'testScimTarget');
$s->sql("UPDATE svc.scim_target SET test_id = NULL, sync_status = 'success'");
$s->sql('ALTER TABLE svc.scim_target ENABLE TRIGGER tested');

my $agent = is_status(201, 'createApplication', body => { name => 'Bot', type => 'agent' })
    ->json->{clientId};

$c->stands('admin/agents/{clientId}' => $agent,
           'admin/agents/anomalies/{id}' => scalar $s->sql(
    'INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key, severity, details)'
    . " VALUES ('$acme->{id}', '$agent', 'new_country', 'FR', 'medium',"
    . q{ '{"country": "FR"}') RETURNING id}));
$s->sql('INSERT INTO svc.delegation (tenant_id, id, client_id, client_name, subject_type,'
        . ' subject_id, chain, grant_type, scopes, outcome, reason, token_jti) SELECT'
        . " '$acme->{id}', gen_random_uuid(), '$agent', 'Bot', t, '$user', '{$agent}', 'x',"
        . " '{a}', o, r, CASE WHEN r IS NULL THEN gen_random_uuid() END FROM (VALUES"
        . " ('user', 'granted', NULL), (NULL, 'refused', 'scope_denied')) v (t, o, r)");
$s->sql('INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals,'
        . ' grant_type, scopes, ttl, audience, audience_key) VALUES'
        . " ('$acme->{id}', gen_random_uuid(), now(), '$agent', '{$agent}',"
        . " 'client_credentials', '{a}', 600, 'urn:x', 'urn:x')");
is_status(200, 'simulateAgentPolicy', body => { allowedScopes => [],
                                                allowedAudiences => [ 'urn:y' ] });
is_status(200, 'putAgentIdentity', body => { ownerId => $user });
is_status(200, 'listAgents', query => 'status=active&limit=2');
is_status(200, 'listAgentAnomalies', query => 'all=1');
is_status(412, $_, body => $body{$_}, headers => [ 'If-Match' => '"1"' ])
    for qw(putAgentPolicy putAgentIdentity putAgentSettings putOauthSettings resetAgentPolicy
           updateSamlApp);

my @later = qw(deleteIpBlock removeGroupApp deleteScimTarget deleteApplication
               removeDomain removeGroupMember
               deleteGroupPasswordPolicy deleteGroup deleteRole revokeApiToken
               revokeScimToken deleteLdap deleteSocialConnection deleteSamlApp
               removeMember
               revokeInvitation deleteUser deleteTenantLogo);
my %later = map { $_ => 1 } @later, qw(createGroupPasswordPolicy testWebhook
                                       redeliverWebhook syncScimTargetUser
                                       createScimTarget syncScimTarget syncLdap
                                       deleteWebhook changePassword login
                                       logout resetPassword forgotPassword
                                       startPasswordless passwordlessSignIn
                                       startEmailVerification verifyEmail
                                       getAuthorization decideAuthorization
                                       endSession
                                       revokeConsent
                                       startEmailChange changeEmail
                                       addEmailFactor confirmEmailFactor
                                       listFactors removeOwnLink removeUserLink
                                       renameFactor removeFactor addTotp
                                       confirmTotp createRecoveryCodes
                                       createChallenge stepUp
                                       passkeyOptions passkeySignIn
                                       newPasskeyOptions addPasskey
                                       getSignInOptions startFederation endFederation
                                       federationLogout testConnection readConnectionTest
                                       endFederationByForm finishFederation
                                       initiateFederation initiateFederationByForm
                                       startFederationMail endFederationMail
                                       signUp verifySignUp signUpOrganization
                                       verifyOrganization
                                       lookupInvitation acceptInvitation
                                       resendInvitation
                                       listNames endUserSession mailResetLink
                                       revokeSession);

for my $id (grep { !$later{$_} } $c->ids) {
    next if $id eq 'streamAuditEvents';

    my $r = $c->call($id, body => $body{$id});

    like($r->status, qr/\A20[01]\z/, "$id: " . $r->status) or diag($r->body);
}

is_status(409, 'syncLdap', body => {});

# no import begins by itself, and the one that is asked for loses its lease

$s->sql('UPDATE svc.ldap SET enabled = true, vouched_owner = true, sync_enabled = true;'
        . " UPDATE svc.ldap_sync SET due_at = now() + interval '1 hour'");
is_status(403, 'syncLdap', body => $body{syncLdap});
is_status(202, 'syncLdap', body => {});
$s->sql("UPDATE svc.ldap_sync SET run = run + 1, due_at = now() + interval '1 hour',"
        . ' conflicts = \'[{"email": "x", "reason": "email_taken"}]\'');
is_status(200, 'getLdapSync');

is_status(200, $_->[0], query => 'detail=1', body => $_->[1])
    for [ planConfig => $bundle ],
        [ planConfig => { %$bundle, roles => [] } ],
        [ applyConfig => { version => 1,
                           riskPolicy => $bundle->{riskPolicy} } ],
        [ applyConfig => { version => 1, roles => [] } ];
is_status(200, 'planConfig', query => 'detail=true', body => $bundle,
          token => $acme->token_for('tenant:manage'));
is_status(200, 'getPublicLogo', query => 'v=another');
is_status(206, 'getPublicLogo', headers => [ Range => 'bytes=0-9' ]);
is_status(200, 'exportAuditEvents', query => 'format=csv');

my $stream = SvcTest::Sse->new($s, $token, '/v1/admin/audit/stream');

$stream->open or die "no stream\n";
$stream->{answer}{body} = 'events';
$c->record(streamAuditEvents => $stream->{answer});

for my $create ([ createGroup => g => { name => 'Staff' } ],
                [ createInvitation => i => { email => 'in@acme.test',
                                             role => 'auditor' } ],
                [ createApiToken => t => { name => 'ci',
                                           scopes => [ 'users:view' ] } ],
                [ createRole => r => { key => 'auditor', name => 'Auditor',
                                       permissions => [ 'audit:view' ] } ])
{
    my ($id, $key, $body) = @$create;
    my $r = is_status(201, $id, body => $body,
                      headers => [ 'Idempotency-Key' => $key ]);

    is($r->header('idempotency-replayed'), 'true', 'as before');
}

my @again = ('Idempotency-Key' => 'p');

is_status(201, 'addDomain', headers => [ @again ],
          body => { domain => 'once.acme.example' }) for 1, 2;
is_status(201, 'createIpBlock', headers => [ @again ],
          body => { ip => '2001:db8::9' }) for 1, 2;
is_status(204, 'deleteGroupPasswordPolicy');
is_status(201, 'createGroupPasswordPolicy', headers => [ @again ],
          body => $body{createGroupPasswordPolicy}) for 1, 2;
is_status(201, 'createWebhook', headers => [ 'Idempotency-Key' => 'x' ],
          body => $body{createWebhook}) for 1, 2;

is_status(201, 'createSocialConnection',
          body => { provider => 'gitlab', clientId => 'x', clientSecret => 'x',
                    domains => [ 'verified.example' ] });
is_status(200, 'discoverSignIn', body => { email => 'ada@verified.example', tenant => 'acme' });
is_status($_->[0], 'createSocialConnection', headers => [ @again ],
          body => { provider => 'github', clientId => $_->[1], clientSecret => 'x' })
    for [ 201, 'x' ], [ 201, 'x' ], [ 409, 'y' ];

# a test of a connection, which ends as its server refuses

my ($state) = is_status(200, 'testConnection', path => { connection => 'github' })
              ->json->{redirectTo} =~ /[?&]state=([\w-]+)/;
my ($tested) = $c->{browser}->get('/v1/tenants/acme/federation/github/callback'
                                  . "?error=access_denied&state=$state")
               ->header('Location') =~ /&test=([\w-]+)\z/;

is_status(400, 'testConnection', path => { connection => 'ldap' });
is_status(200, 'readConnectionTest', path => { id => $tested });
is_status($_->[0], 'createSamlApp', headers => [ @again ],
          body => { name => $_->[1], map { $_ => 'https://once.test' }
                    qw(spEntityId acsUrl) })
    for [ 201, 'x' ], [ 201, 'x' ], [ 409, 'y' ];
is_status(409, 'updateSamlApp', body => { spEntityId => 'https://once.test' });
is_status($_->[0], 'createApplication', headers => [ @again ],
          body => { name => $_->[1], type => 'm2m', resourceUri => 'urn:once' })
    for [ 201, 'x' ], [ 201, 'x' ], [ 409, 'y' ];
is_status(409, 'updateApplication', body => { resourceUri => 'urn:once' });
is_status($_->[0], 'createScimTarget', headers => [ 'Idempotency-Key' => 's' ],
          body => { clientId => $client, name => $_->[1], token => 'x',
                    baseUrl => 'https://a.example.com/scim' })
    for [ 201, 'Billing' ], [ 409, 'x' ];
is_status($_->[0], 'createScimToken', headers => [ @again ], body => $_->[1])
    for [ 201, { name => 'Okta' } ], [ 201, { name => 'Okta' } ], [ 409, {} ];

$receiver->deliveries({ %$hook, tenant => $acme }, 1);
is_status(200, 'listWebhookDeliveries');
my $heard = $acme->create(userName => 'heard@acme.test')->{id};
my $event = substr sha256_hex("svc.webhook.event $acme->{id} user.created $heard"), 0, 32;
my %delivered;

wait_for {
    my ($one) = grep { $_->{eventId} eq $event }
                $receiver->deliveries({ %$hook, tenant => $acme }, 1);

    %delivered = (path => { deliveryId => $one->{id} }) if $one;
};

is_status(409, 'redeliverWebhook', %delivered);
$s->sql("UPDATE svc.$_ SET created_at = created_at - interval '2 minutes'")
    for qw(webhook_attempt audit_event);
$s->redis->command('DEL svc.webhook2.known');
is_status(202, 'redeliverWebhook', %delivered);


# --- refusals -------------------------------------------------------------------------

my $viewer = { map { $_ => $acme->token_for($_) } qw(apps:manage users:view) };
my $long = '{"a":"' . 'x' x 1048576 . '"}';

for my $id ($c->ids) {
    my $operation = $c->operation($id);
    my %good = (body => $body{$id});
    my %has = map { $_ => 1 } keys %{ $operation->{responses} };

    is_status(414, $id, %good, query => 'x' x 9000, body => undef);

    my $takes = $c->takes($id);

    next if $takes eq 'nothing';

    my %other = $takes eq 'session' ? (session => 0) : ();

    is_status(401, $id, %good, %other,
              token => %other ? undef : 'svc_unknown') if $has{401};
    is_status(403, $id, %good, token => $viewer->{$operation->{'x-permission'} eq 'apps:manage'
                                                 ? 'users:view' : 'apps:manage'})
        if $has{403} && $has{401} && $operation->{'x-permission'} ne 'any';

    is_status(404, $id, %good, path => { key => 'nobody', ip => '192.0.2.1',
                                         domain => 'nobody.example',
                                         provider => 'facebook',
                                         map { $_ => $none } qw(id userId groupId clientId) })
        if $operation->{path} =~ /\{/;

    is_status(412, $id, %good, headers => [ 'If-Match' => '"0"' ])
        if $has{412};

    is_status(413, $id, body => $id eq 'putTenantLogo' ? 'x' x 524289 : $long)
        if $has{413};

    my $query = $operation->{parameters} && $operation->{method} eq 'GET';

    is_status(400, $id, body => $operation->{requestBody} ? '{' : undef,
              query => !$query ? undef
                       : $id eq 'streamAuditEvents' ? 'lastEventId=x'
                       : $id eq 'exportAuditEvents' ? 'format=x'
                       : 'limit=0&days=0')
        if $has{400} && $id !~ /\A(?:deleteUser|suspendUser|testWebhook|syncScimTarget
                                  |syncScimTargetUser|redeliverWebhook
                                  |removeOwnLink|removeUserLink
                                  |removeFactor|createRecoveryCodes|verifyDomain
                                  |addEmailFactor
                                  |removeMember|resendInvitation|resetUserMfa
                                  |testConnection
                                  |restoreAccessPolicyVersion)\z/x;
}


# Refusals of sign-in.

my $visitor = $s->tenant('globex');
my $stage = SvcTest::Browser->new($s, tenant => 'globex');

with_password($s, $visitor, userName => 'eve@globex.test');

is_status(400, 'login', body => { email => 'ada@acme.test' });
is_status(401, 'login', body => { %$login, password => 'wrong' });
is_status(403, 'login', body => $login,
          headers => [ 'Sec-Fetch-Site' => 'cross-site' ]);
is_status(400, 'resetPassword', body => $link);
is_status(400, 'stepUp', body => { code => '123456', challengeId => 'x' });
is_status(403, 'resetPassword', body => $link,
          headers => [ Origin => 'https://elsewhere.example' ]);
is_status(413, 'resetPassword', body => { %$link, a => 'x' x 16384 });
is_status(400, 'forgotPassword', body => { email => 'bob' });
is_status(403, 'forgotPassword', body => $forgot,
          headers => [ Origin => 'https://elsewhere.example' ]);
is_status(413, 'forgotPassword', body => { %$forgot, a => 'x' x 16384 });
is_status(400, 'startPasswordless', body => { email => 'bob' });

is_status(400, 'startFederation', body => { connection => 1 });

for my $id (qw(startFederation startFederationMail endFederationMail startPasswordless
               passwordlessSignIn)) {
    is_status(403, $id, body => $body{$id}, headers => [ Origin => 'https://evil.example' ]);
    is_status(413, $id, body => { a => 'x' x 16384 });
}

is_status(400, 'changePassword', body => { %$new, newPassword => 'short' });
is_status(401, 'changePassword', body => { %$new, currentPassword => 'wrong' });
is_status(413, $_, body => { %{ $body{$_} }, a => 'x' x 16384 })
    for qw(login passkeyOptions passkeySignIn);
is_status(403, $_, body => $body{$_}, headers => [ Origin => 'https://elsewhere.example' ])
    for qw(passkeyOptions passkeySignIn);
is_status(400, 'getSignInOptions', query => 'tenant=-');
is_status(400, 'discoverSignIn', body => { email => 'ada' });
is_status(403, 'discoverSignIn', body => $body{discoverSignIn},
          headers => [ Origin => 'https://elsewhere.example' ]);
is_status(404, 'discoverSignIn', body => { %{ $body{discoverSignIn} }, tenant => 'none' });
is_status(413, 'discoverSignIn', body => { %{ $body{discoverSignIn} }, a => 'x' x 16384 });
is_status(400, $_, body => { tenant => 1 }) for qw(passkeyOptions passkeySignIn);
$s->svcctl(qw(tenant suspend --tenant globex));
is_status(403, 'getSignInOptions', query => 'tenant=globex');
$s->svcctl(qw(tenant resume --tenant globex));
is_status(403, 'logout', headers => [ 'X-CSRF-Token' => 'another' ]);
is_status(403, 'endSession', body => { request => '' },
          headers => [ 'X-CSRF-Token' => 'another' ]);
is_status(403, 'revokeSession', headers => [ 'X-CSRF-Token' => 'another' ]);

$s->sql("UPDATE svc.password SET set_at = now() - interval '9 days'"
        . " WHERE tenant_id = '$visitor->{id}'");
$s->sql("UPDATE svc.governance SET max_age_days = 1"
        . " WHERE tenant_id = '$visitor->{id}'");
is($stage->login('eve@globex.test')->json->{error}{code}, 'password_expired',
   'a session that waits for a new password');
$c->record(getSession => $stage->get('/v1/auth/session'));

for (1 .. 10) {
    my $r = $c->call('login', body => { %$login, email => 'nobody@acme.test' });

    is($r->status, $_ < 10 ? 401 : 429, "failure $_") or diag($r->body);
}

# A domain of two tenants: the other one has had it verified.

my $both = is_status(201, 'addDomain', body => { domain => 'both.example' })->json;

$s->sql('INSERT INTO svc.domain (tenant_id, domain, verified_at) VALUES'
        . " ('$visitor->{id}', 'both.example', now())");
$dns->set($both->{verification}{name} => { txt => [ [ $both->{verification}{value} ] ] });
is_status(409, 'verifyDomain', path => { domain => 'both.example' });
is_status(409, 'addDomain', body => { domain => 'both.example' });
is_status(403, 'signUp', body => $body{signUp});
is_status(200, 'updateTenant', body => { branding => { allowSelfSignup => JSON::PP::true() } });

for my $id (qw(signUp signUpOrganization)) {
    is_status(202, $id, body => $body{$id});
    is_status(400, $id, body => { %{ $body{$id} }, password => 'short' });
    is_status(400, $id, body => {});
    is_status(413, $id, body => { %{ $body{$id} }, a => 'x' x 16384 });
    is_status(403, $id, body => $body{$id}, headers => [ Origin => 'https://elsewhere.example' ]);
}

is_status(409, 'signUpOrganization', body => { %{ $body{signUpOrganization} },
                                               slug => 'acme' });

for my $id (qw(verifySignUp verifyOrganization)) {
    is_status(400, $id, body => $body{$id});
    is_status(400, $id, body => {});
    is_status(413, $id, body => { token => 'x' x 43, a => 'x' x 16384 });
    is_status(403, $id, body => $body{$id}, headers => [ Origin => 'https://elsewhere.example' ]);
}

# This tenant has no webhook.

$s->sql("UPDATE svc.tenant SET branding = '{\"allowSelfSignup\":true}'"
        . " WHERE id = '$visitor->{id}'");
$body{signUp}{tenant} = $visitor->{slug};

my %made = (email => 0);

sub shown {
    my ($id, $verify, $table, $token) = @_;

    my $r = is_status(202, $id, body => { %{ $body{$id} },
                                          email => 'x' . ++$made{email} . '@x.test' });
    my ($binding) = $r->header('Set-Cookie') =~ /svc_login=([\w-]+)/;

    $s->sql("UPDATE svc.$table SET token_hash = sha256('$token')"
            . " WHERE id = '" . $r->json->{challengeId} . "'");
    is_status(401, $verify, body => { challengeId => $r->json->{challengeId},
                                      code => '000000' });

    return (body => { token => $token }, session => 0,
            headers => [ Cookie => "svc_login=$binding" ]);
}

my @shown = map { [ shown(signUpOrganization => 'verifyOrganization',
                          'organization_signup', $_ x 43) ] } 'x', 'y';

is_status(201, 'verifyOrganization', @{ $shown[0] });
is_status(409, 'verifyOrganization', @{ $shown[1] });
is_status(201, 'verifySignUp', shown(signUp => 'verifySignUp', 'email_challenge',
                                     'z' x 43));

my $plain = $s->node(workers => 1, svc => { @SMALL, svc_sign_in => 'on',
                                            svc_base_url => $ORIGIN });

is_status($_, 'signUp', body => $body{signUp}, port => $plain->{port}) for 201, 409;

for my $id (qw(lookupInvitation acceptInvitation)) {
    my %in = (%$accept, token => 'x' x 43);

    is_status(400, $id, body => {});
    is_status(400, $id, body => \%in);
    is_status(413, $id, body => { %in, a => 'x' x 16384 });
    is_status(403, $id, body => \%in, headers => [ Origin => 'https://elsewhere.example' ]);
}

is_status(200, 'lookupInvitation', body => { token => $accept->{token} });
is_status(400, 'acceptInvitation', body => { %$accept, password => 'short' });
$accept->{token} = is_status(200, 'resendInvitation')->json->{inviteUrl}
                   =~ s/.*#token=//r;
$s->sql("INSERT INTO svc.invitation (tenant_id, id, email, email_key, role,"
        . " group_ids, days, token_hash, expires_at) SELECT '$acme->{id}',"
        . " gen_random_uuid(), i || '\@x.test', i || '\@x.test', 'member', '{}', 7,"
        . " sha256(i::text::bytea), now() + interval '1 day'"
        . ' FROM generate_series(1, 1000) i');
$s->sql("UPDATE svc.invitation SET expires_at = now() - interval '1 ms' WHERE id = '$in->{id}'");
is_status(400, 'createInvitation', body => { email => 'a@x.test', role => 'member' });
is_status(400, 'resendInvitation');
$s->sql("DELETE FROM svc.invitation WHERE email ~ '^[0-9]'");
$accept->{token} = is_status(200, 'resendInvitation')->json->{inviteUrl}
                   =~ s/.*#token=//r;
is_status(201, 'acceptInvitation', body => $accept);
is_status(409, $_) for qw(resendInvitation revokeInvitation);
is_status(409, 'createInvitation', body => { email => 'bare@acme.test',
                                             role => 'member' });
is_status(409, 'createInvitation', body => $body{createInvitation});
$c->stands('admin/invitations/{id}' =>
    is_status(201, 'createInvitation', body => { email => 'third@acme.test',
                                                 role => 'member' })->json->{id});

is_status(404, 'getPublicBranding', path => { slug => 'nobody' });
is_status(404, 'getPublicLogo', path => { slug => 'nobody' });
is_status(416, 'getPublicLogo', headers => [ Range => 'bytes=99999-' ]);
is_status(404, 'unlockUser', body => { userId => $none });

for my $id (grep { $c->operation($_)->{responses}{304} } $c->ids) {
    my $etag = $c->call($id)->header('etag');

    is_status(304, $id, headers => [ 'If-None-Match' => $etag ]);
}

# 400 for other reasons than the form.

my $denied = { rules => [], defaultAction => 'deny' };

$s->sql("UPDATE svc.user_account SET role = 'member' WHERE id <> '$owner'");
is_status(400, $_, path => { userId => $owner })
    for qw(deleteUser suspendUser removeMember);
is_status(400, 'updateMember', path => { userId => $owner }, body => { role => 'member' });

# The last passkey of an owner, where people must come in by a connection.

$s->sql($_) for
    'INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at) VALUES'
    . " ('$acme->{id}', '$owner', '$none', 'passkey', 'Key', now())",
    'INSERT INTO svc.passkey (tenant_id, credential_hash, user_id, factor_id, credential_id,'
    . ' public_key, alg, rp_id, sign_count, be, bs, transports, aaguid) VALUES'
    . " ('$acme->{id}', sha256('x'), '$owner', '$none', 'x', 'x', -7, 'localhost', 0, false,"
    . " false, 0, 'x')",
    "UPDATE svc.domain SET sign_in = '$none', rp_id = 'localhost' WHERE tenant_id ="
    . " '$acme->{id}'";
is_status(400, 'resetUserMfa', path => { userId => $owner });
$s->sql("UPDATE svc.domain SET sign_in = NULL, rp_id = NULL WHERE tenant_id = '$acme->{id}'");
is_status(400, 'putAccessPolicy', body => $denied);
is_status(400, 'applyConfig', body => { version => 1,
                                        accessPolicy => $denied });
is_status(400, 'putTenantLogo', body => $_)
    for svg(), substr($image, 0, 40), png(2001, 1);
$s->sql("UPDATE svc.access_policy_version SET snapshot = '{\"rules\":[],"
        . "\"defaultAction\":\"deny\"}' WHERE id = '$versions->[1]{id}'");
is_status(400, 'restoreAccessPolicyVersion');
is_status(200, 'updateWebhook', body => { enabled => JSON::PP::false() });
is_status(400, $_, %delivered) for qw(testWebhook redeliverWebhook);
is_status(400, 'simulateAccessPolicy', body => { defaultAction => 'allow',
    rules => [ map { { name => 'r', action => 'mfa' } } 1 .. 101 ] });

# 409.

is_status(409, 'createGroup', body => { name => 'staff' });
is_status(409, 'createGroup', body => { name => 'x' },
          headers => [ 'Idempotency-Key' => 'g' ]);
is_status(409, 'createIpBlock', body => $body{createIpBlock});
is_status(409, 'updateGroup', body => { name => 'plant b' });
is_status(409, 'createRole', body => { key => 'owner', name => 'Owner',
                                       permissions => [] });
is_status(409, 'createGroupPasswordPolicy',
          body => $body{createGroupPasswordPolicy});
is_status(409, 'updateUser', body => { email => 'bare@acme.test' });
is_status(409, 'createApiToken', body => $body{createApiToken},
          headers => [ 'Idempotency-Key' => 't' ]);
is_status(409, 'createWebhook', body => $body{createWebhook},
          headers => [ 'Idempotency-Key' => 'w' ]);
$s->sql("UPDATE svc.user_account SET role = 'auditor' WHERE id = '$bare'");
is_status(409, 'deleteRole');
is_status(409, 'applyConfig', query => 'prune=true',
          body => { version => 1, roles => [] });
$s->sql("UPDATE svc.user_account SET role = 'member' WHERE id = '$bare'");


# --- deleting everything --------------------------------------------------------------

is_status(200, 'updateWebhook', body => { enabled => JSON::PP::true() });
is_status($_ eq 'deleteTenantLogo' ? 200 : 204, $_) for @later;
my @got = $receiver->wait('/ok', 16);

is_deeply([ sort map { $_->{header}{'x-svc-event'} } @got ],
          [ ('user.created') x 7, 'user.deleted', ('user.login') x 8 ],
          'deliveries: a sample, of users made, one of them twice, erased, and signed in');
$c->delivery($_) for @got;
is_status(204, 'deleteWebhook');


# --- answers of operators' directives -------------------------------------------------

# Of the requests that name the limit only one connection is allowed.

my $busy = $s->node(workers => 1, svc => { @SMALL },
                    http => "limit_conn_zone \$arg_limited zone=one:64k;\n",
                    server => "limit_conn one 1;\nlimit_conn_status 429;\n");
my @busy = (query => 'limited=1', port => $busy->{port});
my $held = SvcTest::Sse->new($s, $token, '/v1/admin/audit/stream?limited=1',
                             undef, port => $busy->{port});

ok($held->open, 'a stream that stays');
is_status(429, $_, body => $body{$_}, @busy) for $c->ids;
is_status(404, $_, body => $body{$_}, port => $busy->{port})
    for qw(listWebhooks createWebhook listScimTargets createScimTarget getSignInOptions passkeyOptions passkeySignIn
           newPasskeyOptions addPasskey);
undef $held;

my $lost = $s->node(workers => 1, svc => { %{ $s->nginx->{svc} },
                             svc_postgres_queue_timeout => '20ms' },
                    locations => $s->nginx->{locations});

undef $stream;
$s->pg->stop('QUIT');
is_status(503, $_, body => $body{$_}, port => $lost->{port},
          /FederationMail/ ? @holder : $_ eq 'getAuthorization' ? (query => $asks) : ())
    for grep { $c->operation($_)->{responses}{503} } $c->ids;

is(npm_run($s->root, 'answers.mjs', $c->input('\w+ 500')), "\n",
   'all of it is in the document, and all of the document was seen');

$s->done;
done_testing();
