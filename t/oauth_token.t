#!/usr/bin/perl

# Shows POST /oauth/token: forms, how clients authenticate, and the grant
# client_credentials.

use strict;
use warnings;

use MIME::Base64 qw(decode_base64url encode_base64);
use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::OAuth qw(oauth_server application form oauth_error basic claims $EXCHANGE);
use SvcTest::Process qw(wait_for);

my $s = oauth_server(server => 'location = /metrics { svc_metrics; }')->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;
my %CC = (grant_type => 'client_credentials');

my $m2m = application($acme, name => 'Robot', scopes => [ 'invoices:read', 'invoices:write' ]);
my $bare = application($acme, name => 'Bare');
my $agent = application($acme, name => 'Agent', type => 'agent', scopes => [ 'read', 'write' ]);
my $spa = application($acme, name => 'SPA', type => 'spa', redirectUris => [ 'https://a.test/cb' ]);
my $opaque = application($acme, name => 'Opaque', accessTokenFormat => 'opaque');
my $other = application($globex, name => 'Other');


# --- a token ---------------------------------------------------------------------

my $r = form($s, token => { %CC }, client => $m2m);

is($r->status, 200, 'a token') or diag($r->body);
is($r->header('cache-control'), 'no-store', 'that is not stored');
is($r->header('pragma'), 'no-cache', 'nor by old proxies');
like($r->header('x-request-id'), qr/\A[0-9a-f]{32}\z/, 'the request has an id');
is($r->header('access-control-allow-origin'), '*', 'any page may read it');

my $t = $r->json;

is_deeply([ sort keys %$t ], [ qw(access_token expires_in scope token_type) ],
          'its members');
is($t->{token_type}, 'Bearer', 'a bearer token');
is($t->{expires_in}, 3600, 'for an hour');
is($t->{scope}, 'invoices:read invoices:write', 'with all scopes of the client');

my ($head, $claims) = claims($t->{access_token});

is($head->{typ}, 'at+jwt', 'RFC 9068');
is($head->{alg}, 'ES256', 'ES256');
like($head->{kid}, qr/\A[\w-]{43}\z/, 'a thumbprint');
is($claims->{iss}, "$base/oauth/t/acme", 'the issuer is the tenant\'s');
is($claims->{aud}, $claims->{iss}, 'and the audience, unless there is another one');
is($claims->{sub}, $m2m->{clientId}, 'the subject is the client');
is($claims->{client_id}, $m2m->{clientId}, 'as client_id is');
is($claims->{exp} - $claims->{iat}, 3600, 'it ends');
like($claims->{jti}, qr/\A[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/,
     'jti is a UUID of version 7');
is_deeply([ sort keys %$claims ], [ qw(aud client_id exp iat iss jti scope sub) ],
          'and nothing else');
ok((wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token WHERE jti = '$claims->{jti}'"
           . " AND client_id = '$m2m->{clientId}' AND kid = '$head->{kid}'") == 1 }),
   'there is a row');

# Each tenant has one key, however many requests come at once.

my @c = map { form($s, token => { %CC }, client => $other) } 1 .. 3;
is_deeply([ map { $_->status } @c ], [ (200) x 3 ], 'another tenant');
is((claims($c[0]->json->{access_token}))[0]{kid},
   (claims($c[2]->json->{access_token}))[0]{kid}, 'one key');
isnt((claims($c[0]->json->{access_token}))[0]{kid}, $head->{kid}, 'of its own');
is($s->sql('SELECT count(*) FROM svc.oauth_key'), 2, 'two tenants, two keys');

$t = form($s, token => { %CC }, client => $bare)->json;
is($t->{scope}, '', 'a client without scopes gets a token without');

$t = form($s, token => { %CC, scope => 'invoices:write invoices:write' }, client => $m2m)->json;
is($t->{scope}, 'invoices:write', 'what is asked for');

$t = form($s, token => { %CC }, client => $agent)->json;
is($t->{expires_in}, 900, 'an agent\'s lives shorter');

$t = form($s, token => { %CC }, client => $opaque)->json;
like($t->{access_token}, qr/\Asat_[\w-]{87,396}\z/, 'an opaque one');
$s->secret($t->{access_token});
ok((wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token"
           . " WHERE client_id = '$opaque->{clientId}' AND kid IS NULL"
           . " AND secret_hash = sha256('$t->{access_token}')") == 1 }),
   'of which the digest is stored');

for my $uri ('https://api.test/', 'urn:api', 'HTTPS://API.test') {
    $t = form($s, token => { %CC, resource => $uri }, client => $m2m)->json;
    is((claims($t->{access_token}))[1]{aud}, $uri, "for $uri");
}

