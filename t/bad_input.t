#!/usr/bin/perl

# Bad input, and what it gets, on every route.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::BadInput;
use SvcTest::Image qw(png);
use SvcTest::Routes;
use SvcTest::Scim;


my $s = SvcTest->new(svc => { svc_body_timeout => '1s',
                              svc_webhooks => 'on', svc_scim_targets => 'on' })->start;

# no helper has the targets: it would write to them
$s->sql("ALTER TABLE svc.scim_target ALTER lease_by SET DEFAULT 'somebody'");
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $user = $acme->create(userName => 'ada@acme.test');
my $replace = patch_op({ op => 'replace', path => 'title', value => 'T' });

bad_input($s, {
    envelope => \&scim_error,
    headers  => $acme->headers,
    stored   => sub { return $acme->stored . $globex->stored },
    own      => $user->{id},
    missing  => '00000000-0000-4000-8000-000000000000',
    foreign  => $globex->create(userName => 'eve@globex.test')->{id},
    type     => 'invalidSyntax',
    routes   => [
        [ GET    => '/scim/v2/ServiceProviderConfig' ],
        [ GET    => '/scim/v2/Users' ],
        [ POST   => '/scim/v2/Users', { userName => 'new@acme.test' } ],
        [ GET    => '/scim/v2/Users/:id' ],
        [ PUT    => '/scim/v2/Users/:id', { title => 'new title' } ],
        [ PATCH  => '/scim/v2/Users/:id', $replace ],
        [ DELETE => '/scim/v2/Users/:id' ],
    ],
});


# The admin API's routes are those of its table, but for those of sign-in, which
# t/signin_bodies.t has.  What a route needs besides is here; one that is missing
# here makes the test die.

my $tokens = "SELECT count(*) || ' tokens, ' || count(revoked_at)"
             . " || ' revoked, ' || (SELECT md5(string_agg(t::text, ' '"
             . " ORDER BY id)) FROM svc.tenant t) || ' tenants, '"
             . " || (SELECT count(*) || ' groups' FROM svc.user_group)"
             . " || (SELECT count(*) || ' members' FROM svc.group_member)"
             . " || (SELECT md5(string_agg(g::text, ' ' ORDER BY tenant_id))"
             . " || ' governance' FROM svc.governance g)"
             . " || (SELECT count(*) || ' roles' FROM svc.role)"
             . " || (SELECT count(*) || ' overrides' FROM"
             . ' svc.group_password_policy)'
             . " || (SELECT md5(string_agg(w::text, ' ' ORDER BY id))"
             . " || ' webhooks' FROM svc.webhook_endpoint w)"
             . " || (SELECT md5(string_agg(a::text, ' ' ORDER BY client_id))"
             . " || ' applications' FROM svc.application a)"
             . " || (SELECT count(*) || ' of groups' FROM svc.group_app)"
             . " || (SELECT md5(string_agg(a::text, ' ' ORDER BY id))"
             . " || ' anomalies' FROM svc.agent_anomaly a)"
             . " || (SELECT md5(string_agg(o::text, ' ' ORDER BY tenant_id))"
             . " || ' settings' FROM svc.oauth_tenant o)"
             . " || (SELECT md5(string_agg(t::text, ' ' ORDER BY id))"
             . " || ' targets' FROM svc.scim_target t)"
             . ' FROM svc.credential';

$s->sql("UPDATE svc.credential SET permissions = '{apps:manage,audit:view,"
        . "groups:manage,members:manage,roles:manage,tenant:manage,users:view}'"
        . " WHERE id = '$acme->{api_id}'");

my $eve = $s->sql("SELECT id FROM svc.user_account WHERE tenant_id ="
                  . " '$globex->{id}'");
my ($group, $theirs) = map {
    scalar $s->sql('INSERT INTO svc.user_group (tenant_id, id, name) VALUES'
                   . " ('$_->{id}', gen_random_uuid(), 'Staff') RETURNING id")
} $acme, $globex;

my @versions = map {
    scalar $s->sql('INSERT INTO svc.access_policy_version (tenant_id, number,'
                   . " source, snapshot) VALUES ('$_->{id}', 0, 'api',"
                   . q{ '{"rules":[],"defaultAction":"mfa"}') RETURNING id})
} $acme, $globex;

$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$_->[0]{id}', '$_->[1]', 'R', '{}')")
    for [ $acme, 'our-role' ], [ $globex, 'theirs' ];
$s->sql('INSERT INTO svc.group_password_policy (tenant_id, group_id, min_length)'
        . ' SELECT tenant_id, id, 9 FROM svc.user_group');

