#!/usr/bin/perl

# Shows the admin API's authentication and errors, the tenant, and API tokens.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Process qw(wait_for);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;


# --- permissions ------------------------------------------------------------------

my @routes = ([ GET => '/tenant' ], [ GET => '/api-tokens' ],
              [ POST => '/api-tokens', '{"name":"x","scopes":["users:view"]}' ],
              [ DELETE => "/api-tokens/$acme->{api_id}" ]);
my $dead = $acme->token(kind => 'api', revoked => 'now()');
my $late = $acme->token(kind => 'api', expires => "now() - interval '1 s'");

for my $route (@routes) {
    my ($method, $path, $body) = @$route;

    for my $token ('svc_' . 'x' x 43, $dead->{token}, $late->{token},
                   $acme->{scim_token})
    {
        admin_error($acme->admin($method, $path, $body, undef, $token), 401,
                    'unauthorized', "$method $path");
    }

    admin_error($s->http($method, "/v1/admin$path", undef, $body), 401,
                'unauthorized', "$method $path without a token");
}

my $viewer = $acme->token(kind => 'api', permissions => 'users:view');

admin_error($acme->admin(@$_[0, 1, 2], undef, $viewer->{token}), 403,
            'forbidden', "$_->[0] $_->[1] without the permission")
    for @routes[1 .. 3];
is($acme->admin(GET => '/tenant', undef, undef, $viewer->{token})->status, 200,
   'the tenant is for all');

is_deeply([ $acme->events('id') ], [], 'nothing has happened');


# --- nginx's own errors, and unknown paths -------------------------------------------

for my $path ('/nothing', '/tenant/x', '/api-tokens/a/b', '/', '') {
    admin_error($acme->admin(GET => $path), 404, 'not_found', "GET $path");
}

my $r = $acme->admin(PUT => '/api-tokens');
admin_error($r, 405, 'method_not_allowed', 'PUT /api-tokens');
is($r->header('allow'), 'GET, HEAD, POST', 'allowed are');
admin_error($acme->admin(GET => '/tenant?' . 'x' x 20000), 414, 'uri_too_long',
            'a URI of 20 kB');
admin_error($acme->admin(POST => '/api-tokens', ' ' x 1048577), 413,
            'payload_too_large', 'a byte more than 1 MiB');
admin_error($acme->admin(POST => '/api-tokens', $_), 400, 'invalid_request',
            "a body of $_")
    for '', '[]', '"x"', '{', '{"name":"a","name":"b"}', '{"name":"\ud800"}';


# --- the tenant ------------------------------------------------------------------------

$r = $acme->admin(GET => '/tenant');
is($r->status, 200, 'the tenant');
is_deeply([ sort keys %{ $r->json } ], [ 'tenant' ], 'in its envelope');

my $tenant = $r->json->{tenant};
is_deeply({ map { $_ => $tenant->{$_} } qw(id name slug branding) },
          { id => $acme->{id}, name => 'Acme', slug => 'acme',
            branding => { allowSelfSignup => JSON::PP::false,
                          allowPasswordless => JSON::PP::false } },
          'with the switches');
like($tenant->{$_}, $TIME, $_) for qw(createdAt updatedAt);
is($acme->admin(HEAD => '/tenant')->body, '', 'HEAD');

$s->sql("UPDATE svc.tenant SET branding = '{\"primary\":\"#0A66C2\","
        . "\"allowSelfSignup\":true,\"note\":{\"private\":[1,null]}}'"
        . " WHERE id = '$acme->{id}'");
is_deeply($acme->admin(GET => '/tenant')->json->{tenant}{branding},
          { primary => '#0A66C2', note => { private => [ 1, undef ] },
            allowSelfSignup => JSON::PP::true,
            allowPasswordless => JSON::PP::false }, 'all that is stored');


# A misspelt "expiresAt" must not make a token that never expires.

like(admin_error($acme->admin(POST => '/api-tokens', {
    name => 'x', scopes => [ 'users:view' ], $_ => 1 }), 400, 'invalid_request', $_)->{message},
     qr/^"$_" is not a known member/, 'which is named') for qw(expiresInDay expires_at expiry);


# --- a token's life ----------------------------------------------------------------------

$r = $acme->admin(POST => '/api-tokens', {
    name => "Déploy \x{1F680}", expiresAt => '2099-01-01T01:00:00.5+01:00',
    scopes => [ 'users:view', 'tenant:manage', 'users:view' ] });
is($r->status, 201, 'a token') or diag($r->body);
is($r->header('cache-control'), 'no-store', 'not for caches');

