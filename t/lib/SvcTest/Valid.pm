package SvcTest::Valid;

# A valid body for each operation that reads one, with all members that it may
# have.  All tests that walk over the routes use this table, and die when a
# route is missing.

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();

use SvcTest::Image qw(png);
use SvcTest::Scim qw(patch_op);

our @EXPORT_OK = qw(bodies body_of);

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());


# Returns bodies by operation.  of: what the bodies refer to: slug, of the
# tenant; self, self_id and password, of the user who sends the requests; user
# (an id) and email, of another user; group, role, application, agent, target
# and other (an application that is not a target yet); domain, which is verified.

sub bodies {
    my (%of) = @_;

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
                   groupPasswordPolicies => [ { groupId => $of{group},
                                                %$password } ],
                   roles => [ { key => 'new', name => 'New',
                                permissions => [ 'apps:manage' ] } ] };
    my $theme = { radius => 8, allowSelfSignup => $TRUE,
                  allowPasswordless => $FALSE, map { $_ => '#0a66c2' }
                  qw(primary primaryHover primaryFg bg surface fg muted border
                     danger) };

    my $application = {
        name => 'x', type => 'web', enabled => $TRUE,
        redirectUris => [ 'https://a.test/' ], scopes => [ 'a' ],
        grantTypes => [ 'authorization_code' ],
        tokenEndpointAuthMethod => 'client_secret_basic',
        assignment => 'everyone', resourceUri => undef, accessTokenFormat => 'jwt',
        accessTokenTtlSeconds => 60, requireConsent => $TRUE, requireDpop => $FALSE,
    };
    my %connection = (
        label => 'Ours', domains => undef, jitProvisioning => $TRUE, jitRole => 'member',
        linkByEmail => 'owned', trustMfa => $FALSE, mfaContexts => [ 'phr' ],
        showOnPage => $TRUE, keepLinks => $FALSE, vouch => $FALSE,
        groupMapping => [ { external => 'x', groupId => $of{group} } ],
    );
    my %social = (clientId => 'x', clientSecret => 'x', enabled => $TRUE,
                  issuer => undef, tenantId => undef, allowedTenants => undef,
                  trustEmail => $FALSE, attributeMapping => { title => 'title' },
                  %connection);
    my $asks = "client_id=$of{application}&redirect_uri=https%3A%2F%2Fa.test%2F"
               . '&response_type=code&scope=openid&code_challenge_method=S256'
               . '&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

    return (
        createScimUser => { userName => 'new@scim.test' },
        replaceScimUser => { title => 'new title' },
        patchScimUser => patch_op({ op => 'replace', path => 'title',
                                    value => 'T' }),
        putTenantLogo => png(30, 30),
        decideAuthorization => {
            request => $asks, decision => 'deny', userId => $of{self_id},
        },
        endSession => { request => 'state=x' },
        login => { email => $of{self}, password => $of{password},
                   tenant => $of{slug} },
        changePassword => { currentPassword => 'wrong', newPassword => 'new' },
        forgotPassword => { email => $of{self}, tenant => $of{slug} },
        startFederation => { connection => 'google', tenant => $of{slug},
                             returnTo => '/account', email => $of{self},
                             purpose => 'sign_in', token => 'x' },
        startFederationMail => { flow => 'A' x 43 },
        endFederationMail => { flow => 'A' x 43, challengeId => 'x', code => '123456' },
        startPasswordless => { email => $of{self}, tenant => $of{slug} },
        discoverSignIn => { email => $of{self}, tenant => $of{slug} },
        passwordlessSignIn => { challengeId => 'x', code => '123456',
                                tenant => $of{slug} },
        verifyEmail => { code => '123456' },
        startEmailChange => { email => 'ada@new.test' },
        changeEmail => { code => '123456' },
        resetPassword => { token => 'x', password => 'new', tenant => $of{slug} },
        renameFactor => { name => 'Phone' },
        addTotp => { name => 'Phone' },
        confirmTotp => { code => '123456' },
        confirmEmailFactor => { code => '123456' },
        createChallenge => { method => 'password' },
        passkeyOptions => { tenant => $of{slug} },
        passkeySignIn => { credential => {}, tenant => $of{slug} },
        newPasskeyOptions => {},
        addPasskey => { credential => {}, name => 'Laptop' },
        stepUp => { code => '123456', challengeId => 'x', method => 'totp' },
        updateProfile => { displayName => 'Ada', firstName => 'Ada', lastName => 'B',
                           locale => 'en' },
        updateTenant => { name => 'Acme', branding => $theme },
        createApiToken => { name => 'two', scopes => [ 'users:view' ],
                            expiresInDays => 1,
                            expiresAt => '2099-01-01T00:00:00Z' },
        unlockUser => { userId => $of{user} },
        updateUser => { email => $of{email}, map { $_ => 'x' }
                        qw(firstName lastName displayName title department
                           locale) },
        createInvitation => { email => 'in@acme.test', role => 'member',
                              groupIds => [ $of{group} ], expiresInDays => 3 },
        signUp => { email => 'dora@acme.test', password => 'new',
                    displayName => 'Dora', tenant => $of{slug} },
        signUpOrganization => { slug => $of{slug}, name => 'Acme',
                                email => 'dora@acme.test',
                                password => 'quite another passphrase' },
        ( map { $_ => { challengeId => 'x', code => '123456', tenant => $of{slug} } }
              qw(verifySignUp verifyOrganization) ),
        lookupInvitation => { token => 'x', tenant => $of{slug} },
        acceptInvitation => { token => 'x', password => 'new', displayName => 'Ada',
                              tenant => $of{slug} },
        updateMember => { role => $of{role} },
        createIpBlock => { ip => '198.51.100.9', reason => 'stuffing',
                           expiresAt => '2099-01-01T00:00:00Z' },
        addDomain => { domain => 'new.example' },
        setDomainSignIn => { connection => undef, includeSubdomains => $FALSE },
        createScimToken => { name => 'Entra' },
        createSocialConnection => { %social, provider => 'apple',
                                    teamId => 'A' x 10, keyId => 'A' x 10 },
        updateSocialConnection => { %social },
        createApplication => $application, updateApplication => $application,
        rotateApplicationSecret => { graceSeconds => 60, revokeTokens => $FALSE },
        rotateAgentSecret => { graceSeconds => 60, revokeTokens => $FALSE },
        putAgentSettings => { orphanAction => 'none', orphanGraceHours => 1,
                              maxDelegationDepth => 1, reviewIntervalDays => 1 },
        putOauthSettings => { maxIdTokenTtlSeconds => 86400, maxRefreshIdleDays => 365,
                              maxGrantDays => 3650 },
        ( map { $_ => { enabled => $TRUE, maxTokenTtlSeconds => 60,
                        allowedScopes => [ 'a' ],
                        allowedAudiences => [ 'https://a.test/' ] } }
              qw(putAgentPolicy simulateAgentPolicy) ),
        putAgentIdentity => { ownerId => $of{user},
                              expiresAt => '2099-01-01T00:00:00Z' },
        reviewAgent => { note => 'x' },
        addGroupApps => { clientIds => [ $of{application} ] },
        setGroupApps => { clientIds => [ $of{application} ] },
        ( map { $_ => { name => 'Wiki', spEntityId => 'https://wiki.test/saml',
                        acsUrl => 'https://wiki.test/acs' } }
              qw(createSamlApp updateSamlApp) ),
        putSaml => { idpEntityId => 'urn:x', idpSsoUrl => 'https://x.test',
                     enabled => $FALSE, idpCertificates => [],
                     nameIdFormat => 'persistent',
                     attributeMapping => { email => 'mail' }, %connection },
        putLdap => { url => 'ldaps://ldap.example.com', baseDn => 'dc=x',
                     bindDn => 'cn=x', bindPassword => 'x' x 9, startTls => $FALSE,
                     userFilter => '(mail={email})', enabled => $TRUE,
                     uniqueIdAttribute => 'entryUUID', caCertificates => undef,
                     syncEnabled => $FALSE, syncFilter => '(cn=*)',
                     syncIntervalMinutes => 60, syncDeactivate => $FALSE,
                     attributeMapping => { email => 'mail' }, %connection,
                     domains => [ $of{domain} ] },
        syncLdap => { force => $TRUE },
        testLdap => { email => 'ada@acme.test', password => 'x' x 9 },
        createGroup => { name => 'Staff', description => 'All' },
        updateGroup => { name => 'Staff', description => 'All' },
        addGroupMembers => { userIds => [ $of{user} ], emails => [ 'ada@acme.test' ] },
        setGroupMembers => { userIds => [ $of{user} ], emails => [] },
        createRole => { key => $of{role}, name => 'Auditor',
                        permissions => [ 'audit:view' ] },
        updateRole => { name => 'Auditor', permissions => [ 'audit:view' ] },
        putAccessPolicy => $policy, simulateAccessPolicy => $policy,
        putRiskPolicy => $risk, putPasswordPolicy => $password,
        createGroupPasswordPolicy => { groupId => $of{group}, %$password },
        putGroupPasswordPolicy => $password,
        planConfig => $bundle, applyConfig => $bundle,
        createWebhook => { url => 'https://hooks.example.com/in', enabled => $TRUE,
                           events => [ 'user.created' ] },
        updateWebhook => { url => 'https://hooks.example.com/in', enabled => $TRUE,
                           events => [ 'user.created' ] },
        createScimTarget => { clientId => $of{other}, name => 'x', token => 'x',
                              baseUrl => 'https://a.example.com', enabled => $TRUE },
        updateScimTarget => { clientId => $of{target}, name => 'x', token => 'x',
                              baseUrl => 'https://a.example.com', enabled => $TRUE },
    );
}


# Returns the body of a route; undef when it reads none.

sub body_of {
    my ($route, $bodies) = @_;

    return if !$route->{json} && !$route->{raw};

    return $bodies->{ $route->{id} } // die "$route->{id}: no valid body\n";
}


1;