$t = form($s, token => { %CC, resource => "$base/oauth/t/acme" }, client => $m2m)->json;
is((claims($t->{access_token}))[1]{aud}, "$base/oauth/t/acme", 'for the issuer');
ok((wait_for { $s->sql('SELECT count(*) FROM svc.oauth_token WHERE audience IS NULL') == 9
               && $s->sql('SELECT count(*) FROM svc.oauth_token WHERE audience IS NOT NULL') == 3 }),
   'which is stored as none');

# The token is for the resource as its application has registered it, however it is
# spelled.

my $rs = application($acme, name => 'RS', resourceUri => 'https://RS.test:443/v1');

for my $uri ('https://RS.test:443/v1', 'https://rs.test/v1', 'HTTPS://rs.TEST:443/v1',
             'https://rs.test/%761')
{
    $t = form($s, token => { %CC, resource => $uri }, client => $m2m)->json;
    is((claims($t->{access_token}))[1]{aud}, 'https://RS.test:443/v1', "for it, as $uri");
    is(form($s, introspect => { token => $t->{access_token} }, client => $rs)->json->{aud},
       'https://RS.test:443/v1', 'which introspection says, too');
}

$t = form($s, token => { %CC, resource => 'https://rs.test/v1/' }, client => $m2m)->json;
is((claims($t->{access_token}))[1]{aud}, 'https://rs.test/v1/', 'another one is not it');


# --- forms -----------------------------------------------------------------------

$r = $s->http(GET => '/oauth/token');
oauth_error($r, 405, 'invalid_request', 'GET');
is($r->header('allow'), 'POST', 'POST it is');

sub raw {
    my ($body, @headers) = @_;

    return $s->http(POST => '/oauth/token',
                    [ Authorization => basic($m2m),
                      @headers ? @headers
                               : ('Content-Type' => 'application/x-www-form-urlencoded') ],
                    $body);
}

my $CC = 'grant_type=client_credentials';

is(raw($CC, 'Content-Type' => 'application/x-www-form-urlencoded; charset=UTF-8')->status, 200,
   'a charset does no harm');

my @BAD = (
    [ 'JSON', '{}', 'Content-Type' => 'application/json' ],
    [ 'no type', $CC, 'X-A' => 'b' ],
    [ 'another type', $CC, 'Content-Type' => 'application/x-www-form-urlencodedx' ],
    [ 'no grant_type', 'scope=x' ], [ 'nothing', '' ], [ 'an empty one', 'grant_type=' ],
    [ 'twice', "$CC&$CC" ], [ 'another one twice', "$CC&scope=a&scope=b" ],
    [ 'an unknown one twice', "$CC&x=1&x=1" ],
    [ 'percent', "$CC&a=%zz" ], [ 'half a percent', "$CC&a=%2" ], [ 'NUL', "$CC&a=%00" ],
    [ 'not UTF-8', "$CC&a=%ff" ], [ 'not UTF-8 either', "$CC&a=\xff" ],
);

