#!/usr/bin/perl

# Shows that routes with the same effect need the same: who receives events, who is in
# a group, what an agent may do, what a client may do. All routes that loosen it need
# a session's fresh second factor, or a permission of a token; those that only stop
# something do not.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(enrolled);
use SvcTest::Governance qw($ALL);

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_webhooks => 'on',
                              svc_webhook_allow => '127.0.0.0/8',
                              svc_password_hash => 'memory=7m iterations=1' },
                     workers => 1)->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for($ALL);

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');

my $b = SvcTest::Browser->new($s, tenant => 'acme');

is($b->login('ada@acme.test')->status, 200, 'an owner signs in');
enrolled($b);


# Makes something with a token, which needs no factor.

sub made {
    my ($path, $body) = @_;

    my $r = $s->http(POST => "/v1$path", { Authorization => "Bearer $token" }, $body);

    $r->status == 201 or die "$path: " . $r->body;
    $s->secret($r->json->{secret} // (), $r->json->{clientSecret} // ());

    return $r->json;
}


sub fresh {
    my ($is) = @_;

    my $at = $is ? 'now()' : "now() - interval '1 hour'";

    $s->sql("UPDATE svc.session SET mfa_at = $at, reauth_at = $at");
}


my $hook = made('/admin/webhooks', { url => 'https://127.0.0.1/a',
                                     events => [ 'user.created' ] })->{id};
my $off = made('/admin/webhooks', { url => 'https://127.0.0.1/a', enabled => JSON::PP::false,
                                    events => [ 'user.created' ] })->{id};
my %app = (name => 'Billing', scopes => [ qw(a:read b:read) ]);
my $web = made('/applications', { %app, type => 'web', requireDpop => JSON::PP::true,
                                  redirectUris => [ 'https://app.test/cb' ],
                                  accessTokenFormat => 'opaque',
                                  accessTokenTtlSeconds => 600 })->{clientId};
my ($agent, $stopped) = map { made('/applications', { %app, type => 'agent',
                                                      enabled => $_ })->{clientId} }
                        JSON::PP::true, JSON::PP::false;
my $group = made('/admin/groups', { name => 'Staff' })->{id};

$s->http(PUT => "/v1/admin/agents/$agent/policy", { Authorization => "Bearer $token" },
         { maxTokenTtlSeconds => 300, allowedScopes => [ 'a:read' ],
           allowedAudiences => [] });

my ($yes, $no) = (JSON::PP::true, JSON::PP::false);

# Requests that loosen, and those that only stop or take away: method, path, body.

my %EFFECT = (
    'who receives events' => {
        loosens => [
            [ POST => '/admin/webhooks', { url => 'https://127.0.0.1/b',
                                           events => [ 'user.login' ] } ],
            [ PATCH => "/admin/webhooks/$hook", { url => 'https://127.0.0.1/b' } ],
            [ PATCH => "/admin/webhooks/$hook", { events => [ qw(user.created user.login) ] } ],
            [ PATCH => "/admin/webhooks/$off", { enabled => $yes } ],
        ],
        stops => [
            [ PATCH => "/admin/webhooks/$hook", { enabled => $no } ],
            [ PATCH => "/admin/webhooks/$off", { enabled => $no } ],
        ],
    },
    'what an agent may' => {
        loosens => [
            [ PUT => "/admin/agents/$stopped/policy", { enabled => $yes } ],
            [ PATCH => "/applications/$stopped", { enabled => $yes } ],
            [ PUT => "/admin/agents/$agent/policy", { maxTokenTtlSeconds => 301 } ],
            [ PUT => "/admin/agents/$agent/policy", { maxTokenTtlSeconds => undef } ],
            [ PUT => "/admin/agents/$agent/policy", { allowedScopes => [ qw(a:read b:read) ] } ],
            [ PUT => "/admin/agents/$agent/policy", { allowedScopes => undef } ],
            [ PUT => "/admin/agents/$agent/policy", { allowedAudiences => [ 'https://x.test' ] } ],
            [ PUT => "/admin/agents/$agent/policy", { allowedAudiences => undef } ],
            [ PATCH => "/applications/$agent", { scopes => [ qw(a:read b:read c:read) ] } ],
            [ DELETE => "/admin/agents/$agent/policy" ],
        ],
        stops => [
            [ PUT => "/admin/agents/$agent/policy", { maxTokenTtlSeconds => 200 } ],
            [ PUT => "/admin/agents/$agent/policy", { allowedScopes => [] } ],
            [ PUT => "/admin/agents/$agent/policy", { enabled => $no } ],
            [ PATCH => "/applications/$agent", { enabled => $no } ],
        ],
    },
    'what a client may' => {
        loosens => [
            [ PATCH => "/applications/$web", { requireDpop => $no } ],
            [ PATCH => "/applications/$web", { requirePkce => $no } ],
            [ PATCH => "/applications/$web", { refreshTokens => 'always' } ],
            [ PATCH => "/applications/$web", { idTokenClaims => [ 'email' ] } ],
            [ PATCH => "/applications/$web", { idTokenTtlSeconds => 3601 } ],
            [ PATCH => "/applications/$web", { refreshIdleDays => 31 } ],
            [ PATCH => "/applications/$web", { grantDays => 91 } ],
            [ PATCH => "/applications/$web", { defaultResourceUri => 'https://api.test' } ],
            [ PATCH => "/applications/$web",
              { postLogoutRedirectUris => [ 'https://a.test/out' ] } ],
            [ PATCH => "/applications/$web", { resourceUri => 'https://api.test' } ],
            [ PATCH => "/applications/$web", { accessTokenTtlSeconds => 601 } ],
            [ PATCH => "/applications/$web", { accessTokenFormat => 'jwt' } ],
            [ PATCH => "/applications/$web", { redirectUris => [ 'https://evil.test/cb' ] } ],
            [ PATCH => "/applications/$web", { requireConsent => $no } ],
            [ PATCH => "/applications/$web", { scopes => [ qw(a:read c:read) ] } ],
        ],
        stops => [
            [ PATCH => "/applications/$web", { accessTokenTtlSeconds => 300 } ],
            [ PATCH => "/applications/$web", { scopes => [ 'a:read' ] } ],
            [ PATCH => "/applications/$web", { name => 'Another' } ],
            [ PATCH => "/applications/$web", { enabled => $no } ],
        ],
    });

# The contract tells them all.

my $paths = $s->http(GET => '/v1/openapi.json')->json->{paths};
my %sensitive;

for my $path (keys %$paths) {
    $sensitive{ uc($_) . ' ' . $path =~ s/\{\w+\}/*/gr } = $paths->{$path}{$_}{'x-sensitive'}
        for keys %{ $paths->{$path} };
}

for my $row (map { @{ $_->{loosens} } } values %EFFECT) {
    my ($method, $path, $body) = @$row;
    my $said = $sensitive{ "$method /v1$path"
                           =~ s{/(?:$hook|$off|$web|$agent|$stopped)\b}{/*}r };

    ok(ref $said ne 'ARRAY' ? $said : !grep({ my $name = $_; !grep { $_ eq $name } @$said }
                                            keys %$body),
       "$method $path " . ($body ? SvcTest::encode($body) : '') . ' is told');
}

for my $effect (sort keys %EFFECT) {
    fresh(0);

    for my $row (@{ $EFFECT{$effect}{loosens} }) {
        my ($method, $path, $body) = @$row;
        my $name = "$effect: $method $path " . ($body ? SvcTest::encode($body) : '');
        my $before = $s->sql("SELECT md5(string_agg(r::text, '' ORDER BY r::text)) FROM ("
                             . 'SELECT w::text FROM svc.webhook_endpoint w UNION ALL'
                             . ' SELECT a::text FROM svc.application a) r');

        admin_error($b->ask($method, "/v1$path", $body), 403, 'step_up_required', $name);
        is($s->sql("SELECT md5(string_agg(r::text, '' ORDER BY r::text)) FROM ("
                   . 'SELECT w::text FROM svc.webhook_endpoint w UNION ALL'
                   . ' SELECT a::text FROM svc.application a) r'), $before,
           'and nothing has changed');
    }

    for my $row (@{ $EFFECT{$effect}{stops} }) {
        my ($method, $path, $body) = @$row;
        my $r = $b->ask($method, "/v1$path", $body);

        is($r->status, 200, "$effect: $method $path " . SvcTest::encode($body) . ': is done')
            or diag($r->body);
    }

    # With a fresh factor all of it is done after it has been refused.

    fresh(1);

    for my $row (grep { $_->[0] eq 'PATCH' || $_->[0] eq 'PUT' }
                 @{ $EFFECT{$effect}{loosens} })
    {
        my ($method, $path, $body) = @$row;
        my $r = $b->ask($method, "/v1$path", $body);

        is($r->status, 200, "$effect: with a fresh factor: $method $path") or diag($r->body);
    }
}


# --- who is in a group ---------------------------------------------------------------

my $members = $acme->token_for('members:manage,users:view');
my $both = $acme->token_for('members:manage,users:view,groups:manage');
my $user = $acme->create(userName => 'bob@acme.test')->{id};

sub by {
    my ($with, $method, $path, $body) = @_;

    return $s->http($method => "/v1$path", { Authorization => "Bearer $with" }, $body);
}

my %into = (role => 'member', groupIds => [ $group ]);

admin_error(by($members, POST => "/admin/groups/$group/members", { userIds => [ $user ] }),
            403, undef, 'a member is added to a group: needs groups:manage');
admin_error(by($members, POST => '/admin/invitations', { %into, email => 'x@acme.test' }),
            403, undef, 'so does an invitation into it');

my $invited = by($both, POST => '/admin/invitations', { %into, email => 'y@acme.test' });

is($invited->status, 201, 'which whoever has it makes');
$s->secret($invited->json->{inviteUrl} =~ /token=([\w-]+)/);
admin_error(by($members, POST => '/admin/invitations/' . $invited->json->{id} . '/resend'),
            403, undef, 'and to get its link anew needs the same');
is(by($members, POST => '/admin/invitations', { role => 'member', email => 'z@acme.test',
                                                groupIds => [] })->status, 201,
   'one into none does not');

$s->done;
done_testing();