my @webhooks = map {
    scalar $s->sql('INSERT INTO svc.webhook_endpoint (tenant_id, id, url,'
                   . " events, secret) VALUES ('$_->{id}',"
                   . " gen_random_uuid(), 'https://x.test/',"
                   . q{ '{user.login}', '\x00') RETURNING id})
} $acme, $globex;

my @invitations = map {
    scalar $s->sql('INSERT INTO svc.invitation (tenant_id, id, email, email_key,'
                   . " role, group_ids, days, token_hash, expires_at) VALUES ('$_->{id}',"
                   . " gen_random_uuid(), 'old\@x.test', 'old\@x.test', 'member', '{}',"
                   . " 7, sha256('$_->{id}'), now() + interval '1 day') RETURNING id")
} $acme, $globex;

my @apps = map {
    scalar $s->sql('INSERT INTO svc.saml_app (tenant_id, id, name, sp_entity_id,'
                   . " acs_url) VALUES ('$_->{id}', gen_random_uuid(), 'x',"
                   . " 'https://x.test', 'https://x.test') RETURNING id")
} $acme, $globex;

my @applications = map {
    scalar $s->sql('INSERT INTO svc.application (tenant_id, client_id, name, type, enabled,'
                   . ' assignment, redirect_uris, scopes, grant_types, auth_method,'
                   . ' access_token_format, access_token_ttl, require_consent,'
                   . " require_dpop) VALUES ('$_->{id}', 'app_' || md5('$_->{id}'), 'x',"
                   . " 'web', true, 'everyone', '{https://x.test/}', '{}',"
                   . " '{authorization_code}', 'client_secret_basic', 'jwt', 60, true,"
                   . ' false) RETURNING client_id')
} $acme, $globex;

my @agents = map {
    scalar $s->sql('INSERT INTO svc.application (tenant_id, client_id, name, type, enabled,'
                   . ' assignment, redirect_uris, scopes, grant_types, auth_method,'
                   . ' access_token_format, access_token_ttl, require_consent,'
                   . " require_dpop) VALUES ('$_->{id}', 'agt_' || md5('$_->{id}'), 'x',"
                   . " 'agent', true, 'everyone', '{}', '{}', '{client_credentials}',"
                   . " 'client_secret_basic', 'jwt', 60, true, false) RETURNING client_id")
} $acme, $globex;

my @anomalies = map {
    scalar $s->sql('INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key,'
                   . " severity, details) SELECT tenant_id, client_id, 'new_ip', 'x', 'low',"
                   . " '{}' FROM svc.application WHERE client_id = '$_' RETURNING id")
} @agents;

# one that is synchronized already, and tested

my @targets = map {
    scalar $s->sql('INSERT INTO svc.scim_target (tenant_id, client_id, name, base_url,'
                   . ' token, sync_status, test_id, test_at) SELECT tenant_id, client_id,'
                   . " 'x', 'https://x.test', '\\x00', 'running', gen_random_uuid(),"
                   . " 'infinity' FROM svc.application WHERE client_id = '$_' RETURNING id")
} @applications;