my $token = $r->json;
my $secret = delete $token->{secret};
$s->secret($secret);

like($secret, qr/\Asvc_[A-Za-z0-9_-]{43}\z/, 'its secret');
like($token->{id}, $UUID, 'its id');
like($token->{createdAt}, $TIME, 'its time');
is_deeply($token, {
    id => $token->{id}, name => "Déploy \x{1F680}", status => 'active',
    scopes => [ 'tenant:manage', 'users:view' ],
    prefix => substr($secret, 0, 8), createdAt => $token->{createdAt},
    createdBy => { type => 'apiToken', id => $acme->{api_id},
                   name => $acme->{api_name} },
    maker => undef, actsOnOwners => JSON::PP::false,
    expiresAt => '2099-01-01T00:00:00.500Z', lastUsedAt => undef,
    revokedAt => undef }, 'all of it');

is($acme->admin(GET => '/tenant', undef, undef, $secret)->status, 200,
   'it works at once');
my $used = "SELECT count(last_used_at) FROM svc.credential"
           . " WHERE id = '$token->{id}'";
ok((wait_for { $s->sql($used) == 1 }),
   'and that it was used is kept');

my $list = $acme->admin(GET => '/api-tokens')->json;
my ($same) = grep { $_->{id} eq $token->{id} } @{ $list->{apiTokens} };

like(delete $same->{lastUsedAt}, $TIME, 'in the list');
delete $token->{lastUsedAt};
is_deeply($same, $token, 'it is the same, without the secret');
is($list->{apiTokens}[0]{id}, $same->{id}, 'the newest is the first');
is($list->{total}, 5, 'all are counted');
is_deeply([ @$list{qw(limit offset)} ], [ 100, 0 ], 'and the page told');
is_deeply($list->{assignableScopes}, [ 'tenant:manage', 'users:view' ],
          'what the caller may give');
is_deeply({ map { $_->{id} => $_->{status} } @{ $list->{apiTokens} } },
          { $token->{id} => 'active', $acme->{api_id} => 'active',
            $viewer->{id} => 'active', $dead->{id} => 'revoked',
            $late->{id} => 'expired' }, 'with all states, of this tenant');

is($acme->admin(DELETE => "/api-tokens/$token->{id}")->status, 204, 'revoked');
admin_error($acme->admin(GET => '/tenant', undef, undef, $secret), 401,
            'unauthorized', 'from the next request on');

my $at = $s->sql("SELECT revoked_at FROM svc.credential"
                 . " WHERE id = '$token->{id}'");
is($acme->admin(DELETE => "/api-tokens/$token->{id}")->status, 204, 'again');
is($s->sql("SELECT revoked_at FROM svc.credential WHERE id = '$token->{id}'"),
   $at, 'changes nothing');

is_deeply([ $acme->events(qw(action target_id actor_id)) ],
          [ [ 'api_token.created', $token->{id}, $acme->{api_id} ],
            [ 'api_token.revoked', $token->{id}, $acme->{api_id} ] ],
          'each change has its event');

for my $id ($globex->{api_id}, $acme->{scim_id}, 'x', uc $acme->{api_id},
            '00000000-0000-0000-0000-000000000000', 'x' x 5000, '%00', "'")
{
    my $r = $acme->admin(DELETE => "/api-tokens/$id");

    ok($r->status == 404 || $id eq '%00' && $r->status == 400,
       'no token of that id: ' . substr $id, 0, 40);
}

is($globex->admin(GET => '/tenant')->status, 200, "another tenant's lives");


# --- what is refused -----------------------------------------------------------------------

my %good = (name => 'n', scopes => [ 'users:view' ]);
my $before = $s->sql('SELECT count(*) FROM svc.credential');

