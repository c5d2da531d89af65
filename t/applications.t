#!/usr/bin/perl

# Shows /v1/applications: creating, changing and deleting them, valid values, and
# their secrets.

use strict;
use warnings;
use utf8;

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
my $SECRET = qr/\A[\w-]{43}\z/;

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my %token = map { $_->{slug} => $_->token_for('apps:manage,users:view') } $acme, $globex;

my %WEB = (name => 'Billing', type => 'web', redirectUris => [ 'https://app.test/cb' ]);
my %M2M = (name => 'Robot', type => 'm2m');


# Options: of (a tenant's slug), token, headers.

sub ask {
    my ($method, $path, $body, %opt) = @_;

    my $token = $opt{token} // $token{ $opt{of} // 'acme' };
    my $r = $s->http($method, "/v1/applications$path",
                     [ Authorization => "Bearer $token", @{ $opt{headers} // [] } ],
                     $body);

    $s->secret($1) if ($r->body // '') =~ /"clientSecret":"([^"]*)"/;

    return $r;
}


sub made {
    my ($body, %opt) = @_;
    my $r = ask(POST => '', $body, %opt);

    is($r->status, 201, "made: $body->{name}") or diag($r->body);

    return $r->json;
}


# Expects a body to be refused, with a message that begins with the member.

sub refused {
    my ($r, $member, $name) = @_;

    like(admin_error($r, 400, 'invalid_request', $name)->{message} // '',
         qr/^"\Q$member\E[\["]/, "$name: says so");
}


# Checks that these secrets of an application, and no others, are good now.

sub good {
    my ($app, @secrets) = @_;
    my $of = "client_id = '$app->{clientId}' AND kind = 'secret'";

    is($s->sql("SELECT count(*) FROM svc.oauth_login WHERE $of"
               . ' AND (retired_at IS NULL OR retired_at > now())'), scalar @secrets,
       scalar @secrets . ' secrets are good');
    is($s->sql("SELECT count(*) FROM svc.oauth_login WHERE $of"
               . " AND digest = '\\x" . sha256_hex("\2$app->{clientId}\0$_") . "'"
               . ' AND (retired_at IS NULL OR retired_at > now())'), 1, 'this is one')
        for @secrets;
}


# --- permissions -----------------------------------------------------------------

my $weak = $acme->token_for('audit:view,groups:manage,members:manage,roles:manage,'
                            . 'tenant:manage,users:view');
my $NONE = 'app_' . '0' x 32;

admin_error(ask(@$_, token => $weak), 403, undef, "$_->[0] $_->[1]: no permission")
    for [ GET => '', undef ], [ POST => '', \%WEB ], [ GET => "/$NONE", undef ],
        [ PATCH => "/$NONE", {} ], [ DELETE => "/$NONE", undef ],
        [ POST => "/$NONE/secret", {} ];


# --- the life of an application -----------------------------------------------------

my @key = ('Idempotency-Key' => 'k');
my $r = ask(POST => '', { %WEB, name => ' Billing ' }, headers => \@key);

is($r->status, 201, 'an application') or diag($r->body);
is($r->header('cache-control'), 'no-store', 'is not for caches');

my $app = $r->json;
my $secret = delete $app->{clientSecret};
my $id = $app->{clientId};

like($id, qr/\Aapp_[0-9a-f]{32}\z/, 'its clientId');
like($secret, $SECRET, 'its secret');
like($app->{$_}, $TIME, $_) for qw(createdAt updatedAt secretRotatedAt);
is_deeply($app, {
    %WEB, clientId => $id, scopes => [ qw(email openid profile) ],
    grantTypes => [ qw(authorization_code refresh_token) ], enabled => $TRUE,
    assignment => 'everyone', tokenEndpointAuthMethod => 'client_secret_basic',
    resourceUri => undef, accessTokenFormat => 'jwt', accessTokenTtlSeconds => 3600,
    requireConsent => $TRUE, requireDpop => $FALSE, signingAlg => 'RS256',
    requirePkce => $TRUE, requireAcr => $FALSE, unknownScopes => 'refuse',
    refreshTokens => 'offline_access', idTokenClaims => [], groupsClaim => 'all',
    idTokenTtlSeconds => 3600, refreshIdleDays => 30, grantDays => 90,
    defaultResourceUri => undef, postLogoutRedirectUris => [], backchannelLogoutUri => undef,
    backchannelLogoutSessionRequired => $FALSE, jwks => undef, jwksUri => undef,
    jwksStatus => undef, requirePar => $FALSE, securityProfile => undef, previousSecretValidUntil => undef,
    lastUsedAt => undef, map { $_ => $app->{$_} } qw(secretRotatedAt createdAt updatedAt),
}, 'all of it');
good($app, $secret);
is($s->sql("SELECT encode(digest, 'hex') FROM svc.oauth_login WHERE client_id = '$id'"
           . " AND kind = 'id'"), sha256_hex("\1$id\0"), 'its id is found, too');

$r = ask(POST => '', { %WEB, name => ' Billing ' }, headers => \@key);
is_deeply([ $r->status, $r->header('idempotency-replayed'), $r->json ],
          [ 201, 'true', $app ], 'sent again: the same without the secret');

$r = ask(GET => "/$id");
is_deeply($r->json, $app, 'read');

my $etag = $r->header('etag');

like($etag, qr/\A"\d+"\z/, 'its version');
is_deeply(ask(GET => '')->json, { applications => [ $app ], total => 1, limit => 100,
                                  offset => 0 }, 'listed');
is_deeply(ask(PATCH => "/$id", $app)->json, $app, 'put back');
is_deeply(ask(PATCH => "/$id", {})->json, $app, 'or nothing');

my %CHANGE = (
    name => 'Invoices', enabled => $FALSE, assignment => 'groups',
    redirectUris => [ 'http://127.0.0.1:5173/', 'https://b.test/?x=..' ],
    scopes => [ 'b', 'a:x' ], grantTypes => [ 'authorization_code' ],
    resourceUri => 'https://API.test', accessTokenFormat => 'opaque',
    accessTokenTtlSeconds => 60, requireConsent => $FALSE, requireDpop => $TRUE,
    signingAlg => 'ES256', requirePkce => $FALSE, requireAcr => $TRUE,
    unknownScopes => 'ignore', refreshTokens => 'always',
    idTokenClaims => [ qw(roles email) ], groupsClaim => 'assigned',
    idTokenTtlSeconds => 60, refreshIdleDays => 365, grantDays => 3650,
    defaultResourceUri => 'https://API.test',
    postLogoutRedirectUris => [ 'https://b.test/out', 'https://a.test/?x=1' ],
    backchannelLogoutUri => 'https://a.test/logout', backchannelLogoutSessionRequired => $TRUE,
    requirePar => $TRUE,
);

my %now = %$app;

for my $member (sort keys %CHANGE) {
    my $changed = ask(PATCH => "/$id", { $member => $CHANGE{$member} })->json;

    cmp_ok($changed->{updatedAt}, 'gt', $now{updatedAt}, "$member: later");
    %now = (%now, $member => $CHANGE{$member}, updatedAt => $changed->{updatedAt});
    $now{$_} = [ sort @{ $now{$_} } ] for qw(scopes idTokenClaims);
    is_deeply($changed, \%now, "$member is changed, and nothing else");
}

is_deeply(ask(GET => "/$id")->json, \%now, 'which is kept');
is(ask(PATCH => "/$id", { resourceUri => undef })->json->{resourceUri}, undef,
   'what may be null is cleared');
is_deeply(ask(PATCH => "/$id", { grantTypes => [] })->json->{grantTypes},
          [ qw(authorization_code refresh_token) ], 'no grants are the usual ones');

admin_error(ask(PATCH => "/$id", { name => 'x' }, headers => [ 'If-Match' => $etag ]),
            412, undef, 'another version');
$etag = ask(GET => "/$id")->header('etag');
is(ask(PATCH => "/$id", { name => 'Last' }, headers => [ 'If-Match' => $etag ])->status,
   200, 'this version');

is(ask(DELETE => "/$id")->status, 204, 'deleted');
admin_error(ask(@$_), 404, undef, "$_->[0]: gone")
    for [ GET => "/$id" ], [ PATCH => "/$id", {} ], [ DELETE => "/$id" ],
        [ POST => "/$id/secret", {} ];
is($s->sql('SELECT count(*) FROM svc.oauth_login'), 0, 'nobody is known by it');

is_deeply([ $acme->events_of($id, qw(action target_type details)) ], [
    [ 'application.created', 'application', { type => 'web' } ],
    (map { [ 'application.updated', 'application', { changed => [ $_ ] } ] }
     sort(keys %CHANGE), 'resourceUri', 'grantTypes'),
    [ 'application.updated', 'application', { changed => [ 'name' ] } ],
    [ 'application.deleted', 'application', {} ],
], 'its events');
is_deeply([ $acme->events_where("action = 'application.deleted'", 'target_name') ],
          [ [ 'Last' ] ], 'with its name');


# --- types -----------------------------------------------------------------------------

my %type = (
    web => [ { %WEB }, 'app', [ qw(authorization_code refresh_token) ], 3600, $TRUE ],
    spa => [ { %WEB }, 'app', [ qw(authorization_code refresh_token) ], 3600, $TRUE ],
    native => [ { %WEB }, 'app', [ qw(authorization_code refresh_token) ], 3600, $TRUE ],
    m2m => [ { %M2M }, 'app', [ 'client_credentials' ], 3600, $FALSE ],
    agent => [ { %M2M }, 'agt', [ 'client_credentials', $EXCHANGE ], 900, $TRUE ],
);

my %of;

for my $type (sort keys %type) {
    my ($body, $prefix, $grants, $ttl, $consent) = @{ $type{$type} };
    my $got = $of{$type} = made({ %$body, name => $type, type => $type });
    my $public = $type =~ /spa|native/;

    like($got->{clientId}, qr/\A${prefix}_[0-9a-f]{32}\z/, "$type: its clientId");
    is_deeply([ @$got{qw(grantTypes accessTokenTtlSeconds requireConsent
                         tokenEndpointAuthMethod scopes)} ],
              [ $grants, $ttl, $consent, $public ? 'none' : 'client_secret_basic',
                $body->{redirectUris} ? [ qw(email openid profile) ] : [] ],
              "$type: what it gets");
    is(defined $got->{clientSecret}, !$public, "$type: a secret, or none");
    is(defined $got->{secretRotatedAt}, !$public, "$type: of a time");

    for my $grant ('authorization_code', 'client_credentials', $EXCHANGE) {
        my $code = $grant eq 'authorization_code';
        my $may = $type eq 'agent' || ($type eq 'm2m') != $code;
        my $r = ask(PATCH => "/$got->{clientId}", { grantTypes => [ $grant ],
                    redirectUris => $code ? $WEB{redirectUris} : [] });

        $may ? is($r->status, 200, "$type: $grant") || diag($r->body)
             : refused($r, 'grantTypes', "$type: $grant");
    }

    refused(ask(PATCH => "/$got->{clientId}", { tokenEndpointAuthMethod =>
                $public ? 'client_secret_basic' : 'none' }),
            'tokenEndpointAuthMethod', "$type: the other method");
    refused(ask(PATCH => "/$got->{clientId}", { type => $type eq 'web' ? 'spa' : 'web' }),
            'type', "$type: another type");
}

refused(ask(PATCH => "/$of{m2m}{clientId}", { requireConsent => $TRUE }),
        'requireConsent', 'm2m: nobody is asked');
refused(ask(PATCH => "/$of{web}{clientId}", { redirectUris => [] }), 'redirectUris',
        'codes go nowhere');
refused(ask(PATCH => "/$of{m2m}{clientId}", { redirectUris => $WEB{redirectUris} }),
        'redirectUris', 'no codes go there');
refused(ask(POST => '', { name => 'x', type => $_ }), 'redirectUris', "$_: absent")
    for qw(web spa native);
refused(ask(POST => '', { %M2M, grantTypes => [ 'refresh_token' ] }), 'grantTypes',
        'refreshing what');
refused(ask(POST => '', { %WEB, grantTypes => [ 'refresh_token' ] }), 'grantTypes',
        'likewise');


# --- values -----------------------------------------------------------------------------

my $web = $of{web}{clientId};
my %GOOD = (
    name => [ 'x' x 100, "Zoë \x{1F600}" ],
    redirectUris => [ map { [ $_ ] } 'https://a.test', 'http://localhost/cb',
                      'http://[::1]:80/', 'https://a.test/cb?x=/../', 'https://1.2.3.4/',
                      'https://127.1/', 'https://a.test/?encode=1&State=x&errors',
                      'https://a.test/?x=code&codes=state&y&&=code',
                      'https://a.test/' . 'x' x 2033 ],
    scopes => [ [], [ 'x' x 64 ], [ "!#[]~" ], [ map { "s$_" } 1 .. 100 ] ],
    accessTokenTtlSeconds => [ 60, 86400 ],
    resourceUri => [ 'urn:x', 'api://billing', 'https://a.test/x?y', undef,
                     'https://a.test/' . 'x' x 497 ],
    signingAlg => [ qw(ES256 RS256) ],
    unknownScopes => [ qw(ignore refuse) ],
    refreshTokens => [ qw(always offline_access) ],
    idTokenClaims => [ [], [ qw(email groups profile roles) ] ],
    groupsClaim => [ qw(assigned all) ],
    idTokenTtlSeconds => [ 60, 86400 ],
    refreshIdleDays => [ 1, 365 ],
    grantDays => [ 1, 3650 ],
    defaultResourceUri => [ 'urn:x', undef ],
    postLogoutRedirectUris => [ [], [ 'https://a.test' ], [ 'http://localhost:1/x' ],
                                [ map { "https://a.test/$_" } 1 .. 20 ] ],
    backchannelLogoutUri => [ undef, 'https://a.test/x?y=z', 'https://a.test:8443',
                              'https://a.test/' . 'x' x 2033 ],
);
my %BAD = (
    name => [ '', ' ', 'x' x 101, "a\nb", undef, 1 ],
    type => [ 'x', 'WEB', '', undef, 1 ],
    redirectUris => [ undef, 'https://a.test', [ undef ], [ 1 ], map { [ $_ ] }
        '', 'http://a.test/', 'http://10.0.0.1/', 'http://localhost.a.test/', 'x:/y',
        'http://127.0.0.1.evil/', 'https:///x', 'https://u@a.test/', 'https://a.test/#',
        'http://127.0.0.2/', 'com.acme:/cb',
        'https://a.test/*', 'https://a.test/../x', 'https://a.test/%2e%2E', '//a.test/',
        'https://a.test/..%2fx', 'https://a.test/%0a', 'https://a.test/%00',
        "https://a.test/\n", 'https://a.test\\x', 'https://a.test/ x',
        'https://a.test/%zz', 'https://bü.test/',
        'http://LOCALHOST/', 'http://127.1/', 'http://[::ffff:127.0.0.1]/',
        'http://a.localhost/', 'http://[0:0::1]/', 'http://2130706433/',
        'https://a.test/?code=x', 'https://a.test/cb?x=1&state', 'https://a.test?iss=',
        'https://a.test/?error=x', 'https://a.test/?a&error_description=x&b',
        'https://a.test/?c%6Fde=x', 'https://a.test/?x&%73%74%61%74%65=y&z',
        'http://localhost/?code=x',
        'javascript:alert(1)', 'https://a.test/' . 'x' x 2034 ],
    scopes => [ undef, 'openid', [ undef ], map { [ $_ ] } '', 'a b', 'a"b', 'a\\b', 'ü',
                'x' x 65, 'offline_access' ],
    grantTypes => [ undef, 'x', [ 'password' ], [ '' ], [ 1 ] ],
    enabled => [ undef, 1, 'true' ],
    assignment => [ undef, 'nobody', '' ],
    tokenEndpointAuthMethod => [ undef, 'client_secret_post', 'private_key_JWT' ],
    resourceUri => [ '', 'x', '/x', 'https:x', 'https://', 'https://a.test/#', 'a b:c',
                     'https://u@a.test', 'urn:x#y', 'urn:%zz',
                     'https://a.test/' . 'x' x 498 ],
    accessTokenFormat => [ undef, 'JWT', '' ],
    accessTokenTtlSeconds => [ undef, 59, 86401, 60.5, '60' ],
    requireConsent => [ undef, 'false' ],
    requireDpop => [ undef, 0 ],
    signingAlg => [ undef, 'HS256', 'none', 'es256' ],
    requirePkce => [ undef, 0 ],
    requireAcr => [ undef, 'true' ],
    unknownScopes => [ undef, '' ],
    refreshTokens => [ undef, 'never' ],
    idTokenClaims => [ undef, 'email', [ 'phone' ], [ undef ] ],
    groupsClaim => [ undef, 'none' ],
    idTokenTtlSeconds => [ undef, 59, 86401, 60.5 ],
    refreshIdleDays => [ undef, 0, 366 ],
    grantDays => [ undef, 0, 3651 ],
    defaultResourceUri => [ '', 'x', 'https://a.test/#' ],
    postLogoutRedirectUris => [ undef, 'https://a.test', [ undef ], [ 'http://a.test/' ],
                                [ 'https://a.test/*' ], [ 'https://a.test/#x' ],
                                [ 'https://a.test/../x' ], [ 'https://a.test/?state=1' ] ],
    backchannelLogoutUri => [ '', 1, 'http://a.test/', 'https://u@a.test/', 'https://a.test/#',
                              'a.test', 'https://a.test/' . 'x' x 2034 ],
    backchannelLogoutSessionRequired => [ undef, 'true' ],
    requirePar => [ undef, 'true' ],
    securityProfile => [ '', 'fapi1' ],
);

for my $member (sort keys %GOOD) {
    for my $value (@{ $GOOD{$member} }) {
        my $r = ask(PATCH => "/$web", { $member => $value,
            $member eq 'redirectUris' ? (grantTypes => []) : () });
        my $got = $r->status == 200 ? $r->json->{$member} : $r->body;

        is_deeply(ref $got ? [ sort @$got ] : $got,
                  ref $value ? [ sort @$value ] : $value, "$member: a good value");
    }
}

my $before = ask(GET => "/$web")->json;

for my $member (sort keys %BAD) {
    for my $value (@{ $BAD{$member} }) {
        refused(ask(PATCH => "/$web", { $member => $value }), $member,
                "$member: "
                . substr JSON::PP->new->ascii->allow_nonref->encode($value), 0, 50);
    }
}

# A typo must not lose a protection; what was read can be sent back.

refused(ask(PATCH => "/$web", { name => 'x', $_ => 1 }), $_, "an unknown member: $_")
    for qw(requireDPoP accessTokenTTLSeconds scope jwks_uri ownerId);
refused(ask(POST => '', { %WEB, requireConsents => JSON::PP::true() }), 'requireConsents',
        'of a new one');
refused(ask(POST => "/$web/secret", { graceSecond => 0 }), 'graceSecond', 'of a secret');
is(ask(PATCH => "/$web", $before)->status, 200, 'as it was read');

my %LIMIT = (redirectUris => [ map { "https://$_.test" } 1 .. 20 ],
             postLogoutRedirectUris => [ map { "https://$_.test" } 1 .. 20 ],
             scopes => [ map { "s$_" } 1 .. 100 ]);

for my $member (sort keys %LIMIT) {
    admin_error(ask(PATCH => "/$web",
                    { $member => [ @{ $LIMIT{$member} }, 'https://x' ] }),
                400, 'limit_exceeded', "$member: one more");
    is_deeply(ask(POST => '', { %WEB, $member => $LIMIT{$member} })->json->{$member},
              [ $member eq 'scopes' ? sort @{ $LIMIT{$member} } : @{ $LIMIT{$member} } ],
              "$member: as many as there may be");
}

refused(ask(PATCH => "/$web", { $_ => [ ('https://a.test') x 2 ] }), $_,
        "$_: the same twice")
    for qw(redirectUris postLogoutRedirectUris);
is_deeply(ask(POST => '', { %WEB, scopes => [ 'b', 'a', 'b' ] })->json->{scopes},
          [ 'a', 'b' ], 'scopes are there once, and in order');
is_deeply(ask(GET => "/$web")->json, $before, 'and nothing has changed');


# --- the resource that an application is ---------------------------------------------

my $first = made({ %M2M, resourceUri => 'https://API.test:443' });

is($first->{resourceUri}, 'https://API.test:443', 'as it was given');

for my $same ('https://api.test', 'HTTPS://api.test/', 'https://api.TEST:443/') {
    admin_error(ask(POST => '', { %M2M, resourceUri => $same }), 409, undef,
                "taken: $same");
    admin_error(ask(PATCH => "/$web", { resourceUri => $same }), 409, undef,
                "taken in a change: $same");
    is(ask(PATCH => "/$first->{clientId}", { resourceUri => $same })->status, 200,
       "but not by oneself: $same");
}

made({ %M2M, resourceUri => $_ }) for 'https://api.test/x', 'https://api.test:8443/',
                                      'urn:x:%c3', 'urn:x:%c4';
is(made({ %M2M, resourceUri => 'https://api.test' }, of => 'globex')->{resourceUri},
   'https://api.test', "another tenant's");

my @racing = map {
    $s->begin(POST => '/v1/applications', { Authorization => "Bearer $token{acme}" },
              { %M2M, resourceUri => 'https://race.test' . ('', '/')[$_ % 2] })
} 1 .. 12;
my %got;

for my $r (map { $_->read } @racing) {
    $got{ $r->status }++;
    $s->secret($1) if $r->body =~ /"clientSecret":"([^"]*)"/;
}