my %BODY = (
    'PATCH /admin/tenant' => { name => 'New' },
    'PUT /admin/tenant/logo' => png(30, 30),
    'POST /admin/api-tokens' => { name => 'new', scopes => [ 'users:view' ] },
    'POST /admin/users/unlock' => { email => 'ada@acme.test' },
    'PUT /admin/users/*' => { firstName => 'New', title => 'more' },
    'PUT /admin/members/*' => { role => 'our-role' },
    'POST /admin/invitations' => { email => 'in@acme.test', role => 'member',
                                   groupIds => [ $group ], expiresInDays => 3 },
    'POST /admin/groups' => { name => 'New', description => 'More' },
    'POST /admin/ip-blocks' => { ip => '198.51.100.9', reason => 'stuffing',
                                 expiresAt => '2999-01-01T00:00:00Z' },
    'POST /admin/domains' => { domain => 'new.example' },
    'POST /admin/scim/tokens' => { name => 'new' },
    'POST /admin/social/connections' => { provider => 'google', clientId => 'new',
                                          clientSecret => 'new' },
    'POST /admin/saml-idp/apps' => { name => 'new', spEntityId => 'https://new.test',
                                     acsUrl => 'https://new.test/acs' },
    'PUT /admin/saml' => { idpEntityId => 'urn:new', idpSsoUrl => 'https://new.test',
                           jitProvisioning => JSON::PP::true(), idpCertificates => [] },
    'PUT /admin/ldap' => { url => 'ldaps://new.test', baseDn => 'dc=new',
                           userFilter => '(mail={email})', bindDn => 'cn=new',
                           bindPassword => 'new', attributeMapping => {} },
    'PUT /admin/groups/*' => { name => 'New', description => 'More' },
    'POST /admin/groups/*/members' => { userIds => [ $user->{id} ] },
    'PUT /admin/groups/*/members' => { userIds => [ $user->{id} ] },
    'POST /admin/groups/*/apps' => { clientId => $applications[0] },
    'PUT /admin/groups/*/apps' => { clientIds => [ $applications[0] ] },
    'POST /applications' => { name => 'new', type => 'web', scopes => [ 'new' ],
                              redirectUris => [ 'https://new.test' ], grantTypes => [] },
    'PATCH /applications/*' => { name => 'new', resourceUri => 'urn:new' },
    'POST /applications/*/secret' => { graceSeconds => 60 },
    'PUT /admin/agents/settings' => { orphanGraceHours => 1 },
    ( map { $_ => { enabled => JSON::PP::false(), maxTokenTtlSeconds => 77,
                    allowedScopes => [ 'new' ], allowedAudiences => [ 'urn:new' ] } }
      'PUT /admin/agents/*/policy', 'POST /admin/agents/*/policy/simulate' ),
    'PUT /admin/agents/*/identity' => { ownerId => $user->{id},
                                        expiresAt => '2999-01-01T00:00:00Z' },
    'POST /admin/agents/*/review' => { note => 'new' },
    'POST /admin/agents/*/secret' => { graceSeconds => 60 },
    'PUT /admin/access-policy' => { rules => [], defaultAction => 'mfa' },
    'POST /admin/access-policy/simulate' => { rules => [],
                                              defaultAction => 'mfa' },
    'POST /admin/roles' => { name => 'New', permissions => [] },
    'PUT /admin/roles/*' => { name => 'New' },
    'PUT /admin/risk-policy' => { mfaThreshold => 50 },
    'PUT /admin/password-policy' => { minLength => 20 },
    'POST /admin/password-policy/groups' => { groupId => $group,
                                              minLength => 20 },
    'PUT /admin/password-policy/groups/*' => { minLength => 20 },
    'POST /admin/webhooks' => { url => 'https://new.test/',
                                events => [ 'user.created' ] },
    'PATCH /admin/webhooks/*' => { enabled => JSON::PP::false() },
    'POST /admin/scim-targets' => { clientId => $agents[0], name => 'new', token => 'new',
                                    baseUrl => 'https://new.test',
                                    enabled => JSON::PP::false() },
    'PUT /admin/scim-targets/*' => { clientId => $applications[0], name => 'new',
                                     token => 'new', enabled => JSON::PP::true(),
                                     baseUrl => 'https://new.test' },
    'POST /admin/config/plan' => { version => 1, roles => [] },
    'POST /admin/config/apply' => { version => 1, roles => [
        { key => 'new', name => 'New', permissions => [ 'users:view' ] } ] },
);

my %IDS = (tenants => [ 'acme', 'globex', 'nobody' ],
           'api-tokens' => [ $acme->{api_id}, $globex->{api_id} ],
           tokens => [ $acme->{scim_id}, $globex->{scim_id} ],
           users => [ $user->{id}, $eve ], members => [ $user->{id}, $eve ],
           groups => [ $group, $theirs ], versions => [ @versions ],
           roles => [ 'our-role', 'theirs', 'nobody' ],
           'security-incidents' => [ $user->{id}, $eve ],
           invitations => \@invitations,
           'ip-blocks' => [ '192.0.2.1', '2001:db8::9' ],
           domains => [ 'ours.example', 'theirs.example' ],
           connections => [ 'google', 'apple' ], integrations => [ 'azure-devops', 'none' ],
           'scim-targets' => \@targets, webhooks => \@webhooks, apps => \@apps, applications => \@applications,
           agents => \@agents, anomalies => \@anomalies,
           'groups/*/apps' => \@applications);

# where dots in place of the id lead to a route with the same method

my %DOTS = map { $_ => 1 } 'PUT /admin/password-policy/groups/*',
                           'GET /admin/scim-targets/*/users',
                           'GET /admin/groups/*/members',
                           'DELETE /admin/groups/*/members/*',
                           'GET /admin/groups/*/apps', 'DELETE /admin/groups/*/apps/*';

my %LASTING = map { $_ => 1 } '/admin/audit/stream', '/admin/audit/export';


