#!/usr/bin/perl

# The limits, types and defaults of the published contract are those of the
# server: what the one refuses the other does, member by member.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance qw($ALL);
use SvcTest::Mail qw(nowhere);
use SvcTest::Npm;

# as many sign-ins as there are values, with what is cheap to hash

my $s = SvcTest->new(svc => {
    svc_webhooks => 'on', svc_scim_targets => 'on', svc_sign_in => 'on', nowhere(),
    svc_organization_signup => 'on',
    svc_password_hash => 'memory=7m iterations=1',
    svc_set => [ 'RATE_LIMIT_LOGIN_WINDOW 0', 'LOGIN_LOCKOUT_MAX 0',
                 'RATE_LIMIT_SIGNUP_WINDOW 0' ],
}, locations => 'location /oauth { svc_oauth on; }')->start;
my $acme = $s->tenant('acme');
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}'"
        . " WHERE id = '$acme->{api_id}'");

my $user = $acme->create(userName => 'full@acme.test')->{id};
my $group = $acme->admin(POST => '/groups', { name => 'Staff' })->json->{id};
my $browser = SvcTest::Browser->new($s);

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');
is($browser->login('ada@acme.test')->status, 200, 'a session');
my $hook = $acme->admin(POST => '/webhooks', {
    url => 'https://hooks.example.com/in', events => [ 'user.created' ],
})->json;

$s->secret($hook->{secret});
$acme->admin(POST => '/roles', { key => 'auditor', name => 'Auditor',
                                 permissions => [] });

# of factors to come none counts: there are not too many

my $none = '00000000-0000-4000-8000-000000000000';
my $factor = $s->sql('INSERT INTO svc.factor (tenant_id, user_id, id, type, name)'
                     . " SELECT tenant_id, id, gen_random_uuid(), 'passkey', 'x'"
                     . " FROM svc.user_account WHERE user_name = 'ada\@acme.test'"
                     . ' RETURNING id');

$s->sql($_) for
    'CREATE FUNCTION public.old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN'
    . ' NEW.created_at := now() - \'1 day\'::interval; RETURN NEW; END $$',
    'CREATE TRIGGER old BEFORE INSERT ON svc.factor FOR EACH ROW'
    . ' EXECUTE FUNCTION public.old()';

my $client = $acme->{system}->http(POST => '/v1/applications',
    { Authorization => "Bearer $acme->{api_token}" },
    { name => 'x', type => 'web', redirectUris => [ 'https://a.test/' ] })
    ->json->{clientId};

$acme->add_applications(web => map { "app_target$_" } 0 .. 1);

my $target = $acme->admin(POST => '/scim-targets', {
    clientId => 'app_target0', name => 'x', token => 'x', baseUrl => 'https://a.example.com' })
    ->json->{id};

# as if there were no other one, and each test had an end

$s->sql($_) for
    'CREATE FUNCTION public.target() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN'
    . ' NEW.test_done := NEW.test_id; NEW.sync_status := NULL; RETURN NEW; END $$',
    'CREATE TRIGGER target BEFORE UPDATE ON svc.scim_target FOR EACH ROW'
    . ' EXECUTE FUNCTION public.target()',
    'CREATE FUNCTION public.no_target() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN'
    . ' DELETE FROM svc.scim_target t WHERE t.id = NEW.id AND t.client_id <> \'app_target0\';'
    . ' RETURN NULL; END $$',
    'CREATE TRIGGER no_target AFTER INSERT ON svc.scim_target FOR EACH ROW'
    . ' EXECUTE FUNCTION public.no_target()';

my $agent = $acme->{system}->http(POST => '/v1/applications',
    { Authorization => "Bearer $acme->{api_token}" },
    { name => 'x', type => 'agent' })->json->{clientId};

my $window = { days => [ 'mon' ], start => '22:00', end => '06:00',
               timezone => 'Europe/Paris' };
my $policy = { rules => [ { name => 'Night', action => 'mfa',
                            networks => [ '203.0.113.0/24' ],
                            countries => [ 'FR' ], enabled => $FALSE,
                            timeWindows => [ $window ] } ],
               defaultAction => 'allow' };