is_deeply(\%got, { 201 => 1, 409 => 11 }, 'of twelve at once one has it');

my @two = map { made({ %M2M, name => "two$_" })->{clientId} } 1, 2;

for my $uri (map { "urn:two:$_" } 1 .. 5) {
    @racing = map {
        $s->begin(PATCH => "/v1/applications/$two[$_ % 2]",
                  { Authorization => "Bearer $token{acme}" }, { resourceUri => $uri })
    } 1 .. 8;
    %got = ();
    $got{ $_->read->status }++ for @racing;

    is_deeply(\%got, { 200 => 4, 409 => 4 }, "$uri: nor do two get it by a change");
    is($s->sql("SELECT count(*) FROM svc.application WHERE resource_key = '$uri'"), 1,
       "$uri: one has it");
}


# --- lists ----------------------------------------------------------------------------

sub found {
    my ($query) = @_;
    my $json = ask(GET => "?$query")->json;

    is($json->{total}, scalar @{ $json->{applications} }, "$query: the total");

    return [ map { $_->{name} } @{ $json->{applications} } ];
}

is_deeply(found('type=spa'), [ 'spa' ], 'of a type');
is_deeply(found('q=WO1'), [ 'two1' ], 'of a name');
is_deeply(found("q=$of{spa}{clientId}"), [ 'spa' ], 'of a clientId');
ask(PATCH => "/$of{native}{clientId}", { enabled => $FALSE });
is_deeply(found('enabled=false'), [ 'native' ], 'that are off');
is_deeply(found('enabled=true&type=native'), [], 'or not');
is(scalar @{ ask(GET => '?limit=1&offset=1')->json->{applications} }, 1, 'a page');
admin_error(ask(GET => "?$_"), 400, undef, $_)
    for 'type=x', 'enabled=1', 'limit=0', 'offset=-1', 'q=' . 'x' x 201;