oauth_error(raw(@$_[1 .. $#$_]), 400, 'invalid_request', $_->[0]) for @BAD;

oauth_error(raw("$CC&a=" . 'x' x 65536), 413, 'invalid_request', 'too large');
oauth_error($s->http(POST => '/oauth/token?client_secret=x',
                     [ Authorization => basic($m2m),
                       'Content-Type' => 'application/x-www-form-urlencoded' ], $CC),
            400, 'invalid_request', 'a parameter in the query');
is(raw("$CC&unknown=1&empty=&scope=")->status, 200,
   'unknown ones are ignored, empty ones are absent');

for my $type (qw(password implicit), 'urn:x', 'client_credentials ') {
    oauth_error(form($s, token => { grant_type => $type }, client => $m2m), 400,
                'unsupported_grant_type', $type);
}


# --- clients ---------------------------------------------------------------------

is(form($s, token => { %CC, client_id => $m2m->{clientId},
                       client_secret => $m2m->{clientSecret} })->status, 200, 'in the body');
is(form($s, token => { %CC, client_id => $m2m->{clientId} }, client => $m2m)->status, 200,
   'the same client_id beside Basic');
is(raw($CC, 'Content-Type' => 'application/x-www-form-urlencoded',
       Authorization => 'bAsIC ' . (split / /, basic($m2m))[1])->status, 400,
   'two Authorization headers');

sub header {
    my ($value) = @_;

    return $s->http(POST => '/oauth/token',
                    [ 'Content-Type' => 'application/x-www-form-urlencoded',
                      Authorization => $value ], $CC);
}

sub pair {
    return header('Basic ' . encode_base64(join(':', @_), ''));
}

is(header('bAsIC ' . (split / /, basic($m2m))[1])->status, 200, 'in any case');
is(pair($m2m->{clientId} =~ s/_/%5f/r, $m2m->{clientSecret})->status, 200,
   'encoded as in a form');

my $wrong = 'x' x 43;
my $unknown = 'app_' . '0' x 32;
my ($body, %basic);

%basic = (
    'wrong secret' => pair($m2m->{clientId}, $wrong),
    'unknown client' => pair($unknown, $wrong),
    'empty password' => pair($m2m->{clientId}, ''),
    'short secret' => pair($m2m->{clientId}, 'x'),
    'long secret' => pair($m2m->{clientId}, 'x' x 300),
    'a secret with a colon' => pair($m2m->{clientId}, "$m2m->{clientSecret}:"),
    'a secret with another alphabet' => pair($m2m->{clientId}, 'x' x 42 . '+'),
    'no colon' => header('Basic ' . encode_base64($m2m->{clientId}, '')),
    'not base64' => header('Basic %%%'),
    'nothing' => header('Basic '),
    'Bearer' => header("Bearer $acme->{api_token}"),
    'no scheme' => header('x'),
    'half a percent' => pair("$m2m->{clientId}%", $wrong),
    'a NUL' => pair("$m2m->{clientId}%00", $wrong),
    'an id in other letters' => pair(uc $m2m->{clientId}, $m2m->{clientSecret}),
    'the secret of another client' => pair($bare->{clientId}, $m2m->{clientSecret}),
);

for my $name (sort keys %basic) {
    $r = $basic{$name};
    oauth_error($r, 401, 'invalid_client', $name);
    is($r->header('www-authenticate'), 'Basic realm="oauth"', "$name: Basic");
    is($r->body, $body //= $r->body, "$name: the same bytes");
}

oauth_error(form($s, token => { %CC }), 400, 'invalid_client', 'none');
oauth_error(form($s, token => { %CC, client_id => $m2m->{clientId}, client_secret => $_ }),
            400, 'invalid_client', 'wrong in the body') for $wrong, 'x';
is(form($s, token => { %CC, client_id => 'x', client_secret => 'x' })
   ->header('www-authenticate'), undef, 'without a challenge');
oauth_error(form($s, token => { %CC, client_id => $m2m->{clientId} }), 400, 'invalid_client',
            'a client with a secret, by its id alone');
oauth_error(form($s, token => { %CC, client_id => $spa->{clientId}, client_secret => $wrong }),
            400, 'invalid_client', 'one without, with a secret');
oauth_error(form($s, token => { %CC, client_id => $spa->{clientId} }), 400,
            'unauthorized_client', 'one without has not this grant');
oauth_error(form($s, token => { %CC, client_secret => $m2m->{clientSecret} }, client => $m2m),
            400, 'invalid_request', 'a secret twice');
oauth_error(form($s, token => { %CC, client_id => $bare->{clientId} }, client => $m2m),
            400, 'invalid_request', 'two clients');
oauth_error(form($s, token => { %CC, client_assertion => 'x' }), 400, 'invalid_client',
            'an assertion');

for my $path (qw(token introspect revoke)) {
    my %form = (%CC, token => 'x');

    oauth_error(form($s, $path => { %form, client_assertion => 'x' }, client => $m2m), 400,
                'invalid_request', "$path: Basic and an assertion");
    oauth_error(form($s, $path => { %form, client_assertion => 'x',
                                    client_id => $m2m->{clientId},
                                    client_secret => $m2m->{clientSecret} }), 400,
                'invalid_request', "$path: a secret and an assertion");
    oauth_error(form($s, $path => { %form, client_secret => $m2m->{clientSecret} },
                     client => $m2m), 400, 'invalid_request', "$path: Basic and a secret");
    $r = form($s, $path => { %form }, client => { %$m2m, clientSecret => $wrong });
    oauth_error($r, 401, 'invalid_client', "$path: a wrong Basic");
    is($r->header('www-authenticate'), 'Basic realm="oauth"', 'with a challenge');
}

# Retired secrets.

my $rotated = application($acme, name => 'Rotated');
my $retired = application($acme, name => 'Retired', type => 'agent');

sub rotate {
    my ($app, $grace) = @_;
    my $new = $s->http(POST => "/v1/applications/$app->{clientId}/secret",
                       [ Authorization => "Bearer $acme->{apps_token}" ],
                       { graceSeconds => $grace })->json;

    $s->secret($new->{clientSecret});

    return $new;
}

my $new = rotate($rotated, 3600);
is(form($s, token => { %CC }, client => $_)->status, 200, 'both within the grace')
    for $rotated, $new;

rotate($retired, 0);
oauth_error(form($s, token => { %CC }, client => $rotated), 401, 'invalid_client', 'later')
    if rotate($rotated, 0);
is($s->sql("SELECT count(*) FROM svc.agent_anomaly"), 0, 'which is unusual of agents alone');
$r = form($s, token => { %CC }, client => $retired);
oauth_error($r, 401, 'invalid_client', 'of an agent');
is($r->body, $body, 'which is not told');
oauth_error(form($s, token => { %CC, client_id => $retired->{clientId},
                                client_secret => $retired->{clientSecret} }),
            400, 'invalid_client', 'nor in the body');
is_deeply([ $s->sql("SELECT client_id, severity, occurrences FROM svc.agent_anomaly"
                    . " WHERE type = 'secret_reuse'") ],
          [ [ $retired->{clientId}, 'high', 2 ] ], 'but both are on record');


# --- what a client may not have -------------------------------------------------------

for my $scope ('openid', 'profile', 'email', 'other', 'invoices:read other', 'INVOICES:READ') {
    my $text = oauth_error(form($s, token => { %CC, scope => $scope }, client => $m2m), 400,
                           'invalid_scope', "scope $scope");
    my ($first) = grep { !/\Ainvoices:/ } split / /, $scope;
    like($text, qr/'\Q$first\E'/, 'the message names it');
}

oauth_error(form($s, token => { %CC, scope => $_ }, client => $m2m), 400, 'invalid_scope',
            "scope '$_'") for 'a"b', 'a\\b', "a\tb", 'x' x 65, "\x{263a}", join ' ', 1 .. 101;

for my $uri ('api', 'https://api.test/#', 'https://api.test/#x', '/x', 'x' x 10 . ':' . 'y' x 510,
             'https://')
{
    oauth_error(form($s, token => { %CC, resource => $uri }, client => $m2m), 400,
                'invalid_target', 'resource ' . substr $uri, 0, 30);
}

oauth_error(form($s, token => [ %CC, resource => 'urn:a', resource => 'urn:b' ],
                 client => $m2m), 400, 'invalid_target', 'two resources');

# Only the client itself is told its state.

sub set {
    my ($app, $set) = @_;

    $s->sql("UPDATE svc.application SET $set WHERE client_id = '$app->{clientId}'");
}

sub anomalies {
    return join ' ', map { join ':', @$_ }
           $s->sql('SELECT type, severity, occurrences FROM svc.agent_anomaly'
                   . " WHERE client_id = '$agent->{clientId}' ORDER BY type");
}

set($agent, 'enabled = false');
oauth_error(form($s, token => { %CC }, client => $agent), 400, 'invalid_grant', 'killed');
is(anomalies(), 'disabled_use:high:1', 'is on record');
oauth_error(form($s, token => { %CC },
                 client => { %$agent, clientSecret => $wrong }), 401, 'invalid_client',
            'killed, with a wrong secret');
is(anomalies(), 'disabled_use:high:1', 'is not');

set($agent, "enabled = true, expires_at = now() - interval '1 s'");
oauth_error(form($s, token => { %CC }, client => $agent), 400, 'invalid_grant', 'expired');
is(anomalies(), 'disabled_use:high:1 expired_use:medium:1', 'is on record');

set($agent, "expires_at = now() + interval '99 s'");
$t = form($s, token => { %CC }, client => $agent)->json;
ok($t->{expires_in} <= 100 && $t->{expires_in} > 30, 'a token ends with its agent')
    or diag(explain($t));

set($agent, 'expires_at = NULL, max_token_ttl = 60');
is(form($s, token => { %CC }, client => $agent)->json->{expires_in}, 60, 'a ceiling of time');

set($agent, "max_token_ttl = NULL, allowed_scopes = '{read}'");
is(form($s, token => { %CC }, client => $agent)->json->{scope}, 'read', 'of scopes');
oauth_error(form($s, token => { %CC, scope => 'write' }, client => $agent), 400,
            'invalid_scope', 'above it');
like(anomalies(), qr/scope_denied:low:1/, 'is on record');
oauth_error(form($s, token => { %CC, scope => 'admin' }, client => $agent), 400,
            'invalid_scope', 'what it never had');
like(anomalies(), qr/scope_denied:low:1/, 'is not');

set($agent, "allowed_scopes = '{}'");
oauth_error(form($s, token => { %CC }, client => $agent), 400, 'invalid_scope', 'no scope');

set($agent, "allowed_scopes = NULL, allowed_audiences = '{https://API.test}',"
            . " allowed_audience_keys = '{https://api.test/}'");
is((claims(form($s, token => { %CC }, client => $agent)->json->{access_token}))[1]{aud},
   'https://API.test', 'the only audience');
is((claims(form($s, token => { %CC, resource => 'https://api.test:443/' }, client => $agent)
           ->json->{access_token}))[1]{aud}, 'https://api.test:443/', 'however it is spelt');

for my $uri ('https://api.test.evil/', 'https://api.test/x', 'http://api.test/',
             "$base/oauth/t/acme")
{
    oauth_error(form($s, token => { %CC, resource => $uri }, client => $agent), 400,
                'invalid_target', $uri);
}

like(anomalies(), qr/audience_denied:low:4/, 'are on record');

my ($details) = $s->sql("SELECT details FROM svc.agent_anomaly WHERE type = 'audience_denied'");
like($details->[0], qr{https://API\.test}, 'with what is allowed');

set($agent, "allowed_audiences = '{urn:a,urn:b}', allowed_audience_keys = '{urn:a,urn:b}'");
oauth_error(form($s, token => { %CC }, client => $agent), 400, 'invalid_target',
            'one of two must be named');
set($agent, "allowed_audiences = '{}', allowed_audience_keys = '{}'");
oauth_error(form($s, token => { %CC, resource => 'urn:a' }, client => $agent), 400,
            'invalid_target', 'none');
set($agent, 'allowed_audiences = NULL, allowed_audience_keys = NULL');

# An agent that has lost its owner.

$s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'disable' WHERE tenant_id ="
        . " '$acme->{id}'");
is(form($s, token => { %CC }, client => $agent)->status, 200, 'nobody owns it, for a while');
$s->sql('ALTER TABLE svc.application DISABLE TRIGGER application_owner');
set($agent, "owner_lost_at = now() - interval '73 h'");
$s->sql('ALTER TABLE svc.application ENABLE TRIGGER application_owner');
oauth_error(form($s, token => { %CC }, client => $agent), 400, 'invalid_grant', 'for too long');

my $owner = $acme->create(userName => 'ada@acme.test');
set($agent, "owner_id = '$owner->{id}'");
is(form($s, token => { %CC }, client => $agent)->status, 200, 'somebody does');
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$owner->{id}'");
is(form($s, token => { %CC }, client => $agent)->status, 200, 'who is suspended');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$owner->{id}'");
$s->sql("UPDATE svc.user_account SET status = 'suspended',"
        . " valid_after = now() - interval '73 h' WHERE id = '$owner->{id}'");
oauth_error(form($s, token => { %CC }, client => $agent), 400, 'invalid_grant',
            'and was before');

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'");
oauth_error(form($s, token => { %CC }, client => $m2m), 400, 'invalid_grant',
            'a suspended tenant');
is(form($s, token => { %CC }, client => $other)->status, 200, 'not another one');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE id = '$acme->{id}'");


# --- metrics ---------------------------------------------------------------------------

my %n = map { $_ => SvcTest::Metrics->get($s)->value('svc_oauth_tokens_total',
              grant => 'client_credentials', outcome => $_) } qw(issued refused);

ok((wait_for { $n{issued} == $s->sql('SELECT count(*) FROM svc.oauth_token') }), 'each token')
    or diag($n{issued} . ' are given, ' . $s->sql('SELECT count(*) FROM svc.oauth_token')
            . ' are stored');
cmp_ok($n{refused}, '>', 30, 'and what is refused');


# --- a location of one tenant ---------------------------------------------------------

$s->{nginx}{svc}{svc_tenant} = 'globex';
$s->reload;

is(form($s, token => { %CC }, client => $other)->status, 200, 'its own client');
$r = form($s, token => { %CC }, client => $m2m);
oauth_error($r, 401, 'invalid_client', 'another tenant\'s');
is($r->body, $body, 'is unknown');

$s->{nginx}{svc}{svc_tenant} = undef;
$s->reload;


# --- a key file without the key -------------------------------------------------------

$s->key_file;
$s->{nginx}{svc}{svc_key_file} = $s->{key_file};
$s->reload;

$r = form($s, token => { %CC }, client => $m2m);
is($r->status, 500, 'a key that cannot be opened');
is($r->json->{error}, 'server_error', 'is our fault');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done(allow => [ qr/the signing key ".*" cannot be opened.*Tenant: \Q$acme->{id}\E/ ]);
done_testing();