my $risk = { enabled => $TRUE, mfaThreshold => 0, denyThreshold => 100 };
my $password = { minLength => 14, historyCount => 3, maxAgeDays => 9,
                 map { $_ => $TRUE } qw(rejectBreached rejectContextual
                                        requireLower requireUpper requireDigit
                                        requireSymbol) };
my $bundle = { version => 1, accessPolicy => $policy, riskPolicy => $risk,
               passwordPolicy => $password,
               groupPasswordPolicies => [ { groupId => $group, %$password } ],
               roles => [ { key => 'new', name => 'New',
                            permissions => [ 'apps:manage' ] } ] };
my $theme = { radius => 8, allowSelfSignup => $TRUE,
              allowPasswordless => $FALSE, map { $_ => '#0a66c2' }
              qw(primary primaryHover primaryFg bg surface fg muted border
                 danger) };

my $asks = "client_id=$client&redirect_uri=https%3A%2F%2Fa.test%2F&response_type=code"
           . '&scope=openid&code_challenge_method=S256&code_challenge='
           . 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

my %bodies = (
    decideAuthorization => {
        request => $asks, decision => 'deny',
        userId => scalar $s->sql("SELECT id FROM svc.user_account"
                                 . " WHERE user_name = 'ada\@acme.test'"),
    },
    login => { email => 'ada@acme.test', password => $PASSWORD,
               tenant => 'acme' },
    changePassword => { currentPassword => 'wrong', newPassword => 'new' },
    forgotPassword => { email => 'ada@acme.test', tenant => 'acme' },
    startPasswordless => { email => 'ada@acme.test', tenant => 'acme' },
    passwordlessSignIn => { challengeId => 'x', code => '123456', tenant => 'acme' },
    verifyEmail => { code => '123456' },
    startEmailChange => { email => 'ada@new.test' },
    changeEmail => { code => '123456' },
    resetPassword => { token => 'x', password => 'new', tenant => 'acme' },
    renameFactor => { name => 'Phone' },
    addTotp => { name => 'Phone' },
    confirmTotp => { code => '123456' },
    confirmEmailFactor => { code => '123456' },
    createChallenge => { method => 'password' },
    passkeyOptions => { tenant => 'acme' },
    passkeySignIn => { credential => {}, tenant => 'acme' },
    newPasskeyOptions => {},
    addPasskey => { credential => {}, name => 'Laptop' },
    stepUp => { code => '123456', challengeId => 'x', method => 'totp' },
    updateProfile => { displayName => 'Ada', firstName => 'Ada', lastName => 'B',
                       locale => 'en' },
    updateTenant => { name => 'Acme', branding => $theme },
    createApiToken => { name => 'two', scopes => [ 'users:view' ],
                        expiresInDays => 1,
                        expiresAt => '2099-01-01T00:00:00Z' },
    unlockUser => { userId => $user },
    updateUser => { email => 'full@acme.test', map { $_ => 'x' }
                    qw(firstName lastName displayName title department
                       locale) },
    createInvitation => { email => 'in@acme.test', role => 'member',
                          groupIds => [ $group ], expiresInDays => 3 },
    signUp => { email => 'dora@acme.test', password => 'new', displayName => 'Dora',
                tenant => 'acme' },
    signUpOrganization => { slug => 'acme', name => 'Acme', email => 'dora@acme.test',
                            password => 'quite another passphrase' },
    ( map { $_ => { challengeId => 'x', code => '123456', tenant => 'acme' } }
          qw(verifySignUp verifyOrganization) ),
    lookupInvitation => { token => 'x', tenant => 'acme' },
    acceptInvitation => { token => 'x', password => 'new', displayName => 'Ada',
                          tenant => 'acme' },
    updateMember => { role => 'auditor' },
    createIpBlock => { ip => '198.51.100.9', reason => 'stuffing',
                       expiresAt => '2099-01-01T00:00:00Z' },
    addDomain => { domain => 'new.example' },
    createScimToken => { name => 'Entra' },
    createSocialConnection => { provider => 'apple', clientId => 'x',
                                clientSecret => 'x', enabled => $TRUE,
                                teamId => 'A' x 10, keyId => 'A' x 10 },
    createApplication => { name => 'x', type => 'web', enabled => $TRUE,
                           redirectUris => [ 'https://a.test/' ], scopes => [ 'a' ],
                           grantTypes => [ 'authorization_code' ],
                           tokenEndpointAuthMethod => 'client_secret_basic',
                           assignment => 'everyone', resourceUri => undef,
                           accessTokenFormat => 'jwt', accessTokenTtlSeconds => 60,
                           requireConsent => $TRUE, requireDpop => $FALSE },
    updateApplication => { name => 'x', type => 'web', enabled => $TRUE,
                           redirectUris => [ 'https://a.test/' ], scopes => [ 'a' ],
                           grantTypes => [ 'authorization_code' ],
                           tokenEndpointAuthMethod => 'client_secret_basic',
                           assignment => 'everyone', resourceUri => undef,
                           accessTokenFormat => 'jwt', accessTokenTtlSeconds => 60,
                           requireConsent => $TRUE, requireDpop => $FALSE },
    rotateApplicationSecret => { graceSeconds => 60, revokeTokens => $FALSE },
    rotateAgentSecret => { graceSeconds => 60, revokeTokens => $FALSE },
    putAgentSettings => { orphanAction => 'none', orphanGraceHours => 1,
                          maxDelegationDepth => 1, reviewIntervalDays => 1 },
    ( map { $_ => { enabled => $TRUE, maxTokenTtlSeconds => 60, allowedScopes => [ 'a' ],
                    allowedAudiences => [ 'https://a.test/' ] } }
          qw(putAgentPolicy simulateAgentPolicy) ),
    putAgentIdentity => { ownerId => $user, expiresAt => '2099-01-01T00:00:00Z' },
    reviewAgent => { note => 'x' },
    addGroupApps => { clientIds => [ $client ] },
    setGroupApps => { clientIds => [ $client ] },
    createSamlApp => { name => 'Wiki', spEntityId => 'https://wiki.test/saml',
                       acsUrl => 'https://wiki.test/acs' },
    putSaml => { idpEntityId => 'urn:x', idpSsoUrl => 'https://x.test', enabled => $FALSE,
                 idpCertificates => [], nameIdFormat => 'persistent',
                 attributeMapping => { email => 'mail' }, jitProvisioning => $TRUE },
    putLdap => { url => 'ldaps://ldap.example.com', baseDn => 'dc=x',
                 bindDn => 'cn=x', bindPassword => 'x' x 9, startTls => $FALSE,
                 userFilter => '(mail={email})', enabled => $TRUE,
                 attributeMapping => { email => 'mail' } },
    createGroup => { name => 'Staff', description => 'All' },
    updateGroup => { name => 'Staff', description => 'All' },
    addGroupMembers => { userIds => [ $user ] },
    setGroupMembers => { userIds => [ $user ] },
    createRole => { key => 'auditor', name => 'Auditor',
                    permissions => [ 'audit:view' ] },
    updateRole => { name => 'Auditor', permissions => [ 'audit:view' ] },
    putAccessPolicy => $policy, simulateAccessPolicy => $policy,
    putRiskPolicy => $risk, putPasswordPolicy => $password,
    createGroupPasswordPolicy => { groupId => $group, %$password },
    putGroupPasswordPolicy => $password,
    planConfig => $bundle, applyConfig => $bundle,
    createWebhook => { url => 'https://hooks.example.com/in', enabled => $TRUE,
                       events => [ 'user.created' ] },
    updateWebhook => { url => 'https://hooks.example.com/in', enabled => $TRUE,
                       events => [ 'user.created' ] },
    createScimTarget => { clientId => 'app_target1', name => 'x', token => 'x',
                          baseUrl => 'https://a.example.com', enabled => $TRUE },
    updateScimTarget => { clientId => 'app_target0', name => 'x', token => 'x',
                          baseUrl => 'https://a.example.com', enabled => $TRUE },
);