# --- another tenant's applications, and unknown ones -----------------------------------

for my $path ($web, $NONE, uc $web, "$web ", 'x', '%FF', 'app_' . 'g' x 32, 'x' x 36) {
    (my $name = $path) =~ s/ /%20/g;

    admin_error(ask(@$_[0 .. 2], of => 'globex'), 404, undef,
                "$_->[0] of " . substr $name, 0, 40)
        for [ GET => "/$name" ], [ PATCH => "/$name", {} ], [ DELETE => "/$name" ],
            [ POST => "/$name/secret", {} ];
}

is_deeply(ask(GET => "/$web")->json, $before, 'it is as it was');


# --- secrets ---------------------------------------------------------------------------

my $robot = made({ %M2M });
my @secrets = $robot->{clientSecret};


sub rotate {
    my ($body) = @_;
    my $r = ask(POST => "/$robot->{clientId}/secret", $body);

    is($r->status, 200, 'a new secret') or diag($r->body);
    is($r->header('cache-control'), 'no-store', 'not for caches');
    push @secrets, $r->json->{clientSecret};
    like($secrets[-1], $SECRET, 'which is one');
    like($r->json->{rotatedAt}, $TIME, 'now');

    return $r->json;
}

sub seconds {
    return $s->sql("SELECT round(extract(epoch from '$_[1]'::timestamptz"
                   . " - '$_[0]'::timestamptz))");
}