# For each parameter of a path the test that it is wrong, while the others are
# right.

sub paths {
    my ($pattern, $nested) = @_;

    my @parts = split /\*/, "/v1$pattern", -1;
    my @ids = map { m{([^/]+)/\z} && $IDS{$1} || die "ids of $_\n" }
              @parts[0 .. $#parts - 1];

    $ids[1] = $IDS{'groups/*/apps'} if $pattern =~ m{/groups/\*/apps/\*};

    return [ "/v1$pattern", {} ] if !@ids;

    return map {
        my $n = $_;
        my $path = join '', map { ($parts[$_], $_ == @ids ? ()
                                   : $_ == $n ? ':id' : $ids[$_][0]) }
                            0 .. $#parts;

        [ $path, { nested => $n > 0 || $nested, own => $ids[$n][0],
                   foreign => $ids[$n][1],
                   $ids[$n][2] ? (missing => $ids[$n][2]) : () } ];
    } 0 .. $#ids;
}


my @routes;

for my $route (grep { $_->{path} =~ m{^/(?!auth/|mfa/|oauth/)} } admin_routes($s->root)) {
    my $name = "$route->{method} $route->{path}";
    my $body = $BODY{$name};

    die "$name: no body\n"
        if ($route->{json} || $route->{raw}) && !defined $body;

    for my $path (paths($route->{path}, $DOTS{$name})) {
        push @routes, [ $route->{method}, $path->[0], $body,
                        { %{ $path->[1] }, public => $route->{public},
                          raw => $route->{raw} && 'invalid_image',
                          empty => $route->{empty},
                          lasting => $LASTING{$route->{path}} } ];
    }
}

bad_input($s, {
    envelope => \&admin_error,
    headers  => [ Authorization => "Bearer $acme->{api_token}" ],
    stored   => sub { return $s->sql($tokens) . $acme->stored
                             . $globex->stored },
    missing  => '00000000-0000-4000-8000-000000000000',
    type     => undef,
    routes   => \@routes,
});


# whatever a member is: the database is not who refuses it

my @VALUES = ('null', 'true', '-1', '9007199254740993', '1e308', '""',
              '" \t "', '"%V %s"', '"\u0085"', '"' . 'x' x 300 . '"', '[]',
              '[null]', '[[]]', '{}');

sub status_with {
    my ($method, $path, $body, $member, $value) = @_;

    my $text = SvcTest::encode({ %$body, $member => undef });

    $text =~ s/"\Q$member\E":null/"$member":$value/;

    return $s->http($method, $path,
                    [ Authorization => "Bearer $acme->{api_token}" ],
                    $text)->status;
}

for my $route (grep { ref $_->[2] eq 'HASH' } @routes) {
    my ($method, $path, $body, $opt) = @$route;

    $path =~ s/:id/$opt->{own}/;

    for my $member (sort keys %$body) {
        my @failed = grep {
            status_with($method, $path, $body, $member, $_) >= 500
        } @VALUES;

        is("@failed", '', "$method $route->[1]: any \"$member\"");
    }
}


# the limit itself passes

my $n = 0;

for my $chunked (0, 1) {
    my $text = SvcTest::BadInput::padded(
        { userName => "large$n\@acme.test" }, SvcTest::BadInput::LIMIT);
    my @headers = @{ $acme->headers };

    $n++;

    if ($chunked) {
        push @headers, 'Transfer-Encoding' => 'chunked';
        $text = SvcTest::BadInput::chunked($text, 4096);
    }

    scim_ok($s->http(POST => '/scim/v2/Users', \@headers, $text), 201,
            'a body of exactly 1 MiB' . ($chunked ? ', chunked' : ''));
}

# and so does what is only odd

for my $title ('{"deep":' x 15 . '1' . '}' x 15, '1e308', '-0', '1E-7',
               '12345678901234567890', '[' x 15 . ']' x 15)
{
    $n++;
    scim_ok($acme->scim(POST => '/Users', "{\"userName\":\"odd$n\@acme.test\","
                                          . "\"unknown\":$title}"),
            201, "an unknown attribute: $title");
}

scim_ok($acme->scim(POST => '/Users', "\r\n\t {\"userName\":"
                                      . "\"space\@acme.test\"}\r\n "),
        201, 'white space around');

is(scalar $s->pg->errors, 0, 'PostgreSQL logged no error')
    or diag($s->pg->errors);

# nginx itself shows a doubled header, at the level info

$s->done(shown => [ qr/ \[info\] .* client sent duplicate header line: / ]);
done_testing();