# what a schema cannot say, or says more strictly for the sake of clients

my @known = (
    'getAuthorization [?].*: .*',                        # all of its query is one
    'decideAuthorization [.].*: .*',                     # request of an application
    '\w+ [?]limit: 501', '\w+ [?]offset: 2147483648',     # as the most
    '\w+Config [?](?:detail|prune): [01]',
    '\w+ \S*mfaThreshold: 100',                          # not below the other
    '\w+ \S*timezone: "x"',
    'createChallenge [.]method: "(?:totp|email|recovery)"',    # that the user has not
    'stepUp [.]method: "(?:passkey|recovery|password)"',         # of another code
    'createApplication [.](?:redirectUris absent: undefined|type: .*'
    . '|tokenEndpointAuthMethod: "none"|grantTypes.*: "(?!auth).*)',    # of other types
    'updateApplication [.](?:type: .*|tokenEndpointAuthMethod: "none"'
    . '|grantTypes.*: "(?!auth).*)',
    'changePassword [.]currentPassword.*: (?:undefined|null)',   # unless it waits
    'verify(?:SignUp|Organization) [.](?:challengeId|code|token).*: .*',
    'createInvitation [.]role: "(?:x|a+)"',              # no key of a role
    'putLdap [.]bind(?:Dn|Password).*: (?:undefined|null)', # both or none
    'createSocialConnection [.](?:provider|teamId|keyId).*: .*', # Apple's alone
    '\w+ScimTarget [.]clientId: "(?:x|a+)"?',            # no application's, or another's
    'putSaml [.]enabled.*: true',                        # without certificates
    'putLdap [.]startTls.*: true',                       # with ldaps://
    'updateTenant [.]branding[.]\w+: "(?:x|a+)"',         # no name of a colour
);