good($robot, @secrets);
is_deeply([ sort keys %{ my $new = rotate({}) } ],
          [ qw(clientId clientSecret previousValidUntil rotatedAt) ], 'what is answered');
good($robot, $secrets[1]);

my $grace = rotate({ graceSeconds => 3600 });

is(seconds(@$grace{qw(rotatedAt previousValidUntil)}), 3600, 'with grace');
good($robot, @secrets[1, 2]);

my $shown = ask(GET => "/$robot->{clientId}")->json;

is_deeply([ @$shown{qw(secretRotatedAt previousSecretValidUntil)} ],
          [ @$grace{qw(rotatedAt previousValidUntil)} ], 'as it is shown');

rotate({ graceSeconds => 86400 });
good($robot, @secrets[2, 3]);
is(rotate({ graceSeconds => 0 })->{previousValidUntil}, undef, 'without grace');
good($robot, $secrets[4]);

$grace = rotate({ graceSeconds => 60 });
$s->sql("UPDATE svc.$_ - interval '1 hour' WHERE client_id = '$robot->{clientId}'")
    for 'oauth_login SET retired_at = retired_at',
        'application SET previous_secret_until = previous_secret_until';
good($robot, $secrets[5]);
is(ask(GET => "/$robot->{clientId}")->json->{previousSecretValidUntil}, undef,
   'grace is over');