for my $row ([ name => undef ], [ name => '' ], [ name => 5 ],
             [ name => 'x' x 101 ], [ name => "a\nb" ],
             [ scopes => undef ], [ scopes => [] ], [ scopes => 'users:view' ],
             [ scopes => [ 'users:edit' ] ], [ scopes => [ '' ] ],
             [ scopes => [ 'users:view', 5 ] ], [ scopes => [ 'scim' ] ],
             [ scopes => [ "users:view\"},{" ] ],
             [ expiresAt => 'tomorrow' ], [ expiresAt => 5 ],
             [ expiresAt => '2020-01-01T00:00:00Z' ],
             [ expiresAt => '2099-02-30T00:00:00Z' ],
             [ expiresAt => '9999-12-31T23:59:59-01:00' ],
             [ expiresAt => '9999-12-31T23:59:60Z' ],
             [ expiresAt => '0000-12-31T23:59:59Z' ],
             [ expiresInDays => 0 ], [ expiresInDays => 3651 ],
             [ expiresInDays => '5' ], [ expiresInDays => 1.5 ])
{
    my ($member, $value) = @$row;
    my $error = admin_error($acme->admin(POST => '/api-tokens',
                                         { %good, $member => $value }),
                            400, 'invalid_request',
                            "$member: " . SvcTest::encode([ $value ]));
    like($error->{message}, qr/"\Q$member\E/, 'it is named');
}

admin_error($acme->admin(POST => '/api-tokens', { scopes => [ 'users:view' ] }),
            400, 'invalid_request', 'no name');
admin_error($acme->admin(POST => '/api-tokens', { %good, scopes => [ $_ ] }),
            403, 'forbidden', "$_, which the caller has not")
    for qw(apps:manage roles:manage);
is($s->sql('SELECT count(*) FROM svc.credential'), $before, 'nothing is stored');

for my $query ('limit=0', 'limit=-1', 'limit=x', 'limit=', 'limit=1.5',
               'offset=-1', 'offset=x')
{
    admin_error($acme->admin(GET => "/api-tokens?$query"), 400,
                'invalid_request', $query);
}

for my $row ([ 'limit=2', 2, 2, 0 ], [ 'limit=2&offset=4', 1, 2, 4 ],
             [ 'limit=501', 5, 500, 0 ], [ 'limit=99999999999999999999', 5, 500, 0 ],
             [ 'offset=9999999999999', 0, 100, 2147483647 ], [ 'unknown=1', 5, 100, 0 ])
{
    my $page = $acme->admin(GET => "/api-tokens?$row->[0]")->json;

    is(scalar @{ $page->{apiTokens} }, $row->[1], "$row->[0]: as many");
    is_deeply([ @$page{qw(limit offset total)} ], [ @$row[2, 3], 5 ],
              "$row->[0]: told so");
}

my $days = $acme->admin(POST => '/api-tokens', { %good, expiresAt => undef,
                                                 expiresInDays => 1 })->json;
$s->secret(delete $days->{secret});
is($s->sql("SELECT expires_at - created_at BETWEEN interval '23:59'"
           . " AND interval '24:01' FROM svc.credential"
           . " WHERE id = '$days->{id}'"), 't', 'expiresInDays');

$r = $acme->admin(POST => '/api-tokens', {
    %good, expiresAt => '9999-12-31T22:59:59.999-01:00' });
is($r->json->{expiresAt}, '9999-12-31T23:59:59.999Z', 'the last time there is');
$s->secret($r->json->{secret});

for my $name ('x' x 100, "\x{1F680}" x 100) {
    my $r = $acme->admin(POST => '/api-tokens', { %good, name => $name });

    is($r->status, 201, 'a name of 100 characters') or diag($r->body);
    $s->secret($r->json->{secret});
}


# --- the greatest number of tokens ------------------------------------------------------------

$s->sql("INSERT INTO svc.credential (token_hash, tenant_id, kind, name, prefix,"
        . " permissions) SELECT sha256(i::text::bytea), '$globex->{id}', 'api',"
        . " 'n', 'svc_n', '{}' FROM generate_series(1, 999) i");
admin_error($globex->admin(POST => '/api-tokens', \%good), 400,
            'limit_exceeded', 'the 1001st');
$s->sql("UPDATE svc.credential SET revoked_at = now()"
        . " WHERE tenant_id = '$globex->{id}' AND token_hash = sha256('1')");
$r = $globex->admin(POST => '/api-tokens', \%good);
is($r->status, 201, 'when one is revoked there is room');
$s->secret($r->json->{secret});


# --- one of them, and those that are searched for ---------------------------------------------

admin_one($acme, '/api-tokens', $_, needs => 'tenant:manage', other => $globex,
          none => [ $acme->{scim_id}, $globex->{api_id}, 'x', uc $token->{id} ])
    for $token->{id}, $late->{id}, $viewer->{id};
admin_finds($acme, '/api-tokens', needs => 'tenant:manage', of => 'apiTokens', by => 'id', finds => {
    'DÉPLOY' => [ $token->{id} ], substr($secret, 0, 8) => [ $token->{id} ],
    $token->{id} => [ $token->{id} ], uc $token->{id} => [ $token->{id} ],
    '%' => [], 'e_tra' => [], '\\' => [], "' OR 1=1" => [],
    $globex->{api_id} => [], $acme->{scim_id} => [] });


is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