my $JSON = JSON::PP->new->utf8->canonical;
my $told = npm_run($s->root, 'limits.mjs', $JSON->encode({
    document => $s->http(GET => '/v1/openapi.json')->json,
    base => $s->base_url, token => $acme->{api_token}, bodies => \%bodies,
    cookie => $browser->cookie, csrf => $browser->{csrf},
    known => \@known,
    path => { factors => $factor, totp => $none, email => $none, groups => $group, users => $user, webhooks => $hook->{id}, 'scim-targets' => $target,
              roles => 'auditor', tenants => 'acme', applications => $client,
              agents => $agent },
}));

my ($checked) = $told =~ s/^checked (\d+)\n\z//m ? $1 : 0;

is($told, '', 'the document and the server say the same');
cmp_ok($checked, '>', 2000, "$checked times");


# --- defaults ------------------------------------------------------------------------

my $components = $s->http(GET => '/v1/openapi.json')->json->{components};


# What was left out is as the schema says.

sub defaults {
    my ($name, $got) = @_;
    my $properties = $components->{schemas}{$name}{properties};
    my @members = grep { exists $properties->{$_}{default}
                         && !$properties->{$_}{writeOnly} } keys %$properties;

    cmp_ok(scalar @members, '>', 0, "$name has defaults");
    is_deeply({ map { $_ => $got->{$_} } @members },
              { map { $_ => $properties->{$_}{default} } @members },
              'which are the server\'s');
}


my $globex = $s->tenant('globex');
my $all = $globex->token_for($ALL);

sub made {
    my $r = $globex->admin(@_, [], $all);

    like($r->status, qr/\A20[01]\z/, "@_[0, 1]") or diag($r->body);
    $s->secret($1) if $r->body =~ /"secret":"([^"]*)"/;

    return $r->json;
}


my $rule = { name => 'r', action => 'mfa' };
my $rules = made(PUT => '/access-policy', { defaultAction => 'allow', rules =>
    [ $rule, { %$rule, timeWindows => [ { start => '01:00',
                                          end => '02:00' } ] } ] })->{rules};

defaults(AccessRuleInput => $rules->[0]);
defaults(TimeWindowInput => $rules->[1]{timeWindows}[0]);
defaults(WebhookCreate => made(POST => '/webhooks', {
    url => 'https://hooks.example.com/', events => [ 'user.created' ] }));
defaults(GroupCreate => made(POST => '/groups', { name => 'g' }));
defaults(ApiTokenCreate => made(POST => '/api-tokens', {
    name => 't', scopes => [ 'users:view' ] }));
defaults(BrandingUpdate => made(GET => '/tenant', undef)->{tenant}{branding});

my $page = made(GET => '/users', undef);

is($page->{$_}, $components->{parameters}{$_}{schema}{default}, "$_: default")
    for qw(limit offset);

$s->done;
done_testing();