$s->sql("UPDATE svc.oauth_login SET retired_at = now() - interval '91 days'"
        . " WHERE client_id = '$robot->{clientId}' AND retired_at IS NOT NULL");
rotate({});
is($s->sql("SELECT count(*) FROM svc.oauth_login WHERE kind = 'secret'"
           . " AND client_id = '$robot->{clientId}'"), 2, 'what is long gone goes');

$s->sql('INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind, created_at,'
        . " retired_at) SELECT sha256(i::text::bytea), '$acme->{id}',"
        . " '$robot->{clientId}', 'secret', now() - interval '1 hour', now()"
        . ' FROM generate_series(1, 150) i');
rotate({});
is($s->sql("SELECT count(*) FROM svc.oauth_login WHERE kind = 'secret'"
           . " AND client_id = '$robot->{clientId}'"), 100, 'and so are the most');

refused(ask(POST => "/$robot->{clientId}/secret", { graceSeconds => $_ }), 'graceSeconds',
        'graceSeconds: ' . ($_ // 'null')) for -1, 86401, 1.5, '60', undef;
admin_error(ask(POST => "/$of{$_}{clientId}/secret", {}), 400, undef, "$_ has none")
    for qw(spa native);

my $agent = $of{agent}{clientId};

ask(POST => "/$agent/secret", { graceSeconds => 5 });
ask(PATCH => "/$agent", { enabled => $FALSE, name => 'Agent' });
is_deeply([ grep { $_->[0] =~ /secret|agent/ || "@{ $_->[1]{changed} // [] }" =~ /name/ }
            $acme->events_of($agent, qw(action details)) ], [
    [ 'application.secret_rotated', { graceSeconds => 5, revokeTokens => $FALSE } ],
    [ 'agent.secret_rotated', { graceSeconds => 5, revokeTokens => $FALSE } ],
    [ 'application.updated', { changed => [ 'name', 'enabled' ] } ],
    [ 'agent.policy_updated', { changed => [ 'enabled' ] } ],
], 'what is done to an agent is told of one, too');


# --- an agent's owner, and identities -------------------------------------------------

my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');
my $eve = $globex->create(userName => 'eve@globex.test')->{id};
my %AGENT = (name => 'Owned', type => 'agent');

refused(ask(POST => '', { %AGENT, ownerId => $_ }), 'ownerId', "ownerId: $_")
    for $eve, uc $ada->{id}, 'x', '', 1, '00000000-0000-4000-8000-000000000000';
refused(ask(POST => '', { %M2M, ownerId => $ada->{id} }), 'ownerId', 'no agent');

my $owned = made({ %AGENT, ownerId => $ada->{id} });
my $orphan = made({ %AGENT, name => 'Orphan', ownerId => undef });

sub identities {
    my ($query) = @_;

    return { map { $_->{name} => $_ } @{ $acme->admin(
        GET => "/identities?$query", undef, [], $token{acme})->json->{identities} } };
}

is_deeply(identities('type=agent')->{Owned}, {
    id => $owned->{clientId}, type => 'agent', name => 'Owned', email => undef,
    owner => { id => $ada->{id}, email => 'ada@acme.test' }, status => 'active',
    anomalies => 0, lastActiveAt => undef, expiresAt => undef,
    createdAt => $owned->{createdAt} }, 'an agent is an identity');
is_deeply([ sort keys %{ identities('type=agent&status=orphaned') } ], [ 'Orphan' ],
          'one without an owner');
is_deeply([ sort keys %{ identities('type=agent&status=disabled') } ], [ 'Agent' ],
          'and one that is off');
is(identities('type=service')->{two1}{type}, 'service', 'one for machines is a service');
ok(!identities('')->{spa}, 'and no other one');

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada->{id}'");
is(identities('type=agent')->{Owned}{status}, 'orphaned', "its owner's loss is its");
refused(ask(POST => '', { %AGENT, ownerId => $ada->{id} }), 'ownerId', 'not active');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$ada->{id}'");


# --- what a session must be fresh for -----------------------------------------------

$s->secret($PASSWORD);

my $b = SvcTest::Browser->new($s, tenant => 'acme');

is($b->login('ada@acme.test')->status, 200, 'ada signs in');
$s->sql('UPDATE svc.session SET mfa_at = NULL, reauth_at = NULL');

my $path = "/v1/applications/$web";

$before = ask(GET => "/$web")->json;
admin_error($b->ask(PATCH => $path, $_), 403, 'step_up_required',
            'not fresh: ' . (keys %$_)[0])
    for { redirectUris => [ 'https://evil.test' ] }, { requireConsent => $FALSE };
is_deeply($b->ask(PATCH => $path, { map { $_ => $before->{$_} }
                                    qw(redirectUris requireConsent) })->json, $before,
          'as they are');
is($b->ask(PATCH => $path, { name => 'Named' })->json->{name}, 'Named', 'or the name');
$s->sql("UPDATE svc.session SET reauth_at = now() - interval '1 s'");
$r = $b->ask(PATCH => $path, { requireConsent => $FALSE });
is($r->status, 200, 'fresh') or diag($r->body);


# --- how it is used ---------------------------------------------------------------------

my $used = made({ %M2M, name => 'Used' })->{clientId};
my $idle = made({ %M2M, name => 'Idle' })->{clientId};
my $TODAY = "date_trunc('day', now(), 'UTC')";

sub usage {
    my ($id, $query, %opt) = @_;
    my $r = ask(GET => "/$id/usage" . ($query // ''), undef, %opt);

    is($r->status, 200, "usage: $id") or diag($r->body);

    return $r->json;
}

# of a day: how many tokens were issued at a time of it, and refused

sub used {
    my ($ago, $time, $issued, $refused) = @_;
    my $at = "$TODAY - interval '$ago days' + interval '$time'";

    $s->sql("INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals,"
            . " grant_type, scopes, ttl) SELECT '$acme->{id}', gen_random_uuid(), $at, '$used',"
            . " '{$used}', 'client_credentials', '{a}', 60 FROM generate_series(1, $issued)");
    $s->sql("INSERT INTO svc.delegation (tenant_id, id, created_at, client_id, client_name, chain,"
            . " grant_type, scopes, outcome, reason, token_jti) SELECT '$acme->{id}',"
            . " gen_random_uuid(), $at, '$used', 'Used', '{$used}', 'x', '{a}', outcome, reason, token"
            . " FROM (VALUES ('refused', 'scope_denied', NULL::uuid),"
            . " ('granted', NULL, gen_random_uuid())) outcome (outcome, reason, token),"
            . " generate_series(1, $refused)");
}

used(@$_) for [ 0, '0', 3, 1 ], [ 1, '0', 2, 0 ], [ 1, '23:59:59.999', 1, 2 ], [ 29, '1 hour', 1, 1 ],
    [ 30, '23:59:59.999', 5, 5 ], [ 89, '0', 7, 0 ], [ 90, '23:59:59.999', 9, 9 ];

my $usage = usage($used);
my %day = map { $_->{date} => $_ } @{ $usage->{series} };
my ($today, $begin) = map { scalar $s->sql("SELECT (now() AT TIME ZONE 'UTC')::date - $_") } 0, 29;

is_deeply($usage->{period}, { from => $begin, to => $today }, 'of thirty days');
is_deeply([ @$usage{qw(issued refused)}, scalar keys %day ], [ 7, 4, 30 ], 'all of them');
is_deeply([ map { "$_->{date} $_->{issued} $_->{refused}" } @{ $usage->{series} }[0, 28, 29] ],
          [ "$begin 1 1", map { $_->[0] . " $_->[1] $_->[2]" }
            [ scalar $s->sql("SELECT (now() AT TIME ZONE 'UTC')::date - 1"), 3, 2 ], [ $today, 3, 1 ] ],
          'each day of UTC, from its first moment to its last');
is_deeply([ @{ usage($used, '?days=90') }{qw(issued refused)} ], [ 19, 9 ], 'of ninety');
is_deeply(usage($used, '?days=1')->{series}, [ { date => $today, issued => 3, refused => 1 } ],
          'of one');
is_deeply([ @{ usage($idle) }{qw(issued refused)} ], [ 0, 0 ], 'of one that is not used');
used(2, '2 hours', 10_001, 0);
is(usage($used, '?days=3')->{series}[0]{issued}, 10_000, 'a day counts ten thousand');
$s->sql("INSERT INTO svc.delegation (tenant_id, id, created_at, client_id, client_name, chain,"
        . " grant_type, scopes, outcome, token_jti) SELECT tenant_id, gen_random_uuid(),"
        . " now() - interval '2 days', client_id, 'Used', '{x}', 'x', '{a}', 'granted',"
        . " gen_random_uuid() FROM svc.application, generate_series(1, 10001)"
        . " WHERE client_id = '$used'");
used(2, '3 hours', 0, 4);
is(usage($used, '?days=3')->{series}[0]{refused}, 4, '... of refusals, too, whatever is granted');
$s->sql("DELETE FROM svc.oauth_token WHERE client_id = '$used'");

admin_error(ask(GET => "/$used/usage?days=$_"), 400, 'invalid_request', "days=$_")
    for 0, 91, 'x', '';
admin_error(ask(GET => "/$_/usage"), 404, 'not_found', "usage of $_")
    for 'x', 'app_' . '0' x 32;
admin_error(ask(GET => "/$used/usage", undef, of => 'globex'), 404, 'not_found',
            'another tenant\'s');
admin_error(ask(GET => "/$used/usage", undef, token => $acme->token_for('audit:view,users:view')),
            403, undef, 'without the permission');


# --- the greatest number of applications ----------------------------------------------

$s->sql('INSERT INTO svc.application (tenant_id, client_id, name, type, enabled,'
        . ' assignment, redirect_uris, scopes, grant_types, auth_method,'
        . ' access_token_format, access_token_ttl, require_consent, require_dpop)'
        . " SELECT '$globex->{id}', 'app_' || md5(i::text), 'x', 'm2m', true, 'everyone',"
        . " '{}', '{}', '{client_credentials}', 'client_secret_basic', 'jwt', 60, false,"
        . ' false FROM generate_series(1, 998) i');
made({ %M2M, name => 'the thousandth' }, of => 'globex');
admin_error(ask(POST => '', \%M2M, of => 'globex'), 400, 'limit_exceeded', 'and no more');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
